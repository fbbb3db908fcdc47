/* SPDX-License-Identifier: MIT */
/* The words of registers.h for an engine that searches: a passage stops before each access.
 * Included by registers.h alone. */
#ifndef AFTERYOU_PROTOCOLS_LANGUAGE_STOPPING_H
#define AFTERYOU_PROTOCOLS_LANGUAGE_STOPPING_H

#include "protocols/language/calling.h"

/* A searching engine keeps words small, so that a state is small; a number that no longer fits is
 * reported. */
typedef uint16_t word;
typedef uint8_t place_number;
typedef uint8_t place_set; /* a bit each */
#define PLACE_BITS       4
#define WORD_MODE_BITS   2
#define INCARNATION_BITS 3

/* Where an access stands: its label, and the text that it is in. */
struct source_line {
    const char *label;
    const char *file;
    unsigned line;
};

struct passage_head {
    uint16_t point : 13;  /* where the passage stopped; 0: not begun */
    uint16_t step : 3;    /* STEP: for invariants that speak of the paper's steps */
    uint8_t queued : 1;   /* past the doorway */
    uint8_t again : 1;    /* stands at AGAIN */
    uint8_t alarm : 1;    /* somebody said AWAKE, or ROUSE */
    uint8_t woken : 1;    /* was asleep, and one of the watched woke it */
    uint8_t heeds : 1;    /* may be given up before its next access: HEED, SLEEP */
    uint8_t listens : 1;  /* said LISTEN, and has not come to SLUMBER yet */
    uint8_t slumbers : 1; /* asleep in SLUMBER; or looks up by itself, as soon as it is there */
    uint8_t linked : 1;   /* an ask that is about to rest (check/registers/asks.c) */
    uint8_t watched;      /* asleep until one of these places wakes it, a bit each; 0: awake */
};

struct registers;
unsigned registers_room(const struct registers *at); /* how many it may watch */

#define WATCH_MOST 4
struct watch {
    uint8_t places;   /* a bit each */
    uint8_t overflow; /* there was no room for one */
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

static inline unsigned watch_count(const struct watch *watch)
{
    return (unsigned)__builtin_popcount(watch->places);
}

/* Whether it found no room for a place. */
static inline bool watch_full(const struct watch *watch)
{
    return watch->overflow;
}

/* Whether the watch had no room for this place, and so cannot tell. */
static inline bool watch_lost(const struct watch *watch, unsigned place)
{
    return watch->overflow && !watch_has(watch, place);
}

typedef bool watch_order(unsigned j, word v, unsigned k, word w);

/* The one that comes before all others in that order; there is one. */
static inline unsigned watch_least(const struct watch *watch, watch_order *before)
{
    unsigned least = watch_first(watch);
    for (unsigned place = least + 1; place < WATCH_MOST; place++)
        if (watch_has(watch, place) && before(place, watch->seen[place], least, watch->seen[least]))
            least = place;
    return least;
}

static inline void watch_drop(struct watch *watch, unsigned place)
{
    watch->places = (uint8_t)(watch->places & ~(1u << place));
    watch->seen[place] = 0;
}

/* Drops those that are not to be kept. True: there were such. */
static inline bool watch_sweep(struct watch *watch, const struct registers *at,
                               bool (*keeps)(const struct registers *at, unsigned place))
{
    const uint8_t before = watch->places;
    for (unsigned place = 0; place < WATCH_MOST; place++)
        if (before >> place & 1 && !keeps(at, place))
            watch_drop(watch, place);
    return watch->places != before;
}

static inline void watch_add(const struct registers *at, struct watch *watch, unsigned place,
                             word seen)
{
    if (!watch_has(watch, place) && watch_count(watch) >= registers_room(at)) {
        watch->overflow = 1;
        return;
    }
    watch->places = (uint8_t)(watch->places | 1u << place);
    watch->seen[place] = seen;
}

/* What was seen of all rivals; here word by word. */
struct sights {
    uint8_t places; /* a bit each */
    word seen[WATCH_MOST];
};

/* What is seen of them now: which, and whether one differs. */
struct glimpse {
    uint8_t places;
    uint8_t differs;
};

static inline void sights_clear(struct sights *sights, unsigned missed)
{
    (void)missed;
    *sights = (struct sights){0};
}

static inline void sights_note(struct sights *sights, unsigned place, word seen)
{
    sights->places = (uint8_t)(sights->places | 1u << place);
    sights->seen[place] = seen;
}

static inline void glimpse_clear(struct glimpse *glimpse)
{
    *glimpse = (struct glimpse){0};
}

static inline void glimpse_note(struct glimpse *glimpse, const struct sights *sights,
                                unsigned place, word seen)
{
    glimpse->places = (uint8_t)(glimpse->places | 1u << place);
    if (!(sights->places >> place & 1) || sights->seen[place] != seen)
        glimpse->differs = 1;
}

/* `gone`: whether one that is not seen any more counts. */
static inline bool glimpse_differs(const struct glimpse *glimpse, const struct sights *sights,
                                   unsigned missed, bool gone)
{
    (void)missed;
    return glimpse->differs || (gone && glimpse->places != sights->places);
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
#define PASSAGE_BEGIN                                                                              \
    switch (my->head.point) {                                                                      \
    case 0:
#define PASSAGE_END                                                                                \
    }                                                                                              \
    my->head.point = 0;                                                                            \
    return PASSED;

/* __COUNTER__ names the point: unlike __LINE__ it lets one word stop more than once. */
#define STOP_(label, id)                                                                           \
    do {                                                                                           \
        my->head.point = (id);                                                                     \
        return STOPPED;                                                                            \
    case (id): {                                                                                   \
        static const struct source_line here = {#label, __FILE__, __LINE__};                       \
        registers_at_line(at, &here);                                                              \
    }                                                                                              \
    } while (0)
#define STOP_AS(label, id) STOP_(label, id)
#define STOP(label)        STOP_AS(label, __COUNTER__ + 1)

/* A variable that is about to be fetched into is dead: zeroed, so that states differ only where it
 * matters. Where places change their names, a fetch is several accesses: it is called again until
 * it is finished. */
#define READ(label, into, ...)                                                                     \
    do {                                                                                           \
        (into) = 0;                                                                                \
        STOP(label);                                                                               \
        (into) = registers_read(at, __VA_ARGS__);                                                  \
        if (registers_unfinished(at))                                                              \
            return STOPPED;                                                                        \
    } while (0)
/* Where memory is weak, its fence is a step of its own: what was stored may be seen before. */
#define WRITE_(label, place, index, value)                                                         \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_write(at, index, value);                                                         \
        if (registers_fences(at)) {                                                                \
            STOP(label);                                                                           \
            registers_fence(at);                                                                   \
        }                                                                                          \
    } while (0)
#define WRITE_LATE_(label, place, index, value)                                                    \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_write_late(at, index, value);                                                    \
    } while (0)
#define READ_BIT(label, into, ...)                                                                 \
    do {                                                                                           \
        (into) = 0;                                                                                \
        STOP(label);                                                                               \
        (into) = registers_read_bit(at, __VA_ARGS__);                                              \
    } while (0)
#define WRITE_BIT_(label, place, index, value)                                                     \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_begin_bit(at, index, value);                                                     \
        STOP(label);                                                                               \
        registers_end_bit(at, index, value);                                                       \
    } while (0)
#define AWAIT_(label, into, place, index, test)                                                    \
    do {                                                                                           \
        (into) = 0;                                                                                \
        STOP(label);                                                                               \
        (into) = registers_read(at, place, index);                                                 \
        if (registers_unfinished(at))                                                              \
            return STOPPED;                                                                        \
        if (!(test)) {                                                                             \
            (into) = 0;                                                                            \
            registers_awaits(at);                                                                  \
            return STOPPED;                                                                        \
        }                                                                                          \
    } while (0)
#define ACT(label, act)                                                                            \
    do {                                                                                           \
        STOP(label);                                                                               \
        act;                                                                                       \
    } while (0)
#define QUEUE        (my->head.queued = 1)
#define STEP(number) (my->head.step = (number))
#define CONDITION(label, into)                                                                     \
    do {                                                                                           \
        STOP(label);                                                                               \
        (into) = registers_condition(at);                                                          \
    } while (0)
#define AGAIN      (my->head.again = 1)
#define HEED(head) ((head)->heeds = 1)
#define SLEEP(label, head, watch, woken)                                                           \
    do {                                                                                           \
        HEED(head);                                                                                \
        STOP(label);                                                                               \
        if (registers_asleep(at, head, watch, &(woken)))                                           \
            return STOPPED;                                                                        \
    } while (0)
#define LISTEN(label, head)                                                                        \
    do {                                                                                           \
        STOP(label);                                                                               \
        (head)->alarm = (head)->slumbers = 0;                                                      \
        (head)->listens = 1;                                                                       \
    } while (0)
#define SLUMBER(label, head, watch, woken)                                                         \
    do {                                                                                           \
        HEED(head);                                                                                \
        STOP(label);                                                                               \
        if (registers_slumbers(at, head, watch, &(woken)))                                         \
            return STOPPED;                                                                        \
    } while (0)
#define ROUSE(label, which)                                                                        \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_rouse(at, which);                                                                \
    } while (0)
#define PAUSE(...) ((void)0) /* a search tries every moment */
#define WAKE(label)                                                                                \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_wake(at);                                                                        \
    } while (0)
#define WAKE_ONE(label, which)                                                                     \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_wake_one(at, which);                                                             \
    } while (0)
#define ASK(label, into, which)                                                                    \
    do {                                                                                           \
        (into) = 0;                                                                                \
        STOP(label);                                                                               \
        if (registers_asked(at, &my->asked, which)) {                                              \
            STOP(label);                                                                           \
            if (!my->asked.answered)                                                               \
                return STOPPED;                                                                    \
        }                                                                                          \
        (into) = my->asked.answer;                                                                 \
        my->asked.answered = 0;                                                                    \
        my->asked.answer = 0;                                                                      \
    } while (0)
/* The keeper of `which` is a thread beside its owner: its steps are this process's moves, with the
 * owner's moves between them. */
#define RECALL(label, which, memory, found, barrier)                                               \
    do {                                                                                           \
        for (;;) {                                                                                 \
            STOP(label);                                                                           \
            if (!registers_recall_sees(at, which, memory))                                         \
                break;                                                                             \
            STOP(label);                                                                           \
            registers_recall_says(at, which, memory);                                              \
            STOP(label);                                                                           \
            if (barrier)                                                                           \
                registers_recall_drains(at, which);                                                \
            STOP(label);                                                                           \
            if (!registers_recall_may(at, which))                                                  \
                break;                                                                             \
            STOP(label);                                                                           \
            if (registers_recall_takes(at, which, memory))                                         \
                break;                                                                             \
        }                                                                                          \
        *(memory) = (struct recall){0};                                                            \
    } while (0)
#define READ_OWN(label, into, ...) READ(label, into, __VA_ARGS__)
#define REGISTER_IN_LINE(which)    (1 + (which))
#define DEFER                      (my->asked.defers = 1)
#define ANSWER                     registers_answer(at, &my->asked)
#define AWAIT_ALARM(label)                                                                         \
    do {                                                                                           \
        STOP(label);                                                                               \
        if (!my->head.alarm)                                                                       \
            return STOPPED;                                                                        \
    } while (0)
#define RESET_ALARM(label)                                                                         \
    do {                                                                                           \
        STOP(label);                                                                               \
        my->head.alarm = 0;                                                                        \
    } while (0)
#define AWAKE(label, place)                                                                        \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_awake(at, place);                                                                \
    } while (0)

/* NONE_ABOVE, NONE_WITH, NONE_TO_WAKE: no, let the look behind it tell; but for a model with brief
 * looks, where each is an access. */
#define BRIEFLY(label, into, found)                                                                \
    do {                                                                                           \
        (into) = false;                                                                            \
        if (registers_brief(at)) {                                                                 \
            STOP(label);                                                                           \
            (into) = (found);                                                                      \
        }                                                                                          \
    } while (0)
#define NONE_ABOVE(label, into, limit) BRIEFLY(label, into, registers_none_above(at, limit))
#define NONE_WITH(label, into, mask)   BRIEFLY(label, into, registers_none_with(at, mask))
#define NONE_TO_WAKE(label, into, mask, asleep)                                                    \
    BRIEFLY(label, into, registers_none_to_wake(at, mask, asleep))
#define RARELY inline
#define OFTEN  inline

#endif
