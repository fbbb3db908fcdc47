/* SPDX-License-Identifier: MIT */
/* What ties of register protocols have in common: see registers.h. */
#include "registers.h"

#include <stdio.h>
#include <string.h>

const char *tie_label(const struct register_model *model, const unsigned char *state,
                      unsigned process)
{
    unsigned char copy[STATE_SIZE_MOST] __attribute__((aligned(8)));
    struct registers at;
    memcpy(copy, state, model->system.size);
    register_model_make(model, copy, (struct move){.process = (uint8_t)process, .kind = MOVE_STEP},
                        &at);
    return at.access.line ? at.access.line->label : "";
}

static void make(const struct system *inner, unsigned char *state, struct move move)
{
    struct registers at;
    register_model_make(inner->context, state, move, &at);
}

/* Whether what was found is what must be found. */
static bool as_expected(const char *finds, const char *found)
{
    return finds ? found && strcmp(finds, found) == 0 : !found;
}

int tie_cases(int count, char **words, const struct proof *proof, const struct tie_case *cases,
              void (*see)(const struct system *inner, const unsigned char *state, void *view))
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const bool all = count > 1 && strcmp(words[1], "--all") == 0;
    int wrong = 0;
    for (const struct tie_case *one = cases; one->model; one++) {
        if (one->long_one && !all)
            continue;
        struct register_model model = one->with;
        model.protocol = register_protocol_find(one->model);
        model.places = one->places;
        model.passages = one->passages;
        model.unreduced = one->passages != 0;
        printf("%s, %u places, %s%s%s\n", one->model, one->places,
               one->passages ? "passages bounded" : "any number of passages",
               one->left_out ? ", the proof without " : "", one->left_out ? one->left_out : "");
        if (!model.protocol || register_model_open(&model)) {
            fprintf(stderr, "tie: these settings do not fit %s\n", one->model);
            return 125;
        }
        const struct tie tie = {.proof = proof,
                                .inner = &model.system,
                                .make = make,
                                .see = see,
                                .modes = TIE_MODES,
                                .reduced = !one->passages,
                                .left_out = one->left_out};
        const char *found = tie_search(&tie);
        printf("  %s%s\n", found ? found : "every state has the invariant, every move is a step",
               one->finds ? ", as it must be" : "");
        if (!as_expected(one->finds, found)) {
            printf("  WRONG: expected %s\n", one->finds ? one->finds : "nothing to be found");
            wrong = 1;
        }
    }
    return wrong;
}
