/* SPDX-License-Identifier: MIT */
/* Starts the command, or the test of --when, as if the shell had started it; but it dies with its
 * parent.
 *
 * Until it is executed, the child has its parent's memory, as after vfork(2), and a stack of its
 * own: a copy would cost more than all else here. But the parent does not wait for it: the child
 * may be stopped before it is executed, and the parent told to end it. Until then the child writes
 * to its struct child and to errno, and to nothing else that the parent looks at.
 *
 * It may be made before its time, and then waits to be let go. Until then it is in its parent's
 * group as that was. Who lets go may be another than its parent, which need not be woken before the
 * command runs: then the parent was moved to the job's group, and the child moves after it.
 */
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/assert.h"

/* For execvp(), which has a path and, for a script without #!, all words once more on its stack. */
enum { STACK_LEAST = 64 * 1024 };

static void prepare(struct child *child)
{
    const int nothing = child->quiet ? open("/dev/null", O_RDONLY) : -1;
    if (nothing > 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    /* with another name than its parent's, it is no guard */
    if (prctl(PR_SET_NAME, "afteryou") != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        child->error = errno;
    else if (getppid() != child->parent)
        child->error = ESRCH;
    int at_death = 0;
    assert_invariant(R3, child->error ||
                             (prctl(PR_GET_PDEATHSIG, &at_death) == 0 && at_death == SIGKILL));
}

static void set_parent_got(struct child *child, uint64_t pending)
{
    for (int number = 1; number < SIGNALS && pending; number++, pending >>= 1)
        if (pending & 1 && number != SIGCHLD && number != SIGNAL_BELL)
            sigaddset(&child->parent_got, number);
}

/* The signals that wait for the parent, as the kernel tells them to others. False: it does not. */
static bool look_at_parent(struct child *child)
{
    char text[4096];
    const ssize_t length = pread(child->status, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    const char *own = strstr(text, "\nSigPnd:"), *shared = strstr(text, "\nShdPnd:");
    if (own && shared)
        set_parent_got(child, strtoull(own + sizeof "\nSigPnd:" - 1, NULL, 16) |
                                  strtoull(shared + sizeof "\nShdPnd:" - 1, NULL, 16));
    return own && shared;
}

/* Until it is let go, by whoever holds the region. The parent is in the group already. */
static void await_go(struct child *child)
{
    const struct between *between = child->between;
    const pid_t group = child->inherited->group;
    while (atomic_load(&between->go) == 0)
        syscall(SYS_futex, &between->go, FUTEX_WAIT, 0, NULL, NULL, 0);
    environment_of_passage(between);
    if (group > 0 && setpgid(0, group) != 0)
        child->error = ESRCH; /* the job is gone, and the wrapper with it */
    else if (!look_at_parent(child))
        child->error = EIO;
}

/* What the parent has and the child has not was sent before the child was in the group, or to the
 * parent alone: for the parent's are looked at first, once both are there. */
static void look(struct child *child)
{
    if (child->status >= 0)
        await_go(child);
    while (child->status < 0 && atomic_load(&child->parent_looked) == 0)
        syscall(SYS_futex, &child->parent_looked, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    sigpending(&child->got);
    if (atomic_exchange(&child->looked, 2) == 1)
        kill(child->parent, SIGNAL_BELL);
}

static int become(void *arg)
{
    struct child *child = arg;
    prepare(child);
    if (child->error) /* the parent may be dead, and nobody there to let it go */
        _exit(EXIT_FAILED);
    look(child);
    if (!child->error) {
        sigaction(SIGCHLD, &child->inherited->child, NULL);
        sigprocmask(SIG_SETMASK, &child->inherited->mask, NULL);
        execvp(child->words[0], child->words);
        child->error = errno;
    }
    _exit(EXIT_FAILED);
}

pid_t child_make(struct child *child)
{
    assert_required(child->words && child->words[0] && child->inherited);
    size_t room = STACK_LEAST;
    for (char *const *word = child->words; *word; word++)
        room += sizeof *word;
    room = (room + 15) / 16 * 16;
    char *stack = mmap(NULL, room, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return -errno;
    child->parent = getpid();
    child->error = 0;
    child->status = child->between && atomic_load(&child->between->go) == 0
                        ? open("/proc/self/status", O_RDONLY | O_CLOEXEC)
                        : -1;
    sigemptyset(&child->parent_got);
    atomic_store(&child->parent_looked, 0);
    atomic_store(&child->looked, 0);
    const pid_t pid = clone(become, stack + room, CLONE_VM | SIGCHLD, child);
    const int error = errno;
    if (child->status >= 0)
        close(child->status);
    return pid < 0 ? -error : pid;
}

void child_go(struct child *child, pid_t pid)
{
    const pid_t group = child->inherited->group;
    if (child->status >= 0)
        return;
    if (child->between)
        environment_of_passage(child->between);
    if (group > 0 && setpgid(pid, group) != 0)
        child->error = errno;
    sigpending(&child->parent_got);
    sigdelset(&child->parent_got, SIGCHLD);
    sigdelset(&child->parent_got, SIGNAL_BELL);
    atomic_store(&child->parent_looked, 1);
    syscall(SYS_futex, &child->parent_looked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool child_has_looked(struct child *child)
{
    uint32_t not_yet = 0;
    return (child->status < 0 && sigisemptyset(&child->parent_got)) ||
           (!atomic_compare_exchange_strong(&child->looked, &not_yet, 1) && not_yet == 2);
}

bool child_missed(struct child *child, int number)
{
    assert_required(child_has_looked(child));
    return sigismember(&child->parent_got, number) == 1 && sigismember(&child->got, number) != 1;
}

int child_code(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
