/* SPDX-License-Identifier: MIT */
/* Taking a permission back: in the agent's turn, by a loop that waits for nobody. */
#include "taking.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

static unsigned own_threads(void)
{
    unsigned count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (const struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* A hand-over starts no thread, and takes place in the very call if nobody is inside. Where
 * somebody is, threads of the library watch, a hundred regions each. */
static void test_no_threads(void **state)
{
    (void)state;
    enum { HELD = 300 };
    struct local_news news;
    open_all();
    const unsigned before = own_threads();
    for (unsigned index = 0; index < HELD; index++) {
        begin_to_take_back(index);
        assert_true(local_next(local, &news));
        assert_true(news.kind == LOCAL_TAKEN_BACK && news.withdrawn && news.resource == index);
    }
    assert_int_equal(own_threads(), before);
    const pid_t user = start_user(0, HELD, true);
    for (unsigned index = 0; index < HELD; index++)
        begin_to_take_back(index);
    for (unsigned busy = 0; busy < HELD; busy++)
        assert_int_equal(next_news().kind, LOCAL_BUSY);
    assert_true(own_threads() <= before + HELD / 50);
    end_user(user);
    for (unsigned done = 0; done < HELD; done++)
        assert_int_equal(next_news().kind, LOCAL_TAKEN_BACK);
}

/* A process that enters the first name, tells its fence, leaves when it is told to, and ends. */
struct passer {
    pid_t pid;
    int told, tells;
};

static struct passer start_passer(void)
{
    int told[2], tells[2];
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(tells), 0);
    const struct passer passer = {.pid = fork(), .told = told[1], .tells = tells[0]};
    if (passer.pid == 0) {
        ay_space *space;
        ay_region *region;
        char byte, name[32];
        name_of(0, name);
        if (ay_open(space_path, NULL, &space) < 0 ||
            ay_region_open(space, &(ay_spec){.name = name}, &region) < 0 || ay_enter(region) < 0)
            _exit(1);
        const uint64_t fence = ay_fence(region);
        if (write(tells[1], &fence, sizeof fence) != sizeof fence || read(told[0], &byte, 1) != 1)
            _exit(1);
        ay_leave(region);
        _exit(0);
    }
    close(told[0]);
    close(tells[1]);
    return passer;
}

static uint64_t number_of(const struct passer *passer)
{
    uint64_t fence;
    assert_int_equal(read(passer->tells, &fence, sizeof fence), sizeof fence);
    return fence / AY_PLACES_MOST;
}

static void let_leave(const struct passer *passer)
{
    int status;
    assert_int_equal(write(passer->told, "", 1), 1);
    assert_int_equal(waitpid(passer->pid, &status, 0), passer->pid);
    assert_int_equal(status, 0);
    close(passer->told);
    close(passer->tells);
}

static int find_waiting(const ay_place *place, void *pid)
{
    return place->state == AY_WAITING && place->pid == *(pid_t *)pid && place->waits_for >= 0;
}

static void until_it_waits(struct passer passer)
{
    for (unsigned tries = 0; tries < WAIT_MS; tries++) {
        if (ay_look(space_path, NULL, find_waiting, &passer.pid) == 1)
            return;
        usleep(1000);
    }
    fail();
}

/* Who waits already goes before the agent, who comes later goes after it. */
static void test_in_its_turn(void **state)
{
    (void)state;
    struct local_news news;
    open_all();
    const struct passer holder = start_passer();
    number_of(&holder);
    const struct passer before = start_passer();
    until_it_waits(before);
    begin_to_take_back(0);
    assert_int_equal(next_news().kind, LOCAL_BUSY);
    const struct passer after = start_passer();
    until_it_waits(after);
    let_leave(&holder);
    const uint64_t first = number_of(&before);
    local_dispatch(local);
    assert_false(local_next(local, &news));
    let_leave(&before);
    news = next_news();
    assert_true(news.kind == LOCAL_TAKEN_BACK && news.withdrawn && !news.death);
    const uint64_t last = number_of(&after);
    assert_true(first < news.number && news.number < last);
    let_leave(&after);
}

/* Somebody who may write to the space locks its file, and no region can be opened: what is free is
 * handed over all the same, and who is inside is waited for. */
static void test_a_locked_file(void **state)
{
    (void)state;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    open_all();
    const struct passer holder = start_passer();
    number_of(&holder);
    const int fd = open(space_path, O_RDWR | O_CLOEXEC);
    for (lock.l_start = 0; fcntl(fd, F_OFD_SETLK, &lock) != 0; lock.l_start++)
        assert_true(lock.l_start < 1 << 20); /* beyond the places that somebody has */
    ay_space *space;
    ay_region *region;
    assert_int_equal(ay_open(space_path, NULL, &space), 0);
    assert_int_equal(ay_region_open(space, &(ay_spec){.name = "one more"}, &region), -EAGAIN);
    ay_close(space);
    begin_to_take_back(0);
    until(0, LOCAL_BUSY);
    for (unsigned index = 1; index <= 20; index++) {
        begin_to_take_back(index);
        assert_true(until(index, LOCAL_TAKEN_BACK).withdrawn);
    }
    let_leave(&holder);
    assert_true(until(0, LOCAL_TAKEN_BACK).withdrawn);
    close(fd);
}

/* An agent is killed while its ask stands in the queue: who comes after is not stopped by it, and
 * its successor takes the permission back. */
static void test_an_agent_ends(void **state)
{
    (void)state;
    char byte;
    int ready[2];
    const pid_t made = fork(); /* a space, and a holder there, before there is an agent */
    if (made == 0) {
        open_all();
        local_close(local);
        _exit(0);
    }
    assert_int_equal(waitpid(made, NULL, 0), made);
    setenv(CLUSTERS_ENVIRONMENT, directory, 1);
    assert_true(cluster_path("c", "space", space_path, sizeof space_path));
    const struct passer holder = start_passer();
    number_of(&holder);
    assert_int_equal(pipe(ready), 0);
    const pid_t agent = fork();
    if (agent == 0) {
        open_all();
        begin_to_take_back(0);
        if (next_news().kind == LOCAL_BUSY && write(ready[1], "", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    const struct passer after = start_passer();
    until_it_waits(after);
    end_user(agent);
    let_leave(&holder);
    number_of(&after);
    open_all();
    pages_withdraw(&pages, 0);
    begin_to_take_back(0);
    assert_int_equal(next_news().kind, LOCAL_BUSY);
    let_leave(&after);
    const struct local_news news = next_news();
    assert_true(news.kind == LOCAL_TAKEN_BACK && news.withdrawn && !news.death);
}

/* Somebody cancels the agent's wait: it says so, and tries again. */
static void test_a_cancelled_ask(void **state)
{
    (void)state;
    int status;
    open_all();
    const struct passer holder = start_passer();
    number_of(&holder);
    begin_to_take_back(0);
    until(0, LOCAL_BUSY);
    const pid_t agent = getpid(), canceller = fork();
    if (canceller == 0) {
        ay_space *space;
        char name[32];
        name_of(0, name);
        _exit(ay_open(space_path, NULL, &space) < 0 || ay_cancel(space, name, agent) != 1);
    }
    assert_non_null(strstr(until(0, LOCAL_TROUBLE).why, "cancel"));
    assert_int_equal(waitpid(canceller, &status, 0), canceller);
    assert_int_equal(status, 0);
    let_leave(&holder);
    assert_true(until(0, LOCAL_TAKEN_BACK).withdrawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_threads),    TEST(test_in_its_turn),     TEST(test_a_locked_file),
        TEST(test_an_agent_ends), TEST(test_a_cancelled_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
