/* SPDX-License-Identifier: MIT */
/* Whether a state shows that a property is broken: by a search of all that can follow it. */
#include <string.h>

#include "check/search/analyses.h"
#include "playground/playground.h"

/* The system from one state on, as far as those who move can take it: an entry that is waited for
 * ends the search. */
struct rest {
    struct system system;
    const struct session *session;
    const unsigned char *from;
    unsigned kinds;   /* of moves, a bit each */
    unsigned resting; /* processes that take no steps, a bit each */
    unsigned wanted;  /* whose entry is waited for, a bit each */
    bool reduced;
};

static void rest_begin(const struct system *system, unsigned char *state)
{
    const struct rest *rest = system->context;
    memcpy(state, rest->from, system->size);
    if (rest->reduced)
        session_reduce(rest->session, rest->from, state);
}

static bool rest_has(const struct rest *rest, struct move move)
{
    return rest->kinds >> move.kind & 1 &&
           !(move.kind == MOVE_STEP && rest->resting >> move.process & 1);
}

static void rest_successors(const struct system *system, const unsigned char *state,
                            struct successors *out)
{
    const struct rest *rest = system->context;
    const struct system *whole = rest->session->asked.system;
    whole->successors(whole, state, out);
    unsigned kept = 0;
    for (unsigned at = 0; at < out->count; at++) {
        const struct move move = out->move[at];
        if (!rest_has(rest, move))
            continue;
        out->move[kept] = move;
        out->stays[kept] = out->stays[at];
        out->complaint[kept] = move.enters && rest->wanted >> move.process & 1 ? "entry" : NULL;
        memmove(out->states + kept * out->size, out->states + at * out->size, out->size);
        if (rest->reduced)
            session_reduce(rest->session, out->states + kept * out->size,
                           out->states + kept * out->size);
        kept++;
    }
    out->count = kept;
}

static const char *nobody_waits(const struct system *system, const unsigned char *state)
{
    const struct rest *rest = system->context;
    const struct system *whole = rest->session->asked.system;
    for (unsigned process = 0; process < whole->processes; process++)
        if (WAITING >> whole->status(whole, state, process) & 1)
            return NULL;
    return "nobody waits";
}

static const char *no_judge(const struct system *system, const unsigned char *state)
{
    (void)system, (void)state;
    return NULL;
}

/* True if nobody that is waited for can enter. */
static bool rest_search(struct rest *rest)
{
    rest->system.context = rest;
    rest->system.begin = rest_begin;
    rest->system.successors = rest_successors;
    rest->system.goals = 0;
    struct search search = {.system = &rest->system,
                            .limits = {.memory = (size_t)1 << 27, .states = 1u << 18}};
    enum search_end end = search_run(&search) == 0 ? search.end : SEARCH_MEMORY;
    search_close(&search);
    /* Numbers as they are, if that comes to an end; a newcomer may make them grow for ever. */
    if (!rest->reduced && end != SEARCH_EXHAUSTED && end != SEARCH_VIOLATED) {
        rest->reduced = true;
        return rest_search(rest);
    }
    return end == SEARCH_EXHAUSTED;
}

bool standing_stuck(const struct session *session, size_t index, char *why, size_t room)
{
    struct rest rest = {
        .system = *session->asked.system,
        .session = session,
        .from = session_state(session, index),
        .kinds = 1u << MOVE_STEP | 1u << MOVE_SYSTEM |
                 (asked_needs_newcomers(&session->asked) ? 1u << MOVE_START : 0),
        .wanted = ~0u,
    };
    rest.system.judge = nobody_waits;
    const bool stuck = rest_search(&rest);
    if (stuck)
        snprintf(why, room, "%s",
                 session->asked.kind == ASKED_LINK
                     ? "something was said, and nothing that must happen brings it there and tells "
                       "its sender"
                     : "somebody waits, and whatever is done now, nobody can enter");
    return stuck;
}

/* Those inside, if all others are outside, and the process may be inside together with them. 0 if
 * it may not, or if there is nobody. */
static unsigned company_of(const struct session *session, const unsigned char *state,
                           unsigned process)
{
    const struct system *system = session->asked.system;
    const unsigned slots =
        session->asked.kind == ASKED_REGISTERS ? session->asked.words.model.slots : 1;
    unsigned inside = 0;
    for (unsigned other = 0; other < system->processes; other++) {
        const enum status status = system->status(system, state, other);
        if (other == process || status == STATUS_IDLE)
            continue;
        if (status != STATUS_INSIDE ||
            (slots <= 1 && system->conflict(system, state, process, other)))
            return 0;
        inside |= 1u << other;
    }
    return slots > 1 && (unsigned)__builtin_popcount(inside) >= slots ? 0 : inside;
}

bool standing_refused(const struct session *session, const unsigned char *state, char *why,
                      size_t room)
{
    const struct system *system = session->asked.system;
    for (unsigned process = 0; process < system->processes; process++) {
        const unsigned company = company_of(session, state, process);
        if (!(WAITING >> system->status(system, state, process) & 1) || !company ||
            (system->able && !system->able(system, state, process)))
            continue;
        struct rest rest = {
            .system = *system,
            .session = session,
            .from = state,
            .kinds = 1u << MOVE_STEP | 1u << MOVE_SYSTEM,
            .resting = company,
            .wanted = 1u << process,
        };
        rest.system.judge = no_judge;
        if (!rest_search(&rest))
            continue;
        snprintf(why, room, "%s%u waits for %s%u, though the two may be inside together",
                 asked_who(&session->asked), asked_place(&session->asked, process),
                 asked_who(&session->asked),
                 asked_place(&session->asked, (unsigned)__builtin_ctz(company)));
        return true;
    }
    return false;
}
