/* SPDX-License-Identifier: MIT */
/* Toy systems for the checker: a list of moves between numbered states. */
#include "toy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static unsigned state_of(const unsigned char *state)
{
    uint64_t number;
    memcpy(&number, state, sizeof number);
    return (unsigned)number;
}

static void set_state(unsigned char *state, uint64_t number)
{
    memcpy(state, &number, sizeof number);
}

static void begin(const struct system *system, unsigned char *state)
{
    (void)system;
    set_state(state, 0);
}

static void successors(const struct system *system, const unsigned char *state,
                       struct successors *out)
{
    const struct toy *toy = system->context;
    for (size_t at = 0; at < toy->count; at++) {
        const struct toy_move *move = &toy->moves[at];
        if (move->from != state_of(state))
            continue;
        const struct move made = {.process = (uint8_t)move->process,
                                  .kind = (uint8_t)move->kind,
                                  .enters = move->enters,
                                  .waits = at < TOY_STATES_MOST ? toy->waits[at] & 3 : 0,
                                  .choice = (uint8_t)at};
        set_state(successors_add(out, made), move->to);
        out->stays[out->count - 1] = move->from == move->to;
    }
}

static const char *judge(const struct system *system, const unsigned char *state)
{
    const struct toy *toy = system->context;
    return toy->bad && state_of(state) == toy->bad ? "exclusion" : NULL;
}

static enum status status(const struct system *system, const unsigned char *state, unsigned process)
{
    const struct toy *toy = system->context;
    return toy->status[state_of(state)][process];
}

static bool conflict(const struct system *system, const unsigned char *state, unsigned i,
                     unsigned j)
{
    (void)system, (void)state;
    return i != j;
}

static bool able(const struct system *system, const unsigned char *state, unsigned process)
{
    const struct toy *toy = system->context;
    return !toy->unable[state_of(state)][process];
}

/* P0 precedes the others. */
static bool precedes(const struct system *system, const unsigned char *state, unsigned i,
                     unsigned j)
{
    (void)system, (void)state;
    return i == 0 && j != 0;
}

static bool rests(const struct system *system, const unsigned char *state, unsigned process)
{
    const struct toy *toy = system->context;
    return toy->rests[state_of(state)][process];
}

/* The goal of a state is to be reached. */
static uint64_t reaches(const struct system *system, const unsigned char *state)
{
    return UINT64_C(1) << state_of(state) & system->goals;
}

static void name_goal(const struct system *system, unsigned goal, char *text, size_t room)
{
    (void)system;
    snprintf(text, room, "state %u", goal);
}

static void narrate(const struct system *system, unsigned char *state, struct move move, char *line,
                    size_t room)
{
    const struct toy *toy = system->context;
    const struct toy_move *made = &toy->moves[move.choice];
    assert_int_equal(state_of(state), made->from);
    snprintf(line, room, "%u to %u", made->from, made->to);
    set_state(state, made->to);
}

void toy_open(struct toy *toy, unsigned processes, const struct toy_move *moves, size_t count)
{
    assert_in_range(count, 1, 256);
    toy->moves = moves;
    toy->count = count;
    toy->system = (struct system){
        .name = "toy",
        .size = sizeof(uint64_t),
        .part_size = sizeof(uint64_t),
        .processes = processes,
        .all_conflict = true,
        .context = toy,
        .begin = begin,
        .successors = successors,
        .judge = judge,
        .status = status,
        .conflict = conflict,
        .able = able,
        .precedes = precedes,
        .rests = rests,
        .reaches = reaches,
        .name_goal = name_goal,
        .narrate = narrate,
    };
}

unsigned toy_follow(const struct toy *toy, const struct check_run *run, size_t moves)
{
    unsigned state = 0;
    assert_in_range(moves, 0, run->count);
    for (size_t at = 0; at < moves; at++) {
        const struct toy_move *made = &toy->moves[run->steps[at].move.choice];
        assert_int_equal(made->from, state);
        assert_int_equal(made->process, run->steps[at].move.process);
        state = made->to;
    }
    return state;
}
