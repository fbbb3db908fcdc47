/* SPDX-License-Identifier: MIT */
/* A hand-over with nothing in it, for comparison: a process writes to an eventfd, its agent sends
 * 32 bytes over TCP, the other agent wakes a process by a futex. Prints as bench-handover does; to
 * give up takes no time here.
 *
 *   bench-relay listen|dial ADDRESS PORT BOARD COUNT INSIDE_US
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "board.h"
#include "locks.h"

enum { MESSAGE = 32, LOOK_MS = 100, DIAL_US = 10000, DIALS = 1000 };

static struct board *board;
static _Atomic uint32_t *granted; /* of this machine: slept on */
static long count;

static bool is_over(void)
{
    return board->done >= count;
}

/* ---- the process ---- */

static void await_grant(void)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};
    while (!*granted && !is_over())
        syscall(SYS_futex, granted, FUTEX_WAIT, 0, &look, NULL, 0);
}

static int be_process(int event, useconds_t inside_us)
{
    const uint64_t one = 1;
    for (bool first = *granted;; first = false) {
        await_grant();
        if (is_over())
            return 0;
        board->inside_ns = now_ns();
        usleep(inside_us);
        if (!first) {
            board_print(board);
            board->done++;
        }
        *granted = 0;
        board->released_ns = now_ns();
        if (write(event, &one, sizeof one) != (ssize_t)sizeof one)
            return 1;
    }
}

/* ---- its agent ---- */

static bool send_on(int event, int link)
{
    uint64_t times;
    char message[MESSAGE] = "";
    board->woken_ns = board->given_ns = now_ns();
    return read(event, &times, sizeof times) == (ssize_t)sizeof times &&
           send(link, message, sizeof message, MSG_NOSIGNAL) == MESSAGE;
}

static bool wake(int link)
{
    char message[MESSAGE];
    if (recv(link, message, sizeof message, MSG_WAITALL) != MESSAGE)
        return false;
    board->granted_ns = now_ns();
    *granted = 1;
    syscall(SYS_futex, granted, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

/* Until all is done; who then closes the link ends the other. */
static int be_agent(int event, int link)
{
    struct pollfd fds[] = {{.fd = event, .events = POLLIN}, {.fd = link, .events = POLLIN}};
    while (!is_over()) {
        if (poll(fds, 2, LOOK_MS) < 0)
            return 1;
        if ((fds[0].revents && !send_on(event, link)) || (fds[1].revents && !wake(link)))
            return is_over() ? 0 : 1;
    }
    return 0;
}

/* ---- the beginning ---- */

static int dial(const struct sockaddr_in *address)
{
    for (int tries = 0; tries < DIALS; tries++, usleep(DIAL_US)) {
        const int link = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (link < 0 || connect(link, (const struct sockaddr *)address, sizeof *address) == 0)
            return link;
        close(link);
    }
    return -1;
}

static int take_call(const struct sockaddr_in *address)
{
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (listener < 0 || bind(listener, (const struct sockaddr *)address, sizeof *address) != 0 ||
        listen(listener, 1) != 0)
        return -1;
    const int link = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    return link;
}

static int run(bool listens, const struct sockaddr_in *address, useconds_t inside_us)
{
    const int event = eventfd(0, EFD_CLOEXEC), link = listens ? take_call(address) : dial(address);
    granted =
        mmap(NULL, sizeof *granted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (event < 0 || link < 0 || (void *)granted == MAP_FAILED)
        return 1;
    setsockopt(link, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    *granted = listens;
    const pid_t agent = fork();
    if (agent == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(be_agent(event, link));
    }
    return agent < 0 ? 1 : be_process(event, inside_us);
}

int main(int words_count, char **words)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    board = words_count == 7 ? board_open(words[4]) : NULL;
    if (!board || inet_pton(AF_INET, words[2], &address.sin_addr) != 1) {
        fprintf(stderr, "usage: bench-relay listen|dial ADDRESS PORT BOARD COUNT INSIDE_US\n");
        return 125;
    }
    address.sin_port = htons((uint16_t)strtoul(words[3], NULL, 10));
    count = strtol(words[5], NULL, 10);
    const int status =
        run(strcmp(words[1], "listen") == 0, &address, (useconds_t)strtoul(words[6], NULL, 10));
    if (status)
        fprintf(stderr, "bench-relay: %s\n", errno ? strerror(errno) : "the other has gone");
    return status;
}
