/* SPDX-License-Identifier: MIT */
/* What the agent knows: its options, the members of the group, the resources. Only core/ writes it;
 * the host reads it, between two steps. */
#ifndef AFTERYOU_AGENT_CORE_STATE_H
#define AFTERYOU_AGENT_CORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/core/wire.h"
#include "common/permissions.h"
#include "protocols/messages/link.h"
#include "protocols/messages/messages.h"

/* Machines and their ghosts. What ships has 64; a simulation may be built with 128. */
#ifndef AGENT_SLOTS
#define AGENT_SLOTS 64
#endif

/* One bit a slot, the lowest first: as the protocols' sets (sets.h). */
#if AGENT_SLOTS == 64
typedef uint64_t slot_set;
#else
__extension__ typedef unsigned __int128 slot_set;
#endif

enum {
    SLOTS = AGENT_SLOTS,
    NAMES_MOST = PERMISSIONS_MOST / 2, /* in a group */
    QUERIES_MOST = 64,                 /* that wait for an answer of this machine's */
    OUT_ROOM = 64 << 20,               /* of a parcel: the STATE has all names */
    SAID_MOST = 1 << 16,               /* messages to one member that it has not acknowledged */
    DIRECT_ROOM = 1 << 20,             /* for what goes over links in one step */
    SENT_MOST = 1 << 16,               /* of it, in one DO_SEND_TO */
    HELD_ROOM = 1 << 18, /* for what came over links before the CREATION that it is about */
    ENDPOINT_ROOM = 24,
    KEPT_ROOM = 64 << 20 /* for what is delivered between my HELLO and the STATE */
};

struct address {
    uint32_t node, pid;
};

/* Rules left out one by one, for a search to refute (tests/agent). None is left out in what ships.
 */
enum agent_rule {
    WITHOUT_VOID_BURIALS,    /* a burial counts even if its dead was heard of since */
    WITHOUT_GAPS,            /* a missed message is not looked for */
    WITHOUT_GONE,            /* the transport's word that one has left is not taken */
    WITHOUT_SAME_PAGES,      /* any agent of a machine vouches for its predecessor */
    WITHOUT_FRESH_GRACE,     /* pages made anew oblige to nothing */
    WITHOUT_OBLIGATIONS,     /* a new group does not ask how long old leases last */
    WITHOUT_OWING,           /* what was lost is owed to nobody */
    WITHOUT_GHOSTS,          /* an heir does not say what it has inherited */
    WITHOUT_TIME_OF_SENDING, /* the lease counts from when an answer comes */
    WITHOUT_MAJORITY,        /* a lease needs nobody's acknowledgement */
    WITHOUT_LAPSING,         /* a lease that has run out is not noticed */
    WITHOUT_GRACE,           /* the silent are buried as soon as they miss a renewal */
    WITHOUT_SIGNS_OF_LIFE,   /* a group begins although another is alive */
    WITHOUT_QUARANTINE,      /* a new group grants at once */
    WITHOUT_KNOWN_VIEWS,     /* a new group's view is its founder's alone */
    WITHOUT_USED_FENCES,     /* a release does not say which fences were used */
    WITHOUT_REPLAY,          /* a newcomer drops what came before its STATE */
    WITHOUT_DEATHS_IN_HELLO, /* a new group is not told of old deaths */
    WITHOUT_SWEEPING,        /* who lost a permission does not look who died by it */
    WITHOUT_DOUBTS,          /* a holder that is not there any more does not count */
    WITHOUT_PARTING,         /* who sees the majority leave stays a member */
    /* Over links: */
    WITHOUT_CLOSING_LINKS,      /* what one has said that has ended since is taken */
    WITHOUT_RECEIVERS,          /* so is what was said to an earlier incarnation of mine */
    WITHOUT_HOLDING_EARLY,      /* what is about a name that I do not know yet is dropped */
    WITHOUT_WANT_AT_SUCCESSION, /* who waits for a ghost does not tell its successor */
    WITHOUT_WANT_LATER,         /* nor who asks when the ghost is there */
    WITHOUT_DETOUR,             /* nothing of a link goes by the ledger */
    WITHOUT_LINK_NUMBERS,       /* duplicates are taken */
    WITHOUT_POSITION,           /* who hears nothing counts as heard of, for it renews */
    WITHOUT_LAST_WORDS_SAID,    /* who goes, or is succeeded, says nothing of deaths */
    WITHOUT_CONTEST,            /* a request that is deferred does not make me give it back */
    WITHOUT_IDENTITY, /* what is about another name of the same serial is taken for mine */
    /* Forgetting: */
    WITHOUT_SHEDDING,     /* who uses a name no longer keeps the others' permissions */
    WITHOUT_USERS_FIRST,  /* a request is taken from one of whom the ledger does not say that it
                            uses the name */
    WITHOUT_FLOOR,        /* a name that comes back does not begin above its old fences */
    WITHOUT_UNTOLD,       /* a name is forgotten although somebody died inside untold */
    WITHOUT_RESTORING,    /* what a machine keeps of a name that the group has not got is free */
    WITHOUT_MARGIN,       /* who was buried has installed no change that nobody else has heard of */
    WITHOUT_LEAVING_LATE, /* who has to take a permission back first says nothing afterwards */
    /* Conditions: */
    WITHOUT_WATCHING,   /* the others do not know that somebody sleeps */
    WITHOUT_MARKS,      /* nor the processes of their machines */
    WITHOUT_ANNOUNCING, /* who sleeps elsewhere does not hear that somebody is to be inside */
    WITHOUT_STIRRING,   /* nor that the group has changed */
    /* what is wanted: */
    WITHOUT_ASKING_ANEW, /* what was wanted of a permission that is lost is wanted still */
    WITHOUT_STALENESS    /* so is what was asked for of one that has changed: the host's */
};

/* Where an agent listens for links, in the host's words. */
struct endpoint {
    uint8_t bytes[ENDPOINT_ROOM];
};

struct agent_options {
    const struct message_protocol *protocol;
    /* Messages of the protocol go over links between the agents, if it can do that; else by the
     * ledger, as all else. The same for all agents. */
    bool links;
    struct endpoint endpoint; /* mine */
    int64_t lease, grace;     /* nanoseconds */
    uint64_t pages;           /* their identity */
    uint64_t nonce;           /* drawn by this process: incarnations are made of it */
    uint64_t known_view;      /* the greatest that may have been, by file or pages */
    uint64_t last_view;       /* with which this machine was last a member; 0: never */
    /* Until then processes of this machine may be inside by pages that it does not know: a grace
     * from when its own were made. */
    int64_t obliged;
    unsigned names;   /* that a group can have, at most; this machine knows twice as many */
    uint64_t without; /* bits: 1 << enum agent_rule */
};

struct member {
    bool used;  /* set when it joins, cleared when nothing needs the slot any more */
    bool ghost; /* it has ended, and its slot is needed still (A4, A6) */
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
    uint32_t resources;           /* of which it is a member */
    struct endpoint endpoint;
};

/* A message for one member, over its link. */
struct said {
    uint8_t kind; /* enum record_kind: RECORD_PROTOCOL, …_WANT, …_BUSY, …_WATCH, …_CHANGED */
    uint8_t what, mode; /* of the protocol's message */
    uint64_t serial;    /* of the resource */
    uint64_t identity;  /* its: who has another of this serial takes nothing for it */
    uint64_t number, view, fence, died, told;
};

/* My end of the link to another member (peers.c). */
struct linked {
    bool used;    /* set when the member is installed, cleared at its end */
    bool suspect; /* a connection is up, and does not carry: set after a while without an
                     acknowledgement, cleared by one that comes over it, or a new connection */
    /* something was sent after what is not acknowledged: set by peers_tick(), cleared by an
     * acknowledgement, a new connection, or when there is something new after all was */
    bool nudged;
    bool holds; /* something of its is in agent->held: set with it, cleared when it is taken out */
    uint64_t incarnation;
    struct link link;
    uint64_t first;           /* the number of the message at said[0] */
    int64_t since;            /* when anything was last acknowledged, or said when all was */
    uint64_t timed;           /* a message whose acknowledgement is timed; 0: none */
    int64_t timed_since;      /* when it was said */
    int64_t answered_in;      /* how long an acknowledgement takes, lately */
    int64_t answer_due;       /* of an acknowledgement without a message; 0: none */
    uint64_t sent;            /* the greatest number that went over any connection */
    uint64_t resent, relayed; /* messages: on another connection again; by the ledger */
    struct said *said;        /* SAID_MOST: those that are not acknowledged */
};

/* Most names are no longer: memory is taken for what they need. */
enum { NAME_BRIEF = 46 };

/* The order of its fields is for want of room: there may be a hundred thousand. */
struct resource {
    /* Of this machine: kept while the process lives, or until the entry has another name. */
    const char *name; /* in `brief`, or apart (agent->long_name); ends in a 0 */
    char brief[NAME_BRIEF + 1];
    uint8_t length;   /* 0: the entry is free */
    uint8_t wanted;   /* PERMISSION_…: by processes of this machine; none once it is granted */
    uint8_t mode;     /* PERMISSION_…, if granted */
    bool published;   /* its name is in the pages: set by DO_NAME, cleared with the name */
    bool granted;     /* set when entered or inherited, cleared when released or lost */
    bool taking_back; /* DO_TAKE_BACK is out: set with it, cleared by ON_TAKEN_BACK */
    bool is_busy;     /* and somebody is inside: set by ON_BUSY, cleared by ON_TAKEN_BACK */
    /* A death that no group knows of: set when found, cleared when a group knows (deaths.c). */
    bool died_here;
    /* It was granted, and lost: set then, cleared when I am a member again, and no ghost of mine is
     * left that will count as a death. */
    bool was_lost;
    /* Nobody here has it open: set by ON_UNUSED, cleared by a demand. */
    bool is_idle;

    /* Of the group: all members have the same, but for `creating` and `leaving`. Cleared when it is
     * forgotten, but for the deaths, which are said in the next HELLO. */
    bool in_group; /* set by its CREATION or the STATE */
    bool creating; /* I have sent a CREATION of it, and it has not come */
    bool leaving;  /* I have sent its FORGETTING, and it has not come */
    bool is_kept;  /* set and cleared within members_succeed() */
    bool death;    /* somebody died inside, and nobody has been told */
    bool told;     /* somebody has, since the resource came into being in this group */

    /* Of this machine. */
    int16_t ghost;        /* granted in the name of this slot, and not of my own; or -1 */
    int16_t owed_slot;    /* in whose name it was granted what is owed */
    uint32_t next;        /* entry and 1: of the same hash; or free */
    uint64_t number;      /* of a local passage: the agent's own last; 0: not known */
    uint64_t base, first; /* the fence of the local number `first` */
    /* those of other machines that had it, or may have had it, when I was last a member: bits of
     * agent->former */
    slot_set held_by;
    int64_t owed; /* A6. Set when it is lost, cleared when the time has come; 0: nothing */

    /* Of the group. */
    uint32_t index;          /* in agent->group, of this agent alone */
    uint32_t next_of_serial; /* entry and 1: of the same hash of serials */
    uint64_t serial;         /* which CREATION of the group it is of */
    /* which it is: by its name, its serial, and who were members when it came into being */
    uint64_t identity;
    slot_set members; /* ghosts too */
    slot_set users;   /* of these: those whose machines use it (forgetting.c) */
    /* over links, as the ledger says: the last death of a user, and the last that is told */
    uint64_t ledger_died, ledger_told;
    slot_set busy_elsewhere; /* set by a BUSY of another machine's, cleared when it gives way */
    uint64_t *state;         /* of the protocol, mine alone; NULL: not in the group */
    union {
        /* In the agreed order alone: who waits and who has it, as all have heard; by
         * PERMISSION_… */
        struct {
            slot_set waiting[PERMISSION_MODES], holding[PERMISSION_MODES];
        };
        /* Over links alone, and mine alone. */
        struct {
            slot_set wanting; /* what I have by a ghost: set by WANT, cleared with it */
            /* those who have been told that somebody is inside here, for the present taking
             * back */
            slot_set told_busy;
            uint64_t dying;     /* the death that `death` announces */
            uint64_t told_here; /* the greatest of which somebody was told by the present grant */
            /* conditions.c: those who are to hear CHANGED. Set by WATCH, cleared when they have */
            slot_set watchers;
            bool armed;  /* somebody sleeps here: set by DEMAND_WATCH, cleared when it is woken */
            bool marked; /* the pages say that others watch. Set and cleared with them */
        };
    };
};

enum phase {
    PHASE_OFF,     /* no transport, or no quorum */
    PHASE_SEEKING, /* HELLO is out, or put off */
    PHASE_JOINING, /* it has been delivered: what follows is kept until STATE comes */
    PHASE_MEMBER
};

struct counters {
    uint64_t sent, received, grants, releases, losses, burials, demands, parcels;
    uint64_t resent, relayed; /* of those sent: on another connection again; by the ledger */
};

struct agent_effects;

struct agent {
    struct agent_options options;
    /* of the step: set by agent_step(), and of no meaning between two */
    int64_t now;
    uint64_t minute;
    struct agent_effects *effects;
    struct parcel out; /* what is to be said at its end */
    int64_t due;       /* of the next ON_TICK, but for what peers wait for */
    int64_t wakes;     /* as the host was told: set with DO_WAKE */

    /* of the process */
    uint64_t incarnations;   /* how many there have been */
    uint64_t known_view;     /* the greatest I know to have been, by file or by ear */
    uint64_t last_view;      /* when this machine was last a member, of any group; 0: never */
    int64_t inherited_until; /* what was inherited holds so long; 0: my own lease covers it */
    int64_t owed_next;       /* the earliest of resource[].owed; INT64_MAX: none */
    int64_t obliged;         /* until then somebody here may still be inside by an old lease */
    enum agent_state state;  /* as the local processes have been told */
    struct counters counters;
    bool is_ending; /* set by ON_ENDING, never cleared: it asks for nothing more */

    /* of the transport: set by ON_CONNECTED */
    uint32_t node, pid, nodes; /* nodes: how many machines are configured */
    uint32_t majority;

    /* of a search for the group: from a HELLO to the next */
    enum phase phase;
    uint64_t incarnation;    /* of the HELLO */
    int64_t searching_since; /* when it was said, or put off */
    int64_t patience;        /* before the next HELLO */
    int64_t pause;           /* for which one was last put off; 0: none since I was a member */
    bool founding;           /* FOUND is out: set with it, cleared by the next HELLO or a cut */
    /* those who said NAY to my HELLO */
    struct nay {
        uint32_t node, pid;
        uint64_t view;
        int64_t obliged;
    } nay[SLOTS];
    unsigned nays;
    size_t kept_length; /* PHASE_JOINING: of what is in `kept` */

    /* of the transport's order */
    struct hello {
        struct address from;
        uint64_t incarnation;
    } hellos[SLOTS]; /* since somebody last began, or renewed */
    unsigned hello_count;

    /* of the group: forgotten with it */
    uint64_t view;
    uint64_t founded; /* the view with which it began */
    uint32_t self;    /* my slot, or NO_SLOT */
    uint64_t sequence;
    int64_t deadline; /* of my lease; 0: none yet */
    int64_t renewal_due;
    int64_t quarantine; /* the group grants nothing before */
    int64_t doubts_due; /* who is not there by then counts as dead (deaths.c); 0: never, or done */
    bool was_ready;     /* set when it first is, cleared by a cut */
    /* a name was refused: set by names_refuse(), cleared by a cut, by more room, or when one is
     * forgotten */
    bool is_full;
    uint64_t created; /* how many CREATIONs there have been */
    uint64_t floor;   /* no fence of a name that was forgotten is above it */
    /* There is a name that was not, or a user of one: set with it, cleared by group_process() when
     * what is held has been looked at. */
    bool has_news;
    struct member member[SLOTS];
    struct linked peer[SLOTS]; /* over links: of each other member that is alive */
    slot_set linked;           /* those peers that are used */
    uint32_t former[SLOTS];    /* nodes of the members of the group that I was last a member of */
    uint32_t group_count;
    uint64_t query[QUERIES_MOST]; /* DO_DESCRIBE is out for them */
    unsigned queries;

    /* memory */
    struct resource *resource; /* agent->entries */
    unsigned entries;          /* room for so many names */
    unsigned allowed;          /* of these, the host has room for so many: ON_ROOM */
    unsigned resources;        /* entries that have been used */
    uint32_t free_entry;       /* the first of those that are free, and 1; 0: there is none */
    unsigned looked_at;        /* for one that is not needed: where to look next */
    /* of each entry whose name is not brief; others' are never touched */
    char (*long_name)[PERMISSION_NAME_MOST + 1];
    uint32_t *of_name, *of_serial; /* by hash, agent->entries each: the first entry, and 1 */
    struct resource **group;       /* options.names */
    uint64_t *states;              /* of the protocol, one an entry */
    uint64_t *room;                /* for the effects of a step of the protocol */
    uint8_t *kept;                 /* KEPT_ROOM */
    struct parcel direct;          /* what goes over links at the end of the step */
    uint8_t *held;                 /* HELD_ROOM */
    size_t held_length;
};

/* Two planes: messages of the protocol go over links, and the changes of the group alone have an
 * agreed order. */
static inline bool agent_is_apart(const struct agent *agent)
{
    return agent->options.links && agent->options.protocol->tells;
}

static inline unsigned resource_index(const struct agent *agent, const struct resource *resource)
{
    return (unsigned)(resource - agent->resource);
}

static inline slot_set slot_bit(uint32_t slot)
{
    return (slot_set)1 << slot;
}

/* There is one. */
static inline uint32_t first_slot(slot_set slots)
{
    const uint64_t low = (uint64_t)slots;
#if AGENT_SLOTS > 64
    if (!low)
        return 64 + (uint32_t)__builtin_ctzll((uint64_t)(slots >> 64));
#endif
    return (uint32_t)__builtin_ctzll(low);
}

#endif
