/* SPDX-License-Identifier: MIT */
/* The invariant of Carvalho and Roucairol's algorithm, with modes: what two permit each other never
 * conflicts. Exclusion follows, since who is inside has everybody's permission. */
#include "check/messages/messages_state.h"

/* The modes that conflict with one for which `process` has the other's permission: a set. */
static unsigned forbidden(const struct messages_model *model, struct model_state *state,
                          unsigned process, unsigned other)
{
    unsigned modes = 0;
    for (unsigned mode = 0; mode < MODE_NULL; mode++) {
        if (model->options.variant->protocol->lacks(state->node[process].words, other, mode))
            continue;
        for (unsigned conflicting = 0; conflicting < MODE_NULL; conflicting++)
            modes |= (unsigned)modes_conflict(mode, conflicting) << conflicting;
    }
    return modes;
}

const char *permissions_judge(const struct messages_model *model, struct model_state *state)
{
    for (unsigned i = 0; i < model->options.nodes; i++)
        for (unsigned j = 0; j < i; j++) {
            if (!state->node[i].up || !state->node[j].up)
                continue;
            const unsigned modes = forbidden(model, state, i, j);
            for (unsigned mode = 0; modes && mode < MODE_NULL; mode++)
                if (modes >> mode & 1 &&
                    !model->options.variant->protocol->lacks(state->node[j].words, i, mode))
                    return "permissions: two have each other's, for modes that conflict";
        }
    return NULL;
}
