/* SPDX-License-Identifier: MIT */
/* The ledger: who asked when and who entered, so that overtakings are counted, in the same way for
 * all peers.
 *
 * q *overtakes* p if q asks after p has asked, and is inside before p is. To ask is to call the
 * peer's enter; the time is noted just before. The overtakings of p are counted per wait of p; the
 * greatest of all waits is the figure.
 *
 * A process that is put off its processor between noting the time and the first step of the lock is
 * overtaken by this definition, though it has not told the lock yet that it wants in. No lock can
 * help that; so a strictly fair one may show some. Where the doorway of a lock can be seen (struct
 * peer, `queued`) a second figure leaves this out: it counts the entries of those that asked after
 * p was *seen to be in the queue* by somebody inside. This is the figure that a bound on overtaking
 * bounds.
 *
 * What is asked is written by each member on lines of its own. All the rest is written inside only:
 * the lock that is measured protects it. Entries are counted by a fetch at the beginning of the
 * section and a store at its end; if their sum differs from what the members counted by themselves,
 * two were inside at once.
 */
#ifndef BENCH_PEERS_LEDGER_H
#define BENCH_PEERS_LEDGER_H

#include "clock.h"
#include "peer.h"

struct asked {
    /* since when this member has been waiting; 0: it does not wait */
    _Alignas(APART) _Atomic int64_t ns;
};

struct wait {
    int64_t asked_ns;  /* which wait of that member this is about */
    int64_t queued_ns; /* when it was first seen in the queue; 0: not yet */
    uint64_t overtaken, overtaken_in_queue;
};

struct ledger {
    struct asked asked[MEMBERS_MOST];
    _Alignas(APART) uint64_t entries;
    struct wait waits[MEMBERS_MOST];
    uint64_t overtaken_most, overtaken_in_queue_most;
    bool (*queued)(const struct member *self, unsigned other);
};

/* Just before the call of enter. */
static inline void ledger_ask(struct ledger *ledger, unsigned self)
{
    atomic_store_explicit(&ledger->asked[self].ns, now_ns(), memory_order_release);
}

/* Just after it; gives what ledger_leave wants. */
uint64_t ledger_enter(struct ledger *ledger, const struct member *member);

/* Just before the call of leave. */
static inline void ledger_leave(struct ledger *ledger, uint64_t entries)
{
    ledger->entries = entries + 1;
}

#endif
