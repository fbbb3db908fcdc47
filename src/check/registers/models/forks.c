/* SPDX-License-Identifier: MIT */
/* `forks` under the checker: repaired, as printed, and with each repair missing. */
#include <stdio.h>

#include "check/papers/constructions.h"
#include "check/registers/models/models.h"
#include "protocols/registers/forks.h"

#define RULES(...) ((struct forks_rules){__VA_ARGS__})

MODEL_PASSAGE(enter, forks, forks_enter(my, at))
MODEL_PASSAGE(enter_printed, forks,
              forks_run(my, at,
                        RULES(.redirect_idle = true, .read_twice = true, .forgetful = true)))
MODEL_PASSAGE(enter_redirect_idle, forks, forks_run(my, at, RULES(.redirect_idle = true)))
MODEL_PASSAGE(enter_read_twice, forks, forks_run(my, at, RULES(.read_twice = true)))
MODEL_PASSAGE(enter_forgetful, forks, forks_run(my, at, RULES(.forgetful = true)))
MODEL_PASSAGE(enter_swapped, forks, forks_run(my, at, RULES(.swapped = true)))
MODEL_PASSAGE(enter_without_range, forks, forks_run(my, at, RULES(.no_range = true)))
#define WRONG(...) ((struct constructions_rules){__VA_ARGS__})

MODEL_PASSAGE(enter_oracle, forks, constructions_oracle(my, at, WRONG()))
MODEL_PASSAGE(enter_oracle_hasty, forks, constructions_oracle(my, at, WRONG(.no_redirect = true)))
MODEL_PASSAGE(enter_static, forks, constructions_static(my, at))
MODEL_PASSAGE(enter_ids, forks, constructions_ids(my, at, WRONG()))
MODEL_PASSAGE(enter_ids_meek, forks, constructions_ids(my, at, WRONG(.initializes = true)))
MODEL_PASSAGE(enter_claim_2, forks, constructions_claim_2(my, at, WRONG()))
MODEL_PASSAGE(enter_claim_2_greedy, forks, constructions_claim_2(my, at, WRONG(.keeps = true)))
MODEL_PASSAGE(leave, forks, forks_leave(my, at))
MODEL_PASSAGE(leave_forgetting, forks, forks_exit(my, at, RULES(.forget_at_leave = true)))

/* Who has found what it waited for leaves, and keeps its forks. */
static enum passage_result nothing(void *passage, struct registers *at)
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

/* One that died stopped in its Remainder: its x is clear, and its forks are where it left them. */
static bool dead_bit(unsigned index, bool value)
{
    return index != 0 && value;
}

/* Where in its half of a fork a process may have stopped, and the bit it was writing (FORK_F … plus
 * one). The first three are between mutations; an arrow is never left in use. */
static const struct half {
    uint8_t holds : 1, wp : 1, wq : 1, writing : 2;
} halves[] = {
    {0},                            /* the other holds it */
    {.holds = 1},                   /* offered */
    {.holds = 1, .wp = 1, .wq = 1}, /* in use */
    {.writing = FORK_WP + 1},       /* take: wp, wq, f */
    {.wp = 1},
    {.wp = 1, .writing = FORK_WQ + 1},
    {.wp = 1, .wq = 1},
    {.wp = 1, .wq = 1, .writing = FORK_F + 1},
    {.holds = 1, .wp = 1, .wq = 1, .writing = FORK_WP + 1}, /* offer: wp, wq */
    {.holds = 1, .wq = 1},
    {.holds = 1, .wq = 1, .writing = FORK_WQ + 1},
};

enum { HALVES = sizeof halves / sizeof *halves, ARROW_RESTS = 2, ID_RESTS = 3 };

/* In the middle of what a process stopped: nothing, its x, or fork number `middle` - MIDDLE_FORK.
 */
enum { MIDDLE_NONE, MIDDLE_X, MIDDLE_FORK };

/* Between mutations a fork is in one of so many ways; while x is written no ID is in use. */
static unsigned rests(unsigned others, unsigned fork, unsigned middle)
{
    return fork < FORK_ID * others || middle == MIDDLE_X ? ARROW_RESTS : ID_RESTS;
}

static uint64_t stops_with(unsigned others, unsigned middle)
{
    uint64_t ways = 1;
    for (unsigned fork = 0; fork < FORK_STRUCTURES * others; fork++) {
        const unsigned resting = rests(others, fork, middle);
        ways *= fork + MIDDLE_FORK == middle ? HALVES - resting : resting;
    }
    return ways;
}

static uint64_t stops(const struct register_model *model)
{
    const unsigned others = model->places - 1;
    uint64_t ways = 0;
    for (unsigned middle = 0; middle < MIDDLE_FORK + FORK_STRUCTURES * others; middle++)
        ways += stops_with(others, middle);
    return ways;
}

/* Process `who` has x set and its half of every fork as `how` says, given how the others have
 * theirs. */
static void stop(const struct register_model *model, unsigned char *state, unsigned who,
                 uint64_t how)
{
    const unsigned others = model->places - 1, place = model->place_of[who];
    struct model_process *process = model_process(model, state, who);
    unsigned middle = 0;
    for (; how >= stops_with(others, middle); middle++)
        how -= stops_with(others, middle);
    model_set_bit(model, state, who, 0, true);
    process->writing = middle == MIDDLE_X;
    for (unsigned fork = 0; fork < FORK_STRUCTURES * others; fork++) {
        const bool here = fork + MIDDLE_FORK == middle;
        const unsigned resting = rests(others, fork, middle),
                       ways = here ? HALVES - resting : resting;
        const struct half half = halves[how % ways + (here ? resting : 0)];
        const unsigned slot = fork % others, other = slot < place ? slot : slot + 1,
                       first = 1 + FORK_HALF * fork;
        const unsigned its_fork = fork / others * others + (place < other ? place : place - 1);
        const bool its_f =
            model_bit(model, state, model->process_of[other], 1 + FORK_HALF * its_fork);
        how /= ways;
        model_set_bit(model, state, who, first + FORK_F, (half.holds == (place > other)) == its_f);
        model_set_bit(model, state, who, first + FORK_WP, half.wp);
        model_set_bit(model, state, who, first + FORK_WQ, half.wq);
        if (half.writing)
            process->writing = (uint16_t)(first + half.writing);
    }
}

static const char *name_register(unsigned places, unsigned place, unsigned index, char *text,
                                 size_t room)
{
    static const char *const structures[] = {"GRAPH", "RANGE", "ID"}, *const bits[] = {"f", "wp",
                                                                                       "wq"};
    if (index == 0) {
        snprintf(text, room, "x%u", place);
        return text;
    }
    const unsigned at = (index - 1) / FORK_HALF, slot = at % (places - 1);
    snprintf(text, room, "%s.%s%u,%u", structures[at / (places - 1)], bits[(index - 1) % FORK_HALF],
             place, slot < place ? slot : slot + 1);
    return text;
}

#define FORKS_MODEL(identifier, title, text, run, exit, found, ...)                                \
    const struct register_protocol identifier = {.name = title,                                    \
                                                 .summary = text,                                  \
                                                 .places_least = 2,                                \
                                                 .places_most = PROCESSES_MOST,                    \
                                                 .passage_size = sizeof(struct forks_passage),     \
                                                 .words = no_words,                                \
                                                 .bits = forks_bits,                               \
                                                 .enter = run,                                     \
                                                 .leave = exit,                                    \
                                                 .dead_bit = dead_bit,                             \
                                                 .stops = stops,                                   \
                                                 .stop = stop,                                     \
                                                 .name_register = name_register,                   \
                                                 .default_places = 2,                              \
                                                 .promises = 1u << PROPERTY_LOCKOUT,               \
                                                 .slots = true,                                    \
                                                 .refutes = found,                                 \
                                                 __VA_ARGS__};

FORKS_MODEL(model_forks, "forks",
            "Dolev, Gafni & Shavit 1988, repaired: l-exclusion from safe bits", enter, leave, NULL)
FORKS_MODEL(model_forks_printed, "forks-printed",
            "construction 8 as printed: with one stopped, others are locked out", enter_printed,
            leave, "lockout")
FORKS_MODEL(model_forks_redirect_idle, "forks-redirect-idle",
            "update(GRAPH) also redirects to those in their Remainder", enter_redirect_idle, leave,
            "lockout")
FORKS_MODEL(model_forks_read_twice, "forks-read-twice",
            "update(RANGE) and the test read the graph each for itself", enter_read_twice, leave,
            "lockout")
FORKS_MODEL(model_forks_forgetful, "forks-forgetful",
            "a fork once read as offered may be read otherwise", enter_forgetful, leave, "lockout")
FORKS_MODEL(model_forks_swapped, "forks-swapped", "w is read before f", enter_swapped, leave,
            "exclusion")
FORKS_MODEL(model_forks_without_range, "forks-without-range",
            "without RANGE: figure 3 of the paper", enter_without_range, leave, "lockout")
FORKS_MODEL(model_forks_forget_at_leave, "forks-forget-at-leave",
            "what was read as offered is forgotten with the passage", enter, leave_forgetting,
            "lockout")
FORKS_MODEL(model_forks_oracle, "forks-oracle",
            "construction 5: l-exclusion, whatever an oracle redirects; it may deadlock",
            enter_oracle, leave, NULL)
FORKS_MODEL(model_forks_oracle_hasty, "forks-oracle-hasty",
            "construction 5 without the first redirecting", enter_oracle_hasty, leave, "exclusion")
FORKS_MODEL(model_forks_static, "forks-static",
            "construction 6: the place is the id; who has a low one may be locked out",
            enter_static, leave, NULL)
FORKS_MODEL(model_forks_ids, "forks-ids", "construction 7: ids that grow while one is blocked",
            enter_ids, nothing, NULL, .endless = true)
FORKS_MODEL(model_forks_ids_meek, "forks-ids-meek",
            "construction 7: the blocked process offers its forks in every round", enter_ids_meek,
            nothing, "lockout", .endless = true)
FORKS_MODEL(model_fork_claim_2, "fork-claim-2",
            "claim 2: who always takes and never offers gets the fork", enter_claim_2, nothing,
            NULL, .endless = true)
FORKS_MODEL(model_fork_claim_2_greedy, "fork-claim-2-greedy",
            "claim 2, where the other never offers", enter_claim_2_greedy, nothing, "progress",
            .endless = true)
