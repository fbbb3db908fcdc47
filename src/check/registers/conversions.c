/* SPDX-License-Identifier: MIT */
/* Passages that change their mode inside, under the checker. */
#include <string.h>

#include "check/registers/register_judge.h"
#include "check/registers/register_model.h"

bool registers_excludes(const struct registers *at, unsigned mode, unsigned other)
{
    return model_excludes(at->model, mode, other);
}

/* Where passages are converted, whoever it is may become exclusive. */
unsigned registers_strongest(const struct registers *at)
{
    return at->model->converts ? REQUEST_EXCLUSIVE : registers_mode(at);
}

/* Where they are not, nobody waits for one that it does not exclude. */
bool registers_admits(const struct registers *at)
{
    return at->model->converts && registers_mode(at) != REQUEST_EXCLUSIVE;
}

/* One access of a conversion. It has the mode that it asked for once that is over, unless it was
 * refused. */
void model_convert(struct registers *at)
{
    const struct register_model *model = at->model;
    struct model_process *process = model_process(model, at->state, at->process);
    struct passage_head *my = model_passage(model, at->state, at->process);
    const bool stays = process->part == PART_STAYING;
    enum passage_result (*const passage)(void *my, struct registers *at) =
        stays ? model->protocol->stay : model->protocol->convert;
    const unsigned converted = (process->request & ~3u & 7u) | process->target;
    my->again = my->heeds = 0;
    if (!stays && model->protocol->weakens(at))
        process->request = converted & 7u;
    if ((my->point == 0 && passage(my, at) == PASSED) || passage(my, at) == PASSED) {
        process->part = PART_INSIDE;
        const bool stronger = !stays && process->request != (converted & 7u);
        if (stronger && !model->protocol->refused(my)) {
            process->request = converted & 7u;
            if (model->fences)
                at->complaint = register_fence(model, at);
        }
        memset(my, 0, model->protocol->passage_size);
    }
}
