/* SPDX-License-Identifier: MIT */
/* Which move of a run stored what a fetch read: for pictures.
 *
 * The states tell: a register's value came with the last move that changed it, whatever that was.
 * Only a store of the value that was there before changes nothing, and is known by its access.
 */
#include "check/registers/origin.h"

struct touch register_touch(const struct register_model *model, unsigned char *state,
                            struct move move)
{
    struct registers at;
    register_model_make(model, state, move, &at);
    return (struct touch){.access = at.access, .newer = at.newer};
}

/* A register of a process: a word, or a safe bit. */
struct spot {
    unsigned process, index;
    bool bit;
};

static const unsigned char *state_at(const struct register_run *run, size_t index)
{
    return run->states + index * run->model->system.size;
}

static word value_at(const struct register_run *run, size_t index, struct spot spot)
{
    const unsigned char *state = state_at(run, index);
    return spot.bit ? model_bit(run->model, state, spot.process, spot.index)
                    : model_words(run->model, state, spot.process)[spot.index];
}

/* Whether the move at `at` stored there, for others to see: not into a buffer. */
static bool stores(const struct register_run *run, size_t at, struct spot spot)
{
    const struct register_model *model = run->model;
    const struct access *access = &run->touches[at].access;
    if (access->kind != ACCESS_WRITE || model->process_of[access->place] != spot.process ||
        access->index != spot.index)
        return false;
    const struct model_process *before = model_process(model, state_at(run, at), spot.process);
    if ((model->bits && before->writing == access->index + 1u) != spot.bit)
        return false;
    return !model->tso || model_buffer(model, state_at(run, at + 1), spot.process)->count <=
                              model_buffer(model, state_at(run, at), spot.process)->count;
}

/* The write of a bit that was going on when it was read as what it was not. */
static size_t find_flicker(const struct register_run *run, size_t at, struct spot spot)
{
    while (at-- > 0) {
        const struct access *access = &run->touches[at].access;
        if (access->kind == ACCESS_BEGIN && access->index == spot.index &&
            run->model->process_of[access->place] == spot.process)
            return at;
    }
    return ORIGIN_NONE;
}

size_t register_origin(const struct register_run *run, size_t at)
{
    const struct register_model *model = run->model;
    const struct access *access = &run->touches[at].access;
    if (access->kind != ACCESS_READ && access->kind != ACCESS_BIT)
        return ORIGIN_NONE;
    const struct spot spot = {.process = model->process_of[access->place],
                              .index = access->index,
                              .bit = access->kind == ACCESS_BIT};
    if (!model->weak && value_at(run, at, spot) != access->value)
        return spot.bit ? find_flicker(run, at, spot) : ORIGIN_NONE;
    unsigned newer = run->touches[at].newer;
    for (size_t move = at; move-- > 0;) {
        if (value_at(run, move, spot) == value_at(run, move + 1, spot) && !stores(run, move, spot))
            continue;
        if (newer == 0)
            return value_at(run, move + 1, spot) == access->value ? move : ORIGIN_NONE;
        newer--;
    }
    return ORIGIN_NONE;
}
