/* SPDX-License-Identifier: MIT */
/* The last thread of a program: when its threads have all ended, its process ends as it would
 * without the library; and not before. */
#include <dirent.h>
#include <pthread.h>

#include "harness.h"

static int report[2];

static void say(char what)
{
    CHECK_EQUAL(write(report[1], &what, 1), 1);
}

static char hear(void)
{
    struct pollfd heard = {.fd = report[0], .events = POLLIN};
    char what;
    CHECK_EQUAL(poll(&heard, 1, PATIENCE_MS), 1);
    CHECK_EQUAL(read(report[0], &what, 1), 1);
    return what;
}

static void at_exit(void)
{
    say('e');
}

static void *outlive(void *unused)
{
    (void)unused;
    sleep_ms(1500);
    say('t');
    return NULL;
}

static void *pass(void *region)
{
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    return NULL;
}

/* Whoever is inside has died there; the process ends, as by exit(0). */
static void test_first_ends_inside(void)
{
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        atexit(at_exit);
        CHECK_EQUAL(ay_enter(open_region(open_space(NULL), (ay_spec){.name = "x"})), 0);
        test_space[0] = '\0'; /* the parent's: its exit handler leaves it alone */
        say('i');
        pthread_exit(NULL);
    }
    CHECK_EQUAL(hear(), 'i');
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), AY_AFTER_DEATH);
    CHECK_EQUAL(hear(), 'e');
    expect_success(pid);
    ay_close(space);
}

/* A thread that knows nothing of the library is waited for. */
static void test_others_remain(void)
{
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        pthread_t thread;
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        atexit(at_exit);
        CHECK_EQUAL(pthread_create(&thread, NULL, outlive, NULL), 0);
        CHECK_EQUAL(pthread_create(&thread, NULL, pass, region), 0);
        pthread_exit(NULL);
    }
    CHECK_EQUAL(hear(), 't');
    CHECK_EQUAL(hear(), 'e');
    expect_success(pid);
}

/* The only one beside the first. */
static int other_thread(pid_t pid)
{
    char path[64];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    CHECK(tasks);
    for (const struct dirent *task = readdir(tasks); task; task = readdir(tasks))
        if (atoi(task->d_name) != 0 && atoi(task->d_name) != pid)
            found = atoi(task->d_name);
    closedir(tasks);
    CHECK(found);
    return found;
}

static long switches(pid_t pid, int tid)
{
    char path[64], line[128];
    long count = -1;
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)pid, tid);
    FILE *status = fopen(path, "r");
    CHECK(status);
    while (count < 0 && fgets(line, sizeof line, status))
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &count) != 1)
            count = -1;
    fclose(status);
    return count;
}

/* As long as a thread that uses the library lives, nobody looks now and again whether it does. */
static void test_nobody_looks(void)
{
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        open_region(open_space(NULL), (ay_spec){.name = "x"});
        say('o');
        for (;;)
            pause();
    }
    CHECK_EQUAL(hear(), 'o');
    sleep_ms(100);
    const int keeper = other_thread(pid);
    const long before = switches(pid, keeper);
    sleep_ms(2500);
    CHECK_EQUAL(switches(pid, keeper), before);
    kill_and_reap(pid);
}

/* The keeper is there as soon as the space is open, so that no region waits for it; and keeps no
 * process that has none. */
static void test_without_region(void)
{
    unlink(test_space);
    const pid_t pid = spawn();
    if (pid == 0) {
        atexit(at_exit);
        ay_close(open_space(NULL));
        open_space(NULL);
        other_thread(getpid());
        test_space[0] = '\0';
        say('o');
        pthread_exit(NULL);
    }
    CHECK_EQUAL(hear(), 'o');
    CHECK_EQUAL(hear(), 'e');
    expect_success(pid);
}

int main(void)
{
    begin_test("last");
    CHECK_EQUAL(pipe(report), 0);
    test_first_ends_inside();
    test_others_remain();
    test_nobody_looks();
    test_without_region();
    return 0;
}
