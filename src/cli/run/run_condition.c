/* SPDX-License-Identifier: MIT */
/* --when: a shell test that must hold for the command to be let in.
 *
 * The library asks the test while nobody who conflicts is inside, and asks again whenever such a
 * one has left. But what a shell test looks at (a file, say) may be changed by programs that never
 * enter the region. So once a second a watcher runs the test outside, as a hint; if it holds, the
 * watcher enters and leaves with a region object of its own, and the library asks again. The answer
 * inside is what counts.
 *
 * A test is run by a tester, a guard of its own: nothing that the test has started outlives it, nor
 * the guardian, nor the end of the wait.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/text.h"

/* Who does not wait gives the test so long. */
enum { LOOK_EVERY_S = 1, TRY_MS = 5000 };
/* The exit codes of a tester; from EXIT_NOT_RUN up: there was no answer. */
enum { TEST_HOLDS, TEST_FAILS, TEST_CUT_OFF };

struct condition {
    const struct run_words *asked;
    const struct inheritance *inherited;
    int64_t deadline_ns; /* of the wait; INT64_MAX: for ever */
    ay_region *nudge;    /* the watcher's own */
    pthread_t watcher;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    bool stop;
    pid_t nudging; /* the watcher's tester, not reaped yet; 0: none */
    bool cut_off;  /* the last test that was run inside had no time to answer */
    char trouble[96];
};

/* The whole life of a tester. The bell: the guardian is dead, or the answer is no longer wanted. */
static noreturn void tester(const struct condition *condition, pid_t guardian)
{
    char *const words[] = {"/bin/sh", "-c", (char *)(uintptr_t)condition->asked->when, NULL};
    struct child child = {.words = words, .inherited = condition->inherited, .quiet = true};
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGNAL_BELL);
    const pid_t test = guard_begin(guardian) == 0 ? child_make(&child) : -1;
    if (test > 0)
        child_go(&child, test);
    int number = 0, status = 0;
    pid_t ended = 0;
    while (test > 0 && ended != test &&
           (number = signal_next(&set, &info, condition->deadline_ns)) != 0 &&
           (number != SIGNAL_BELL || info.si_pid == test))
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0 && ended != test)
            continue;
    tree_end();
    const int code = child_code(status);
    _exit(test < 0 || child.error                      ? EXIT_NOT_RUN
          : ended != test                              ? TEST_CUT_OFF
          : code == TEST_HOLDS || code >= EXIT_NOT_RUN ? code
                                                       : TEST_FAILS);
}

/* The tester's pid, or negative. All its signals are blocked, whatever this thread lets through. */
static pid_t tester_start(const struct condition *condition)
{
    const pid_t guardian = getpid();
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork();
    if (child == 0)
        tester(condition, guardian);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return child;
}

static bool judge(pid_t child, int status, const char **trouble)
{
    if (child < 0)
        *trouble = "cannot fork";
    else if (child_code(status) >= EXIT_NOT_RUN)
        *trouble = "the test cannot be run, or was killed";
    return child > 0 && child_code(status) == TEST_HOLDS;
}

static bool ask(struct condition *condition, const char **trouble)
{
    int status = 0;
    pid_t child = tester_start(condition);
    if (child > 0)
        child = waitpid(child, &status, 0);
    condition->cut_off = child > 0 && child_code(status) == TEST_CUT_OFF;
    return judge(child, status, trouble);
}

/* The same for the watcher, whose tester may be cut off. */
static bool ask_outside(struct condition *condition, const char **trouble)
{
    siginfo_t info;
    int status = 0;
    pthread_mutex_lock(&condition->mutex);
    pid_t child = condition->stop ? 0 : tester_start(condition);
    condition->nudging = child;
    pthread_mutex_unlock(&condition->mutex);
    if (child == 0)
        return false;
    if (child > 0) {
        waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
        pthread_mutex_lock(&condition->mutex);
        child = waitpid(child, &status, 0);
        condition->nudging = 0;
        pthread_mutex_unlock(&condition->mutex);
    }
    return judge(child, status, trouble);
}

bool condition_holds(void *arg)
{
    struct condition *condition = arg;
    const char *trouble = NULL;
    const bool holds = ask(condition, &trouble);
    if (trouble)
        snprintf(condition->trouble, sizeof condition->trouble, "%s", trouble);
    return holds || trouble; /* enter, to tell */
}

/* If somebody is inside, the test is asked when that one leaves. A thread that is told of a death
 * cannot act on it: it ends inside, and so the next one in is told, whoever that is. */
static void *enter_and_leave(void *region)
{
    if (ay_try(region) == 0)
        ay_leave(region);
    return NULL;
}

/* Without a thread to be had it is tried again when the watcher next looks. */
static void nudge(struct condition *condition)
{
    const char *trouble = NULL;
    pthread_t passer;
    if ((ask_outside(condition, &trouble) || trouble) &&
        pthread_create(&passer, NULL, enter_and_leave, condition->nudge) == 0)
        pthread_join(passer, NULL);
}

static void *watch(void *arg)
{
    struct condition *condition = arg;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&condition->mutex);
    while (!condition->stop) {
        next.tv_sec += LOOK_EVERY_S;
        int woken;
        do
            woken = pthread_cond_clockwait(&condition->change, &condition->mutex, CLOCK_MONOTONIC,
                                           &next);
        while (woken == 0 && !condition->stop);
        if (!condition->stop) {
            pthread_mutex_unlock(&condition->mutex);
            nudge(condition);
            pthread_mutex_lock(&condition->mutex);
            clock_gettime(CLOCK_MONOTONIC, &next);
        }
    }
    pthread_mutex_unlock(&condition->mutex);
    return NULL;
}

struct condition *condition_start(const struct run_words *asked, ay_space *space,
                                  const struct inheritance *inherited)
{
    struct condition *condition = calloc(1, sizeof *condition);
    if (!condition)
        return NULL;
    condition->asked = asked;
    condition->inherited = inherited;
    const int64_t wait_ms = asked->timeout_ms ? asked->timeout_ms : TRY_MS;
    condition->deadline_ns = wait_ms > 0 ? text_now() + wait_ms * 1000000 : INT64_MAX;
    ay_spec spec = asked->spec;
    /* one name is enough, and nobody of another is told of a death that was none */
    spec.also = NULL;
    if (spec.mode != AY_EXCLUSIVE && !spec.take)
        spec.mode = AY_EXCLUSIVE; /* conflicts with every mode, so that its leaving is noticed */
    pthread_mutex_init(&condition->mutex, NULL);
    pthread_cond_init(&condition->change, NULL);
    if (ay_region_open(space, &spec, &condition->nudge) < 0 ||
        pthread_create(&condition->watcher, NULL, watch, condition) != 0) {
        ay_region_close(condition->nudge);
        free(condition);
        return NULL;
    }
    return condition;
}

void condition_stop(struct condition *condition)
{
    pthread_mutex_lock(&condition->mutex);
    condition->stop = true;
    if (condition->nudging > 0)
        kill(condition->nudging, SIGNAL_BELL);
    pthread_cond_signal(&condition->change);
    pthread_mutex_unlock(&condition->mutex);
    pthread_join(condition->watcher, NULL);
    ay_region_close(condition->nudge);
    free(condition);
}

bool condition_was_cut_off(const struct condition *condition)
{
    return condition->cut_off;
}

const char *condition_trouble(const struct condition *condition)
{
    return condition->trouble[0] ? condition->trouble : NULL;
}
