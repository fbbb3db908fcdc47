/* SPDX-License-Identifier: MIT */
/* `pair` under the checker, and with one fetch instead of two. */
#include <stdio.h>

#include "check/papers/once.h"
#include "check/registers/models/models.h"
#include "protocols/registers/pair.h"

MODEL_PASSAGE(enter, pair, pair_enter(my, at))
MODEL_PASSAGE(leave, pair, pair_leave(my, at))
MODEL_PASSAGE(enter_once, pair, once_run(my, at, true))
MODEL_PASSAGE(enter_once_shy, pair, once_run(my, at, false))

static void write_value(unsigned index, word value, char *text, size_t room)
{
    (void)index;
    if (value == PAIR_D)
        snprintf(text, room, "D");
    else
        snprintf(text, room, "%u", value - PAIR_FIRST);
}

/* What a failing process's word may read as: failure mode 2. */
static unsigned domain(const struct registers *at, unsigned index, unsigned value, word *out)
{
    (void)at;
    (void)index;
    *out = (word)value;
    return 4;
}

#define PAIR_MODEL(identifier, title, text, run, found)                                            \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = 2,                                                                          \
        .passage_size = sizeof(struct pair_passage),                                               \
        .enter = run,                                                                              \
        .leave = leave,                                                                            \
        .write_value = write_value,                                                                \
        .domain = domain,                                                                          \
        .default_places = 2,                                                                       \
        .promises = PROMISES_FAIR | 1u << PROPERTY_OVERTAKING,                                     \
        .refutes = found,                                                                          \
    };

PAIR_MODEL(model_pair, "pair", "Rivest & Pratt 1977: two processes", enter, NULL)
PAIR_MODEL(model_pair_once, "pair-once", "one fetch instead of two", enter_once, "exclusion")
PAIR_MODEL(model_pair_once_shy, "pair-once-shy",
           "one fetch instead of two; each waits until the other is gone", enter_once_shy,
           "progress")
