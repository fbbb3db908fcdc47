/* SPDX-License-Identifier: MIT */
/* Taking permissions back when there is a lot of it: many names, many that are held for long, no
 * place left, a full file system. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "afteryou.h"
#include "agent/host/local.h"
#include "common/clock.h"
#include "common/clusters.h"

enum { WAIT_MS = 60000, PLACES = 4096, A_PROCESS = 1500 };

static char directory[] = "/dev/shm/afteryou-test-XXXXXX", space_path[PATH_MAX];
static struct directory own;
static struct pages pages;
static struct local *local; /* lasts as long as the process, as the agent's does */

static void open_all(void)
{
    char trouble[PATH_MAX + 256];
    const struct pages_options options = {
        .cluster = "c", .protocol = "token", .lease = 1000000, .grace = 2000000};
    setenv(CLUSTERS_ENVIRONMENT, directory, 1);
    assert_int_equal(directory_open(&own, "c", 0600, (gid_t)-1, trouble, sizeof trouble), 0);
    assert_int_equal(pages_open(&pages, &own, &options, trouble, sizeof trouble), 0);
    /* a small one, made before the agent would: so that a test can fill it */
    ay_space *space;
    assert_true(cluster_path("c", "space", space_path, sizeof space_path));
    assert_int_equal(ay_open(space_path, &(ay_options){.places = PLACES}, &space), 0);
    ay_close(space);
    local = local_open(&own, &pages, trouble, sizeof trouble);
    assert_non_null(local);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/dev/shm/afteryou-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void name_of(unsigned index, char *name)
{
    snprintf(name, 32, "name-%u", index);
}

static void begin_to_take_back(unsigned index)
{
    char name[32];
    name_of(index, name);
    if (index >= atomic_load(&pages.map->count))
        pages_name(&pages, index, name, strlen(name));
    pages_grant(&pages, index, PERMISSION_EXCLUSIVE, 0, 1, 0);
    local_take_back(local, index, name);
}

static struct local_news next_news(void)
{
    struct local_news news;
    struct pollfd fd = {.fd = local_fd(local), .events = POLLIN};
    do
        assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
    while (!local_next(local, &news));
    return news;
}

/* Whatever else comes in between. */
static struct local_news until(unsigned index, int kind)
{
    struct local_news news;
    do
        news = next_news();
    while (news.resource != index || (int)news.kind != kind);
    return news;
}

static int count_mine(const ay_place *place, void *arg)
{
    *(unsigned *)arg += place->alive && place->pid == getpid();
    return 0;
}

static unsigned own_places(void)
{
    unsigned count = 0;
    assert_true(ay_look(space_path, NULL, count_mine, &count) >= 0);
    return count;
}

/* A process with `count` open regions, entered or not, from this name on; it lasts until it is
 * killed. */
static pid_t start_user(unsigned first, unsigned count, bool enters)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        ay_space *space;
        if (ay_open(space_path, NULL, &space) < 0)
            _exit(1);
        for (unsigned index = first; index < first + count; index++) {
            ay_region *region;
            char name[32];
            name_of(index, name);
            if (ay_region_open(space, &(ay_spec){.name = name}, &region) < 0) {
                if (!enters)
                    break; /* no room for more: that is what is wanted */
                _exit(1);
            }
            if (enters && ay_enter(region) < 0)
                _exit(1);
        }
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void end_user(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* More than a process can have open, one after the other: each costs a place while it is handed
 * over, and no longer. */
static void test_many_names(void **state)
{
    (void)state;
    open_all();
    const unsigned before = own_places();
    for (unsigned index = 0; index < 2100; index++) {
        begin_to_take_back(index);
        assert_true(until(index, LOCAL_TAKEN_BACK).withdrawn);
    }
    begin_to_take_back(0); /* the last one's thread has closed its region, or closes it now */
    until(0, LOCAL_TAKEN_BACK);
    for (unsigned tries = 0; own_places() > before && tries < 1000; tries++)
        usleep(1000);
    assert_int_equal(own_places(), before);
}

/* More than there are threads to wait: what is free is handed over all the same, and in the end all
 * of it. */
static void test_many_that_are_held(void **state)
{
    (void)state;
    enum { HELD = 1100, FREE = HELD };
    open_all();
    const pid_t user = start_user(0, HELD, true);
    for (unsigned index = 0; index < HELD; index++)
        begin_to_take_back(index);
    for (unsigned busy = 0; busy < HELD; busy++)
        assert_int_equal(next_news().kind, LOCAL_BUSY);
    for (unsigned times = 0; times < 3; times++) {
        begin_to_take_back(FREE);
        assert_true(until(FREE, LOCAL_TAKEN_BACK).withdrawn);
    }
    end_user(user);
    for (unsigned done = 0; done < HELD; done++) {
        const struct local_news news = next_news();
        assert_int_equal(news.kind, LOCAL_TAKEN_BACK);
        assert_true(news.withdrawn && news.death);
    }
}

static void test_no_place_left(void **state)
{
    (void)state;
    pid_t user[PLACES / A_PROCESS + 1];
    open_all();
    for (unsigned at = 0; at < PLACES / A_PROCESS + 1; at++)
        user[at] = start_user(at * A_PROCESS, A_PROCESS, false);
    ay_space *space;
    ay_region *region;
    assert_int_equal(ay_open(space_path, NULL, &space), 0);
    assert_int_equal(ay_region_open(space, &(ay_spec){.name = "one more"}, &region), -EUSERS);
    for (unsigned times = 0; times < 5; times++) {
        begin_to_take_back(times);
        assert_true(until(times, LOCAL_TAKEN_BACK).withdrawn);
    }
    ay_close(space);
    for (unsigned at = 0; at < PLACES / A_PROCESS + 1; at++)
        end_user(user[at]);
}

static void fill_file_system(void)
{
    static const char bytes[4096];
    char path[96];
    snprintf(path, sizeof path, "%s/full", directory);
    const int fd = open(path, O_WRONLY | O_CREAT, 0600);
    while (write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        continue;
    assert_int_equal(errno, ENOSPC);
    close(fd);
}

static void test_full_file_system(void **state)
{
    (void)state;
    if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", directory, "tmpfs", 0, "size=8m,mode=755") != 0)
        skip();
    open_all();
    const pid_t user = start_user(100, 1, true);
    fill_file_system();
    ay_space *space;
    ay_region *region;
    assert_int_equal(ay_open(space_path, NULL, &space), 0);
    int error;
    do
        error = ay_region_open(space, &(ay_spec){.name = "one more"}, &region);
    while (error == 0);
    assert_int_equal(error, -ENOSPC);
    for (unsigned times = 0; times < 5; times++) {
        begin_to_take_back(times);
        assert_true(until(times, LOCAL_TAKEN_BACK).withdrawn);
    }
    begin_to_take_back(100); /* somebody is inside */
    until(100, LOCAL_BUSY);
    end_user(user);
    assert_true(until(100, LOCAL_TAKEN_BACK).death);
    ay_close(space);
    umount2(directory, MNT_DETACH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_many_names),
        TEST(test_many_that_are_held),
        TEST(test_no_place_left),
        TEST(test_full_file_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
