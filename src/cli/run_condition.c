/* SPDX-License-Identifier: MIT */
/* --when: a shell test that must hold for the command to be let in.
 *
 * The library asks the test while nobody who conflicts is inside, and asks again whenever such a one has left. But what a
 * shell test looks at (a file, say) may be changed by programs that never enter the region. So once a second a watcher runs the test
 * outside, as a hint; if it holds, the watcher enters and leaves with a region object of its own, and the library asks again.
 * The answer inside is what counts.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run.h"
#include "cli/text.h"

enum { LOOK_EVERY_S = 1 };

struct condition {
    const struct run_words *asked;
    const struct inheritance *inherited;
    ay_region *nudge; /* the watcher's own */
    pthread_t watcher;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    bool stop;
    bool death_told; /* to the watcher: the next one in must hear of it */
    char trouble[96];
};

/* Exit codes from 126 up mean that there was no answer. */
static bool ask(struct condition *condition, const char **trouble)
{
    char *const words[] = {"/bin/sh", "-c", (char *)(uintptr_t)condition->asked->when, NULL};
    int status;
    const pid_t child = child_start(words, condition->inherited, true);
    if (child < 0 || waitpid(child, &status, 0) != child) {
        *trouble = "cannot run /bin/sh";
        return false;
    }
    if (child_code(status) >= EXIT_NOT_RUN)
        *trouble = "the test cannot be run, or was killed";
    return child_code(status) == 0;
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

static void nudge(struct condition *condition)
{
    const char *trouble = NULL;
    if (!ask(condition, &trouble) && !trouble)
        return;
    const int result = ay_try(condition->nudge);
    if (result < 0)
        return; /* somebody is inside: when he leaves, the test is asked */
    if (result == AY_AFTER_DEATH)
        condition->death_told = true;
    ay_leave(condition->nudge);
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
            woken = pthread_cond_clockwait(&condition->change, &condition->mutex, CLOCK_MONOTONIC, &next);
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

struct condition *condition_start(const struct run_words *asked, ay_space *space, const struct inheritance *inherited)
{
    struct condition *condition = calloc(1, sizeof *condition);
    if (!condition)
        return NULL;
    condition->asked = asked;
    condition->inherited = inherited;
    ay_spec spec = asked->spec;
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

bool condition_stop(struct condition *condition, bool entered)
{
    pthread_mutex_lock(&condition->mutex);
    condition->stop = true;
    pthread_cond_signal(&condition->change);
    pthread_mutex_unlock(&condition->mutex);
    pthread_join(condition->watcher, NULL);
    const bool told = condition->death_told;
    /* Nobody here acts on the death: the next one in hears of ours instead. */
    if (told && !entered && ay_enter(condition->nudge) >= 0)
        return told;
    ay_region_close(condition->nudge);
    free(condition);
    return told;
}

const char *condition_trouble(const struct condition *condition)
{
    return condition->trouble[0] ? condition->trouble : NULL;
}
