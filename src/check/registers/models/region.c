/* SPDX-License-Identifier: MIT */
/* `region` under the checker: in order, by class, the allocation problem; as printed, and broken.
 */
#include <stdio.h>

#include "check/registers/models/models.h"
#include "check/registers/models/renumber.h"
#include "protocols/registers/region.h"

static enum region_precedence precedence_of(const struct register_model *model)
{
    if (model->problem == PROBLEM_ALLOCATION)
        return REGION_ABLE_FIRST;
    return model->writers_first || model->by_priority ? REGION_BY_CLASS : REGION_IN_ORDER;
}

#define RULES(...) ((struct region_rules){.precedence = precedence_of(at->model), __VA_ARGS__})

MODEL_PASSAGE(enter, region, region_run(my, at, RULES()))
MODEL_PASSAGE(enter_printed, region, region_run(my, at, RULES(.no_choosing = true)))
MODEL_PASSAGE(enter_no_pair, region, region_run(my, at, RULES(.no_pair = true)))
MODEL_PASSAGE(enter_stale_mode, region, region_run(my, at, RULES(.stale_mode = true)))
MODEL_PASSAGE(enter_in_order, region, region_enter(my, at))
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
    const unsigned mode = value >> 2 & 1 ? REQUEST_SHARED : REQUEST_EXCLUSIVE;
    *out = region_word(flags[value & 3], mode, (word)(value >> 3));
    return 8 * (most + 1u);
}

static bool should_precede(const struct register_model *model, const struct model_process *i,
                           const struct model_process *j)
{
    if (model->by_priority)
        return i->request & REQUEST_URGENT && !(j->request & REQUEST_URGENT);
    return model->writers_first && (i->request & 3) != REQUEST_SHARED &&
           (j->request & 3) == REQUEST_SHARED;
}

/* D3: "process i cannot enter its critical section if #(j) < #(i) and should·precede(i,j) = false",
 * where that does not depend on what may change: so it says nothing where conditions decide. */
static bool in_turn(const struct register_model *model, const unsigned char *state, unsigned i,
                    unsigned j)
{
    return model->problem == PROBLEM_ALLOCATION ||
           region_before(model_words(model, state, i)[0], model->place_of[i],
                         model_words(model, state, j)[0], model->place_of[j]) ||
           should_precede(model, model_process(model, state, i), model_process(model, state, j));
}

static word with_number(word first, word number)
{
    return (word)((first & ((1u << REGION_NUMBER_SHIFT) - 1)) | (unsigned)number
                                                                    << REGION_NUMBER_SHIFT);
}

static bool in_doorway(const struct register_model *model, const unsigned char *state, unsigned who)
{
    const struct passage_head *my = model_passage(model, state, who);
    return model_process(model, state, who)->part == PART_ENTERING && !my->queued;
}

/* Calls `visit` on every word of the state that holds a number in R's place. */
static void each_word(const struct register_model *model, unsigned char *state,
                      void (*visit)(struct renumber *numbers, word *first),
                      struct renumber *numbers)
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

/* Numbers by rank (renumber.h). Where no doorway is open, the number of a place outside decides
 * nothing: the next draw is above all that are in, with it or without it. It is forgotten. */
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
        snprintf(text, room, "(%s%s,number=%u)",
                 value & PAIR_PRECEDE ? "precedes" : "does not precede",
                 value & PAIR_CHOOSING ? ",choosing" : "", pair_number(value));
}

static const char *name_register(unsigned places, unsigned place, unsigned index, char *text,
                                 size_t room)
{
    (void)places;
    if (index == 0)
        snprintf(text, room, "R%u", place);
    else
        snprintf(text, room, "PAIR%u,%u", place, index - 1);
    return text;
}

#define REGION_MODEL(identifier, title, text, run, withdraw, found)                                \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = PROCESSES_MOST,                                                             \
        .default_places = 2,                                                                       \
        .passage_size = sizeof(struct region_passage),                                             \
        .words = words,                                                                            \
        .enter = run,                                                                              \
        .leave = withdraw,                                                                         \
        .dead = dead,                                                                              \
        .domain = domain,                                                                          \
        .active = active,                                                                          \
        .normalise = normalise,                                                                    \
        .in_turn = in_turn,                                                                        \
        .write_value = write_value,                                                                \
        .name_register = name_register,                                                            \
        .default_requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED,                        \
        .promises = 1u << PROPERTY_LOCKOUT | 1u << PROPERTY_ORDER | 1u << PROPERTY_OVERTAKING |    \
                    1u << PROPERTY_DOORWAY,                                                        \
        .begins_with_write = true,                                                                 \
        .modes = true,                                                                             \
        .conditions = true,                                                                        \
        .priorities = true,                                                                        \
        .refutes = found,                                                                          \
    };

REGION_MODEL(model_region, "region",
             "Lamport 1976, the general algorithm: modes, when, should precede", enter, leave, NULL)
REGION_MODEL(model_region_printed, "region-printed", "as printed, without choosing: D3 is false",
             enter_printed, leave, "exclusion")
REGION_MODEL(model_region_without_pair, "region-without-pair",
             "precede[i,j] is set outside region(i,j); with --precedence writers-first",
             enter_no_pair, leave, "exclusion")
REGION_MODEL(model_region_stale_mode, "region-stale-mode",
             "conflict(i,j) is not read inside region(i,j)", enter_stale_mode, leave, "lockout")
REGION_MODEL(model_region_keep_precede, "region-keep-precede",
             "the epilogue leaves precede[i,j] true", enter, leave_precede, "progress")
REGION_MODEL(
    model_region_in_order, "region-in-order",
    "conditions decide nothing: with --units, a release waits behind an acquire that waits for it",
    enter_in_order, leave, "progress")
