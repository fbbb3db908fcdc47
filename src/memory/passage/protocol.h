/* SPDX-License-Identifier: MIT */
/* What the engine knows of each protocol: what it can do, and its passages. */
#ifndef AFTERYOU_MEMORY_PASSAGE_PROTOCOL_H
#define AFTERYOU_MEMORY_PASSAGE_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

struct registers;
struct resumable;

enum feature {
    FEATURE_NAMES = 1 << 0, /* resources of different names, and several at once */
    FEATURE_MODES = 1 << 1,
    FEATURE_SLOTS = 1 << 2,
    FEATURE_UNITS = 1 << 3,
    FEATURE_WHEN = 1 << 4,
    FEATURE_PRECEDENCE = 1 << 5,
    FEATURE_OVERTAKE = 1 << 6,
    /* a place that was never used must be met too: who comes there later reads how far I had come
     */
    FEATURE_EVERY_PLACE = 1 << 7
};

/* What the engine does for a protocol around a passage of the long way. A protocol that says itself
 * who sleeps on whom (SLEEP and WAKE) needs nothing; for the others, which only AWAIT, whoever
 * sleeps is roused at these points. */
struct passage_hooks {
    void (*before_entering)(struct registers *at);
    void (*before_awaiting)(struct registers *at);                  /* in AWAIT, before it sleeps */
    int64_t (*longest_await)(struct registers *at);                 /* how long: ns */
    void (*after_entering)(struct registers *at, bool had_to_wait); /* it is publicly inside */
    void (*after_giving_up)(struct registers *at);
    void (*before_leaving)(struct registers *at); /* it is still inside */
    void (*after_leaving)(struct registers *at);
};

enum conversion { CONVERSION_MADE, CONVERSION_REFUSED, CONVERSION_GIVEN_UP };

struct running_protocol {
    const char *name;
    unsigned places_most, places_default;
    unsigned granules; /* a place */
    unsigned features;
    bool (*enter)(struct registers *at); /* false: given up */
    void (*leave)(struct registers *at); /* from anywhere: leaving is failing */
    /* inside, to a mode that excludes more, which may have to wait; or less. NULL: neither */
    enum conversion (*upgrade)(struct registers *at, unsigned mode);
    void (*downgrade)(struct registers *at, unsigned mode);
    unsigned (*mode)(uint64_t word); /* of a passage; NULL: that of its spec */
    bool (*upgrades)(uint64_t word); /* inside, and waits for the mode that its word shows */
    const struct passage_hooks *hooks;
    const struct resumable *resumable; /* memory/ask/; NULL: it can only be waited for */
    /* what a register reads as, once its owner is gone */
    uint64_t (*dead)(unsigned index, uint64_t value);
    bool (*dead_bit)(unsigned index, bool value);
    bool (*aside)(uint64_t word); /* asleep until its condition may have changed */
    bool (*inside)(uint64_t word);
    /* has begun to enter, and is not inside yet; NULL: its word does not tell */
    bool (*wants)(uint64_t word);
    /* in word 0: a number that grows with every conflicting passage; 0 bits: it has none */
    unsigned number_shift, number_bits;
    bool express; /* has an express lane (express.h) */
    /* In a region of one slot, a word that is `waits` under this mask only waits: whoever it keeps
     * waiting sleeps on it, or on one that sleeps on it, and so on. 0: there are none such. */
    uint64_t waits, waits_mask;
};

static inline uint64_t protocol_number(const struct running_protocol *protocol, uint64_t word)
{
    return word >> protocol->number_shift & ((UINT64_C(1) << protocol->number_bits) - 1);
}

extern const struct running_protocol ay__courtesy;    /* courtesy/hooks.c */
extern const struct resumable ay__courtesy_resumable; /* ask/body.c */

/* NULL: there is none of that name */
const struct running_protocol *ay__protocol(const char *name);
/* The one of that number; NULL behind the last. */
const struct running_protocol *ay__protocol_at(size_t at);

#endif
