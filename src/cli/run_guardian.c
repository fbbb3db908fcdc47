/* SPDX-License-Identifier: MIT */
/* The guardian: owns the region, is the parent of the command, and stays until the last of what it started is gone.
 *
 * Two phases. In the queue, signals act on it as on any program, and it dies with the wrapper: leaving is failing. Inside, all
 * signals are blocked and fetched one by one; the wrapper's death is one of them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run.h"
#include "cli/text.h"

enum { KILL_AGAIN_NS = 50 * 1000 * 1000 }; /* what the killed have left behind is adopted, and killed in its turn */

struct guardian {
    const struct run_words *asked;
    const struct inheritance *inherited;
    pid_t wrapper; /* 0: it knows that we stay, and has ended */
    ay_space *space;
    ay_region *region;
    bool after_death;
    int64_t asked_ns, entered_ns;
    pid_t command;   /* 0: it has ended */
    int code;        /* of the command, once it has */
    bool killed;     /* R3 */
    int64_t kill_at; /* R4: the region is lost, and what is still there then is killed; 0: it is not */
};

static noreturn void fail(const char *format, ...)
{
    va_list arguments;
    char line[PIPE_BUF];
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    say("run", "%s", line);
    _exit(EXIT_FAILED);
}

static void tell(const struct guardian *self, const char *format, ...)
{
    if (!self->asked->verbose)
        return;
    va_list arguments;
    char line[PIPE_BUF];
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    say("run", "%s: %s", self->asked->spec.name, line);
}

/* A group of its own: what the terminal, or somebody with kill -9 -GROUP, sends to the job does not reach the guardian. */
static void begin(const struct guardian *self)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || setpgid(0, 0) != 0)
        fail("cannot prepare: %s", strerror(errno));
    if (getppid() != self->wrapper)
        _exit(EXIT_FAILED);
    sigset_t mask = self->inherited->mask;
    sigaddset(&mask, SIGTTOU); /* may write to the terminal from the background */
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void open_region(struct guardian *self)
{
    if (ay_open(self->asked->space, &self->asked->options, &self->space) < 0 ||
        ay_region_open(self->space, &self->asked->spec, &self->region) < 0)
        fail("%s", ay_message());
}

static int enter(struct guardian *self, struct condition *condition)
{
    const struct run_words *asked = self->asked;
    if (condition)
        return ay_enter_when(self->region, condition_holds, condition, asked->timeout_ms);
    if (asked->timeout_ms == 0)
        return ay_try(self->region);
    if (asked->verbose) {
        const int result = ay_try(self->region);
        if (result != -EBUSY)
            return result;
        char holders[TEXT_ROOM];
        holders_describe(asked, holders, sizeof holders);
        tell(self, "waiting: %s", holders);
    }
    return ay_enter_for(self->region, asked->timeout_ms);
}

static noreturn void refuse(const struct guardian *self)
{
    char holders[TEXT_ROOM], within[64] = "";
    if (self->asked->quiet)
        _exit(self->asked->refused);
    holders_describe(self->asked, holders, sizeof holders);
    if (self->asked->timeout_ms > 0)
        snprintf(within, sizeof within, " within %g s", self->asked->seconds);
    say("run", "'%s' not obtained%s: %s", self->asked->spec.name, within, holders);
    _exit(self->asked->refused);
}

/* Enters, or does not return. */
static void pass_the_queue(struct guardian *self)
{
    const struct run_words *asked = self->asked;
    struct condition *condition = NULL;
    if (asked->when && !(condition = condition_start(asked, self->space, self->inherited)))
        fail("cannot watch for --when: %s", ay_message());
    struct queue_display *display = queue_display_start(asked, self->inherited->group);
    const int result = enter(self, condition);
    const char *why = result < 0 ? ay_message() : "";
    queue_display_stop(display);
    if (condition && condition_trouble(condition))
        fail("--when '%s': %s", asked->when, condition_trouble(condition));
    self->after_death = condition && condition_stop(condition, result >= 0);
    if (result == -EBUSY || result == -ETIMEDOUT)
        refuse(self);
    if (result < 0)
        fail("%s: %s", asked->spec.name, why);
    self->after_death |= result == AY_AFTER_DEATH;
    self->entered_ns = text_now();
}

/* Nothing was begun, so nothing is half done. But a death that we were told of would be forgotten; so the next one is told of ours. */
static noreturn void give_up(const struct guardian *self, int code)
{
    if (!self->after_death)
        ay_leave(self->region);
    _exit(code);
}

/* From the first phase to the second. What came before the command was there is meant for us. */
static void take_signals(const struct guardian *self)
{
    sigset_t set;
    signals_to_pass(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    prctl(PR_SET_PDEATHSIG, SIGNAL_BETWEEN);
    if (getppid() != self->wrapper)
        give_up(self, EXIT_FAILED);
    const struct timespec now = {0};
    siginfo_t info;
    sigdelset(&set, SIGCHLD); /* a test of --when */
    sigdelset(&set, SIGCONT);
    sigdelset(&set, SIGWINCH);
    const int number = sigtimedwait(&set, &info, &now);
    if (number > 0)
        give_up(self, EXIT_SIGNAL + number);
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        fail("cannot set %s: %s", name, strerror(errno));
}

/* A comma list, as CUDA_VISIBLE_DEVICES wants it. */
static void set_units(const struct guardian *self)
{
    static unsigned units[AY_UNITS_MOST];
    static char list[AY_UNITS_MOST * 5 + 1];
    size_t length = 0;
    const size_t count = ay_units(self->region, units, AY_UNITS_MOST);
    for (size_t at = 0; at < count; at++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%u", at ? "," : "", units[at]);
    set("AFTERYOU_UNITS", list);
}

static void set_environment(const struct guardian *self)
{
    char fence[24];
    snprintf(fence, sizeof fence, "%llu", (unsigned long long)ay_fence(self->region));
    set("AFTERYOU_FENCE", fence);
    set("AFTERYOU_AFTER_DEATH", self->after_death ? "1" : "0");
    if (self->asked->spec.take)
        set_units(self);
    else
        unsetenv("AFTERYOU_UNITS"); /* an outer run's */
    char waited[32];
    text_duration(self->entered_ns - self->asked_ns, waited, sizeof waited);
    tell(self, "inside after %s, fence %s%s%s%s", waited, fence, self->asked->spec.take ? ", units " : "",
         self->asked->spec.take ? getenv("AFTERYOU_UNITS") : "", self->after_death ? ", after a death" : "");
}

static void start(struct guardian *self)
{
    char *const *words = self->asked->command;
    self->command = child_start(words, self->inherited, false);
    if (self->command > 0)
        return;
    const int error = -self->command;
    if (error == ESRCH) /* the wrapper has died */
        give_up(self, EXIT_FAILED);
    say("run", "cannot run '%s': %s", words[0], strerror(error));
    give_up(self, error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* Everything has gone: the end of the passage. */
static noreturn void leave(const struct guardian *self)
{
    char held[32];
    text_duration(text_now() - self->entered_ns, held, sizeof held);
    tell(self, "%s after %s, exit code %d", self->killed || self->kill_at ? "died inside" : "left", held, self->code);
    if (self->kill_at)
        _exit(EXIT_LOST);
    if (!self->killed)
        ay_leave(self->region);
    _exit(self->code);
}

/* R1. */
static noreturn void end_with_wrapper(struct guardian *self)
{
    tree_end();
    self->killed = true;
    self->code = EXIT_SIGNAL + SIGKILL;
    leave(self);
}

/* Whoever waits for the end of a pipe waits for the command, not for us. What the library opened is closed on exec. */
static void let_go_of_files(void)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    DIR *files = opendir("/proc/self/fd");
    for (const struct dirent *entry; files && (entry = readdir(files));) {
        const int fd = atoi(entry->d_name);
        const int flags = fcntl(fd, F_GETFD);
        if (fd > STDERR_FILENO && flags >= 0 && !(flags & FD_CLOEXEC))
            close(fd);
    }
    if (files)
        closedir(files);
}

/* The command has ended, and others that it started go on: the shell need not wait for them. Until the wrapper has acknowledged
 * that it ends of its own will, its end is a death (R1). */
static void stay(const struct guardian *self)
{
    if (self->asked->close)
        leave(self);
    tell(self, "exit code %d; held until what it left running (%d or more) is gone", self->code, tree_signal(0));
    let_go_of_files();
    const union sigval code = {.sival_int = self->code};
    sigqueue(self->wrapper, SIGNAL_BETWEEN, code);
}

/* A job is stopped and continued as one. */
static void follow_command(struct guardian *self, int status)
{
    if (WIFSTOPPED(status)) {
        kill(self->wrapper, SIGSTOP);
    } else if (WIFCONTINUED(status)) {
        kill(self->wrapper, SIGCONT);
    } else {
        self->code = child_code(status);
        self->killed = WIFSIGNALED(status);
        self->command = 0;
    }
}

/* SIGCHLD. Leaves when there is nobody left. */
static void reap(struct guardian *self)
{
    const bool was_running = self->command > 0;
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
        if (pid == self->command)
            follow_command(self, status);
    if (pid < 0 && errno == ECHILD)
        leave(self);
    if (was_running && self->command == 0 && self->kill_at)
        tree_signal(SIGTERM); /* what it has left behind is ours now */
    else if (was_running && self->command == 0)
        stay(self);
}

/* R4. What is still there when half of the time that is left has passed is killed. */
static void lose(struct guardian *self)
{
    if (self->kill_at || ay_valid(self->region))
        return;
    self->kill_at = text_now() + (int64_t)ay_grace(self->space) * 1000000 / 2;
    say("run", "'%s' was lost: this machine is cut off from the cluster '%s', or its agent has died; ending '%s'",
        self->asked->spec.name, self->asked->cluster, self->asked->command[0]);
    tree_signal(SIGTERM);
    tree_signal(SIGCONT);
}

/* The next signal; 0 if none came within the time that R4 leaves. */
static int next_signal(const struct guardian *self, const sigset_t *set, siginfo_t *info)
{
    if (!self->kill_at)
        return sigwaitinfo(set, info);
    const int64_t left = self->kill_at - text_now();
    const struct timespec time = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                                  .tv_nsec = left > 0 ? left % 1000000000 : 0};
    const int number = sigtimedwait(set, info, &time);
    return number < 0 && errno == EAGAIN ? 0 : number;
}

static noreturn void look_after_command(struct guardian *self)
{
    sigset_t set;
    siginfo_t info;
    signals_to_pass(&set);
    for (;;) {
        const int number = next_signal(self, &set, &info);
        if (number == 0) {
            tree_signal(SIGKILL);
            self->kill_at = text_now() + KILL_AGAIN_NS;
        }
        if (number == SIGCHLD)
            reap(self);
        else if (number == SIGNAL_BETWEEN && info.si_code == SI_QUEUE && info.si_pid == getpid())
            lose(self);
        else if (number == SIGNAL_BETWEEN && info.si_code == SI_QUEUE && info.si_pid == self->wrapper)
            self->wrapper = 0;
        else if (number == SIGNAL_BETWEEN && self->wrapper && getppid() != self->wrapper)
            end_with_wrapper(self);
        else if (number <= 0 || number == SIGNAL_BETWEEN || signal_from_terminal(&info))
            continue;
        else if (self->command > 0)
            kill(self->command, number);
        else
            tree_signal(number);
    }
}

noreturn void guardian(const struct run_words *asked, pid_t wrapper, const struct inheritance *inherited)
{
    struct guardian self = {.asked = asked, .inherited = inherited, .wrapper = wrapper, .asked_ns = text_now()};
    begin(&self);
    open_region(&self);
    pass_the_queue(&self);
    if (asked->lock >= 0 && (self.code = lock_obtain(asked, self.asked_ns)))
        give_up(&self, self.code);
    take_signals(&self);
    set_environment(&self);
    if (asked->cluster && lost_watch(self.region) < 0)
        fail("cannot watch for the loss of '%s': %s", asked->spec.name, ay_message());
    start(&self);
    look_after_command(&self);
}
