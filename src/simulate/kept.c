/* SPDX-License-Identifier: MIT */
/* Rows kept apart from the states (protocols/messages/rows.h): N² words, of which a run of few
 * passages writes few. */
#include <stdlib.h>

#include "simulate/world.h"

static const uint64_t WHOLE = UINT64_C(4) << 30;

static struct world *world_of(const struct keeper *keeper)
{
    return (struct world *)((char *)keeper - offsetof(struct world, keeper));
}

static uint64_t kept_get(const struct keeper *keeper, uint64_t node, uint64_t at)
{
    return sparse_get(&world_of(keeper)->rows[node], (uint32_t)at);
}

static void kept_put(const struct keeper *keeper, uint64_t node, uint64_t at, uint64_t word)
{
    struct world *world = world_of(keeper);
    world->failed |= !sparse_put(&world->rows[node], (uint32_t)at, word, 1);
}

static void kept_replace(const struct keeper *keeper, uint64_t node, uint64_t at,
                         const uint64_t *words, uint64_t count)
{
    struct world *world = world_of(keeper);
    world->failed |= !sparse_replace(&world->rows[node], (uint32_t)at, words, (uint32_t)count);
}

bool kept_open(struct world *world)
{
    const size_t nodes = world->how->nodes;
    const uint64_t most = world->how->whole ? world->how->whole : WHOLE;
    if (!world->protocol->rows || (uint64_t)nodes * world->words * sizeof(uint64_t) <= most)
        return true;
    world->keeper = (struct keeper){kept_get, kept_put, kept_replace};
    world->words -= world->protocol->rows * nodes;
    world->rows = calloc(nodes, sizeof *world->rows);
    return world->rows != NULL;
}

const struct keeper *kept_keeper(const struct world *world)
{
    return world->rows ? &world->keeper : NULL;
}

void kept_forget(struct world *world, uint32_t node)
{
    if (world->rows)
        sparse_close(&world->rows[node]);
}

void kept_close(struct world *world)
{
    for (uint32_t node = 0; world->rows && node < world->how->nodes; node++)
        sparse_close(&world->rows[node]);
    free(world->rows);
}
