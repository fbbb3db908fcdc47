/* SPDX-License-Identifier: MIT */
/* How one could go on: the shortest way from a state of the run to a safety violation. */
#include <string.h>

#include "playground/playground.h"

/* Where the search begins. Set by session_hint for the length of one search. */
static const unsigned char *beginning;

static void begin_there(const struct system *system, unsigned char *state)
{
    memcpy(state, beginning, system->size);
}

bool session_hint(struct session *session, size_t index, struct check_run *run)
{
    struct register_model *model = &session->asked.words.model;
    struct system system = *session->asked.system;
    memcpy(session->scratch, session_state(session, index), system.size);
    if (!session->asked.messages && model->protocol->normalise && !model->weak)
        model->protocol->normalise(model, session->scratch);
    beginning = session->scratch;
    system.begin = begin_there;
    struct search search = {.system = &system,
                            .limits = {.memory = (size_t)1 << 28, .states = 1u << 20}};
    model->unreduced = false; /* the search is finite only so */
    bool found = search_run(&search) == 0 && search.end == SEARCH_VIOLATED;
    model->unreduced = true;
    if (found)
        found = run_to(&search, search.culprit, run) == 0;
    if (found && search.by_move)
        found = run_append(run, search.last);
    search_close(&search);
    return found && run->count;
}
