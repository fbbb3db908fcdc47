/* SPDX-License-Identifier: MIT */
/* Garg's proof of Lamport's algorithm, step by step: what it says of the states, judged in each.
 *
 * The present states of the nodes are a consistent cut, and every two concurrent states are in some
 * cut. In a cut s ↛ t holds for any two, and msg(s,t) is: something is on its way from s.p to t.p.
 *
 * Claims 1 and 2 say that a state will come in which v[j] and q[j] are above the request. That it
 * comes is the search's (lockout); that it has come with an entry is judged here.
 */
#include "check/messages/messages_state.h"

enum { GARG_MODE_BITS = 3 }; /* as lamport.c packs its queue */

/* q and v of a node, as lamport.c lays them out. */
static uint64_t *garg_q(const struct messages_model *model, struct model_node *node)
{
    return node->words + model->words - 2 * (size_t)model->options.nodes;
}

static uint64_t *garg_v(const struct messages_model *model, struct model_node *node)
{
    return garg_q(model, node) + model->options.nodes;
}

static uint64_t number_of(uint64_t q)
{
    return q == UINT64_MAX ? q : q >> GARG_MODE_BITS;
}

static bool on_its_way(const struct model_state *state, unsigned from, unsigned to)
{
    for (unsigned i = 0; i < state->packets; i++)
        if (state->packet[i].event == EVENT_MESSAGE && state->packet[i].message.from == from &&
            state->packet[i].mask >> to & 1)
            return true;
    return false;
}

const char *garg_judge_state(const struct messages_model *model, struct model_state *state)
{
    const unsigned nodes = model->options.nodes;
    for (unsigned p = 0; p < nodes; p++)
        for (unsigned r = 0; r < nodes; r++) {
            const uint64_t own = garg_q(model, &state->node[p])[p],
                           known = garg_q(model, &state->node[r])[p],
                           heard = garg_v(model, &state->node[r])[p];
            if (p == r || own == known)
                continue;
            if (messages_judges(model, MESSAGES_LEMMA_1) && !on_its_way(state, p, r))
                return "lemma-1: nothing is on its way, and t.q[s.p] is not s.q[s.p]";
            if (messages_judges(model, MESSAGES_LEMMA_2) && number_of(own) < heard)
                return "lemma-2: s.q[s.p] < t.v[s.p], and t.q[s.p] is not s.q[s.p]";
        }
    return NULL;
}

/* t is the state in which `process` has just requested. For each s of a request that happened
 * before, and waits still: it was received (1: false with three nodes, since FIFO channels do not
 * keep the order of a detour); both numbers are the clocks at their requests (2, 4); s's is the
 * lesser (3); and if it was received, it stands in t's queue as it was made (5, 6). */
const char *garg_judge_request(const struct messages_model *model, struct model_state *state,
                               unsigned process)
{
    const bool facts = messages_judges(model, MESSAGES_FACTS);
    const uint64_t *q = garg_q(model, &state->node[process]);
    if (facts && number_of(q[process]) != model_head(&state->node[process])->own[0])
        return "facts: 2, t.q[t.p] is not the clock of its request";
    for (unsigned i = 0; i < model->options.nodes; i++) {
        if (!(state->node[process].after >> i & 1))
            continue;
        const uint64_t theirs = garg_q(model, &state->node[i])[i];
        if (messages_judges(model, MESSAGES_FACT_1) && q[i] != theirs)
            return "fact-1: a request that happened before was not received before";
        if (facts && q[i] != theirs && q[i] != UINT64_MAX)
            return "facts: 5, a request stands otherwise in the queue than it was made";
        if (facts && number_of(theirs) >= number_of(q[process]))
            return "facts: 3 and 6, a request that happened before has no lesser number";
    }
    return NULL;
}

/* t0 is the state in which `process` has just entered: its request stands as it was made (7), and
 * comes before all others that it knows (8). With 6 that is 9. */
const char *garg_judge_entry(const struct messages_model *model, struct model_state *state,
                             unsigned process)
{
    const struct node *node = model_head(&state->node[process]);
    const uint64_t *q = garg_q(model, &state->node[process]),
                   *v = garg_v(model, &state->node[process]), mine = number_of(q[process]);
    for (unsigned j = 0; j < model->options.nodes; j++) {
        if (j == process)
            continue;
        if (messages_judges(model, MESSAGES_CLAIM_1) &&
            (v[j] < mine || (v[j] == mine && j < process)))
            return "claim-1: somebody was not heard after the request";
        const unsigned mode = (unsigned)(q[j] & ((1 << GARG_MODE_BITS) - 1));
        const bool later = q[j] == UINT64_MAX || !modes_conflict(node->mode, mode) ||
                           number_of(q[j]) > mine || (number_of(q[j]) == mine && j > process);
        if (messages_judges(model, MESSAGES_CLAIM_2) && !later)
            return "claim-2: a request that is known comes before";
        if (messages_judges(model, MESSAGES_FACTS) &&
            (!later || mine > node->own[0] || q[process] == UINT64_MAX))
            return "facts: 7 and 8, who enters is not first in its own queue";
    }
    return NULL;
}
