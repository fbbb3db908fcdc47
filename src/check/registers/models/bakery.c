/* SPDX-License-Identifier: MIT */
/* `bakery` under the checker, and without the parts that look redundant. */
#include <stdio.h>

#include "check/registers/models/models.h"
#include "check/registers/models/renumber.h"
#include "protocols/registers/bakery.h"

MODEL_PASSAGE(enter, bakery, bakery_enter(my, at))
MODEL_PASSAGE(enter_without_choosing, bakery,
              bakery_run(my, at, (struct bakery_without){.choosing = true}))
MODEL_PASSAGE(enter_without_incarnation, bakery,
              bakery_run(my, at, (struct bakery_without){.incarnation = true}))
MODEL_PASSAGE(enter_without_sharing, bakery,
              (at->request = REQUEST_EXCLUSIVE, bakery_enter(my, at)))
MODEL_PASSAGE(leave, bakery, bakery_leave(my, at))

static word dead(unsigned index, word value)
{
    (void)index;
    return bakery_dead(value);
}

static bool active(word first)
{
    return bakery_state(first) != BAKERY_IDLE;
}

static word fence(word first)
{
    return bakery_number(first);
}

static void write_value(unsigned index, word value, char *text, size_t room)
{
    static const char *const states[] = {"idle", "choosing", "queued", "?"};
    (void)index;
    snprintf(text, room, "%s %u%s", states[bakery_state(value)], bakery_number(value),
             bakery_mode(value) == REQUEST_SHARED ? " shared" : "");
}

static word with_number(word w, word number)
{
    return bakery_word(bakery_state(w), bakery_mode(w), bakery_incarnation(w), number);
}

/* Whether an incarnation was seen is all that matters of it: the current one is 0, an earlier one
 * is UNLIKE. */
enum { UNLIKE = (1 << INCARNATION_BITS) - 1 };

static word with_incarnation(word w, word incarnation)
{
    return bakery_word(bakery_state(w), bakery_mode(w), incarnation, bakery_number(w));
}

static bool in_doorway(const struct register_model *model, const unsigned char *state, unsigned who)
{
    const struct bakery_passage *my = model_passage(model, state, who);
    return model_process(model, state, who)->part == PART_ENTERING && !my->head.queued;
}

/* The incarnations, as far as they matter. Only a death leaves one that is not 0. */
static void forget_incarnations(const struct register_model *model, unsigned char *state)
{
    for (unsigned who = 0; who < model->system.processes; who++) {
        word *w = model_words(model, state, who);
        if (bakery_incarnation(*w) == 0)
            continue;
        for (unsigned other = 0; other < model->system.processes; other++) {
            struct bakery_passage *my = model_passage(model, state, other);
            if (my->first && model->process_of[my->j] == who)
                my->first = with_incarnation(my->first, UNLIKE);
        }
        *w = with_incarnation(*w, 0);
    }
}

static void renumber_word(const struct renumber *numbers, word *w)
{
    *w = with_number(*w, numbers->fresh[bakery_number(*w)]);
}

static void renumber_all(const struct register_model *model, unsigned char *state,
                         const struct renumber *numbers)
{
    for (unsigned who = 0; who < model->system.processes; who++) {
        struct bakery_passage *my = model_passage(model, state, who);
        renumber_word(numbers, model_words(model, state, who));
        if (my->first)
            renumber_word(numbers, &my->first);
        if (in_doorway(model, state, who))
            my->number = numbers->fresh[my->number];
        if (model->tso)
            for (unsigned at = 0; at < model_buffer(model, state, who)->count; at++)
                renumber_word(numbers, &model_buffer(model, state, who)->store[at].value);
    }
}

static void gather_buffered(const struct register_model *model, const unsigned char *state,
                            struct renumber *numbers)
{
    for (unsigned who = 0; who < model->system.processes; who++)
        for (unsigned at = 0; at < model_buffer(model, state, who)->count; at++)
            renumber_add(numbers, bakery_number(model_buffer(model, state, who)->store[at].value));
}

static void normalise(const struct register_model *model, unsigned char *state)
{
    struct renumber numbers;
    unsigned doorways = 0;
    word incarnations = 0;
    numbers.present = 0;
    for (unsigned who = 0; who < model->system.processes; who++) {
        const struct bakery_passage *my = model_passage(model, state, who);
        const word w = *model_words(model, state, who);
        incarnations |= bakery_incarnation(w);
        renumber_add(&numbers, bakery_number(w));
        if (my->first)
            renumber_add(&numbers, bakery_number(my->first));
        if (in_doorway(model, state, who)) {
            renumber_add(&numbers, my->number);
            doorways++;
        }
    }
    if (incarnations)
        forget_incarnations(model, state);
    if (model->tso)
        gather_buffered(model, state, &numbers);
    renumber_add_fence(&numbers, model, state);
    if (renumber_close_gaps(&numbers, doorways + 1)) {
        renumber_all(model, state, &numbers);
        renumber_fence(&numbers, model, state);
    }
}

/* D3, by the numbers themselves: `i` has entered, `j` is in the queue. */
static bool in_turn(const struct register_model *model, const unsigned char *state, unsigned i,
                    unsigned j)
{
    return bakery_before(bakery_number(model_words(model, state, i)[0]), i,
                         bakery_number(model_words(model, state, j)[0]), j);
}

static place_number *cursor(void *passage, unsigned *point)
{
    struct bakery_passage *my = passage;
    *point = my->head.point;
    return my->head.point ? &my->j : NULL;
}

/* Two that are in the queue are compared, and by these alone. */
static uint64_t numbers(const struct register_model *model, const unsigned char *state,
                        unsigned place)
{
    const word w = *model_words(model, state, place);
    uint64_t found = bakery_state(w) == BAKERY_QUEUED ? UINT64_C(1) << bakery_number(w) : 0;
    for (unsigned at = 0; model->tso && at < model_buffer(model, state, place)->count; at++)
        found |= UINT64_C(1) << bakery_number(model_buffer(model, state, place)->store[at].value);
    return found;
}

static const char *const firsts[] = {"maximum", "look", NULL};

#define BAKERY_MODEL(identifier, title, text, run, found)                                          \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = PROCESSES_MOST,                                                             \
        .passage_size = sizeof(struct bakery_passage),                                             \
        .enter = run,                                                                              \
        .leave = leave,                                                                            \
        .dead = dead,                                                                              \
        .active = active,                                                                          \
        .normalise = normalise,                                                                    \
        .in_turn = in_turn,                                                                        \
        .fence = fence,                                                                            \
        .write_value = write_value,                                                                \
        .promises = PROMISES_FAIR | 1u << PROPERTY_ORDER | 1u << PROPERTY_OVERTAKING |             \
                    1u << PROPERTY_DOORWAY,                                                        \
        .default_requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED,                        \
        .modes = true,                                                                             \
        .begins_with_write = true,                                                                 \
        .cursor = cursor,                                                                          \
        .numbers = numbers,                                                                        \
        .firsts = firsts,                                                                          \
        .refutes = found,                                                                          \
    };

BAKERY_MODEL(model_bakery, "bakery", "Lamport 1976: the simple region, in one word a place", enter,
             NULL)
BAKERY_MODEL(model_bakery_without_choosing, "bakery-without-choosing",
             "nobody waits for a place that is choosing", enter_without_choosing, "exclusion")
BAKERY_MODEL(model_bakery_without_incarnation, "bakery-without-incarnation",
             "as the paper has it: a process that dies again and again locks others out",
             enter_without_incarnation, "reliability")
BAKERY_MODEL(model_bakery_without_sharing, "bakery-without-sharing",
             "takes every request for an exclusive one", enter_without_sharing, "reached")
