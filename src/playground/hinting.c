/* SPDX-License-Identifier: MIT */
/* How one could go on: the shortest way from a state of the run to where a property is broken. */
#include <string.h>

#include "playground/playground.h"

enum { HINT_SECONDS = 5 }; /* who asks for a hint waits for it */

/* Where the search begins, and of what run. Set by session_hint for the length of one search. */
static const unsigned char *beginning;
static const struct session *hinted;

static void begin_there(const struct system *system, unsigned char *state)
{
    memcpy(state, beginning, system->size);
}

static const char *judge_refused(const struct system *system, const unsigned char *state)
{
    (void)system;
    char why[160];
    return standing_refused(hinted, state, why, sizeof why) ? "reached" : NULL;
}

enum hint session_hint(struct session *session, size_t index, enum property property,
                       struct check_run *run)
{
    struct register_model *model = &session->asked.words.model;
    struct system system = *session->asked.system;
    memcpy(session->scratch, session_state(session, index), system.size);
    if (session->asked.kind == ASKED_REGISTERS && model->protocol->normalise && !model->weak)
        model->protocol->normalise(model, session->scratch);
    beginning = session->scratch;
    hinted = session;
    system.begin = begin_there;
    if (property == PROPERTY_REACHED)
        system.judge = judge_refused;
    struct search search = {.system = &system,
                            .limits = {.memory = (size_t)1 << 28, .seconds = HINT_SECONDS}};
    model->unreduced = false; /* the search is finite only so */
    const int failed = search_run(&search);
    model->unreduced = true;
    enum hint hint = failed || search.end != SEARCH_EXHAUSTED ? HINT_TOO_FAR : HINT_NONE;
    if (!failed && search.end == SEARCH_VIOLATED && run_to(&search, search.culprit, run) == 0 &&
        (!search.by_move || run_append(run, search.last)) && run->count)
        hint = HINT_FOUND;
    search_close(&search);
    return hint;
}
