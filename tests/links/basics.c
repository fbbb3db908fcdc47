/* SPDX-License-Identifier: MIT */
/* Links between agents that mean well: what links.h promises. */
#include "pair.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- packets ---- */

static void exchange(const struct links_options *options)
{
    link_both(options);
    assert_true(send_text(&a, &b, "from a"));
    assert_true(send_text(&b, &a, "from b"));
    UNTIL(a.packets == 1 && b.packets == 1);
    assert_string_equal((char *)b.last, "from a");
    assert_string_equal((char *)a.last, "from b");
    assert_string_equal(a.trace, "up 2");
    assert_string_equal(b.trace, "up 1");
    close_both();
}

static void test_both_ways(void **state)
{
    (void)state;
    exchange(secured());
}

static void test_plain_ones(void **state)
{
    (void)state;
    exchange(&(struct links_options){.cluster = "c", .listen = "127.0.0.1"});
}

static void test_on_all_addresses(void **state)
{
    (void)state;
    struct link_endpoint where;
    exchange(&(struct links_options){.cluster = "c", .key_file = key_path});
    end_open_as(&a, "a", 1, 100, &(struct links_options){.cluster = "c", .key_file = key_path});
    links_endpoint(a.links, &where);
    assert_int_equal(where.family, 0); /* the caller knows by which one it is reached */
    assert_true(where.port != 0);
    end_close(&a);
}

static void test_by_the_other_family(void **state)
{
    (void)state;
    struct link_endpoint where;
    struct links_options options = *secured();
    options.listen = "::1";
    const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const bool possible = fd >= 0 && bind(fd, (const struct sockaddr *)&own, sizeof own) == 0;
    close(fd);
    if (!possible)
        skip(); /* a machine without it */
    open_both(&options);
    links_endpoint(b.links, &where);
    assert_int_equal(where.family, 6);
    links_peer(a.links, b.slot, b.incarnation, &where, true);
    links_endpoint(a.links, &where);
    links_peer(b.links, a.slot, a.incarnation, &where, false);
    UNTIL(a.ups == 1 && b.ups == 1);
    close_both();
}

static uint64_t next_number;

static void see_number(struct end *end, uint32_t slot, uint64_t incarnation)
{
    uint64_t number;
    (void)slot, (void)incarnation;
    memcpy(&number, end->last, sizeof number);
    assert_int_equal(number, next_number++);
}

/* More than a set of keys is used for, too. */
static void test_in_order_each_once(void **state)
{
    (void)state;
    const uint64_t many = 300000;
    link_both(secured());
    b.on_packet = see_number;
    next_number = 0;
    for (uint64_t number = 0; number < many; number++) {
        assert_true(links_send(a.links, 2, 200, &number, sizeof number));
        links_flush(a.links); /* each is a record */
        if (number % 64 == 0)
            step(0);
    }
    UNTIL(b.packets == many);
    assert_int_equal(a.downs + b.downs, 0);
    close_both();
}

/* What is said before the next flush arrives together. */
static void test_as_one(void **state)
{
    (void)state;
    const uint64_t some = 50;
    link_both(secured());
    for (uint64_t number = 0; number < some; number++)
        assert_true(links_send(a.links, 2, 200, &number, sizeof number));
    run_for(20);
    assert_int_equal(b.packets, some);
    b.packets = 0;
    a.stopped = true;
    assert_true(links_send(a.links, 2, 200, &some, sizeof some));
    run_for(20);
    assert_int_equal(b.packets, 0);
    links_flush(a.links);
    UNTIL(b.packets == 1);
    a.stopped = false;
    close_both();
}

/* A nudge is no packet, and nothing where there is no link. */
static void test_nudged(void **state)
{
    (void)state;
    link_both(secured());
    const unsigned dispatches = b.dispatches;
    links_nudge(a.links, 2, 200);
    UNTIL(b.dispatches > dispatches);
    links_nudge(a.links, 2, 201); /* another incarnation */
    links_nudge(a.links, 3, 300);
    assert_true(send_text(&a, &b, "after it"));
    UNTIL(b.packets > 0);
    assert_int_equal(b.packets, 1);
    close_both();
}

/* The largest one is several records, each other length is received as it was sent. */
static void test_every_length(void **state)
{
    (void)state;
    static uint8_t packet[LINK_PACKET_MOST];
    link_both(secured());
    for (size_t at = 0; at < sizeof packet; at++)
        packet[at] = (uint8_t)(at * 7);
    const size_t lengths[] = {1, 2, 1000, 16383, 16384, 16385, LINK_PACKET_MOST};
    for (size_t at = 0; at < sizeof lengths / sizeof *lengths; at++) {
        assert_true(links_send(a.links, 2, 200, packet, lengths[at]));
        UNTIL(b.packets == at + 1);
        assert_int_equal(b.last_length, lengths[at]);
        assert_memory_equal(b.last, packet, lengths[at]);
    }
    close_both();
}

/* ---- who is linked ---- */

static void test_only_when_both_know(void **state)
{
    (void)state;
    open_both(secured());
    know(&a, &b, true);
    run_for(100);
    assert_int_equal(a.ups + b.ups, 0);
    assert_false(send_text(&a, &b, "too early"));
    know(&b, &a, false);
    UNTIL(a.ups == 1 && b.ups == 1);
    assert_int_equal(b.lines, 0); /* that it comes too early is as usual */
    close_both();
}

static void test_the_dialled_one_comes_later(void **state)
{
    (void)state;
    open_both(secured());
    const uint16_t port = end_port(&b);
    know(&a, &b, true);
    end_close(&b);
    run_for(100);
    assert_int_equal(a.ups, 0);
    struct links_options options = *secured();
    options.port = port;
    end_open_as(&b, "b", 2, 200, &options);
    know(&b, &a, false);
    UNTIL(a.ups == 1 && b.ups == 1);
    close_both();
}

static void test_another_incarnation_is_refused(void **state)
{
    (void)state;
    open_both(secured());
    links_self(b.links, 201); /* a means 200 */
    introduce(&a, &b);
    run_for(100);
    assert_int_equal(a.ups + b.ups, 0);
    links_self(a.links, 101); /* b knows 100; and a must be told anew whom it knows */
    b.incarnation = 201;
    know(&a, &b, true);
    run_for(100);
    assert_int_equal(a.ups + b.ups, 0);
    a.incarnation = 101;
    know(&b, &a, false); /* in the slot of 100 */
    UNTIL(a.ups == 1 && b.ups == 1);
    close_both();
}

/* Whom the ledger has buried is not heard any more, whatever it has sent. */
static void test_forgotten(void **state)
{
    (void)state;
    link_both(secured());
    assert_true(send_text(&a, &b, "unread"));
    links_forget(b.links, 1, 100);
    UNTIL(a.downs == 1);
    run_for(100);
    assert_int_equal(b.packets, 0);
    assert_string_equal(b.trace, "up 1"); /* no down: it knows */
    assert_false(send_text(&b, &a, "forgotten"));
    close_both();
}

static void forget_at_first(struct end *end, uint32_t slot, uint64_t incarnation)
{
    links_forget(end->links, slot, incarnation);
}

/* Both packets come at once. */
static void test_forgotten_while_receiving(void **state)
{
    (void)state;
    struct links_options plain = *secured();
    plain.key_file = NULL;
    const struct links_options *const kinds[] = {secured(), &plain};
    for (size_t at = 0; at < 2; at++) {
        link_both(kinds[at]);
        b.on_packet = forget_at_first;
        assert_true(send_text(&a, &b, "first"));
        assert_true(send_text(&a, &b, "second"));
        UNTIL(a.downs == 1);
        assert_int_equal(b.packets, 1);
        close_both();
    }
}

static void be_nobody(struct end *end, uint32_t slot, uint64_t incarnation)
{
    (void)slot, (void)incarnation;
    links_self(end->links, 0);
}

static void test_nobody_has_no_links(void **state)
{
    (void)state;
    link_both(secured());
    b.on_packet = be_nobody;
    assert_true(send_text(&a, &b, "first"));
    UNTIL(a.downs == 1);
    run_for(100);
    assert_string_equal(b.trace, "up 1");
    assert_string_equal(a.trace, "up 2 / down 2");
    links_self(b.links, 200);
    know(&b, &a, false);
    UNTIL(a.ups == 2 && b.ups == 2);
    close_both();
}

/* The one that dials begins anew, and the other has not noticed that the old link is over. */
static void test_a_newer_connection_replaces(void **state)
{
    (void)state;
    struct end again;
    link_both(secured());
    a.stopped = true;
    end_open_as(&again, "a again", 1, 100, secured());
    know(&again, &b, true);
    UNTIL(again.ups == 1 && b.ups == 2);
    assert_string_equal(b.trace, "up 1 / down 1 / up 1");
    assert_true(send_text(&again, &b, "newer"));
    UNTIL(b.packets == 1);
    end_close(&again);
    close_both();
}

static bool is_readable(const struct end *end)
{
    struct pollfd fd = {.fd = links_fd(end->links), .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

/* Whoever waits for links_fd() when a peer is told of, as late as it was told to, is woken. */
static void test_whoever_waits_is_woken(void **state)
{
    (void)state;
    open_both(secured());
    run_for(50);
    assert_false(is_readable(&a));
    know(&a, &b, true);
    assert_true(is_readable(&a));
    close_both();
}

/* ---- breaks ---- */

static void test_dialled_again(void **state)
{
    (void)state;
    struct links_options options = *secured();
    link_both(secured());
    options.port = end_port(&b);
    end_close(&b);
    UNTIL(a.downs == 1);
    end_open_as(&b, "b", 2, 200, &options);
    know(&b, &a, false);
    UNTIL(a.ups == 2 && b.ups == 1);
    struct link_figures figures;
    assert_true(links_figures(a.links, 2, &figures));
    assert_true(figures.up && figures.dialled);
    assert_int_equal(figures.breaks, 1);
    close_both();
}

static void test_one_that_stops_reading(void **state)
{
    (void)state;
    static uint8_t packet[65536];
    struct end c;
    link_both(secured());
    end_open_as(&c, "c", 3, 300, secured());
    introduce(&a, &c);
    UNTIL(c.ups == 1 && a.ups == 2);
    c.echoes = true;
    b.stopped = true;
    unsigned sent = 0;
    while (links_send(a.links, 2, 200, packet, sizeof packet)) {
        assert_true(++sent < 10000);
        assert_true(send_text(&a, &c, "meanwhile"));
        step(0);
    }
    assert_int_equal(a.downs, 0); /* not out of links_send() */
    assert_true(is_readable(&a)); /* but soon */
    assert_false(links_send(a.links, 2, 200, packet, 1));
    UNTIL(a.downs == 1);
    assert_string_equal(a.trace, "up 2 / up 3 / down 2");
    UNTIL(a.packets == c.packets && c.packets == sent);
    assert_int_equal(a.lines, 1);
    end_close(&c);
    close_both();
}

static void test_one_that_falls_silent(void **state)
{
    (void)state;
    struct links_options options = *secured();
    options.silence_ms = SHORT_SILENCE_MS;
    link_both(&options);
    run_for(2 * SHORT_SILENCE_MS); /* nobody has anything to say, and the link holds */
    assert_int_equal(a.downs + b.downs, 0);
    b.stopped = true;
    UNTIL(a.downs == 1);
    assert_non_null(strstr(a.line, "nothing was heard"));
    b.stopped = false;
    UNTIL(b.downs >= 1 && b.ups >= 2 && a.ups >= 2);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_plain_ones),
        cmocka_unit_test(test_on_all_addresses),
        cmocka_unit_test(test_by_the_other_family),
        cmocka_unit_test(test_in_order_each_once),
        cmocka_unit_test(test_as_one),
        cmocka_unit_test(test_nudged),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_only_when_both_know),
        cmocka_unit_test(test_the_dialled_one_comes_later),
        cmocka_unit_test(test_another_incarnation_is_refused),
        cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_forgotten_while_receiving),
        cmocka_unit_test(test_nobody_has_no_links),
        cmocka_unit_test(test_a_newer_connection_replaces),
        cmocka_unit_test(test_whoever_waits_is_woken),
        cmocka_unit_test(test_dialled_again),
        cmocka_unit_test(test_one_that_stops_reading),
        cmocka_unit_test(test_one_that_falls_silent),
    };
    return cmocka_run_group_tests_name("links between agents", tests, make_keys, remove_keys);
}
