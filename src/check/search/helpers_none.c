/* SPDX-License-Identifier: MIT */
/* No threads: the search makes all moves itself. */
#include "check/search/helpers.h"

struct helpers *helpers_start(struct crew *crew, unsigned count)
{
    (void)crew;
    (void)count;
    return NULL;
}

void helpers_end(struct helpers *helpers)
{
    (void)helpers;
}

void helpers_give(struct helpers *helpers, struct unit *unit)
{
    (void)helpers;
    (void)unit;
}

void helpers_await(struct helpers *helpers, struct unit *unit)
{
    (void)helpers;
    (void)unit;
}
