/* SPDX-License-Identifier: MIT */
/* Across borders: PID namespaces, users of one group, and a user without rights. Needs root, to
 * make them. */
#include <grp.h>
#include <sched.h>
#include <sys/stat.h>

#include "harness.h"

enum { USER_ONE = 54321, USER_TWO = 54322, USER_THREE = 54323, GROUP = 54400 };

struct board {
    _Atomic int inside, result;
};

/* A child in a PID namespace of its own, in which its pid is 1. */
static pid_t spawn_in_namespace(void)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    if (unshare(CLONE_NEWPID) != 0)
        _exit(SKIP);
    const pid_t inner = fork();
    if (inner != 0) { /* stands between: its end is the inner one's end */
        int status;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        waitpid(inner, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return 0;
}

static void test_namespaces(void)
{
    struct board *board = shared_memory(sizeof *board);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    pid_t pids[2];
    for (int which = 0; which < 2; which++) { /* two namespaces, the same pid in each */
        pids[which] = spawn_in_namespace();
        if (pids[which] == 0) {
            CHECK_EQUAL(getpid(), 1);
            ay_region *own = open_region(open_space(NULL), (ay_spec){.name = "x"});
            CHECK_EQUAL(ay_enter(own), which == 0 ? 0 : AY_AFTER_DEATH);
            atomic_store(&board->inside, which + 1);
            for (;;)
                pause();
        }
        if (which == 0)
            AWAIT_TRUE(atomic_load(&board->inside) == 1);
    }
    CHECK_EQUAL(ay_enter_for(region, 300), -ETIMEDOUT);
    CHECK_EQUAL(atomic_load(&board->inside), 1);
    kill_and_reap(pids[0]); /* the outer one, and its inner goes with it */
    AWAIT_TRUE(atomic_load(&board->inside) == 2);
    CHECK_EQUAL(ay_try(region), -EBUSY);
    kill_and_reap(pids[1]);
    CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), AY_AFTER_DEATH);
    ay_close(space);
}

static void become(uid_t user, gid_t group)
{
    if (setgroups(1, &group) != 0 || setresgid(group, group, group) != 0 ||
        setresuid(user, user, user) != 0)
        FAIL("cannot become user %u: %s", user, strerror(errno));
    prctl(PR_SET_DUMPABLE, 1);
}

static void test_users(void)
{
    char directory[] = "/dev/shm/afteryou-test-group-XXXXXX";
    CHECK(mkdtemp(directory));
    CHECK_EQUAL(chown(directory, 0, GROUP), 0);
    CHECK_EQUAL(chmod(directory, 02770), 0);
    snprintf(test_space, sizeof test_space, "%s/space", directory);
    struct board *board = shared_memory(sizeof *board);
    const pid_t one = spawn();
    if (one == 0) {
        ay_space *space;
        become(USER_ONE, GROUP);
        umask(077);
        CHECK_EQUAL(ay_open(test_space, &(ay_options){.mode = 0660}, &space), 0);
        CHECK_EQUAL(ay_enter(open_region(space, (ay_spec){.name = "x"})), 0);
        atomic_store(&board->inside, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(&board->inside));
    const pid_t two = spawn();
    if (two == 0) {
        become(USER_TWO, GROUP);
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_try(region), -EBUSY);
        atomic_store(&board->inside, 2);
        CHECK_EQUAL(ay_enter_for(region, PATIENCE_MS), AY_AFTER_DEATH);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->inside) == 2);
    kill_and_reap(one);
    expect_success(two);
    const pid_t three = spawn();
    if (three == 0) {
        ay_space *space;
        become(USER_THREE, USER_THREE);
        CHECK_EQUAL(ay_open(test_space, NULL, &space), -EACCES);
        CHECK(strstr(ay_message(), test_space));
        CHECK_EQUAL(ay_look(test_space, NULL, NULL, NULL), -EACCES);
        _exit(0);
    }
    expect_success(three);
    unlink(test_space);
    rmdir(directory);
}

int main(void)
{
    if (geteuid() != 0) {
        fputs("skipped: only root makes namespaces and users\n", stderr);
        return SKIP;
    }
    begin_test("borders");
    test_namespaces();
    unlink(test_space);
    test_users();
    return 0;
}
