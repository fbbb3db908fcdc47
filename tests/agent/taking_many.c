/* SPDX-License-Identifier: MIT */
/* Taking permissions back when there is a lot of it: many names, many that are held for long, no
 * place left, a full file system. */
#include "taking.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

enum { A_PROCESS = 1500 };

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
    assert_int_equal(own_places(), before);
}

/* More than may stand in queues: what is free is handed over all the same, and in the end all
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
