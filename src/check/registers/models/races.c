/* SPDX-License-Identifier: MIT */
/* `races` under the checker, the figure as printed, and the version with n-1 copies. */
#include <stdio.h>

#include "check/papers/copies.h"
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

/* What a failing process's word may read as: failure mode 2. */
static unsigned domain(const struct registers *at, unsigned index, unsigned value, word *out)
{
    (void)index;
    const unsigned Rs = at->places + 1;
    *out = races_word(value % Rs ? RACES_FIRST + value % Rs - 1 : (unsigned)RACES_D, value / Rs, 0);
    return 3 * Rs;
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
    .domain = domain,
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

MODEL_PASSAGE(enter_copies, copies, copies_run(my, at, false))
MODEL_PASSAGE(enter_forgetful, copies, copies_run(my, at, true))
MODEL_PASSAGE(leave_copies, copies, copies_leave(my, at))

static unsigned copies_of(unsigned places)
{
    return places;
}

static void write_copy(unsigned index, word value, char *text, size_t room)
{
    if (value == PAIR_D)
        snprintf(text, room, "D (copy %u)", index);
    else
        snprintf(text, room, "%u (copy %u)", value - PAIR_FIRST, index);
}

/* Any of its copies shows that it takes part, and its statuses are read off the first alone. */
#define COPIES_MODEL(identifier, title, text, run, found)                                          \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = PROCESSES_MOST,                                                             \
        .passage_size = sizeof(struct copies_passage),                                             \
        .words = copies_of,                                                                        \
        .enter = run,                                                                              \
        .leave = leave_copies,                                                                     \
        .write_value = write_copy,                                                                 \
        .promises = PROMISES_FAIR,                                                                 \
        .refutes = found,                                                                          \
    };

COPIES_MODEL(model_races_copies, "races-copies",
             "Rivest & Pratt 1977: n processes, a copy of S for each of the others", enter_copies,
             NULL)
COPIES_MODEL(model_races_copies_forgetful, "races-copies-forgetful",
             "a copy is set to D once its race is won", enter_forgetful, "exclusion")
