/* SPDX-License-Identifier: MIT */
/* Asking without waiting: passages that stop where others sleep, and go on when something has
 * changed.
 *
 *   ask.c     ay_ask() and its kin: an ask from its beginning to its end
 *   body.c    the protocol's text, built to stop and to go on
 *   pass.c    a passage through the space, and where that is a cluster's, through that
 *   rest.c    what an ask does where a thread would sleep, and when it goes on
 *   words.c   which words asks sleep on, and who is told when one has changed
 *   helper.c  the threads that sleep on these words
 *   descriptor.c  what becomes readable, and how another process makes it so
 *   wanted.c  how a holder is told that somebody waits for it
 *   knowledge.c  what asks know of others, handed on from one to the next
 *
 * Who does what. The passage itself is made by the program's threads, in ay_ask() and ay_decided():
 * each goes as far as it can, and notes on which words it sleeps. Helpers only watch these words.
 * An ask of which one has changed is *stirred*: it stands in a list, and the space's descriptor is
 * readable. ay_decided() goes on with it. Who leaves need not wake a helper: it makes the
 * descriptor readable itself, and ay_decided() stirs whom that concerns (descriptor.c).
 *
 *   A1  An ask that is neither stirred nor being gone on with is linked to every word it sleeps on.
 *   A2  A word that asks are linked to is slept on by a helper; or it is told, because this process
 *       alone changes it (see words.c).
 *   A3  While an ask is stirred, the descriptor is readable, or somebody is in ay_decided(), or a
 *       helper is about to call whom the program has named (ay_on_decided); or, in a space of units
 *       (remote/cluster_units.c), their count was raised since whoever waits for them looked.
 *   A4  see descriptor.c
 *   A5  see knowledge.c
 * So no wake-up is lost: the words are compared with what the passage saw after they are linked, by
 * the kernel or by who links them.
 *
 * Locks. `stepping`, of a space, is held by who goes on with a passage; ay__asks_mutex by who
 * touches lists, links and helpers, for a moment, and no other lock is taken under it. */
#ifndef AFTERYOU_MEMORY_ASK_ASK_H
#define AFTERYOU_MEMORY_ASK_ASK_H

#include "memory/passage/sleep.h"

/* A helper sleeps on its own bell, too, and the first on that of the process. */
enum { ASK_BUCKETS = 4096, HELPER_WORDS = 126, KNOWLEDGE_MOST = 4 };

/* A word that asks of a space sleep on, however many. */
struct ask_word {
    struct ask_word *next; /* of its bucket */
    const _Atomic uint32_t *address;
    uint32_t value;                 /* as it was seen */
    bool tells_death;               /* it changes when a thread or a process ends */
    bool of_asker;                  /* and that is a thread of this process */
    struct helper *helper;          /* that sleeps on it; NULL: who changes it tells */
    unsigned slot;                  /* there */
    struct ask_link *links, **last; /* in the order in which they came */
};

/* That an ask sleeps on a word. */
struct ask_link {
    struct ask *ask;
    struct ask_word *word;
    struct ask_link *next, **back; /* of the word */
    /* what it is to be linked to */
    const _Atomic uint32_t *address;
    uint32_t value;
    bool tells_death;
    bool of_asker;
    bool told; /* no helper is needed */
};

/* One ask, from ay_ask() until it is decided or withdrawn; the memory stays until the region is
 * closed. */
struct ask {
    ay_region *region;
    /* whose passage is being made: it; or, where a cluster's region has several names, one after
     * the other of its members, which have this ask as well */
    ay_region *member;
    struct asks *asks;
    struct ask *next, **back; /* of all that rest, or are stirred */
    struct ask *next_stirred;
    bool stirred; /* stands in that list. Set by who stirs it, cleared by who takes it */
    bool linked;  /* A1. Set when it rests, cleared when it is stirred or withdrawn */
    /* it rests where a thread would sleep. Set when its passage stops there, cleared when it goes
     * on */
    bool resting;
    bool woken; /* by a word, and not because it is time. Set by who stirs it */
    bool aside; /* how it rests */
    bool near;  /* it sleeps on places of this process alone */
    /* its passage has passed in the space, and waits for the cluster's permission. Set then;
     * cleared when it enters the space again, and when it is asked for */
    bool remote;
    bool between; /* no member's passage is being made: the next is to begin */
    bool pauses;  /* likewise, and not before it has rested. Set when it does, cleared after it */
    struct watch *watch;  /* of its memory; NULL: it awaits one place, */
    unsigned awaited;     /* this */
    unsigned count, room; /* of links */
    struct ask_link *links;
    struct vital *vitals; /* of the places watched, as they were */
    unsigned vitals_room;
    int64_t due;    /* it is stirred then in any case; INT64_MAX: never */
    int64_t look;   /* a helper looks at its words then: nobody might wake it; INT64_MAX: never */
    int64_t nap_ns; /* for how long until then */
    uint64_t memory[]; /* of its passage: body.c */
};

/* What was known to a region that has put it down. */
struct put_down {
    struct knowledge knowledge; /* its reserve NULL: never used */
    struct name name;           /* A5 */
    uint32_t mode;
    int32_t priority;
    uint64_t deaths; /* which was the last that was found: a number of the space's asks */
    uint64_t when;   /* it was put down: likewise */
};

/* Of a space: from the first ask, or ay_fd(), until it is closed. */
struct asks {
    ay_space *space;
    pthread_mutex_t stepping;
    _Atomic uintptr_t stepper; /* the thread that holds it; 0: nobody */
    /* the rest under ay__asks_mutex */
    struct ask *all;
    struct ask *first_stirred, **last_stirred;
    unsigned stirred;
    int fd;                          /* the descriptor; -1: nobody has asked for it */
    struct descriptor_identity file; /* what it was opened as */
    bool hears;        /* it is a socket. Set when that is made, cleared when it is lost */
    bool named;        /* there is a name for one. Cleared when none can be drawn */
    uint64_t ear, key; /* what it is called, and what it takes; ear 0: nothing */
    uint64_t network;  /* the namespace in which it is called so */
    int mouth;         /* connected to it; -1: there is none */
    struct descriptor_identity mouth_file;
    bool told; /* the descriptor is readable. Set with a message to it, cleared when it is taken */
    bool ending; /* helpers are to end. Set when the space is closed */
    /* what helpers call instead of writing to the descriptor; NULL: nothing (ay_on_decided) */
    void (*call)(void *arg);
    void *call_arg;
    /* counted up instead, and slept on: by another ask, or a thread that waits; NULL: there is the
     * descriptor (ay__asks_ring) */
    _Atomic uint32_t *rung;
    bool helping; /* by a helper, which has the mutex: set and cleared by it */
    bool calls;   /* it is to call. Set by ay__asks_say() while `helping`, cleared by the helper */
    int64_t earliest; /* no ask is due, or to be looked at, before */
    struct helper *helpers;
    unsigned telling;             /* regions that are to be told: wanted.c */
    const _Atomic uint32_t *bell; /* of this process, in the header */
    uint32_t heard;               /* what it was when the helper last saw to it */
    uint64_t cancels;             /* the header's, when a ring was last for a cancelled ask */
    struct ask_word *buckets[ASK_BUCKETS];
    struct put_down down[KNOWLEDGE_MOST];
    _Atomic unsigned down_count; /* of these, how many are something */
    uint64_t deaths, when;       /* given to those: the last */
    /* whether the thread `holder` was inside somewhere, when that was last asked (deadlock.c).
     * Under `stepping` */
    uint64_t holder;
    int64_t held_ns;
    bool held;
    _Atomic bool own[]; /* of each place: a region of this process that has asked. Cleared when it
                         * is closed */
};

extern pthread_mutex_t ay__asks_mutex;

/* How a protocol goes on with a passage that stopped: body.c. */
struct resumable {
    size_t room; /* of its memory */
    enum passage_result (*go_on)(struct registers *at, void *memory);
};

/* pass.c */
void ay__ask_begin(struct ask *ask);           /* its passage has begun */
int ay__ask_end(struct ask *ask, bool passed); /* what ay_enter() would have returned */
/* the region, or its members; NULL behind the last */
ay_region *ay__ask_member(const struct ask *ask, unsigned which);
/* as far as it can; STOPPED: it is to rest */
enum passage_result ay__ask_pass(struct ask *ask);
/* rest.c */
/* where its passage would sleep: SLEEP_LASTS, what it sleeps on is noted, and it stops */
enum sleeping ay__ask_rest(struct registers *at, struct watch *watch, bool *woken);
enum sleeping ay__ask_linger(struct registers *at, unsigned place, unsigned index, word seen);
/* where it waits for the cluster: the same, SLEEP_LASTS or SLEEP_GIVEN_UP */
enum sleeping ay__ask_rest_remote(struct ask *ask);
enum sleeping ay__ask_pause(struct ask *ask); /* likewise, between two of its members */
/* it has stopped: for how long. False: it is to give up */
bool ay__ask_may_rest(struct ask *ask);
/* it was stirred: whether to go on, to give up or to rest again */
enum sleeping ay__ask_look_up(struct ask *ask);
void ay__ask_get_up(struct ask *ask); /* publicly: it goes on, or gives up */
/* words.c */
int ay__ask_link(struct ask *ask);              /* to all it sleeps on; a negative errno: to none */
void ay__ask_unlink(struct ask *ask);           /* from all; under ay__asks_mutex */
void ay__ask_stir(struct ask *ask, bool woken); /* under ay__asks_mutex */
void ay__ask_word_changed(struct asks *asks, const void *address); /* likewise */
void ay__asks_say(struct asks *asks); /* by the descriptor: look; under ay__asks_mutex */
struct ask_word *ay__ask_word_find(struct asks *asks, const void *address); /* likewise */
/* helper.c */
int ay__helper_add(struct asks *asks, struct ask_word *watched); /* under ay__asks_mutex, */
void ay__helpers_ring(struct asks *asks);               /* likewise: after all they are to know */
void ay__helper_remove(struct ask_word *watched);       /* likewise */
void ay__helper_hurry(struct asks *asks, int64_t when); /* likewise: look at the time */
int ay__helper_need(struct asks *asks); /* likewise: at least one, which hears the bell */
void ay__helpers_end(struct asks *asks);
/* wanted.c */
void ay__bell_hear(struct asks *asks); /* likewise */
/* descriptor.c: likewise */
void ay__descriptor_begin(struct asks *asks);
int ay__descriptor_find(struct asks *asks); /* makes it, if need be; or a negative errno */
/* makes it readable, now or when it is made. False: its queue is full, so it is, but not by this */
bool ay__descriptor_say(struct asks *asks);
void ay__descriptor_publish(struct ask *ask); /* it is about to rest; not under ay__asks_mutex */
/* one message less, and who it is about is stirred. False: there was none, and it is not readable
 * any more */
bool ay__descriptor_take(struct asks *asks);
void ay__descriptor_close(struct asks *asks);
/* knowledge.c */
void ay__knowledge_take(ay_region *region); /* it is about to look, and begins anew */
void ay__knowledge_give(ay_region *region); /* its next look begins anew */
void ay__ask_takes_up(struct ask *ask);     /* it goes on */
void ay__ask_puts_down(struct ask *ask);    /* it has, as far as it could */
void ay__knowledge_end(struct asks *asks);
/* ask.c */
int ay__asks_find(ay_space *space, struct asks **out);

static inline bool ask_word_differs(const struct ask_word *watched)
{
    return atomic_load(watched->address) != watched->value;
}

#endif
