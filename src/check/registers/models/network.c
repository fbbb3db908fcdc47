/* SPDX-License-Identifier: MIT */
/* `network` under the checker: the bakery with deferred and urgent reads, sleep and awake; and
 * broken. */
#include <stddef.h>
#include <stdio.h>

#include "check/papers/network.h"
#include "check/registers/models/models.h"
#include "check/registers/models/renumber.h"

#define RULES(...) ((struct network_rules){__VA_ARGS__})

MODEL_PASSAGE(enter, network, network_enter(my, at))
MODEL_PASSAGE(enter_undeferred, network, network_run(my, at, RULES(.undeferred = true)))
MODEL_PASSAGE(enter_no_urgent, network, network_run(my, at, RULES(.no_urgent = true)))
MODEL_PASSAGE(enter_late_reset, network, network_run(my, at, RULES(.late_reset = true)))
MODEL_PASSAGE(enter_parallel, network, network_run(my, at, RULES(.parallel = true)))
MODEL_PASSAGE(enter_parallel_late_reset, network,
              network_run(my, at, RULES(.parallel = true, .late_reset = true)))
MODEL_PASSAGE(leave, network, network_leave(my, at))
MODEL_PASSAGE(leave_silent, network, network_exit(my, at, RULES(.silent = true)))
MODEL_PASSAGE(leave_hasty, network, network_exit(my, at, RULES(.hasty = true)))

static word with_number(word w, word number)
{
    return network_word(bakery_state(w), bakery_mode(w), number);
}

static word dead(unsigned index, word value)
{
    (void)index;
    return network_word(BAKERY_IDLE, 0, bakery_number(value));
}

static bool active(word first)
{
    return bakery_state(first) == BAKERY_QUEUED;
}

/* D3: who has entered had the least number. */
static bool in_turn(const struct register_model *model, const unsigned char *state, unsigned i,
                    unsigned j)
{
    return bakery_before(bakery_number(model_words(model, state, i)[0]), model->place_of[i],
                         bakery_number(model_words(model, state, j)[0]), model->place_of[j]);
}

static bool in_doorway(const struct register_model *model, const unsigned char *state, unsigned who)
{
    const struct passage_head *my = model_passage(model, state, who);
    return model_process(model, state, who)->part == PART_ENTERING && !my->queued;
}

/* Numbers by rank (renumber.h): those in words, those seen in an epilogue, and the maxima of open
 * doorways. Where no doorway is open, the number of a place outside decides nothing, and is
 * forgotten. */
static void normalise(const struct register_model *model, unsigned char *state)
{
    const unsigned processes = model->system.processes;
    struct renumber numbers = {0};
    unsigned doorways = 0;
    for (unsigned who = 0; who < processes; who++)
        doorways += in_doorway(model, state, who);
    for (unsigned who = 0; who < processes; who++) {
        const struct network_passage *my = model_passage(model, state, who);
        word *first = &model_words(model, state, who)[0];
        if (!doorways && bakery_state(*first) == BAKERY_IDLE)
            *first = with_number(*first, 0);
        renumber_add(&numbers, bakery_number(*first));
        if (in_doorway(model, state, who))
            renumber_add(&numbers, my->number);
        if (my->asked.answered)
            renumber_add(&numbers, bakery_number(my->asked.answer));
        for (unsigned place = 0; place < model->places; place++)
            if (my->seen[place])
                renumber_add(&numbers, bakery_number(my->seen[place]));
    }
    if (!renumber_close_gaps(&numbers, doorways + 1))
        return;
    for (unsigned who = 0; who < processes; who++) {
        struct network_passage *my = model_passage(model, state, who);
        word *first = &model_words(model, state, who)[0];
        *first = with_number(*first, numbers.fresh[bakery_number(*first)]);
        if (in_doorway(model, state, who))
            my->number = numbers.fresh[my->number];
        if (my->asked.answered)
            my->asked.answer =
                with_number(my->asked.answer, numbers.fresh[bakery_number(my->asked.answer)]);
        for (unsigned place = 0; place < model->places; place++)
            if (my->seen[place])
                my->seen[place] =
                    with_number(my->seen[place], numbers.fresh[bakery_number(my->seen[place])]);
    }
}

static void write_value(unsigned index, word value, char *text, size_t room)
{
    static const char *const states[] = {"outside", "?", "in the bakery", "?"};
    (void)index;
    snprintf(text, room, "%s, number %u%s", states[bakery_state(value)], bakery_number(value),
             bakery_mode(value) == REQUEST_SHARED ? ", shared" : "");
}

#define NETWORK_MODEL(identifier, title, text, run, exit, found)                                   \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = PROCESSES_MOST,                                                             \
        .passage_size = sizeof(struct network_passage),                                            \
        .enter = run,                                                                              \
        .leave = exit,                                                                             \
        .dead = dead,                                                                              \
        .active = active,                                                                          \
        .normalise = normalise,                                                                    \
        .in_turn = in_turn,                                                                        \
        .write_value = write_value,                                                                \
        .default_requests = 1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED,                        \
        .default_places = 2,                                                                       \
        .promises = PROMISES_FAIR | 1u << PROPERTY_ORDER | 1u << PROPERTY_OVERTAKING |             \
                    1u << PROPERTY_DOORWAY,                                                        \
        .modes = true,                                                                             \
        .asked_at = offsetof(struct network_passage, asked),                                       \
        .alarms = true,                                                                            \
        .refutes = found,                                                                          \
    };

NETWORK_MODEL(model_network, "network",
              "Lamport 1976: the bakery with deferred and urgent reads, sleep and awake", enter,
              leave, NULL)
NETWORK_MODEL(model_network_undeferred, "network-undeferred", "a doorway answers reads",
              enter_undeferred, leave, "exclusion")
NETWORK_MODEL(model_network_no_urgent, "network-no-urgent",
              "a doorway's own reads are deferred by another doorway", enter_no_urgent, leave,
              "progress")
NETWORK_MODEL(model_network_silent, "network-silent", "the epilogue awakens nobody", enter,
              leave_silent, "progress")
NETWORK_MODEL(model_network_late_reset, "network-late-reset",
              "the alarm is reset after the look that follows it", enter_late_reset, leave,
              "progress")
NETWORK_MODEL(model_network_hasty, "network-hasty", "the epilogue looks around before it leaves",
              enter, leave_hasty, "progress")
NETWORK_MODEL(model_network_parallel, "network-parallel",
              "Lamport 1976: likewise, with a parallel wait for all rivals", enter_parallel, leave,
              NULL)
NETWORK_MODEL(model_network_parallel_late_reset, "network-parallel-late-reset",
              "a parallel wait that resets its alarm after the look that follows it",
              enter_parallel_late_reset, leave, "progress")
