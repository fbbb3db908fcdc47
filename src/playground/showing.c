/* SPDX-License-Identifier: MIT */
/* Whether a run that a person made shows that a property is broken.
 *
 * What the search's analyses find in the whole graph is looked for in one run here, by the same
 * definitions (check/search/analyses.h). A cycle is a stretch of the run that ends in the state in
 * which it began, numbers aside: it could be gone round for ever. What shows in one state, by all
 * that can follow it, is in standing.c.
 */
#include <stdlib.h>
#include <string.h>

#include "check/search/analyses.h"
#include "playground/playground.h"

static enum status status_at(const struct session *session, size_t index, unsigned process)
{
    const struct system *system = session->asked.system;
    return system->status(system, session_state(session, index), process);
}

/* Whether the process has one of these statuses in every state from `from` to `to`. */
static bool stays_in(const struct session *session, size_t from, size_t to, unsigned process,
                     unsigned statuses)
{
    for (size_t at = from; at <= to; at++)
        if (!(statuses >> status_at(session, at, process) & 1))
            return false;
    return true;
}

void session_reduce(const struct session *session, const unsigned char *state, unsigned char *copy)
{
    const struct register_model *model = &session->asked.words.model;
    memmove(copy, state, session->asked.system->size);
    if (session->asked.kind == ASKED_REGISTERS && model->protocol->normalise)
        model->protocol->normalise(model, copy);
}

/* What a fair cycle owes each process: a step of its own, or a state in which it has none; likewise
 * its surroundings. */
static bool is_fair(struct session *session, size_t from, size_t to)
{
    const struct system *system = session->asked.system;
    const unsigned all = (1u << 2 * PROCESSES_MOST) - 1;
    unsigned paid = 0;
    for (size_t at = from; at < to || at == from; at++) {
        unsigned possible = 0;
        session_look(session, at);
        for (unsigned each = 0; each < session->out->count; each++) {
            const struct move move = session->out->move[each];
            if (move.kind == MOVE_STEP)
                possible |= 1u << move.process;
            if (move.kind == MOVE_SYSTEM)
                possible |= 1u << (PROCESSES_MOST + move.process);
        }
        paid |= ~possible & all;
        if (at < to && session->moves[at].move.kind == MOVE_STEP)
            paid |= 1u << session->moves[at].move.process;
        if (at < to && session->moves[at].move.kind == MOVE_SYSTEM)
            paid |= 1u << (PROCESSES_MOST + session->moves[at].move.process);
    }
    for (unsigned process = system->processes; process < PROCESSES_MOST; process++)
        paid |= 1u << process | 1u << (PROCESSES_MOST + process);
    return paid == all;
}

static bool kinds_within(const struct session *session, size_t from, size_t to, unsigned kinds)
{
    for (size_t at = from; at < to; at++)
        if (!(kinds >> session->moves[at].move.kind & 1))
            return false;
    return true;
}

/* What the process waits for holds. On a cycle on which nobody enters it stays so. */
static bool is_able(const struct session *session, size_t index, unsigned process)
{
    const struct system *system = session->asked.system;
    return !system->able || system->able(system, session_state(session, index), process);
}

/* A cycle on which somebody waits for ever; if `able`, with a true condition. */
static bool starves(struct session *session, size_t from, size_t to, unsigned kinds, bool able,
                    char *why, size_t room)
{
    if (!kinds_within(session, from, to, kinds))
        return false;
    for (unsigned victim = 0; victim < session->asked.system->processes; victim++)
        if (asked_may_suffer(&session->asked, victim) &&
            stays_in(session, from, to, victim, WAITING) &&
            (!able || is_able(session, from, victim)) && is_fair(session, from, to)) {
            snprintf(why, room, "%s%u waits, and the moves from %zu on can go round for ever",
                     asked_who(&session->asked), asked_place(&session->asked, victim), from + 1);
            return true;
        }
    return false;
}

/* A cycle on which one enters while another waits. */
static bool overtakes(const struct session *session, size_t from, size_t to, char *why, size_t room)
{
    const struct system *system = session->asked.system;
    for (unsigned victim = 0; victim < system->processes; victim++) {
        if (!stays_in(session, from, to, victim, 1u << STATUS_ACTIVE | 1u << STATUS_QUEUED))
            continue;
        for (size_t at = from; at < to; at++) {
            const struct move move = session->moves[at].move;
            if (move.enters && move.process != victim &&
                system->conflict(system, session_state(session, at + 1), victim, move.process)) {
                snprintf(why, room, "%s%u passes %s%u, and from move %zu on it can do so for ever",
                         asked_who(&session->asked), asked_place(&session->asked, move.process),
                         asked_who(&session->asked), asked_place(&session->asked, victim),
                         from + 1);
                return true;
            }
        }
    }
    return false;
}

/* A cycle without an error on which exclusion is broken. */
static bool relapses(struct session *session, size_t from, size_t to, char *why, size_t room)
{
    const struct system *system = session->asked.system;
    if (!system->legitimate ||
        !kinds_within(session, from, to, 1u << MOVE_STEP | 1u << MOVE_START | 1u << MOVE_SYSTEM))
        return false;
    for (size_t at = from; at < to; at++)
        if (!system->legitimate(system, session_state(session, at)) && is_fair(session, from, to)) {
            snprintf(why, room,
                     "two are inside, without any further error, and the moves from %zu on can go "
                     "round for ever",
                     from + 1);
            return true;
        }
    return false;
}

/* A cycle of one process's own steps without a nap (alone), or of anybody's, on which it never
 * looks at its deadline. */
static bool runs_on(const struct session *session, size_t from, size_t to, bool alone, char *why,
                    size_t room)
{
    const unsigned least = alone ? WAITS_NAPS : WAITS_HEEDS;
    for (unsigned process = 0; process < session->asked.system->processes; process++) {
        bool fits = stays_in(session, from, to, process, WAITING | 1u << STATUS_LEAVING);
        bool moves = false;
        for (size_t at = from; fits && at < to; at++) {
            const struct move move = session->moves[at].move;
            if (move.process != process) {
                fits = !alone;
                continue;
            }
            fits = move.kind == MOVE_SYSTEM ||
                   (move.kind == MOVE_STEP && (move.enters || move.waits < least));
            moves = true;
        }
        if (fits && moves) {
            snprintf(why, room,
                     alone ? "%s%u spins from move %zu on while nobody else moves"
                           : "%s%u goes on from move %zu without a look at its deadline",
                     asked_who(&session->asked), asked_place(&session->asked, process), from + 1);
            return true;
        }
    }
    return false;
}

static bool shows_cycle(struct session *session, size_t from, size_t to, enum property property,
                        char *why, size_t room)
{
    switch (property) {
    case PROPERTY_LOCKOUT:
        return starves(session, from, to, 1u << MOVE_STEP | 1u << MOVE_START | 1u << MOVE_SYSTEM,
                       false, why, room);
    case PROPERTY_RELIABILITY:
        return starves(session, from, to, KINDS_ALL, false, why, room);
    case PROPERTY_ABLE:
        return starves(session, from, to, 1u << MOVE_STEP | 1u << MOVE_SYSTEM, true, why, room);
    case PROPERTY_OVERTAKING:
        return overtakes(session, from, to, why, room);
    case PROPERTY_QUIET:
        return runs_on(session, from, to, true, why, room);
    case PROPERTY_GIVING_UP:
        return runs_on(session, from, to, false, why, room);
    case PROPERTY_RECOVERY:
        return relapses(session, from, to, why, room);
    default:
        return false;
    }
}

static bool find_cycle(struct session *session, size_t index, enum property property, char *why,
                       size_t room)
{
    const size_t size = session->asked.system->size;
    unsigned char here[STATE_SIZE_MOST] __attribute__((aligned(8)));
    unsigned char there[STATE_SIZE_MOST] __attribute__((aligned(8)));
    session_reduce(session, session_state(session, index), here);
    for (size_t from = index; from-- > 0;) {
        session_reduce(session, session_state(session, from), there);
        if (memcmp(here, there, size) == 0 &&
            shows_cycle(session, from, index, property, why, room))
            return true;
    }
    /* Nobody can move: it stays so for ever. */
    session_look(session, index);
    for (unsigned at = 0; at < session->out->count; at++)
        if (session->out->move[at].kind == MOVE_STEP || session->out->move[at].kind == MOVE_SYSTEM)
            return false;
    return (property == PROPERTY_LOCKOUT || property == PROPERTY_RELIABILITY ||
            property == PROPERTY_ABLE) &&
           starves(session, index, index, KINDS_ALL, property == PROPERTY_ABLE, why, room);
}

/* Whether a process has yet to look at all others, should it enter. */
static bool is_fresh(const struct session *session, size_t index, unsigned process, bool by_class)
{
    const struct system *system = session->asked.system;
    const enum status status = status_at(session, index, process);
    return status == STATUS_IDLE || (by_class && status == STATUS_QUEUED &&
                                     system->rests(system, session_state(session, index), process));
}

/* First come, first served: who was queued before a rival began is inside before it. By class: who
 * should precede and was queued before a rival looked anew. */
static bool shows_inversion(const struct session *session, size_t index, bool by_class, char *why,
                            size_t room)
{
    const struct system *system = session->asked.system;
    if (by_class && !system->precedes)
        return false;
    for (size_t at = 0; at < index; at++) {
        const struct move move = session->moves[at].move;
        if (!move.enters)
            continue;
        for (unsigned first = 0; first < system->processes; first++) {
            const unsigned char *after = session_state(session, at + 1);
            if (first == move.process || !system->conflict(system, after, first, move.process) ||
                (by_class && !system->precedes(system, after, first, move.process)))
                continue;
            for (size_t since = at + 1;
                 since-- > 0 && status_at(session, since, first) == STATUS_QUEUED;)
                if (is_fresh(session, since, move.process, by_class)) {
                    snprintf(why, room, "%s%u was in the queue before %s%u %s",
                             asked_who(&session->asked), asked_place(&session->asked, first),
                             asked_who(&session->asked), asked_place(&session->asked, move.process),
                             by_class ? "looked, and should precede it" : "began");
                    return true;
                }
        }
    }
    return false;
}

/* Somebody asked, nobody else is there, and it is as if it had not asked. */
static bool shows_unheard(const struct session *session, size_t index, char *why, size_t room)
{
    if (index == 0 || session->moves[index - 1].move.kind != MOVE_START)
        return false;
    for (unsigned process = 0; process < session->asked.system->processes; process++)
        if (status_at(session, index, process) != STATUS_IDLE)
            return false;
    snprintf(why, room, "%s%u asked, and nothing comes of it", asked_who(&session->asked),
             asked_place(&session->asked, session->moves[index - 1].move.process));
    return true;
}

bool session_shows(struct session *session, size_t index, enum property property, char *why,
                   size_t room)
{
    switch (property) {
    case PROPERTY_SAFETY:
        for (size_t at = 0; at < index; at++)
            if (session->moves[at].broken) {
                snprintf(why, room, "%s", session->moves[at].broken);
                return true;
            }
        return false;
    case PROPERTY_PROGRESS:
        return standing_stuck(session, index, why, room);
    case PROPERTY_ORDER:
    case PROPERTY_PRECEDENCE:
        return shows_inversion(session, index, property == PROPERTY_PRECEDENCE, why, room);
    case PROPERTY_REACHED:
        return shows_unheard(session, index, why, room) ||
               standing_refused(session, session_state(session, index), why, room);
    default:
        return find_cycle(session, index, property, why, room);
    }
}
