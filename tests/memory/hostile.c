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

/* What is used of a granule: its beginning, or of a pulse the end. */
enum {
    PLACES = 8,
    GRANULES = 1 + 2 * PLACES,
    USED_MOST = 4096,
    PULSE = 64,
    LINE = 64,
    WORD_END = 7
};

/* The header and all places; behind them are the pulses, which nobody has. */
static size_t front(void)
{
    return GRANULES * granule();
}

/* A good space: its front as bytes, and its size. */
static size_t make_bytes(char **bytes)
{
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = PLACES}, &space), 0);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    ay_close(space);
    struct stat status;
    const int fd = open(test_space, O_RDONLY);
    CHECK(fd >= 0);
    CHECK_EQUAL(fstat(fd, &status), 0);
    *bytes = malloc(front());
    CHECK_EQUAL(read(fd, *bytes, front()), (ssize_t)front());
    close(fd);
    return (size_t)status.st_size;
}

static void write_file(const char *bytes, size_t size)
{
    const size_t length = size < front() ? size : front();
    unlink(test_space);
    const int fd = open(test_space, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK_EQUAL(write(fd, bytes, length), (ssize_t)length);
    CHECK_EQUAL(ftruncate(fd, (off_t)size), 0);
    close(fd);
}

static void write_random_pulses(size_t size)
{
    const int fd = open(test_space, O_WRONLY);
    CHECK(fd >= 0);
    for (size_t border = front() + granule(); border <= size; border += granule()) {
        char bytes[PULSE];
        for (size_t at = 0; at < sizeof bytes; at++)
            bytes[at] = (char)rand();
        CHECK_EQUAL(pwrite(fd, bytes, sizeof bytes, (off_t)(border - sizeof bytes)), PULSE);
    }
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
    for (size_t at = granule(); at < front(); at++)
        bytes[at] = (char)rand();
    for (size_t place = 0; place < PLACES; place++) /* but numbers that are not used up */
        bytes[(1 + place) * granule() + place * LINE + WORD_END] &= (char)0x8f;
    write_file(bytes, size);
    write_random_pulses(size);
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

/* Writes junk into the granules of the places, until it is killed. */
static _Noreturn void keep_spoiling(unsigned seed)
{
    enum { AT_ONCE = 100 };
    const int fd = open(test_space, O_RDWR);
    CHECK(fd >= 0);
    CHECK_EQUAL(posix_fallocate(fd, 0, (off_t)front()), 0);
    unsigned char *bytes = mmap(NULL, front(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(bytes != MAP_FAILED);
    srand(seed);
    for (;;) {
        for (unsigned times = 0; times < AT_ONCE; times++)
            bytes[(1 + (size_t)rand() % (GRANULES - 1)) * granule() + (size_t)rand() % USED_MOST] =
                (unsigned char)(rand() % 2 ? rand() : 0);
        usleep(20);
    }
}

/* One who may write the file does so all the time. What follows from that is anything, but no
 * crash, no failed assertion and no hang: every call comes back. */
static void test_junk_meanwhile(unsigned seed, unsigned retain)
{
    enum { SPACES = 60, PASSAGES = 30, REGIONS = 3 };
    unlink(test_space);
    ay_space *space;
    CHECK_EQUAL(ay_open(test_space, &(ay_options){.places = PLACES, .retain = retain}, &space), 0);
    ay_close(space);
    const pid_t spoiler = spawn();
    if (spoiler == 0)
        keep_spoiling(seed);
    const pid_t victim = spawn();
    if (victim == 0) {
        alarm(60);
        for (unsigned spaces = 0; spaces < SPACES; spaces++) {
            ay_region *regions[REGIONS] = {0};
            CHECK_EQUAL(ay_open(test_space, NULL, &space), 0);
            for (unsigned at = 0; at < REGIONS; at++)
                if (ay_region_open(space, &(ay_spec){.name = "x"}, &regions[at]) != 0)
                    regions[at] = NULL;
            for (unsigned at = 0; at < REGIONS * PASSAGES; at++)
                if (regions[at % REGIONS] && ay_enter_for(regions[at % REGIONS], at % 8 == 0) >= 0)
                    ay_leave(regions[at % REGIONS]);
            ay_close(space);
        }
        _exit(0);
    }
    expect_success(victim);
    kill(spoiler, SIGKILL);
    waitpid(spoiler, NULL, 0);
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
    test_junk_meanwhile(1, 0);
    test_junk_meanwhile(2, 1);
    test_copy();
    test_removal();
    return 0;
}
