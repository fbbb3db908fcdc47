/* SPDX-License-Identifier: MIT */
/* `races` under the checker, and the figure as printed. */
#include <stdio.h>

#include "check/registers/models/models.h"
#include "protocols/registers/races.h"

MODEL_PASSAGE(enter, races, races_enter(my, at))
MODEL_PASSAGE(enter_printed, races, races_run(my, at, true))
MODEL_PASSAGE(leave, races, races_leave(my, at))

static void write_value(unsigned index, word value, char *text, size_t room)
{
    (void)index;
    if (races_R(value) == RACES_D)
        snprintf(text, room, "D");
    else
        snprintf(text, room, "(R=%u,S=%u)", races_R(value) - RACES_FIRST, races_S(value));
}

const struct register_protocol model_races = {
    .name = "races",
    .summary = "Rivest & Pratt 1977: n processes, first version",
    .places_least = 2,
    .places_most = PROCESSES_MOST,
    .passage_size = sizeof(struct races_passage),
    .enter = enter,
    .leave = leave,
    .write_value = write_value,
    .promises = PROMISES_FAIR,
};

const struct register_protocol model_races_printed = {
    .name = "races-printed",
    .summary = "figure 4 as printed: lines A and C test R_j = D only",
    .places_least = 2,
    .places_most = PROCESSES_MOST,
    .passage_size = sizeof(struct races_passage),
    .enter = enter_printed,
    .leave = leave,
    .write_value = write_value,
    .promises = PROMISES_FAIR,
    .refutes = "exclusion",
};
