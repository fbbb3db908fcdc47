/* SPDX-License-Identifier: MIT */
/* Ends of links in one process: see ends.h. */
#include "ends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

static struct end *ends[ENDS_MOST];
static bool told_now; /* callbacks may come: set around links_dispatch() and links_tick() */
static char directory[] = "/tmp/afteryou-links-XXXXXX";
char key_path[64], other_key_path[64];
void (*also)(void);

/* ---- keys ---- */

static void write_key(const char *path, int byte)
{
    uint8_t key[256];
    memset(key, byte, sizeof key);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, key, sizeof key), sizeof key);
    close(fd);
}

int make_keys(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(key_path, sizeof key_path, "%s/key", directory);
    snprintf(other_key_path, sizeof other_key_path, "%s/other", directory);
    write_key(key_path, 'k');
    write_key(other_key_path, 'o');
    return 0;
}

int remove_keys(void **state)
{
    (void)state;
    unlink(key_path);
    unlink(other_key_path);
    return rmdir(directory);
}

/* ---- what an end is told ---- */

static void note(struct end *end, const char *what, uint32_t slot)
{
    assert_true(told_now);
    const size_t length = strlen(end->trace);
    snprintf(end->trace + length, sizeof end->trace - length, "%s%s %u", length ? " / " : "", what,
             slot);
}

static void on_up(void *arg, uint32_t slot, uint64_t incarnation)
{
    struct end *end = arg;
    assert_true(incarnation != 0);
    end->ups++;
    note(end, "up", slot);
}

static void on_down(void *arg, uint32_t slot, uint64_t incarnation)
{
    struct end *end = arg;
    assert_true(incarnation != 0);
    end->downs++;
    note(end, "down", slot);
    assert_false(links_send(end->links, slot, incarnation, "x", 1));
}

static void on_received(void *arg, uint32_t slot, uint64_t incarnation, const void *bytes,
                        size_t length)
{
    struct end *end = arg;
    assert_true(told_now);
    assert_true(length > 0 && length <= LINK_PACKET_MOST);
    memcpy(end->last, bytes, length);
    end->last_length = length;
    end->packets++;
    end->octets += length;
    if (end->echoes)
        links_send(end->links, slot, incarnation, bytes, length);
    if (end->on_packet)
        end->on_packet(end, slot, incarnation);
}

static void on_line(void *arg, enum log_level level, const char *event, const char *details)
{
    struct end *end = arg;
    assert_true(told_now);
    if (level < LOG_WARNING)
        return;
    end->lines++;
    snprintf(end->line, sizeof end->line, "%s %s", event, details);
}

/* ---- life ---- */

void end_open_as(struct end *end, const char *name, uint32_t slot, uint64_t incarnation,
                 const struct links_options *options)
{
    char trouble[256] = "";
    const struct links_events events = {
        .arg = end, .up = on_up, .down = on_down, .received = on_received, .log = on_line};
    *end = (struct end){.name = name, .slot = slot, .incarnation = incarnation};
    end->last = malloc(LINK_PACKET_MOST);
    assert_non_null(end->last);
    end->links = links_open(options, &events, trouble, sizeof trouble);
    if (!end->links)
        fail_msg("%s: %s", name, trouble);
    links_self(end->links, incarnation);
    for (unsigned at = 0; at < ENDS_MOST; at++)
        if (!ends[at]) {
            ends[at] = end;
            return;
        }
    fail_msg("too many ends");
}

void end_open(struct end *end, const char *name, uint32_t slot, uint64_t incarnation)
{
    end_open_as(
        end, name, slot, incarnation,
        &(struct links_options){.cluster = "c", .key_file = key_path, .listen = "127.0.0.1"});
}

void end_close(struct end *end)
{
    for (unsigned at = 0; at < ENDS_MOST; at++)
        if (ends[at] == end)
            ends[at] = NULL;
    links_close(end->links);
    free(end->last);
}

uint16_t end_port(const struct end *end)
{
    struct link_endpoint where;
    links_endpoint(end->links, &where);
    return where.port;
}

void know_at(struct end *end, const struct end *peer, uint16_t port, bool dial)
{
    struct link_endpoint where;
    assert_true(link_endpoint_parse("127.0.0.1", port, &where));
    links_peer(end->links, peer->slot, peer->incarnation, &where, dial);
}

void know(struct end *end, const struct end *peer, bool dial)
{
    know_at(end, peer, end_port(peer), dial);
}

void introduce(struct end *one, struct end *other)
{
    know(one, other, true);
    know(other, one, false);
}

bool send_text(struct end *from, const struct end *to, const char *text)
{
    return links_send(from->links, to->slot, to->incarnation, text, strlen(text) + 1);
}

/* ---- the loop ---- */

void step(int patience_ms)
{
    struct pollfd fds[ENDS_MOST];
    for (unsigned at = 0; at < ENDS_MOST; at++) {
        struct end *end = ends[at];
        fds[at] = (struct pollfd){.fd = -1};
        if (!end || end->stopped)
            continue;
        told_now = true;
        const int64_t again = links_tick(end->links);
        told_now = false;
        patience_ms = again / 1000000 < patience_ms ? (int)(again / 1000000) : patience_ms;
        fds[at] = (struct pollfd){.fd = links_fd(end->links), .events = POLLIN};
    }
    assert_true(poll(fds, ENDS_MOST, patience_ms) >= 0);
    for (unsigned at = 0; at < ENDS_MOST; at++) {
        if (!fds[at].revents)
            continue;
        told_now = true;
        ends[at]->dispatches++;
        links_dispatch(ends[at]->links);
        told_now = false;
    }
    if (also)
        also();
}

int64_t began_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

void run_out(const char *what, int64_t began)
{
    if (began_now() - began < (int64_t)LIMIT_S * 1000000000)
        return;
    for (unsigned at = 0; at < ENDS_MOST; at++)
        if (ends[at])
            print_message("%s: %s; %s\n", ends[at]->name, ends[at]->trace, ends[at]->line);
    fail_msg("not in %d s: %s", LIMIT_S, what);
}

void run_for(int milliseconds)
{
    const int64_t until = began_now() + (int64_t)milliseconds * 1000000;
    while (began_now() < until)
        step(10);
}

int connect_from(const char *address, uint16_t port)
{
    struct sockaddr_in own = {.sin_family = AF_INET},
                       there = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &own.sin_addr);
    inet_pton(AF_INET, "127.0.0.1", &there.sin_addr);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    if (connect(fd, (struct sockaddr *)&there, sizeof there) != 0)
        assert_int_equal(errno, EINPROGRESS);
    return fd;
}
