/* SPDX-License-Identifier: MIT */
/* Whoever else connects to an agent's port, or stands in the way of a link: it costs a line of log,
 * and nothing else. A link between a and b is there all the time; it must not notice. */
#include "ends.h"
#include "strangers.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CROWD = 1000, STRANGERS_AT_MOST = 64, HELLO_LENGTH = 104 };

static struct end a, b, c;
static struct links_options options;

static int begin(void **state)
{
    (void)state;
    options = (struct links_options){.cluster = "c",
                                     .key_file = key_path,
                                     .listen = "127.0.0.1",
                                     .silence_ms = 2 * LIMIT_S * 1000};
    end_open_as(&a, "a", 1, 100, &options);
    end_open_as(&b, "b", 2, 200, &options);
    introduce(&a, &b);
    UNTIL(a.ups == 1 && b.ups == 1);
    b.echoes = true;
    return 0;
}

/* The link has not noticed anything, and a has logged a line at most. */
static int finish(void **state)
{
    (void)state;
    const uint64_t before = a.packets;
    also = NULL;
    assert_true(send_text(&a, &b, "still there?"));
    UNTIL(a.packets == before + 1);
    assert_string_equal(b.trace, "up 1");
    assert_true(a.lines <= 1);
    assert_int_equal(b.lines, 0);
    end_close(&a);
    end_close(&b);
    return 0;
}

/* c is not linked, whatever it tries for a while. */
static void never_linked(const struct links_options *its)
{
    end_open_as(&c, "c", 3, 300, its);
    know(&c, &a, true);
    know(&a, &c, false);
    run_for(200);
    assert_int_equal(c.ups, 0);
    assert_string_equal(a.trace, "up 2");
}

static void join(const char *name)
{
    end_open_as(&c, name, 3, 300, &options);
    know(&a, &c, false);
    know(&c, &a, true);
    UNTIL(c.ups == 1 && a.ups == 2);
    end_close(&c);
    UNTIL(a.downs == 1);
    a.lines = 0;
}

/* ---- without the key ---- */

static void test_another_key(void **state)
{
    (void)state;
    struct links_options its = options;
    its.key_file = other_key_path;
    never_linked(&its);
    assert_int_equal(a.lines, 1);
    assert_non_null(strstr(a.line, "link-refused from=127.0.0.1:"));
    UNTIL(c.lines == 1); /* it says so itself, too */
    assert_non_null(strstr(c.line, "the same key"));
    end_close(&c);
}

static void test_another_cluster(void **state)
{
    (void)state;
    struct links_options its = options;
    its.cluster = "d";
    never_linked(&its);
    assert_int_equal(a.lines, 1);
    end_close(&c);
}

static void test_plain_to_secured(void **state)
{
    (void)state;
    struct links_options its = options;
    its.key_file = NULL;
    never_linked(&its);
    assert_int_equal(a.lines, 1);
    end_close(&c);
}

static void test_secured_to_plain(void **state)
{
    (void)state;
    struct links_options plain = options;
    plain.key_file = NULL;
    end_open_as(&c, "c", 3, 300, &plain);
    introduce(&a, &c);
    run_for(200);
    assert_int_equal(c.ups, 0);
    assert_string_equal(a.trace, "up 2");
    assert_int_equal(c.lines, 1);
    end_close(&c);
}

static void test_plain_ones_of_another_cluster(void **state)
{
    (void)state;
    struct end d;
    struct links_options plain = options;
    plain.key_file = NULL;
    end_open_as(&c, "c", 3, 300, &plain);
    plain.cluster = "d";
    end_open_as(&d, "d", 4, 400, &plain);
    introduce(&c, &d);
    run_for(100);
    assert_int_equal(c.ups + d.ups, 0);
    assert_non_null(strstr(d.line, "another cluster"));
    end_close(&c);
    end_close(&d);
}

static void test_tls_without_the_key(void **state)
{
    (void)state;
    const char *const offers[] = {"NORMAL", "NORMAL:-VERS-ALL:+VERS-TLS1.3",
                                  "NORMAL:-VERS-ALL:+VERS-TLS1.2:+PSK",
                                  "NORMAL:-VERS-ALL:+VERS-TLS1.3:+ECDHE-PSK:+PSK"};
    for (size_t at = 0; at < sizeof offers / sizeof *offers; at++)
        assert_true(stranger_shakes_hands(connect_from("127.0.0.1", end_port(&a)), offers[at]) < 0);
    assert_int_equal(a.lines, 1);
}

/* One that waits where an agent is expected, with a certificate of its own. */
static void test_a_server_without_the_key(void **state)
{
    (void)state;
    uint16_t port;
    struct end gone = {.slot = 3, .incarnation = 300};
    const int listener = stranger_listens(&port);
    know_at(&a, &gone, port, true);
    assert_true(stranger_serves(listener) < 0);
    assert_string_equal(a.trace, "up 2");
    links_forget(a.links, 3, 300);
    close(listener);
}

/* ---- without sense ---- */

static void test_garbage(void **state)
{
    (void)state;
    for (unsigned times = 0; times < 200; times++) {
        uint8_t bytes[4096];
        const size_t length = (size_t)rand() % sizeof bytes;
        for (size_t at = 0; at < length; at++)
            bytes[at] = (uint8_t)rand();
        const int fd = connect_from("127.0.0.1", end_port(&a));
        step(1);
        (void)!send(fd, bytes, length, MSG_NOSIGNAL);
        step(1);
        close(fd);
    }
    run_for(50);
    assert_int_equal(a.lines, 1);
}

static void test_a_port_scanner(void **state)
{
    (void)state;
    for (unsigned times = 0; times < 200; times++) {
        close(connect_from("127.0.0.1", end_port(&a)));
        step(0);
    }
    run_for(50);
    assert_int_equal(a.lines, 1);
    assert_non_null(strstr(a.line, "why="));
}

/* ---- what was recorded ---- */

/* c has been linked by way of one that wrote down all it sent. */
static void record(struct tap *tap, const struct links_options *its)
{
    tap_open(tap, end_port(&a));
    end_open_as(&c, "c", 3, 300, its);
    know(&a, &c, false);
    know_at(&c, &a, tap->port, true);
    UNTIL(c.ups == 1 && a.ups == 2);
    for (unsigned times = 0; times < 10; times++)
        assert_true(send_text(&c, &a, "a packet of c's"));
    UNTIL(a.packets == 10);
    end_close(&c);
    tap_close(tap);
    UNTIL(a.downs == 1);
    a.lines = 0;
}

static void say(int fd, const uint8_t *bytes, size_t length)
{
    for (size_t done = 0; done < length; step(1)) {
        const ssize_t sent = send(fd, bytes + done, length - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINPROGRESS && errno != ENOTCONN)
            return;
        done += sent > 0 ? (size_t)sent : 0;
    }
}

static void test_a_replay(void **state)
{
    (void)state;
    struct tap tap;
    record(&tap, &options);
    assert_true(tap.length > 500);
    const int fd = connect_from("127.0.0.1", end_port(&a));
    say(fd, tap.bytes, tap.length);
    run_for(100);
    assert_int_equal(a.packets, 10);
    assert_string_equal(a.trace, "up 2 / up 3 / down 3");
    assert_int_equal(a.lines, 1);
    close(fd);
    tap_forget(&tap);
}

/* A part of it, with or without a bit that is turned, and then nothing, an end, or garbage. */
static void test_replays_that_go_wrong(void **state)
{
    (void)state;
    struct tap tap;
    record(&tap, &options);
    for (unsigned times = 0; times < 150; times++) {
        const size_t length = 1 + (size_t)rand() % tap.length;
        uint8_t *bytes = malloc(length);
        memcpy(bytes, tap.bytes, length);
        bytes[(size_t)rand() % length] ^= (uint8_t)(1 << rand() % 8);
        const int fd = connect_from("127.0.0.1", end_port(&a));
        step(1);
        say(fd, bytes, length);
        free(bytes);
        close(fd);
    }
    run_for(50);
    assert_int_equal(a.packets, 10);
    assert_string_equal(a.trace, "up 2 / up 3 / down 3");
    assert_true(a.lines <= 1);
    tap_forget(&tap);
}

/* Who dials hears its own words, encrypted by its own key: they are not another's. */
static void test_a_mirror(void **state)
{
    (void)state;
    struct tap tap;
    struct end other = {.slot = 3, .incarnation = 300};
    tap_open(&tap, end_port(&a));
    know_at(&a, &other, tap.port, true);
    run_for(300);
    assert_true(tap.length > 0); /* it has been tried */
    assert_string_equal(a.trace, "up 2");
    links_forget(a.links, 3, 300);
    tap_close(&tap);
    tap_forget(&tap);
}

/* A plain link: its hello is right, and what follows makes no sense. */
static void test_packets_without_sense(void **state)
{
    (void)state;
    const uint32_t heads[] = {
        0, 0xffffffff, 1U << 24, (1U << 24) + LINK_PACKET_MOST + 1, (2U << 24) + 9, (4U << 24) + 1};
    struct end plain;
    struct links_options its = options;
    its.key_file = NULL;
    for (size_t at = 0; at < sizeof heads / sizeof *heads; at++) {
        struct tap tap;
        end_open_as(&plain, "plain", 1, 100, &its);
        end_open_as(&c, "c", 3, 300, &its);
        tap_open(&tap, end_port(&plain));
        know(&plain, &c, false);
        know_at(&c, &plain, tap.port, true);
        UNTIL(plain.ups == 1);
        end_close(&c);
        UNTIL(plain.downs == 1);
        const int fd = connect_from("127.0.0.1", end_port(&plain));
        say(fd, tap.bytes, HELLO_LENGTH);
        UNTIL(plain.ups == 2);
        say(fd, (const uint8_t *)&heads[at], sizeof heads[at]);
        UNTIL(plain.downs == 2);
        assert_non_null(strstr(plain.line, "makes no sense"));
        assert_int_equal(plain.packets, 0);
        close(fd);
        tap_close(&tap);
        tap_forget(&tap);
        end_close(&plain);
    }
}

/* ---- many, and slow ones ---- */

static int crowd[CROWD];

static void gather(const char *from)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (unsigned at = 0; at < CROWD; at++) {
        crowd[at] = connect_from(from, end_port(&a));
        step(0);
    }
}

/* How many of them are still connected. */
static unsigned count_crowd(void)
{
    unsigned count = 0;
    for (unsigned at = 0; at < CROWD; at++) {
        char byte;
        const ssize_t got = recv(crowd[at], &byte, 1, MSG_DONTWAIT);
        count += got < 0 && errno == EAGAIN;
    }
    return count;
}

static void disperse(void)
{
    for (unsigned at = 0; at < CROWD; at++)
        close(crowd[at]);
}

/* From elsewhere, and from where a peer is expected, too: that one comes in all the same. */
static void test_a_thousand_connections(void **state)
{
    (void)state;
    const char *const places[] = {"127.0.0.2", "127.0.0.1"};
    for (size_t at = 0; at < 2; at++) {
        gather(places[at]);
        UNTIL(count_crowd() <= STRANGERS_AT_MOST);
        assert_int_equal(a.lines, at == 0); /* not another one so soon */
        a.ups = 1, a.downs = 0;
        join("one of us");
        disperse();
    }
    strcpy(a.trace, "");
}

/* One of us that is in the middle of its handshake is not crowded out from elsewhere. */
static void test_a_crowd_in_between(void **state)
{
    (void)state;
    struct tap tap;
    tap_open(&tap, end_port(&a));
    end_open_as(&c, "c", 3, 300, &options);
    know(&a, &c, false);
    know_at(&c, &a, tap.port, true);
    UNTIL(tap.length > 0);
    tap.frozen = true;
    gather("127.0.0.2");
    UNTIL(count_crowd() < STRANGERS_AT_MOST);
    tap.frozen = false;
    UNTIL(c.ups == 1 && a.ups == 2);
    assert_int_equal(tap.connections, 1);
    disperse();
    end_close(&c);
    UNTIL(a.downs == 1);
    assert_non_null(strstr(a.line, "link-down"));
    a.lines = 0;
    tap_close(&tap);
    tap_forget(&tap);
}

static void test_a_slow_handshake(void **state)
{
    (void)state;
    struct tap tap;
    char byte;
    record(&tap, &options);
    options.silence_ms = SHORT_SILENCE_MS;
    end_open_as(&c, "c", 3, 300, &options);
    const int fd = connect_from("127.0.0.1", end_port(&c));
    size_t said = 0;
    for (const int64_t began = began_now();
         recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == ENOTCONN);
         run_for(10)) {
        run_out("the slow one is turned away", began);
        if (said < 100) /* which is not even its first message */
            said += send(fd, tap.bytes + said, 1, MSG_NOSIGNAL) == 1;
    }
    assert_true(said > 1);
    assert_int_equal(c.lines, 1);
    assert_non_null(strstr(c.line, "not done in time"));
    close(fd);
    end_close(&c);
    tap_forget(&tap);
}

/* The cable is cut without a word. */
static void test_half_open(void **state)
{
    (void)state;
    struct tap tap;
    struct end d;
    options.silence_ms = SHORT_SILENCE_MS;
    tap_open(&tap, 0);
    end_open_as(&c, "c", 3, 300, &options);
    end_open_as(&d, "d", 4, 400, &options);
    tap.to = end_port(&d);
    know(&d, &c, false);
    know_at(&c, &d, tap.port, true);
    UNTIL(c.ups == 1 && d.ups == 1);
    tap.frozen = true;
    UNTIL(c.downs == 1 && d.downs == 1);
    tap_close(&tap);
    tap.frozen = false;
    tap_forget(&tap);
    end_close(&c);
    end_close(&d);
}

static void test_no_descriptors_left(void **state)
{
    (void)state;
    enum { SOME = 5 };
    int waiting[SOME];
    struct rlimit before, none;
    for (unsigned at = 0; at < SOME; at++)
        waiting[at] = stranger_socket();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    const int next = dup(STDIN_FILENO);
    none.rlim_cur = (rlim_t)next;
    close(next);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (unsigned at = 0; at < SOME; at++)
        stranger_connects(waiting[at], end_port(&a));
    const unsigned dispatches = a.dispatches;
    run_for(500);
    assert_true(a.dispatches - dispatches < 50); /* it does not turn in circles */
    assert_int_equal(a.lines, 1);
    assert_true(send_text(&a, &b, "without a descriptor"));
    UNTIL(a.packets == 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    join("one of us");
    strcpy(a.trace, "");
    for (unsigned at = 0; at < SOME; at++)
        close(waiting[at]);
}

int main(void)
{
#define HOSTILE(test) cmocka_unit_test_setup_teardown(test, begin, finish)
    const struct CMUnitTest tests[] = {
        HOSTILE(test_another_key),
        HOSTILE(test_another_cluster),
        HOSTILE(test_plain_to_secured),
        HOSTILE(test_secured_to_plain),
        HOSTILE(test_plain_ones_of_another_cluster),
        HOSTILE(test_tls_without_the_key),
        HOSTILE(test_a_server_without_the_key),
        HOSTILE(test_garbage),
        HOSTILE(test_a_port_scanner),
        HOSTILE(test_a_replay),
        HOSTILE(test_replays_that_go_wrong),
        HOSTILE(test_a_mirror),
        HOSTILE(test_packets_without_sense),
        HOSTILE(test_a_thousand_connections),
        HOSTILE(test_a_crowd_in_between),
        HOSTILE(test_a_slow_handshake),
        HOSTILE(test_half_open),
        HOSTILE(test_no_descriptors_left),
    };
    return cmocka_run_group_tests_name("links and strangers", tests, make_keys, remove_keys);
}
