/* SPDX-License-Identifier: MIT */
/* The guardian: waits in the queue, holds the region, and stays until the last of what the command
 * started is gone.
 *
 * Two phases. In the queue, signals act on it as on any program, and it dies with the wrapper:
 * leaving is failing. Inside, all signals are blocked and fetched one by one; the wrapper's death
 * is one of them.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run/run.h"
#include "cli/text.h"
#include "common/assert.h"

struct guardian {
    const struct run_words *asked;
    const struct inheritance *inherited;
    struct between *between;
    ay_space *space;
    ay_region *region;
    bool after_death;
    bool cut_off; /* the test of --when, when the time was over */
    int64_t asked_ns, entered_ns;
    pid_t deputy; /* 0, or negative: it is not there yet; or has ended, and was reaped */
    enum command_state state; /* of the command, as last heard */
    uint32_t stops;           /* of it, as last heard */
    int code;                 /* of the command, once it has ended */
    bool killed;              /* R4, or everything was */
    /* R5: what is still there then is killed; INT64_MAX: the region is not lost */
    int64_t kill_at;
};

static const char *called; /* run_called(); set before all else */

static noreturn void fail(const char *format, ...)
{
    va_list arguments;
    char line[PIPE_BUF];
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    say(called, "%s", line);
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
    say(called, "%s: %s", self->asked->spec.name, line);
}

static pid_t continued_with; /* the wrapper; set before the handler */

/* The job goes on as one: if this did not come from the wrapper, it may be stopped. */
static void continue_wrapper(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (info->si_pid != continued_with && getppid() == continued_with)
        kill(continued_with, SIGCONT);
}

static void begin(const struct guardian *self)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        (self->inherited->group > 0 && signals_leave_group() != 0))
        fail("cannot prepare: %s", strerror(errno));
    if (getppid() != self->between->wrapper)
        _exit(EXIT_FAILED);
    struct sigaction ignored;
    const struct sigaction action = {.sa_sigaction = continue_wrapper,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    continued_with = self->between->wrapper;
    if (sigaction(SIGCONT, NULL, &ignored) == 0 && ignored.sa_handler != SIG_IGN)
        sigaction(SIGCONT, &action, NULL);
    sigset_t mask = self->inherited->mask;
    sigaddset(&mask, SIGTTOU); /* may write to the terminal from the background */
    sigaddset(&mask, SIGPIPE); /* and to nobody */
    /* a space that is too large for `ulimit -f` is an error with words */
    sigaddset(&mask, SIGXFSZ);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void open_region(struct guardian *self)
{
    int error = ay_open(self->asked->space, &self->asked->options, &self->space);
    if (error == 0)
        error = ay_region_open(self->space, &self->asked->spec, &self->region);
    if (error < 0)
        fail("%s", ay_message());
}

/* A run within another. Who has set a limit is refused, which it reckons with; else it is an error.
 */
static void look_outside(const struct guardian *self)
{
    const struct run_words *asked = self->asked;
    struct nested nested;
    nested_find(asked, &nested);
    if (nested.holder && (asked->timeout_ms < 0 || !asked->quiet))
        say(called, "'%s' %s: inside is pid %d (%s), which waits for this command to end",
            asked->spec.name, asked->timeout_ms < 0 ? "would never be obtained" : "not obtained",
            (int)nested.holder, nested.command);
    if (nested.holder)
        _exit(asked->timeout_ms < 0 ? EXIT_FAILED : asked->refused);
    if (nested.thread)
        ay_on_behalf(self->region, nested.thread);
}

static void set_environment(const struct guardian *self)
{
    if (environment_of_run(self->asked, self->region) != 0)
        fail("cannot set the environment: %s", strerror(errno));
}

/* It is next: what takes long is done while it waits. If it fails, start() tries again. */
static void prepare(void *arg)
{
    struct guardian *self = arg;
    sigset_t all, before;
    const int share = ay_share(self->region);
    if (share < 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the deputy inherits it */
    self->deputy = deputy_start(self->asked, self->inherited, self->between, share);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
    if (!asked->spec.take) /* units are known inside */
        ay_prepare(self->region, prepare, self);
    return ay_enter_for(self->region, asked->timeout_ms);
}

static noreturn void refuse(const struct guardian *self, int result)
{
    char holders[TEXT_ROOM], within[64] = "";
    if (self->asked->quiet) {
        ay_region_close(self->region);
        _exit(self->asked->refused);
    }
    if (self->cut_off)
        snprintf(holders, sizeof holders,
                 "nobody is inside, but the test of --when had not answered yet, and was ended");
    else
        holders_describe(self->asked, holders, sizeof holders);
    if (self->asked->timeout_ms > 0)
        snprintf(within, sizeof within, " within %g s", self->asked->seconds);
    say(called, "'%s' not obtained%s: %s%s", self->asked->spec.name, within,
        result == -EDEADLK ? "to wait would close a cycle of waiting; " : "", holders);
    ay_region_close(self->region);
    _exit(self->asked->refused);
}

/* Enters, or does not return. */
static void pass_the_queue(struct guardian *self)
{
    const struct run_words *asked = self->asked;
    struct condition *condition = NULL;
    if (asked->when && !(condition = condition_start(asked, self->space, self->inherited)))
        fail("cannot watch for --when: %s", ay_message());
    /* before there is another thread; but a test of --when is no part of the run */
    if (!condition && !asked->spec.take)
        set_environment(self);
    struct queue_display *display = queue_display_start(asked, self->inherited->group);
    const int result = enter(self, condition);
    const char *why = result < 0 ? ay_message() : "";
    queue_display_stop(display);
    if (result < 0)
        deputy_dismiss(self->deputy, self->between);
    if (condition && condition_trouble(condition))
        fail("--when '%s': %s", asked->when, condition_trouble(condition));
    self->cut_off = condition && condition_was_cut_off(condition);
    if (condition)
        condition_stop(condition);
    if (result == -EBUSY || result == -ETIMEDOUT || (result == -EDEADLK && asked->timeout_ms >= 0))
        refuse(self, result);
    if (result < 0)
        fail("%s: %s", asked->spec.name, why);
    self->after_death = result == AY_AFTER_DEATH;
    self->entered_ns = text_now();
}

/* Nothing was begun, so nothing is half done. But a death that we were told of would be forgotten;
 * so the next one is told of ours. */
static noreturn void give_up(const struct guardian *self, int code)
{
    deputy_dismiss(self->deputy, self->between);
    if (!self->after_death)
        ay_leave(self->region);
    ay_unshare(self->region);
    _exit(code);
}

/* From the first phase to the second. What came before the command was there is meant for us. */
static void take_signals(const struct guardian *self)
{
    sigset_t set;
    siginfo_t info;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    const int error = guard_begin(self->between->wrapper);
    if (error && error != -ESRCH)
        say(called, "cannot prepare: %s", strerror(-error));
    if (error)
        give_up(self, EXIT_FAILED);
    static const int not_ours[] = {SIGCHLD /* a test of --when */, SIGCONT, SIGWINCH, SIGPIPE,
                                   SIGXFSZ};
    for (size_t at = 0; at < sizeof not_ours / sizeof *not_ours; at++)
        sigdelset(&set, not_ours[at]);
    const int number = signal_next(&set, &info, 0);
    if (number > 0)
        give_up(self, EXIT_SIGNAL + number);
    atomic_store(&self->between->inside, true);
}

static void tell_of_passage(const struct guardian *self)
{
    if (!self->asked->verbose)
        return;
    char waited[32];
    text_duration(self->entered_ns - self->asked_ns, waited, sizeof waited);
    tell(self, "inside after %s, fence %llu%s%s%s", waited,
         (unsigned long long)self->between->fence, self->asked->spec.take ? ", units " : "",
         self->asked->spec.take ? getenv("AFTERYOU_UNITS") : "",
         self->after_death ? ", after a death" : "");
}

static void ring_deputy(const struct guardian *self)
{
    if (self->deputy > 0)
        kill(self->deputy, SIGNAL_BELL);
}

/* A session of its own: a parent in the job's session, and not in its group, would keep the group
 * from ever being orphaned, and the kernel from waking what is stopped when the shell dies. The
 * deputy, started before, stays in the job's. */
static void part_from_session(void)
{
    if (setsid() < 0)
        say(called, "cannot begin a session: %s", strerror(errno));
}

/* A deputy that is ready, and lives. */
static bool has_deputy(const struct guardian *self)
{
    return self->deputy > 0 && waitpid(self->deputy, NULL, WNOHANG) == 0;
}

static void start(struct guardian *self)
{
    struct between *between = self->between;
    const int share = ay_share(self->region);
    if (share < 0) {
        say(called, "cannot share '%s' with a deputy: %s", self->asked->spec.name, ay_message());
        give_up(self, EXIT_FAILED);
    }
    between->fence = ay_fence(self->region);
    between->after_death = self->after_death;
    tell_of_passage(self);
    const bool ready = has_deputy(self);
    if (!ready) {
        atomic_store(&between->error, 0); /* of one that was, and could not be ready */
        self->deputy = deputy_start(self->asked, self->inherited, between, share);
    }
    if (self->deputy < 0) {
        say(called, "cannot start a deputy: %s", strerror(-self->deputy));
        give_up(self, EXIT_FAILED);
    }
    if (deputy_go(self->deputy, self->inherited, between) != 0)
        give_up(self, EXIT_FAILED); /* the job is gone, and the wrapper with it */
    part_from_session();
    ay_wake_next(self->region); /* a command takes longer */
    ring_deputy(self);
    if (ready)
        close(share);
}

/* Everything has gone: the end of the passage. Who died inside does not leave. */
static noreturn void leave(const struct guardian *self)
{
    const bool lost = self->kill_at != INT64_MAX, died = self->killed || lost;
    assert_invariant(R4, died || !WIFSIGNALED(atomic_load(&self->between->status)));
    assert_invariant(R5, !lost || atomic_load(&self->between->lost));
    if (self->asked->verbose) {
        char held[32];
        text_duration(text_now() - self->entered_ns, held, sizeof held);
        tell(self, "%s after %s, exit code %d", died ? "died inside" : "left", held, self->code);
    }
    if (!died)
        ay_leave(self->region);
    ay_unshare(self->region);
    if (!died)
        ay_region_close(self->region); /* or all who come look at a dead one's place */
    _exit(lost ? EXIT_LOST : self->code);
}

/* R1, R3, R5. The deputy, if it is there, does the same: so one of us may still be killed. */
static noreturn void end_all(struct guardian *self)
{
    atomic_store(&self->between->end, true);
    wrapper_goes_on(self->between, self->state);
    tree_end();
    assert_invariant(R1, tree_is_gone());
    self->killed = true;
    self->code = EXIT_SIGNAL + SIGKILL;
    leave(self);
}

static noreturn void could_not_run(const struct guardian *self, int error)
{
    const char *command = self->asked->command[0];
    if (error == ESRCH) /* the wrapper has died */
        give_up(self, EXIT_FAILED);
    say(called, "cannot run '%s': %s", command, strerror(error));
    give_up(self, error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* The command has ended, and others that it started go on: the shell need not wait for them. Until
 * the wrapper has heard this, its end is a death (R1). */
static void stay(const struct guardian *self)
{
    tell(self, "exit code %d; held until what it left running (%d or more) is gone", self->code,
         atomic_load(&self->between->left));
    let_go_of_files();
    atomic_store(&self->between->code, self->code);
    atomic_store(&self->between->stays, true);
    if (getppid() == self->between->wrapper)
        kill(self->between->wrapper, SIGNAL_BELL);
}

/* A job is stopped and continued as one. Whoever continued the wrapper after a stop of the command
 * must find it stopped again after the next, also if what was between was not heard of. */
static void follow_command(struct guardian *self)
{
    const enum command_state state = (enum command_state)atomic_load(&self->between->state);
    const uint32_t stops = atomic_load(&self->between->stops);
    if (state == self->state && stops == self->stops)
        return;
    if (state == COMMAND_ENDED)
        wrapper_goes_on(self->between, self->state);
    self->state = state;
    self->stops = stops;
    if (state == COMMAND_ENDED) {
        const int status = atomic_load(&self->between->status);
        self->code = child_code(status);
        self->killed = WIFSIGNALED(status);
    } else if (getppid() == self->between->wrapper) {
        kill(self->between->wrapper, state == COMMAND_STOPPED ? SIGSTOP : SIGCONT);
    }
}

/* SIGCHLD. */
static void reap(struct guardian *self)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != self->deputy)
            continue;
        self->deputy = 0;
        follow_command(self);
        if (WIFEXITED(status) && atomic_load(&self->between->error))
            could_not_run(self, atomic_load(&self->between->error));
        if (self->state == COMMAND_ENDED &&
            (WIFEXITED(status) || atomic_load(&self->between->done)))
            leave(self);
        say(called, "the deputy (pid %d) was ended by a signal; the command is being ended",
            (int)pid);
        end_all(self);
    }
}

/* R5. What is still there when half of the time that is left has passed is killed. */
static void lose(struct guardian *self)
{
    if (self->kill_at != INT64_MAX || ay_valid(self->region))
        return;
    self->kill_at = text_now() + (int64_t)ay_grace(self->space) * 1000000 / 2;
    say(called,
        "'%s' was lost: this machine is cut off from the cluster '%s', or its agent has died; "
        "ending '%s'",
        self->asked->spec.name, self->asked->cluster, self->asked->command[0]);
    atomic_store(&self->between->lost, true);
    ring_deputy(self);
}

static void heed_bell(struct guardian *self, const siginfo_t *info)
{
    const bool heard = atomic_load(&self->between->heard);
    if (getppid() != self->between->wrapper && (!heard || info->si_pid == getppid()))
        end_all(self); /* R1; or an outer guard says so: R6 */
    if (self->asked->cluster)
        lose(self);
    const bool had_ended = self->state == COMMAND_ENDED;
    follow_command(self);
    if (self->state == COMMAND_ENDED && atomic_load(&self->between->done))
        leave(self);
    if (self->state == COMMAND_ENDED && !had_ended && self->kill_at == INT64_MAX)
        stay(self);
}

/* To the deputy, which knows what the command got already. */
static void pass_on(struct guardian *self, const siginfo_t *info)
{
    if (info->si_code > 0 || signal_is_own(info))
        return;
    struct between *between = self->between;
    atomic_fetch_add(info->si_pid == between->wrapper ? &between->passed_on[info->si_signo]
                                                      : &between->sent_to_guardian[info->si_signo],
                     1);
    ring_deputy(self);
}

static noreturn void look_after_command(struct guardian *self)
{
    sigset_t all;
    siginfo_t info;
    sigfillset(&all);
    for (;;) {
        const int number = signal_next(&all, &info, self->kill_at);
        if (number == 0)
            end_all(self);
        else if (number == SIGCHLD)
            reap(self);
        else if (number == SIGNAL_BELL)
            heed_bell(self, &info);
        else if (number > 0)
            pass_on(self, &info);
    }
}

noreturn void guardian(const struct run_words *asked, const struct inheritance *inherited,
                       struct between *between)
{
    struct guardian self = {.asked = asked,
                            .inherited = inherited,
                            .between = between,
                            .asked_ns = text_now(),
                            .kill_at = INT64_MAX};
    called = run_called(asked);
    begin(&self);
    open_region(&self);
    look_outside(&self);
    pass_the_queue(&self);
    if (asked->lock >= 0 && (self.code = lock_obtain(asked, self.asked_ns)))
        give_up(&self, self.code);
    take_signals(&self);
    if (asked->when || asked->spec.take)
        set_environment(&self);
    if (asked->cluster && lost_watch(self.region) < 0)
        fail("cannot watch for the loss of '%s': %s", asked->spec.name, ay_message());
    start(&self);
    look_after_command(&self);
}
