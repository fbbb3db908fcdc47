/* SPDX-License-Identifier: MIT */
/* Turns: who goes on at a point, and what the decisions of a run were. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "world.h"

struct world *world;
unsigned self = DIRECTOR;
_Thread_local bool enrolled;
static bool offers; /* the turn: that another takes it is no preemption */

void ay__access_point(void);

/* ---- the end of a run ---- */

void end_run(void)
{
    atomic_store(&world->over, 1);
    futex_wake(&world->over);
    atomic_store(&world->turn, DIRECTOR);
    futex_wake(&world->turn);
}

static void note_finding(const char *format, va_list arguments)
{
    if (world->finding[0] == '\0')
        vsnprintf(world->finding, sizeof world->finding, format, arguments);
}

void found(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_finding(format, arguments);
    va_end(arguments);
    end_run();
    _exit(FOUND_EXIT);
}

/* ---- who goes on ---- */

void wait_for_turn(void)
{
    for (;;) {
        const uint32_t turn = atomic_load(&world->turn);
        if (atomic_load(&world->over))
            _exit(0);
        if (turn == self)
            return;
        futex_wait(&world->turn, turn);
    }
}

void pass_turn(unsigned actor)
{
    atomic_store(&world->turn, actor);
    futex_wake(&world->turn);
}

uint64_t draw(void)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

/* Nobody can go on. Naps end by themselves; else all are done, or a wake-up was lost. True: look
 * again. */
static bool world_stands_still(void)
{
    unsigned asleep = 0;
    bool again = false;
    for (unsigned actor = 0; actor < world->scene->actors; actor++) {
        if (world->actor[actor].state == NAPS ||
            (world->actor[actor].state == ASLEEP && world->actor[actor].briefly)) {
            world->actor[actor].state = READY;
            again = true;
        }
        asleep += world->actor[actor].state == ASLEEP;
    }
    if (again && ++world->naps <= NAPS_MOST)
        return true;
    if (again || asleep)
        snprintf(world->finding, sizeof world->finding, "%s",
                 again ? "naps without end" : "all who are left sleep, and nobody wakes them");
    end_run();
    return false;
}

/* What can be done now. The first is what needs no decision. */
static unsigned list_options(struct option *options)
{
    unsigned count = 0;
    const bool goes_on = self != DIRECTOR && world->actor[self].state == READY;
    if (goes_on)
        options[count++] = (struct option){.actor = self};
    for (unsigned step = 1; step <= ACTORS_MOST; step++) {
        const unsigned actor = (self + step) % ACTORS_MOST;
        if (actor != self && world->actor[actor].state == READY &&
            (!goes_on || offers || world->preemptions > 0))
            options[count++] = (struct option){.actor = actor};
    }
    if (count == 0 || world->kills == 0)
        return count;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++)
        if ((actor == self && goes_on) || world->actor[actor].state == ASLEEP)
            options[count++] = (struct option){.actor = actor, .kills = true};
    return count;
}

/* At random: where the turn is given away, anybody. Else the few preemptions and kills there may be
 * lie anywhere in the run; or, in most runs, close together, from some moment on. */
static bool deviates(void)
{
    if (world->pace)
        return world->position >= world->from && draw() % world->pace == 0;
    const unsigned left = world->usual > world->position ? world->usual - world->position : 1;
    return draw() % (left + 1) < world->preemptions + world->kills;
}

static unsigned draw_option(const struct option *options, unsigned count)
{
    unsigned living = 0;
    while (living < count && !options[living].kills)
        living++;
    const bool goes_on = self != DIRECTOR && world->actor[self].state == READY && !offers;
    if (deviates())
        return (unsigned)(draw() % count);
    return goes_on ? 0 : (unsigned)(draw() % living);
}

static unsigned choose(const struct option *options, unsigned count)
{
    if (world->position < world->length)
        return world->decisions[world->position].taken;
    return world->random ? draw_option(options, count) : 0;
}

struct option decide(const void *place)
{
    struct option options[OPTIONS_MOST];
    unsigned count = list_options(options);
    while (count == 0) {
        if (!world_stands_still())
            return (struct option){.actor = DIRECTOR};
        count = list_options(options);
    }
    if (world->position == STEPS_MOST)
        found("more than %d steps: somebody goes round and round", STEPS_MOST);
    const unsigned taken = choose(options, count);
    if (taken >= count)
        found("the run went otherwise than before at step %u", world->position);
    const struct option option = options[taken];
    world->decisions[world->position++] = (struct decision){.taken = (uint8_t)taken,
                                                            .of = (uint8_t)count,
                                                            .actor = (uint8_t)self,
                                                            .kills = option.kills,
                                                            .at = place};
    if (option.kills)
        world->kills--;
    else if (option.actor != self && self != DIRECTOR && !offers &&
             world->actor[self].state == READY)
        world->preemptions--;
    return option;
}

/* The director does what remains to be done for one that is killed. */
void yield_turn(const void *place)
{
    const struct option option = decide(place);
    if (option.kills) {
        if (option.actor != self)
            atomic_store(&world->turn, DIRECTOR);
        kill(world->actor[option.actor].pid, SIGKILL);
    } else if (option.actor == self) {
        return;
    } else if (!atomic_load(&world->over)) {
        pass_turn(option.actor);
    }
    wait_for_turn();
}

__attribute__((noinline)) void ay__access_point(void)
{
    if (enrolled)
        yield_turn(__builtin_return_address(0));
}

__attribute__((noinline)) void point(void)
{
    offers = true;
    const void *place = __builtin_return_address(0);
    yield_turn(place);
    offers = false;
}

/* ---- what actors say ---- */

void say_inside(unsigned room)
{
    unsigned others = 0;
    for (unsigned actor = 0; actor < ACTORS_MOST; actor++)
        others += world->actor[actor].inside;
    if (others >= room)
        found("%u is inside, and %u others, with room for %u", self, others, room);
    world->actor[self].inside = true;
}

void say_outside(void)
{
    world->actor[self].inside = false;
}

void say_fence(uint64_t fence)
{
    if (fence <= world->fence)
        found("fence %llu after %llu", (unsigned long long)fence, (unsigned long long)world->fence);
    world->fence = fence;
}

void say_told(void)
{
    world->told++;
}

unsigned told_so_far(void)
{
    return world->told;
}
