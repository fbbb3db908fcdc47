/* SPDX-License-Identifier: MIT */
/* Scenes of a few processes around one region: what the engine does around the protocol's text
 * (claiming, gathering, sleeping, waking, telling deaths), in every order.
 *
 *   schedules [--scene NAME] [--preemptions N] [--kills N] [--runs N] [--random N [--seed S]]
 *
 * Without --preemptions and --kills: of a pair all runs with one preemption, and all with one kill;
 * of all scenes some at random with more.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "afteryou.h"
#include "scheduler.h"

enum { UNTOLD = 1000 };

static char space_path[64];
static ay_space *space;
static ay_region *region;
static unsigned room = 1;
static _Atomic int *flag; /* of the conditions: shared */

static void open_space(unsigned places)
{
    const int error = ay_open(space_path, &(ay_options){.places = places}, &space);
    if (error)
        found("ay_open: %s", ay_message());
}

static void open_region(ay_spec spec)
{
    const int error = ay_region_open(space, &spec, &region);
    if (error)
        found("ay_region_open: %s", ay_message());
}

static void heed(int result)
{
    if (result == AY_AFTER_DEATH)
        say_told();
    else if (result != 0)
        found("ay_enter: %d, %s", result, ay_message());
}

static void stay(void)
{
    say_inside(room);
    if (room == 1)
        say_fence(ay_fence(region));
    point();
    say_outside();
    const int error = ay_leave(region);
    if (error)
        found("ay_leave: %s", ay_message());
}

static void pass(void)
{
    heed(ay_enter(region));
    stay();
}

static void close_region(void)
{
    ay_region_close(region);
}

/* ---- the end: nothing is wedged, and deaths were told as often as they happened ---- */

static void audit_of(ay_spec spec, unsigned deaths, unsigned kills)
{
    open_space(0);
    open_region(spec);
    unsigned told = told_so_far();
    while (told <= kills) {
        const int result = ay_enter_for(region, 10 * 1000);
        if (result != 0 && result != AY_AFTER_DEATH)
            found("in the end nobody can enter: %s", ay_message());
        ay_leave(region);
        if (result == 0)
            break;
        told++;
    }
    /* who is killed on its way in or out may count as inside for the library */
    if (told < deaths || told > kills)
        found("%u died inside, of %u that were killed; %u were told", deaths, kills, told);
}

static void audit_x(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x"}, deaths, kills);
}

static void audit_slots(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x", .slots = 2}, deaths, kills);
}

static void audit_y(unsigned deaths, unsigned kills)
{
    (void)deaths;
    audit_of((ay_spec){.name = "y"}, 0, kills);
}

/* ---- scenes ---- */

static void prepare_x(unsigned actor)
{
    (void)actor;
    open_space(4);
    open_region((ay_spec){.name = "x"});
}

/* Strangers no longer: rivals are gathered, and the express lane is open. */
static void prepare_warm(unsigned actor)
{
    prepare_x(actor);
    for (int times = 0; times < 2; times++) {
        ay_enter(region);
        say_fence(ay_fence(region));
        ay_leave(region);
    }
}

static void pass_once(unsigned actor)
{
    (void)actor;
    pass();
}

static void pass_twice(unsigned actor)
{
    pass_once(actor);
    pass_once(actor);
}

/* Gives its place back and takes another, or the same, between two passages. */
static void pass_and_move(unsigned actor)
{
    (void)actor;
    pass();
    close_region();
    open_region((ay_spec){.name = "x"});
    pass();
}

/* One comes and goes; the others stay, and remember it. */
static void one_moves(unsigned actor)
{
    if (actor == 0)
        pass_and_move(actor);
    else
        pass_twice(actor);
}

static void prepare_space(unsigned actor)
{
    open_space(4);
    if (actor > 0)
        open_region((ay_spec){.name = "x"});
}

/* The first opens its region beside those who pass. */
static void open_beside(unsigned actor)
{
    if (actor == 0)
        open_region((ay_spec){.name = "x"});
    pass();
}

static void prepare_to_open(unsigned actor)
{
    (void)actor;
    open_space(4);
}

/* Both take a place at the same time. */
static void open_and_pass(unsigned actor)
{
    (void)actor;
    open_region((ay_spec){.name = "x"});
    pass();
}

/* The first moves from x to y, in the same place; the second knows it as a rival, and then not. */
static void change_names(unsigned actor)
{
    pass();
    if (actor == 0) {
        close_region();
        open_region((ay_spec){.name = "y"});
        heed(ay_enter(region));
        point();
        ay_leave(region);
    }
}

static void prepare_slots(unsigned actor)
{
    (void)actor;
    room = 2;
    open_space(4);
    open_region((ay_spec){.name = "x", .slots = 2});
}

static bool is_set(void *unused)
{
    (void)unused;
    return atomic_load(flag) != 0;
}

static void prepare_condition(unsigned actor)
{
    if (actor == 0)
        atomic_store(flag, 0);
    prepare_x(actor);
}

/* The second sets what the first waits for, at the end: until then each passage is news. */
static void wait_for_flag(unsigned actor)
{
    if (actor == 1) {
        pass();
        heed(ay_enter(region));
        atomic_store(flag, 1);
    } else {
        heed(ay_enter_when(region, is_set, NULL, -1));
    }
    stay();
}

static void prepare_unit(unsigned actor)
{
    (void)actor;
    open_space(4);
    open_region((ay_spec){.name = "x", .take = 1, .of = 1});
}

static void audit_unit(unsigned deaths, unsigned kills)
{
    audit_of((ay_spec){.name = "x", .take = 1, .of = 1}, deaths, kills);
}

static void prepare_modes(unsigned actor)
{
    open_space(4);
    room = 3;
    open_region((ay_spec){.name = "x", .mode = actor == 0 ? AY_EXCLUSIVE : AY_SHARED});
}

static const struct scene scenes[] = {
    {.name = "two pass", .actors = 2, .prepare = prepare_x, .act = pass_twice, .audit = audit_x},
    {.name = "two by the express lane",
     .actors = 2,
     .prepare = prepare_warm,
     .act = pass_twice,
     .audit = audit_x},
    {.name = "three pass", .actors = 3, .prepare = prepare_x, .act = pass_once, .audit = audit_x},
    {.name = "a place changes its owner",
     .actors = 2,
     .prepare = prepare_x,
     .act = one_moves,
     .audit = audit_x},
    {.name = "two open",
     .actors = 2,
     .prepare = prepare_to_open,
     .act = open_and_pass,
     .audit = audit_x},
    {.name = "one opens",
     .actors = 3,
     .prepare = prepare_space,
     .act = open_beside,
     .audit = audit_x},
    {.name = "a place changes its name",
     .actors = 2,
     .prepare = prepare_x,
     .act = change_names,
     .audit = audit_y},
    {.name = "two slots",
     .actors = 3,
     .prepare = prepare_slots,
     .act = pass_once,
     .audit = audit_slots},
    {.name = "a condition",
     .actors = 2,
     .prepare = prepare_condition,
     .act = wait_for_flag,
     .audit = audit_x,
     .immortal = true}, /* who is to set it must not die before */
    {.name = "a unit", .actors = 3, .prepare = prepare_unit, .act = pass_once, .audit = audit_unit},
    {.name = "readers and a writer",
     .actors = 3,
     .prepare = prepare_modes,
     .act = pass_once,
     .audit = audit_x},
};

/* ---- the command ---- */

struct wishes {
    const char *scene; /* NULL: all */
    uint64_t preemptions, kills, runs, random, seed;
};

static uint64_t number(const char *text)
{
    char *end;
    const unsigned long long value = strtoull(text ? text : "", &end, 10);
    if (!text || *end || end == text) {
        fprintf(stderr, "schedules: '%s' is no number\n", text ? text : "");
        exit(2);
    }
    return value;
}

static struct wishes read_wishes(int argc, char **argv)
{
    struct wishes wishes = {.runs = UINT64_MAX, .preemptions = UNTOLD, .seed = 1};
    for (int at = 1; at < argc; at += 2) {
        const char *value = argv[at + 1];
        if (strcmp(argv[at], "--scene") == 0)
            wishes.scene = value;
        else if (strcmp(argv[at], "--preemptions") == 0)
            wishes.preemptions = number(value);
        else if (strcmp(argv[at], "--kills") == 0)
            wishes.kills = number(value);
        else if (strcmp(argv[at], "--runs") == 0)
            wishes.runs = number(value);
        else if (strcmp(argv[at], "--random") == 0)
            wishes.random = number(value);
        else if (strcmp(argv[at], "--seed") == 0)
            wishes.seed = number(value);
        else {
            fprintf(stderr, "schedules: there is no option '%s'\n", argv[at]);
            exit(2);
        }
    }
    return wishes;
}

static bool try_scene(const struct scene *chosen, const struct wishes *wishes)
{
    struct scene scene = *chosen;
    scene.space = space_path;
    scene.preemptions = (unsigned)wishes->preemptions;
    scene.kills = scene.immortal ? 0 : (unsigned)wishes->kills;
    struct tally tally;
    const bool holds = wishes->random ? scene_sample(&scene, wishes->random, wishes->seed, &tally)
                                      : scene_explore(&scene, wishes->runs, &tally);
    printf("%s, preemptions %u, kills %u: %llu runs, %llu steps%s\n", scene.name, scene.preemptions,
           scene.kills, (unsigned long long)tally.runs, (unsigned long long)tally.steps,
           !holds            ? ": BROKEN"
           : wishes->random  ? ", at random"
           : tally.exhausted ? ", exhausted"
                             : ", not exhausted");
    fflush(stdout);
    return holds;
}

static bool try_scenes(const struct wishes *wishes)
{
    bool holds = true, any = false;
    for (size_t at = 0; at < sizeof scenes / sizeof *scenes && holds; at++)
        if (!wishes->scene || strcmp(wishes->scene, scenes[at].name) == 0) {
            any = true;
            holds = try_scene(&scenes[at], wishes);
        }
    if (!any) {
        fprintf(stderr, "schedules: there is no scene '%s'\n", wishes->scene);
        exit(2);
    }
    return holds;
}

/* All runs of a pair with one preemption, and with one kill; of three, some with more. */
static bool try_all(struct wishes wishes)
{
    if (wishes.preemptions != UNTOLD)
        return try_scenes(&wishes);
    bool holds = true;
    for (size_t at = 0; at < sizeof scenes / sizeof *scenes && holds; at++) {
        const struct scene *scene = &scenes[at];
        if (wishes.scene && strcmp(wishes.scene, scene->name) != 0)
            continue;
        const struct wishes once = {.preemptions = 1, .runs = UINT64_MAX},
                            killed = {.kills = 1, .runs = UINT64_MAX},
                            drawn = {.preemptions = 3,
                                     .kills = 1,
                                     .random = wishes.random ? wishes.random : 400,
                                     .seed = wishes.seed};
        if (scene->actors == 2)
            holds = try_scene(scene, &once) && try_scene(scene, &killed);
        holds = holds && try_scene(scene, &drawn);
    }
    return holds;
}

/* The library asks the kernel whether its thread was off its processor (memory/file/named.c), which
 * would make two runs differ: without that, it asks the file each time. */
static void be_the_same_each_time(char **argv)
{
    static const char tunable[] = "GLIBC_TUNABLES", value[] = "glibc.pthread.rseq=0";
    const char *now = getenv(tunable);
    if (now && strcmp(now, value) == 0)
        return;
    setenv(tunable, value, 1);
    execv("/proc/self/exe", argv);
    perror("schedules: execv");
    exit(1);
}

int main(int argc, char **argv)
{
    be_the_same_each_time(argv);
    const struct wishes wishes = read_wishes(argc, argv);
    snprintf(space_path, sizeof space_path, "/dev/shm/afteryou-test-schedules-%d", (int)getpid());
    flag = mmap(NULL, sizeof *flag, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (flag == MAP_FAILED) {
        perror("schedules: mmap");
        return 1;
    }
    const bool holds = try_all(wishes);
    unlink(space_path);
    return holds ? 0 : 1;
}
