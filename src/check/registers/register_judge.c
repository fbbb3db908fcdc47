/* SPDX-License-Identifier: MIT */
/* How the states and moves of a register protocol are judged. */
#include "check/registers/register_judge.h"

#include "check/registers/naming_state.h"

static const struct register_model *model_of(const struct system *system)
{
    return system->context;
}

/* What it has, or waits for. */
static unsigned wanted(const struct model_process *process)
{
    return process->part == PART_CONVERTING ? process->target : process->request;
}

bool register_conflict(const struct system *system, const unsigned char *state, unsigned i,
                       unsigned j)
{
    const struct register_model *model = model_of(system);
    return model_rivals(model, model->place_of[i], model->place_of[j]) &&
           naming_meet_each_other(model, state, i, j) &&
           model_excludes(model, wanted(model_process(model, state, i)),
                          wanted(model_process(model, state, j)));
}

/* Likewise of what they have: of two that are inside. */
static bool exclude(const struct register_model *model, const unsigned char *state, unsigned i,
                    unsigned j)
{
    return model_rivals(model, model->place_of[i], model->place_of[j]) &&
           naming_meet_each_other(model, state, i, j) &&
           model_excludes(model, model_process(model, state, i)->request,
                          model_process(model, state, j)->request);
}

/* What must hold at the very move that enters: its condition (D2), and its turn (D3). NULL if it
 * does. */
const char *register_entry(const struct register_model *model, const unsigned char *state,
                           unsigned who)
{
    /* With more slots than one, somebody else inside may have made it false meanwhile. */
    if (model->problem == PROBLEM_ALLOCATION && model->slots == 1 &&
        !model_condition(model, state, who))
        return "condition";
    if (model->protocol->in_turn)
        for (unsigned other = 0; other < model->system.processes; other++) {
            const struct model_process *process = model_process(model, state, other);
            const struct passage_head *my = model_passage(model, state, other);
            if (other != who && process->part == PART_ENTERING && my->queued && !process->halted &&
                register_conflict(&model->system, state, who, other) &&
                !model->protocol->in_turn(model, state, who, other))
                return "turn";
        }
    return NULL;
}

/* Fences grow: whoever enters has a greater one than all before that conflict with it. It knows its
 * own by what it stored, whether or not others can see that yet. */
const char *register_fence(const struct register_model *model, struct registers *at)
{
    unsigned char *state = at->state;
    const unsigned fence = fence_of(model->protocol->fence(registers_own(at, 0)), at->self);
    const bool shares = model_fences_by_mode(model) &&
                        (model_process(model, state, at->process)->request & 3) == REQUEST_SHARED;
    const unsigned name = model->renames ? naming_of(model, state, at->process)->name : 0;
    struct model_process *keeper = model_fence(model, state, shares ? 1 : name);
    bool grows = fence > model_fence(model, state, name)->fence;
    if (model_fences_by_mode(model) && !shares)
        grows &= fence > model_fence(model, state, 1)->fence;
    if (fence > keeper->fence)
        keeper->fence = (uint16_t)fence;
    return grows ? NULL : "fence";
}

/* Lamport 1976, D4 (b) to (e): nothing stands in the way of one that waits. */
bool register_permitted(const struct system *system, const unsigned char *state, unsigned who)
{
    const struct register_model *model = model_of(system);
    if (!model_condition(model, state, who))
        return false;
    for (unsigned other = 0; other < model->system.processes; other++) {
        const struct model_process *process = model_process(model, state, other);
        const struct passage_head *its = model_passage(model, state, other);
        if (process->part == PART_MALFUNCTION || process->halted)
            return false;
        if (other == who || !register_conflict(system, state, who, other))
            continue;
        if (process->part == PART_INSIDE || (process->part == PART_ENTERING && its->queued &&
                                             !model->protocol->in_turn(model, state, who, other)))
            return false;
    }
    return true;
}

/* Exclusion: no two inside that conflict, and never more than the slots. Those stopped for ever
 * count as inside. */
static const char *judge_exclusion(const struct system *system, const unsigned char *state)
{
    const struct register_model *model = model_of(system);
    unsigned inside = 0, count = 0;
    for (unsigned i = 0; i < model->system.processes; i++)
        if (model_is_inside(model_process(model, state, i)) &&
            !(model->timeouts && model_process(model, state, i)->halted)) {
            inside |= 1u << i;
            count++;
        }
    if (count > 1) {
        if (model->slots > 1) {
            if (count > model->slots)
                return "exclusion";
        } else {
            for (unsigned i = 0; i < model->system.processes; i++)
                for (unsigned j = i + 1; j < model->system.processes; j++)
                    if (inside >> i & inside >> j & 1 && exclude(model, state, i, j))
                        return "exclusion";
        }
    }
    return NULL;
}

bool register_legitimate(const struct system *system, const unsigned char *state)
{
    return !judge_exclusion(system, state);
}

/* Where errors strike, exclusion may break for a while. */
const char *register_judge(const struct system *system, const unsigned char *state)
{
    const struct register_model *model = model_of(system);
    const char *broken = model->errors ? NULL : judge_exclusion(system, state);
    if (broken)
        return broken;
    if (model->problem == PROBLEM_ALLOCATION && model->slots == 1) {
        unsigned held = 0;
        for (unsigned who = 0; who < model->system.processes; who++)
            held += model_process(model, state, who)->held;
        if (held > model->units)
            return "units";
    }
    return model->protocol->invariant ? model->protocol->invariant(model, state) : NULL;
}

bool register_able(const struct system *system, const unsigned char *state, unsigned process)
{
    return model_condition(model_of(system), state, process);
}

bool register_precedes(const struct system *system, const unsigned char *state, unsigned i,
                       unsigned j)
{
    const struct register_model *model = model_of(system);
    return model_class(model, model_process(model, state, i)->request) <
           model_class(model, model_process(model, state, j)->request);
}

/* Asleep, just woken, or at HEED or AGAIN: whatever it does next, it looks at everybody before it
 * enters. */
bool register_rests(const struct system *system, const unsigned char *state, unsigned process)
{
    const struct passage_head *my = model_passage(model_of(system), state, process);
    return my->watched & ASLEEP || my->woken || my->heeds || my->again;
}

enum status register_status(const struct system *system, const unsigned char *state, unsigned who)
{
    const struct register_model *model = model_of(system);
    const struct model_process *process = model_process(model, state, who);
    if (process->halted)
        return STATUS_HALTED;
    switch (process->part) {
    case PART_ENTERING: {
        const struct passage_head *my = model_passage(model, state, who);
        if (my->queued)
            return STATUS_QUEUED;
        const word first = model->words ? model_words(model, state, who)[0] : 0;
        const bool active = model->protocol->active ? model->protocol->active(first) : first != 0;
        return active ? STATUS_ACTIVE : STATUS_DOORWAY;
    }
    case PART_INSIDE:
    case PART_STAYING:
        return STATUS_INSIDE;
    case PART_CONVERTING: { /* it waits from the store that says so, until it is refused */
        const struct passage_head *my = model_passage(model, state, who);
        return my->queued && !model->protocol->refused(my) ? STATUS_QUEUED : STATUS_INSIDE;
    }
    case PART_PARTING:
    case PART_HOLDING:
    case PART_LEAVING:
    case PART_NAMING:
        return STATUS_LEAVING;
    case PART_MALFUNCTION:
        return STATUS_MALFUNCTION;
    default:
        return STATUS_IDLE;
    }
}
