/* SPDX-License-Identifier: MIT */
/* What the command is told by its environment: its fence, whether somebody died, its units, the
 * runs that it is part of. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/run/run.h"

/* A comma list, as CUDA_VISIBLE_DEVICES wants it. */
static int set_units(const ay_region *region)
{
    static unsigned units[AY_UNITS_MOST];
    static char list[AY_UNITS_MOST * 5 + 1];
    size_t length = 0;
    const size_t count = ay_units(region, units, AY_UNITS_MOST);
    for (size_t at = 0; at < count; at++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%u", at ? "," : "", units[at]);
    return setenv("AFTERYOU_UNITS", list, 1);
}

int environment_of_run(const struct run_words *asked, const ay_region *region)
{
    if (!asked->close && nested_announce() != 0)
        return -1;
    return asked->spec.take ? set_units(region) : unsetenv("AFTERYOU_UNITS"); /* an outer run's */
}

static char fence[64], after_death[32];

int environment_prepare(void)
{
    snprintf(fence, sizeof fence, "AFTERYOU_FENCE=");
    snprintf(after_death, sizeof after_death, "AFTERYOU_AFTER_DEATH=");
    return putenv(fence) == 0 && putenv(after_death) == 0 ? 0 : -1;
}

void environment_of_passage(const struct between *between)
{
    snprintf(fence, sizeof fence, "AFTERYOU_FENCE=%llu", (unsigned long long)between->fence);
    snprintf(after_death, sizeof after_death, "AFTERYOU_AFTER_DEATH=%d", between->after_death);
}
