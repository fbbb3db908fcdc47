/* SPDX-License-Identifier: MIT */
/* `clock` under the checker: padded as it ships, unpadded as in figure 6, and without the steps
 * that look redundant. */
#include <stdio.h>

#include "check/registers/models/models.h"
#include "protocols/registers/clock.h"

static unsigned padding_of(const struct registers *at)
{
    return at->model->padding ? at->model->padding : CLOCK_PADDING;
}

#define RULES(...) ((struct clock_rules){.padding = padding_of(at), .without = {__VA_ARGS__}})

MODEL_PASSAGE(enter, clock, clock_run(my, at, RULES(0)))
MODEL_PASSAGE(enter_unpadded, clock,
              clock_run(my, at, (struct clock_rules){.padding = CLOCK_PADDING_PRINTED}))
MODEL_PASSAGE(enter_without_step_1, clock, clock_run(my, at, RULES(.step_1 = true)))
MODEL_PASSAGE(enter_without_step_3, clock, clock_run(my, at, RULES(.step_3 = true)))
MODEL_PASSAGE(enter_without_ok, clock, clock_run(my, at, RULES(.ok = true)))
MODEL_PASSAGE(enter_without_keep, clock, clock_run(my, at, RULES(.keep_rule = true)))
MODEL_PASSAGE(enter_without_maximum, clock, clock_run(my, at, RULES(.maximum_rule = true)))
MODEL_PASSAGE(leave, clock, clock_leave(my, at))

static void write_value(unsigned index, word value, char *text, size_t room)
{
    (void)index;
    if (races_R(value) == RACES_D)
        snprintf(text, room, "D");
    else if (races_R(value) == RACES_Q)
        snprintf(text, room, "(Q,c=%u)", clock_c(value));
    else
        snprintf(text, room, "(R=%u,S=%u,c=%u)", races_R(value) - RACES_FIRST, races_S(value),
                 clock_c(value));
}

/* The Window Hypothesis: no two system clocks differ by more than 1. */
static const char *window(const struct register_model *model, const unsigned char *state,
                          unsigned padding)
{
    const unsigned M = padding * model->places;
    for (unsigned i = 0; i < model->system.processes; i++)
        for (unsigned j = 0; j < model->system.processes; j++) {
            const word a = model_words(model, state, i)[0], b = model_words(model, state, j)[0];
            if (races_R(a) != RACES_Q || races_R(b) != RACES_Q)
                continue;
            const unsigned ahead = (clock_c(a) + M - clock_c(b)) % M;
            if (ahead > 1 && ahead < M - 1)
                return "window";
        }
    return NULL;
}

static const char *window_padded(const struct register_model *model, const unsigned char *state)
{
    return window(model, state, model->padding ? model->padding : CLOCK_PADDING);
}

static const char *window_unpadded(const struct register_model *model, const unsigned char *state)
{
    return window(model, state, CLOCK_PADDING_PRINTED);
}

#define CLOCK_MODEL(identifier, title, text, run, window_of, found)                                \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = PROCESSES_MOST,                                                             \
        .passage_size = sizeof(struct clock_passage),                                              \
        .enter = run,                                                                              \
        .leave = leave,                                                                            \
        .write_value = write_value,                                                                \
        .promises = PROMISES_FAIR | 1u << PROPERTY_OVERTAKING,                                     \
        .invariant = window_of,                                                                    \
        .refutes = found,                                                                          \
    };

CLOCK_MODEL(model_clock, "clock", "Rivest & Pratt 1977: n processes, linear waiting", enter,
            window_padded, NULL)
CLOCK_MODEL(model_clock_unpadded, "clock-unpadded",
            "figure 6 without dummy processes: overtaking is unbounded", enter_unpadded,
            window_unpadded, "overtaking")
CLOCK_MODEL(model_clock_without_step_1, "clock-without-step-1",
            "a process that fails again and again stops the clock", enter_without_step_1,
            window_padded, "reliability")
CLOCK_MODEL(model_clock_without_step_3, "clock-without-step-3",
            "the clock is not updated after the races", enter_without_step_3, window_padded,
            "window")
CLOCK_MODEL(model_clock_without_ok, "clock-without-ok",
            "a process enters the first time its turn comes", enter_without_ok, window_padded,
            "overtaking")
CLOCK_MODEL(model_clock_without_keep, "clock-without-keep", "step 4 may set the clock back by one",
            enter_without_keep, window_padded, "window")
CLOCK_MODEL(model_clock_without_maximum, "clock-without-maximum",
            "sysclock takes the last clock seen", enter_without_maximum, window_padded, "window")
