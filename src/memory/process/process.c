/* SPDX-License-Identifier: MIT */
/* One process: its identity, and what becomes of it after fork.
 *
 * A child has the parent's memory, but none of its places. Two things tell: the mark lies in a page
 * that the kernel wipes in every child (MADV_WIPEONFORK), so a handle of the parent's no longer
 * carries the mark of the process that uses it; and a fork handler closes the files, for a lock of
 * an open file description lasts until its last descriptor is closed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "memory/memory.h"
#include "memory/remote/cluster.h"

struct this_process ay__process = {.mutex = PTHREAD_MUTEX_INITIALIZER};
_Alignas(MARK_ROOM) union mark ay__mark;

/* Set in every mark, and none above it: no number of a thread is 0, or one of the lanes that are
 * not a thread (region.h). */
#define MARK_BIT (UINT64_C(1) << 62)

static bool prepared; /* under the mutex */

/* A child whose other threads are gone must find no mutex that one of them held. */
static void before_fork(void)
{
    pthread_mutex_lock(&ay__process.mutex);
    ay__asks_hold();
}

static void after_fork_in_parent(void)
{
    ay__asks_release();
    pthread_mutex_unlock(&ay__process.mutex);
}

static void after_fork_in_child(void)
{
    for (ay_space *space = ay__process.spaces; space; space = space->next) {
        if (descriptor_is(space->fd, &space->file))
            close(space->fd);
        space->fd = -1;
        ay__asks_forget(space);
        if (space->cluster)
            ay__cluster_mouth_forget(space->cluster);
    }
    ay__process.spaces = NULL;
    ay__process.places = 0;
    atomic_store(&ay__process.retaining, 0);
    ay__keeper_forget();
    ay__helpers_forget();
    ay__pulse_forget();
    ay__asks_release();
    pthread_mutex_unlock(&ay__process.mutex);
}

/* On which this process may run. */
static unsigned count_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    const long online = sysconf(_SC_NPROCESSORS_ONLN); /* more than a set has room for */
    return online > 0 ? (unsigned)online : 1;
}

static int prepare(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    if (page < GRANULE_LEAST || page > GRANULE_MOST)
        return ay__fail(-ENOTSUP,
                        "pages of this machine have %ld bytes; a space can be used where they have "
                        "%d to %d",
                        page, GRANULE_LEAST, GRANULE_MOST);
    if (madvise(&ay__mark, sizeof ay__mark, MADV_WIPEONFORK) != 0)
        return ay__fail(-errno, "cannot mark a page to be wiped on fork: %s", strerror(errno));
    const int error = -pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    if (error)
        return ay__fail(error, "cannot register a fork handler: %s", strerror(-error));
    ay__process.page = (size_t)page;
    ay__process.processors = count_processors();
    prepared = true;
    return 0;
}

/* A number that no other process has, in whatever namespace: by chance. Should there be none to be
 * had, by the clock. */
static uint64_t draw_mark(void)
{
    uint64_t drawn;
    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) == (ssize_t)sizeof drawn)
        return drawn;
    return (uint64_t)getpid() << 40 ^ (uint64_t)ay__now();
}

int ay__process_begin(void)
{
    if (!prepared) {
        const int error = prepare();
        if (error)
            return error;
    }
    if (ay__mark.value == 0)
        ay__mark.value = (draw_mark() & (MARK_BIT - 1)) | MARK_BIT;
    return 0;
}

uint64_t ay__process_mark(void)
{
    return ay__mark.value;
}

/* Field 22 of /proc/PID/stat; the command before it may hold anything, a closing bracket too. 0:
 * not known. */
static uint64_t read_start_time(const char *pid)
{
    char text[1024], path[32];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    const int fd = descriptor_above_standard(open(path, O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return 0;
    const ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static void read_command(char *command)
{
    memset(command, 0, COMMAND_ROOM);
    const int fd = descriptor_above_standard(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
    if (fd < 0)
        return;
    const ssize_t length = read(fd, command, COMMAND_ROOM - 1);
    close(fd);
    for (ssize_t at = 0; at + 1 < length; at++)
        if (command[at] == '\0')
            command[at] = ' ';
}

static uint64_t own_namespace(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

/* What /proc tells is asked for once a process: whoever opens thousands of regions would spend most
 * of its time on that. Under the mutex. */
void ay__identify(struct identity *self)
{
    static struct identity known;
    static uint64_t known_mark; /* 0: not yet */
    if (known_mark != ay__mark.value || known.start_time == 0) {
        known.start_time = read_start_time("self");
        known.pid_namespace = own_namespace();
        read_command(known.command);
        known_mark = ay__mark.value;
    }
    *self = known;
    self->pid = (uint32_t)getpid();
    self->uid = geteuid();
}

static bool can_be_told(const struct identity *who)
{
    return who->pid > 0 && who->pid <= INT32_MAX && who->pid_namespace != 0 &&
           who->pid_namespace == own_namespace();
}

bool ay__is_running(const struct identity *who)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%u", who->pid);
    return can_be_told(who) && who->start_time != 0 && read_start_time(pid) == who->start_time;
}

bool ay__is_gone(const struct identity *who)
{
    return can_be_told(who) && kill((pid_t)who->pid, 0) != 0 && errno == ESRCH;
}

bool ay__thread_is_running(const struct identity *who, uint32_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u", who->pid, tid);
    return ay__is_running(who) && access(path, F_OK) == 0;
}

_Thread_local uint64_t ay__thread;

/* Not by what /proc tells: there may be none. */
uint64_t ay__thread_name(void)
{
    return ay__mark.value ^ (uint32_t)syscall(SYS_gettid);
}
