/* SPDX-License-Identifier: MIT */
/* The inside of a run: the nodes, what is on its way to them, and who is a member of the group. */
#ifndef AFTERYOU_SIMULATE_WORLD_H
#define AFTERYOU_SIMULATE_WORLD_H

#include <string.h>

#include "protocols/messages/sets.h"
#include "simulate/queue.h"
#include "simulate/random.h"
#include "simulate/simulate.h"
#include "simulate/sparse.h"

/* What is on its way, once for all who receive it: a message, or the notice that the group has
 * changed. */
struct shipment {
    struct message message;
    uint64_t *body;
    uint64_t id;     /* in the trace */
    uint64_t view;   /* notice: the change; message: that with which its sender joined */
    uint32_t copies; /* still to arrive; free at 0 */
    uint32_t node;   /* notice: who died or joined; in a free parcel: the next free one */
    uint8_t event;   /* enum event_kind: EVENT_MESSAGE, EVENT_DIED, EVENT_JOINED */
};

/* Messages on behalf of one passage. */
struct tally {
    uint64_t messages, number; /* number: of its REQUEST, where ACKs tell it */
    bool finished;
};

/* An acknowledgement may come passages later, where another message said as much: the last few stay
 * open. */
enum { TALLIES = 8 };

enum { NO_PEER = UINT32_MAX, NO_PARCEL = UINT32_MAX };

struct peer {
    bool up;     /* it runs */
    bool member; /* the group counts it in */
    bool cut;    /* on the lesser side of a partition */
    bool waiting, inside;
    uint8_t mode;
    uint32_t lives;          /* timers of an earlier life are void */
    uint32_t earlier, later; /* neighbours among those who wait, by the time of their request */
    uint64_t born;           /* what was put into the queue before is not for this life */
    uint64_t floor;          /* agreed order: nothing arrives before this; links: no notice */
    uint64_t held_until;     /* links: when what is held is looked at again */
    uint32_t held;           /* links: so many messages */
    uint64_t still_until;    /* it stands still; what is due for it before then waits */
    uint64_t requested_at, entries_then, entries;
    uint64_t fence;
    uint64_t passages;
};

struct world {
    const struct simulation *how;
    const struct message_protocol *protocol;
    struct outcome *outcome;
    struct measure *measure;
    struct queue queue;
    struct chance chance;
    uint64_t now, view;
    uint64_t *states; /* nodes × words, zero until touched: nodes that nobody asks cost nothing */
    size_t words;
    /* the nodes' rows, if they are kept apart (kept.c); NULL: they lie in the states */
    struct sparse *rows;
    struct keeper keeper;
    struct peer *peers;
    /* TALLIES a node: the present passage's at peer->passages modulo TALLIES */
    struct tally *tallies;
    uint64_t *members; /* a set, as the group has it */
    /* by sender, then receiver: the last arrival of each channel; NULL unless it keeps its order */
    struct sparse *fifo;
    /* links: who was buried, and with which change; in their order */
    struct burial {
        uint32_t node;
        uint64_t view;
    } * burials;
    size_t burials_count, burials_room;
    struct shipment *parcels;
    size_t parcels_room;
    uint32_t parcels_count, free_parcel;
    struct effects effects;
    uint32_t first_waiting, last_waiting;
    uint64_t started; /* requests made */
    uint64_t hot;     /* of these, node 0's */
    /* how many are inside; stale: given up for dead, and do not know */
    uint64_t inside[MODES], stale[MODES];
    uint64_t highest_fence[MODES]; /* of entries in that mode */
    /* the last leaving while somebody waited and nobody was inside */
    uint64_t left_at;
    bool handing_over, partitioned, failed, ended;
    bool out_of_time; /* set by world_put, with `ended`; never cleared */
    uint64_t sent;    /* parcels ever, for the trace */
    double weights;   /* the sum, for skew */
};

/* world.c */
int world_open(struct world *world, const struct simulation *how, struct outcome *outcome);
void world_close(struct world *world);
void world_begin(struct world *world, uint32_t node);
void world_step(struct world *world, uint32_t node, const struct event *event);
uint64_t *world_state(struct world *world, uint32_t node);
void world_put(struct world *world, uint64_t at, enum due_kind kind, uint32_t node, uint32_t what);
uint64_t spread_draw(struct world *world, const struct spread *spread, double scale);
void world_think(struct world *world, uint32_t node);

static inline struct tally *world_tally(struct world *world, uint32_t node)
{
    return &world->tallies[(size_t)node * TALLIES + world->peers[node].passages % TALLIES];
}

static inline void world_forget_tallies(struct world *world, uint32_t node)
{
    memset(world->tallies + (size_t)node * TALLIES, 0, TALLIES * sizeof *world->tallies);
}

/* kept.c: rows kept apart, if they are too many to lie in the states */
bool kept_open(struct world *world);
void kept_close(struct world *world);
void kept_forget(struct world *world, uint32_t node); /* it begins anew */
const struct keeper *kept_keeper(const struct world *world);

/* network.c */
void network_send(struct world *world, uint32_t from, const struct effect *effect);
void network_announce(struct world *world, enum event_kind event, uint32_t node);
void network_arrive(struct world *world, const struct due *due);

/* links.c */
enum link_answer { LINK_TAKES, LINK_HOLDS /* it has been put off */, LINK_LOSES };
enum link_answer links_arrive(struct world *world, const struct due *due);
uint64_t links_incarnation(struct world *world, uint32_t node);
void links_bury(struct world *world, uint32_t node);

/* faults.c */
void faults_after_event(struct world *world, uint32_t node);
void faults_due(struct world *world, const struct due *due);
void faults_stop(struct world *world, uint32_t node);
/* In multiples of a message's mean delay. */
uint64_t faults_time(const struct world *world, unsigned delays);
/* The node stands still: what is due for it was put off. */
bool faults_put_off(struct world *world, const struct due *due);

/* judge.c: every entry, every leaving; the one place that says what is wrong */
void judge_request(struct world *world, uint32_t node, uint8_t mode);
void judge_entry(struct world *world, uint32_t node, uint64_t fence);
void judge_exit(struct world *world, uint32_t node);
void judge_end(struct world *world);

/* trace.c: nothing happens if no trace is wanted */
void trace_begin(struct world *world);
/* request, enter, leave */
void trace_passage(struct world *world, uint32_t node, const char *event);
void trace_life(struct world *world, uint32_t node, const char *event); /* died, lost, joined */
void trace_send(struct world *world, const struct shipment *parcel, uint32_t to, uint32_t copies);
void trace_receive(struct world *world, uint32_t node, const struct shipment *parcel);
void trace_end(struct world *world, bool rest);

#endif
