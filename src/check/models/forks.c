/* SPDX-License-Identifier: MIT */
/* `forks` under the checker: repaired, as printed, and with each repair missing. */
#include <stdio.h>

#include "check/models/models.h"
#include "protocols/forks.h"

#define RULES(...) ((struct forks_rules){__VA_ARGS__})

MODEL_PASSAGE(enter, forks, forks_enter(my, at))
MODEL_PASSAGE(enter_printed, forks,
              forks_run(my, at, RULES(.redirect_idle = true, .read_twice = true, .forgetful = true)))
MODEL_PASSAGE(enter_redirect_idle, forks, forks_run(my, at, RULES(.redirect_idle = true)))
MODEL_PASSAGE(enter_read_twice, forks, forks_run(my, at, RULES(.read_twice = true)))
MODEL_PASSAGE(enter_forgetful, forks, forks_run(my, at, RULES(.forgetful = true)))
MODEL_PASSAGE(enter_swapped, forks, forks_run(my, at, RULES(.swapped = true)))
MODEL_PASSAGE(enter_without_range, forks, forks_run(my, at, RULES(.no_range = true)))
MODEL_PASSAGE(leave, forks, forks_leave(my, at))
MODEL_PASSAGE(leave_forgetting, forks, forks_exit(my, at, RULES(.forget_at_leave = true)))

static unsigned no_words(unsigned places)
{
    (void)places;
    return 0;
}

/* One that died stopped in its Remainder: its x is clear, and its forks are where it left them. */
static bool dead_bit(unsigned index, bool value)
{
    return index != 0 && value;
}

static const char *name_register(unsigned places, unsigned place, unsigned index, char *text, size_t room)
{
    static const char *const structures[] = {"GRAPH", "RANGE", "ID"}, *const halves[] = {"f", "wp", "wq"};
    if (index == 0) {
        snprintf(text, room, "x%u", place);
        return text;
    }
    const unsigned at = (index - 1) / FORK_HALF, slot = at % (places - 1);
    snprintf(text, room, "%s.%s%u,%u", structures[at / (places - 1)], halves[(index - 1) % FORK_HALF], place,
             slot < place ? slot : slot + 1);
    return text;
}

#define FORKS_MODEL(identifier, title, text, run, exit, found)                                                         \
    const struct register_protocol identifier = {                                                                      \
        .name = title,                                                                                                 \
        .summary = text,                                                                                               \
        .places_least = 2,                                                                                             \
        .places_most = PROCESSES_MOST,                                                                                 \
        .passage_size = sizeof(struct forks_passage),                                                                  \
        .words = no_words,                                                                                             \
        .bits = forks_bits,                                                                                            \
        .enter = run,                                                                                                  \
        .leave = exit,                                                                                                 \
        .dead_bit = dead_bit,                                                                                          \
        .name_register = name_register,                                                                                \
        .slots = true,                                                                                                 \
        .refutes = found,                                                                                              \
    };

FORKS_MODEL(model_forks, "forks", "Dolev, Gafni & Shavit 1988, repaired: l-exclusion from safe bits", enter, leave,
            NULL)
FORKS_MODEL(model_forks_printed, "forks-printed", "construction 8 as printed: with one stopped, others are locked out",
            enter_printed, leave, "lockout")
FORKS_MODEL(model_forks_redirect_idle, "forks-redirect-idle",
            "update(GRAPH) also redirects to those in their Remainder", enter_redirect_idle, leave, "lockout")
FORKS_MODEL(model_forks_read_twice, "forks-read-twice", "update(RANGE) and the test read the graph each for itself",
            enter_read_twice, leave, "lockout")
FORKS_MODEL(model_forks_forgetful, "forks-forgetful", "a fork once read as offered may be read otherwise",
            enter_forgetful, leave, "lockout")
FORKS_MODEL(model_forks_swapped, "forks-swapped", "w is read before f", enter_swapped, leave, "exclusion")
FORKS_MODEL(model_forks_without_range, "forks-without-range", "without RANGE: figure 3 of the paper",
            enter_without_range, leave, "lockout")
FORKS_MODEL(model_forks_forget_at_leave, "forks-forget-at-leave",
            "what was read as offered is forgotten with the passage", enter, leave_forgetting, "lockout")
