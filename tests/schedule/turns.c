/* SPDX-License-Identifier: MIT */
/* Turns: who goes on at a point, and what the decisions of a run were. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

struct world *world;
_Thread_local unsigned self = DIRECTOR;
_Thread_local bool enrolled;
static _Thread_local bool offers; /* the turn: that another takes it is no preemption */

void ay__access_point(const char *file);

/* ---- the end of a run ---- */

void end_run(void)
{
    atomic_store(&world->over, 1);
    atomic_store(&world->turn, NOBODY);
    turn_wake(UINT32_MAX);
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
        if (turn == UNDERTAKER + self)
            undertake();
        else
            turn_wait(turn, turn_bit(self));
    }
}

void pass_turn(unsigned actor)
{
    atomic_store(&world->turn, actor);
    turn_wake(turn_bit(actor));
}

uint64_t draw(void)
{
    world->random ^= world->random << 13;
    world->random ^= world->random >> 7;
    world->random ^= world->random << 17;
    return world->random;
}

/* A death wakes one, who wakes the others. If it dies before it has, another looks up by itself. */
static bool looks_up(const struct actor *actor)
{
    return actor->briefly ||
           (world->killed > (MISSES_DEATHS ? 0 : 1) && actor->left_ns < INT64_MAX);
}

/* True: there were such. */
static bool end_naps(void)
{
    bool any = false;
    for (unsigned which = 0; which < world->actors; which++) {
        struct actor *actor = &world->actor[which];
        if (actor->state == ASLEEP && looks_up(actor))
            actor->clock_ns += actor->briefly && !NAPS_TAKE_TIME ? 0 : actor->left_ns;
        else if (actor->state != NAPS)
            continue;
        actor->state = READY;
        any = true;
    }
    return any;
}

/* Nobody can go on. Naps end by themselves; else all are done, or a wake-up was lost. Keepers may
 * sleep for ever. True: look again. */
static bool world_stands_still(void)
{
    unsigned asleep = 0;
    const bool again = end_naps();
    for (unsigned which = 0; which < world->actors; which++)
        asleep += world->actor[which].state == ASLEEP && !world->actor[which].keeper;
    if (again && ++world->naps <= NAPS_MOST)
        return true;
    if (again || asleep)
        snprintf(world->finding, sizeof world->finding, "%s",
                 again ? "naps without end" : "all who are left sleep, and nobody wakes them");
    end_run();
    return false;
}

static bool goes_on(void)
{
    return self != DIRECTOR && world->actor[self].state == READY;
}

/* One whose threads all sleep. One that has READY threads is killed when it is their turn. */
static bool process_sleeps(unsigned process)
{
    bool asleep = false;
    for (unsigned which = 0; which < world->actors; which++) {
        const struct actor *actor = &world->actor[which];
        if (actor->process == process && (actor->state == READY || actor->state == NAPS))
            return false;
        asleep |= actor->process == process && (actor->state == ASLEEP || actor->state == LINGERS);
    }
    return asleep;
}

static unsigned list_kills(struct option *options, unsigned count)
{
    for (unsigned process = 0; process < world->scene->actors && world->left.kills > 0; process++)
        if (goes_on() && world->actor[self].process == process ? world->actor[process].state != DEAD
                                                               : process_sleeps(process))
            options[count++] = (struct option){.actor = process, .kind = KILLED};
    for (unsigned which = world->scene->actors; which < world->actors && world->left.kills > 0;
         which++) {
        const struct actor *actor = &world->actor[which];
        if (actor->started && !actor->has_mutex &&
            ((which == self && goes_on()) || actor->state == ASLEEP))
            options[count++] = (struct option){.actor = which, .kind = ENDED};
    }
    return count;
}

/* What happens to one that sleeps, though nobody did it. */
static unsigned list_lapses(struct option *options, unsigned count)
{
    for (unsigned which = 0; which < world->actors; which++) {
        const struct actor *actor = &world->actor[which];
        if (actor->state == ASLEEP && actor->until_deadline && world->left.lapses > 0)
            options[count++] = (struct option){.actor = which, .kind = LAPSES};
        if ((actor->state == ASLEEP || actor->state == NAPS) && world->left.rouses > 0)
            options[count++] = (struct option){.actor = which, .kind = ROUSED};
    }
    return count;
}

/* What can be done now. The first is what needs no decision. Should nobody be able to go on, a
 * deadline may lapse; but what happens for no reason does not help. */
static unsigned list_options(struct option *options)
{
    unsigned count = 0;
    if (goes_on())
        options[count++] = (struct option){.actor = self};
    for (unsigned step = 1; step <= ACTORS_MOST; step++) {
        const unsigned actor = (self + step) % ACTORS_MOST;
        if (actor != self && world->actor[actor].state == READY &&
            (!goes_on() || offers || world->left.preemptions > 0))
            options[count++] = (struct option){.actor = actor};
    }
    if (count == 0) {
        for (unsigned which = 0; which < world->actors; which++)
            if (world->actor[which].state == ASLEEP && world->actor[which].until_deadline &&
                world->left.lapses > 0)
                options[count++] = (struct option){.actor = which, .kind = LAPSES};
        return count;
    }
    return list_lapses(options, list_kills(options, count));
}

/* One of the places in the program that this run has an eye on. */
static bool is_marked(const void *place)
{
    extern const char __executable_start;
    uint64_t mixed = (uint64_t)((const char *)place - &__executable_start) ^ world->marks;
    mixed = (mixed ^ mixed >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return (mixed >> 32) % world->marked == 0;
}

/* At random: where the turn is given away, anybody. Else the few preemptions and kills there may be
 * lie anywhere in the run; or close together, from some moment on; or at a few places in the
 * program, so that what is seldom done counts as much as what is done often. */
static bool deviates(const void *place)
{
    const struct bounds *left = &world->left;
    if (world->marked)
        return world->position >= world->from && place && is_marked(place) && draw() % 2 == 0;
    if (world->pace)
        return world->position >= world->from && draw() % world->pace == 0;
    const unsigned to_come = world->usual > world->position ? world->usual - world->position : 1;
    return draw() % (to_come + 1) < left->preemptions + left->kills + left->lapses + left->rouses;
}

static unsigned draw_option(const struct option *options, unsigned count, const void *place)
{
    unsigned going = 0;
    while (going < count && options[going].kind == GOES)
        going++;
    if (going == 0 || deviates(place))
        return (unsigned)(draw() % count);
    return goes_on() && !offers ? 0 : (unsigned)(draw() % going);
}

static unsigned choose(const struct option *options, unsigned count, const void *place)
{
    if (world->position < world->length)
        return world->decisions[world->position].taken;
    return world->random ? draw_option(options, count, place) : 0;
}

static void charge(struct option option)
{
    struct bounds *left = &world->left;
    left->kills -= option.kind == KILLED || option.kind == ENDED;
    left->lapses -= option.kind == LAPSES;
    left->rouses -= option.kind == ROUSED;
    left->preemptions -=
        option.kind == GOES && option.actor != self && self != DIRECTOR && !offers && goes_on();
}

static struct option take_option(const struct option *options, unsigned count, const void *place)
{
    if (world->position == STEPS_MOST)
        found("more than %d steps: somebody goes round and round", STEPS_MOST);
    const unsigned taken = choose(options, count, place);
    if (taken >= count)
        found("the run went otherwise than before at step %u", world->position);
    const struct option option = options[taken];
    world->decisions[world->position++] = (struct decision){.taken = (uint8_t)taken,
                                                            .of = (uint8_t)count,
                                                            .actor = (uint8_t)self,
                                                            .whom = (uint8_t)option.actor,
                                                            .kind = (uint8_t)option.kind,
                                                            .at = place};
    charge(option);
    return option;
}

/* Before decisions begin: whoever can, until nobody can. */
static struct option prepare_on(void)
{
    if (goes_on())
        return (struct option){.actor = self};
    bool naps = false;
    do {
        for (unsigned which = 0; which < world->actors; which++)
            if (world->actor[which].state == READY)
                return (struct option){.actor = which};
        naps = end_naps();
    } while (naps);
    for (unsigned which = 0; which < world->scene->actors; which++)
        if (world->actor[which].state == ASLEEP)
            found("%u sleeps in its preparation, and nobody wakes it", which);
    return (struct option){.actor = DIRECTOR};
}

static void end_lingering(void)
{
    for (unsigned process = 0; process < world->scene->actors; process++) {
        const enum actor_state state = world->actor[process].state;
        if (state != DONE && state != DEAD && state != LINGERS)
            return;
    }
    for (unsigned process = 0; process < world->scene->actors; process++)
        if (world->actor[process].state == LINGERS)
            world->actor[process].state = READY;
}

struct option decide(const void *place)
{
    if (world->preparing)
        return prepare_on();
    for (;;) {
        end_lingering();
        struct option options[OPTIONS_MOST];
        const unsigned count = list_options(options);
        if (count == 0) {
            if (!world_stands_still())
                return (struct option){.actor = DIRECTOR};
            continue;
        }
        const struct option option = take_option(options, count, place);
        struct actor *actor = &world->actor[option.actor];
        if (option.kind == ENDED) {
            actor->ends = true;
            actor->state = READY;
        }
        if (option.kind <= ENDED)
            return option;
        actor->woken = option.kind == ROUSED;
        actor->by = 0;
        actor->clock_ns += option.kind == LAPSES ? LAPSE_NS : 0;
        actor->state = READY;
    }
}

/* The director does what remains to be done for one that is killed. */
void give_turn(struct option option)
{
    if (option.kind == KILLED) {
        note_words();
        atomic_store(&world->turn, DIRECTOR);
        kill(world->actor[option.actor].tid, SIGKILL);
    } else if (!atomic_load(&world->over)) {
        pass_turn(option.actor);
    }
}

void yield_turn(const void *place)
{
    const struct option option = decide(place);
    if (option.kind == KILLED || option.actor != self) {
        give_turn(option);
        wait_for_turn();
    }
    if (self != DIRECTOR && world->actor[self].ends)
        end_thread();
}

bool decide_lapse(const void *place)
{
    struct actor *actor = &world->actor[self];
    const bool begins = actor->begins;
    actor->begins = false;
    if (!actor->hurried || begins || world->left.lapses == 0 || world->preparing)
        return false;
    const struct option options[] = {{.actor = self}, {.actor = self, .kind = LAPSES}};
    if (take_option(options, 2, place).kind != LAPSES)
        return false;
    actor->clock_ns += LAPSE_NS;
    return true;
}

__attribute__((noinline)) void ay__access_point(const char *file)
{
    const char *within = world ? world->scene->within : NULL;
    if (enrolled && !world->preparing && (!within || strstr(within, strrchr(file, '/') + 1)))
        yield_turn(__builtin_return_address(0));
}

__attribute__((noinline)) void point(void)
{
    offers = true;
    const void *place = __builtin_return_address(0);
    yield_turn(place);
    offers = false;
}

void linger(void)
{
    world->actor[self].state = LINGERS;
    yield_turn(__builtin_return_address(0));
}

/* ---- what actors say ---- */

void say_hurried(bool hurried)
{
    world->actor[self].hurried = world->actor[self].begins = hurried;
}

void say_inside(unsigned room)
{
    unsigned others = 0, least = room;
    for (unsigned which = 0; which < ACTORS_MOST; which++) {
        const struct actor *actor = &world->actor[which];
        others += actor->inside;
        if (actor->inside && actor->room < least)
            least = actor->room;
    }
    if (others >= least)
        found("%u is inside, and %u others, with room for %u", self, others, least);
    world->actor[self].inside = true;
    world->actor[self].room = room;
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
