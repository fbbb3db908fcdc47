/* SPDX-License-Identifier: MIT */
/* Assertions: one that holds costs nothing but its condition; one that fails says where, which
 * invariant, and which condition, in one line, and aborts. */
#include "common/assert.h"
#include "harness.h"
#include "memory/courtesy/lane.h"

/* What a child that runs `broken` writes to stderr before it aborts. */
static void read_complaint(void (*broken)(void), char *text, size_t room)
{
    int pipes[2], status;
    CHECK_EQUAL(pipe(pipes), 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(pipes[1], STDERR_FILENO);
        prctl(PR_SET_DUMPABLE, 0);
        broken();
        _exit(0);
    }
    close(pipes[1]);
    const ssize_t length = read(pipes[0], text, room - 1); /* all of it: it is one write */
    text[length > 0 ? length : 0] = '\0';
    close(pipes[0]);
    CHECK_EQUAL(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void expect_complaint(void (*broken)(void), const char *what)
{
    char text[512];
    read_complaint(broken, text, sizeof text);
    if (!strstr(text, what) || !strstr(text, ".") || strchr(text, '\n') != strrchr(text, '\n'))
        FAIL("'%s' does not say '%s'", text, what);
}

static void break_invariant(void)
{
    const unsigned place = 3;
    assert_invariant(L2, place < 3);
}

static void break_precondition(void)
{
    const unsigned place = 3;
    assert_required(place < 3);
}

static void open_twice(void)
{
    struct lane lane = {.state = LANE_CLOSED};
    lane_open(&lane, 1);
    lane_open(&lane, 1);
}

static void open_to_nobody(void)
{
    struct lane lane = {.state = LANE_CLOSED};
    lane_open_retained(&lane, 0);
}

static void take_what_is_closed(void)
{
    struct lane lane = {.state = LANE_CLOSED};
    lane_take_last(&lane);
}

/* The legal way round, and what one comparison tells in each state. */
static void test_lane(void)
{
    struct lane lane = {.state = LANE_CLOSED};
    CHECK(lane_for(&lane, 1) != 0 && lane_for(&lane, 1) != LANE_RETAINED);
    lane_open(&lane, 1);
    CHECK(lane_for(&lane, 1) == 0);
    CHECK(lane_for(&lane, 2) != 0 && lane_for(&lane, 2) != LANE_RETAINED);
    lane_take(&lane);
    CHECK(lane_is_taken(&lane) && lane_is_on(&lane) && lane_for(&lane, 1) != 0);
    lane_return(&lane, 1);
    CHECK(lane_for(&lane, 1) == 0 && !lane_is_on(&lane));
    lane_take(&lane);
    lane_take_last(&lane);
    CHECK(lane_is_last(&lane) && lane_is_on(&lane) && !lane_is_taken(&lane));
    lane_close(&lane);
    lane_open_retained(&lane, 1);
    CHECK(lane_for(&lane, 1) == LANE_RETAINED);
    CHECK(lane_for(&lane, 2) != LANE_RETAINED && lane_for(&lane, 2) != 0);
    lane_take_again(&lane);
    CHECK(lane_is_taken_again(&lane) && lane_is_on(&lane));
    lane_return_again(&lane, 1);
    CHECK(lane_for(&lane, 1) == LANE_RETAINED);
}

int main(void)
{
    assert_invariant(L2, 2 < 3);
    assert_required(2 < 3);
    expect_complaint(break_invariant, "invariant L2 does not hold: place < 3");
    expect_complaint(break_invariant, "assertions.c:");
    expect_complaint(break_precondition, "a precondition does not hold: place < 3");
    test_lane();
    expect_complaint(open_twice, "a precondition does not hold: lane->state == LANE_CLOSED");
    expect_complaint(open_to_nobody, "thread != 0");
    expect_complaint(take_what_is_closed, "lane->state == LANE_TAKEN");
    return 0;
}
