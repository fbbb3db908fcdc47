/* SPDX-License-Identifier: MIT */
/* The run itself: takes what is due, hands it to the protocol, and carries out the effects. */
#include "simulate/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_FOR_A_START = 1000 * 1000, EVENTS_FOR_A_PASSAGE = 100 };

uint64_t *world_state(struct world *world, uint32_t node)
{
    return world->states + (size_t)node * world->words;
}

/* Simulated time ends after 292 years: nothing is put beyond it, and the run ends with an error. */
void world_put(struct world *world, uint64_t at, enum due_kind kind, uint32_t node, uint32_t what)
{
    if (at > INT64_MAX || at < world->now) {
        world->out_of_time = world->ended = true;
        return;
    }
    world->failed |=
        !queue_put(&world->queue, (struct due){.at = at, .kind = kind, .node = node, .what = what});
}

uint64_t spread_draw(struct world *world, const struct spread *spread, double scale)
{
    double value = (double)spread->least;
    if (spread->kind == SPREAD_UNIFORM)
        value += chance_unit(&world->chance) * (double)(spread->most - spread->least);
    else if (spread->kind == SPREAD_EXPONENTIAL)
        value *= -log(1 - chance_unit(&world->chance));
    value *= scale;
    return value < (double)INT64_MAX ? (uint64_t)value : INT64_MAX;
}

/* A node with weight w among N thinks 1/(wN) times as long as the average one. */
static double think_scale(const struct world *world, uint32_t node)
{
    const double n = world->how->nodes, hot = world->how->hot;
    if (hot > 0)
        return node == 0 ? 1 / (hot * n) : (n - 1) / ((1 - hot) * n);
    if (world->how->skew > 0)
        return world->weights * pow(node + 1.0, world->how->skew) / n;
    return 1;
}

void world_think(struct world *world, uint32_t node)
{
    if (world->how->script || (world->how->passages && world->started >= world->how->passages))
        return;
    const uint64_t think = spread_draw(world, &world->how->think, think_scale(world, node));
    world_put(world, world->now + think, DUE_REQUEST, node, world->peers[node].lives);
}

/* A founder at the start, a newcomer with the latest change of the group. */
void world_begin(struct world *world, uint32_t node)
{
    struct peer *peer = &world->peers[node];
    peer->up = peer->member = true;
    peer->born = world->queue.put;
    peer->floor = world->now;
    peer->held = 0;
    world_forget_tallies(world, node);
    set_add(world->members, node);
    peer->lives += world->view > 0;
    if (world->view) {
        memset(world_state(world, node), 0, world->words * sizeof(uint64_t));
        kept_forget(world, node);
    }
    world->protocol->begin(world_state(world, node),
                           &(struct beginning){
                               .self = node,
                               .nodes = world->how->nodes,
                               .agreed = world->how->order >= ORDER_AGREED,
                               .apart = world->how->order == ORDER_LINKS,
                               .view = world->view,
                               .members = world->view ? world->members : NULL,
                               .without = world->how->variant->without,
                               .keeper = kept_keeper(world),
                           });
    world_think(world, node);
}

static void carry_out(struct world *world, uint32_t node)
{
    for (unsigned i = 0; i < world->effects.count; i++) {
        const struct effect *effect = &world->effects.effect[i];
        if (effect->kind == EFFECT_SEND) {
            network_send(world, node, effect);
        } else if (effect->kind == EFFECT_ENTERED) {
            judge_entry(world, node, effect->fence);
            world_put(world, world->now + spread_draw(world, &world->how->section, 1), DUE_RELEASE,
                      node, world->peers[node].lives);
        }
        /* EFFECT_LOST tells the user; the node itself stops, and its trace says so (faults.c). */
    }
}

void world_step(struct world *world, uint32_t node, const struct event *event)
{
    world->effects.count = 0;
    world->effects.used = 0;
    const struct node *head = (const struct node *)world_state(world, node);
    const bool requested = node_has_requested(head);
    world->protocol->step(world_state(world, node), event, &world->effects);
    if (!requested && node_has_requested(head))
        trace_passage(world, node, "request");
    carry_out(world, node);
}

/* The share of --hot is one of requests, whatever the load: who is ahead of its share thinks again.
 * Node 0 and the others are never both ahead. */
static bool is_ahead(const struct world *world, uint32_t node)
{
    if (world->how->hot <= 0 || world->how->script)
        return false;
    const double share = node == 0 ? world->how->hot : 1 - world->how->hot;
    const uint64_t made = node == 0 ? world->hot : world->started - world->hot;
    return (double)made > share * (double)world->started + 1;
}

/* For a while at least, so that time passes for those it waits for. */
static void think_again(struct world *world, uint32_t node)
{
    const uint64_t think = spread_draw(world, &world->how->think, think_scale(world, node)),
                   delay = spread_draw(world, &world->how->delay, 1), least = delay ? delay : 1;
    world_put(world, world->now + (think > least ? think : least), DUE_REQUEST, node,
              world->peers[node].lives);
}

static void due_request(struct world *world, uint32_t node)
{
    if (world->how->passages && world->started >= world->how->passages && !world->how->script)
        return;
    if (is_ahead(world, node)) {
        think_again(world, node);
        return;
    }
    world->started++;
    world->hot += node == 0;
    const bool shared =
        !world->protocol->exclusive_only && chance_happens(&world->chance, world->how->shared);
    const uint8_t mode = shared ? MODE_SHARED : MODE_EXCLUSIVE;
    judge_request(world, node, mode);
    world_step(world, node, &(struct event){.kind = EVENT_REQUEST, .mode = mode});
}

static void due_release(struct world *world, uint32_t node)
{
    judge_exit(world, node);
    histogram_add(&world->measure->responses, world->now - world->peers[node].requested_at);
    trace_passage(world, node, "leave");
    world_step(world, node, &(struct event){.kind = EVENT_RELEASE});
    world_tally(world, node)->finished = true;
    world_think(world, node);
}

static void take(struct world *world, const struct due *due)
{
    struct peer *peer = &world->peers[due->node];
    const enum due_kind kind = due->kind & ~(unsigned)DUE_DEFERRED;
    if (kind <= DUE_HELD && faults_put_off(world, due))
        return;
    switch (kind) {
    case DUE_REQUEST:
    case DUE_RELEASE:
        if (!peer->up || peer->lives != due->what)
            return;
        (kind == DUE_REQUEST ? due_request : due_release)(world, due->node);
        faults_after_event(world, due->node);
        break;
    case DUE_PARCEL:
    case DUE_NOTICE:
    case DUE_HELD:
        network_arrive(world, due);
        break;
    default:
        faults_due(world, due);
    }
}

static bool allocate(struct world *world)
{
    const struct simulation *how = world->how;
    const size_t n = how->nodes;
    world->words = world->protocol->words(how->nodes);
    if (!kept_open(world))
        return false;
    world->states = calloc(n, world->words * sizeof *world->states);
    world->peers = calloc(n, sizeof *world->peers);
    world->tallies = calloc(n, TALLIES * sizeof *world->tallies);
    world->members = calloc(set_words(n), sizeof *world->members);
    const bool fifo = how->order == ORDER_FIFO || how->order == ORDER_LINKS;
    world->fifo = fifo ? calloc(n, sizeof *world->fifo) : NULL;
    world->effects.room = calloc(world->protocol->room(how->nodes), sizeof(uint64_t));
    world->effects.keeper = kept_keeper(world);
    return world->states && world->peers && world->tallies && world->members &&
           world->effects.room && (world->fifo || !fifo) &&
           measure_open(world->measure, how->nodes);
}

int world_open(struct world *world, const struct simulation *how, struct outcome *outcome)
{
    *outcome = (struct outcome){.verdict = VERDICT_HOLDS};
    *world = (struct world){.how = how,
                            .protocol = how->variant->protocol,
                            .outcome = outcome,
                            .measure = &outcome->measure,
                            .chance = chance_seeded(how->seed),
                            .free_parcel = NO_PARCEL,
                            .first_waiting = NO_PEER,
                            .last_waiting = NO_PEER};
    if (!allocate(world))
        return -ENOMEM;
    for (uint32_t node = 0; how->skew > 0 && node < how->nodes; node++)
        world->weights += pow(node + 1.0, -how->skew);
    return 0;
}

void world_close(struct world *world)
{
    for (uint32_t i = 0; i < world->parcels_count; i++)
        free(world->parcels[i].body);
    free(world->parcels);
    free(world->effects.room);
    for (uint32_t node = 0; world->fifo && node < world->how->nodes; node++)
        sparse_close(&world->fifo[node]);
    free(world->fifo);
    free(world->burials);
    kept_close(world);
    free(world->members);
    free(world->tallies);
    free(world->peers);
    free(world->states);
    queue_close(&world->queue);
}

/* Jain's index, and the passages still open in the books; unless all is at rest, these may lack
 * messages, and are left out. */
static void close_books(struct world *world)
{
    const bool rest = world->queue.count == 0;
    double sum = 0, squares = 0;
    for (uint32_t node = 0; node < world->how->nodes; node++) {
        const struct peer *peer = &world->peers[node];
        const double entries = (double)peer->entries;
        sum += entries;
        squares += entries * entries;
        for (unsigned i = 0; rest && i < TALLIES; i++)
            if (world->tallies[(size_t)node * TALLIES + i].finished)
                measure_passage(world->measure,
                                world->tallies[(size_t)node * TALLIES + i].messages);
    }
    world->measure->evenness = squares > 0 ? sum * sum / (world->how->nodes * squares) : 1;
    world->measure->now = world->now;
}

/* Where nodes die and come back, each change may cause the next, and a run need not come to rest.
 */
static uint64_t event_limit(const struct simulation *how)
{
    const bool changes = how->faults.crash > 0 || how->faults.partition > 0;
    if (how->events || !changes || !how->passages)
        return how->events ? how->events : UINT64_MAX;
    return EVENTS_FOR_A_START + EVENTS_FOR_A_PASSAGE * how->nodes * how->passages;
}

/* A restless protocol has always something on its way: its run is over when all has been served. */
static bool is_served(const struct world *world)
{
    const struct simulation *how = world->how;
    const uint64_t asked = how->script ? how->script_length : how->passages;
    return asked && world->started >= asked && world->first_waiting == NO_PEER &&
           world->inside[MODE_EXCLUSIVE] == 0;
}

static void run(struct world *world)
{
    const uint64_t limit = event_limit(world->how);
    struct measure *measure = world->measure;
    while (world->queue.count && measure->events < limit && !world->failed && !world->ended) {
        const struct due due = queue_take(&world->queue);
        /* large networks do not fit the cache: fetch the next node while this one works */
        if (world->queue.count) {
            __builtin_prefetch(&world->peers[world->queue.heap[0].node]);
            __builtin_prefetch(world_state(world, world->queue.heap[0].node));
            __builtin_prefetch(world_state(world, world->queue.heap[0].node) + 8);
        }
        world->now = due.at;
        measure->events++;
        take(world, &due);
        if (world->protocol->restless && is_served(world))
            return;
        if (world->how->progress && (measure->events & 0xffff) == 0)
            world->how->progress(world->how->progress_context, measure);
    }
}

int simulate(const struct simulation *how, struct outcome *outcome)
{
    struct world world;
    int error = world_open(&world, how, outcome);
    if (!error) {
        trace_begin(&world);
        for (uint32_t node = 0; node < how->nodes; node++)
            world_begin(&world, node);
        for (uint32_t node = 0; node < how->nodes && world.protocol->restless; node++)
            world_step(&world, node, &(struct event){.kind = EVENT_BEGUN});
        for (size_t i = 0; i < how->script_length; i++)
            world_put(&world, how->script[i].at, DUE_REQUEST, how->script[i].node, 0);
        run(&world);
        const bool served = world.protocol->restless && is_served(&world);
        outcome->cut_short = world.queue.count > 0 && !world.ended && !served;
        judge_end(&world);
        close_books(&world);
        /* a deadlock is rest too: the auditor shall see it */
        trace_end(&world, world.queue.count == 0 || served);
        error = world.failed ? -ENOMEM : world.out_of_time ? -EOVERFLOW : 0;
        if (!error && how->trace && (fflush(how->trace) != 0 || ferror(how->trace)))
            error = errno ? -errno : -EIO;
    }
    world_close(&world);
    return error;
}
