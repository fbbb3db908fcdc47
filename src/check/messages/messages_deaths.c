/* SPDX-License-Identifier: MIT */
/* Deaths inside, as they are judged: who enters next after one is told so, and nobody who is alone
 * inside is told of it again.
 *
 * A death is owed to whoever enters next in a mode that conflicts with the dead one's, from the
 * moment of it until somebody alone inside has been told. Of a burial nobody knows whether anybody
 * was inside, so one telling for each is right, and a second is not: a burial's number has no
 * count. But who has the permission of the one that is buried knows that nobody was, and so does
 * whoever gets the farewell of one that had installed all. Where nobody is left, nobody can know: a
 * group that begins anew owes nothing.
 */
#include "check/messages/messages_state.h"

void deaths_note(struct doing *doing, unsigned process)
{
    struct model_node *node = &doing->state->node[process];
    const struct node *head = model_head(node);
    if (doing->model->tells && node_inside(head) != MODE_NULL)
        doing->state->owed = (uint8_t)(doing->state->owed | 1u << node_inside(head));
    node->tells = 0;
}

void deaths_forget(struct doing *doing)
{
    for (unsigned i = 0; i < doing->model->options.nodes; i++)
        if (doing->state->node[i].up)
            return;
    doing->state->owed = 0;
}

const char *deaths_judge_entry(struct doing *doing, unsigned process, uint64_t died)
{
    const struct model_state *state = doing->state;
    struct model_node *node = &doing->state->node[process];
    const uint64_t mode = model_head(node)->mode;
    bool owed = false;
    if (!doing->model->tells)
        return NULL;
    for (unsigned dead = 0; dead < MODES; dead++)
        owed |= state->owed >> dead & 1 && modes_conflict(mode, dead);
    node->tells = died;
    if (owed && !died)
        return "told: who enters after a death inside is not told";
    const bool burial = (died & ((UINT64_C(1) << FENCE_VIEW_SHIFT) - 1)) == 0;
    if (died && mode == MODE_EXCLUSIVE && !owed && !(burial && died > state->highest_told))
        return "told: of a death that was told somebody is told again";
    return NULL;
}

void deaths_told(struct doing *doing, unsigned process)
{
    struct model_node *node = &doing->state->node[process];
    if (model_head(node)->mode == MODE_EXCLUSIVE) {
        doing->state->owed = 0;
        if (node->tells > doing->state->highest_told)
            doing->state->highest_told = node->tells;
    }
    node->tells = 0;
}

static uint64_t number_of(const struct packet *notice)
{
    return notice->message.view << FENCE_VIEW_SHIFT;
}

bool deaths_know_outside(struct doing *doing, unsigned process, const struct packet *notice)
{
    struct model_node *node = &doing->state->node[process];
    if (!doing->model->tells || notice->event != EVENT_DIED ||
        model_head(node)->died >= number_of(notice)) /* others, who know less, said so */
        return false;
    const bool knew_all = notice->farewell == notice->message.view;
    return knew_all || !doing->model->options.variant->protocol->lacks(
                           node->words, notice->message.whom, MODE_EXCLUSIVE);
}

void deaths_judge_loss(struct doing *doing, unsigned process, const struct packet *notice)
{
    if (model_head(&doing->state->node[process])->died == number_of(notice))
        doing->complaint = "told: a loss counts as a death inside, though nobody was";
}
