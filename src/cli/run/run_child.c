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
 * group as that was; the parent moves it to the job's, after itself.
 */
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
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

/* What the parent has and the child has not was sent before the child was in the group, or to the
 * parent alone: for the parent looks first, once both are there. */
static void look(struct child *child)
{
    while (atomic_load(&child->looked) == 0)
        syscall(SYS_futex, &child->looked, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    sigpending(&child->got);
    atomic_store(&child->looked, 2);
    if (!sigisemptyset(&child->parent_got))
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
    atomic_store(&child->looked, 0);
    const pid_t pid = clone(become, stack + room, CLONE_VM | SIGCHLD, child);
    return pid < 0 ? -errno : pid;
}

void child_go(struct child *child, pid_t pid)
{
    const pid_t group = child->inherited->group;
    if (group > 0 && setpgid(pid, group) != 0)
        child->error = errno;
    sigpending(&child->parent_got);
    sigdelset(&child->parent_got, SIGCHLD);
    sigdelset(&child->parent_got, SIGNAL_BELL);
    atomic_store(&child->looked, 1);
    syscall(SYS_futex, &child->looked, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool child_has_looked(const struct child *child)
{
    return sigisemptyset(&child->parent_got) || atomic_load(&child->looked) == 2;
}

bool child_missed(const struct child *child, int number)
{
    assert_required(child_has_looked(child));
    return sigismember(&child->parent_got, number) == 1 && sigismember(&child->got, number) != 1;
}

int child_code(int status)
{
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
