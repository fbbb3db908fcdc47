/* SPDX-License-Identifier: MIT */
/* Hostile files: whatever lies where the space should be, ay_open says so with a clear error, and a
 * living space is not damaged. */
#include <fcntl.h>
#include <sys/stat.h>

#include "harness.h"

static void expect(int error, const char *what)
{
    ay_space *space;
    const int result = ay_open(test_space, NULL, &space);
    if (result != error)
        FAIL("%s: %d (%s), not %d", what, result, result ? ay_message() : "opened", error);
    CHECK(ay_message()[0]);
    CHECK_EQUAL(ay_look(test_space, NULL, NULL, NULL), error);
}

/* A good space, as bytes. */
static size_t make_bytes(char **bytes)
{
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = 8}, &space), 0);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    ay_close(space);
    struct stat status;
    const int fd = open(test_space, O_RDONLY);
    CHECK(fd >= 0);
    CHECK_EQUAL(fstat(fd, &status), 0);
    const size_t size = (size_t)status.st_size;
    *bytes = malloc(size);
    CHECK_EQUAL(read(fd, *bytes, size), (ssize_t)size);
    close(fd);
    return size;
}

static void write_file(const char *bytes, size_t size)
{
    unlink(test_space);
    const int fd = open(test_space, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK_EQUAL(write(fd, bytes, size), (ssize_t)size);
    close(fd);
}

static void test_contents(void)
{
    char *bytes;
    const size_t size = make_bytes(&bytes);
    write_file(bytes, 0);
    expect(-EINVAL, "empty");
    write_file(bytes, 100);
    expect(-EINVAL, "a piece of the header");
    write_file(bytes, size - 1);
    expect(-EINVAL, "truncated by a byte");
    write_file(bytes, size / 2);
    expect(-EINVAL, "truncated by half");
    bytes[0] ^= 1;
    write_file(bytes, size);
    expect(-EINVAL, "wrong magic");
    bytes[0] ^= 1;
    bytes[8] ^= 2;
    write_file(bytes, size);
    expect(-EPROTONOSUPPORT, "wrong version");
    bytes[8] ^= 2;
    for (size_t at = 12; at < 40; at++) { /* sizes, places, precedence, overtake: each bit */
        bytes[at] = (char)(bytes[at] ^ 0x80);
        write_file(bytes, size);
        ay_space *space;
        const int result = ay_open(test_space, NULL, &space);
        if (result == 0)
            ay_close(space); /* overtake may be anything */
        else
            CHECK_EQUAL(result, -EINVAL);
        bytes[at] = (char)(bytes[at] ^ 0x80);
    }
    free(bytes);
}

static void test_not_files(void)
{
    unlink(test_space);
    CHECK_EQUAL(mkdir(test_space, 0700), 0);
    expect(-EISDIR, "a directory");
    rmdir(test_space);
    CHECK_EQUAL(mkfifo(test_space, 0600), 0);
    expect(-EINVAL, "a FIFO");
    unlink(test_space);
    CHECK_EQUAL(symlink("/etc/passwd", test_space), 0); /* /dev/shm is sticky */
    expect(-ELOOP, "a symbolic link");
    unlink(test_space);
    CHECK_EQUAL(symlink("/nowhere", test_space), 0);
    expect(-ELOOP, "a dangling symbolic link");
    CHECK_EQUAL(access("/nowhere", F_OK), -1);
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open("/nowhere/at/all", NULL, &space), -ENOENT);
    CHECK_EQUAL(ay_open("/dev/null", NULL, &space), -EINVAL);
    char path[5000];
    memset(path, '/', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK_EQUAL(ay_open(path, NULL, &space), -ERANGE);
}

/* Random bytes behind a good header: nothing crashes, nothing hangs; who only seems to be alive is
 * buried, and one gets in. */
static void test_random_places(unsigned seed)
{
    char *bytes;
    const size_t size = make_bytes(&bytes);
    srand(seed);
    for (size_t at = 4096; at < size; at++)
        bytes[at] = (char)rand();
    write_file(bytes, size);
    free(bytes);
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space;
        ay_region *region;
        alarm(60);
        CHECK_EQUAL(ay_look(test_space, NULL, NULL, NULL), 0);
        CHECK_EQUAL(ay_open(test_space, NULL, &space), 0);
        CHECK(ay_repair(space) >= 0);
        CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x"}, &region), 0);
        CHECK(ay_enter_for(region, PATIENCE_MS) >= 0);
        CHECK_EQUAL(ay_leave(region), 0);
        _exit(0);
    }
    expect_success(pid);
}

/* A copy of a living space: its owners live, but not there. */
static void test_copy(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    char command[300], copy[80];
    snprintf(copy, sizeof copy, "%s-copy", test_space);
    snprintf(command, sizeof command, "cp --sparse=always %s %s", test_space, copy);
    CHECK_EQUAL(system(command), 0);
    ay_space *other;
    CHECK_EQUAL(ay_open(copy, NULL, &other), 0);
    ay_region *copied = open_region(other, (ay_spec){.name = "x"});
    /* the second witness knows better */
    CHECK_EQUAL(ay_enter_for(copied, PATIENCE_MS), AY_AFTER_DEATH);
    ay_close(other);
    unlink(copy);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
}

static void test_removal(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"}), *late;
    CHECK_EQUAL(ay_remove(test_space), -EBUSY);
    char pid[32];
    snprintf(pid, sizeof pid, "pid %d", (int)getpid());
    CHECK(strstr(ay_message(), pid));
    CHECK_EQUAL(ay_enter(region), 0);
    ay_region_close(region);
    CHECK_EQUAL(ay_remove(test_space), 0);
    CHECK_EQUAL(ay_remove(test_space), -ENOENT);
    CHECK_EQUAL(ay_region_open(space, &(ay_spec){.name = "x"}, &late), -ESTALE);
    ay_close(space);
}

/* A cluster's name is not taken for a space of this machine. */
static void test_cluster(void)
{
    ay_space *space;
    CHECK_EQUAL(ay_open("cluster:nowhere", NULL, &space), -ENOENT);
    CHECK_EQUAL(ay_open("cluster:", NULL, &space), -EINVAL);
    CHECK_EQUAL(ay_open("cluster:../x", NULL, &space), -EINVAL);
}

int main(void)
{
    begin_test("hostile");
    test_cluster();
    test_contents();
    test_not_files();
    for (unsigned seed = 1; seed <= 10; seed++)
        test_random_places(seed);
    test_copy();
    test_removal();
    return 0;
}
