/* SPDX-License-Identifier: MIT */
/* Transient errors: a public word of a process becomes anything that it can hold, and the process
 * does not know.
 *
 * They are not counted. A search with them finds every state that errors can lead to; what is asked
 * of the graph (progress, lockout, recovery) is asked of runs without a further error.
 */
#include <string.h>

#include "check/registers/register_model.h"

static bool may_strike(const struct register_model *model, const unsigned char *state,
                       unsigned process)
{
    const struct passage_head *my = model_passage(model, state, process);
    return model->errors == ERRORS_ANYWHERE ||
           (model_process(model, state, process)->part == PART_ENTERING && my->queued);
}

/* Registers as the domain of words asks for them. */
static struct registers registers_at(const struct register_model *model, unsigned char *state,
                                     unsigned process)
{
    return (struct registers){.model = model,
                              .state = state,
                              .process_of = model->process_of,
                              .words = state + model->words_at,
                              .stride = model->stride,
                              .process = process,
                              .self = model->place_of[process],
                              .places = model->places};
}

unsigned errors_count(const struct register_model *model, unsigned char *state, unsigned process)
{
    const struct registers at = registers_at(model, state, process);
    unsigned count = 0;
    word value = 0;
    if (may_strike(model, state, process))
        for (unsigned index = 0; index < model->protocol->fragile; index++)
            count += model->protocol->domain(&at, index, 0, &value);
    return count;
}

void errors_strike(struct registers *at, unsigned which)
{
    for (unsigned index = 0; index < at->model->protocol->fragile; index++) {
        word value = 0;
        const unsigned values = at->model->protocol->domain(at, index, which, &value);
        if (which < values) {
            registers_of_process(at, at->process)[index] = value;
            registers_note(at, ACCESS_WRITE, at->self, index, value);
            return;
        }
        which -= values;
    }
}

static word should_be(const struct register_model *model, unsigned index, word value)
{
    return model->protocol->dead ? model->protocol->dead(index, value) : 0;
}

bool errors_linger(const struct register_model *model, const unsigned char *state, unsigned process)
{
    const word *words = model_words(model, state, process);
    if (model_process(model, state, process)->part != PART_IDLE)
        return false;
    for (unsigned index = 0; index < model->protocol->repairs; index++)
        if (words[index] != should_be(model, index, words[index]))
            return true;
    return false;
}

void errors_repair(struct registers *at)
{
    word *words = registers_of_process(at, at->process);
    for (unsigned index = 0; index < at->model->protocol->repairs; index++)
        words[index] = should_be(at->model, index, words[index]);
    registers_note(at, ACCESS_WRITE, at->self, 0, words[0]);
}
