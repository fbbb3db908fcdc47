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
MODEL_PASSAGE(enter_without_step_2, clock, clock_run(my, at, RULES(.step_2 = true)))
MODEL_PASSAGE(enter_without_step_5, clock, clock_run(my, at, RULES(.step_5 = true)))
MODEL_PASSAGE(enter_without_regard, clock, clock_run(my, at, RULES(.regard = true)))
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

/* Who stopped for ever and is timed out counts as dead. */
static bool timed_out(const struct register_model *model, const unsigned char *state, unsigned who)
{
    return model->timeouts && model_process(model, state, who)->halted;
}

/* Its public word, as the others find it. */
static word shown(const struct register_model *model, const unsigned char *state, unsigned who)
{
    return timed_out(model, state, who) ? 0 : model_words(model, state, who)[0];
}

/* Rivest and Pratt's lemmas, with the numbers of the paper. A system clock is a c_k with R_k = Q;
 * [a, b] is an interval modulo M. */
static bool within(unsigned c, unsigned from, unsigned to, unsigned M)
{
    return (c + M - from % M) % M <= (to + M - from % M) % M;
}

/* Every system clock but `who`'s lies in [c-1, c+4]. */
static bool follow(const struct register_model *model, const unsigned char *state, unsigned who,
                   unsigned c, unsigned M)
{
    for (unsigned k = 0; k < model->system.processes; k++) {
        const word w = shown(model, state, k);
        if (k != who && races_R(w) == RACES_Q && !within(clock_c(w), c + M - 1, c + 4, M))
            return false;
    }
    return true;
}

static bool joins(const struct register_model *model, const unsigned char *state, unsigned i,
                  unsigned step)
{
    const struct passage_head *my = model_passage(model, state, i);
    return my->step == step && model_process(model, state, i)->part == PART_ENTERING;
}

/* c_j was read in the scan of step 3, and c_i has not changed yet. A scan that is over has left its
 * value in c. */
static const char *lemma_4_3(const struct register_model *model, const unsigned char *state,
                             unsigned i, unsigned M)
{
    const struct clock_passage *my = model_passage(model, state, i);
    const bool over = my->scan.head.point == 0;
    const bool holds = M < 7 || !joins(model, state, i, 3) || (!over && my->scan.m == 0) ||
                       follow(model, state, i, over ? my->c : my->scan.m - 1u, M);
    return holds ? NULL : "lemma 4.3";
}

/* And 4.4: right after the store of step 3, and until that of step 4. */
static const char *lemma_4_5(const struct register_model *model, const unsigned char *state,
                             unsigned i, unsigned M)
{
    const bool holds = M < 7 || !joins(model, state, i, 4) ||
                       follow(model, state, i, clock_c(shown(model, state, i)), M);
    return holds ? NULL : "lemma 4.5";
}

/* What P_i's own step says of itself, and of the others. */
static const char *judge_step(const struct register_model *model, const unsigned char *state,
                              unsigned i, unsigned M)
{
    const struct clock_passage *my = model_passage(model, state, i);
    const word w = shown(model, state, i);
    const unsigned step = my->head.step, c = clock_c(w);
    if (step >= 3 && races_R(w) == RACES_D)
        return "lemma 4.1";
    for (unsigned k = 0; step == 5 && k < model->system.processes; k++) {
        const word other = shown(model, state, k);
        /* the store of step 6 is next: all were tested against the clock that is still public */
        const bool tested = my->c != c || model->place_of[k] < my->j;
        if (k != i && tested && races_R(other) == RACES_Q && !within(clock_c(other), c, c + 1, M))
            return "lemma 4.2";
    }
    const char *wrong = lemma_4_3(model, state, i, M);
    return wrong ? wrong : lemma_4_5(model, state, i, M);
}

/* The Window Hypothesis: no two system clocks differ by more than 1. And the lemmas on the way. */
static const char *window(const struct register_model *model, const unsigned char *state,
                          unsigned padding)
{
    const unsigned M = padding * model->places;
    for (unsigned i = 0; i < model->system.processes; i++) {
        const word a = shown(model, state, i);
        const char *wrong =
            model_process(model, state, i)->part == PART_ENTERING && !timed_out(model, state, i)
                ? judge_step(model, state, i, M)
                : NULL;
        if (wrong)
            return wrong;
        for (unsigned j = 0; j < i && races_R(a) == RACES_Q; j++) {
            const word b = shown(model, state, j);
            if (races_R(b) == RACES_Q && M > 2 &&
                !within(clock_c(a), clock_c(b) + M - 1, clock_c(b) + 1, M))
                return "window";
        }
    }
    return NULL;
}

/* Lemma 4.3 alone: where the clock ticks on, others break before it. */
static const char *reading(const struct register_model *model, const unsigned char *state)
{
    const unsigned M = (model->padding ? model->padding : CLOCK_PADDING) * model->places;
    const char *wrong = NULL;
    for (unsigned i = 0; i < model->system.processes && !wrong; i++)
        wrong = lemma_4_3(model, state, i, M);
    return wrong;
}

static const char *window_padded(const struct register_model *model, const unsigned char *state)
{
    return window(model, state, model->padding ? model->padding : CLOCK_PADDING);
}

static const char *window_unpadded(const struct register_model *model, const unsigned char *state)
{
    return window(model, state, CLOCK_PADDING_PRINTED);
}

/* What a failing process's word may read as: failure mode 2. */
static unsigned domain(const struct registers *at, unsigned index, unsigned value, word *out)
{
    (void)index;
    const unsigned M = padding_of(at) * at->places, Rs = RACES_FIRST + at->places;
    *out = races_word(value % Rs, value / Rs % 3, value / Rs / 3);
    return Rs * 3 * M;
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
        .domain = domain,                                                                          \
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
            "lemma 4.5")
CLOCK_MODEL(model_clock_without_ok, "clock-without-ok",
            "a process enters the first time its turn comes", enter_without_ok, window_padded,
            "overtaking")
CLOCK_MODEL(model_clock_without_keep, "clock-without-keep", "step 4 may set the clock back by one",
            enter_without_keep, window_padded, "window")
CLOCK_MODEL(model_clock_without_maximum, "clock-without-maximum",
            "sysclock takes the last clock seen", enter_without_maximum, window_padded, "window")
CLOCK_MODEL(model_clock_without_step_2, "clock-without-step-2",
            "nobody races: a process joins unseen", enter_without_step_2, window_padded,
            "lemma 4.1")
CLOCK_MODEL(model_clock_without_step_5, "clock-without-step-5", "the clock ticks without a test",
            enter_without_step_5, window_padded, "lemma 4.2")
CLOCK_MODEL(model_clock_without_regard, "clock-without-regard",
            "the clock ticks on while somebody joins", enter_without_regard, reading, "lemma 4.3")
