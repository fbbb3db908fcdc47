/* SPDX-License-Identifier: MIT */
/* A register protocol as a system to search: how a state is laid out, where it begins, and what the
 * search may ask. */
#include <errno.h>
#include <string.h>

#include "check/registers/naming_state.h"
#include "check/registers/narrate.h"
#include "check/registers/register_judge.h"
#include "check/registers/register_model.h"
#include "check/registers/symmetry.h"
#include "check/registers/weak.h"

/* The process begins, and goes on past its doorway, alone. */
static void pass_doorway(const struct register_model *model, unsigned char *state, unsigned who)
{
    const struct passage_head *my = model_passage(model, state, who);
    struct move move = {.process = (uint8_t)who, .kind = MOVE_START};
    struct registers at;
    move.choice = (uint8_t)__builtin_ctz(model->requests);
    while (!my->queued && !register_model_make(model, state, move, &at))
        move = (struct move){.process = (uint8_t)who, .kind = MOVE_STEP};
}

static void model_begin(const struct system *system, unsigned char *state)
{
    const struct register_model *model = system->context;
    memset(state, 0, system->size);
    if (model->weak)
        weak_begin(model, state);
    /* Those whose passages never end have begun. */
    for (unsigned who = 0; model->protocol->endless && who + 1 < system->processes; who++) {
        struct registers at;
        const unsigned request = (unsigned)__builtin_ctz(model->requests);
        register_model_make(
            model, state,
            (struct move){.process = (uint8_t)who, .kind = MOVE_START, .choice = (uint8_t)request},
            &at);
    }
    if (model->stopped && model->stopped_late)
        for (unsigned who = 0; who < system->processes; who++)
            if (!(model->stopped >> model->place_of[who] & 1))
                pass_doorway(model, state, who);
    for (unsigned who = 0; who < system->processes; who++)
        if (model->stopped >> model->place_of[who] & 1) {
            struct model_process *process = model_process(model, state, who);
            process->part = PART_ENTERING;
            process->halted = 1;
            model->protocol->stop(model, state, who, model->stopped_how[model->place_of[who]]);
        }
}

static void lay_out(struct register_model *model)
{
    const struct register_protocol *protocol = model->protocol;
    model->words = protocol->words ? protocol->words(model->places) : 1;
    model->bits = protocol->bits ? protocol->bits(model->places) : 0;
    model->words_at = (sizeof(struct model_process) + protocol->passage_size + 1) & ~(size_t)1;
    model->bits_at = model->words_at + sizeof(word) * model->words;
    model->buffer_at = (model->bits_at + (model->bits + 7) / 8 + 1) & ~(size_t)1;
    model->naming_at = model->buffer_at + (model->tso ? sizeof(struct buffer) : 0);
    model->stride =
        (model->naming_at + (model->renames ? sizeof(struct naming_state) : 0) + 7) & ~(size_t)7;
    if (model->weak)
        weak_lay_out(model);
}

int register_model_open(struct register_model *model)
{
    const struct register_protocol *protocol = model->protocol;
    if (model->places < protocol->places_least || model->places > protocol->places_most)
        return -EINVAL;
    if (model->stopped && !protocol->stop)
        return -EINVAL;
    if (protocol->operations) {
        model->slots = model->places;
        model->deaths = false;
    }
    if (!model->slots)
        model->slots = 1;
    if (!model->needs)
        model->needs = 1;
    if (!model->some_rivals)
        memset(model->rivals, 0xff, sizeof model->rivals);
    if (!model->requests)
        model->requests =
            protocol->default_requests ? protocol->default_requests : 1u << REQUEST_EXCLUSIVE;
    if (model->strangers)
        model->requests |= 1u << REQUEST_STRANGER;
    if (!model->alive)
        model->alive = (1u << model->places) - 1;
    if (model->places > PROCESSES_MOST)
        return -EINVAL;
    lay_out(model);
    unsigned processes = 0;
    memset(model->process_of, PLACE_UNUSED, sizeof model->process_of);
    for (unsigned place = 0; place < model->places; place++)
        if (model->alive >> place & 1) {
            model->place_of[processes] = (uint8_t)place;
            model->process_of[place] = (uint8_t)processes++;
        }
    model->system = (struct system){
        .name = protocol->name,
        .size = model->stride * processes,
        .part_size = model->stride,
        .processes = processes,
        .all_conflict =
            !model->some_rivals && !model->renames &&
            !(model->requests & (1u << REQUEST_SHARED | 1u << (REQUEST_SHARED | REQUEST_URGENT) |
                                 1u << REQUEST_STRANGER)),
        .context = model,
        .begin = model_begin,
        .successors = register_model_successors,
        .judge = register_judge,
        .status = register_status,
        .able = model->problem == PROBLEM_ALLOCATION ? register_able : NULL,
        .precedes = model->writers_first || model->by_priority ? register_precedes : NULL,
        .rests = register_rests,
        .reaches = register_model_reaches,
        .name_goal = register_model_name_goal,
        .conflict = register_conflict,
        .permitted = protocol->in_turn ? register_permitted : NULL,
        .legitimate = model->errors ? register_legitimate : NULL,
        .narrate = register_model_narrate,
    };
    model->system.goals = register_model_goals(model);
    if (model->symmetry) {
        model->exact = model->system;
        model->system.exact = &model->exact;
        model->system.successors = symmetry_successors;
    }
    return 0;
}
