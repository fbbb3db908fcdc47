/* SPDX-License-Identifier: MIT */
/* A whole cluster of a hundred agents, the very core that ships, on a simulated network: what a
 * hand-over costs, how long it takes, and how much memory.
 *
 * Time passes on the network alone: a message over a link takes so long, one by the ledger a
 * rotation of a ring of that many hops; the machines themselves take none. All agents are ready,
 * and have a link with every other; nothing fails. Two are never inside, and fences grow.
 *
 * usage: hundred [MACHINES [PASSAGES [LINK-MICROSECONDS]]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "happenings.h"

enum { MACHINES_MOST = 120, NAMES = 4096, US = 1000, HOLD_US = 100 };
#define SECOND INT64_C(1000000000)

struct machine {
    struct agent agent;
    int64_t tick; /* the next that is to come; INT64_MAX: none */
    struct {
        bool used;
        unsigned machine;
        uint64_t incarnation;
    } peer[SLOTS];
    unsigned mode;                 /* of the permission that is measured */
    uint64_t base, first, passage; /* passage: the number of the last local one */
    bool wants, inside, taken;     /* taken: it is to be taken back when nobody is inside */
    unsigned resource;
};

static struct machine *machines;
static unsigned count, wanting, inside;
static int64_t now, link_ns, ring_ns, ledger_free;
static struct agent_effects effects;
static uint64_t fence, chance = 88172645463325252;
static int64_t released, waited; /* when the last one left, and until the next was inside */
static uint64_t parcels;

static unsigned draw(unsigned below)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)(chance % below);
}

static void fail(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}

static uint8_t *copy(const void *bytes, size_t length)
{
    uint8_t *copied = malloc(length);
    if (!copied)
        fail("out of memory");
    return memcpy(copied, bytes, length);
}

/* ---- a machine ---- */

static unsigned number_of(const struct machine *machine)
{
    return (unsigned)(machine - machines);
}

static void enter(struct machine *machine)
{
    machine->wants = false;
    machine->inside = true;
    wanting--;
    if (++inside > 1)
        fail("two inside");
    const uint64_t its = machine->base + ++machine->passage - machine->first;
    if (its <= fence)
        fail("a fence that does not grow");
    fence = its;
    waited = now - released;
    happenings_add((struct happening){
        .time = now + HOLD_US * US, .kind = LEAVES, .machine = number_of(machine)});
}

static void add_taking_back(const struct machine *machine, unsigned resource)
{
    happenings_add((struct happening){
        .time = now, .kind = TAKES_BACK, .machine = number_of(machine), .resource = resource});
}

static uint32_t slot_of(const struct machine *machine, const struct machine *other)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (machine->peer[slot].used && machine->peer[slot].machine == number_of(other) &&
            machine->peer[slot].incarnation == other->agent.incarnation)
            return slot;
    return NO_SLOT;
}

/* As soon as both know each other. */
static void connect_both(struct machine *machine, uint32_t slot)
{
    struct machine *other = &machines[machine->peer[slot].machine];
    const uint32_t back = slot_of(other, machine);
    if (back == NO_SLOT)
        return;
    happenings_add((struct happening){.time = now + link_ns,
                                      .kind = LINKS,
                                      .machine = number_of(machine),
                                      .slot = slot,
                                      .incarnation = other->agent.incarnation});
    happenings_add((struct happening){.time = now + link_ns,
                                      .kind = LINKS,
                                      .machine = number_of(other),
                                      .slot = back,
                                      .incarnation = machine->agent.incarnation});
}

static void peer(struct machine *machine, const struct agent_effect *effect)
{
    const uint32_t slot = effect->peer.slot;
    machine->peer[slot].used = effect->kind == DO_PEER;
    if (!machine->peer[slot].used)
        return;
    machine->peer[slot].machine = effect->peer.endpoint.bytes[0];
    machine->peer[slot].incarnation = effect->peer.incarnation;
    connect_both(machine, slot);
}

static void carry_out(struct machine *machine, const struct agent_effect *effect)
{
    switch (effect->kind) {
    case DO_SEND:
        ledger_free = now + ring_ns > ledger_free ? now + ring_ns : ledger_free;
        happenings_add((struct happening){.time = ledger_free,
                                          .kind = DELIVERS,
                                          .from = {number_of(machine), 1},
                                          .bytes = copy(effect->send.bytes, effect->send.length),
                                          .length = effect->send.length});
        parcels++;
        break;
    case DO_SEND_TO:
        happenings_add((struct happening){
            .time = now + link_ns,
            .kind = ARRIVES,
            .machine = machine->peer[effect->send_to.slot].machine,
            .slot = slot_of(&machines[machine->peer[effect->send_to.slot].machine], machine),
            .incarnation = machine->agent.incarnation,
            .bytes = copy(effect->send_to.bytes, effect->send_to.length),
            .length = effect->send_to.length});
        break;
    case DO_PEER:
    case DO_FORGET_PEER:
        peer(machine, effect);
        break;
    case DO_GRANT:
        machine->mode = effect->grant.mode;
        machine->base = effect->grant.base;
        machine->first = effect->grant.first;
        machine->resource = effect->resource;
        if (machine->wants)
            enter(machine);
        break;
    case DO_TAKE_BACK:
        if (machine->inside && effect->resource == machine->resource)
            machine->taken = true;
        else
            add_taking_back(machine, effect->resource);
        break;
    case DO_WAKE:
        machine->tick = effect->due > now ? effect->due : now + 1;
        happenings_add((struct happening){
            .time = machine->tick, .kind = TICKS, .machine = number_of(machine)});
        break;
    case DO_WITHDRAW:
        fail("a permission is lost where nothing fails");
        break;
    default:
        break;
    }
}

static void step(struct machine *machine, struct agent_event event)
{
    event.now = now;
    agent_step(&machine->agent, &event, &effects);
    for (unsigned at = 0; at < effects.count; at++)
        carry_out(machine, &effects.effect[at]);
    if (event.kind != ON_TICK && machine->tick > now) { /* as the host's loop does */
        machine->tick = now;
        happenings_add(
            (struct happening){.time = now, .kind = TICKS, .machine = number_of(machine)});
    }
}

static void want(struct machine *machine, const char *name)
{
    struct demand demand = {.magic = DEMAND_MAGIC,
                            .kind = DEMAND_PERMISSION,
                            .mode = PERMISSION_EXCLUSIVE,
                            .length = (uint16_t)strlen(name)};
    strcpy(demand.name, name);
    step(machine, (struct agent_event){.kind = ON_DEMAND,
                                       .demand = {.what = &demand, .number = machine->passage}});
}

static void want_in(struct machine *machine)
{
    machine->wants = true;
    wanting++;
    if (machine->mode != PERMISSION_NONE && !machine->inside)
        enter(machine);
    else
        want(machine, "thing");
}

static void take_back(struct machine *machine, unsigned resource)
{
    const bool measured = resource == machine->resource;
    if (measured)
        machine->mode = PERMISSION_NONE;
    step(machine, (struct agent_event){.kind = ON_TAKEN_BACK,
                                       .resource = resource,
                                       .taken_back = {.withdrawn = true,
                                                      .mode = PERMISSION_EXCLUSIVE,
                                                      .number = ++machine->passage}});
}

static void leave(struct machine *machine)
{
    machine->inside = false;
    inside--;
    released = now;
    if (machine->taken)
        add_taking_back(machine, machine->resource);
    machine->taken = false;
}

static void happen(void)
{
    const struct happening what = happenings_take();
    struct machine *machine = &machines[what.machine];
    now = what.time;
    switch (what.kind) {
    case DELIVERS:
        for (unsigned at = 0; at < count; at++)
            step(&machines[at],
                 (struct agent_event){
                     .kind = ON_PARCEL,
                     .parcel = {.from = what.from, .bytes = what.bytes, .length = what.length}});
        break;
    case ARRIVES:
    case LINKS:
        step(machine, (struct agent_event){.kind = what.kind == LINKS ? ON_LINK_UP : ON_PACKET,
                                           .link = {.slot = what.slot,
                                                    .incarnation = what.incarnation,
                                                    .bytes = what.bytes,
                                                    .length = what.length}});
        break;
    case TICKS:
        if (machine->tick == now) {
            machine->tick = INT64_MAX;
            step(machine, (struct agent_event){.kind = ON_TICK});
        }
        break;
    case TAKES_BACK:
        take_back(machine, what.resource);
        break;
    case LEAVES:
        leave(machine);
        break;
    }
    free(what.bytes);
}

/* ---- what is measured ---- */

static uint64_t count_sent(void)
{
    uint64_t sent = 0;
    for (unsigned at = 0; at < count; at++)
        sent += machines[at].agent.counters.sent;
    return sent;
}

static bool is_quiet(void)
{
    return wanting == 0 && inside == 0;
}

static void run_until_quiet(void)
{
    const int64_t end = now + 600 * SECOND;
    while (!is_quiet()) {
        if (now > end)
            fail("somebody never gets in");
        happen();
    }
}

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

static void report(const char *what, unsigned passages, uint64_t sent, int64_t *times)
{
    qsort(times, passages, sizeof *times, compare);
    printf("%-44s %8.1f %12.0f %12.0f\n", what, (double)sent / passages,
           (double)times[passages / 2] / US, (double)times[passages - 1] / US);
}

/* One after the other: machines of the first `among`, drawn; the next wants in when the last is
 * inside. */
static void measure_in_turn(const char *what, unsigned among, unsigned passages)
{
    int64_t *times = calloc(passages, sizeof *times);
    unsigned last = among;
    if (!times)
        fail("out of memory");
    for (unsigned at = 0; at < 2 * among; at++) { /* all have used it */
        want_in(&machines[at % among]);
        run_until_quiet();
    }
    const uint64_t before = count_sent();
    for (unsigned at = 0; at < passages; at++) {
        unsigned next = draw(among);
        while (next == last && among > 1)
            next = draw(among);
        last = next;
        const int64_t begin = now;
        want_in(&machines[next]);
        run_until_quiet();
        times[at] = now - HOLD_US * US - begin;
    }
    report(what, passages, count_sent() - before, times);
    free(times);
}

/* All want in at once: from a departure to the next entry. */
static void measure_contended(unsigned passages)
{
    int64_t *times = calloc(passages + count, sizeof *times);
    unsigned done = 0;
    if (!times)
        fail("out of memory");
    const uint64_t before = count_sent();
    while (done < passages) {
        for (unsigned at = 0; at < count; at++)
            want_in(&machines[at]);
        for (uint64_t last = fence; !is_quiet();) {
            happen();
            if (fence != last && done < passages + count)
                times[done++] = waited;
            last = fence;
        }
    }
    report("all want in at once", done, count_sent() - before, times);
    free(times);
}

static size_t resident(void)
{
    unsigned long size = 0, pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%lu %lu", &size, &pages) != 2)
        pages = 0;
    if (statm)
        fclose(statm);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Each machine wants one that nobody else does, and again. */
static void measure_names(void)
{
    enum { ROUNDS = 20 };
    const size_t before = resident();
    for (unsigned at = 0; at < ROUNDS * count; at++) {
        char name[32];
        snprintf(name, sizeof name, "name-%u", at);
        want(&machines[at % count], name);
        while (at % count == count - 1 && machines[0].agent.group_count <= at)
            happen();
    }
    printf("memory of a name, at each agent              %8.0f bytes\n",
           (double)(resident() - before) / ROUNDS / count / count);
}

/* ---- the beginning ---- */

static void *map_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail("no room for so many agents");
    return memory;
}

static bool is_ready(void)
{
    for (unsigned at = 0; at < count; at++) {
        const struct agent *agent = &machines[at].agent;
        unsigned links = 0;
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            links += agent->peer[slot].used && agent->peer[slot].link.up;
        if (!agent_is_ready(agent) || links != count - 1)
            return false;
    }
    return true;
}

static void begin(void)
{
    now = SECOND;
    effects.room = EFFECTS_A_NAME * agent_entries(NAMES);
    effects.effect = map_memory(effects.room * sizeof *effects.effect);
    machines = map_memory(count * sizeof *machines);
    for (unsigned at = 0; at < count; at++) {
        const struct agent_options options = {.protocol = &carvalho_roucairol_protocol,
                                              .links = true,
                                              .endpoint.bytes[0] = (uint8_t)at,
                                              .lease = 5 * SECOND,
                                              .grace = 8 * SECOND,
                                              .pages = at + 1,
                                              .nonce = at * UINT64_C(0x9e3779b97f4a7c15) + 7,
                                              .names = NAMES};
        machines[at].tick = INT64_MAX;
        agent_begin(&machines[at].agent, &options, map_memory(agent_room(&options)));
    }
    for (unsigned at = 0; at < count; at++)
        step(&machines[at], (struct agent_event){.kind = ON_CONNECTED,
                                                 .connected = {.self = {at, 1}, .nodes = count}});
    for (const int64_t end = now + 100 * SECOND; !is_ready();)
        for (const int64_t next = now + SECOND / 100; now < next;) {
            if (now > end)
                fail("they do not become ready");
            happen();
        }
}

int main(int words, char **word)
{
    count = words > 1 ? (unsigned)strtoul(word[1], NULL, 10) : 100;
    const unsigned passages = words > 2 ? (unsigned)strtoul(word[2], NULL, 10) : 200;
    link_ns = US * (words > 3 ? strtoll(word[3], NULL, 10) : 50);
    if (count < 2 || count > MACHINES_MOST || passages < 1 || link_ns < 1) {
        fprintf(stderr,
                "usage: hundred [MACHINES [PASSAGES [LINK-MICROSECONDS]]], 2 to %d machines\n",
                MACHINES_MOST);
        return 2;
    }
    ring_ns = count * link_ns;
    const size_t before = resident();
    begin();
    printf("%u machines; a message takes %lld µs over a link, %lld by the ledger\n", count,
           (long long)link_ns / US, (long long)ring_ns / US);
    printf("all ready after %.1f s, %llu parcels; memory of an agent %.1f MB\n",
           (double)(now - SECOND) / (double)SECOND, (unsigned long long)parcels,
           (double)(resident() - before) / count / (1 << 20));
    printf("%-44s %8s %12s %12s\n", "", "messages", "µs, median", "µs, worst");
    measure_in_turn("enters again where the permission is", 1, passages);
    measure_in_turn("two machines in turn", 2, passages);
    measure_in_turn("all machines, drawn, in turn", count, passages);
    measure_contended(passages);
    measure_names();
    return 0;
}
