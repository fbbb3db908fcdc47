/* SPDX-License-Identifier: MIT */
/* Who may only read a space, and locks its file, stops nobody: neither opening, nor entering, nor
 * deaths. */
#include <fcntl.h>
#include <sys/stat.h>

#include "harness.h"

enum { NOBODY = 65534 };

/* Another user where that can be, and a read lock from there, in one piece or byte by byte. */
static pid_t start_reader(off_t length, bool each_page)
{
    _Atomic int *locked = shared_memory(sizeof *locked);
    const pid_t pid = spawn();
    if (pid == 0) {
        struct stat status;
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            FAIL("cannot be another user: %s", strerror(errno));
        const int fd = open(test_space, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &status) != 0)
            FAIL("cannot read the space: %s", strerror(errno));
        CHECK(geteuid() == 0 || open(test_space, O_RDWR | O_CLOEXEC) < 0 ||
              status.st_uid == geteuid());
        for (off_t at = 0; at < (each_page ? status.st_size : 1); at += (off_t)granule()) {
            struct flock lock = {.l_type = F_RDLCK, .l_start = at, .l_len = length};
            CHECK_EQUAL(fcntl(fd, F_OFD_SETLK, &lock), 0);
        }
        atomic_store(locked, 1);
        for (;;)
            pause();
    }
    AWAIT_TRUE(atomic_load(locked));
    return pid;
}

/* In a process of its own, so that a wait without end is an end. `inside`: and is killed there. */
static int go_through(bool die_inside)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        alarm(PATIENCE_MS / 1000);
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, (ay_spec){.name = "x"}),
                  *other = open_region(space, (ay_spec){.name = "y"});
        const int told = ay_enter_for(region, PATIENCE_MS);
        CHECK(told >= 0);
        if (die_inside)
            raise(SIGKILL);
        CHECK(ay_enter_for(other, PATIENCE_MS) >= 0);
        ay_close(space);
        _exit(told);
    }
    const int status = await_exit(pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        FAIL("a reader's lock stopped everybody: %x", (unsigned)status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static void test_reader(const char *what, off_t length, bool each_page)
{
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.mode = 0644, .places = 64}, &space), 0);
    const pid_t reader = start_reader(length, each_page);
    ay_region *old = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(old), 0);
    CHECK_EQUAL(ay_leave(old), 0);
    /* More than there are places: those of the dead can be had again, for their processes are gone.
     */
    for (int times = 0; times < 40; times++) {
        CHECK_EQUAL(go_through(true), 0);
        CHECK_EQUAL(go_through(false), AY_AFTER_DEATH);
    }
    CHECK_EQUAL(ay_enter_for(old, PATIENCE_MS), 0);
    ay_close(space);
    if (length == 0 || each_page) /* it cannot be told whether somebody is there */
        CHECK_EQUAL(ay_remove(test_space), -EBUSY);
    kill_and_reap(reader);
    CHECK_EQUAL(ay_remove(test_space), 0);
    printf("stopped nobody: %s\n", what);
}

int main(void)
{
    begin_test("readers");
    test_reader("a lock on the first two bytes", 2, false);
    test_reader("a lock on everything", 0, false);
    test_reader("a lock on the first byte of every page", 1, true);
    return 0;
}
