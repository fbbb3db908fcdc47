/* SPDX-License-Identifier: MIT */
/* The transport, by Corosync: closed process groups for order, votequorum for the majority.
 *
 * Corosync tells of a change of its ring in two streams, the group's and quorum's, and the group's
 * comes first: so what is delivered in a ring is held back until quorum has spoken of the same
 * ring. Without quorum nothing is delivered: the agent is cut.
 */
#include <corosync/cpg.h>
#include <corosync/quorum.h>
#include <corosync/votequorum.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/host/item_queue.h"
#include "agent/host/nodelist.h"
#include "agent/host/transport.h"
#include "common/clock.h"

enum {
    MS = 1000 * 1000,
    RECONNECT_MS = 300,
    LOOKUP_MS = 20,
    RESEND_MS = 2,
    IDLE_MS = 1000,
    UNDER_WAY_MOST = 64, /* what is not urgent waits behind so many */
    VERDICTS = 32
};

struct transport {
    struct transport_events events;
    struct cpg_name group;
    cpg_handle_t cpg;
    quorum_handle_t quorum;
    bool open;      /* both handles are */
    bool connected; /* the agent has been told so */
    bool broken;    /* Corosync has gone: to be closed once no callback runs */
    bool looks_up; /* this machine's address, by its name: set and cleared by each try to connect */
    int64_t tried;
    struct address self;
    uint32_t nodes;
    struct node_entry entry; /* of this machine */
    struct ring ring;        /* of what is delivered now */
    struct {
        struct ring ring;
        bool quorate;
    } verdict[VERDICTS]; /* the newest last */
    struct item_queue received, unsent;
    unsigned under_way; /* parcels of mine that Corosync has taken, and not delivered to me yet */
};

static bool same_ring(struct ring a, struct ring b)
{
    return a.node == b.node && a.sequence == b.sequence;
}

static struct transport *of_cpg(cpg_handle_t handle)
{
    void *context = NULL;
    cpg_context_get(handle, &context);
    return context;
}

static void on_parcel(cpg_handle_t handle, const struct cpg_name *group, uint32_t node,
                      uint32_t pid, void *bytes, size_t length)
{
    (void)group;
    struct transport *transport = of_cpg(handle);
    struct item *item = queue_add(&transport->received, length);
    if (node == transport->self.node && pid == transport->self.pid && transport->under_way > 0)
        transport->under_way--;
    item->kind = ITEM_PARCEL;
    item->who = (struct address){.node = node, .pid = pid};
    memcpy(item->bytes, bytes, length);
}

static void on_change(cpg_handle_t handle, const struct cpg_name *group,
                      const struct cpg_address *members, size_t member_count,
                      const struct cpg_address *left, size_t left_count,
                      const struct cpg_address *joined, size_t joined_count)
{
    (void)group, (void)members, (void)member_count, (void)joined, (void)joined_count;
    for (size_t at = 0; at < left_count; at++) {
        struct item *item = queue_add(&of_cpg(handle)->received, 0);
        item->kind = ITEM_LEFT;
        item->who = (struct address){.node = left[at].nodeid, .pid = left[at].pid};
        item->with_its_machine = left[at].reason == CPG_REASON_NODEDOWN;
    }
}

static void on_ring(cpg_handle_t handle, struct cpg_ring_id ring, uint32_t count,
                    const uint32_t *members)
{
    (void)count, (void)members;
    struct item *item = queue_add(&of_cpg(handle)->received, 0);
    item->kind = ITEM_RING;
    item->ring = (struct ring){.node = ring.nodeid, .sequence = ring.seq};
}

static void on_quorum(quorum_handle_t handle, uint32_t quorate, struct quorum_ring_id ring,
                      uint32_t count, const uint32_t *members)
{
    (void)count, (void)members;
    const void *context = NULL;
    quorum_context_get(handle, &context);
    struct transport *transport = (struct transport *)(uintptr_t)context;
    memmove(transport->verdict, transport->verdict + 1,
            (VERDICTS - 1) * sizeof *transport->verdict);
    transport->verdict[VERDICTS - 1].ring =
        (struct ring){.node = ring.nodeid, .sequence = ring.seq};
    transport->verdict[VERDICTS - 1].quorate = quorate;
}

static void on_nodes(quorum_handle_t handle, struct quorum_ring_id ring, uint32_t count,
                     const uint32_t *members, uint32_t joined_count, const uint32_t *joined,
                     uint32_t left_count, const uint32_t *left)
{
    (void)handle, (void)ring, (void)count, (void)members, (void)joined_count, (void)joined,
        (void)left_count, (void)left;
}

/* How many machines the configuration counts. Votes are taken as one a machine. */
static bool count_nodes(struct transport *transport)
{
    static votequorum_callbacks_t none;
    votequorum_handle_t handle;
    struct votequorum_info info;
    if (votequorum_initialize(&handle, &none) != CS_OK)
        return false;
    const bool known = votequorum_getinfo(handle, transport->self.node, &info) == CS_OK;
    votequorum_finalize(handle);
    transport->nodes = known ? info.node_expected_votes : 0;
    return known;
}

static void close_handles(struct transport *transport)
{
    cpg_finalize(transport->cpg);
    quorum_finalize(transport->quorum);
    transport->open = false;
    transport->under_way = 0;
    queue_clear(&transport->received);
    queue_clear(&transport->unsent);
}

static bool open_cpg(struct transport *transport)
{
    cpg_model_v1_data_t calls = {.model = CPG_MODEL_V1,
                                 .cpg_deliver_fn = on_parcel,
                                 .cpg_confchg_fn = on_change,
                                 .cpg_totem_confchg_fn = on_ring,
                                 .flags = CPG_MODEL_V1_DELIVER_INITIAL_TOTEM_CONF};
    if (cpg_model_initialize(&transport->cpg, CPG_MODEL_V1, (cpg_model_data_t *)&calls,
                             transport) != CS_OK)
        return false;
    if (cpg_local_get(transport->cpg, &transport->self.node) == CS_OK && count_nodes(transport))
        return true;
    cpg_finalize(transport->cpg);
    return false;
}

static bool open_quorum(struct transport *transport)
{
    uint32_t type;
    quorum_model_v1_data_t calls = {
        .model = QUORUM_MODEL_V1, .quorum_notify_fn = on_quorum, .nodelist_notify_fn = on_nodes};
    if (quorum_model_initialize(&transport->quorum, QUORUM_MODEL_V1, (quorum_model_data_t *)&calls,
                                &type, transport) != CS_OK)
        return false;
    if (quorum_trackstart(transport->quorum, CS_TRACK_CHANGES | CS_TRACK_CURRENT) == CS_OK)
        return true;
    quorum_finalize(transport->quorum);
    return false;
}

static bool connect_to_corosync(struct transport *transport)
{
    memset(transport->verdict, 0, sizeof transport->verdict);
    transport->ring = (struct ring){0};
    transport->self.pid = (uint32_t)getpid();
    transport->looks_up = false;
    if (!open_cpg(transport))
        return false;
    transport->looks_up = !nodelist_find(transport->self.node, &transport->entry);
    if (transport->looks_up || !open_quorum(transport)) {
        cpg_finalize(transport->cpg);
        return false;
    }
    transport->open = true;
    if (cpg_join(transport->cpg, &transport->group) == CS_OK)
        return true;
    close_handles(transport);
    return false;
}

static void lose(struct transport *transport, enum cut_reason why)
{
    if (transport->connected)
        transport->events.cut(transport->events.arg, why);
    transport->connected = false;
}

/* What quorum says of the present ring: -1 if it has not spoken of it yet. */
static int verdict(const struct transport *transport)
{
    for (int at = VERDICTS - 1; at >= 0; at--)
        if (transport->verdict[at].ring.sequence &&
            same_ring(transport->verdict[at].ring, transport->ring))
            return transport->verdict[at].quorate;
    return -1;
}

/* The present ring broke before its machines had agreed on it: quorum never speaks of it, but has
 * spoken of one after it. */
static bool is_passed_over(const struct transport *transport)
{
    for (unsigned at = 0; at < VERDICTS; at++)
        if (transport->verdict[at].ring.sequence > transport->ring.sequence)
            return verdict(transport) < 0;
    return false;
}

static void hand_over(struct transport *transport, const struct item *item)
{
    const struct transport_events *events = &transport->events;
    if (item->kind == ITEM_LEFT)
        events->left(events->arg, item->who, item->with_its_machine);
    else
        events->delivered(events->arg, item->who, item->bytes, item->length);
}

/* As far as quorum has spoken. What came in a ring that was passed over would be waited with for
 * ever, and all that comes after it: nobody knows whether there was a majority, so it is cut. */
static void deliver(struct transport *transport)
{
    for (;;) {
        struct item *item = transport->received.first;
        if (item && item->kind == ITEM_RING) {
            transport->ring = item->ring;
            queue_drop_first(&transport->received);
            continue;
        }
        const int quorate = item && is_passed_over(transport) ? 0 : verdict(transport);
        if (quorate == 0)
            lose(transport, CUT_NO_QUORUM);
        if (quorate == 1 && !transport->connected) {
            transport->connected = true;
            transport->events.connected(transport->events.arg, transport->self, transport->nodes);
        }
        if (!item || quorate < 0)
            return;
        if (quorate == 1)
            hand_over(transport, item);
        queue_drop_first(&transport->received);
    }
}

static bool is_fatal(cs_error_t error)
{
    return error != CS_OK && error != CS_ERR_TRY_AGAIN && error != CS_ERR_INTERRUPT;
}

void transport_dispatch(struct transport *transport)
{
    if (!transport->open)
        return;
    if (is_fatal(cpg_dispatch(transport->cpg, CS_DISPATCH_ALL)) ||
        is_fatal(quorum_dispatch(transport->quorum, CS_DISPATCH_ALL))) {
        lose(transport, CUT_NO_TRANSPORT);
        close_handles(transport);
        return;
    }
    deliver(transport);
    if (transport->broken) {
        transport->broken = false;
        lose(transport, CUT_NO_TRANSPORT);
        close_handles(transport);
    }
}

static cs_error_t multicast(struct transport *transport, const void *bytes, size_t length)
{
    const struct iovec vector = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    const cs_error_t error = cpg_mcast_joined(transport->cpg, CPG_TYPE_AGREED, &vector, 1);
    transport->under_way += error == CS_OK;
    return error;
}

void transport_send(struct transport *transport, const void *bytes, size_t length)
{
    if (!transport->open)
        return;
    if (!transport->unsent.first) {
        const cs_error_t error = multicast(transport, bytes, length);
        if (error == CS_OK)
            return;
        if (is_fatal(error)) {
            transport->broken = true;
            return;
        }
    }
    struct item *item = queue_add(&transport->unsent, length);
    memcpy(item->bytes, bytes, length);
}

bool transport_is_full(const struct transport *transport)
{
    return transport->unsent.first || transport->under_way >= UNDER_WAY_MOST;
}

static void send_again(struct transport *transport)
{
    while (transport->unsent.first) {
        const cs_error_t error =
            multicast(transport, transport->unsent.first->bytes, transport->unsent.first->length);
        if (is_fatal(error))
            transport->broken = true;
        if (error != CS_OK)
            return;
        queue_drop_first(&transport->unsent);
    }
}

int64_t transport_tick(struct transport *transport)
{
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (transport->open && transport->broken)
        transport_dispatch(transport);
    if (transport->open) {
        send_again(transport);
        return (int64_t)(transport->unsent.first ? RESEND_MS : IDLE_MS) * MS;
    }
    const int64_t pause = (int64_t)(transport->looks_up ? LOOKUP_MS : RECONNECT_MS) * MS;
    if (now - transport->tried >= pause) {
        transport->tried = now;
        if (connect_to_corosync(transport))
            transport->events.log(transport->events.arg, LOG_INFORMATION, "connected", "");
    }
    return (int64_t)(transport->looks_up ? LOOKUP_MS : RECONNECT_MS) * MS;
}

unsigned transport_fds(const struct transport *transport, struct pollfd *fds)
{
    int cpg, quorum;
    if (!transport->open || cpg_fd_get(transport->cpg, &cpg) != CS_OK ||
        quorum_fd_get(transport->quorum, &quorum) != CS_OK)
        return 0;
    fds[0] = (struct pollfd){.fd = cpg, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = quorum, .events = POLLIN};
    return 2;
}

struct transport *transport_open(const char *cluster, const struct transport_events *events,
                                 char *trouble, size_t room)
{
    struct transport *transport = calloc(1, sizeof *transport);
    if (!transport) {
        snprintf(trouble, room, "out of memory");
        return NULL;
    }
    transport->events = *events;
    transport->received.end = &transport->received.first;
    transport->unsent.end = &transport->unsent.first;
    transport->tried = INT64_MIN / 2;
    transport->group.length =
        (uint32_t)snprintf(transport->group.value, CPG_MAX_NAME_LENGTH, "afteryou:%s", cluster);
    return transport;
}

void transport_close(struct transport *transport)
{
    if (!transport)
        return;
    if (transport->open) {
        cpg_leave(transport->cpg, &transport->group);
        close_handles(transport);
    }
    free(transport);
}

const char *transport_name(const struct transport *transport)
{
    return transport->entry.name;
}

const char *transport_address(const struct transport *transport)
{
    return transport->entry.address;
}
