/* SPDX-License-Identifier: MIT */
/* Registers as the checker sees them: what READ, WRITE and the other words of
 * protocols/language/registers.h do in a search.
 *
 * Include this, and then the protocol. One call of a passage makes one access, on the state that is
 * being made. Where an access has several outcomes (a safe bit that flickers, the words of a
 * malfunctioning process), the call takes outcome number `choice` and says in `outcomes` how many
 * there were.
 */
#ifndef AFTERYOU_CHECK_REGISTERS_ACCESSES_H
#define AFTERYOU_CHECK_REGISTERS_ACCESSES_H

#define REGISTERS_STOP_AT_ACCESS
#include "protocols/language/registers.h"

#include <stddef.h>

struct register_model;

enum access_kind {
    ACCESS_NONE,
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_BIT,
    ACCESS_BEGIN,
    ACCESS_SLEEP,
    ACCESS_WAKE,
    ACCESS_AWAKE,
    ACCESS_ASK,
    ACCESS_RECALL,
    ACCESS_WHEN,
    ACCESS_FENCE,
    ACCESS_GUESS,
    ACCESS_NAMING
};

/* What the last access was, for the narrator. */
struct access {
    uint8_t kind, place;
    uint16_t index;
    word value;
    const struct source_line *line;
};

struct registers {
    const struct register_model *model;
    unsigned char *state;
    const uint8_t *process_of; /* by place */
    unsigned char *words;      /* of process 0; the next one's are `stride` bytes on */
    size_t stride;
    unsigned process; /* who moves */
    unsigned self;    /* its place */
    unsigned places;
    unsigned rivals;     /* the places that can conflict with mine, a bit each */
    unsigned request;    /* what this passage asks for: a mode, a priority (register_model.h) */
    unsigned target;     /* the mode that it converts to */
    unsigned unreliable; /* processes that malfunction, a bit each */
    bool buffered;       /* TSO: stores wait in a buffer */
    bool weak;           /* C11: stores are messages, which others may see late (weak.h) */
    bool relaxed;        /* C11: this access is; set and cleared around it */
    uint8_t newer;       /* C11: how many messages are newer than the one fetched */
    bool overflow;       /* a number outgrew its field */
    bool full;           /* a store found no room in the buffer, or in its list */
    bool naps;           /* it slept for a time, and looks again */
    bool dies;           /* who wakes others is the kernel */
    bool blind;          /* fetches of others' words find 0 */
    bool checks_draws;
    bool named;      /* places change their names (naming.c) */
    bool unfinished; /* and the fetch has accesses yet to make */
    uint8_t
        skipped; /* the place that it left out, for it is none of those gathered, + 1; 0: none */
    const char *complaint; /* a property that the access itself broke */
    uint8_t choice;
    uint8_t outcomes;
    struct access access;
};

word registers_read_unreliable(struct registers *at, unsigned place, unsigned index);
word registers_read_buffered(struct registers *at, unsigned index);
void registers_write_buffered(struct registers *at, unsigned index, word value, bool late);
word registers_read_weak(struct registers *at, unsigned place, unsigned index);
/* After the word itself was changed. */
void registers_write_weak(struct registers *at, unsigned index);
/* C11: whether the store just made has a fence, which is the next step; and that step. */
bool registers_fences_weak(struct registers *at);
void registers_fence(struct registers *at);
/* C11: a fence that orders this thread's own accesses, no more (acquire and release). */
void registers_barrier(struct registers *at);
/* naming.c, where places change their names: one access of a fetch; that the next fetch begins a
 * look at all rivals, or is one of all places; the next rival to be fetched, at the beginning
 * whoever is there; whether it is one; the greatest number that it knows to have been left. */
word registers_read_named(struct registers *at, unsigned place);
void registers_look_named(const struct registers *at, bool begins, bool wide);
unsigned registers_next_named(const struct registers *at, unsigned place);
bool registers_rival_named(const struct registers *at, unsigned place);
word registers_floor(const struct registers *at);
void registers_drain_all(struct registers *at);
bool registers_read_bit(struct registers *at, unsigned place, unsigned index);
void registers_begin_bit(struct registers *at, unsigned index, bool value);
void registers_end_bit(struct registers *at, unsigned index, bool value);
bool registers_own_bit(const struct registers *at, unsigned index);
bool registers_condition(struct registers *at);
bool registers_asleep(struct registers *at, struct passage_head *head, struct watch *watch,
                      bool *woken);
bool registers_slumbers(struct registers *at, struct passage_head *head, struct watch *watch,
                        bool *woken);
/* Whether the word of a watched place differs from what was seen. */
bool registers_differ(struct registers *at, const struct watch *watch);

enum { ASLEEP = 0x80 }; /* of passage_head.watched, above all places: it may sleep on none */
/* asks.c: what an ask does instead of a sleep. True: it has not gone on past its SLEEP. */
bool asks_rest(struct registers *at, struct passage_head *head, struct watch *watch, bool *woken);
/* a watched place wakes it, with a hint; or it has died */
void asks_hear(struct registers *at, struct passage_head *head);
bool asks_may_move(const struct passage_head *head);

/* The model's settings, as the protocol asks for them. */
bool registers_rival(const struct registers *at, unsigned place);
/* here nobody is left out */
static inline bool registers_stays(const struct registers *at, unsigned place)
{
    return registers_rival(at, place);
}
int registers_precedence(const struct registers *at, unsigned place);
unsigned registers_slots(const struct registers *at);
unsigned registers_overtake(const struct registers *at);
bool registers_conditional(const struct registers *at);
bool registers_calm(struct registers *at);
unsigned registers_strongest(const struct registers *at);
bool registers_excludes(const struct registers *at, unsigned mode, unsigned other);
bool registers_admits(const struct registers *at);
static inline unsigned registers_missed(const struct registers *at)
{
    (void)at;
    return 0; /* every place is known from the beginning */
}
bool registers_retains(const struct registers *at);
/* brief.c: looks at words alone. */
bool registers_brief(const struct registers *at);
bool registers_none_above(struct registers *at, word limit);
bool registers_none_with(struct registers *at, word mask);
bool registers_none_to_wake(struct registers *at, word mask, word asleep);
/* The steps of a keeper: registers 1 to 3 of its place are BUSY, RECALLED and the grant. */
bool registers_recall_sees(struct registers *at, unsigned place, struct recall *memory);
void registers_recall_says(struct registers *at, unsigned place, const struct recall *memory);
void registers_recall_drains(struct registers *at, unsigned place);
bool registers_recall_may(struct registers *at, unsigned place);
bool registers_recall_takes(struct registers *at, unsigned place, const struct recall *memory);
void registers_wake(struct registers *at);
void registers_wake_one(struct registers *at, unsigned place);
void registers_rouse(struct registers *at, unsigned place);
void registers_awake(struct registers *at, unsigned place);
bool registers_asked(struct registers *at, struct asked *mine, unsigned place);
void registers_answer(struct registers *at, struct asked *mine);

static inline unsigned registers_self(const struct registers *at)
{
    return at->self;
}

static inline unsigned registers_places(const struct registers *at)
{
    return at->places;
}

static inline void registers_at_line(struct registers *at, const struct source_line *line)
{
    at->access.line = line;
}

static inline void registers_note(struct registers *at, enum access_kind kind, unsigned place,
                                  unsigned index, word value)
{
    at->access.kind = (uint8_t)kind;
    at->access.place = (uint8_t)place;
    at->access.index = (uint16_t)index;
    at->access.value = value;
}

/* The least live place from `place` on other than mine; registers_places() if there is none.
 * Whoever can never conflict with me I need not read. */
static inline unsigned registers_next(const struct registers *at, unsigned place)
{
    const bool begins = place == 0;
    while (place < at->places &&
           (place == at->self || at->process_of[place] == 0xff || !(at->rivals >> place & 1)))
        place++;
    if (at->named)
        registers_look_named(at, begins, place < at->places);
    return place;
}

/* Nobody is left out: the fetch that tells is tried. Where places change their names, the first
 * fetch of a look gathers whom to look at. */
static inline unsigned registers_next_rival(const struct registers *at, unsigned place)
{
    if (!at->named)
        return registers_next(at, place);
    registers_look_named(at, place == 0, false);
    return registers_next_named(at, place);
}

static inline word *registers_of_process(const struct registers *at, unsigned process)
{
    return (word *)(void *)(at->words + process * at->stride);
}

static inline word registers_read(struct registers *at, unsigned place, unsigned index)
{
    const unsigned process = at->process_of[place];
    if (at->named && place != at->self)
        return registers_read_named(at, place);
    word value = registers_of_process(at, process)[index];
    if (__builtin_expect(at->blind, 0) && place != at->self)
        value = 0;
    else if (__builtin_expect(at->unreliable >> process & 1, 0))
        value = registers_read_unreliable(at, place, index);
    else if (at->buffered && place == at->self)
        value = registers_read_buffered(at, index);
    else if (at->weak && place != at->self)
        value = registers_read_weak(at, place, index);
    registers_note(at, ACCESS_READ, place, index, value);
    return value;
}

static inline bool registers_unfinished(const struct registers *at)
{
    return at->unfinished;
}

/* What it awaits has not come about: where a fetch is more than one access, the state does not
 * tell. */
static inline void registers_awaits(struct registers *at)
{
    at->naps |= at->named;
}

static inline void registers_write(struct registers *at, unsigned index, word value)
{
    registers_note(at, ACCESS_WRITE, at->self, index, value);
    if (at->buffered)
        registers_write_buffered(at, index, value, false);
    else
        registers_of_process(at, at->process)[index] = value;
    if (at->weak)
        registers_write_weak(at, index);
}

static inline bool registers_fences(struct registers *at)
{
    return at->weak && registers_fences_weak(at);
}

static inline void registers_write_late(struct registers *at, unsigned index, word value)
{
    registers_note(at, ACCESS_WRITE, at->self, index, value);
    if (at->buffered)
        registers_write_buffered(at, index, value, true);
    else
        registers_of_process(at, at->process)[index] = value;
    if (at->weak)
        registers_write_weak(at, index);
}

static inline word registers_own(struct registers *at, unsigned index)
{
    return at->buffered ? registers_read_buffered(at, index)
                        : registers_of_process(at, at->process)[index];
}

static inline void registers_keep(struct registers *at, unsigned index, word value)
{
    registers_of_process(at, at->process)[index] = value;
}

/* Requests: their first two bits are a mode (and, in the allocation problem, what is asked), the
 * third a priority (and there, how many units). */
enum {
    REQUEST_EXCLUSIVE = 0,
    REQUEST_SHARED = 1,
    REQUEST_RELEASE = 2,
    /* where passages are converted: excludes its like, and not those that share */
    REQUEST_PROTECTED = 2,
    /* for another resource: its place has passed to somebody who is no rival */
    REQUEST_STRANGER = 3,
    REQUEST_NAME = 2, /* where places change their names: and the name in the first bit */
    REQUEST_URGENT = 4,
    REQUEST_TWO = 4 /* units; without it, one */
};

static inline unsigned request_units(unsigned request)
{
    return request & REQUEST_TWO ? 2 : 1;
}

static inline bool request_conflict(unsigned a, unsigned b)
{
    return !((a & 3) == REQUEST_SHARED && (b & 3) == REQUEST_SHARED) &&
           ((a & 3) == REQUEST_STRANGER) == ((b & 3) == REQUEST_STRANGER);
}

/* A stranger's mode says as much as another's: only that it is no rival tells them apart. */
static inline unsigned registers_mode(const struct registers *at)
{
    const unsigned mode = at->request & 3;
    return mode == REQUEST_STRANGER ? REQUEST_EXCLUSIVE : mode;
}

static inline bool registers_conflict(const struct registers *at, unsigned place, unsigned mode)
{
    return at->rivals >> place & 1 && request_conflict(at->request, mode);
}

bool registers_conflict_between(const struct registers *at, unsigned j, unsigned mode_j, unsigned k,
                                unsigned mode_k);

static inline void registers_broken(struct registers *at, const char *invariant,
                                    const char *condition, const char *file, int line)
{
    (void)condition;
    (void)file;
    (void)line;
    at->complaint = invariant;
}

/* An oracle: both answers are tried. */
static inline bool registers_guess(struct registers *at)
{
    registers_note(at, ACCESS_GUESS, at->self, 0, at->choice);
    at->outcomes = 2;
    return at->choice;
}

/* Where the protocol's numbers are to be bounded: whether `largest` was ever drawn by anybody. */
void registers_check_draw(struct registers *at, word largest);

/* The number after `largest`, in a field of `bits` bits. */
static inline word registers_draw(struct registers *at, word largest, unsigned bits)
{
    if (at->checks_draws)
        registers_check_draw(at, largest);
    if (at->named && registers_floor(at) > largest)
        largest = registers_floor(at);
    if (largest + 1u >= 1u << bits)
        at->overflow = true;
    return (word)(largest + 1);
}

#endif
