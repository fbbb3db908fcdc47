/* SPDX-License-Identifier: MIT */
/* What a link costs: the round trip of 64 bytes between two processes on the loopback, over a bare
 * TCP connection, over a plain link, and over a secured one, in one run and in turns.
 *
 *   bench-links [ROUNDS]
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/host/links.h"
#include "common/clock.h"

enum { BYTES = 64, WARM_UP = 200, PARTS = 5, ROUNDS = 4000 };

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- a bare connection ---- */

static void echo_bare(int fd)
{
    char bytes[BYTES];
    while (recv(fd, bytes, sizeof bytes, MSG_WAITALL) == BYTES)
        if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) != BYTES)
            return;
}

static int64_t round_bare(int fd)
{
    char bytes[BYTES] = {0};
    const int64_t began = clock_ns(CLOCK_MONOTONIC);
    if (send(fd, bytes, sizeof bytes, MSG_NOSIGNAL) != BYTES ||
        recv(fd, bytes, sizeof bytes, MSG_WAITALL) != BYTES)
        fail("the bare connection");
    return clock_ns(CLOCK_MONOTONIC) - began;
}

/* ---- a link ---- */

struct side {
    struct links *links;
    bool up, got, echoes;
};

static void on_up(void *arg, uint32_t slot, uint64_t incarnation)
{
    (void)slot, (void)incarnation;
    ((struct side *)arg)->up = true;
}

static void on_down(void *arg, uint32_t slot, uint64_t incarnation)
{
    (void)arg, (void)slot, (void)incarnation;
    exit(0);
}

static void on_received(void *arg, uint32_t slot, uint64_t incarnation, const void *bytes,
                        size_t length)
{
    struct side *side = arg;
    side->got = true;
    if (side->echoes)
        links_send(side->links, slot, incarnation, bytes, length);
}

static void on_line(void *arg, enum log_level level, const char *event, const char *details)
{
    (void)arg, (void)level, (void)event, (void)details;
}

/* As the agent does it. */
static void turn(struct side *side)
{
    const int64_t again = links_tick(side->links);
    const struct timespec patience = {.tv_sec = again / 1000000000, .tv_nsec = again % 1000000000};
    struct pollfd fd = {.fd = links_fd(side->links), .events = POLLIN};
    if (ppoll(&fd, 1, &patience, NULL) > 0)
        links_dispatch(side->links);
}

static void open_side(struct side *side, const char *key, uint64_t self)
{
    char trouble[256];
    const struct links_options options = {.cluster = "b", .key_file = key, .listen = "127.0.0.1"};
    const struct links_events events = {
        .arg = side, .up = on_up, .down = on_down, .received = on_received, .log = on_line};
    side->links = links_open(&options, &events, trouble, sizeof trouble);
    if (!side->links) {
        fprintf(stderr, "bench-links: %s\n", trouble);
        exit(1);
    }
    links_self(side->links, self);
}

static void meet(struct side *side, uint64_t peer, struct link_endpoint where, bool dial)
{
    links_peer(side->links, 0, peer, &where, dial);
    while (!side->up)
        turn(side);
}

static int64_t round_linked(struct side *side)
{
    char bytes[BYTES] = {0};
    const int64_t began = clock_ns(CLOCK_MONOTONIC);
    side->got = false;
    if (!links_send(side->links, 0, 2, bytes, sizeof bytes))
        fail("the link");
    while (!side->got)
        turn(side);
    return clock_ns(CLOCK_MONOTONIC) - began;
}

/* ---- three ways ---- */

enum { BARE, PLAIN, SECURED, WAYS };

struct way {
    const char *name;
    int fd;
    struct side side;
    int64_t *took;
    size_t count;
};

/* The other process of a way: it ends with this one. */
static void begin_bare(struct way *way)
{
    const int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    if (listener < 0 || bind(listener, (struct sockaddr *)&here, length) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&here, &length) != 0)
        fail("socket");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int fd = accept(listener, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        echo_bare(fd);
        _exit(0);
    }
    way->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(way->fd, (struct sockaddr *)&here, length) != 0)
        fail("connect");
    setsockopt(way->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    close(listener);
}

static void begin_linked(struct way *way, const char *key)
{
    int tell[2];
    struct link_endpoint where;
    if (pipe(tell) != 0)
        fail("pipe");
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        struct side side = {.echoes = true};
        open_side(&side, key, 2);
        links_endpoint(side.links, &where);
        if (write(tell[1], &where, sizeof where) != (ssize_t)sizeof where)
            fail("pipe");
        meet(&side, 1, (struct link_endpoint){0}, false);
        for (;;)
            turn(&side);
    }
    if (read(tell[0], &where, sizeof where) != (ssize_t)sizeof where)
        fail("pipe");
    open_side(&way->side, key, 1);
    meet(&way->side, 2, where, true);
}

static void run(struct way *way, unsigned rounds, bool counts)
{
    for (unsigned round = 0; round < rounds; round++) {
        const int64_t took = way->side.links ? round_linked(&way->side) : round_bare(way->fd);
        if (counts)
            way->took[way->count++] = took;
    }
}

static int compare(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static double microseconds(const struct way *way, double part)
{
    return (double)way->took[(size_t)(part * (double)(way->count - 1))] / 1000;
}

int main(int count, char **words)
{
    const unsigned rounds = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : ROUNDS;
    char key[] = "/tmp/afteryou-bench-key-XXXXXX", secret[64] = "a key for the bench alone";
    struct way way[WAYS] = {{.name = "bare TCP"}, {.name = "plain link"}, {.name = "TLS link"}};
    const int fd = mkstemp(key);
    if (rounds == 0 || fd < 0 || write(fd, secret, sizeof secret) != (ssize_t)sizeof secret)
        fail("usage: bench-links [ROUNDS]");
    begin_bare(&way[BARE]);
    begin_linked(&way[PLAIN], NULL);
    begin_linked(&way[SECURED], key);
    unlink(key);
    for (unsigned at = 0; at < WAYS; at++) {
        way[at].took = calloc((size_t)rounds * PARTS, sizeof *way[at].took);
        if (!way[at].took)
            fail("calloc");
        run(&way[at], WARM_UP, false);
    }
    for (unsigned part = 0; part < PARTS; part++)
        for (unsigned at = 0; at < WAYS; at++)
            run(&way[at], rounds, true);
    printf("round trip of %d bytes, µs      p50      p99    p99.9    p50, bare = 1\n", BYTES);
    for (unsigned at = 0; at < WAYS; at++)
        qsort(way[at].took, way[at].count, sizeof *way[at].took, compare);
    for (unsigned at = 0; at < WAYS; at++)
        printf("%-26s %9.1f%9.1f%9.1f%17.2f\n", way[at].name, microseconds(&way[at], 0.5),
               microseconds(&way[at], 0.99), microseconds(&way[at], 0.999),
               microseconds(&way[at], 0.5) / microseconds(&way[BARE], 0.5));
    return 0;
}
