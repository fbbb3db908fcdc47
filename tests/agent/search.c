/* SPDX-License-Identifier: MIT */
/* The agents of a small cluster, searched: from the moment when all are ready and linked, every
 * order of what can happen, within bounds.
 *
 * A move is one event of one machine: the next parcel of the ledger, the next packet of a
 * connection, a connection dialled or accepted, a tick that is due, a local process that asks,
 * enters, leaves or dies, a name that is closed, a taking back; the death of an agent and the start
 * of another, the break of a connection; and time, which stands still but for moves of its own: to
 * the next tick that is due, or so far that a lease or a grace is over. How many of the latter
 * there may be, and how many moves, is the bound. Judged: what the world judges at every entry, the
 * agent's own assertions, and, from every state in which nothing is left to be delivered, that all
 * who want get in, and that no agent knows a name which nobody uses.
 *
 * A state is kept as the way to it, and known by 128 bits made of all that can matter to its
 * future; two that differ and have the same would be taken for one. Breadth first, so that the run
 * that is printed is a shortest one. Nothing is thrown away to make states fewer.
 *
 * usage: search [NAME=NUMBER]…      names: see `bounds` below; prints the run that was found */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/core/parts.h"
#include "search.h"

enum { DEPTH_MOST = 256, STATES_MOST = 1 << 22, ROOM = 2 * STATES_MOST, ARENA = 1 << 24 };

static const struct {
    const char *name;
    size_t at;
} names[] = {
    {"depth", offsetof(struct bounds, depth)},       {"entries", offsetof(struct bounds, entries)},
    {"deaths", offsetof(struct bounds, deaths)},     {"kills", offsetof(struct bounds, kills)},
    {"breaks", offsetof(struct bounds, breaks)},     {"times", offsetof(struct bounds, times)},
    {"pauses", offsetof(struct bounds, pauses)},     {"modes", offsetof(struct bounds, modes)},
    {"protocol", offsetof(struct bounds, protocol)}, {"without", offsetof(struct bounds, without)},
    {"scene", offsetof(struct bounds, scene)},       {"refuted", offsetof(struct bounds, refuted)},
    {"closes", offsetof(struct bounds, closes)},     {"hasty", offsetof(struct bounds, hasty)},
    {"asleep", offsetof(struct bounds, asleep)},     {"halves", offsetof(struct bounds, halves)},
};

/* A state that was found: the move that led to it, and from where. */
struct found {
    uint32_t parent;
    struct move move;
    uint64_t key; /* half of it: made anew, by all moves from the beginning, it must be the same */
};

static struct searched now = {.left = {.depth = 12, .entries = 1, .times = 1}};
static struct found *nodes; /* STATES_MOST */
static uint32_t states, settled;
static uint64_t moves_made;
static size_t deepest;
static bool cut_short;      /* by the bound on moves: set when a state has some that are not made */
static uint64_t (*seen)[2]; /* ROOM keys; 0, 0: none */
static struct move way[DEPTH_MOST]; /* the moves that led to the present state */
static struct moves possible;       /* in it, by list_moves() */

/* True: it was not found before. */
static bool is_new(const uint64_t key[2])
{
    size_t at = key[0] % ROOM;
    for (; seen[at][0]; at = (at + 1) % ROOM)
        if (seen[at][0] == key[0] && seen[at][1] == key[1])
            return false;
    memcpy(seen[at], key, sizeof *seen);
    return true;
}

static void make(struct move move)
{
    way[now.steps] = move;
    make_move(&now, move);
}

static void print_figures(void)
{
    printf("%s: %u states, of which %u are settled, and %llu moves, up to %zu deep%s\n",
           now.world.protocol->name, states, settled, (unsigned long long)moves_made, deepest,
           cut_short ? "" : ": all there are");
}

/* Ends the program: with 0 if this was to be found. */
__attribute__((__noreturn__)) static void report(const char *what)
{
    cut_short = true;
    print_figures();
    for (size_t at = 0; at < now.steps; at++)
        printf("  machine %u %s %u\n", way[at].machine, move_words(way[at]), way[at].at);
    printf("violation: %s\n", what);
    fflush(stdout);
    _exit(!now.left.refuted);
}

static void fail(int signal)
{
    (void)signal;
    report("an assertion of the agent fails");
}

static bool nobody_waits(struct world *its)
{
    bool waits = false;
    for (unsigned number = 0; number < its->machines; number++) {
        world_leave(its, number);
        world_leave_too(its, number);
        waits |= its->machine[number].process[0].wants;
        waits |= its->machine[number].process[1].wants && !world_waits_in_vain(its, number);
    }
    return !waits;
}

/* Whatever is drawn from here on, all who want get in. */
static void judge_progress(void)
{
    settled++;
    for (unsigned number = 0; number < MACHINES_HERE; number++)
        world_start(&now.world, number);
    const bool all = world_until(&now.world, nobody_waits, 4 * (now.world.lease + now.world.grace));
    if (now.world.violation)
        report(now.world.violation);
    if (!all)
        report("somebody never gets in");
}

/* A user of the name: somebody there is inside, wants in, or has not closed it. */
static bool uses(const struct machine *machine, const struct resource *name)
{
    const struct agent *agent = &machine->agent;
    bool open = !(agent->group_count && agent->group[0]->is_idle);
    for (unsigned at = 0; at < PROCESSES; at++)
        open |= machine->process[at].inside || machine->process[at].wants;
    return name->users & slot_bit(agent->self) && open;
}

/* What nobody has open is forgotten, unless somebody is to be told of a death; over links. */
static void judge_forgetting(void)
{
    const struct machine *machine = now.world.machine;
    for (unsigned number = 0; number < MACHINES_HERE; number++)
        if (!machine[number].running || !agent_is_member(&machine[number].agent) ||
            !agent_is_apart(&machine[number].agent))
            return;
    for (unsigned number = 0; number < MACHINES_HERE; number++) {
        const struct agent *agent = &machine[number].agent;
        const struct resource *name = agent->group_count ? agent->group[0] : NULL;
        if (name && !uses(&machine[0], name) && !uses(&machine[1], name) &&
            name->ledger_died <= name->ledger_told)
            report("a name that nobody uses is remembered");
    }
}

static void go_to(uint32_t node, const struct snapshot *root)
{
    struct move back[DEPTH_MOST];
    uint64_t key[2];
    size_t length = 0;
    for (uint32_t at = node; at; at = nodes[at].parent)
        back[length++] = nodes[at].move;
    snapshot_put_back(root);
    while (length)
        make(back[--length]);
    state_key(&now, key);
    if (key[0] != nodes[node].key) {
        puts("the same moves lead to another state: a snapshot leaves something out");
        exit(2);
    }
}

static void note(uint32_t parent, struct move move)
{
    uint64_t key[2];
    state_key(&now, key);
    if (!is_new(key))
        return;
    if (states == STATES_MOST) {
        puts("NOT all: there is no room for more states");
        _exit(3);
    }
    nodes[states++] = (struct found){parent, move, key[0]};
}

static void expand(uint32_t node, const struct snapshot *root)
{
    static struct snapshot here;
    go_to(node, root);
    snapshot_take(&here, &now);
    list_moves(&now, &possible);
    const struct moves from_here = possible;
    deepest = now.steps; /* breadth first: never less than before */
    cut_short |= now.steps == now.left.depth && from_here.count;
    if (is_settled(&possible)) {
        judge_forgetting();
        judge_progress();
        snapshot_put_back(&here);
    }
    for (size_t at = 0; now.steps < now.left.depth && at < from_here.count; at++) {
        make(from_here.move[at]);
        moves_made++;
        if (now.world.violation)
            report(now.world.violation);
        note(node, from_here.move[at]);
        snapshot_put_back(&here);
    }
}

static bool all_settled(struct world *its)
{
    list_moves(&now, &possible);
    return world_all_ready(its) && world_all_linked(its) && is_settled(&possible);
}

static bool all_sleep(struct world *its)
{
    bool sleep = true;
    for (unsigned number = 0; number < now.left.asleep; number++)
        sleep &= world_waits_in_vain(its, number);
    return sleep && all_settled(its);
}

static bool first_is_inside(struct world *its)
{
    return world_holds(its, 0) && all_settled(its);
}

/* False: the agents do not get ready, or nobody gets in. */
static bool set_scene(void)
{
    const int64_t long_enough = 20 * now.world.grace;
    if (!world_until(&now.world, all_settled, long_enough))
        return false;
    for (unsigned number = 0; number < now.left.asleep && number < MACHINES_HERE; number++)
        world_want_when(&now.world, number, (unsigned)now.left.entries + number);
    if (now.left.asleep && !world_until(&now.world, all_sleep, long_enough))
        return false;
    if (!now.left.scene)
        return true;
    world_want(&now.world, 0, PERMISSION_EXCLUSIVE);
    if (!world_until(&now.world, first_is_inside, long_enough))
        return false;
    world_want(&now.world, 1, PERMISSION_EXCLUSIVE);
    world_try_to_enter(&now.world, 1);
    return world_until(&now.world, all_settled, long_enough);
}

static void *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(2);
    }
    return memory;
}

static void read_words(char **words)
{
    for (; *words; words++) {
        const char *is = strchr(*words, '=');
        unsigned long *bound = NULL;
        for (size_t at = 0; is && at < sizeof names / sizeof *names; at++)
            if (strlen(names[at].name) == (size_t)(is - *words) &&
                strncmp(names[at].name, *words, (size_t)(is - *words)) == 0)
                bound = (unsigned long *)((char *)&now.left + names[at].at);
        if (!bound) {
            fprintf(stderr, "usage: search [NAME=NUMBER]…: %s is none of the bounds\n", *words);
            exit(2);
        }
        *bound = strtoul(is + 1, NULL, 0);
    }
}

int main(int arguments, char **words)
{
    static const struct message_protocol *const protocols[] = {&carvalho_roucairol_protocol,
                                                               &ricart_agrawala_protocol,
                                                               &lamport_protocol, &token_protocol};
    (void)arguments;
    if (!state_key_is_exact) {
        puts("SKIP: this compiler cannot tell what lies between the fields of a struct");
        return 77;
    }
    read_words(words + 1);
    if (now.left.depth >= DEPTH_MOST || now.left.protocol > 3)
        return 2;
    nodes = reserve(STATES_MOST * sizeof *nodes);
    seen = reserve(ROOM * sizeof *seen);
    world_begin(&now.world, MACHINES_HERE, protocols[now.left.protocol], 7);
    now.world.arena = reserve(now.world.arena_room = ARENA);
    now.world.without = now.left.without;
    now.world.judge_deaths = !now.left.kills && !now.left.pauses;
    now.world.judge_once = now.world.judge_deaths && !now.left.modes;
    now.world.judge_asking = now.world.judge_deaths && !now.left.times;
    now.world.hasty = now.left.hasty;
    now.world.halves = (unsigned)now.left.halves;
    for (unsigned number = 0; number < MACHINES_HERE; number++) {
        world_start(&now.world, number);
        now.wants_left[number] = now.left.entries;
    }
    if (!set_scene()) {
        fputs("the agents did not become ready, or nobody got in\n", stderr);
        return 2;
    }
    signal(SIGABRT, fail);
    static struct snapshot root;
    snapshot_take(&root, &now);
    note(0, (struct move){0});
    for (uint32_t node = 0; node < states; node++)
        expand(node, &root);
    print_figures();
    return now.left.refuted != 0;
}
