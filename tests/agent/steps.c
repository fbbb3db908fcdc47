/* SPDX-License-Identifier: MIT */
/* The agent with its surroundings, but for what carries its parcels: what is published and what the
 * agent knows stay the same, whatever comes in one turn of its loop. Beside it another agent, of
 * which nothing but the core is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/core/parts.h"
#include "agent/host/local.h"
#include "agent/host/steps.h"
#include "agent/host/transport.h"
#include "common/clock.h"
#include "common/clusters.h"
#include "protocols/messages/catalogue.h"

enum { NAMES_HERE = 16, PARCELS_MOST = 4096, WAIT_MS = 20000, OTHER = 2 };

static char directory[] = "/dev/shm/afteryou-test-XXXXXX";
static struct service service; /* machine 1 */
static const struct service_options options = {.cluster = "c"};
static struct agent other; /* machine 2 */
static struct agent_effects other_effects;
static unsigned other_mode;
static unsigned to_take_back; /* there: PERMISSION_… */

/* ---- the ledger ---- */

static struct {
    uint32_t node;
    size_t length;
    uint8_t *bytes;
} ledger[PARCELS_MOST];
static unsigned said, heard[OTHER + 1];

static void say(uint32_t node, const void *bytes, size_t length)
{
    assert_true(said < PARCELS_MOST);
    ledger[said].node = node;
    ledger[said].length = length;
    ledger[said].bytes = malloc(length);
    assert_non_null(ledger[said].bytes);
    memcpy(ledger[said++].bytes, bytes, length);
}

void transport_send(struct transport *transport, const void *bytes, size_t length)
{
    (void)transport;
    say(1, bytes, length);
}

bool transport_is_full(const struct transport *transport)
{
    (void)transport;
    return false;
}

const char *transport_name(const struct transport *transport)
{
    (void)transport;
    return "one";
}

const char *transport_address(const struct transport *transport)
{
    (void)transport;
    return "";
}

/* ---- the other machine: nobody is ever inside there ---- */

static void feed_other(struct agent_event event)
{
    event.now = clock_ns(CLOCK_BOOTTIME);
    agent_step(&other, &event, &other_effects);
    for (unsigned at = 0; at < other_effects.count; at++) {
        const struct agent_effect *effect = &other_effects.effect[at];
        if (effect->kind == DO_SEND)
            say(OTHER, effect->send.bytes, effect->send.length);
        else if (effect->kind == DO_GRANT)
            other_mode = effect->grant.mode;
        else if (effect->kind == DO_TAKE_BACK)
            to_take_back = effect->mode;
    }
}

static void take_back_there(void)
{
    const unsigned mode = to_take_back;
    if (mode == PERMISSION_NONE)
        return;
    to_take_back = PERMISSION_NONE;
    other_mode = permission_beside(other_mode, mode);
    feed_other((struct agent_event){.kind = ON_TAKEN_BACK,
                                    .taken_back = {.withdrawn = true, .mode = (uint8_t)mode}});
}

/* ---- both ---- */

static void hear_next(uint32_t node)
{
    const unsigned at = heard[node]++;
    const struct agent_event event = {.kind = ON_PARCEL,
                                      .parcel = {.from = {.node = ledger[at].node, .pid = 7},
                                                 .bytes = ledger[at].bytes,
                                                 .length = ledger[at].length}};
    if (node == OTHER)
        feed_other(event);
    else
        service_step(&service, event);
}

/* What the loop does at the end of each turn. */
static void end_turn(void)
{
    local_tick(service.local);
    for (struct local_news news; local_next(service.local, &news);)
        if (news.kind == LOCAL_TAKEN_BACK)
            service_step(&service, (struct agent_event){.kind = ON_TAKEN_BACK,
                                                        .resource = news.resource,
                                                        .taken_back = {.withdrawn = news.withdrawn,
                                                                       .mode = news.mode,
                                                                       .death = news.death,
                                                                       .number = news.number}});
}

static unsigned published(void)
{
    return permission_mode(atomic_load(&service.pages.map->permission[0].granted));
}

static void assert_agreed(void)
{
    const struct resource *resource = &service.agent.resource[0];
    assert_int_equal(published(), resource->granted ? resource->mode : PERMISSION_NONE);
}

/* All that has been said is heard, and time goes on a little. */
static void run(void)
{
    while (heard[1] < said || heard[OTHER] < said) {
        const uint32_t node = heard[1] < said ? 1 : OTHER;
        hear_next(node);
        end_turn();
        take_back_there();
    }
    assert_agreed();
    service_step(&service, (struct agent_event){.kind = ON_TICK});
    feed_other((struct agent_event){.kind = ON_TICK});
    usleep(1000);
}

static struct demand demand_for(enum demand_kind kind, unsigned mode)
{
    return (struct demand){.magic = DEMAND_MAGIC,
                           .kind = (uint8_t)kind,
                           .mode = (uint8_t)mode,
                           .length = 5,
                           .name = "thing"};
}

static void want(uint32_t node, enum demand_kind kind, unsigned mode)
{
    const struct demand demand = demand_for(kind, mode);
    const struct agent_event event = {.kind = ON_DEMAND, .demand = {.what = &demand}};
    if (node == OTHER)
        feed_other(event);
    else
        service_step(&service, event);
}

static void until(bool (*so)(void))
{
    for (unsigned tries = 0; tries < WAIT_MS && !so(); tries++)
        run();
    assert_true(so());
}

static bool are_ready(void)
{
    return agent_is_ready(&service.agent) && agent_is_ready(&other);
}

static bool one_has_some(void)
{
    return published() == PERMISSION_CONCURRENT_READ;
}

static bool other_has_all(void)
{
    assert_true(other_mode != PERMISSION_EXCLUSIVE || published() == PERMISSION_NONE);
    return other_mode == PERMISSION_EXCLUSIVE;
}

static void *obtain(size_t size)
{
    void *memory = calloc(1, size);
    assert_non_null(memory);
    return memory;
}

static void begin(struct agent *agent, struct agent_effects *effects, uint64_t nonce)
{
    const struct agent_options its = {.protocol = &carvalho_roucairol_protocol,
                                      .links = true, /* and none of them stands */
                                      .lease = 10000LL * MS,
                                      .grace = 20000LL * MS,
                                      .pages = nonce,
                                      .nonce = nonce,
                                      .names = NAMES_HERE};
    effects->room = EFFECTS_A_NAME * agent_entries(NAMES_HERE);
    effects->effect = obtain(effects->room * sizeof *effects->effect);
    agent_begin(agent, &its, obtain(agent_room(&its)));
}

static int set_up(void **state)
{
    (void)state;
    char trouble[PATH_MAX + 256];
    const struct pages_options pages = {
        .cluster = "c", .protocol = "carvalho-roucairol", .lease = MS, .grace = 2 * MS};
    strcpy(directory, "/dev/shm/afteryou-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    setenv(CLUSTERS_ENVIRONMENT, directory, 1);
    service = (struct service){.options = &options, .socket = -1};
    pthread_mutex_init(&service.mutex, NULL);
    assert_true(view_file_open(&service.view_file, directory, "c", trouble, sizeof trouble));
    assert_int_equal(
        directory_open(&service.directory, "c", 0600, (gid_t)-1, trouble, sizeof trouble), 0);
    assert_int_equal(
        pages_open(&service.pages, &service.directory, &pages, trouble, sizeof trouble), 0);
    service.local = local_open(&service.directory, &service.pages, trouble, sizeof trouble);
    assert_non_null(service.local);
    begin(&service.agent, &service.effects, 1);
    begin(&other, &other_effects, 2);
    const struct agent_event connected = {.kind = ON_CONNECTED,
                                          .connected = {.self = {.node = 1, .pid = 7}, .nodes = 2}};
    struct agent_event there = connected;
    there.connected.self.node = OTHER;
    service_step(&service, connected);
    feed_other(there);
    until(are_ready);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    local_close(service.local);
    pages_close(&service.pages);
    directory_close(&service.directory);
    for (unsigned at = 0; at < said; at++)
        free(ledger[at].bytes);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

/* Here somebody asks for more beside what there is, and there somebody asks for all: both requests
 * cross, and the answer to the first comes right behind the second. What is taken back for the
 * second is free, and gone from the page at once: the agent knows so before it is answered. */
static void test_taken_back_and_raised_in_one_turn(void **state)
{
    (void)state;
    want(OTHER, DEMAND_PERMISSION, PERMISSION_EXCLUSIVE);
    until(other_has_all);
    want(1, DEMAND_PERMISSION, PERMISSION_CONCURRENT_READ); /* the last to ask: the first, next */
    until(one_has_some);
    assert_int_not_equal(other_mode, PERMISSION_NONE);
    want(1, DEMAND_MORE, PERMISSION_PROTECTED_WRITE);
    want(OTHER, DEMAND_MORE, PERMISSION_EXCLUSIVE);
    take_back_there();
    while (heard[OTHER] < said)
        hear_next(OTHER);
    while (heard[1] < said)
        hear_next(1);
    end_turn();
    assert_agreed();
    until(other_has_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken_back_and_raised_in_one_turn, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
