/* SPDX-License-Identifier: MIT */
/* The granules of a space are pages of the machine that made it. A machine with smaller pages uses
 * it, and all promises hold; one with larger pages refuses it, but looks at it and removes it.
 *
 * usage: granules LARGE_PAGES_MODULE. The other machine is this program, started again with that
 * module (large_pages.c), which is told a role.
 */
#include <fcntl.h>
#include <pthread.h>

#include "harness.h"

enum { GRANULE_AT = 12 }; /* in the header */

static const char *program, *module;

/* On a machine with pages of so many bytes. */
static pid_t start_elsewhere(size_t page, const char *role)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%zu", page);
        setenv("LARGE_PAGES", bytes, 1);
        setenv("LD_PRELOAD", module, 1);
        execl(program, program, module, role, test_space, (char *)NULL);
        FAIL("cannot start %s: %s", program, strerror(errno));
    }
    return pid;
}

static size_t granule_of_file(void)
{
    uint32_t found = 0;
    const int fd = open(test_space, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQUAL(pread(fd, &found, sizeof found, GRANULE_AT), sizeof found);
    close(fd);
    return found;
}

static void *enter_and_end(void *region)
{
    CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
    return NULL;
}

/* A thread ends inside; its process lives on, until it is killed. */
static _Noreturn void end_thread_inside(void)
{
    pthread_t thread;
    ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
    CHECK_EQUAL(pthread_create(&thread, NULL, enter_and_end, region), 0);
    pthread_join(thread, NULL);
    for (;;)
        pause();
}

static _Noreturn void die_inside(void)
{
    ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
    CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
    raise(SIGKILL);
    _exit(1);
}

static void expect_refusal(void)
{
    ay_space *space;
    char pages[32];
    CHECK_EQUAL(ay_open(test_space, NULL, &space), -EPROTONOSUPPORT);
    snprintf(pages, sizeof pages, "pages of %zu bytes", granule_of_file());
    CHECK(strstr(ay_message(), pages));
    snprintf(pages, sizeof pages, "have %zu", granule());
    CHECK(strstr(ay_message(), pages));
    ay_view view;
    CHECK_EQUAL(ay_look(test_space, &view, NULL, NULL), 0);
    CHECK_EQUAL(ay_remove(test_space), 0);
}

/* Enters, and is told of a death if there was one. */
static int pass(void)
{
    ay_space *space = open_space(NULL);
    const int told = ay_enter_for(open_region(space, (ay_spec){.name = "x"}), PATIENCE_MS);
    CHECK(told >= 0);
    ay_close(space);
    return told;
}

static int play(const char *role)
{
    alarm(PATIENCE_MS / 1000);
    if (strcmp(role, "pass") == 0)
        return pass();
    if (strcmp(role, "die") == 0)
        die_inside();
    if (strcmp(role, "end a thread") == 0)
        end_thread_inside();
    if (strcmp(role, "be refused") == 0)
        expect_refusal();
    return 0;
}

static void expect_told(pid_t pid, int told)
{
    const int status = await_exit(pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != told)
        FAIL("the other ended with status %x, not with %d", (unsigned)status, told);
}

static void test_made_elsewhere(size_t page)
{
    unlink(test_space);
    expect_told(start_elsewhere(page, "pass"), 0);
    CHECK_EQUAL(granule_of_file(), page);
    CHECK_EQUAL(pass(), 0);
    /* deaths are noticed from either side: of a process, and of a thread whose process lives */
    await_exit(start_elsewhere(page, "die"));
    CHECK_EQUAL(pass(), AY_AFTER_DEATH);
    const pid_t elsewhere = start_elsewhere(page, "end a thread");
    AWAIT_TRUE(pass() == AY_AFTER_DEATH);
    const pid_t here = spawn();
    if (here == 0)
        die_inside();
    await_exit(here);
    expect_told(start_elsewhere(page, "pass"), AY_AFTER_DEATH);
    kill_and_reap(elsewhere);
    CHECK_EQUAL(granule_of_file(), page);
}

static void test_made_here(size_t page)
{
    unlink(test_space);
    CHECK_EQUAL(pass(), 0);
    CHECK_EQUAL(granule_of_file(), granule());
    expect_told(start_elsewhere(page, "be refused"), 0);
    CHECK(access(test_space, F_OK) != 0);
}

int main(int count, char **words)
{
    CHECK(count == 2 || count == 4);
    program = words[0];
    module = words[1];
    if (count == 4) {
        snprintf(test_space, sizeof test_space, "%s", words[3]);
        return play(words[2]);
    }
    begin_test("granules");
    static const size_t pages[] = {16 * 1024, 64 * 1024};
    unsigned larger = 0;
    for (size_t at = 0; at < sizeof pages / sizeof *pages; at++)
        if (pages[at] > granule()) {
            test_made_elsewhere(pages[at]);
            test_made_here(pages[at]);
            larger++;
        }
    if (!larger) {
        fprintf(stderr, "SKIP: no larger pages than this machine's %zu bytes\n", granule());
        return SKIP;
    }
    return 0;
}
