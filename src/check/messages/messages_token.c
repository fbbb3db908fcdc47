/* SPDX-License-Identifier: MIT */
/* `token` in a group of agreed order: established members that have seen the same know the same.
 *
 * It holds as long as one comes back. A second newcomer does not know that a TOKEN was for an
 * earlier incarnation of the first, and takes that one for the holder until the next TOKEN. It
 * makes no token by that: whomever it takes for the holder is senior to it.
 *
 * What they know: who has the token, who is established, since when each is a member, what each has
 * asked for, and what the token has served; but for the one that has it, which is ahead of the
 * others until it passes it on.
 */
#include "check/messages/messages_state.h"
#include "protocols/messages/node.h"

enum { OWN_HAVE = 1, OWN_HOLDER = 2, ROW_T = 0, ROW_R = 1, ROW_JOINED = 2, TOKEN_ROWS = 3 };

static const uint64_t *token_row(struct model_node *node, unsigned row)
{
    const uint64_t nodes = model_head(node)->nodes;
    return node->words + node_words(nodes) + row * nodes;
}

/* The same is on its way to both. */
static bool at_one_place(const struct model_state *state, unsigned i, unsigned j)
{
    for (unsigned k = 0; k < state->packets; k++)
        if ((state->packet[k].mask >> i ^ state->packet[k].mask >> j) & 1)
            return false;
    return true;
}

static const char *differ(struct model_node *one, struct model_node *two)
{
    struct node *head = model_head(one), *other = model_head(two);
    const uint64_t holder = head->own[OWN_HOLDER];
    if (holder != other->own[OWN_HOLDER])
        return "agreement: of two that have seen the same, each takes another for the holder";
    if (head->view != other->view || *node_members(head) != *node_members(other) ||
        *token_row(one, TOKEN_ROWS) != *token_row(two, TOKEN_ROWS))
        return "agreement: two that have seen the same differ in who is established";
    for (unsigned k = 0; k < head->nodes; k++) {
        if (!set_has(node_members(head), k))
            continue;
        if (token_row(one, ROW_JOINED)[k] != token_row(two, ROW_JOINED)[k])
            return "agreement: two that have seen the same differ in who is senior";
        if (token_row(one, ROW_R)[k] != token_row(two, ROW_R)[k])
            return "agreement: two that have seen the same differ in who has asked";
        if (token_row(one, ROW_T)[k] != token_row(two, ROW_T)[k] && k != holder)
            return "agreement: two that have seen the same differ in who was served";
    }
    return NULL;
}

const char *token_judge_state(const struct messages_model *model, struct model_state *state)
{
    const char *wrong = NULL;
    for (unsigned i = 0; i < model->options.nodes && !wrong; i++) {
        struct model_node *one = &state->node[i];
        const struct node *head = model_head(one);
        if (!one->up || !head->welcome)
            continue;
        if (head->own[OWN_HAVE] && head->own[OWN_HOLDER] != i)
            return "agreement: who has the token takes another for the holder";
        for (unsigned j = 0; j < i && !wrong; j++)
            if (state->node[j].up && model_head(&state->node[j])->welcome &&
                at_one_place(state, i, j))
                wrong = differ(one, &state->node[j]);
    }
    return wrong;
}
