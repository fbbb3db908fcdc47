/* SPDX-License-Identifier: MIT */
/* Progress, starvation, order and overtaking, on toy systems whose answers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "check/search/verdict.h"
#include "toy.h"

enum { P0, P1, P2 };

struct judged {
    struct search search;
    struct verdict verdict;
};

static void judge(struct judged *judged, const struct toy *toy, unsigned properties)
{
    *judged = (struct judged){.search = {.system = &toy->system, .limits = {.memory = 64 << 20}},
                              .verdict = {.properties = properties}};
    assert_int_equal(verdict_reach(&judged->search, &judged->verdict), 0);
    assert_int_equal(judged->search.end, SEARCH_EXHAUSTED);
}

static void close_judged(struct judged *judged)
{
    verdict_close(&judged->verdict);
    search_close(&judged->search);
}

static void expect_answer(const struct toy *toy, enum property property, enum answer answer)
{
    struct judged judged;
    judge(&judged, toy, 1u << property);
    assert_int_equal(judged.verdict.finding[property].answer, answer);
    close_judged(&judged);
}

/* The run's cycle really is one, and on it these processes make steps. */
static void expect_cycle(const struct toy *toy, enum property property, unsigned steppers)
{
    struct judged judged;
    judge(&judged, toy, 1u << property);
    assert_int_equal(judged.verdict.finding[property].answer, ANSWER_BROKEN);
    const struct check_run *run = &judged.verdict.finding[property].run;
    assert_true(run->loop < run->count);
    assert_int_equal(toy_follow(toy, run, run->loop), toy_follow(toy, run, run->count));
    unsigned stepped = 0;
    for (size_t at = run->loop; at < run->count; at++)
        if (run->steps[at].move.kind == MOVE_STEP)
            stepped |= 1u << run->steps[at].move.process;
    assert_int_equal(stepped, steppers);
    close_judged(&judged);
}

/* P0 waits in 1, and goes in whenever it steps; P1 goes round and round. Only if P0 stands still
 *    does it starve. */
static void starves_only_unfairly(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P1, MOVE_STEP, false}, {2, 1, P1, MOVE_STEP, false},
        {1, 3, P0, MOVE_STEP, true},   {2, 3, P0, MOVE_STEP, true},  {3, 0, P0, MOVE_STEP, false},
    };
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [2] = {STATUS_QUEUED, STATUS_INSIDE},
                                 [3] = {STATUS_INSIDE, STATUS_IDLE}}};
    TOY_OPEN(&toy, 2, moves);
    expect_answer(&toy, PROPERTY_LOCKOUT, ANSWER_HOLDS);
    expect_answer(&toy, PROPERTY_RELIABILITY, ANSWER_HOLDS);
    expect_answer(&toy, PROPERTY_PROGRESS, ANSWER_HOLDS);
}

/* The same, but P0 can step in 2 to no avail, and is never able to enter but from 1, where its step
 * is a look that enters: weak fairness is content with the look in 2. */
static void starves_fairly(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P1, MOVE_STEP, true}, {2, 1, P1, MOVE_STEP, false},
        {2, 2, P0, MOVE_STEP, false},  {1, 3, P0, MOVE_STEP, true}, {3, 0, P0, MOVE_STEP, false},
    };
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [2] = {STATUS_QUEUED, STATUS_INSIDE},
                                 [3] = {STATUS_INSIDE, STATUS_QUEUED}}};
    TOY_OPEN(&toy, 2, moves);
    expect_cycle(&toy, PROPERTY_LOCKOUT, 1u << P0 | 1u << P1);
    expect_cycle(&toy, PROPERTY_RELIABILITY, 1u << P0 | 1u << P1);
    expect_answer(&toy, PROPERTY_PROGRESS, ANSWER_HOLDS);
}

/* All three only look, in one state: the cycle must name each of them, though it never leaves the
 * state. */
static void everybody_looks(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false},
        {1, 1, P0, MOVE_STEP, false},
        {1, 1, P1, MOVE_STEP, false},
        {1, 1, P2, MOVE_STEP, false},
    };
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_QUEUED, STATUS_QUEUED}}};
    TOY_OPEN(&toy, 3, moves);
    expect_cycle(&toy, PROPERTY_LOCKOUT, 1u << P0 | 1u << P1 | 1u << P2);
    expect_answer(&toy, PROPERTY_PROGRESS, ANSWER_BROKEN);
}

/* P0 starves only while P1 dies again and again: that is reliability, not lockout. */
static void starves_by_deaths(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P1, MOVE_START, false}, {2, 2, P0, MOVE_STEP, false},
        {2, 3, P1, MOVE_STEP, true},   {2, 1, P1, MOVE_DEATH, false}, {1, 4, P0, MOVE_STEP, true},
        {3, 3, P0, MOVE_STEP, false},  {3, 5, P1, MOVE_STEP, false},  {5, 4, P0, MOVE_STEP, true},
    };
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_IDLE},
                                 [2] = {STATUS_QUEUED, STATUS_DOORWAY},
                                 [3] = {STATUS_QUEUED, STATUS_INSIDE},
                                 [4] = {STATUS_INSIDE, STATUS_IDLE},
                                 [5] = {STATUS_QUEUED, STATUS_IDLE}}};
    TOY_OPEN(&toy, 2, moves);
    expect_answer(&toy, PROPERTY_LOCKOUT, ANSWER_HOLDS);
    expect_answer(&toy, PROPERTY_RELIABILITY, ANSWER_BROKEN);
}

/* Nobody can move in 2, and P0 waits there. */
static void deadlock(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 3, P0, MOVE_STEP, true}, {1, 2, P1, MOVE_START, false}};
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_IDLE},
                                 [2] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [3] = {STATUS_INSIDE, STATUS_IDLE}}};
    TOY_OPEN(&toy, 2, moves);
    struct judged judged;
    judge(&judged, &toy, 1u << PROPERTY_PROGRESS | 1u << PROPERTY_LOCKOUT);
    const struct finding *finding = &judged.verdict.finding[PROPERTY_PROGRESS];
    assert_int_equal(finding->answer, ANSWER_BROKEN);
    assert_int_equal(finding->run.count, 2);
    assert_int_equal(toy_follow(&toy, &finding->run, 2), 2);
    /* Waiting for ever where nobody can move is starvation, too, and fair to all. */
    assert_int_equal(judged.verdict.finding[PROPERTY_LOCKOUT].answer, ANSWER_BROKEN);
    assert_int_equal(toy_follow(&toy, &judged.verdict.finding[PROPERTY_LOCKOUT].run, 2), 2);
    close_judged(&judged);
}

/* That somebody could still enter by dying, or because somebody new comes, is no progress. */
static void death_is_no_progress(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P1, MOVE_DEATH, false}, {2, 3, P0, MOVE_STEP, true}};
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [2] = {STATUS_QUEUED, STATUS_IDLE},
                                 [3] = {STATUS_INSIDE, STATUS_IDLE}}};
    TOY_OPEN(&toy, 2, moves);
    expect_answer(&toy, PROPERTY_PROGRESS, ANSWER_BROKEN);
}

/* P0 goes round two states by itself: it spins, unless it naps on the way. Its own look that finds
 *    nothing is a nap. */
static void spins(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {{0, 1, P0, MOVE_START, false},
                                            {1, 2, P0, MOVE_STEP, false},
                                            {2, 1, P0, MOVE_STEP, false},
                                            {2, 2, P0, MOVE_STEP, false}};
    struct toy toy = {
        .status = {[1] = {STATUS_QUEUED, STATUS_INSIDE}, [2] = {STATUS_QUEUED, STATUS_INSIDE}}};
    TOY_OPEN(&toy, 2, moves);
    toy.waits[3] = WAITS_NAPS;
    expect_cycle(&toy, PROPERTY_QUIET, 1u << P0);
    toy.waits[2] = WAITS_HEEDS; /* to look at a deadline is not to sleep */
    expect_cycle(&toy, PROPERTY_QUIET, 1u << P0);
    toy.waits[2] = WAITS_NAPS;
    expect_answer(&toy, PROPERTY_QUIET, ANSWER_HOLDS);
}

/* P0 goes from 1 to 2, and P1 takes it back: alone P0 would be asleep in 2, so it is quiet. If it
 *    never looks at its deadline, it
 * cannot give up. */
static void never_heeds(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P0, MOVE_STEP, false}, {2, 1, P1, MOVE_STEP, false}};
    struct toy toy = {
        .status = {[1] = {STATUS_QUEUED, STATUS_INSIDE}, [2] = {STATUS_QUEUED, STATUS_INSIDE}}};
    TOY_OPEN(&toy, 2, moves);
    expect_answer(&toy, PROPERTY_QUIET, ANSWER_HOLDS);
    expect_cycle(&toy, PROPERTY_GIVING_UP, 1u << P0 | 1u << P1);
    toy.waits[1] = WAITS_HEEDS;
    expect_answer(&toy, PROPERTY_GIVING_UP, ANSWER_HOLDS);
}

/* P0 is queued in 1; P1 begins and is inside first. */
static void order(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {{0, 1, P0, MOVE_START, false},
                                            {1, 2, P1, MOVE_START, false},
                                            {2, 3, P1, MOVE_STEP, false},
                                            {3, 4, P1, MOVE_STEP, true}};
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_IDLE},
                                 [2] = {STATUS_QUEUED, STATUS_DOORWAY},
                                 [3] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [4] = {STATUS_QUEUED, STATUS_INSIDE}}};
    TOY_OPEN(&toy, 2, moves);
    struct judged judged;
    judge(&judged, &toy, 1u << PROPERTY_ORDER);
    const struct finding *finding = &judged.verdict.finding[PROPERTY_ORDER];
    assert_int_equal(finding->answer, ANSWER_BROKEN);
    assert_int_equal(toy_follow(&toy, &finding->run, finding->run.count), 4);
    close_judged(&judged);
    /* If P0 was not yet queued when P1 began, the order was never settled. */
    toy.status[1][P0] = STATUS_DOORWAY;
    expect_answer(&toy, PROPERTY_ORDER, ANSWER_HOLDS);
}

/* P0 sleeps in 1 until P1 begins. A newcomer may well be what it waits for, so this is progress;
 * but not if its condition is true. */
static void only_a_newcomer_helps(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P1, MOVE_START, false}, {2, 3, P0, MOVE_STEP, true}};
    struct toy toy = {.status = {[1] = {STATUS_QUEUED, STATUS_IDLE},
                                 [2] = {STATUS_QUEUED, STATUS_LEAVING},
                                 [3] = {STATUS_INSIDE, STATUS_LEAVING}},
                      .unable = {[1] = {true}}};
    TOY_OPEN(&toy, 2, moves);
    expect_answer(&toy, PROPERTY_ABLE, ANSWER_HOLDS);
    toy.unable[1][P0] = false;
    struct judged judged;
    judge(&judged, &toy, 1u << PROPERTY_ABLE);
    const struct finding *finding = &judged.verdict.finding[PROPERTY_ABLE];
    assert_int_equal(finding->answer, ANSWER_BROKEN);
    assert_int_equal(toy_follow(&toy, &finding->run, finding->run.count), 1);
    close_judged(&judged);
}

/* P1 is asleep in 1, while P0 comes into the queue; then P1 goes in first. */
static void precedence(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {{0, 1, P1, MOVE_START, false},
                                            {1, 2, P0, MOVE_START, false},
                                            {2, 3, P1, MOVE_STEP, false},
                                            {3, 4, P1, MOVE_STEP, true}};
    struct toy toy = {.status = {[1] = {STATUS_IDLE, STATUS_QUEUED},
                                 [2] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [3] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [4] = {STATUS_QUEUED, STATUS_INSIDE}},
                      .rests = {[1] = {[P1] = true}, [2] = {[P1] = true}}};
    TOY_OPEN(&toy, 2, moves);
    expect_answer(&toy, PROPERTY_ORDER, ANSWER_HOLDS);
    struct judged judged;
    judge(&judged, &toy, 1u << PROPERTY_PRECEDENCE);
    const struct finding *finding = &judged.verdict.finding[PROPERTY_PRECEDENCE];
    assert_int_equal(finding->answer, ANSWER_BROKEN);
    assert_int_equal(toy_follow(&toy, &finding->run, finding->run.count), 4);
    close_judged(&judged);
    /* If it was past its look when P0 came, it could not know. */
    toy.rests[2][P1] = false;
    expect_answer(&toy, PROPERTY_PRECEDENCE, ANSWER_HOLDS);
}

/* P0 waits while P1 enters `times` times and P2 once; then it enters. */
static void expect_overtaken(unsigned times)
{
    struct toy_move moves[16] = {{0, 1, P0, MOVE_START, false}};
    struct toy toy = {0};
    unsigned count = 1, state = 1;
    for (unsigned at = 0; at < times; at++, state++)
        moves[count++] = (struct toy_move){state, state + 1, P1, MOVE_STEP, true};
    for (unsigned at = 1; at <= state; at++)
        toy.status[at][P0] = STATUS_QUEUED;
    moves[count++] = (struct toy_move){state, state + 1, P0, MOVE_STEP, true};
    /* a way that is not the heaviest */
    moves[count++] = (struct toy_move){1, state, P2, MOVE_STEP, false};
    toy.status[state + 1][P0] = STATUS_INSIDE;
    toy_open(&toy, 3, moves, count);
    struct judged judged;
    judge(&judged, &toy, 1u << PROPERTY_OVERTAKING);
    assert_int_equal(judged.verdict.overtakes_queued, (int)times);
    assert_int_equal(judged.verdict.overtakes_active, (int)times);
    assert_int_equal(judged.verdict.finding[PROPERTY_OVERTAKING].answer, ANSWER_HOLDS);
    close_judged(&judged);
}

static void overtaking_is_exact(void **unused)
{
    (void)unused;
    for (unsigned times = 0; times <= 9; times++)
        expect_overtaken(times);
}

/* From the queue once, but from the first public step without bound. */
static void overtaking_without_bound(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P1, MOVE_STEP, true}, {2, 1, P1, MOVE_STEP, false},
        {1, 3, P0, MOVE_STEP, false},  {3, 4, P1, MOVE_STEP, true}, {4, 5, P0, MOVE_STEP, true},
    };
    struct toy toy = {.status = {[1] = {STATUS_ACTIVE, STATUS_QUEUED},
                                 [2] = {STATUS_ACTIVE, STATUS_INSIDE},
                                 [3] = {STATUS_QUEUED, STATUS_QUEUED},
                                 [4] = {STATUS_QUEUED, STATUS_INSIDE},
                                 [5] = {STATUS_INSIDE, STATUS_IDLE}}};
    TOY_OPEN(&toy, 2, moves);
    struct judged judged;
    judge(&judged, &toy, 1u << PROPERTY_OVERTAKING);
    assert_int_equal(judged.verdict.overtakes_queued, 1);
    assert_int_equal(judged.verdict.overtakes_active, -1);
    const struct finding *finding = &judged.verdict.finding[PROPERTY_OVERTAKING];
    assert_int_equal(finding->answer, ANSWER_BROKEN);
    assert_int_equal(finding->run.count - finding->run.loop, 2);
    assert_int_equal(toy_follow(&toy, &finding->run, finding->run.loop),
                     toy_follow(&toy, &finding->run, finding->run.count));
    close_judged(&judged);
}

/* State 3 is on the list of moves, but nothing leads there. */
static void what_is_never_reached_is_told(void **unused)
{
    (void)unused;
    static const struct toy_move moves[] = {
        {0, 1, P0, MOVE_START, false}, {1, 2, P0, MOVE_STEP, true}, {3, 2, P1, MOVE_STEP, true}};
    struct toy toy = {.bad = 0};
    struct judged judged;
    TOY_OPEN(&toy, 2, moves);
    toy.system.goals = 1u << 1 | 1u << 2;
    judge(&judged, &toy, 1u << PROPERTY_REACHED);
    assert_int_equal(judged.verdict.finding[PROPERTY_REACHED].answer, ANSWER_HOLDS);
    assert_string_equal(judged.verdict.finding[PROPERTY_REACHED].detail, "state 1, state 2");
    assert_int_equal(judged.search.graph.labels.used, 0); /* it needs no graph */
    close_judged(&judged);
    toy.system.goals |= 1u << 3;
    judge(&judged, &toy, 1u << PROPERTY_REACHED);
    assert_int_equal(judged.verdict.finding[PROPERTY_REACHED].answer, ANSWER_BROKEN);
    assert_string_equal(judged.verdict.finding[PROPERTY_REACHED].detail, "never: state 3");
    assert_int_equal(judged.verdict.finding[PROPERTY_REACHED].run.count, 0);
    close_judged(&judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starves_only_unfairly),
        cmocka_unit_test(starves_fairly),
        cmocka_unit_test(everybody_looks),
        cmocka_unit_test(starves_by_deaths),
        cmocka_unit_test(deadlock),
        cmocka_unit_test(death_is_no_progress),
        cmocka_unit_test(spins),
        cmocka_unit_test(never_heeds),
        cmocka_unit_test(order),
        cmocka_unit_test(only_a_newcomer_helps),
        cmocka_unit_test(precedence),
        cmocka_unit_test(overtaking_is_exact),
        cmocka_unit_test(overtaking_without_bound),
        cmocka_unit_test(what_is_never_reached_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
