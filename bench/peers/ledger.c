/* SPDX-License-Identifier: MIT */
/* The ledger's one entry: the entrant notes whom it overtook, and how often it was overtaken
 * itself. */
#include "ledger.h"

static void note_overtaken(struct ledger *ledger, const struct member *member, unsigned other,
                           int64_t my_ask)
{
    struct wait *wait = &ledger->waits[other];
    const int64_t asked = atomic_load_explicit(&ledger->asked[other].ns, memory_order_acquire);
    if (asked == 0)
        return;
    if (wait->asked_ns != asked)
        *wait = (struct wait){.asked_ns = asked};
    wait->overtaken += my_ask > asked;
    if (!ledger->queued)
        return;
    if (wait->queued_ns != 0)
        wait->overtaken_in_queue += my_ask > wait->queued_ns;
    else if (ledger->queued(member, other))
        wait->queued_ns = now_ns();
}

uint64_t ledger_enter(struct ledger *ledger, const struct member *member)
{
    const uint64_t entries = ledger->entries;
    struct asked *mine = &ledger->asked[member->self];
    const struct wait *wait = &ledger->waits[member->self];
    const int64_t my_ask = atomic_load_explicit(&mine->ns, memory_order_relaxed);
    atomic_store_explicit(&mine->ns, 0, memory_order_release);
    if (wait->asked_ns == my_ask) {
        if (wait->overtaken > ledger->overtaken_most)
            ledger->overtaken_most = wait->overtaken;
        if (wait->overtaken_in_queue > ledger->overtaken_in_queue_most)
            ledger->overtaken_in_queue_most = wait->overtaken_in_queue;
    }
    for (unsigned other = 0; other < member->meeting->members; other++)
        if (other != member->self)
            note_overtaken(ledger, member, other, my_ask);
    return entries;
}
