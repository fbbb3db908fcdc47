/* SPDX-License-Identifier: MIT */
/* What must happen somewhere in a search of a message protocol, or the rest of its answer says
 * nothing: each node enters in each mode that it may ask for, and two are inside together in every
 * two modes that do not conflict; with units, two hold some at once, and one waits for them. */
#include <stdio.h>

#include "check/messages/messages_state.h"

/* The entries first, by node and mode; then the pairs of modes. */
enum { GOAL_PAIRS = MODEL_NODES_MOST * MODES, GOAL_HOLD = GOAL_PAIRS + MODES * MODES, GOAL_WAIT };
_Static_assert(GOAL_WAIT < 64, "a bit each");

static uint64_t entry_goal(unsigned node, uint64_t mode)
{
    return UINT64_C(1) << (node * MODES + mode);
}

/* In either order the same. */
static uint64_t pair_goal(uint64_t mode, uint64_t other)
{
    return UINT64_C(1) << (GOAL_PAIRS +
                           (mode < other ? mode * MODES + other : other * MODES + mode));
}

uint64_t messages_goals(const struct messages_model *model)
{
    uint64_t goals = model->options.units > 1 ? UINT64_C(1) << GOAL_HOLD : 0;
    goals |= model->options.units ? UINT64_C(1) << GOAL_WAIT : 0;
    for (unsigned mode = 0; mode < MODES; mode++) {
        if (!(model->options.modes >> mode & 1))
            continue;
        for (unsigned node = 0; node < model->options.nodes; node++)
            goals |= entry_goal(node, mode);
        for (unsigned other = mode; other < MODES; other++)
            if (model->options.modes >> other & 1 && !modes_conflict(mode, other))
                goals |= pair_goal(mode, other);
    }
    return goals;
}

static uint64_t reach_units(const struct messages_model *model, struct model_state *state)
{
    uint64_t reached = 0;
    unsigned holders = 0;
    for (unsigned i = 0; i < model->options.nodes; i++) {
        holders += units_held(model, &state->node[i]) != 0;
        reached |= units_wait(&state->node[i]) ? UINT64_C(1) << GOAL_WAIT : 0;
    }
    return reached | (holders > 1 ? UINT64_C(1) << GOAL_HOLD : 0);
}

uint64_t messages_reach(const struct system *system, const unsigned char *bytes)
{
    const struct messages_model *model = system->context;
    struct model_state state;
    uint64_t reached = 0;
    messages_unpack(model, bytes, &state);
    reached |= reach_units(model, &state);
    for (unsigned i = 0; i < model->options.nodes; i++) {
        const struct node *one = model_head(&state.node[i]);
        if (one->status != NODE_INSIDE)
            continue;
        reached |= entry_goal(i, one->mode);
        for (unsigned j = 0; j < i; j++)
            if (model_head(&state.node[j])->status == NODE_INSIDE)
                reached |= pair_goal(one->mode, model_head(&state.node[j])->mode);
    }
    return reached & system->goals;
}

void messages_name_goal(const struct system *system, unsigned goal, char *text, size_t room)
{
    (void)system;
    if (goal < GOAL_PAIRS)
        snprintf(text, room, "node %u enters (%s)", goal / MODES, mode_name(goal % MODES));
    else if (goal >= GOAL_HOLD)
        snprintf(text, room, goal == GOAL_HOLD ? "two hold units" : "one waits for units");
    else
        snprintf(text, room, "%s beside %s", mode_name((goal - GOAL_PAIRS) / MODES),
                 mode_name((goal - GOAL_PAIRS) % MODES));
}
