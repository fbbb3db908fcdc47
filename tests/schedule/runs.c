/* SPDX-License-Identifier: MIT */
/* Runs: one, and then all of them. */
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

_Noreturn static void be_actor(unsigned actor)
{
    self = actor;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    wait_for_turn();
    enrolled = world->scene->threads; /* so that its keeper is, from its beginning */
    world->actor[actor].state = READY;
    world->scene->prepare(actor);
    world->actor[actor].state = PARKED;
    yield_turn(NULL);
    enrolled = true;
    world->scene->act(actor);
    enrolled = false;
    world->actor[actor].state = DONE;
    yield_turn(NULL); /* it stays until all is over: its end would be one more event */
    _exit(0);
}

static void wait_until_mine(void)
{
    for (;;) {
        const uint32_t turn = atomic_load(&world->turn);
        if (turn == DIRECTOR || atomic_load(&world->over))
            return;
        turn_wait(turn, turn_bit(DIRECTOR));
    }
}

static void bury(unsigned process)
{
    for (unsigned which = 0; which < world->actors; which++) {
        struct actor *dead = &world->actor[which];
        if (dead->process != process)
            continue;
        dead->state = DEAD;
        world->deaths_inside += dead->inside;
        dead->inside = false;
    }
    world->killed++;
    wake_by_death();
    give_turn(decide(NULL));
}

static void on_alarm(int signal)
{
    (void)signal;
    static const char text[] = "schedule: no end for a minute\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
}

static void reap(unsigned left)
{
    while (left > 0) {
        int status;
        const pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0)
            abort();
        left--;
        unsigned actor = 0;
        while (actor < PROCESSES_MOST && world->actor[actor].tid != pid)
            actor++;
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !atomic_load(&world->over)) {
            bury(actor);
        } else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
            snprintf(world->finding, sizeof world->finding, "%u ended by signal %d", actor,
                     WTERMSIG(status));
            end_run();
        }
    }
}

static void audit(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        world->scene->audit(world->deaths_inside, world->killed);
        _exit(0);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    if (status != 0 && world->finding[0] == '\0')
        snprintf(world->finding, sizeof world->finding, "the audit ended with status %d", status);
}

/* How decisions are drawn in this run. */
static void draw_manner(void)
{
    static const struct {
        unsigned pace, marked;
    } manners[] = {{0, 0}, {2, 0}, {12, 0}, {0, 8}, {0, 16}, {0, 32}};
    const unsigned manner = (unsigned)(draw() % (sizeof manners / sizeof *manners));
    world->pace = manners[manner].pace;
    world->from = (unsigned)(draw() % (world->usual + 1));
    world->marked = manners[manner].marked;
    world->marks = draw();
}

static void run_once(const struct scene *scene)
{
    const unsigned length = world->length;
    const uint64_t random = world->random;
    const unsigned usual = (3 * world->usual + world->position) / 4;
    memset(world, 0, offsetof(struct world, decisions));
    world->length = length;
    world->random = random;
    world->usual = usual;
    if (random)
        draw_manner();
    world->scene = scene;
    world->left = scene->bounds;
    world->preparing = true;
    world->actors = scene->actors;
    world->began_ns = machine_now();
    atomic_store(&world->turn, DIRECTOR);
    unlink(scene->space);
    alarm(PATIENCE_S);
    for (unsigned actor = 0; actor < scene->actors; actor++) {
        const pid_t pid = fork();
        if (pid == 0)
            be_actor(actor);
        if (pid < 0)
            abort();
        world->actor[actor].tid = pid;
        world->actor[actor].process = actor;
        pass_turn(actor);
        wait_until_mine();
    }
    if (!atomic_load(&world->over)) {
        for (unsigned actor = 0; actor < scene->actors; actor++)
            world->actor[actor].state = READY;
        world->preparing = false;
        give_turn(decide(NULL));
    }
    reap(scene->actors);
    if (world->finding[0] == '\0')
        audit();
    alarm(0);
}

/* ---- all runs ---- */

static void tell_place(const void *place)
{
    extern const char __executable_start;
    char command[128];
    snprintf(command, sizeof command, "addr2line -s -f -p -e /proc/%d/exe %#lx >&2", (int)getpid(),
             (unsigned long)((const char *)place - &__executable_start - 1));
    if (!place || system(command) != 0)
        fprintf(stderr, "-\n");
}

/* Only where something was decided. */
static void tell_run(const struct scene *scene)
{
    fprintf(stderr, "%s: %s, after %u steps. Decisions:\n", scene->name, world->finding,
            world->position);
    for (unsigned at = 0; at < world->position; at++) {
        const struct decision *decision = &world->decisions[at];
        if (decision->taken == 0 && at + 1 < world->position &&
            world->decisions[at + 1].actor == decision->actor)
            continue;
        static const char *const what[] = {"", "killed", "ended", "its deadline lapses", "roused"};
        fprintf(stderr, "  step %4u: %u (then %u %s) at ", at, decision->actor, decision->whom,
                what[decision->kind]);
        tell_place(decision->at);
    }
}

static void open_world(void)
{
    signal(SIGALRM, on_alarm);
    if (!world)
        world =
            mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED)
        abort();
    world->length = world->position = world->usual = 0;
    world->random = 0;
}

/* The last decision that has another way is changed, and what came after it forgotten. */
static bool next_run(void)
{
    unsigned at = world->position;
    while (at > 0 && world->decisions[at - 1].taken + 1 >= world->decisions[at - 1].of)
        at--;
    if (at == 0)
        return false;
    world->decisions[at - 1].taken++;
    world->length = at;
    return true;
}

bool scene_explore(const struct scene *scene, uint64_t runs_most, struct tally *tally)
{
    open_world();
    *tally = (struct tally){0};
    do {
        run_once(scene);
        tally->runs++;
        tally->steps += world->position;
        if (world->finding[0] != '\0') {
            tell_run(scene);
            return false;
        }
        tally->exhausted = !next_run();
    } while (!tally->exhausted && tally->runs < runs_most);
    return true;
}

bool scene_sample(const struct scene *scene, uint64_t runs, uint64_t seed, struct tally *tally)
{
    open_world();
    *tally = (struct tally){0};
    world->random = seed * 0x9e3779b97f4a7c15 | 1;
    for (; tally->runs < runs; tally->runs++) {
        world->length = 0;
        run_once(scene);
        tally->steps += world->position;
        if (world->finding[0] != '\0') {
            tell_run(scene);
            return false;
        }
    }
    return true;
}
