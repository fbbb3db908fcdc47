/* SPDX-License-Identifier: MIT */
/* Places that change their names, under the checker: what a state has of them.
 *
 * The text is protocols/registers/naming.h. There are two names. A life, and a count of claims, is
 * only ever compared with what it was: so the state keeps no such numbers, but who has seen the
 * present one.
 */
#ifndef AFTERYOU_CHECK_REGISTERS_NAMING_STATE_H
#define AFTERYOU_CHECK_REGISTERS_NAMING_STATE_H

#include "check/registers/register_model.h"

enum naming_life { NAMING_ALIVE, NAMING_CLAIMED, NAMING_DEAD };

struct naming_sight {
    uint8_t alive : 1;
};

#include "protocols/registers/naming_parts.h"

enum { NAMES = 2 };

/* What a process knows of a place. */
struct naming_known {
    uint8_t met : 1;
    uint8_t life : 1;       /* its life is the one that is known */
    uint8_t generation : 1; /* likewise but for that it may be being claimed, or dead */
    uint8_t seen : 1;       /* its life is the one that was seen when the present meeting began */
    uint8_t seen_generation : 1; /* likewise */
    uint8_t rival : 1;
    uint8_t alive : 1;
};

/* A fetch: the look round that it may begin, and the word itself. */
struct naming_fetch {
    PART_HEAD
    place_number place;
    uint8_t holds;
    struct naming_gather gather;
    struct naming_reading reading;
};

/* Behind the public words of each process. */
struct naming_state {
    uint8_t life : 2; /* enum naming_life, of its place */
    uint8_t name : 1;
    uint8_t tag : 1;
    /* of what follows, only its own process knows */
    uint8_t gathered : 1; /* `claims` is what it was when they were gathered */
    uint8_t counted : 1;  /* likewise; but they may have to be gathered anew */
    uint8_t noted : 1;    /* `claims` is what it was when they began to be */
    uint8_t begins : 1;   /* the next fetch is the first of a look at all rivals */
    uint8_t wide : 1;     /* the next fetch is of one among all places */
    uint8_t rivals;       /* as gathered, a bit each */
    word floor;           /* the greatest number that it knows to have been drawn for its names */
    word left;            /* the floor of a name: process 0 keeps the first one's, 1 the other's */
    struct naming_known of[WATCH_MOST];
    struct naming_fetch fetch;
    struct naming_renaming renaming;
    struct naming_gather settling;
};

static inline struct naming_state *naming_of(const struct register_model *model,
                                             const unsigned char *state, unsigned process)
{
    return (struct naming_state *)(uintptr_t)(state + process * model->stride + model->naming_at);
}

/* Whether two places have a resource in common. */
static inline bool naming_meet_each_other(const struct register_model *model,
                                          const unsigned char *state, unsigned i, unsigned j)
{
    return !model->renames || naming_of(model, state, i)->name == naming_of(model, state, j)->name;
}

/* A word of that place that was fetched, and is no longer its owner's: it will be fetched again. */
static inline void naming_forget_word(const struct register_model *model,
                                      const unsigned char *state, unsigned process, unsigned place)
{
    struct naming_state *my = naming_of(model, state, process);
    if (my->fetch.place == place && !my->of[place].life)
        my->fetch.reading.w = 0;
}

/* Whether the process may take this name now: another, or any if its place is to be claimed. */
bool naming_may_take(const struct register_model *model, const unsigned char *state,
                     unsigned process, unsigned name);
/* One access of a process that changes its name. True: it has. */
bool naming_step(struct registers *at);
/* Makes those states one that differ in what has no future. */
void naming_tidy(const struct register_model *model, unsigned char *state);
/* Its fetch is given up with its passage. */
void naming_abandon(struct registers *at);
/* It has died: its place is nobody's. */
void naming_die(struct registers *at);

#endif
