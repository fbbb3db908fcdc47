/* SPDX-License-Identifier: MIT */
/* A server of one thread with many asks on several names, beside processes that enter the same, of
 * which one is killed every 10 ms: each name is served in order of arrival, fences grow, nobody
 * else is inside meanwhile, and none is lost.
 *
 *   memory-ask_storm [SECONDS [ASKS [NAMES]]] */
#include "harness.h"

enum { HOLDERS = 4, KILL_MS = 10, NAMES_MOST = 1000, NAME_ROOM = 24 };

/* Who is inside, by its pid; the server by its own. */
static _Atomic int *inside;
static int names = 8;

struct served {
    uint64_t fence;
    uint64_t asked, told; /* how often of this name */
};
static struct served served[NAMES_MOST];

struct job {
    ay_region *region;
    int name;
    uint64_t arrival;
};

static void name_of(int name, char *text)
{
    snprintf(text, NAME_ROOM, "name %d", name);
}

/* Enters one after the other, stays for a moment, until it is killed. */
static pid_t start_holder(unsigned seed)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    ay_space *space = open_space(NULL);
    for (;; seed = seed * 1103515245 + 12345) {
        char text[NAME_ROOM];
        const int name = (int)(seed >> 16) % names;
        name_of(name, text);
        ay_region *region = open_region(space, (ay_spec){.name = text});
        CHECK(ay_enter(region) >= 0);
        atomic_store(&inside[name], (int)getpid());
        sleep_ms(2);
        CHECK_EQUAL(atomic_load(&inside[name]), (int)getpid());
        CHECK_EQUAL(ay_leave(region), 0);
        ay_region_close(region);
    }
}

static unsigned deaths;

/* It is inside: in its turn, alone, with a greater fence. */
static void serve(struct job *job, int result)
{
    struct served *name = &served[job->name];
    CHECK(result == 0 || result == AY_AFTER_DEATH);
    deaths += result == AY_AFTER_DEATH;
    CHECK_EQUAL(job->arrival, name->told);
    name->told++;
    CHECK(ay_fence(job->region) > name->fence);
    name->fence = ay_fence(job->region);
    atomic_store(&inside[job->name], (int)getpid());
    CHECK_EQUAL(atomic_load(&inside[job->name]), (int)getpid());
    CHECK_EQUAL(ay_leave(job->region), 0);
}

/* A process of its own, for a server with thousands of regions forks slowly. */
static pid_t start_killer(_Atomic unsigned *kills)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    pid_t holders[HOLDERS];
    for (unsigned which = 0; which < HOLDERS; which++)
        holders[which] = start_holder(which * 7919);
    for (;;) {
        sleep_ms(KILL_MS);
        const unsigned killed = atomic_fetch_add(kills, 1);
        kill_and_reap(holders[killed % HOLDERS]);
        holders[killed % HOLDERS] = start_holder(killed * 104729);
    }
}

static void ask(struct job *job)
{
    job->arrival = served[job->name].asked++;
    const int result = ay_ask(job->region);
    if (result != -EINPROGRESS)
        serve(job, result);
}

int main(int count, char **words)
{
    const int seconds = count > 1 ? atoi(words[1]) : 3, asks = count > 2 ? atoi(words[2]) : 400;
    names = count > 3 ? atoi(words[3]) : names;
    begin_test("ask_storm");
    inside = shared_memory(NAMES_MOST * sizeof *inside);
    struct job *jobs = calloc((size_t)asks, sizeof *jobs);
    CHECK(jobs && names <= NAMES_MOST);
    _Atomic unsigned *kills = shared_memory(sizeof *kills);
    const pid_t killer = start_killer(kills);
    ay_space *space = open_space(NULL);
    for (int which = 0; which < asks; which++) {
        char text[NAME_ROOM];
        jobs[which].name = which % names;
        name_of(jobs[which].name, text);
        jobs[which].region = open_region(space, (ay_spec){.name = text});
    }
    for (int which = 0; which < asks; which++)
        ask(&jobs[which]);
    const int64_t end = now_ms() + 1000 * seconds;
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    uint64_t asked = 0, told = 0;
    do {
        ay_region *region;
        int result;
        if (poll(&readable, 1, KILL_MS) < 0)
            FAIL("poll: %s", strerror(errno));
        while ((region = ay_decided(space, &result))) {
            struct job *job = jobs;
            while (job->region != region)
                job++;
            serve(job, result);
            if (now_ms() < end)
                ask(job);
        }
        CHECK_EQUAL(result, 0);
        CHECK(now_ms() < end + PATIENCE_MS); /* none is lost */
        asked = told = 0;
        for (int name = 0; name < names; name++) {
            asked += served[name].asked;
            told += served[name].told;
        }
    } while (told < asked || now_ms() < end);
    kill_and_reap(killer);
    printf("%llu asks were served, beside %u kills; %u deaths were told\n",
           (unsigned long long)told, atomic_load(kills), deaths);
    fflush(stdout);
    CHECK(told > (uint64_t)asks && deaths > 0);
    ay_close(space);
    free(jobs);
    return 0;
}
