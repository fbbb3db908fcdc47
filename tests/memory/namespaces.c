/* SPDX-License-Identifier: MIT */
/* Two PID namespaces without /proc, with the same process numbers in both: their processes are told
 * apart. A wait between them is no deadlock unless it is one. */
#include <sched.h>
#include <sys/mount.h>

#include "harness.h"

struct board {
    _Atomic int inside, told, entered;
};

/* A child whose pid is 1, and that has no /proc. */
static pid_t spawn_without_proc(void)
{
    const pid_t pid = spawn();
    if (pid != 0)
        return pid;
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
        fprintf(stderr, "SKIP: no namespace of its own: %s\n", strerror(errno));
        _exit(SKIP);
    }
    const pid_t inner = fork();
    if (inner != 0) { /* stands between: its end is the inner one's end */
        int status;
        waitpid(inner, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CHECK_EQUAL(getpid(), 1);
    CHECK(access("/proc/self", F_OK) != 0);
    return 0;
}

/* Each is inside a region of its own. The second waits for the first, which leaves after a while;
 * the first waits for the second too, if there is to be a deadlock. */
static void test_two(bool deadlock)
{
    static const char *const names[2] = {"a", "b"};
    unlink(test_space);
    struct board *board = shared_memory(sizeof *board);
    pid_t pids[2];
    ay_close(open_space(NULL)); /* to make one takes /proc */
    for (int me = 0; me < 2; me++) {
        pids[me] = spawn_without_proc();
        if (pids[me] != 0)
            continue;
        ay_space *space = open_space(NULL);
        ay_region *own = open_region(space, (ay_spec){.name = names[me]});
        ay_region *other = open_region(space, (ay_spec){.name = names[!me]});
        CHECK_EQUAL(ay_enter(own), 0);
        atomic_fetch_add(&board->inside, 1);
        AWAIT_TRUE(atomic_load(&board->inside) == 2);
        if (me == 0 && !deadlock) {
            sleep_ms(700); /* longer than any patience with a cycle */
            _exit(ay_leave(own));
        }
        const int result = ay_enter(other);
        CHECK(result == 0 || result == -EDEADLK);
        atomic_fetch_add(result == 0 ? &board->entered : &board->told, 1);
        ay_close(space);
        _exit(0);
    }
    for (int me = 0; me < 2; me++) {
        const int status = await_exit(pids[me]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP)
            exit(SKIP);
        CHECK_EQUAL(status, 0);
    }
    CHECK_EQUAL(atomic_load(&board->told), deadlock);
    CHECK_EQUAL(atomic_load(&board->entered), 1);
}

int main(void)
{
    begin_test("namespaces");
    test_two(false);
    test_two(true);
    return 0;
}
