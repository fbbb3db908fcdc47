/* SPDX-License-Identifier: MIT */
/* Hints: who leaves makes the descriptor of another process readable by itself. Where it cannot,
 * or the hint is lost with the descriptor, the ask is decided all the same. */
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "harness.h"

struct board {
    _Atomic int inside, asked, leave, decided;
    _Atomic int entered[3], leaves[3], left[3], ends; /* of several holders */
    struct sockaddr_un name;                          /* of the descriptor */
    socklen_t length;
};

static struct board *board;

static void start_test(void)
{
    unlink(test_space);
    *board = (struct board){0};
}

static void await_decided(ay_space *space, const ay_region *expected)
{
    int result;
    ay_region *region;
    struct pollfd readable = {.fd = ay_fd(space), .events = POLLIN};
    while (!(region = ay_decided(space, &result))) {
        CHECK_EQUAL(result, 0);
        CHECK(poll(&readable, 1, PATIENCE_MS) == 1);
    }
    CHECK(region == expected);
    CHECK_EQUAL(result, 0);
}

/* A process that holds "x" until it is told to leave. `prepare` is called in it, before. */
static pid_t start_holder(void (*prepare)(void))
{
    const pid_t pid = spawn();
    if (pid == 0) {
        if (prepare)
            prepare();
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(region), 0);
        atomic_store(&board->inside, 1);
        AWAIT_TRUE(atomic_load(&board->leave));
        CHECK_EQUAL(ay_leave(region), 0);
        ay_close(space);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->inside));
    return pid;
}

static bool is_readable(int fd, int ms)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    return poll(&readable, 1, ms) == 1;
}

/* ---- without a helper ---- */

static pid_t start_asker(void)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, (ay_spec){.name = "x"});
        CHECK(ay_fd(space) >= 0);
        CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
        atomic_store(&board->asked, 1);
        await_decided(space, region);
        atomic_store(&board->decided, 1);
        ay_close(space);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->asked));
    return pid;
}

/* All threads of a process but the first, its helper among them. False: that is not allowed here.
 */
static bool stop_others(pid_t pid, pid_t *stopped, unsigned *count)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    CHECK(tasks != NULL);
    bool allowed = true;
    for (const struct dirent *task = readdir(tasks); task && allowed; task = readdir(tasks)) {
        const pid_t tid = (pid_t)atoi(task->d_name);
        if (tid == 0 || tid == pid)
            continue;
        allowed = ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0;
        if (allowed) {
            CHECK(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0);
            CHECK(waitpid(tid, NULL, __WALL) == tid);
            stopped[(*count)++] = tid;
        }
    }
    closedir(tasks);
    return allowed;
}

static void test_without_helper(void)
{
    start_test();
    pid_t stopped[64];
    unsigned count = 0;
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    const pid_t asker = start_asker();
    const bool allowed = stop_others(asker, stopped, &count);
    if (allowed)
        CHECK(count >= 2); /* its keeper, too */
    else
        fprintf(stderr, "threads cannot be stopped here (%s): helpers run\n", strerror(errno));
    CHECK_EQUAL(ay_leave(region), 0);
    AWAIT_TRUE(atomic_load(&board->decided));
    for (unsigned which = 0; which < count; which++)
        CHECK(ptrace(PTRACE_DETACH, stopped[which], NULL, NULL) == 0);
    expect_success(asker);
    ay_close(space);
}

/* ---- hints that do not arrive ---- */

static void refuse_sockets(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        fprintf(stderr, "no seccomp filter (%s): sockets are there\n", strerror(errno));
}

static void leave_network(void)
{
    if (unshare(CLONE_NEWNET) != 0)
        fprintf(stderr, "no network namespace (%s): hints are sent\n", strerror(errno));
}

static void ask_of_holder(void (*of_holder)(void), void (*of_asker)(void))
{
    start_test();
    const pid_t holder = start_holder(of_holder), asker = spawn();
    if (asker == 0) {
        if (of_asker)
            of_asker();
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, (ay_spec){.name = "x"});
        CHECK(ay_fd(space) >= 0);
        CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
        atomic_store(&board->leave, 1);
        await_decided(space, region);
        ay_close(space);
        _exit(0);
    }
    expect_success(asker);
    expect_success(holder);
}

/* The hint is in the descriptor, and the program closes that. */
static void test_descriptor_lost(bool makes_another)
{
    start_test();
    const pid_t holder = start_holder(NULL);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    const int fd = ay_fd(space);
    int result;
    CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
    atomic_store(&board->leave, 1);
    expect_success(holder);
    CHECK(is_readable(fd, PATIENCE_MS));
    CHECK(close(fd) == 0);
    if (makes_another)
        CHECK(is_readable(ay_fd(space), PATIENCE_MS));
    ay_region *decided = NULL;
    AWAIT_TRUE((decided = ay_decided(space, &result)) != NULL);
    CHECK(decided == region);
    CHECK_EQUAL(result, 0);
    ay_close(space);
}

/* It is closed, but another process has it still, and reads nothing. */
static void test_descriptor_orphaned(void)
{
    start_test();
    const pid_t holder = start_holder(NULL);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    int fd = ay_fd(space), pair[2], result;
    CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0); /* it lies there on its way */
    struct iovec byte = {.iov_base = "b", .iov_len = 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &byte,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *passes = CMSG_FIRSTHDR(&message);
    *passes = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(passes), &fd, sizeof fd);
    CHECK(sendmsg(pair[0], &message, 0) == 1);
    CHECK(close(fd) == 0);
    fd = ay_fd(space);
    CHECK(fd >= 0);
    atomic_store(&board->leave, 1);
    expect_success(holder);
    CHECK(is_readable(fd, PATIENCE_MS));
    ay_region *decided = NULL;
    AWAIT_TRUE((decided = ay_decided(space, &result)) != NULL);
    CHECK(decided == region);
    close(pair[0]);
    close(pair[1]);
    ay_close(space);
}

/* ---- hints that came together ---- */

static pid_t start_one_of_several(unsigned which, ay_spec spec, bool closes)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_space *space = open_space(NULL);
        ay_region *region = open_region(space, spec);
        CHECK_EQUAL(ay_enter(region), 0);
        atomic_store(&board->entered[which], 1);
        AWAIT_TRUE(atomic_load(&board->leaves[which]));
        CHECK_EQUAL(ay_leave(region), 0);
        if (closes)
            ay_region_close(region);
        atomic_store(&board->left[which], 1);
        AWAIT_TRUE(atomic_load(&board->ends)); /* its end would be noticed, without a hint */
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->entered[which]));
    return pid;
}

static void let_leave(unsigned which)
{
    atomic_store(&board->leaves[which], 1);
    AWAIT_TRUE(atomic_load(&board->left[which]));
}

/* One who only hears of what is new has heard of both at once. The first hint is about an ask that
 * rests again: there is something new, or the other is decided. */
static void test_two_hints_on_edges(void)
{
    start_test();
    const ay_spec shared = {.name = "x", .mode = AY_SHARED};
    const pid_t holders[] = {start_one_of_several(0, shared, false),
                             start_one_of_several(1, shared, false),
                             start_one_of_several(2, (ay_spec){.name = "y"}, false)};
    ay_space *space = open_space(NULL);
    ay_region *x = open_region(space, (ay_spec){.name = "x"}),
              *y = open_region(space, (ay_spec){.name = "y"});
    const int edges = epoll_create1(EPOLL_CLOEXEC), fd = ay_fd(space);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    int result;
    CHECK(epoll_ctl(edges, EPOLL_CTL_ADD, fd, &event) == 0);
    CHECK_EQUAL(ay_ask(x), -EINPROGRESS);
    CHECK_EQUAL(ay_ask(y), -EINPROGRESS);
    let_leave(1); /* who came last, whom x sleeps on */
    let_leave(2);
    CHECK(epoll_wait(edges, &event, 1, PATIENCE_MS) == 1);
    ay_region *decided;
    while (!(decided = ay_decided(space, &result)))
        CHECK(epoll_wait(edges, &event, 1, 0) == 1);
    CHECK(decided == y);
    CHECK_EQUAL(result, 0);
    let_leave(0);
    while (!(decided = ay_decided(space, &result)))
        CHECK(epoll_wait(edges, &event, 1, PATIENCE_MS) == 1);
    CHECK(decided == x);
    atomic_store(&board->ends, 1);
    for (unsigned which = 0; which < 3; which++)
        expect_success(holders[which]);
    close(edges);
    ay_close(space);
}

/* The place that a hint is about belongs to another ask of the same process when it is taken. */
static void test_place_taken(void)
{
    start_test();
    const pid_t holder = start_one_of_several(0, (ay_spec){.name = "x"}, true);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    int result;
    const int fd = ay_fd(space);
    CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
    let_leave(0);
    CHECK(is_readable(fd, PATIENCE_MS));
    ay_region *next = open_region(space, (ay_spec){.name = "z"});
    CHECK_EQUAL(ay_ask(next), 0);
    CHECK(ay_decided(space, &result) == region);
    CHECK_EQUAL(result, 0);
    atomic_store(&board->ends, 1);
    expect_success(holder);
    ay_close(space);
}

/* ---- strangers ---- */

/* False: the kernel is older than Linux 5.14, and nobody hears. */
static bool is_called(ay_space *space)
{
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    if (getsockname(ay_fd(space), (struct sockaddr *)&name, &length) == 0)
        return true;
    CHECK_EQUAL(errno, ENOTSOCK);
    fprintf(stderr, "the descriptor has no name here: nobody hears\n");
    ay_close(space);
    return false;
}

/* What the descriptor is called, everybody sees; what opens it, not. */
static void test_stranger(void)
{
    start_test();
    ay_space *space = open_space(NULL);
    if (!is_called(space))
        return;
    const int fd = ay_fd(space), stranger = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un name;
    socklen_t length = sizeof name;
    CHECK(getsockname(fd, (struct sockaddr *)&name, &length) == 0);
    CHECK_EQUAL(name.sun_family, AF_UNIX);
    char message[64] = {0};
    for (unsigned times = 0; times < 1000; times++)
        CHECK(sendto(stranger, message, times % sizeof message, 0, (struct sockaddr *)&name,
                     length) >= 0);
    CHECK(!is_readable(fd, 0));
    close(stranger);
    ay_close(space);
}

/* In the network namespace of who leaves somebody else has the name. */
static void test_stranger_elsewhere(void)
{
    start_test();
    ay_space *space = open_space(NULL);
    if (!is_called(space))
        return;
    const pid_t holder = spawn();
    if (holder == 0) {
        const bool elsewhere = unshare(CLONE_NEWNET) == 0;
        if (!elsewhere)
            fprintf(stderr, "no network namespace (%s): no stranger\n", strerror(errno));
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK_EQUAL(ay_enter(region), 0);
        atomic_store(&board->inside, 1);
        AWAIT_TRUE(atomic_load(&board->leave));
        const int stranger = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (elsewhere)
            CHECK(bind(stranger, (struct sockaddr *)&board->name, board->length) == 0);
        CHECK_EQUAL(ay_leave(region), 0);
        char message[64];
        CHECK(recv(stranger, message, sizeof message, 0) < 0);
        _exit(0);
    }
    AWAIT_TRUE(atomic_load(&board->inside));
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    board->length = sizeof board->name;
    CHECK(getsockname(ay_fd(space), (struct sockaddr *)&board->name, &board->length) == 0);
    CHECK_EQUAL(ay_ask(region), -EINPROGRESS);
    atomic_store(&board->leave, 1);
    await_decided(space, region);
    expect_success(holder);
    ay_close(space);
}

int main(void)
{
    begin_test("ask_hint");
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(board != MAP_FAILED);
    test_without_helper();
    ask_of_holder(NULL, NULL);
    ask_of_holder(refuse_sockets, NULL);
    ask_of_holder(NULL, refuse_sockets);
    ask_of_holder(leave_network, NULL);
    test_descriptor_lost(true);
    test_descriptor_lost(false);
    test_descriptor_orphaned();
    test_two_hints_on_edges();
    test_place_taken();
    test_stranger();
    test_stranger_elsewhere();
    return 0;
}
