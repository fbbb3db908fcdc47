/* SPDX-License-Identifier: MIT */
/* `region` under the checker: in order, writers first, the allocation problem; as printed, and broken. */
#include <stdio.h>

#include "check/models/models.h"
#include "check/models/renumber.h"
#include "protocols/region.h"

#define RULES(...) ((struct region_rules){__VA_ARGS__})

MODEL_PASSAGE(enter, region, region_enter(my, at))
MODEL_PASSAGE(enter_writers_first, region, region_run(my, at, RULES(.precedence = REGION_WRITERS_FIRST)))
MODEL_PASSAGE(enter_able_first, region, region_run(my, at, RULES(.precedence = REGION_ABLE_FIRST)))
MODEL_PASSAGE(enter_printed, region, region_run(my, at, RULES(.no_choosing = true)))
MODEL_PASSAGE(enter_no_pair, region, region_run(my, at, RULES(.precedence = REGION_WRITERS_FIRST, .no_pair = true)))
MODEL_PASSAGE(enter_stale_mode, region, region_run(my, at, RULES(.stale_mode = true)))
MODEL_PASSAGE(leave, region, region_leave(my, at))
MODEL_PASSAGE(leave_precede, region, region_withdraw(my, at, RULES(.keep_precede = true)))

/* R, and PAIR for every place. */
static unsigned words(unsigned places)
{
    return 1 + places;
}

static word dead(unsigned index, word value)
{
    return index == 0 ? region_outside(value) : 0;
}

static bool active(word first)
{
    return first & (REGION_IN | REGION_CHOOSING);
}

/* A malfunctioning process: R as anything, with a number that somebody has; PAIR as anything. */
static unsigned domain(const struct registers *at, unsigned index, unsigned value, word *out)
{
    if (index != 0) {
        *out = pair_word(value & 3, value >> 2);
        return 16;
    }
    static const unsigned char flags[] = {0, REGION_CHOOSING, REGION_IN, REGION_IN | REGION_ABLE};
    word most = 0;
    for (unsigned who = 0; who < at->model->system.processes; who++) {
        const word number = region_number(model_words(at->model, at->state, who)[0]);
        most = number > most ? number : most;
    }
    const unsigned mode = value >> 2 & 1 ? REGION_SHARED : REGION_EXCLUSIVE;
    *out = region_word(flags[value & 3], mode, (word)(value >> 3));
    return 8 * (most + 1u);
}

/* D3: "process i cannot enter its critical section if #(j) < #(i) and should·precede(i,j) = false", where that does
 * not depend on what may change: so it says nothing where conditions decide. */
static bool in_turn(const struct register_model *model, const unsigned char *state, unsigned i, unsigned j,
                    enum region_precedence precedence)
{
    const word mine = model_words(model, state, i)[0], its = model_words(model, state, j)[0];
    return region_before(mine, model->place_of[i], its, model->place_of[j]) || region_should(precedence, mine, its);
}

static bool in_order(const struct register_model *model, const unsigned char *state, unsigned i, unsigned j)
{
    return in_turn(model, state, i, j, REGION_IN_ORDER);
}

static bool in_order_of_writers(const struct register_model *model, const unsigned char *state, unsigned i, unsigned j)
{
    return in_turn(model, state, i, j, REGION_WRITERS_FIRST);
}

static word with_number(word first, word number)
{
    return (word)((first & ((1u << REGION_NUMBER_SHIFT) - 1)) | (unsigned)number << REGION_NUMBER_SHIFT);
}

static bool in_doorway(const struct register_model *model, const unsigned char *state, unsigned who)
{
    const struct passage_head *my = model_passage(model, state, who);
    return model_process(model, state, who)->part == PART_ENTERING && !my->queued;
}

/* Calls `visit` on every word of the state that holds a number in R's place. */
static void each_word(const struct register_model *model, unsigned char *state,
                      void (*visit)(struct renumber *numbers, word *first), struct renumber *numbers)
{
    for (unsigned who = 0; who < model->system.processes; who++) {
        visit(numbers, &model_words(model, state, who)[0]);
        struct buffer *buffer = model_buffer(model, state, who);
        if (model->tso)
            for (unsigned at = 0; at < buffer->count; at++)
                if (buffer->store[at].index == 0)
                    visit(numbers, &buffer->store[at].value);
    }
}

static void collect(struct renumber *numbers, word *first)
{
    renumber_add(numbers, region_number(*first));
}

static void put_back(struct renumber *numbers, word *first)
{
    *first = with_number(*first, numbers->fresh[region_number(*first)]);
}

static void forget_outside(struct renumber *numbers, word *first)
{
    (void)numbers;
    if (!(*first & REGION_IN))
        *first = with_number(*first, 0);
}

/* Numbers by rank (renumber.h). Where no doorway is open, the number of a place outside decides nothing: the next draw
 * is above all that are in, with it or without it. It is forgotten. */
static void normalise(const struct register_model *model, unsigned char *state)
{
    struct renumber numbers = {0};
    unsigned doorways = 0;
    for (unsigned who = 0; who < model->system.processes; who++)
        if (in_doorway(model, state, who)) {
            const struct region_passage *my = model_passage(model, state, who);
            renumber_add(&numbers, my->number);
            doorways++;
        }
    if (!doorways)
        each_word(model, state, forget_outside, &numbers);
    each_word(model, state, collect, &numbers);
    if (!renumber_close_gaps(&numbers, doorways + 1))
        return;
    for (unsigned who = 0; who < model->system.processes; who++)
        if (in_doorway(model, state, who)) {
            struct region_passage *my = model_passage(model, state, who);
            my->number = numbers.fresh[my->number];
        }
    each_word(model, state, put_back, &numbers);
}

static void write_value(unsigned index, word value, char *text, size_t room)
{
    if (index == 0)
        snprintf(text, room, "(%s%s,mode=%u,number=%u)",
                 value & REGION_IN         ? "in"
                 : value & REGION_CHOOSING ? "choosing"
                                           : "out",
                 value & REGION_ABLE ? ",able" : "", region_mode(value), region_number(value));
    else
        snprintf(text, room, "(%s%s,number=%u)", value & PAIR_PRECEDE ? "precedes" : "does not precede",
                 value & PAIR_CHOOSING ? ",choosing" : "", pair_number(value));
}

static const char *name_register(unsigned places, unsigned place, unsigned index, char *text, size_t room)
{
    (void)places;
    if (index == 0)
        snprintf(text, room, "R%u", place);
    else
        snprintf(text, room, "PAIR%u,%u", place, index - 1);
    return text;
}

enum {
    MODES = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED,
    ALLOCATE = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_RELEASE
};

#define REGION_MODEL(identifier, title, text, run, withdraw, turn, problem, found)                                     \
    const struct register_protocol identifier = {                                                                      \
        .name = title,                                                                                                 \
        .summary = text,                                                                                               \
        .places_least = 2,                                                                                             \
        .places_most = PROCESSES_MOST,                                                                                 \
        .passage_size = sizeof(struct region_passage),                                                                 \
        .words = words,                                                                                                \
        .enter = run,                                                                                                  \
        .leave = withdraw,                                                                                             \
        .dead = dead,                                                                                                  \
        .domain = domain,                                                                                              \
        .active = active,                                                                                              \
        .normalise = normalise,                                                                                        \
        .in_turn = turn,                                                                                               \
        .write_value = write_value,                                                                                    \
        .name_register = name_register,                                                                                \
        .default_requests = problem == PROBLEM_ALLOCATION ? ALLOCATE : MODES,                                          \
        .modes = true,                                                                                                 \
        .conditions = true,                                                                                            \
        .allocates = problem == PROBLEM_ALLOCATION,                                                                    \
        .refutes = found,                                                                                              \
    };

REGION_MODEL(model_region, "region", "Lamport 1976, the general algorithm: modes, when, in order", enter, leave,
             in_order, PROBLEM_EXCLUSION, NULL)
REGION_MODEL(model_region_writers_first, "region-writers-first", "a writer should precede a reader",
             enter_writers_first, leave, in_order_of_writers, PROBLEM_EXCLUSION, NULL)
REGION_MODEL(model_region_allocation, "region-allocation", "who can should precede who cannot: the allocation problem",
             enter_able_first, leave, NULL, PROBLEM_ALLOCATION, NULL)
REGION_MODEL(model_region_allocation_in_order, "region-allocation-in-order",
             "a release waits behind an acquire that waits for it", enter, leave, in_order, PROBLEM_ALLOCATION,
             "progress")
REGION_MODEL(model_region_printed, "region-printed", "as printed, without choosing: D3 is false", enter_printed, leave,
             in_order, PROBLEM_EXCLUSION, "turn")
REGION_MODEL(model_region_without_pair, "region-without-pair", "precede[i,j] is set outside region(i,j)", enter_no_pair,
             leave, in_order_of_writers, PROBLEM_EXCLUSION, "exclusion")
REGION_MODEL(model_region_stale_mode, "region-stale-mode", "conflict(i,j) is not read inside region(i,j)",
             enter_stale_mode, leave, in_order, PROBLEM_EXCLUSION, "lockout")
REGION_MODEL(model_region_keep_precede, "region-keep-precede", "the epilogue leaves precede[i,j] true", enter,
             leave_precede, in_order, PROBLEM_EXCLUSION, "progress")
