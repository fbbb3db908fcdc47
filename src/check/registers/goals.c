/* SPDX-License-Identifier: MIT */
/* What must happen somewhere in a search of a register protocol, or the rest of its answer says
 * nothing: each process enters with each request that it may make, and those who may be inside
 * together are. */
#include <stdio.h>

#include "check/registers/naming_state.h"
#include "check/registers/register_model.h"

/* The entries first, by process and request; then what happens together. */
enum { REQUEST_KINDS = REQUEST_URGENT + 1 };
enum goal {
    GOAL_READERS = REQUEST_KINDS * PROCESSES_MOST, /* two that share */
    GOAL_SLOTS,                                    /* as many as there are slots */
    GOAL_UNITS,                                    /* no unit is left */
    GOAL_REFUSED,                                  /* somebody waits for a unit */
    GOAL_STRANGER,                                 /* one who is no rival, and another */
    GOAL_APART,                                    /* two that can never conflict */
    GOAL_UPGRADED,                                 /* one became exclusive inside */
    GOAL_DOWNGRADED,                               /* one that was exclusive shares with another */
    GOAL_TWO_UPGRADE,                              /* two want to, at the same time */
    GOAL_NAMES,                                    /* two of different names */
    GOAL_AGAIN,                                    /* one goes in again by the right it retained */
    GOALS
};
_Static_assert(GOALS <= 64, "a bit each");

/* Where places are taken for one another, somebody is enough. */
static unsigned entry_goal(const struct register_model *model, unsigned process, unsigned request)
{
    return (model->symmetry ? 0 : process) * REQUEST_KINDS + request;
}

/* For ever outside what it waits for: it stopped, or its passage has no end. */
static bool is_stopped(const struct register_model *model, unsigned process)
{
    const unsigned place = model->place_of[process];
    return model->stopped >> place & 1 || (model->protocol->endless && place + 1 < model->places);
}

/* How many can be inside at once: whoever stopped for ever counts as inside. */
static unsigned company(const struct register_model *model)
{
    const unsigned stopped = (unsigned)__builtin_popcount(model->stopped);
    const unsigned moving = model->system.processes - stopped;
    const unsigned slots = model->slots > stopped ? model->slots - stopped : 0;
    return slots < moving ? slots : moving;
}

static unsigned units_held(const struct register_model *model, const unsigned char *state)
{
    unsigned held = 0;
    for (unsigned process = 0; process < model->system.processes; process++)
        held += model_process(model, state, process)->held;
    return held;
}

uint64_t register_model_goals(const struct register_model *model)
{
    const unsigned moving = model->system.processes - (unsigned)__builtin_popcount(model->stopped);
    uint64_t goals = 0;
    for (unsigned process = 0; process < model->system.processes; process++)
        for (unsigned request = 0; request < REQUEST_KINDS; request++)
            if (model->requests >> request & 1 && !is_stopped(model, process) &&
                !(model->protocol->operations && process > 1 && request != REQUEST_EXCLUSIVE &&
                  request != REQUEST_URGENT))
                goals |= UINT64_C(1) << entry_goal(model, process, request);
    if (model->requests >> REQUEST_SHARED & 1 && model->slots == 1 && moving > 1)
        goals |= UINT64_C(1) << GOAL_READERS;
    if (model->requests >> REQUEST_STRANGER & 1 && moving > 1)
        goals |= UINT64_C(1) << GOAL_STRANGER;
    if (model->slots > 1 && company(model) > 1 && !model->protocol->endless)
        goals |= UINT64_C(1) << GOAL_SLOTS;
    const unsigned demand = moving * (model->requests >> REQUEST_TWO & 1 ? 2 : model->needs);
    if (model->problem == PROBLEM_ALLOCATION && demand > model->units)
        goals |= UINT64_C(1) << GOAL_UNITS | UINT64_C(1) << GOAL_REFUSED;
    if (model->some_rivals)
        for (unsigned place = 0; place < model->places; place++)
            if (((1u << model->places) - 1) & ~(model->rivals[place] | 1u << place))
                goals |= UINT64_C(1) << GOAL_APART;
    if (model->converts && moving > 1)
        goals |= UINT64_C(1) << GOAL_UPGRADED | UINT64_C(1) << GOAL_DOWNGRADED |
                 UINT64_C(1) << GOAL_TWO_UPGRADE;
    if (model->renames && moving > 1)
        goals |= UINT64_C(1) << GOAL_NAMES;
    if (model->protocol->withdrawn && model->passages != 1)
        goals |= UINT64_C(1) << GOAL_AGAIN;
    return goals;
}

/* Of conversions. One that shares, and converted once, was exclusive before, unless it asked to
 * become so. */
static uint64_t conversions(const struct register_model *model, const unsigned char *state)
{
    unsigned sharing = 0, downgraded = 0, upgrading = 0, upgraded = 0;
    for (unsigned process = 0; process < model->system.processes; process++) {
        const struct model_process *record = model_process(model, state, process);
        const bool exclusive = (record->request & 3) == REQUEST_EXCLUSIVE;
        sharing += model_is_inside(record) && !exclusive;
        downgraded += record->part == PART_INSIDE && record->converted == 1 && !exclusive &&
                      record->target != REQUEST_EXCLUSIVE;
        upgraded += record->part == PART_INSIDE && record->converted && exclusive;
        upgrading += record->part == PART_CONVERTING && record->target == REQUEST_EXCLUSIVE;
    }
    return (uint64_t)(upgraded > 0) << GOAL_UPGRADED |
           (uint64_t)(downgraded > 0 && sharing > 1) << GOAL_DOWNGRADED |
           (uint64_t)(upgrading > 1) << GOAL_TWO_UPGRADE;
}

static bool two_names(const struct register_model *model, const unsigned char *state)
{
    unsigned names = 0;
    for (unsigned process = 0; process < model->system.processes; process++)
        if (model_process(model, state, process)->part == PART_INSIDE)
            names |= 1u << naming_of(model, state, process)->name;
    return names == (1u << NAMES) - 1;
}

/* Inside, and others read that it retains its right: it did not come by the long way. */
static bool goes_again(const struct register_model *model, const unsigned char *state,
                       unsigned process)
{
    const word shown = *model_words(model, state, process);
    return model->protocol->withdrawn && model->protocol->withdrawn(shown) != shown;
}

static bool some_apart(const struct register_model *model, const unsigned char *state)
{
    for (unsigned i = 0; i < model->system.processes; i++)
        for (unsigned j = 0; j < i; j++)
            if (model_process(model, state, i)->part == PART_INSIDE &&
                model_process(model, state, j)->part == PART_INSIDE &&
                !model_rivals(model, model->place_of[i], model->place_of[j]))
                return true;
    return false;
}

uint64_t register_model_reaches(const struct system *system, const unsigned char *state)
{
    const struct register_model *model = system->context;
    unsigned inside = 0, with[REQUEST_KINDS] = {0};
    uint64_t reached = 0;
    for (unsigned process = 0; process < system->processes; process++) {
        const struct model_process *record = model_process(model, state, process);
        if (record->part == PART_ENTERING && !model_condition(model, state, process))
            reached |= UINT64_C(1) << GOAL_REFUSED;
        if (record->part != PART_INSIDE || record->request >= REQUEST_KINDS)
            continue;
        inside++;
        with[record->request]++;
        reached |= UINT64_C(1) << entry_goal(model, process, record->request);
        if (goes_again(model, state, process))
            reached |= UINT64_C(1) << GOAL_AGAIN;
    }
    if (with[REQUEST_SHARED] > 1)
        reached |= UINT64_C(1) << GOAL_READERS;
    if (with[REQUEST_STRANGER] && inside > with[REQUEST_STRANGER])
        reached |= UINT64_C(1) << GOAL_STRANGER;
    if (inside >= company(model))
        reached |= UINT64_C(1) << GOAL_SLOTS;
    if (model->converts)
        reached |= conversions(model, state);
    if (model->some_rivals && some_apart(model, state))
        reached |= UINT64_C(1) << GOAL_APART;
    if (model->renames && two_names(model, state))
        reached |= UINT64_C(1) << GOAL_NAMES;
    if (units_held(model, state) >= model->units)
        reached |= UINT64_C(1) << GOAL_UNITS;
    return reached & system->goals;
}

void register_model_name_goal(const struct system *system, unsigned goal, char *text, size_t room)
{
    static const char *const asked[] = {[REQUEST_SHARED] = " (shared)",
                                        [REQUEST_RELEASE] = " (release)",
                                        [REQUEST_STRANGER] = " (a stranger)",
                                        [REQUEST_URGENT] = " (urgent)"};
    const struct register_model *model = system->context;
    const unsigned request = goal % REQUEST_KINDS;
    const char *how = goal >= GOAL_READERS ? NULL
                      : request == REQUEST_TWO && model->problem == PROBLEM_ALLOCATION
                          ? " (two units)"
                      : request == REQUEST_PROTECTED && model->converts ? " (protected)"
                                                                        : asked[request];
    switch (goal) {
    case GOAL_READERS:
        snprintf(text, room, "two share");
        break;
    case GOAL_SLOTS:
        snprintf(text, room, "%u are inside at once", company(model));
        break;
    case GOAL_UNITS:
        snprintf(text, room, "all units are held");
        break;
    case GOAL_REFUSED:
        snprintf(text, room, "one waits for units");
        break;
    case GOAL_STRANGER:
        snprintf(text, room, "a stranger is inside beside another");
        break;
    case GOAL_APART:
        snprintf(text, room, "two that can never conflict are inside at once");
        break;
    case GOAL_UPGRADED:
        snprintf(text, room, "one becomes exclusive inside");
        break;
    case GOAL_DOWNGRADED:
        snprintf(text, room, "one that was exclusive shares with another");
        break;
    case GOAL_TWO_UPGRADE:
        snprintf(text, room, "two want to become exclusive at once");
        break;
    case GOAL_AGAIN:
        snprintf(text, room, "one goes in again by its right");
        break;
    case GOAL_NAMES:
        snprintf(text, room, "two of different names are inside at once");
        break;
    default:
        if (model->symmetry)
            snprintf(text, room, "somebody enters%s", how ? how : "");
        else
            snprintf(text, room, "P%u enters%s", model->place_of[goal / REQUEST_KINDS],
                     how ? how : "");
    }
}
