/* SPDX-License-Identifier: MIT */
/* The verdict on a system: each property, whether it holds, and a run that shows it where it does
 * not. */
#include "check/search/verdict.h"

#include <errno.h>
#include <stdio.h>

#include "check/search/analyses.h"

static const char *const names[] = {
#define PROPERTY_NAME(identifier, name, meaning) name,
    PROPERTIES(PROPERTY_NAME)
#undef PROPERTY_NAME
};

static const char *const meanings[] = {
#define PROPERTY_MEANING(identifier, name, meaning) meaning,
    PROPERTIES(PROPERTY_MEANING)
#undef PROPERTY_MEANING
};

const char *property_name(enum property property)
{
    return names[property];
}

const char *property_meaning(enum property property)
{
    return meanings[property];
}

static bool wanted(const struct verdict *verdict, enum property property)
{
    return verdict->properties >> property & 1;
}

/* Turns what an analysis answers (0, 1 with a way, or a negative errno) into a finding. */
static int conclude(const struct search *search, struct finding *finding, int answer,
                    const struct way *way, bool closes)
{
    if (answer < 0)
        return answer;
    finding->answer = answer ? ANSWER_BROKEN : ANSWER_HOLDS;
    if (!answer)
        return 0;
    const struct hop *hops = (const struct hop *)(const void *)way->hops.bytes;
    int error = run_to(search, way->start, &finding->run);
    if (!error)
        error = run_along(search, hops, way_length(way), closes, &finding->run);
    return error ? error : run_tell(search->system, &finding->run);
}

static int judge_progress(struct search *search, const struct statuses *statuses,
                          struct verdict *verdict)
{
    struct finding *finding = &verdict->finding[PROPERTY_PROGRESS];
    uint32_t stuck = 0;
    const int answer = progress_find_stuck(search, statuses, verdict->newcomers, &stuck);
    if (answer < 0)
        return answer;
    finding->answer = answer ? ANSWER_BROKEN : ANSWER_HOLDS;
    if (!answer)
        return 0;
    const int error = run_to(search, stuck, &finding->run);
    return error ? error : run_tell(search->system, &finding->run);
}

/* From its first public step on, until it is inside. */
enum { FROM_ACTIVE = 1 << STATUS_ACTIVE | 1 << STATUS_QUEUED };

typedef int finder(struct search *search, const struct statuses *statuses, struct way *way);

static int starvation_find_reliably(struct search *search, const struct statuses *statuses,
                                    struct way *cycle)
{
    return starvation_find(search, statuses, KINDS_ALL, cycle);
}

static int starvation_find_lively(struct search *search, const struct statuses *statuses,
                                  struct way *cycle)
{
    return starvation_find(search, statuses, 1u << MOVE_STEP | 1u << MOVE_START | 1u << MOVE_SYSTEM,
                           cycle);
}

/* How each is looked for, whether it is a cycle, and what it does to its victim. */
static const struct {
    finder *find;
    bool closes;
    const char *what;
} searched[PROPERTY_COUNT] = {
    [PROPERTY_RELIABILITY] = {starvation_find_reliably, true, "waits for ever"},
    [PROPERTY_LOCKOUT] = {starvation_find_lively, true, "waits for ever"},
    [PROPERTY_ORDER] = {order_find_inversion, false, "was queued first"},
    [PROPERTY_QUIET] = {patience_find_spin, true, "spins while nobody else moves"},
    [PROPERTY_GIVING_UP] = {patience_find_heedless, true,
                            "goes on and on without a look at its deadline"},
    [PROPERTY_ABLE] = {starvation_find_able, true, "waits for ever though its condition is true"},
    [PROPERTY_PRECEDENCE] = {order_find_slight, false, "should have gone first"},
};

static int judge_way(struct search *search, const struct statuses *statuses,
                     struct verdict *verdict, enum property property)
{
    struct finding *finding = &verdict->finding[property];
    struct way way = {0};
    const int answer = searched[property].find(search, statuses, &way);
    const int error = conclude(search, finding, answer, &way, searched[property].closes);
    if (answer == 1)
        snprintf(finding->detail, sizeof finding->detail, "process %u %s", way.victim,
                 searched[property].what);
    store_release(&search->store, &way.hops);
    return error;
}

/* There is a bound that was asked for, and a run that goes beyond it. */
static int judge_overtaken(struct search *search, const struct statuses *statuses,
                           struct verdict *verdict, const struct overtaking *active)
{
    struct finding *finding = &verdict->finding[PROPERTY_OVERTAKING];
    struct way way = {0};
    const int answer =
        overtaken_find(search, statuses, FROM_ACTIVE, active, verdict->overtaken, &way);
    const int error = conclude(search, finding, answer, &way, false);
    snprintf(finding->detail, sizeof finding->detail, "process %u is passed %u times", way.victim,
             verdict->overtaken + 1);
    store_release(&search->store, &way.hops);
    return error;
}

static int judge_overtaking(struct search *search, const struct statuses *statuses,
                            struct verdict *verdict)
{
    struct finding *finding = &verdict->finding[PROPERTY_OVERTAKING];
    struct overtaking queued, active;
    int error = overtaking_measure(search, statuses, 1u << STATUS_QUEUED, &queued);
    if (!error)
        error = overtaking_measure(search, statuses, FROM_ACTIVE, &active);
    if (error)
        return error;
    verdict->overtakes_queued = queued.worst == OVERTAKES_UNBOUNDED ? -1 : queued.worst;
    verdict->overtakes_active = active.worst == OVERTAKES_UNBOUNDED ? -1 : active.worst;
    finding->answer = ANSWER_HOLDS;
    if (verdict->overtaken && active.worst > verdict->overtaken)
        return judge_overtaken(search, statuses, verdict, &active);
    if (active.worst != OVERTAKES_UNBOUNDED)
        return 0;
    snprintf(finding->detail, sizeof finding->detail, "process %u passes process %u without bound",
             active.overtaker, active.victim);
    /* Round: the move that overtakes, and the way back to where it was made. */
    const struct walk walk = {
        .process = active.victim, .statuses = FROM_ACTIVE, .kinds = KINDS_ALL};
    const struct hop overtakes = active.overtakes;
    const uint32_t beyond = graph_edges(&search->graph, overtakes.state).targets[overtakes.edge];
    struct way round = {.start = overtakes.state};
    error = way_append(search, &round, overtakes.state, overtakes.edge) ? 0 : -ENOMEM;
    if (!error)
        error = way_find(search, statuses, &walk, beyond, overtakes.state, &round);
    if (!error)
        error = conclude(search, finding, 1, &round, true);
    store_release(&search->store, &round.hops);
    return error;
}

/* Needs no graph, and has no run: what was never reached is at the end of none. */
static void judge_reached(const struct search *search, struct finding *finding)
{
    const struct system *system = search->system;
    const uint64_t missing = system->goals & ~search->reached;
    char *end = finding->detail;
    finding->answer = missing ? ANSWER_BROKEN : ANSWER_HOLDS;
    for (uint64_t left = missing ? missing : system->goals; left; left &= left - 1) {
        char name[GOAL_NAME];
        const size_t room = sizeof finding->detail - (size_t)(end - finding->detail);
        system->name_goal(system, (unsigned)__builtin_ctzll(left), name, sizeof name);
        const int length = snprintf(end, room, "%s%s",
                                    end > finding->detail ? ", "
                                    : missing             ? "never: "
                                                          : "",
                                    name);
        if (length < 0 || (size_t)length >= room)
            return;
        end += length;
    }
}

/* A cycle with fewer kinds of moves is a cycle with more: if there is none of these, there is none
 * of those. */
static const enum property stronger[PROPERTY_COUNT] = {
    [PROPERTY_LOCKOUT] = PROPERTY_RELIABILITY, [PROPERTY_ABLE] = PROPERTY_LOCKOUT};
static int judge_doorway(struct search *search, const struct statuses *statuses,
                         struct verdict *verdict)
{
    struct finding *finding = &verdict->finding[PROPERTY_DOORWAY];
    struct doorway doorway;
    const int answer = doorway_measure(search, statuses, &doorway);
    if (answer < 0)
        return answer;
    verdict->doorway_steps = answer ? -1 : (int)doorway.steps;
    finding->answer = answer ? ANSWER_BROKEN : ANSWER_HOLDS;
    if (!answer)
        return 0;
    const struct walk walk = {
        .process = doorway.victim, .statuses = DOORWAY_STATUSES, .kinds = KINDS_ALL};
    const struct hop spins = doorway.spins;
    const uint32_t beyond = graph_edges(&search->graph, spins.state).targets[spins.edge];
    struct way round = {.start = spins.state};
    int error = way_append(search, &round, spins.state, spins.edge) ? 0 : -ENOMEM;
    if (!error)
        error = way_find(search, statuses, &walk, beyond, spins.state, &round);
    if (!error)
        error = conclude(search, finding, 1, &round, true);
    snprintf(finding->detail, sizeof finding->detail, "process %u stays in its doorway",
             doorway.victim);
    store_release(&search->store, &round.hops);
    return error;
}

static int judge_admission(struct search *search, const struct statuses *statuses,
                           struct verdict *verdict)
{
    struct finding *finding = &verdict->finding[PROPERTY_ADMISSION];
    struct doorway doorway = {.steps = verdict->interval};
    struct admission admission;
    int answer = verdict->interval ? 0 : doorway_measure(search, statuses, &doorway);
    if (answer == 1) {
        snprintf(finding->detail, sizeof finding->detail,
                 "a doorway has no bound: say how long a round is with --interval");
        return 0;
    }
    if (!answer)
        answer = admission_measure(search, statuses, doorway.steps, &admission);
    if (answer < 0)
        return answer;
    verdict->rounds.events = (int)admission.events;
    verdict->rounds.most = answer ? -1 : (int)admission.intervals;
    finding->answer = answer ? ANSWER_BROKEN : ANSWER_HOLDS;
    if (!answer)
        return 0;
    snprintf(finding->detail, sizeof finding->detail,
             "process %u may wait for ever from here on, though nothing stands in its way",
             admission.victim);
    const int error = run_to(search, admission.stuck, &finding->run);
    return error ? error : run_tell(search->system, &finding->run);
}

static int judge_recovery(struct search *search, const struct statuses *statuses,
                          struct finding *finding)
{
    struct way cycle = {0};
    const int answer = recovery_find_relapse(search, statuses, &cycle);
    const int error = conclude(search, finding, answer, &cycle, true);
    if (answer == 1)
        snprintf(finding->detail, sizeof finding->detail, "exclusion breaks again and again");
    store_release(&search->store, &cycle.hops);
    return error;
}

static int judge_graph(struct search *search, struct verdict *verdict)
{
    /* the stronger ones first */
    static const enum property ways[] = {PROPERTY_RELIABILITY, PROPERTY_LOCKOUT, PROPERTY_ABLE,
                                         PROPERTY_ORDER,       PROPERTY_QUIET,   PROPERTY_GIVING_UP,
                                         PROPERTY_PRECEDENCE};
    struct statuses statuses;
    int error = statuses_read(search, &statuses);
    if (!error && wanted(verdict, PROPERTY_PROGRESS))
        error = judge_progress(search, &statuses, verdict);
    for (size_t at = 0; !error && at < sizeof ways / sizeof *ways; at++) {
        const enum property property = ways[at];
        if (!wanted(verdict, property))
            continue;
        if (stronger[property] && verdict->finding[stronger[property]].answer == ANSWER_HOLDS)
            verdict->finding[property].answer = ANSWER_HOLDS;
        else
            error = judge_way(search, &statuses, verdict, property);
    }
    if (!error && wanted(verdict, PROPERTY_OVERTAKING))
        error = judge_overtaking(search, &statuses, verdict);
    if (!error && wanted(verdict, PROPERTY_DOORWAY))
        error = judge_doorway(search, &statuses, verdict);
    if (!error && wanted(verdict, PROPERTY_ADMISSION) && search->system->permitted)
        error = judge_admission(search, &statuses, verdict);
    if (!error && wanted(verdict, PROPERTY_RECOVERY) && search->system->legitimate)
        error = judge_recovery(search, &statuses, &verdict->finding[PROPERTY_RECOVERY]);
    store_release(&search->store, &statuses.packed);
    return error;
}

int verdict_reach(struct search *search, struct verdict *verdict)
{
    verdict->overtakes_active = verdict->overtakes_queued = verdict->doorway_steps = -2;
    verdict->rounds.most = -2;
    for (unsigned property = 0; property < PROPERTY_COUNT; property++)
        verdict->finding[property].answer =
            wanted(verdict, property) ? ANSWER_UNKNOWN : ANSWER_SKIPPED;
    search->keep_graph = (verdict->properties & ~PROPERTIES_OF_STATES) != 0;
    int error = search_run(search);
    if (error)
        return error;
    search->peak = search->store.peak;
    struct finding *safety = &verdict->finding[PROPERTY_SAFETY];
    if (search->end == SEARCH_VIOLATED) {
        safety->answer = ANSWER_BROKEN;
        safety->broken = search->violated;
        if (search->untold) {
            snprintf(safety->detail, sizeof safety->detail,
                     "a run of %u moves: it does not fit into the memory", search->depth + 1);
            return 0;
        }
        error = run_to(search, search->culprit, &safety->run);
        if (!error && search->by_move && !run_append(&safety->run, search->last))
            error = -ENOMEM;
        safety->run.loop = safety->run.count;
        return error ? error : run_tell(search->system, &safety->run);
    }
    if (search->end != SEARCH_EXHAUSTED)
        return 0;
    /* Where errors may break exclusion, recovery is what is judged of it. */
    safety->answer = search->system->legitimate ? ANSWER_SKIPPED : ANSWER_HOLDS;
    if (wanted(verdict, PROPERTY_REACHED))
        judge_reached(search, &verdict->finding[PROPERTY_REACHED]);
    store_forget_table(&search->store);
    error = search->keep_graph ? judge_graph(search, verdict) : 0;
    if (error) { /* the analyses did not fit: a limit, like the search's own */
        search->end = SEARCH_MEMORY;
        error = 0;
    }
    search->peak = search->store.peak;
    return error;
}

void verdict_close(struct verdict *verdict)
{
    for (unsigned property = 0; property < PROPERTY_COUNT; property++)
        run_close(&verdict->finding[property].run);
}
