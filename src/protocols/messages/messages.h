/* SPDX-License-Identifier: MIT */
/* What a message protocol is: event in, effects out, and nothing else.
 *
 * A protocol is a pure function: it has no clock, no thread, no memory but the state it is given,
 * and it sends nothing itself. An engine (the simulator, the checker, the cluster's agent) hands it
 * one event at a time, and carries out the effects it names. A step is indivisible.
 *
 * The state of a node is a flat array of 64-bit words (protocol->words(nodes) of them) without
 * pointers: it can be copied, compared and hashed. Words that no longer matter are zero. It begins
 * with struct node. (An engine with very many nodes may keep some of the words apart: rows.h.)
 *
 * The network. Founders talk over channels that lose and double nothing; `fifo` says whether the
 * protocol needs them first in, first out. If nodes may crash or join, the group must be one of
 * agreed order (Corosync's CPG, virtual synchrony): messages and changes of the group reach every
 * member in one order. Each change has a number, its view; one change is its leavings in order of
 * number, then its joinings likewise.
 *
 * A node that died or was cut off comes back only as a newcomer (begin() again), never with its old
 * state.
 */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_MESSAGES_H
#define AFTERYOU_PROTOCOLS_MESSAGES_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocols/messages/rows.h"
#include "protocols/messages/sets.h"
#include "protocols/modes.h"

enum message_kind {
    MESSAGE_REQUEST,
    MESSAGE_REPLY, /* Ricart–Agrawala, Carvalho–Roucairol: as far as I am concerned, you may */
    MESSAGE_ACK,   /* Lamport: I have seen your request */
    MESSAGE_RELEASE, /* Lamport */
    MESSAGE_TOKEN,
    MESSAGE_WELCOME, /* to a newcomer: how far the numbers have come */
    /* to a newcomer of the token's group: the state, and from here on you are one of us */
    MESSAGE_STATE,
    MESSAGE_WATCH,   /* units: tell me of the next change there; `version`: what I know of */
    MESSAGE_CHANGED, /* units: something was freed here */
    MESSAGE_URGE,    /* Carvalho–Roucairol, ranked: my REQUEST is of another mode and rank now */
    MESSAGE_KINDS
};

struct message {
    uint8_t kind; /* enum message_kind */
    uint8_t mode; /* REQUEST, URGE; ranked, REPLY: for which it is given */
    int32_t rank; /* REQUEST, URGE, of a protocol that is ranked: the greater goes first */
    uint32_t from;
    /* TOKEN: who is to have it; STATE: who is established by it; passed from node to node: who
     * asks */
    uint32_t whom;
    uint64_t number; /* the clock (Lamport), or the sequence number; STATE: who has the token */
    uint64_t about;  /* Lamport: the number of the request that it makes, answers or ends */
    uint64_t view;   /* the last change of the group its sender had seen */
    uint64_t fence;  /* F: the highest fence its sender knew */
    /* Over links: the greatest death that its sender knew of, and the greatest that was told. */
    uint64_t died, told;
    /* units (check/messages/units.h): the sender's register in a REPLY and a CHANGED; in a WATCH,
     * the version of the receiver's that the sender has used. No agent has them. */
    uint64_t units, version;
};

enum event_kind {
    EVENT_REQUEST, /* the user wants in, in `mode`; only when outside */
    EVENT_RELEASE, /* the user leaves; only when inside */
    EVENT_MESSAGE,
    EVENT_DIED,   /* `node` left the group with change `view` */
    EVENT_JOINED, /* `node`, not this one, joined with change `view` */
    /* this node is no longer a member (no quorum, lease run out): it must begin anew */
    EVENT_CUT,
    /* every founder has begun, so messages may be sent: only to a protocol that is restless */
    EVENT_BEGUN,
    /* the user inside has been told of a death, up to `number` (EFFECT_ENTERED) */
    EVENT_TOLD,
    /* Of units, and to units_step() alone: */
    EVENT_HOLD,   /* the users here hold `number` now, a bit a unit; more than before: inside */
    EVENT_CHANGE, /* something has changed here on which conditions may depend */
    EVENT_WATCH,  /* a user here looked, and waits; `number`: for more than units */
    /* `node` answers for `number`, its version is `view`: as a change of the group says; 0: it does
     * no longer */
    EVENT_REGISTER,
    /* Only to a protocol that `converts`. The user inside goes on in `mode`, which its own
     * includes; if it waits for a stronger one and has a mode meanwhile: that ends (MODE_NULL) */
    EVENT_LOWER,
    /* the user inside wants the stronger `mode`, with which its own does not conflict, and stays
     * inside in its own until it has it (EFFECT_ENTERED) */
    EVENT_RAISE,
    /* Only to a protocol that is ranked: the user waits on, now in `mode`, and with the greater
     * `rank`. Who is inside meanwhile keeps its mode. */
    EVENT_URGE
};

struct event {
    uint8_t kind; /* enum event_kind */
    uint8_t mode;
    int32_t rank; /* REQUEST, RAISE, URGE: of a protocol that is ranked */
    uint32_t node;
    uint64_t view;
    /* RELEASE, LOWER: not 0 if a user died inside; TOLD: up to which death; DIED: the units for
     * which a successor will answer */
    uint64_t number;
    /* DIED: NULL, or the farewell that it said, with what it knew of deaths */
    const struct message *message;
    /* what the message carries besides; the engine keeps it during the step only */
    const uint64_t *body;
};

enum effect_kind {
    EFFECT_SEND,
    EFFECT_ENTERED, /* the user is inside, with `fence` */
    EFFECT_LOST,    /* the user must stop: it is inside no longer, or its wait has ended */
    EFFECT_CHANGED  /* units: a user that waits is to look again */
};

/* Whom to send to, besides one node. */
enum {
    TO_ALL = UINT32_MAX,       /* every other member */
    TO_SET = UINT32_MAX - 1,   /* those in the effect's set */
    TO_GROUP = UINT32_MAX - 2, /* every member, the sender too, at its place in the agreed order */
    NODES_MOST = 1 << 20
};

struct effect {
    uint8_t kind; /* enum effect_kind */
    uint32_t to;
    uint64_t fence;
    uint64_t died; /* ENTERED: a death inside of which the user is to be told; 0: none */
    struct message message;
    const uint64_t *set;  /* TO_SET: one bit a node */
    const uint64_t *body; /* what travels with the message, or NULL */
    size_t body_words;
};

/* Whether a member gets the message that `from` sends. Whoever carries messages asks here. */
static inline bool effect_reaches(const struct effect *effect, uint32_t from, uint32_t member)
{
    switch (effect->to) {
    case TO_ALL:
        return member != from;
    case TO_GROUP:
        return true;
    case TO_SET:
        return set_has(effect->set, member);
    default:
        return member == effect->to;
    }
}

/* It goes to the one node `to`. */
static inline bool effect_is_to_one(const struct effect *effect)
{
    return effect->to < NODES_MOST;
}

/* No step has more: a change of the group may welcome, ask and enter; STATE for several newcomers
 * goes to one at a time. */
enum { EFFECTS_MOST = 8 };

struct effects {
    unsigned count;
    struct effect effect[EFFECTS_MOST];
    /* given by the engine, protocol->room(nodes) words: sets and bodies live here until the next
     * step */
    uint64_t *room;
    size_t used;
    const struct keeper *keeper; /* likewise: who keeps the rows; NULL: the state itself */
};

/* Rules left out one by one, for the checker and the simulator to refute. None is left out in what
 * ships. */
enum without {
    /* Ricart–Agrawala as published: inside is treated as waiting; Carvalho–Roucairol: who is inside
     * replies to everybody */
    WITHOUT_INSIDE_TEST = 1 << 0,
    /* Carvalho–Roucairol: a permission given up while waiting is not asked for again */
    WITHOUT_ASKING_AGAIN = 1 << 2,
    WITHOUT_EMPTY_HANDS = 1 << 3,   /* a newcomer starts with everybody's permission */
    WITHOUT_GIFT = 1 << 4,          /* the members do not take a newcomer's permission */
    WITHOUT_INCARNATIONS = 1 << 5,  /* messages to an earlier incarnation are taken */
    WITHOUT_IMPLIED_REPLY = 1 << 6, /* the dead are waited for */
    WITHOUT_SENIORITY = 1 << 7,     /* token: every survivor makes a new token */
    WITHOUT_TAKING_BACK = 1 << 8,   /* token: what was sent to the dead is lost */
    WITHOUT_ESTABLISHING = 1 << 9,  /* token: a newcomer counts as established at once */
    /* Lamport: a newcomer is not told of requests made before it joined */
    WITHOUT_TELLING = 1 << 10,
    WITHOUT_ACKNOWLEDGEMENT = 1 << 11, /* Lamport: v[j] is not looked at */
    WITHOUT_VIEW_IN_FENCE = 1 << 12,   /* a fence is F+1 alone */
    /* Ricart–Agrawala, Carvalho–Roucairol: who waits replies to everybody */
    WITHOUT_DEFERRING = 1 << 13,
    WITHOUT_OWN_NUMBER = 1 << 14, /* Ricart–Agrawala: one's own number does not count as heard */
    WITHOUT_REPLY_NUMBER = 1 << 15, /* Ricart–Agrawala: a REPLY does not carry the highest number */
    /* Carvalho–Roucairol: the waitfor and what follows it are two steps */
    WITHOUT_INDIVISIBILITY = 1 << 16,
    WITHOUT_TURN = 1 << 17, /* Lamport: q[j] is not looked at */
    /* Lamport: the clock ticks at every event, as Garg's DDClock, not only where it is compared */
    WITHOUT_THRIFT = 1 << 18,
    WITHOUT_ASKING = 1 << 19,  /* Ricart–Agrawala: does not hear its user */
    WITHOUT_SHARING = 1 << 20, /* Ricart–Agrawala: whoever is inside defers, whatever the modes */
    WITHOUT_LOSS = 1 << 21,    /* who is cut off does not tell its user */
    /* Links: what comes before its sender's joining is installed is dropped, not held */
    WITHOUT_HOLDING = 1 << 22,
    WITHOUT_CLOSING = 1 << 23,          /* links: what a buried member has sent is still taken */
    WITHOUT_LEASE = 1 << 24,            /* links: a member is buried before its lease has run out */
    WITHOUT_FENCE_CARRIED = 1 << 25,    /* messages do not carry F */
    WITHOUT_ASKING_NEWCOMERS = 1 << 26, /* Ricart–Agrawala: who waits does not ask a newcomer */
    WITHOUT_WELCOME = 1 << 28,          /* a newcomer asks at once */
    WITHOUT_LOWEST = 1 << 27, /* Lamport: who is inside tells a newcomer the number it had */
};

/* Likewise, of the deaths inside that somebody is to be told of (node.h); beyond an enum's bits. */
#define WITHOUT_DEATH_AT_BURIAL     (UINT64_C(1) << 32) /* who is buried was not inside */
#define WITHOUT_DEATH_CARRIED       (UINT64_C(1) << 33) /* messages do not carry `died` */
#define WITHOUT_TOLD_CARRIED        (UINT64_C(1) << 34) /* messages do not carry `told` */
#define WITHOUT_LAST_WORDS          (UINT64_C(1) << 35) /* a farewell carries neither */
#define WITHOUT_REALLY_TOLD         (UINT64_C(1) << 36) /* who is let in counts as told */
#define WITHOUT_TOLD_ALONE          (UINT64_C(1) << 37) /* who shares counts as told */
/* a farewell is believed, whatever its sender had installed */
#define WITHOUT_LAST_VIEW           (UINT64_C(1) << 39)
#define WITHOUT_VIEW_INSTALLED      (UINT64_C(1) << 38) /* a change does not raise F */

/* Likewise, of units (check/messages/units.h). */
#define WITHOUT_REGISTER_IN_REPLY   (UINT64_C(1) << 40)
#define WITHOUT_REGISTER_IN_CHANGED (UINT64_C(1) << 41)
#define WITHOUT_VERSION_IN_WATCH    (UINT64_C(1) << 42) /* it is not looked at */
#define WITHOUT_CHANGED_AT_BURIAL   (UINT64_C(1) << 43) /* nobody looks again then */
#define WITHOUT_CACHE_RESET         (UINT64_C(1) << 44) /* copies outlive their nodes */
#define WITHOUT_LOOK_WITH_WATCH     (UINT64_C(1) << 45) /* the look and WATCH are two steps */
#define WITHOUT_KEEPING_TURN        (UINT64_C(1) << 46) /* who waits for units lets others pass */
#define WITHOUT_REGISTER_AT_JOINING (UINT64_C(1) << 47) /* who follows another says nothing of it */

#define WITHOUT_OF_UNITS                                                                           \
    (WITHOUT_REGISTER_IN_REPLY | WITHOUT_REGISTER_IN_CHANGED | WITHOUT_VERSION_IN_WATCH |          \
     WITHOUT_CHANGED_AT_BURIAL | WITHOUT_CACHE_RESET | WITHOUT_LOOK_WITH_WATCH |                   \
     WITHOUT_KEEPING_TURN | WITHOUT_REGISTER_AT_JOINING)

/* Of conversions: who goes on in a weaker mode does not answer those whom it kept out before. */
#define WITHOUT_LETTING_IN     (UINT64_C(1) << 48)
/* and who ceases to keep a mode answers those who come after it, too */
#define WITHOUT_EARLIER        (UINT64_C(1) << 49)
/* and who waits for a stronger mode replies to those who conflict with the one that it has */
#define WITHOUT_KEEPING        (UINT64_C(1) << 50)

#define WITHOUT_OF_CONVERSIONS (WITHOUT_LETTING_IN | WITHOUT_EARLIER | WITHOUT_KEEPING)

/* Of ranks: the order of requests is by number alone. */
#define WITHOUT_RANK_FIRST     (UINT64_C(1) << 51)
/* whose rank rises does not tell those that it has asked */
#define WITHOUT_URGING         (UINT64_C(1) << 52)
/* an URGE is answered though the REQUEST was */
#define WITHOUT_ONE_REPLY      (UINT64_C(1) << 53)
/* permissions for a weaker mode count beside a REQUEST that is out */
#define WITHOUT_AWAITING       (UINT64_C(1) << 54)
/* a REPLY is for whatever mode is waited for by now */
#define WITHOUT_REPLY_MODE     (UINT64_C(1) << 55)
/* the ranks of those who are deferred are not looked at */
#define WITHOUT_RANKS_DEFERRED (UINT64_C(1) << 56)

#define WITHOUT_OF_RANKS                                                                           \
    (WITHOUT_RANK_FIRST | WITHOUT_URGING | WITHOUT_ONE_REPLY | WITHOUT_AWAITING |                  \
     WITHOUT_REPLY_MODE | WITHOUT_RANKS_DEFERRED)

#define WITHOUT_OF_DEATHS                                                                          \
    (WITHOUT_DEATH_AT_BURIAL | WITHOUT_DEATH_CARRIED | WITHOUT_TOLD_CARRIED | WITHOUT_LAST_WORDS | \
     WITHOUT_REALLY_TOLD | WITHOUT_TOLD_ALONE | WITHOUT_VIEW_INSTALLED | WITHOUT_LAST_VIEW)

/* Left out, these are refuted only over links. */
#define WITHOUT_OF_LINKS                                                                           \
    (WITHOUT_HOLDING | WITHOUT_CLOSING | WITHOUT_LEASE | WITHOUT_WELCOME |                         \
     WITHOUT_ASKING_NEWCOMERS | WITHOUT_LOWEST | WITHOUT_OF_DEATHS | WITHOUT_OF_UNITS)

/* How a node begins: as a founder (view 0, every node a member), or as a newcomer with change
 * `view`. */
struct beginning {
    uint32_t self, nodes;
    bool agreed; /* the group has agreed order, and may change */
    /* Two planes: only the changes have an agreed order, and each member installs them at its own
     * moment; messages go over links (docs/messages.md). With `agreed`. */
    bool apart;
    uint64_t view; /* 0: founder */
    /* newcomer: the members after the change, itself included; founder: NULL for all */
    const uint64_t *members;
    uint64_t without;            /* enum without */
    const struct keeper *keeper; /* as in struct effects */
};

enum node_status { NODE_OUTSIDE, NODE_WAITING, NODE_INSIDE };

/* The head of every state. */
struct node {
    /* these never change */
    uint64_t self, nodes, agreed;
    uint32_t apart, ranked;
    uint64_t without;
    uint64_t status; /* enum node_status */
    uint64_t mode;   /* of the passage; 0 outside */
    /* waiting, and inside meanwhile in this mode less 1; 0: not inside */
    uint64_t kept;
    uint64_t asked;      /* waiting, and the REQUEST is out */
    uint64_t welcome;    /* may ask: a founder, or welcomed */
    uint64_t view;       /* changes of the group seen */
    uint64_t joined;     /* the change with which it joined; 0: founder */
    uint64_t fence;      /* F: the highest fence known */
    uint64_t died, told; /* of deaths inside, over links: node_hears() */
    /* the protocol's single words: beside the head, for the cache's sake */
    uint64_t own[4];
    /* members, elders (those who were there before me, and still are), … */
    uint64_t sets[];
};

enum { NODE_CONSTANT_WORDS = 5 };

/* The mode in which it is inside now; MODE_NULL: in none. */
static inline unsigned node_inside(const struct node *node)
{
    if (node->status == NODE_INSIDE)
        return (unsigned)node->mode;
    return node->kept ? (unsigned)node->kept - 1 : MODE_NULL;
}

/* The passage's request has been made: put to the others, or granted without. (A newcomer's user
 * may have to wait for it.) */
static inline bool node_has_requested(const struct node *node)
{
    return node->asked || node->status == NODE_INSIDE;
}

/* Ricart–Agrawala as published: neither. */
#define WITHOUT_FAIR_NUMBERS (WITHOUT_OWN_NUMBER | WITHOUT_REPLY_NUMBER)

struct message_protocol {
    const char *name;
    bool fifo;           /* needs channels that are first in, first out */
    bool exclusive_only; /* cannot carry other modes */
    bool tells;          /* over links, who enters next after a death inside is told so, once */
    bool converts;       /* takes EVENT_LOWER and EVENT_RAISE, among 256 nodes at most */
    bool fair;           /* claims first come, first served by causality */
    bool fixed;          /* nobody comes or goes */
    bool relays;         /* passes REQUESTs on from node to node: `whom` asks */
    bool ranked;         /* requests have ranks, and may be urged */
    bool restless;       /* sends for ever, whether anybody asks or not */
    unsigned rows;       /* of `words`, so many rows come first behind the head (rows.h) */
    size_t (*words)(uint32_t nodes);
    size_t (*room)(uint32_t nodes);
    /* the words of the body that a message of this kind has; NULL: none has one */
    size_t (*carries)(uint32_t nodes, unsigned kind);
    void (*begin)(uint64_t *state,
                  /* `state` is all zeros: memory fresh from the kernel will do */
                  const struct beginning *how);
    void (*step)(uint64_t *state, const struct event *event, struct effects *out);
    /* For an engine that keeps permissions until they are asked for, over links, where nobody
     * overhears who wants what; only if it `tells`. Who is deferred, a set; in which mode one of
     * them has asked; and whether `node`'s permission for the mode is not here. */
    const uint64_t *(*deferred)(uint64_t *state);
    unsigned (*deferred_mode)(uint64_t *state, uint32_t node);
    int (*deferred_rank)(uint64_t *state, uint32_t node); /* if it is ranked; or NULL */
    bool (*lacks)(uint64_t *state, uint32_t node, unsigned mode);
    /* Throws away all permissions that are here: they are nobody's then. Only when outside. */
    void (*shed)(uint64_t *state);
};

extern const struct message_protocol lamport_protocol, ricart_agrawala_protocol,
    carvalho_roucairol_protocol, token_protocol;
/* The same, with ranks: for a cluster with precedence. Needs FIFO. */
extern const struct message_protocol carvalho_roucairol_ranked_protocol;
/* Of the papers, for the checker and the simulator: no cluster offers them. */
extern const struct message_protocol ring_protocol, circulating_protocol, elected_protocol;

/* Whether a message that came from outside is one that the protocol could have sent: only such a
 * one may be put to step(). */
static inline bool message_makes_sense(const struct message_protocol *protocol, uint32_t nodes,
                                       const struct message *message, size_t body_words)
{
    return message->kind < MESSAGE_KINDS && message->mode < MODES && message->from < nodes &&
           message->whom < nodes &&
           body_words == (protocol->carries ? protocol->carries(nodes, message->kind) : 0);
}

/* A fence is the view in the upper 24 bits and a count in the lower 40: 16 million changes of the
 * group, and 10^12 entries of one node between two messages. */
enum { FENCE_VIEW_SHIFT = 40 };

/* The message is sent on behalf of the receiver's passage, not of the sender's. */
static inline bool message_serves_receiver(unsigned kind)
{
    return kind == MESSAGE_REPLY || kind == MESSAGE_ACK || kind == MESSAGE_TOKEN ||
           kind == MESSAGE_CHANGED;
}

static inline const char *message_name(unsigned kind)
{
    static const char *const names[MESSAGE_KINDS] = {"REQUEST", "REPLY",   "ACK",   "RELEASE",
                                                     "TOKEN",   "WELCOME", "STATE", "WATCH",
                                                     "CHANGED", "URGE"};
    return kind < MESSAGE_KINDS ? names[kind] : "?";
}

#endif
