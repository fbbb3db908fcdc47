/* SPDX-License-Identifier: MIT */
/* A cluster in one process: agents, the pages and a local process of each machine, an agreed order
 * in place of Corosync, and a judge.
 *
 * Time and chance are the test's. What a machine would do by itself (deliver, tick, let its local
 * process go in and out) happens in world_step(); what befalls it (death, stops, cuts) the test
 * does. The judge looks at every entry: nobody else is inside who has not been told that it lost;
 * the fence is greater than all before.
 */
#ifndef AFTERYOU_TESTS_AGENT_WORLD_H
#define AFTERYOU_TESTS_AGENT_WORLD_H

#include <stdio.h>

#include "agent/core/agent.h"
#include "agent/host/wording.h"

enum {
    MACHINES_MOST = 5,
    PROCESSES = 2, /* of each */
    LOG_MOST = 1 << 18,
    CONNECTIONS_MOST = 64,
    NAMES = 512, /* in a group */
    ENTRIES = 2 * NAMES,
    NAMES_SEARCHED = 2
};

/* The one resource that the judge follows. */
#define RESOURCE "thing"

/* One permission, as it is published. */
struct page {
    char name[64];
    uint64_t era;
    unsigned mode;
    uint32_t slot;
    uint64_t base, first;
    bool death, armed, others;
    bool half;     /* of a DO_WATCH has been done, where that is two steps: world.halves */
    unsigned step; /* rises with each whole DO_WATCH: what the first process compares */
    unsigned busy, heard;
    int64_t owed;
};

struct packet {
    uint8_t *bytes;
    size_t length;
};

/* Between two agents' incarnations: the first end dialled. What one end has sent may be read by the
 * other after it has closed it, or ended. */
struct connection {
    bool used;
    struct end {
        unsigned machine;
        uint32_t slot;        /* of the other, as this one knows it */
        uint64_t incarnation; /* of the other */
        bool open;            /* set with it; cleared when this end closes, or finds it closed */
        bool told;            /* its agent has been, that it is up */
        bool forgotten;       /* by its agent, to whom what comes is still handed */
        struct packet *sent;
        size_t count, read; /* packets that it has sent; of these, the other has read */
    } end[2];
};

/* A local process of a machine. */
struct process {
    bool wants, inside;
    unsigned mode; /* PERMISSION_… */
    uint64_t era;
    unsigned step; /* the page's, when it last entered */
    uint64_t fence;
    int64_t lost; /* when the present passage was, by withdrawal; 0: it was not */
    int64_t next_demand;
    /* It waits until so many passages have ended; 0: for nothing. One that only asked whether they
     * have is none. */
    unsigned needs;
    bool passing; /* inside the region of the space: it has asked, and waits for its agent */
    bool holds;   /* what it asked was so */
    bool asleep;  /* it was not, and it is outside */
    bool asked;   /* ever */
    unsigned heard, stirs; /* the page's, and the world's, when it last asked */
};

struct machine {
    unsigned number;
    struct world *world;
    bool running, stopped, cut; /* the agent's process; cut: from the network */
    bool told_cut;              /* the agent knows */
    bool deaf;                  /* what comes to it waits; it says what it has to say */
    bool misses;                /* the next message of a member's */
    bool blinked;               /* cut and back: the others know, the agent does not */
    struct agent agent;
    void *memory;            /* the agent's; NULL: it does not run */
    uint32_t pid, known_pid; /* known: to the others */
    size_t cursor;           /* in the log */
    /* the pages, which outlive the agent */
    struct page *page; /* ENTRIES */
    unsigned pages;
    bool full;
    int64_t deadline;
    uint64_t identity; /* of the pages; 0: they are not there */
    int64_t obliged;
    uint64_t seen_view;
    struct { /* the process that was inside by pages that were lost, and does not know it */
        bool inside;
        unsigned mode;
        int64_t deadline;
    } orphan;
    uint64_t known_view;  /* its file */
    uint8_t *taking_back; /* PERMISSION_…: the agent's ask waits to enter in it; 0: none does */
    struct {              /* as its agent said (DO_PEER) */
        bool used, dial;
        unsigned machine;
        uint64_t incarnation;
    } peer[SLOTS];
    /* the first is the one that scenes speak of */
    struct process process[PROCESSES];
    struct demand said; /* what a local process has last asked the agent for */
    uint64_t passage;   /* the number of the last local one, the agent's included */
    bool dead_inside;   /* one of them died inside, and nobody has been told */
    /* one inside has said that it was told of a death, and the agent has not heard it: set when it
     * enters, cleared when the agent has, or is killed */
    bool told_unheard;
    unsigned entries, losses, deaths_told;
    unsigned nudges; /* what its agent sent over links to be missed sooner */
};

struct log_entry {
    enum { LOGGED_PARCEL, LOGGED_LEFT } kind;
    struct address who;
    bool with_its_machine;
    size_t length;
    uint8_t *bytes;
};

struct world {
    /* NULL: parcels and packets are allocated and freed. Else, in a search, they are taken from
     * here and nothing is freed, nor is an agent's memory, of which the first NAMES_SEARCHED names
     * are used: whoever puts an earlier world back finds all that it points at. */
    uint8_t *arena;
    size_t arena_used, arena_room;
    unsigned machines;
    struct machine machine[MACHINES_MOST];
    struct log_entry *log;
    size_t logged;
    struct agent_effects effects; /* of the last step */
    int64_t now, lease, grace;
    uint64_t chance;
    uint32_t pids;
    uint64_t greatest_fence[PERMISSION_MODES]; /* of the passages of each mode */
    unsigned refusals, entries;
    /* Links. At first, if the protocol can have them, and AGENT_TEST_RING is not in the environment
     */
    bool links;
    struct connection connection[CONNECTIONS_MOST];
    bool blocked[MACHINES_MOST][MACHINES_MOST]; /* from, to: nothing comes through, for now */
    bool local_processes;                       /* they come and go by themselves */
    unsigned shared_percent;
    bool all_modes; /* they come in any mode, and two at a time */
    /* agents hear that nobody has a name open, whenever nobody is inside or wants in */
    bool forgets;
    uint64_t without;  /* 1 << enum agent_rule: of all agents. At first, by AGENT_TEST_WITHOUT */
    bool judge_deaths; /* who enters after a death must be told: no agent is killed then */
    bool
        judge_once; /* nobody is told who does not enter after a death: no agent is killed or cut */
    bool hasty;     /* who was told of a death leaves before its agent has heard so */
    bool untold;    /* somebody died inside, exclusively, and nobody has entered since */
    /* who has asked whether enough passages have ended asks again only when something has changed:
     * no agent is killed then, nor is a lease lost */
    bool judge_asking;
    /* DO_WATCH is two steps. HALF_MARKED: until the second, nobody is let in. HALF_LATE: until then
     * who has entered before is, without a look at who watches */
    enum { WHOLE, HALF_MARKED, HALF_LATE } halves;
    unsigned ended; /* passages */
    unsigned stirs; /* announced, begun or ended */
    const struct message_protocol *protocol;
    const char *violation; /* NULL: none */
    char words[256];
};

void world_begin(struct world *world, unsigned machines, const struct message_protocol *protocol,
                 uint64_t seed);
void world_end(struct world *world);
uint64_t world_draw(struct world *world, uint64_t below);

void world_start(struct world *world, unsigned machine); /* an agent, new or anew */
void world_kill(struct world *world, unsigned machine);  /* the agent, as by SIGKILL */
/* As by SIGTERM: it takes back what is free, and says farewell. */
void world_go(struct world *world, unsigned machine);
/* The pages of a machine without an agent: removed, or the next agent looks elsewhere. Who is
 * inside by them stays. */
void world_lose_pages(struct world *world, unsigned machine);
void world_cut(struct world *world, unsigned machine); /* from the network */
void world_heal(struct world *world, unsigned machine);
void world_notice_cut(struct world *world, unsigned machine); /* Corosync tells both sides */
/* Cut off and back: the others have been told, its agent will be when it next hears anything. */
void world_blink(struct world *world, unsigned machine);
/* The next message of a member's, of which nobody tells it. (That of one that is no member has no
 * number: should the transport lose it, it must say so.) */
void world_miss(struct world *world, unsigned machine);

/* A connection between the two breaks at one end; false: there is none. */
bool world_break(struct world *world, unsigned end, unsigned other);
/* In one direction; connections stay, and no other is made. */
void world_block(struct world *world, unsigned from, unsigned to, bool blocked);
void world_unblock_all(struct world *world);
/* Every agent has a connection with every other that it knows. */
bool world_all_linked(struct world *world);

/* An event for a machine's agent, at this moment; what it decides is carried out. */
void world_feed(struct machine *machine, struct agent_event event);
void world_deliver(struct machine *machine, struct address from, const void *bytes, size_t length);

void world_step(struct world *world); /* something happens, and a little time passes */
void world_run(struct world *world, int64_t ns);
/* Lets the time pass until it is so, for so long at most. */
bool world_until(struct world *world, bool (*so)(struct world *), int64_t ns);

/* its first local process wants in; or the second */
void world_want(struct world *world, unsigned machine, unsigned mode);
void world_want_too(struct world *world, unsigned machine, unsigned mode);
/* the second, once so many passages have ended */
void world_want_when(struct world *world, unsigned machine, unsigned needs);
void world_leave(struct world *world, unsigned machine);
void world_leave_too(struct world *world, unsigned machine);
/* those of its local processes that are inside; others take their place */
void world_die(struct world *world, unsigned machine);
/* Its agent hears this, whoever said it and when. */
void world_say(struct world *world, unsigned machine, const struct demand *what);
/* Its local processes want this permission, which nobody follows; false: there is no room for the
 * name. */
bool world_want_another(struct world *world, unsigned machine, const char *name);
/* the permission, exclusively */
bool world_has(const struct world *world, unsigned machine, const char *name);
/* its first local process is inside, and has lost nothing; or the second */
bool world_holds(const struct world *world, unsigned machine);
bool world_holds_too(const struct world *world, unsigned machine);
/* one of them is inside, whatever it has lost */
bool world_is_inside(const struct world *world, unsigned machine);
bool world_all_ready(struct world *world);
/* Nobody on this machine has any name open, but for what its local process is inside of or wants:
 * its agent hears so. */
void world_close_all(struct world *world, unsigned machine);
/* No agent knows any name, but those of which somebody is to be told of a death. */
bool world_all_forgotten(struct world *world);

/* ---- for its own files ---- */

/* world_links.c */
void links_step(struct world *world, struct machine *machine);
void links_peer(struct machine *machine, const struct agent_effect *effect);
void links_forget_peer(struct machine *machine, const struct agent_effect *effect);
void links_send(struct machine *machine, const struct agent_effect *effect);
void links_end_process(struct machine *machine);
void links_free(struct world *world);
/* What links_step() draws one of; side: of the connection. */
bool links_can_dial(const struct machine *machine, uint32_t slot);
void links_dial(struct machine *machine, uint32_t slot);
void links_accept(struct machine *machine, struct connection *connection, struct end *end);
void links_read(struct machine *machine, struct connection *connection, unsigned side);
void links_close(struct machine *machine, struct end *end);

/* world_judge.c: one has entered */
void world_judge_entry(struct world *world, unsigned machine, const struct process *entered);
bool world_process_holds(const struct world *world, const struct machine *machine,
                         const struct process *process);
static inline bool world_conflict(unsigned mode, unsigned other)
{
    return modes_conflict(permission_turned(mode), permission_turned(other));
}

void *world_allocate(struct world *world, size_t bytes);
void world_free(struct world *world, void *memory);
void world_deliver_next(struct world *world, struct machine *machine); /* of the ledger */
void world_take_back(struct machine *machine);
/* The second half of what its agent has begun: the agent does nothing before. */
bool world_has_half(const struct machine *machine);
void world_do_other_half(struct machine *machine);
/* Nobody watches who has not been told, as far as one sees that has entered before. */
bool world_lets_in(const struct world *world, const struct page *page,
                   const struct process *process);
void world_hear_told(struct machine *machine);
/* Whether world_try_to_enter() would enter, or ask: of the first process. */
bool world_would_try(const struct world *world, unsigned machine);
void world_try_to_enter(struct world *world, unsigned machine);
/* The same of the second, which waits for others to pass. */
bool world_would_ask(const struct world *world, unsigned machine);
void world_ask(struct world *world, unsigned machine);
/* It waits, and what it waits for is not so. */
bool world_waits_in_vain(const struct world *world, unsigned machine);
void world_move_local(struct world *world, unsigned machine);
/* One of them is inside in a mode that conflicts with this one. */
bool world_is_in_the_way(const struct machine *machine, const struct process *but, unsigned mode);
/* What may be inside beside the mode stays; false: nothing was granted */
bool world_lower(struct machine *machine, unsigned resource, unsigned mode);
void world_violate(struct world *world, const char *what, unsigned machine, unsigned other);
void world_tell(const struct machine *machine, const char *what, uint64_t value);

#endif
