/* SPDX-License-Identifier: MIT */
/* What the scenes share: a world that begins with all agents ready, and how a machine's local
 * process enters. */
#ifndef AFTERYOU_TESTS_AGENT_SCENE_H
#define AFTERYOU_TESTS_AGENT_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "world.h"

enum { MS = 1000 * 1000 };
#define SECONDS(count) ((int64_t)(count)*1000 * MS)

static struct world world;

static inline void begin(unsigned machines)
{
    world_begin(&world, machines, &carvalho_roucairol_protocol, 7);
    for (unsigned number = 0; number < machines; number++)
        world_start(&world, number);
    assert_true(world_until(&world, world_all_ready, SECONDS(20)));
}

static inline void end(void)
{
    assert_null(world.violation);
    world_end(&world);
}

static unsigned whose; /* by the functions below */

static inline bool is_inside(struct world *its)
{
    return world_holds(its, whose);
}

static inline bool enters(unsigned machine, unsigned mode)
{
    whose = machine;
    world_want(&world, machine, mode);
    return world_until(&world, is_inside, SECONDS(20));
}

static inline void enters_within_the_grace_only(unsigned machine, int64_t from)
{
    assert_true(enters(machine, PERMISSION_EXCLUSIVE));
    assert_true(world.now - from > world.lease);
}

#endif
