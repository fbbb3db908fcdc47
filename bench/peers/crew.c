/* SPDX-License-Identifier: MIT */
/* A crew: the members of one run, as processes or as threads of one process. Nothing of it outlives
 * the bench: members die with it, and what has a name is removed, by signal handlers too.
 */
#include "crew.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 30 };

static char directory[PATH_ROOM / 2];
static pid_t main_process;
static struct crew *present;
/* that end the bench, and are heard */
static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};
static const char *const file_names[] = {
    [FILE_PEER] = "x", [FILE_LOCK] = "lock", [FILE_SPACE] = "space"};

static const char *crew_directory(void)
{
    if (directory[0])
        return directory;
    strcpy(directory, "/dev/shm/afteryou-bench-XXXXXX");
    if (!mkdtemp(directory)) {
        fprintf(stderr, "bench: cannot make %s: %s\n", directory, strerror(errno));
        directory[0] = '\0';
        exit(1);
    }
    return directory;
}

const char *crew_file(enum crew_file which, char *path)
{
    snprintf(path, PATH_ROOM, "%s/%s", crew_directory(), file_names[which]);
    return path;
}

static void remove_all(void)
{
    if (getpid() != main_process)
        return;
    if (present && present->peer->unmake)
        present->peer->unmake(&present->meeting);
    if (directory[0] == '\0' || chdir(directory) != 0)
        return;
    for (size_t at = 0; at < sizeof file_names / sizeof *file_names; at++)
        unlink(file_names[at]);
    rmdir(directory);
}

static void on_signal(int number)
{
    remove_all(); /* only system calls */
    _exit(128 + number);
}

void crew_prepare(void)
{
    main_process = getpid();
    atexit(remove_all);
    const struct sigaction action = {.sa_handler = on_signal};
    for (size_t at = 0; at < sizeof signals / sizeof *signals; at++)
        sigaction(signals[at], &action, NULL);
}

struct crew *crew_make(const struct peer *peer, const struct bench_case *of, char *message)
{
    struct crew *crew =
        mmap(NULL, sizeof *crew, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (crew == MAP_FAILED) {
        snprintf(message, MESSAGE_ROOM, "mmap: %s", strerror(errno));
        return NULL;
    }
    crew->peer = peer;
    crew->of = of;
    crew->meeting.members = of->members;
    crew->meeting.slots = peer->can & PEER_SLOTS ? of->slots : 1;
    crew->meeting.semaphore = -1;
    crew->work.turns = of->rests ? SECTION_RESTS | of->section_ns : section_turns(of->section_ns);
    crew->work.ledger.queued = peer->queued;
    crew_file(FILE_PEER, crew->meeting.file);
    present = crew;
    if (peer->make(peer, &crew->meeting) != 0) {
        crew_end(crew, message);
        return NULL;
    }
    return crew;
}

void crew_join(struct crew *crew, struct member *member, unsigned self)
{
    *member = (struct member){.meeting = &crew->meeting, .self = self, .descriptor = -1};
    member->reads = crew->of->kind == CASE_READERS && (crew->peer->can & PEER_READERS) &&
                    self >= crew->of->writers;
    const int result = crew->peer->join(crew->peer, member);
    if (result == 0)
        return;
    int none = 0;
    atomic_compare_exchange_strong(&crew->failed, &none, result);
    _exit(1);
}

const struct loops *crew_loops(const struct crew *crew, const struct member *member)
{
    return member->reads ? crew->peer->shared_loops : crew->peer->loops;
}

struct seat {
    struct crew *crew;
    member_body *body;
    unsigned self;
};

static void *sit(void *arg)
{
    const struct seat *seat = arg;
    struct member member;
    crew_join(seat->crew, &member, seat->self);
    seat->body(seat->crew, &member);
    return NULL;
}

static void begin_process(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != main_process)
        _exit(1);
    for (size_t at = 0; at < sizeof signals / sizeof *signals; at++)
        signal(signals[at], SIG_DFL);
}

int crew_fork(struct crew *crew, member_body *body)
{
    const unsigned self = crew->processes;
    const pid_t pid = fork();
    if (pid < 0)
        return peer_fail(&crew->meeting, -errno, "fork: %s", strerror(errno));
    if (pid == 0) {
        begin_process();
        sit(&(struct seat){.crew = crew, .body = body, .self = self});
        _exit(0);
    }
    crew->pids[crew->processes++] = pid;
    return 0;
}

static void run_threads(struct crew *crew, unsigned members, member_body *body)
{
    pthread_t threads[MEMBERS_MOST];
    struct seat seats[MEMBERS_MOST];
    for (unsigned at = 0; at < members; at++) {
        seats[at] = (struct seat){.crew = crew, .body = body, .self = at};
        const int error = pthread_create(&threads[at], NULL, sit, &seats[at]);
        if (error) {
            atomic_store(&crew->failed,
                         peer_fail(&crew->meeting, -error, "pthread_create: %s", strerror(error)));
            _exit(1);
        }
    }
    for (unsigned at = 0; at < members; at++)
        pthread_join(threads[at], NULL);
}

int crew_start(struct crew *crew, unsigned members, member_body *body)
{
    if (!(crew->peer->can & PEER_THREADS)) {
        int result = 0;
        for (unsigned at = 0; at < members && result == 0; at++)
            result = crew_fork(crew, body);
        return result;
    }
    const pid_t pid = fork();
    if (pid < 0)
        return peer_fail(&crew->meeting, -errno, "fork: %s", strerror(errno));
    if (pid == 0) {
        begin_process();
        run_threads(crew, members, body);
        _exit(0);
    }
    crew->pids[crew->processes++] = pid;
    return 0;
}

int crew_await_ready(struct crew *crew, unsigned members)
{
    for (const int64_t end = now_ns() + PATIENCE_S * 1000000000LL; now_ns() < end; rest_us(100)) {
        const int failed = atomic_load(&crew->failed);
        if (failed && atomic_load(&crew->meeting.said))
            return failed;
        if (atomic_load(&crew->ready) >= members)
            return 0;
    }
    return peer_fail(&crew->meeting, -ETIMEDOUT, "its members were not ready within %d s",
                     PATIENCE_S);
}

static void end_member(struct crew *crew, unsigned at)
{
    if (crew->pids[at] <= 0)
        return;
    kill(crew->pids[at], SIGKILL);
    waitpid(crew->pids[at], NULL, 0);
    crew->pids[at] = 0;
}

int crew_await_end(struct crew *crew)
{
    unsigned left = crew->processes;
    for (const int64_t end = now_ns() + PATIENCE_S * 1000000000LL; now_ns() < end; rest_us(500)) {
        for (unsigned at = 0; at < crew->processes; at++)
            if (crew->pids[at] > 0 && waitpid(crew->pids[at], NULL, WNOHANG) == crew->pids[at]) {
                crew->pids[at] = 0;
                left--;
            }
        if (left == 0)
            return atomic_load(&crew->failed);
    }
    return peer_fail(&crew->meeting, -ETIMEDOUT, "stuck: not ended %d s after it was told to",
                     PATIENCE_S);
}

void crew_end(struct crew *crew, char *message)
{
    for (unsigned at = 0; at < crew->processes; at++)
        end_member(crew, at);
    if (crew->peer->unmake)
        crew->peer->unmake(&crew->meeting);
    present = NULL;
    memcpy(message, crew->meeting.message, MESSAGE_ROOM);
    munmap(crew, sizeof *crew);
}
