/* SPDX-License-Identifier: MIT */
/* The threads of a process, each an actor: its keeper, and those that a scene starts; and the mutex
 * that they share. */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/memory.h"
#include "world.h"

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static struct {
    void *(*run)(void *);
    void *argument;
} tasks[ACTORS_MOST];

/* The end of a thread is the kernel's, and takes a moment: the first thread of its process awaits
 * that, and goes on from there as the director would. */
static void begin_to_end(void)
{
    enrolled = false;
    world->ended = self;
    note_words();
    pass_turn(UNDERTAKER + world->actor[self].process);
}

/* Without a word to anybody, the C library included. */
void end_thread(void)
{
    begin_to_end();
    for (;;)
        syscall(SYS_exit, 0);
}

static void *be_thread(void *actor)
{
    self = (unsigned)(uintptr_t)actor;
    atomic_store(&world->actor[self].tid, (pid_t)syscall(SYS_gettid));
    enrolled = true;
    wait_for_turn();
    void *result = tasks[self].run(tasks[self].argument);
    begin_to_end();
    return result;
}

void undertake(void)
{
    struct actor *ended = &world->actor[world->ended];
    while (syscall(SYS_tgkill, getpid(), atomic_load(&ended->tid), 0) == 0)
        sched_yield();
    ended->state = DONE;
    world->deaths_inside += ended->inside;
    world->killed += ended->inside || ended->ends;
    ended->inside = false;
    wake_own(tasks);
    const unsigned before = self;
    self = DIRECTOR;
    wake_by_death();
    const struct option option = decide(NULL);
    self = before;
    give_turn(option);
}

static int enrol(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                 void *argument, bool keeper)
{
    if (world->actors == ACTORS_MOST)
        found("too many threads");
    const unsigned actor = world->actors++;
    world->actor[actor].process = world->actor[self].process;
    world->actor[actor].keeper = keeper;
    world->actor[actor].started = !keeper;
    world->actor[actor].state = READY;
    tasks[actor].run = run;
    tasks[actor].argument = argument;
    return __real_pthread_create(thread, attributes, be_thread, (void *)(uintptr_t)actor);
}

/* By the library: its keeper. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    return enrolled && world->scene->threads
               ? enrol(thread, attributes, run, argument, true)
               : __real_pthread_create(thread, attributes, run, argument);
}

void start_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    if (enrol(&thread, NULL, run, argument, false) != 0 || pthread_detach(thread) != 0)
        found("a thread cannot be started");
}

static bool has_threads(void)
{
    for (unsigned which = world->scene->actors; which < world->actors; which++)
        if (world->actor[which].started && world->actor[which].state != DONE &&
            world->actor[which].process == self)
            return true;
    return false;
}

void await_threads(void)
{
    while (has_threads())
        sleep_on_own(tasks);
}

/* That of the process; and in a cluster, that of what it says to the agent. */
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!enrolled)
        return __real_pthread_mutex_lock(mutex);
    if (world->scene->threads && mutex == &ay__process.mutex)
        yield_turn(__builtin_return_address(0));
    while (__wrap_pthread_mutex_trylock(mutex) != 0)
        sleep_on_own(mutex);
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    const int error = __real_pthread_mutex_trylock(mutex);
    if (enrolled && mutex == &ay__process.mutex && !error)
        world->actor[self].has_mutex = true;
    return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    const int error = __real_pthread_mutex_unlock(mutex);
    if (enrolled && mutex == &ay__process.mutex)
        world->actor[self].has_mutex = false;
    if (enrolled)
        wake_own(mutex);
    return error;
}
