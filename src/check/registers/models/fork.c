/* SPDX-License-Identifier: MIT */
/* The fork alone under the checker: properties P1 to P5, and what breaks them. */
#include <stdio.h>

#include "check/papers/fork_alone.h"
#include "check/registers/models/models.h"

#define RULES(...) ((struct forks_rules){__VA_ARGS__})

MODEL_PASSAGE(run, fork_alone, fork_alone_run(my, at, RULES()))
MODEL_PASSAGE(run_forgetful, fork_alone, fork_alone_run(my, at, RULES(.forgetful = true)))
MODEL_PASSAGE(run_swapped, fork_alone, fork_alone_run(my, at, RULES(.swapped = true)))
MODEL_PASSAGE(run_one_copy, fork_alone, fork_alone_run(my, at, RULES(.one_copy = true)))

static enum passage_result leave(void *passage, struct registers *at)
{
    (void)passage;
    (void)at;
    return PASSED;
}

static unsigned no_words(unsigned places)
{
    (void)places;
    return 0;
}

static unsigned bits(unsigned places)
{
    return 1 + FORK_HALF * (places - 1);
}

/* The two mutators do what they like, all others read; and one read is the first. */
static bool may_begin(const struct register_model *model, const unsigned char *state,
                      unsigned process, unsigned request)
{
    const struct fork_alone_passage *first = model_passage(model, state, 0);
    if (request == FORK_FIRST_READ)
        return !first->record.begun;
    return process < 2 || request == FORK_READ;
}

static const char *name_register(unsigned places, unsigned place, unsigned index, char *text,
                                 size_t room)
{
    static const char *const names[] = {"f", "wp", "wq"};
    (void)places;
    snprintf(text, room, "%s%u", index ? names[(index - 1) % FORK_HALF] : "x", place);
    return text;
}

#define FORK_MODEL(identifier, title, text, enters, found)                                         \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = 3,                                                                          \
        .default_places = 3,                                                                       \
        .passage_size = sizeof(struct fork_alone_passage),                                         \
        .words = no_words,                                                                         \
        .bits = bits,                                                                              \
        .enter = enters,                                                                           \
        .leave = leave,                                                                            \
        .operations = true,                                                                        \
        .slots = true,                                                                             \
        .may_begin = may_begin,                                                                    \
        .name_register = name_register,                                                            \
        .default_requests =                                                                        \
            1u << FORK_READ | 1u << FORK_TAKE | 1u << FORK_OFFER | 1u << FORK_FIRST_READ,          \
        .promises = 1u << PROPERTY_DOORWAY,                                                        \
        .refutes = found,                                                                          \
    };

FORK_MODEL(model_fork, "fork", "Dolev, Gafni & Shavit 1988: the fork alone, P1 to P5", run, NULL)
FORK_MODEL(model_fork_forgetful, "fork-forgetful",
           "what was read as offered is not remembered: as printed", run_forgetful, "exclusion")
FORK_MODEL(model_fork_swapped, "fork-swapped", "w is read before F: footnote 4", run_swapped,
           "exclusion")
FORK_MODEL(model_fork_one_copy, "fork-one-copy", "w in one copy: without construction 3",
           run_one_copy, "exclusion")
