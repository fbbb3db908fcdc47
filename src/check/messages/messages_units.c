/* SPDX-License-Identifier: MIT */
/* Units, as users of the nodes hold them: one that has its turn looks what is free, takes it or
 * waits; it leaves the turn, and frees what it has at some later moment.
 *
 * Node 0 takes as many as it was said, the others one. A node's users are several: some may hold
 * units while the next one asks.
 *
 * The look, and what follows it, is a move of its own after the node was let in: whatever comes
 * between the two has come.
 */
#include <inttypes.h>

#include "check/messages/messages_state.h"

static uint64_t held(struct model_node *node)
{
    return ((const struct units *)node->units)->held;
}

uint64_t units_held(const struct messages_model *model, struct model_node *node)
{
    return model->options.units ? held(node) : 0;
}

bool units_wait(const struct model_node *node)
{
    return node->stage == STAGE_WAITS || node->stage == STAGE_ASIDE;
}

bool units_go(const struct model_node *node)
{
    return node->stage != STAGE_NONE && !units_wait(node);
}

static void hold(struct doing *doing, unsigned process, uint64_t units)
{
    messages_step(doing, process, &(struct event){.kind = EVENT_HOLD, .number = units});
}

static void give_turn_back(struct doing *doing, unsigned process, enum units_stage next)
{
    doing->state->node[process].stage = (uint8_t)next;
    messages_step(doing, process, &(struct event){.kind = EVENT_RELEASE});
}

/* Too few are free. */
static void go_without(struct doing *doing, unsigned process)
{
    struct model_node *node = &doing->state->node[process];
    const struct event watch = {.kind = EVENT_WATCH};
    if (messages_lack(doing->model, WITHOUT_LOOK_WITH_WATCH) && node->stage == STAGE_LOOKS) {
        messages_say(doing, "finds too few units");
        node->stage = STAGE_WATCHES;
    } else if (messages_lack(doing->model, WITHOUT_KEEPING_TURN)) {
        messages_say(doing, "finds too few units, and goes aside");
        give_turn_back(doing, process, STAGE_ASIDE);
        messages_step(doing, process, &watch);
    } else {
        messages_say(doing, "waits for units");
        node->stage = STAGE_WAITS;
        messages_step(doing, process, &watch);
    }
}

/* While one waits in its turn nobody takes what it waits for. */
static bool passes_another(const struct doing *doing, unsigned process)
{
    for (unsigned i = 0; i < doing->model->options.nodes; i++)
        if (i != process && units_wait(&doing->state->node[i]))
            return messages_judges(doing->model, MESSAGES_TURN);
    return false;
}

static void look(struct doing *doing, unsigned process)
{
    const struct messages_options *options = &doing->model->options;
    struct model_node *node = &doing->state->node[process];
    const uint64_t taken = units_elsewhere(node->units) | held(node);
    unsigned left = process == 0 && options->take ? options->take : 1;
    uint64_t chosen = 0;
    for (unsigned unit = 0; unit < options->units && left; unit++)
        if (!(taken >> unit & 1)) {
            chosen |= UINT64_C(1) << unit;
            left--;
        }
    if (left) {
        go_without(doing, process);
        return;
    }
    messages_say(doing, "takes units %" PRIx64, chosen);
    if (passes_another(doing, process))
        doing->complaint = "turn: one takes units while another waits for some";
    node->stage = STAGE_TOOK;
    doing->entered = true;
    hold(doing, process, held(node) | chosen);
}

void units_go_on(struct doing *doing, unsigned process)
{
    switch ((enum units_stage)doing->state->node[process].stage) {
    case STAGE_LOOKS:
        look(doing, process);
        break;
    case STAGE_WATCHES:
        go_without(doing, process);
        break;
    case STAGE_ASKS:
        messages_say(doing, "asks again");
        doing->state->node[process].stage = STAGE_NONE;
        messages_step(doing, process, &(struct event){.kind = EVENT_REQUEST});
        break;
    default:
        messages_say(doing, "leaves");
        give_turn_back(doing, process, STAGE_NONE);
    }
}

/* A timeout, or its user's death: it has taken nothing. */
void units_give_up(struct doing *doing, unsigned process)
{
    messages_say(doing, "gives up");
    give_turn_back(doing, process, STAGE_NONE);
}

bool units_may_give_up(const struct model_node *node)
{
    return node->stage == STAGE_LOOKS || node->stage == STAGE_WATCHES || node->stage == STAGE_WAITS;
}

void units_free(struct doing *doing, unsigned process, unsigned unit)
{
    messages_say(doing, "frees unit %u", unit);
    hold(doing, process, held(&doing->state->node[process]) & ~(UINT64_C(1) << unit));
}

void units_entered(struct doing *doing, unsigned process)
{
    doing->state->node[process].stage = STAGE_LOOKS;
}

void units_succeed(struct doing *doing, unsigned process, const struct packet *joining)
{
    const struct message *what = &joining->message;
    struct event event = {
        .kind = EVENT_DIED, .node = what->whom, .view = what->view - 1, .number = what->units};
    messages_step(doing, process, &event);
    links_close(doing, process, joining);
    event = (struct event){.kind = EVENT_JOINED, .node = what->whom, .view = what->view};
    messages_step(doing, process, &event);
    event = (struct event){.kind = EVENT_REGISTER, .node = what->whom, .number = what->units};
    if (!messages_lack(doing->model, WITHOUT_REGISTER_AT_JOINING))
        messages_step(doing, process, &event);
}

void units_changed(struct doing *doing, unsigned process)
{
    struct model_node *node = &doing->state->node[process];
    messages_say(doing, ", and is to look again");
    if (node->stage == STAGE_WAITS)
        node->stage = STAGE_LOOKS;
    else if (node->stage == STAGE_ASIDE)
        node->stage = STAGE_ASKS;
}

const char *units_judge(const struct messages_model *model, struct model_state *state)
{
    for (unsigned i = 0; i < model->options.nodes; i++)
        for (unsigned j = 0; j < i; j++)
            if (units_held(model, &state->node[i]) & units_held(model, &state->node[j]))
                return "units: one is held twice";
    return NULL;
}
