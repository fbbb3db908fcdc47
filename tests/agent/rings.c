/* SPDX-License-Identifier: MIT */
/* The transport beside a Corosync that is scripted: rings and what is delivered in them by one
 * stream, what quorum says of them by another, in whatever order they come. */
#include <corosync/cpg.h>
#include <corosync/quorum.h>
#include <corosync/votequorum.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/host/nodelist.h"
#include "agent/host/transport.h"

enum { NODE = 1, OTHER = 2, MACHINES = 3 };

/* ---- Corosync ---- */

static cpg_model_v1_data_t group;
static quorum_model_v1_data_t quorum;
static void *group_context, *quorum_context;

cs_error_t cpg_model_initialize(cpg_handle_t *handle, cpg_model_t model, cpg_model_data_t *data,
                                void *context)
{
    assert_int_equal(model, CPG_MODEL_V1);
    memcpy(&group, data, sizeof group);
    group_context = context;
    *handle = 1;
    return CS_OK;
}

cs_error_t cpg_context_get(cpg_handle_t handle, void **context)
{
    (void)handle;
    *context = group_context;
    return CS_OK;
}

cs_error_t cpg_local_get(cpg_handle_t handle, unsigned int *node)
{
    (void)handle;
    *node = NODE;
    return CS_OK;
}

cs_error_t cpg_join(cpg_handle_t handle, const struct cpg_name *name)
{
    (void)handle, (void)name;
    return CS_OK;
}

cs_error_t cpg_leave(cpg_handle_t handle, const struct cpg_name *name)
{
    (void)handle, (void)name;
    return CS_OK;
}

cs_error_t cpg_finalize(cpg_handle_t handle)
{
    (void)handle;
    return CS_OK;
}

/* The script has called what there was to call. */
cs_error_t cpg_dispatch(cpg_handle_t handle, cs_dispatch_flags_t flags)
{
    (void)handle, (void)flags;
    return CS_OK;
}

cs_error_t cpg_fd_get(cpg_handle_t handle, int *fd)
{
    (void)handle, (void)fd;
    return CS_ERR_LIBRARY;
}

cs_error_t cpg_mcast_joined(cpg_handle_t handle, cpg_guarantee_t guarantee,
                            const struct iovec *vector, unsigned int count)
{
    (void)handle, (void)guarantee, (void)vector, (void)count;
    return CS_OK;
}

cs_error_t quorum_model_initialize(quorum_handle_t *handle, quorum_model_t model,
                                   quorum_model_data_t *data, uint32_t *type, void *context)
{
    assert_int_equal(model, QUORUM_MODEL_V1);
    memcpy(&quorum, data, sizeof quorum);
    quorum_context = context;
    *handle = 2;
    *type = QUORUM_SET;
    return CS_OK;
}

cs_error_t quorum_context_get(quorum_handle_t handle, const void **context)
{
    (void)handle;
    *context = quorum_context;
    return CS_OK;
}

cs_error_t quorum_trackstart(quorum_handle_t handle, unsigned int flags)
{
    (void)handle, (void)flags;
    return CS_OK;
}

cs_error_t quorum_dispatch(quorum_handle_t handle, cs_dispatch_flags_t flags)
{
    (void)handle, (void)flags;
    return CS_OK;
}

cs_error_t quorum_finalize(quorum_handle_t handle)
{
    (void)handle;
    return CS_OK;
}

cs_error_t quorum_fd_get(quorum_handle_t handle, int *fd)
{
    (void)handle, (void)fd;
    return CS_ERR_LIBRARY;
}

cs_error_t votequorum_initialize(votequorum_handle_t *handle, votequorum_callbacks_t *calls)
{
    (void)calls;
    *handle = 3;
    return CS_OK;
}

cs_error_t votequorum_getinfo(votequorum_handle_t handle, unsigned int node,
                              struct votequorum_info *info)
{
    (void)handle, (void)node;
    *info = (struct votequorum_info){.node_expected_votes = MACHINES};
    return CS_OK;
}

cs_error_t votequorum_finalize(votequorum_handle_t handle)
{
    (void)handle;
    return CS_OK;
}

bool nodelist_find(uint32_t node, struct node_entry *entry)
{
    (void)node;
    *entry = (struct node_entry){.name = "one"};
    return true;
}

/* ---- what the agent hears: a letter each ---- */

static char heard[256];
static struct transport *transport;

static void hear(const char *what)
{
    strncat(heard, what, sizeof heard - strlen(heard) - 1);
}

static void on_connected(void *arg, struct address self, uint32_t nodes)
{
    (void)arg;
    assert_true(self.node == NODE && nodes == MACHINES);
    hear("+");
}

static void on_cut(void *arg, enum cut_reason why)
{
    (void)arg;
    assert_int_equal(why, CUT_NO_QUORUM);
    hear("-");
}

static void on_delivered(void *arg, struct address from, const void *bytes, size_t length)
{
    const char text[2] = {*(const char *)bytes, '\0'};
    (void)arg;
    assert_true(from.node == OTHER && length == 1);
    hear(text);
}

static void on_left(void *arg, struct address who, bool with_its_machine)
{
    (void)arg;
    assert_true(who.node == OTHER && with_its_machine);
    hear("!");
}

static void on_log(void *arg, enum log_level level, const char *event, const char *details)
{
    (void)arg, (void)level, (void)event, (void)details;
}

/* ---- scripts ---- */

static void ring(uint64_t sequence)
{
    group.cpg_totem_confchg_fn(1, (struct cpg_ring_id){.nodeid = NODE, .seq = sequence}, 0, NULL);
    transport_dispatch(transport);
}

static void verdict(uint64_t sequence, bool quorate)
{
    quorum.quorum_notify_fn(2, quorate, (struct quorum_ring_id){.nodeid = NODE, .seq = sequence}, 0,
                            NULL);
    transport_dispatch(transport);
}

static void parcel(char what)
{
    group.cpg_deliver_fn(1, NULL, OTHER, 7, &what, 1);
    transport_dispatch(transport);
}

static void leaves(void)
{
    const struct cpg_address who = {.nodeid = OTHER, .pid = 7, .reason = CPG_REASON_NODEDOWN};
    group.cpg_confchg_fn(1, NULL, NULL, 0, &who, 1, NULL, 0);
    transport_dispatch(transport);
}

static void assert_heard(const char *what)
{
    assert_string_equal(heard, what);
    heard[0] = '\0';
}

static int set_up(void **state)
{
    (void)state;
    const struct transport_events events = {.connected = on_connected,
                                            .cut = on_cut,
                                            .delivered = on_delivered,
                                            .left = on_left,
                                            .log = on_log};
    char trouble[64];
    heard[0] = '\0';
    transport = transport_open("c", &events, trouble, sizeof trouble);
    assert_non_null(transport);
    transport_tick(transport);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    transport_close(transport);
    return 0;
}

/* What comes in a ring waits for what quorum says of it, and of no other. */
static void test_quorum_speaks_later(void **state)
{
    (void)state;
    ring(4);
    parcel('a');
    assert_heard("");
    verdict(4, true);
    assert_heard("+a");
    parcel('b');
    leaves();
    ring(8);
    parcel('c');
    assert_heard("b!");
    verdict(8, true);
    assert_heard("c");
    ring(12);
    parcel('d');
    verdict(12, false);
    assert_heard("-");
    parcel('e');
    ring(16);
    parcel('f');
    verdict(16, true);
    assert_heard("+f");
}

/* Or quorum speaks first, of several rings. */
static void test_quorum_speaks_earlier(void **state)
{
    (void)state;
    verdict(4, true);
    verdict(8, true);
    ring(4);
    parcel('a');
    assert_heard("+a");
    ring(8);
    parcel('b');
    assert_heard("b");
}

/* A ring breaks before its machines have agreed on it: quorum never speaks of it. What was
 * delivered there, or who has left before the next one, keeps nothing back for ever; and who stood
 * in such a ring is cut, for it may have had no majority. */
static void test_a_ring_of_which_quorum_never_speaks(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        const uint64_t sequence = 100 * way;
        ring(sequence + 4);
        verdict(sequence + 4, true);
        assert_heard("+");
        ring(sequence + 8);
        if (way == 0)
            leaves(); /* the next ring's: it is told first */
        else
            parcel('x');
        ring(sequence + 12);
        assert_heard("");
        verdict(sequence + 12, true);
        assert_heard("-+");
        parcel('a');
        assert_heard("a");
        ring(sequence + 16);
        verdict(sequence + 16, false);
        assert_heard("-");
    }
}

/* Nothing was delivered there: nobody has missed anything, and nobody is cut. */
static void test_a_ring_of_a_moment(void **state)
{
    (void)state;
    ring(4);
    verdict(4, true);
    ring(8);
    ring(12);
    verdict(12, true);
    parcel('a');
    assert_heard("+a");
    ring(16);
    verdict(20, true);
    ring(20);
    parcel('b');
    assert_heard("b");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_quorum_speaks_later),
        TEST(test_quorum_speaks_earlier),
        TEST(test_a_ring_of_which_quorum_never_speaks),
        TEST(test_a_ring_of_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
