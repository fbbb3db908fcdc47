/* SPDX-License-Identifier: MIT */
/* The language in which register protocols are written: one text, and the only file with two bodies.
 *
 * A protocol is a set of passages: functions over a flat struct `my` (what the passage remembers) and over `at` (the
 * registers, as the engine sees them). Every access to a public variable goes through a word of this file, and carries
 * the label that the paper gives to that line.
 *
 * - Built for an engine that runs (the default), a word is the access itself: a passage is a plain inline function.
 * - Built with REGISTERS_STOP_AT_ACCESS, for an engine that searches, a passage stops *before* each access: it notes
 *   the place in `my->head.point`, returns STOPPED, and when called again makes that one access and runs on to the next.
 *   What an access does (interleave, buffer the store, let a safe bit flicker) is the engine's affair.
 *
 * Words. R is written `place, index`; protocols name their registers by macros of that shape.
 *   PASSAGE_HEAD                 first member of a passage's struct; PART_HEAD, of a passage that is CALLed
 *   PASSAGE_BEGIN … PASSAGE_END  the body; falls out of the end as PASSED
 *   READ(label, into, R)         into := R
 *   WRITE(label, R, value)       own R := value, and a fence: sequentially consistent
 *   WRITE_LATE(label, R, value)  own R := value, which others may see later (release order)
 *   READ_BIT, WRITE_BIT          the same for safe bits: one that is being written reads as anything
 *   AWAIT(label, into, R, test)  fetch R into `into` until `test` holds
 *   PAUSE(R, seen)               before a wait of more than one fetch is tried again
 *   AGAIN                        a round of busy waiting was in vain: the next begins, or the passage is given up
 *   OWN(R), OWN_BIT(R)           what my own R holds: no event, since nobody else can change it
 *   for (EACH_OTHER(my->j))      every other place in use, ascending; EACH_RIVAL: those that may conflict with mine
 *   NONE_ABOVE(limit), NONE_WITH(mask)   whether a look may be left out
 *   CALL(passage, &my->part, …)  run a passage inside a passage
 *   QUEUE                        the doorway ends here
 *   CONDITION(label, into)       into := my `when`
 *   SLEEP(label, HEAD_OF(my), &my->watch, woken)
 *                                sleep until a watched place wakes me; not at all (woken := false) if the word of one
 *                                differs from what was seen. The watch is kept
 *   WAKE(label)                  wake whoever watches me
 *   AWAKE(label, place)          set that place's alarm; AWAIT_ALARM, RESET_ALARM: my own (Lamport's sleep and awake)
 *   RECALL(label, place, &memory, w, barrier)
 *                                have the keeper of that place, seen to RETAIN as w, take its permission back: courtesy_retain.h
 *   READ_OWN(label, into, R)     into := own R, which a thread of my own process may write
 *   ASK(label, into, place)      into := register 0 of that place, as it is when its owner answers: at once, unless it is
 *                                between its DEFER and its ANSWER; then with the latter. `my` has a struct asked
 *
 * Rules for the writer of a protocol: what must outlive the next access lives in `my`, and is zeroed once dead (the
 * searching engine compares and hashes the struct); a C local may only carry a value from one access to the code right
 * behind it; between two accesses nothing may loop without end.
 *
 * The engine defines, before it includes a protocol, `struct registers` and these inline functions. A place writes its
 * own registers only.
 *   unsigned registers_self(at), registers_places(at)     who I am, and how many places there are
 *   unsigned registers_next(at, place)                    the next place in use from `place` on, mine left out
 *   unsigned registers_next_rival(at, place)              the same, without places known to be no rivals
 *   word     registers_read(at, place, index)             one fetch; the default value if the owner has failed
 *   void     registers_write(at, index, value)            one store to my own register, sequentially consistent
 *   void     registers_write_late(at, index, value)       one store in release order
 *   word     registers_own(at, index)                     my own register: no access, since I alone write it
 *   bool     registers_own_bit(at, index)                 likewise my own safe bit
 *   void     registers_keep(at, index, value)             my own register that nobody else reads: no access
 *   bool     registers_read_bit(at, place, index)
 *   void     registers_write_bit(at, index, value)        (engines that run)
 *   void     registers_begin_bit, registers_end_bit       (engines that search: a write takes time)
 *   bool     registers_pause(at, place, index, seen)      wait until that register may differ from `seen`; false: give
 *                                                         up (timeout, cancel, try)
 *   bool     registers_sleep(at, &watch, &woken)          (engines that run) what SLEEP says; false: give up
 *   bool     registers_asleep(at, &head, &watch, &woken)  (engines that search) whether it sleeps on
 *   void     registers_wake(at)
 *   bool     registers_condition(at)                      the `when` of this passage
 *   bool     registers_conditional(at)                    whether it has one
 *   unsigned registers_mode(at)                           in which mode I ask for the region
 *   bool     registers_conflict(at, place, mode)          whether that place's passage in that mode conflicts with mine
 *   bool     registers_conflict_between(at, j, mode_j, k, mode_k)  likewise of two others
 *   bool     registers_rival(at, place)                   whether the passage whose word was just fetched conflicts
 *   int      registers_precedence(at, place)              < 0: its class goes before mine; 0: the same class
 *   unsigned registers_slots(at), registers_overtake(at)  how many may be inside; the bound B
 *   bool     registers_again(at)                          (engines that run) AGAIN; false: give up
 *   bool     registers_await_alarm(at)                    (engines that run) false: give up
 *   void     registers_reset_alarm(at)                    (engines that run)
 *   void     registers_awake(at, place)                   set that place's alarm
 *   bool     registers_ask(at, place, &into)              (engines that run) false: give up
 *   void     registers_defer(at), registers_answer(at)    (engines that run) what DEFER and ANSWER say
 *   bool     registers_retains(at)                        whether it leaves with its permission
 *   void     registers_recall(at, place, w)               (engines that run) what RECALL says
 *   word     registers_read_own(at, index)                (engines that run) what READ_OWN says
 *   bool     registers_calm(at)                           a guess: nobody is about
 *   word     registers_draw(at, largest, bits)            the number after `largest`; overflow of `bits` is reported
 */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_H
#define AFTERYOU_PROTOCOLS_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum passage_result { PASSED, STOPPED, ABANDONED };

#ifdef REGISTERS_STOP_AT_ACCESS

/* A searching engine keeps words small, so that a state is small; a number that no longer fits is reported. */
typedef uint16_t word;
typedef uint8_t place_number;
typedef uint8_t place_set; /* a bit each */
#define PLACE_BITS       4
#define INCARNATION_BITS 3

struct passage_head {
    uint16_t point;     /* where the passage stopped; 0: not begun */
    uint8_t queued : 1; /* past the doorway */
    uint8_t again : 1;  /* stands at AGAIN */
    uint8_t alarm : 1;  /* somebody said AWAKE */
    uint8_t woken : 1;  /* was asleep, and one of the watched woke it */
    uint8_t watched;    /* asleep until one of these places wakes it, a bit each; 0: awake */
};

#define WATCH_MOST 4
struct watch {
    uint8_t places; /* a bit each */
    word seen[WATCH_MOST];
};
static inline void watch_clear(struct watch *watch)
{
    *watch = (struct watch){0};
}

/* How many go before me, as far as I know: whether to sleep at once is the engine's affair. */
static inline void watch_ahead(struct watch *watch, unsigned ahead)
{
    (void)watch;
    (void)ahead;
}

static inline bool watch_any(const struct watch *watch)
{
    return watch->places != 0;
}

/* The least place; there is one. */
static inline unsigned watch_first(const struct watch *watch)
{
    return (unsigned)__builtin_ctz(watch->places);
}

static inline bool watch_has(const struct watch *watch, unsigned place)
{
    return watch->places >> place & 1;
}

static inline word watch_seen(const struct watch *watch, unsigned place)
{
    return watch->seen[place];
}

/* Whether it found no room for a place. */
static inline bool watch_full(const struct watch *watch)
{
    (void)watch;
    return false;
}

/* Whether the watch had no room for this place, and so cannot tell. */
static inline bool watch_lost(const struct watch *watch, unsigned place)
{
    (void)watch;
    (void)place;
    return false;
}

static inline void watch_drop(struct watch *watch, unsigned place)
{
    watch->places = (uint8_t)(watch->places & ~(1u << place));
    watch->seen[place] = 0;
}

static inline void watch_add(struct watch *watch, unsigned place, word seen)
{
    watch->places = (uint8_t)(watch->places | 1u << place);
    watch->seen[place] = seen;
}

/* ASK: whom I asked and await, what was answered; and whether I let others wait for my answers. */
struct asked {
    uint8_t place : 4; /* + 1 */
    uint8_t answered : 1;
    uint8_t defers : 1;
    word answer;
};

/* RECALL: what the keeper has seen. */
struct recall {
    word seen, grant;
};

struct part_head {
    uint16_t point;
};

#define PASSAGE_HEAD struct passage_head head;
#define HEAD_OF(my)  (&(my)->head)
#define PART_HEAD    struct part_head head;
#define PASSAGE_BEGIN                                                                                                  \
    switch (my->head.point) {                                                                                          \
    case 0:
#define PASSAGE_END                                                                                                    \
    }                                                                                                                  \
    my->head.point = 0;                                                                                                \
    return PASSED;

/* __COUNTER__ names the point: unlike __LINE__ it lets one word stop more than once. */
#define STOP_(label, id)                                                                                               \
    do {                                                                                                               \
        my->head.point = (id);                                                                                         \
        return STOPPED;                                                                                                \
    case (id):                                                                                                         \
        registers_label(at, #label);                                                                                   \
    } while (0)
#define STOP_AS(label, id) STOP_(label, id)
#define STOP(label)        STOP_AS(label, __COUNTER__ + 1)

/* A variable that is about to be fetched into is dead: zeroed, so that states differ only where it matters. */
#define READ(label, into, ...)                                                                                         \
    do {                                                                                                               \
        (into) = 0;                                                                                                    \
        STOP(label);                                                                                                   \
        (into) = registers_read(at, __VA_ARGS__);                                                                      \
    } while (0)
#define WRITE_(label, place, index, value)                                                                             \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        registers_write(at, index, value);                                                                             \
    } while (0)
#define WRITE_LATE_(label, place, index, value)                                                                        \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        registers_write_late(at, index, value);                                                                        \
    } while (0)
#define READ_BIT(label, into, ...)                                                                                     \
    do {                                                                                                               \
        (into) = 0;                                                                                                    \
        STOP(label);                                                                                                   \
        (into) = registers_read_bit(at, __VA_ARGS__);                                                                  \
    } while (0)
#define WRITE_BIT_(label, place, index, value)                                                                         \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        registers_begin_bit(at, index, value);                                                                         \
        STOP(label);                                                                                                   \
        registers_end_bit(at, index, value);                                                                           \
    } while (0)
#define AWAIT_(label, into, place, index, test)                                                                        \
    do {                                                                                                               \
        (into) = 0;                                                                                                    \
        STOP(label);                                                                                                   \
        (into) = registers_read(at, place, index);                                                                     \
        if (!(test)) {                                                                                                 \
            (into) = 0;                                                                                                \
            return STOPPED;                                                                                            \
        }                                                                                                              \
    } while (0)
#define CALL_(id, passage, part, ...)                                                                                  \
    do {                                                                                                               \
        my->head.point = (id);                                                                                         \
        __attribute__((fallthrough));                                                                                  \
    case (id): {                                                                                                       \
        const enum passage_result called = passage(part, __VA_ARGS__);                                                 \
        if (called != PASSED)                                                                                          \
            return called;                                                                                             \
    }                                                                                                                  \
    } while (0)
#define CALL_AS(id, passage, part, ...) CALL_(id, passage, part, __VA_ARGS__)
#define CALL(passage, part, ...)        CALL_AS(__COUNTER__ + 1, passage, part, __VA_ARGS__)
#define QUEUE                           (my->head.queued = 1)
#define CONDITION(label, into)                                                                                         \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        (into) = registers_condition(at);                                                                              \
    } while (0)
#define AGAIN (my->head.again = 1)
#define SLEEP(label, head, watch, woken)                                                                               \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        if (registers_asleep(at, head, watch, &(woken)))                                                               \
            return STOPPED;                                                                                            \
    } while (0)
#define PAUSE(...) ((void)0) /* a search tries every moment */
#define WAKE(label)                                                                                                    \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        registers_wake(at);                                                                                            \
    } while (0)
#define ASK(label, into, which)                                                                                        \
    do {                                                                                                               \
        (into) = 0;                                                                                                    \
        STOP(label);                                                                                                   \
        if (registers_asked(at, &my->asked, which)) {                                                                  \
            STOP(label);                                                                                               \
            if (!my->asked.answered)                                                                                   \
                return STOPPED;                                                                                        \
        }                                                                                                              \
        (into) = my->asked.answer;                                                                                     \
        my->asked.answered = 0;                                                                                        \
        my->asked.answer = 0;                                                                                          \
    } while (0)
/* The keeper of `which` is a thread beside its owner: its steps are this process's moves, with the owner's moves between them. */
#define RECALL(label, which, memory, found, barrier)                                                                   \
    do {                                                                                                               \
        for (;;) {                                                                                                     \
            STOP(label);                                                                                               \
            if (!registers_recall_sees(at, which, memory))                                                             \
                break;                                                                                                 \
            STOP(label);                                                                                               \
            registers_recall_says(at, which, memory);                                                                  \
            STOP(label);                                                                                               \
            if (barrier)                                                                                               \
                registers_recall_drains(at, which);                                                                    \
            STOP(label);                                                                                               \
            if (!registers_recall_may(at, which))                                                                      \
                break;                                                                                                 \
            STOP(label);                                                                                               \
            if (registers_recall_takes(at, which, memory))                                                             \
                break;                                                                                                 \
        }                                                                                                              \
        *(memory) = (struct recall){0};                                                                                \
    } while (0)
#define READ_OWN(label, into, ...) READ(label, into, __VA_ARGS__)
#define REGISTER_IN_LINE(which)    (1 + (which))
#define DEFER                      (my->asked.defers = 1)
#define ANSWER                     registers_answer(at, &my->asked)
#define AWAIT_ALARM(label)                                                                                             \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        if (!my->head.alarm)                                                                                           \
            return STOPPED;                                                                                            \
    } while (0)
#define RESET_ALARM(label)                                                                                             \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        my->head.alarm = 0;                                                                                            \
    } while (0)
#define AWAKE(label, place)                                                                                            \
    do {                                                                                                               \
        STOP(label);                                                                                                   \
        registers_awake(at, place);                                                                                    \
    } while (0)

#else

typedef uint64_t word;
typedef uint32_t place_number; /* as wide as a register: it counts loops, and is never shared */
typedef uint64_t place_set;    /* a bit each: a protocol that uses it serves 64 places */
#define PLACE_BITS       16
#define INCARNATION_BITS 9

#define WATCH_MOST       64 /* futex_waitv takes 128 words: the register and the life of each */
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

static inline bool watch_full(const struct watch *watch)
{
    return watch->overflow;
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

static inline void watch_add(struct watch *watch, unsigned place, word seen)
{
    const unsigned at = watch_find(watch, place);
    if (at == WATCH_MOST) {
        watch->overflow = true; /* the engine then sleeps for a short time only */
        return;
    }
    watch->place[at] = (uint16_t)place;
    watch->seen[at] = seen;
    if (at == watch->count)
        watch->count++;
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
#define AWAIT_(label, into, place, index, test)                                                                        \
    do {                                                                                                               \
        while ((into) = registers_read(at, place, index), !(test))                                                     \
            if (!registers_pause(at, place, index, into))                                                              \
                return ABANDONED;                                                                                      \
    } while (0)
#define CALL(passage, part, ...)                                                                                       \
    do {                                                                                                               \
        if (passage(part, __VA_ARGS__) != PASSED)                                                                      \
            return ABANDONED;                                                                                          \
    } while (0)
#define QUEUE                  ((void)0)
#define CONDITION(label, into) ((into) = registers_condition(at))
#define AGAIN                                                                                                          \
    do {                                                                                                               \
        if (!registers_again(at))                                                                                      \
            return ABANDONED;                                                                                          \
    } while (0)
#define SLEEP(label, head, watch, woken)                                                                               \
    do {                                                                                                               \
        (void)(head);                                                                                                  \
        if (!registers_sleep(at, watch, &(woken)))                                                                     \
            return ABANDONED;                                                                                          \
    } while (0)
#define PAUSE(...)                                                                                                     \
    do {                                                                                                               \
        if (!registers_pause(at, __VA_ARGS__))                                                                         \
            return ABANDONED;                                                                                          \
    } while (0)
#define WAKE(label) registers_wake(at)
#define ASK(label, into, which)                                                                                        \
    do {                                                                                                               \
        if (!registers_ask(at, which, &(into)))                                                                        \
            return ABANDONED;                                                                                          \
    } while (0)
#define RECALL(label, which, memory, found, barrier) registers_recall(at, which, found)
#define READ_OWN_(label, into, place, index)         ((into) = registers_read_own(at, index))
#define READ_OWN(label, ...)                         READ_OWN_(label, __VA_ARGS__)
#define REGISTER_IN_LINE(which)                      (IN_LINE + (which))
enum { IN_LINE = 1 << 15 }; /* beyond all that lie on the page of registers */
#define DEFER                                        registers_defer(at)
#define ANSWER                                       registers_answer(at)
#define AWAIT_ALARM(label)                                                                                             \
    do {                                                                                                               \
        if (!registers_await_alarm(at))                                                                                \
            return ABANDONED;                                                                                          \
    } while (0)
#define RESET_ALARM(label)  registers_reset_alarm(at)
#define AWAKE(label, place) registers_awake(at, place)

#endif

/* Every other place that is in use, in ascending order. A place that nobody uses need not be fetched: it
 * would read as dead. */
#define EACH_OTHER(j)                                                                                                  \
    (j) = (place_number)registers_next(at, 0);                                                                         \
    (j) < registers_places(at);                                                                                        \
    (j) = (place_number)registers_next(at, (j) + 1u)

/* Every other place in use that may conflict with mine. An engine may leave out a place that it knows to be no rival,
 * and then acts as if it had fetched its word; the protocol asks registers_rival() after each fetch all the same. */
#define EACH_RIVAL(j)                                                                                                  \
    (j) = (place_number)registers_next_rival(at, 0);                                                                   \
    (j) < registers_places(at);                                                                                        \
    (j) = (place_number)registers_next_rival(at, (j) + 1u)

/* Whether a look may be left out: no rival's word is above `limit`, or none has a bit of `mask`. An engine that runs fetches them all to find out, in one
 * short loop; an engine that searches says no, and lets the look behind it tell. */
#ifdef REGISTERS_STOP_AT_ACCESS
#define NONE_ABOVE(limit) false
#define NONE_WITH(mask)   false
#define RARELY            inline
#define OFTEN             inline
#else
#define NONE_ABOVE(limit) registers_none_above(at, limit)
#define NONE_WITH(mask)   registers_none_with(at, mask)
#define RARELY            __attribute__((noinline)) /* a passage that is seldom called */
#define OFTEN             inline __attribute__((always_inline))
#endif

/* R stands for two arguments, `place, index`: the outer word lets the macro R expand before they are told
 * apart. */
#define OWN_(place, index)     registers_own(at, index)
#define OWN_BIT_(place, index) registers_own_bit(at, index)
#define OWN(...)               OWN_(__VA_ARGS__)
#define OWN_BIT(...)           OWN_BIT_(__VA_ARGS__)
#define WRITE(label, ...)      WRITE_(label, __VA_ARGS__)
#define WRITE_LATE(label, ...) WRITE_LATE_(label, __VA_ARGS__)
#define WRITE_BIT(label, ...)  WRITE_BIT_(label, __VA_ARGS__)
#define AWAIT(label, ...)      AWAIT_(label, __VA_ARGS__)

#endif
