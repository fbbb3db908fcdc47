/* SPDX-License-Identifier: MIT */
/* The agent without its surroundings: who is in the group, for how long my lease holds, and which
 * resources this machine may enter.
 *
 * It is what a message protocol is: event in, effects out. It has no clock, no thread, no file, no
 * memory but what it is given. A host (the service, or a test with a whole cluster in one process)
 * hands it one event at a time, with the time in it, and carries out the effects that it names, in
 * their order, before the next event.
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
 *   A5  A resource is released only by a taking back: after the agent was inside the region of the
 *       space.
 *   A6  What a machine has lost, because it was cut off or its agent was late, is given to nobody
 *       before those inside have had the time to stop that they are promised (grace less lease,
 *       from when they were told). The machine says in its HELLO what it owes so; the old slot
 *       stays a member there, as a ghost, until the time has passed.
 *   A7  (Over links.) What one member says to another is taken by the incarnation to which it was
 *       said, from the incarnation that said it, while that is a member; in order, and once.
 *
 * Two planes. Messages of the protocol need no order in common with the changes of the group: a
 * permission of a pair moves by messages of that pair alone. So they go over links from agent to
 * agent (options.links), with the numbers of protocols/messages/link.h, and by the ledger, which is
 * what the agreed order is called then, where a link does not carry.
 */
#ifndef AFTERYOU_AGENT_CORE_AGENT_H
#define AFTERYOU_AGENT_CORE_AGENT_H

#include "agent/core/state.h"

/* Why it is a member no longer. */
enum cut_reason {
    CUT_NO_QUORUM,
    CUT_NO_TRANSPORT,
    CUT_MISSED,     /* a message */
    CUT_PARTED,     /* from the majority */
    CUT_LAPSED,     /* the lease has run out */
    CUT_BURIED,     /* not heard of for the grace */
    CUT_LEFT_OUT,   /* the others have begun without me */
    CUT_BAD_STATE,  /* a state that makes no sense */
    CUT_NO_ROOM,    /* for a name that the others have */
    CUT_OVERWHELMED /* more at once than there is memory for */
};

/* ---- what happens to it ---- */

enum agent_event_kind {
    /* Before it is connected, in a process that comes after another: what stands in the pages, one
     * index after the other. */
    ON_INHERITED,
    ON_DEAD_INSIDE, /* the same: somebody has died inside, by what the space says */
    ON_CONNECTED,   /* the transport is there, and has quorum */
    ON_CUT,         /* it is not, or may have left out something */
    ON_PARCEL,
    ON_LEFT,       /* an agent, or its whole machine, by the transport's word */
    ON_LINK_UP,    /* there is a connection with a peer: in place of any other */
    ON_LINK_DOWN,  /* there is none any more */
    ON_PACKET,     /* what came over it: as much as one DO_SEND_TO had */
    ON_DEMAND,     /* a local process asks */
    ON_BUSY,       /* the taking back must wait for somebody inside */
    ON_TAKEN_BACK, /* DO_TAKE_BACK is done */
    /* No process of this machine has the name open, as far as the host can see: it may be
     * forgotten. Should one open it at this moment, it asks for it anew. */
    ON_UNUSED,
    ON_ROOM,      /* how many names the pages have room for: before any other event, and later */
    ON_QUERY,     /* somebody asks who is inside, on all machines */
    ON_DESCRIBED, /* DO_DESCRIBE is done */
    ON_TICK,      /* no later than DO_WAKE said */
    ON_ENDING,    /* it wants nothing more: what is free will be taken back */
    ON_FAREWELL   /* it goes, and says so if nothing is granted */
};

/* What stands in the pages at one index. */
struct inherited_page {
    const char *name;
    size_t length;        /* 0: the entry is free */
    uint8_t mode;         /* PERMISSION_…, as granted */
    uint32_t slot;        /* in whose name */
    uint64_t base, first; /* of the fences */
    int64_t until;        /* the lease of what is granted */
    int64_t owed;         /* what was lost: until then those inside may be stopping */
    bool death;           /* somebody died inside, and nobody has been told */
};

struct agent_event {
    enum agent_event_kind kind;
    int64_t now;       /* it never goes back */
    uint64_t minute;   /* since 2026, by the clock on the wall */
    unsigned resource; /* ON_INHERITED, ON_DEAD_INSIDE, ON_BUSY, ON_TAKEN_BACK, ON_UNUSED */
    union {
        unsigned entries; /* ON_ROOM */
        struct inherited_page inherited;
        struct {
            struct address self;
            uint32_t nodes; /* machines that are configured */
        } connected;
        enum cut_reason cut;
        struct {
            struct address from;
            const void *bytes;
            size_t length;
        } parcel;
        struct {
            struct address who;
            bool with_its_machine;
        } left;
        struct {
            uint32_t slot;
            uint64_t incarnation; /* the peer's, as in DO_PEER */
            const void *bytes;    /* ON_PACKET */
            size_t length;
        } link;
        struct {
            const struct demand *what;
            /* Of a local passage of the resource, not after any that is still to come: fences count
             * from it. */
            uint64_t number;
        } demand;
        struct {
            bool withdrawn;  /* the permission was still there, whole or in part */
            uint8_t mode;    /* PERMISSION_…: in which the agent was inside */
            bool death;      /* somebody had died inside */
            uint64_t number; /* of the agent's own passage */
        } taken_back;
        uint64_t query;
        struct {
            const char *text; /* who is inside and who waits on this machine */
            size_t length;
        } described;
    };
};

/* ---- what it does ---- */

enum agent_effect_kind {
    DO_SEND, /* multicasts to the group, the sender included; never lost without a cut */
    /* There is another member: a connection is wanted, from incarnation to incarnation. One of the
     * two dials. */
    DO_PEER,
    DO_FORGET_PEER, /* it is a member no longer: what has come from it is to be thrown away */
    /* Over the connection: in order, as long as it stands. What is lost with it is said again. */
    DO_SEND_TO,
    DO_NUDGE, /* what was sent is not acknowledged: anything else over the connection, after it */
    DO_NAME,  /* the table has another name at this index, or none: nothing is granted there */
    /* Publishes the permission, perhaps in place of a weaker one: those inside by that stay. */
    DO_GRANT,
    /* At once: what was begun under the permission is lost. Those inside have until `owed` to stop.
     */
    DO_WITHDRAW,
    /* Enters the region of the space in its turn, in `mode`, lowers the permission there to what
     * may be inside beside that (none beside exclusive), leaves: then ON_TAKEN_BACK. If it must
     * wait for somebody inside, ON_BUSY first. */
    DO_TAKE_BACK,
    DO_TELL_BUSY,  /* somebody is inside on another machine: tell those who try */
    DO_TELL_DEATH, /* whether somebody died inside and nobody has been told */
    DO_WATCH,      /* who is to hear of it before another is inside: P5 */
    DO_TELL_FULL,  /* whether the group has room for no other name */
    DO_LEASE,      /* what is granted holds until the deadline */
    DO_TELL_STATE,
    DO_KEEP_VIEW, /* before anything after it: for the agent that begins after a restart of all */
    DO_DESCRIBE,  /* who is inside and who waits on this machine: then ON_DESCRIBED */
    DO_ANSWER,    /* what a machine says to a query */
    DO_STOP,      /* it cannot be one of them; `text` says why, in the others' words */
    DO_SAY,       /* a line of the log */
    DO_WAKE       /* ON_TICK is due: instead of when it was before */
};

/* Lines of the log: the host words them. What each tells besides: */
enum agent_line {
    LINE_CUT,          /* number: enum cut_reason */
    LINE_GONE,         /* node, slot; number: 1 with its machine */
    LINE_MALFORMED,    /* node; number: the record's kind */
    LINE_SECOND_AGENT, /* node; number: pid */
    LINE_OTHER_PAGES,  /* node; number: pid */
    LINE_NO_SLOT,      /* node */
    LINE_JOINED,       /* node, slot */
    LINE_MEMBER,       /* slot */
    LINE_BEGUN,        /* number: nanoseconds of quarantine */
    LINE_READY,        /* slot */
    LINE_LOST,         /* resource */
    LINE_GRANTED,      /* resource, mode; number: the fence */
    LINE_LOWERED,      /* resource, mode: what is left of it */
    LINE_RELEASED,     /* resource, slot (a ghost's, or NO_SLOT); number: the fence */
    LINE_BURIED,       /* node, slot */
    LINE_FAREWELL,     /* node, slot */
    LINE_GHOST_ENDED,  /* resource, slot */
    LINES
};

struct agent_effect {
    enum agent_effect_kind kind;
    unsigned resource; /* DO_NAME, …, DO_TELL_DEATH: its name is agent->resource[].name */
    union {
        struct {
            const void *bytes; /* until the next step */
            size_t length;
        } send;
        struct {
            uint32_t slot;
            uint64_t incarnation; /* its */
            struct endpoint endpoint;
            bool dial;
        } peer; /* DO_FORGET_PEER, DO_NUDGE: slot and incarnation alone */
        struct {
            uint32_t slot;
            uint64_t incarnation;
            const void *bytes; /* until the next step */
            size_t length;
        } send_to;
        struct {
            uint8_t mode;
            bool raised; /* there is a weaker one */
            uint32_t slot;
            uint64_t base, first;
        } grant;
        struct {
            bool armed, others; /* somebody sleeps here; on other machines */
            bool heard;         /* those here are woken */
        } watch;
        uint8_t mode; /* DO_TAKE_BACK: PERMISSION_… */
        int64_t owed;
        bool death, full;
        int64_t deadline;
        enum agent_state state;
        uint64_t view;
        struct {
            uint64_t query;
            uint32_t node;
            const char *text; /* until the next step, as far as the event's bytes are there */
            size_t length;
        } answer;
        struct {
            enum agent_line line;
            uint8_t mode;
            uint32_t node, slot;
            uint64_t number, view;
        } say;
        int64_t due;
    };
};

/* One record, or the whole of a group that is forgotten, has fewer effects than half of so many for
 * each name that the machine can know. A parcel that has made a third is too much: the rest is
 * left, and the agent cut. */
enum { EFFECTS_A_NAME = 24 };

struct agent_effects {
    unsigned count, room;        /* room: EFFECTS_A_NAME for each of agent_entries() */
    struct agent_effect *effect; /* the host's */
};

/* How many names the machine can know: one in the group, and one of earlier groups. */
static inline unsigned agent_entries(unsigned names)
{
    return 2 * names;
}

/* The bytes of memory that it needs, most of them for names that there may never be: what is not
 * written to need not be there. */
size_t agent_room(const struct agent_options *options);
/* `memory` is all zeros, and stays where it is. */
void agent_begin(struct agent *agent, const struct agent_options *options, void *memory);
void agent_step(struct agent *agent, const struct agent_event *event,
                struct agent_effects *effects);

/* ---- questions ---- */

bool agent_is_member(const struct agent *agent);
bool agent_is_ready(const struct agent *agent); /* may ask for permissions */

#endif
