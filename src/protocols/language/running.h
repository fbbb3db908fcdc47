/* SPDX-License-Identifier: MIT */
/* The words of registers.h for an engine that runs: a word is the access itself. Included by
 * registers.h alone. */
#ifndef AFTERYOU_PROTOCOLS_LANGUAGE_RUNNING_H
#define AFTERYOU_PROTOCOLS_LANGUAGE_RUNNING_H

typedef uint64_t word;
typedef uint32_t place_number; /* as wide as a register: it counts loops, and is never shared */
typedef uint64_t place_set;    /* a bit each: a protocol that uses it serves 64 places */
#define PLACE_BITS       16
#define WORD_MODE_BITS   3
#define INCARNATION_BITS 6

struct registers;

/* futex_waitv takes 128 words: the register and the life of each, and a few of my own. Tests are
 * built with less, too. */
#ifndef WATCH_MOST
#define WATCH_MOST 60
#endif
struct watch {
    unsigned count;
    unsigned ahead;
    bool overflow;
    uint16_t place[WATCH_MOST];
    word seen[WATCH_MOST];
};

struct asked {
    bool unused; /* an engine that runs keeps its own record of requests */
};

struct recall {
    bool unused; /* there the keeper is a thread */
};

static inline void watch_clear(struct watch *watch)
{
    watch->count = 0;
    watch->ahead = 0;
    watch->overflow = false;
}

static inline void watch_ahead(struct watch *watch, unsigned ahead)
{
    watch->ahead = ahead;
}

static inline bool watch_any(const struct watch *watch)
{
    return watch->count != 0;
}

static inline unsigned watch_first(const struct watch *watch)
{
    return watch->place[0];
}

static inline unsigned watch_find(const struct watch *watch, unsigned place)
{
    unsigned at = 0;
    while (at < watch->count && watch->place[at] != place)
        at++;
    return at;
}

static inline bool watch_has(const struct watch *watch, unsigned place)
{
    return watch_find(watch, place) < watch->count;
}

static inline unsigned watch_count(const struct watch *watch)
{
    return watch->count;
}

static inline bool watch_full(const struct watch *watch)
{
    return watch->overflow;
}

typedef bool watch_order(unsigned j, word v, unsigned k, word w);

/* The one that comes before all others in that order; there is one. */
static inline unsigned watch_least(const struct watch *watch, watch_order *before)
{
    unsigned least = 0;
    for (unsigned which = 1; which < watch->count; which++)
        if (before(watch->place[which], watch->seen[which], watch->place[least],
                   watch->seen[least]))
            least = which;
    return watch->place[least];
}

static inline bool watch_lost(const struct watch *watch, unsigned place)
{
    return watch->overflow && watch_find(watch, place) == watch->count;
}

static inline word watch_seen(const struct watch *watch, unsigned place)
{
    const unsigned at = watch_find(watch, place);
    return at < watch->count ? watch->seen[at] : 0;
}

static inline void watch_drop(struct watch *watch, unsigned place)
{
    const unsigned at = watch_find(watch, place);
    if (at == watch->count)
        return;
    watch->count--;
    watch->place[at] = watch->place[watch->count];
    watch->seen[at] = watch->seen[watch->count];
}

/* Drops those that are not to be kept. True: there were such. */
static inline bool watch_sweep(struct watch *watch, const struct registers *at,
                               bool (*keeps)(const struct registers *at, unsigned place))
{
    const unsigned before = watch->count;
    for (unsigned which = watch->count; which-- > 0;)
        if (!keeps(at, watch->place[which]))
            watch_drop(watch, watch->place[which]);
    return watch->count < before;
}

static inline void watch_add(const struct registers *at, struct watch *watch, unsigned place,
                             word seen)
{
    (void)at;
    const unsigned which = watch_find(watch, place);
    if (which == WATCH_MOST) {
        watch->overflow = true; /* the engine then sleeps for a time only */
        return;
    }
    watch->place[which] = (uint16_t)place;
    watch->seen[which] = seen;
    if (which == watch->count)
        watch->count++;
}

/* What was seen of all rivals, however many: the sum of what is mixed of each. The sums of two
 * unlike sights agree once in 2^64. */
struct sights {
    uint64_t sum;
};

struct glimpse {
    uint64_t sum;
};

static inline uint64_t sights_mix(unsigned place, word seen)
{
    uint64_t mixed = seen + (place + 1) * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

/* `missed`: how many the engine knows to have come and gone unseen. */
static inline void sights_clear(struct sights *sights, uint64_t missed)
{
    sights->sum = missed;
}

static inline void sights_note(struct sights *sights, unsigned place, word seen)
{
    sights->sum += sights_mix(place, seen);
}

static inline void glimpse_clear(struct glimpse *glimpse)
{
    glimpse->sum = 0;
}

static inline void glimpse_note(struct glimpse *glimpse, const struct sights *sights,
                                unsigned place, word seen)
{
    (void)sights;
    glimpse->sum += sights_mix(place, seen);
}

/* `gone`: whether one that is not seen any more counts. */
static inline bool glimpse_differs(const struct glimpse *glimpse, const struct sights *sights,
                                   uint64_t missed, bool gone)
{
    (void)gone; /* an engine that runs has no use for it */
    return glimpse->sum + missed != sights->sum;
}

struct passage_head;
#define PASSAGE_HEAD
#define PART_HEAD
#define HEAD_OF(my)                             ((struct passage_head *)0)
#define PASSAGE_BEGIN                           (void)my;
#define PASSAGE_END                             return PASSED;
#define READ(label, into, ...)                  ((into) = registers_read(at, __VA_ARGS__))
#define WRITE_(label, place, index, value)      registers_write(at, index, value)
#define WRITE_LATE_(label, place, index, value) registers_write_late(at, index, value)
#define READ_BIT(label, into, ...)              ((into) = registers_read_bit(at, __VA_ARGS__))
#define WRITE_BIT_(label, place, index, value)  registers_write_bit(at, index, value)
/* One statement, whatever stands around it: an `else` behind it must not become its own. */
#define AWAIT_(label, into, place, index, test)                                                    \
    do {                                                                                           \
        while ((into) = registers_read(at, place, index), !(test))                                 \
            if (!registers_pause(at, place, index, into))                                          \
                return ABANDONED;                                                                  \
    } while (0)
#define CALL(passage, part, ...)                                                                   \
    do {                                                                                           \
        if (passage(part, __VA_ARGS__) != PASSED)                                                  \
            return ABANDONED;                                                                      \
    } while (0)
#define ACT(label, act)        ((void)(act))
#define QUEUE                  ((void)0)
#define STEP(number)           ((void)0)
#define CONDITION(label, into) ((into) = registers_condition(at))
#define AGAIN                                                                                      \
    do {                                                                                           \
        if (!registers_again(at))                                                                  \
            return ABANDONED;                                                                      \
    } while (0)
#define HEED(head)                                                                                 \
    do {                                                                                           \
        (void)(head);                                                                              \
        if (!registers_heed(at))                                                                   \
            return ABANDONED;                                                                      \
    } while (0)
#define SLEEP(label, head, watch, woken)                                                           \
    do {                                                                                           \
        (void)(head);                                                                              \
        if (!registers_sleep(at, watch, &(woken)))                                                 \
            return ABANDONED;                                                                      \
    } while (0)
#define LISTEN(label, head)                ((void)(head), registers_listen(at))
#define SLUMBER(label, head, watch, woken) SLEEP(label, head, watch, woken)
#define ROUSE(label, which)                registers_rouse(at, which)
#define PAUSE(...)                                                                                 \
    do {                                                                                           \
        if (!registers_pause(at, __VA_ARGS__))                                                     \
            return ABANDONED;                                                                      \
    } while (0)
#define WAKE(label)            registers_wake(at)
#define WAKE_ONE(label, which) registers_wake_one(at, which)
#define ASK(label, into, which)                                                                    \
    do {                                                                                           \
        if (!registers_ask(at, which, &(into)))                                                    \
            return ABANDONED;                                                                      \
    } while (0)
#define RECALL(label, which, memory, found, barrier) registers_recall(at, which, found)
#define READ_OWN_(label, into, place, index)         ((into) = registers_read_own(at, index))
#define READ_OWN(label, ...)                         READ_OWN_(label, __VA_ARGS__)
#define REGISTER_IN_LINE(which)                      (IN_LINE + (which))
enum { IN_LINE = 1 << 15 }; /* beyond all that lie on the page of registers */
#define DEFER  registers_defer(at)
#define ANSWER registers_answer(at)
#define AWAIT_ALARM(label)                                                                         \
    do {                                                                                           \
        if (!registers_await_alarm(at))                                                            \
            return ABANDONED;                                                                      \
    } while (0)
#define RESET_ALARM(label)                      registers_reset_alarm(at)
#define AWAKE(label, place)                     registers_awake(at, place)

/* NONE_ABOVE, NONE_WITH, NONE_TO_WAKE: fetches all rivals' words to find out, in one short loop. */
#define NONE_ABOVE(label, into, limit)          ((into) = registers_none_above(at, limit))
#define NONE_WITH(label, into, mask)            ((into) = registers_none_with(at, mask))
#define NONE_TO_WAKE(label, into, mask, asleep) ((into) = registers_none_to_wake(at, mask, asleep))

/* RARELY: a passage that is seldom called. */
#define RARELY                                  __attribute__((noinline))
#define OFTEN                                   inline __attribute__((always_inline))

#endif
