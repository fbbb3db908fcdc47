/* SPDX-License-Identifier: MIT */
/* The processes that a guard is the parent of: those it started, and those whose parents have gone.
 *
 * The end of a tree: whatever can be reaped is reaped, then every child that is listed is killed,
 * and again, until the kernel says that there is no child. A killed process has no more children,
 * not even by a fork that it has begun; what it had become ours before we hear of its death. So a
 * round misses only what was born after it began, and a round over those that are left is short.
 * The dead do not pile up. On a busy machine the killed take their time to die, and meanwhile those
 * below them multiply: so in every fourth round the children's children are killed as well, and
 * theirs. The other rounds are short, so that they overtake those who fork and exit.
 */
#include "cli/run/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/text.h"
#include "common/assert.h"

enum {
    ROUND_AGAIN_NS = 100 * 1000 * 1000,
    DEEP_EVERY = 4,
    DEPTH_MOST = 64,
    PIDS_MOST = 4 * 1024 * 1024
};

static const char guard_name[] = "afteryou-guard"; /* as ps shows it; R6 */

int guard_begin(pid_t parent)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || prctl(PR_SET_PDEATHSIG, SIGNAL_BELL) != 0 ||
        prctl(PR_SET_NAME, guard_name) != 0)
        return -errno;
    char name[16];
    assert_invariant(R6, prctl(PR_GET_NAME, name) == 0 && strcmp(name, guard_name) == 0);
    return getppid() == parent ? 0 : -ESRCH;
}

static size_t read_whole(const char *path, char *text, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

/* Asked of the kernel, not of /proc, which may be another PID namespace's. */
static bool is_child(pid_t pid)
{
    siginfo_t info;
    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* By its name, and by its program: who only has the name is no guard. */
static bool is_guard(pid_t pid)
{
    char path[64], name[32];
    struct stat its, own;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    read_whole(path, name, sizeof name);
    name[strcspn(name, "\n")] = '\0';
    if (strcmp(name, guard_name) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat(path, &its) == 0 && stat("/proc/self/exe", &own) == 0 && its.st_dev == own.st_dev &&
           its.st_ino == own.st_ino;
}

/* A guard that was stopped has to go on to hear the bell. */
static void end_one(pid_t pid)
{
    if (is_guard(pid)) {
        kill(pid, SIGNAL_BELL);
        kill(pid, SIGCONT);
    } else {
        kill(pid, SIGKILL);
    }
}

static void signal_one(pid_t pid, int signal)
{
    if (signal == SIGKILL)
        end_one(pid);
    else
        kill(pid, signal);
}

/* Calls `each` for the children that the kernel lists for a thread: how many, or -1 if there is no
 * list. Stops when `each` returns false. */
static int list_children(pid_t process, long thread, bool (*each)(pid_t, void *), void *arg)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/children", (int)process, thread);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int count = 0;
    pid_t pid = 0;
    bool more = true;
    for (ssize_t length; more && (length = read(fd, text, sizeof text)) > 0;)
        for (ssize_t at = 0; at < length && more; at++) {
            if (text[at] != ' ') {
                pid = pid * 10 + (text[at] - '0');
                continue;
            }
            more = each(pid, arg);
            count++;
            pid = 0;
        }
    close(fd);
    return count;
}

struct tree_visit {
    int signal;
    bool guards_only;
    int guards;   /* how many there were, if only these */
    bool deep;    /* those below them too; for SIGKILL */
    bool foreign; /* the numbers are those of another PID namespace */
};

/* Field 4 of /proc/PID/stat; the name before it may hold anything, a closing bracket too. */
pid_t process_parent(pid_t pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    read_whole(path, text, sizeof text);
    const char *after = strrchr(text, ')');
    return after && sscanf(after, ") %*c %d", &parent) == 1 ? parent : 0;
}

struct generation {
    pid_t parent;
    unsigned depth;
};

static void kill_below(pid_t parent, unsigned depth);

/* It is not our child: the pid may become another's, but what the descriptor stands for does not.
 * One whose parent has gone meanwhile is ours in the next round; a guard hears of it by itself. */
static bool kill_descendant(pid_t pid, void *arg)
{
    const struct generation *generation = arg;
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return true;
    if (process_parent(pid) == generation->parent && !is_guard(pid)) {
        syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
        kill_below(pid, generation->depth + 1);
    }
    close(fd);
    return true;
}

static void kill_below(pid_t parent, unsigned depth)
{
    struct generation generation = {.parent = parent, .depth = depth};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = depth < DEPTH_MOST ? opendir(path) : NULL;
    for (const struct dirent *entry; threads && (entry = readdir(threads));)
        if (entry->d_name[0] != '.')
            list_children(parent, atol(entry->d_name), kill_descendant, &generation);
    if (threads)
        closedir(threads);
}

static bool visit_child(pid_t pid, void *arg)
{
    struct tree_visit *visit = arg;
    visit->foreign = !is_child(pid);
    if (visit->foreign)
        return false;
    if (visit->guards_only && !is_guard(pid))
        return true;
    visit->guards += visit->guards_only;
    signal_one(pid, visit->signal);
    if (visit->deep && !is_guard(pid))
        kill_below(pid, 0);
    return true;
}

static int ask_for(pid_t first, pid_t last, int signal)
{
    int count = 0;
    for (pid_t pid = first; pid <= last; pid++)
        if (is_child(pid)) {
            signal_one(pid, signal);
            count++;
        }
    return count;
}

/* Without a list: slow, but it finds them all. Pids are given in ascending order, and from the
 * beginning again after the last: so all that were born since are below that of a child made now.
 * The others, if any, have their turn when these are gone. */
static int visit_by_asking(int signal)
{
    const pid_t newest = vfork();
    if (newest == 0)
        _exit(0);
    if (newest > 0)
        waitpid(newest, NULL, 0);
    const int count = newest > 0 ? ask_for(1, newest, signal) : 0;
    return count > 0 ? count : ask_for(newest > 0 ? newest : 1, PIDS_MOST, signal);
}

bool tree_is_there(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Nobody else reaps our children, so the kernel's list does not change under us but at its end. */
static int visit_all(struct tree_visit visit)
{
    const int count = list_children(getpid(), getpid(), visit_child, &visit);
    return (count > 0 && !visit.foreign) || !tree_is_there() ? count
                                                             : visit_by_asking(visit.signal);
}

int tree_signal(int signal)
{
    return visit_all((struct tree_visit){.signal = signal});
}

bool tree_is_gone(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD;
}

void tree_end(void)
{
    sigset_t child;
    siginfo_t info;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (unsigned round = 0;; round++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (pid < 0)
            return;
        visit_all(
            (struct tree_visit){.signal = SIGKILL, .deep = round % DEEP_EVERY == DEEP_EVERY - 1});
        signal_next(&child, &info, text_now() + ROUND_AGAIN_NS);
    }
}

void tree_end_guards(void)
{
    sigset_t child;
    siginfo_t info;
    struct tree_visit visit;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    do {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        visit = (struct tree_visit){.signal = SIGKILL, .guards_only = true};
        list_children(getpid(), getpid(), visit_child, &visit);
        if (visit.guards > 0)
            signal_next(&child, &info, text_now() + ROUND_AGAIN_NS);
    } while (visit.guards > 0);
}
