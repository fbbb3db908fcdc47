/* SPDX-License-Identifier: MIT */
/* Scenes of a few processes around one region, in every order.
 *
 *   schedules [--scene NAME] [--preemptions N] [--kills N] [--lapses N] [--rouses N] [--runs N]
 *             [--random N [--seed S]] [--within FILE...]
 *
 * Without bounds: of a pair all runs with one preemption where one sleeps, wakes, recalls or
 * claims (or the first of them); of all scenes some at random with more.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clusters.h"
#include "scenes.h"

enum { UNTOLD = 1000 };

#ifdef SCHEDULE_CLUSTER
static const struct scene *const catalogue[] = {scenes_cluster};
#else
static const struct scene *const catalogue[] = {scenes_plain,  scenes_retained, scenes_hurried,
                                                scenes_places, scenes_several,  scenes_asks};
#endif

struct wishes {
    const char *scene;  /* NULL: all */
    const char *within; /* NULL: everywhere */
    uint64_t preemptions, kills, lapses, rouses, runs, random, seed;
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
        else if (strcmp(argv[at], "--within") == 0)
            wishes.within = value;
        else if (strcmp(argv[at], "--preemptions") == 0)
            wishes.preemptions = number(value);
        else if (strcmp(argv[at], "--kills") == 0)
            wishes.kills = number(value);
        else if (strcmp(argv[at], "--lapses") == 0)
            wishes.lapses = number(value);
        else if (strcmp(argv[at], "--rouses") == 0)
            wishes.rouses = number(value);
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
    scene.within = wishes->within;
    scene.bounds = (struct bounds){.preemptions = (unsigned)wishes->preemptions,
                                   .kills = scene.immortal ? 0 : (unsigned)wishes->kills,
                                   .lapses = scene.in_vain   ? 1
                                             : scene.hurried ? (unsigned)wishes->lapses
                                                             : 0,
                                   .rouses = (unsigned)wishes->rouses};
    struct tally tally;
    const bool holds = wishes->random ? scene_sample(&scene, wishes->random, wishes->seed, &tally)
                                      : scene_explore(&scene, wishes->runs, &tally);
    const struct bounds *bounds = &scene.bounds;
    printf("%s, preemptions %u, kills %u, lapses %u, rouses %u: %llu runs, %llu steps%s\n",
           scene.name, bounds->preemptions, bounds->kills, bounds->lapses, bounds->rouses,
           (unsigned long long)tally.runs, (unsigned long long)tally.steps,
           !holds            ? ": BROKEN"
           : wishes->random  ? ", at random"
           : tally.exhausted ? ", exhausted"
                             : ", not exhausted");
    fflush(stdout);
    return holds;
}

/* What is tried of a scene if no bounds are given. */
static bool try_some(const struct scene *scene, const struct wishes *wishes)
{
    const struct wishes asleep = {.preemptions = 1,
                                  .runs = 400,
                                  .within = "wait.c wake.c recall.c claim.c rest.c"},
                        drawn = {.preemptions = 3,
                                 .kills = 1,
                                 .lapses = 1,
                                 .rouses = 1,
                                 .random = wishes->random ? wishes->random : 60,
                                 .seed = wishes->seed};
    if (scene->actors == 2 && !try_scene(scene, &asleep))
        return false;
    return try_scene(scene, &drawn);
}

static bool try_all(const struct wishes *wishes)
{
    bool any = false;
    for (size_t part = 0; part < sizeof catalogue / sizeof *catalogue; part++)
        for (const struct scene *scene = catalogue[part]; scene->name; scene++) {
            if (wishes->scene && strcmp(wishes->scene, scene->name) != 0)
                continue;
            any = true;
            if (!(wishes->preemptions == UNTOLD ? try_some : try_scene)(scene, wishes))
                return false;
        }
    if (!any) {
        fprintf(stderr, "schedules: there is no scene '%s'\n", wishes->scene);
        exit(2);
    }
    return true;
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

static char directory[] = "/dev/shm/afteryou-schedules-XXXXXX";

static void remove_directory(void)
{
    char command[sizeof directory + 16];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command) != 0)
        fprintf(stderr, "schedules: %s stays\n", directory);
}

/* For the space, which lies where a cluster's would. */
static void make_directory(void)
{
    char below[sizeof directory + 4];
    if (!mkdtemp(directory)) {
        perror(directory);
        exit(1);
    }
    atexit(remove_directory);
    snprintf(below, sizeof below, "%s/c", directory);
    if (mkdir(below, 0700) != 0) {
        perror(below);
        exit(1);
    }
    snprintf(space_path, sizeof space_path, "%s/space", below);
    setenv(CLUSTERS_ENVIRONMENT, directory, 1);
}

int main(int argc, char **argv)
{
    be_the_same_each_time(argv);
    const struct wishes wishes = read_wishes(argc, argv);
    make_directory();
    flag = mmap(NULL, sizeof *flag, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (flag == MAP_FAILED) {
        perror("schedules: mmap");
        return 1;
    }
    const bool holds = try_all(&wishes);
    return holds ? 0 : 1;
}
