/* SPDX-License-Identifier: MIT */
/* The agent without its surroundings: who is in the group, for how long my lease holds, and which
 * resources this machine may enter.
 *
 * Everything that happens comes in through the functions below, with the time; everything that it
 * does goes out through `struct surroundings`. It knows neither Corosync nor the space nor a clock,
 * so a test can run a whole cluster in one process.
 *
 * The group. The transport delivers parcels to all in one agreed order, the sender included. On it
 * stands a group of our own, in which all that changes is itself a record in that order: a HELLO
 * makes a member of its sender, a BURIAL or a newer HELLO from the same machine ends one. Each
 * change has a number, its view. Members have slots, which are the node numbers of the message
 * protocols.
 *
 * Invariants:
 *   A1  All members have seen the same records since they joined. Who may have missed one (a gap in
 *       a sender's sequence, no quorum, a ring in which it stood without a majority) is cut: it
 *       forgets everything, withdraws its permissions and says HELLO again.
 *   A2  A permission is published only before the deadline. The deadline is the lease after the
 *       *sending* of a renewal of mine that agents on a majority of the machines have acknowledged.
 *   A3  A member is buried only when nothing was heard of it for the grace, which is longer than
 *       the lease; or when a new agent on the same machine vouches for what became of its
 *       permissions. So no permission of a dead member outlives its burial. Only an agent with the
 *       same pages can vouch: one with others, because somebody removed them or because it looks
 *       elsewhere, is no member before the old one is buried.
 *   A4  What was granted to a member that is succeeded by a new agent on its machine stays granted,
 *       in the name of the old slot (a ghost), until the new agent says that it has ended.
 *   A5  A resource is released only by take_back: after the agent was inside the region of the
 *       space.
 *   A6  What a machine has lost, because it was cut off or its agent was late, is given to nobody
 *       before those inside have had the time to stop that they are promised (grace less lease,
 *       from when they were told). The machine says in its HELLO what it owes so; the old slot
 *       stays a member there, as a ghost, until the time has passed.
 */
#ifndef AFTERYOU_AGENT_CORE_AGENT_H
#define AFTERYOU_AGENT_CORE_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/core/wire.h"
#include "common/permissions.h"
#include "protocols/messages/messages.h"

enum { SLOTS = 64, RESOURCES_MOST = 4096 /* in the group */, PROTOCOL_NAME_ROOM = 31 };

struct address {
    uint32_t node, pid;
};

enum log_level { LOG_DEBUGGING, LOG_INFORMATION, LOG_WARNING };

/* What the agent does. All calls come from within one of the functions below. */
struct surroundings {
    void *arg;
    /* Multicasts to the group, the sender included. It may be late, but not lost without a cut. */
    void (*send)(void *arg, const void *bytes, size_t length);
    /* The agent's table has another name at this index, or none any more. Nothing is granted there.
     */
    void (*named)(void *arg, unsigned resource);
    /* publishes what agent->resource[] says: mode, base, number, ghost */
    void (*grant)(void *arg, unsigned resource);
    /* At once: what was begun under it is lost. agent->resource[].owed says until when those inside
     * have time to stop. */
    void (*withdraw)(void *arg, unsigned resource);
    /* Enters the region of the space in its turn, withdraws the permission there, leaves; then
     * calls agent_took_back(). If it must wait for somebody inside, it first calls agent_is_busy().
     */
    void (*take_back)(void *arg, unsigned resource);
    void (*busy)(void *arg, unsigned resource);  /* tell those who try */
    void (*death)(void *arg, unsigned resource); /* agent->resource[].death has changed */
    void (*full)(void *arg, bool full);          /* whether the group has room for no other name */
    void (*lease)(void *arg, int64_t deadline);
    void (*changed)(void *arg, enum agent_state state);
    /* for the agent that begins after a restart of everything */
    void (*keep_view)(void *arg, uint64_t view);
    uint64_t (*nonce)(void *arg); /* never the same */
    /* Of a local passage of the resource, not after any that is still to come: fences count from
     * it. */
    uint64_t (*number)(void *arg, unsigned resource);
    /* who is inside and who waits on this machine */
    size_t (*describe)(void *arg, char *text, size_t room);
    void (*answered)(void *arg, uint64_t query, uint32_t node, const char *text, size_t length);
    void (*refused)(void *arg, const char *why); /* cannot be one of them */
    void (*log)(void *arg, enum log_level level, const char *event, const char *details);
};

struct agent_options {
    const struct message_protocol *protocol;
    int64_t lease, grace; /* nanoseconds */
    uint64_t pages;       /* their identity */
};

struct member {
    bool used;
    bool ghost; /* A4 */
    /* the transport says, in the order, that it has left: nothing more is taken from it */
    bool gone;
    bool parted; /* and its machine with it */
    uint32_t node, pid;
    uint64_t pages;               /* their identity: what its machine can vouch for */
    uint64_t incarnation, joined; /* a nonce; a view */
    uint64_t sequence;            /* of its last parcel */
    int64_t heard;                /* when its last renewal came */
    uint64_t renewed;             /* the time in it, by its own clock */
    uint64_t acknowledged;        /* the time in the last renewal of mine that it has heard */
};

struct resource {
    /* of this machine: kept while the process lives */
    char name[PERMISSION_NAME_MOST + 1];
    uint8_t length;       /* 0: the entry is free */
    uint8_t wanted;       /* PERMISSION_…: by processes of this machine */
    uint64_t number;      /* of the agent's own last passage there; 0: not known */
    bool granted;         /* published */
    uint8_t mode;         /* PERMISSION_…, if granted or asked for */
    bool taking_back;     /* take_back() was called, and agent_took_back() was not */
    bool is_busy;         /* taking_back, and somebody is inside */
    int ghost;            /* granted in the name of this slot, and not of my own; or -1 */
    uint64_t base, first; /* the fence of the local number `first` */
    /* a death that no group knows of; until one does, or has counted it already (deaths.c) */
    bool died_here;
    /* one above the node of another machine that had it, or asked for it, when I was last a member;
     * 0: none */
    uint32_t held_by;
    /* A6. Set when it is lost, cleared when the time has come. */
    int64_t owed;  /* 0: nothing */
    int owed_slot; /* in whose name it was granted */
    /* of the group: all members have the same, but for `state` */
    bool in_group;
    uint32_t index; /* in agent->group */
    bool creating;  /* I have sent its CREATION */
    bool death;     /* somebody died inside, and nobody has been told */
    bool told;      /* somebody has, since the resource came into being in this group */
    bool busy_elsewhere;
    uint64_t members;                /* slots, ghosts too */
    uint64_t waiting[3], holding[3]; /* slots, by PERMISSION_… */
    uint64_t *state;                 /* of the protocol */
};

enum phase {
    PHASE_OFF,     /* no transport, or no quorum */
    PHASE_SEEKING, /* HELLO is out */
    PHASE_JOINING, /* it has been delivered: what follows is kept until STATE comes */
    PHASE_MEMBER
};

struct counters {
    uint64_t sent, received, grants, releases, losses, burials, demands, parcels;
};

struct kept_parcel;

struct agent {
    struct agent_options options;
    struct surroundings around;
    int64_t now;
    struct parcel out;
    /* the transport */
    uint32_t node, pid, nodes; /* nodes: how many machines are configured */
    uint32_t majority;
    /* the group */
    enum phase phase;
    enum agent_state state;
    uint64_t incarnation;
    int64_t said_hello;  /* when */
    uint64_t known_view; /* the greatest I know to have been, by file or by ear */
    uint64_t view;
    uint64_t founded; /* the view with which the group began */
    /* when this machine was last a member, of this group or another; 0: never */
    uint64_t last_view;
    uint32_t self; /* my slot, or NO_SLOT */
    uint64_t sequence;
    struct member member[SLOTS];
    struct kept_parcel *kept, **kept_end; /* PHASE_JOINING */
    /* those who said NAY to my HELLO */
    struct nay {
        uint32_t node, pid;
        uint64_t view;
        int64_t obliged;
    } nay[SLOTS];
    unsigned nays;
    bool founding; /* FOUND is out */
    struct hello {
        struct address from;
        uint64_t incarnation;
    } hellos[SLOTS]; /* since somebody last began, or renewed */
    unsigned hello_count;
    /* the lease */
    int64_t deadline; /* 0: none yet */
    int64_t renewal_due;
    /* what was inherited holds so long, unless a lease of my own covers it; 0: it does */
    int64_t inherited_until;
    int64_t owed_next; /* the earliest of resource[].owed; INT64_MAX: none */
    /* until then somebody on this machine may still be inside by an old lease */
    int64_t obliged;
    int64_t quarantine; /* the group grants nothing before */
    /* when those that are not there by then count as dead (deaths.c); 0: never, or done */
    int64_t doubts_due;
    bool was_ready;
    /* resources */
    struct resource *resource; /* PERMISSIONS_MOST */
    unsigned resources;        /* entries that have been used */
    /* a name was refused; set by names_refuse(), cleared when the group is forgotten */
    bool is_full;
    struct resource **group; /* RESOURCES_MOST, in order of creation */
    uint32_t group_count;
    uint64_t *room; /* for a step's effects */
    struct counters counters;
};

/* ---- what happens to it ---- */

bool agent_begin(struct agent *agent, const struct agent_options *options,
                 const struct surroundings *around);
void agent_end(struct agent *agent);

/* Before it is connected: until then, by pages that it does not know, processes of this machine may
 * be inside. A grace from when its own pages were made. */
void agent_is_obliged(struct agent *agent, int64_t until);
/* Before it is connected, in a process that comes after another: a name that stands in the pages,
 * in order of their indices; "" for none. */
void agent_knows_name(struct agent *agent, unsigned resource, const char *name, size_t length);
/* The same: a permission that stands in the pages. */
void agent_inherits(struct agent *agent, unsigned resource, unsigned mode, uint32_t slot,
                    uint64_t base, uint64_t first);

/* The same: it was lost, and those begun under it have until then to stop. */
void agent_owes(struct agent *agent, unsigned resource, uint32_t slot, int64_t until);

/* The same: somebody has died inside, and nobody has been told. */
void agent_knows_death(struct agent *agent, unsigned resource);
/* The same: somebody has died inside, by what the space says: enters, and sees. */
void agent_sweeps(struct agent *agent, unsigned resource);

/* The transport is there, and has quorum. */
void agent_connected(struct agent *agent, int64_t now, struct address self, uint32_t nodes);
/* It is not, or may have left out something. */
void agent_cut(struct agent *agent, int64_t now, const char *why);
void agent_delivered(struct agent *agent, int64_t now, struct address from, const void *bytes,
                     size_t length);
void agent_left(struct agent *agent, int64_t now, struct address who, bool with_its_machine);

/* A local process asks. False: there is no room for the name. */
bool agent_demand(struct agent *agent, int64_t now, const struct demand *demand);
void agent_is_busy(struct agent *agent, int64_t now, unsigned resource);
/* `withdrawn`: the permission was still there. `number`: of the agent's own passage. `death`:
 * somebody had died inside. */
void agent_took_back(struct agent *agent, int64_t now, unsigned resource, bool withdrawn,
                     uint64_t number, bool death);
void agent_query(struct agent *agent, int64_t now, uint64_t query);
/* Says farewell, if nothing is granted. */
void agent_farewell(struct agent *agent, int64_t now);
/* Whatever is due; the time at which it wants to be called again. */
int64_t agent_tick(struct agent *agent, int64_t now);

/* ---- for its own files ---- */

/* agent.c */
void agent_log(struct agent *agent, enum log_level level, const char *event, const char *format,
               ...) __attribute__((format(printf, 4, 5)));
/* for the log: no quote, no control. Until the next call */
const char *agent_name(const struct resource *resource);
void agent_flush(struct agent *agent);
void agent_state_changes(struct agent *agent, enum agent_state state);
/* A1: all but the names; says HELLO no more */
void agent_forget(struct agent *agent, const char *why);
void agent_note_left(struct agent *agent, struct address who, bool with_its_machine);
void agent_process(struct agent *agent, struct address from, const void *bytes, size_t length);
bool agent_is_member(const struct agent *agent);

/* joining.c: how one becomes a member */
void joining_seek(struct agent *agent);
void joining_tick(struct agent *agent);
void joining_hello(struct agent *agent, struct address from, struct reader *fields);
void joining_nay(struct agent *agent, struct address from, struct reader *fields);
void joining_refusal(struct agent *agent, struct reader *fields);
void joining_found(struct agent *agent, struct address from, struct reader *fields);
void joining_state(struct agent *agent, struct reader *fields);
void joining_keep(struct agent *agent, struct address from, const void *bytes, size_t length);
void joining_keep_left(struct agent *agent, struct address who, bool with_its_machine);
void joining_drop_kept(struct agent *agent);

/* members.c: how one ceases to be a member */
uint32_t members_add(struct agent *agent, struct address address, uint64_t incarnation,
                     uint64_t pages); /* a slot, or NO_SLOT */
void members_succeed(struct agent *agent, uint32_t node, uint32_t except, struct reader *kept);
void members_burial(struct agent *agent, struct reader *fields);
void members_farewell(struct agent *agent, uint32_t slot);
void members_ghost(struct agent *agent, uint32_t slot, struct reader *fields);
void members_free_slots(struct agent *agent);

/* lease.c */
void lease_tick(struct agent *agent);
void lease_renewal(struct agent *agent, uint32_t slot, struct reader *fields);
bool lease_is_valid(const struct agent *agent);
bool agent_is_ready(const struct agent *agent); /* may ask for permissions */
void lease_renew(struct agent *agent);

/* names.c: which resources this machine knows */
/* NULL: not there */
struct resource *names_find(struct agent *agent, const char *name, size_t length);
/* NULL: no room, or a bad name */
struct resource *names_add(struct agent *agent, const char *name, size_t length);
/* the group has no room for it */
void names_refuse(struct agent *agent, struct resource *resource);

/* resources.c */
void resources_write_state(struct agent *agent, struct parcel *out);
bool resources_read_state(struct agent *agent, struct reader *fields);
struct resource *resources_create(struct agent *agent, const char *name, size_t length,
                                  uint32_t creator);
void resources_creation(struct agent *agent, uint32_t slot, struct reader *fields);
void resources_protocol(struct agent *agent, uint32_t slot, struct reader *fields);
void resources_note(struct agent *agent, uint32_t slot, enum record_kind kind,
                    struct reader *fields);
void resources_joined(struct agent *agent, uint32_t slot);
void resources_died(struct agent *agent, struct resource *resource, uint32_t slot, bool death);
void resources_forget(struct agent *agent);
void resources_pursue_all(struct agent *agent);
void resources_withdraw(struct agent *agent, struct resource *resource);
void resources_step(struct agent *agent, struct resource *resource, const struct event *event);
/* asks for what this machine wants */
void resources_pursue(struct agent *agent, struct resource *resource);
void resources_take_back(struct agent *agent, struct resource *resource);
void resources_look_for_contest(struct agent *agent, struct resource *resource);
void resources_put_note(struct agent *agent, enum record_kind kind, const struct resource *resource,
                        uint8_t value);

/* deaths.c */
void deaths_sweep(struct agent *agent, struct resource *resource);
void deaths_found(struct agent *agent, struct resource *resource);
void deaths_write(struct agent *agent); /* into a HELLO */
void deaths_read(struct agent *agent, uint32_t creator, struct reader *fields);
void deaths_record(struct agent *agent, uint32_t slot, struct reader *fields);
void deaths_begin(struct agent *agent);        /* a group that I found */
void deaths_settle(struct agent *agent);       /* a group that I have joined */
void deaths_note_holders(struct agent *agent); /* before it is forgotten */
void deaths_tick(struct agent *agent);

/* holdings.c */
void holdings_settle_inheritance(struct agent *agent);
void holdings_owe(struct agent *agent, struct resource *resource, uint32_t slot, int64_t until);
void holdings_tick(struct agent *agent); /* ends what is owed no longer */

static inline unsigned resource_index(const struct agent *agent, const struct resource *resource)
{
    return (unsigned)(resource - agent->resource);
}

static inline struct node *resource_node(const struct resource *resource)
{
    return (struct node *)resource->state;
}

static inline uint64_t slot_bit(uint32_t slot)
{
    return UINT64_C(1) << slot;
}

#endif
