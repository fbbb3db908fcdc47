/* SPDX-License-Identifier: MIT */
/* Recall: how a retained permission is taken back, by the keeper of its owner (protocols/courtesy_retain.h).
 *
 * A rival wakes the keeper by the `recalled` of the owner's place, a word that only the keeper writes. Should the keeper not be asleep on it just then, the rival
 * tries again: either the keeper is at work, and will see that the word is RETAINED, or it is on its way to sleep. The keeper takes back all that
 * its process retains: which of it was meant it need not know.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/region.h"

#include "protocols/courtesy.h"

static bool is_retained(word w)
{
    return courtesy_state(w) == COURTESY_RETAINED;
}

/* Comes back once the word is another, or the owner is seen inside, or after some time: whoever is kept out then sleeps until the owner leaves, and calls
 * again when it looks again. */
void ay__recall(struct registers *at, unsigned place, word seen)
{
    enum { TRIES = 2000 };
    const struct hot *hot = registers_hot(at, place);
    bool called = false;
    at->waited = true;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        if (atomic_load(&hot->word) != seen || !life_alive(atomic_load(&hot->life)))
            return;
        called = called || ay__futex_wake(&hot->recalled) > 0;
        if (called && atomic_load(&hot->inside))
            return;
        sched_yield();
    }
}

int ay__recall_begin(void)
{
    const long can = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (can < 0 || !(can & MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return ay__fail(-ENOTSUP, "the kernel has no membarrier(2) that retained permissions need");
    ay__futex_probe();
    return 0;
}

struct recall_of {
    struct registers *at;
    word seen;
};

static unsigned say_recalled(struct recall_of *recalls)
{
    unsigned count = 0;
    for (ay_space *space = ay__process.spaces; space; space = space->next)
        for (ay_region *region = space->regions; region && count < RETAINED_MOST; region = region->next) {
            struct registers *at = &region->at;
            const word seen = atomic_load(&at->own->word);
            const uint32_t grant = atomic_load(&at->grant);
            if (!at->may_retain || !is_retained(seen) || grant == 0)
                continue;
            atomic_store(&at->own->recalled, grant);
            recalls[count++] = (struct recall_of){at, seen};
        }
    return count;
}

/* False: the owner was inside since its word was seen. */
static bool take_back(struct recall_of *recall)
{
    struct hot *own = recall->at->own;
    if (atomic_load(&own->inside) != 0)
        return true; /* it will find the recall when it leaves */
    word expected = recall->seen;
    if (!atomic_compare_exchange_strong(&own->word, &expected, courtesy_in(COURTESY_IDLE, recall->seen)))
        return false;
    ay__futex_wake(&own->word);
    return true;
}

unsigned ay__recall_words(struct ay__waitv *words)
{
    unsigned count = 0;
    for (const ay_space *space = ay__process.spaces; space; space = space->next)
        for (const ay_region *region = space->regions; region && count < RETAINED_MOST; region = region->next)
            if (region->at.may_retain) {
                const struct registers *at = &region->at;
                words[count++] = (struct ay__waitv){.value = atomic_load(&at->own->recalled),
                                                    .address = (uintptr_t)&at->own->recalled,
                                                    .flags = WAITV_32_BITS};
            }
    return count;
}

void ay__recall_all(void)
{
    struct recall_of recalls[RETAINED_MOST];
    bool again = true;
    while (again) { /* a second time at most, unless a permission is given anew meanwhile */
        const unsigned count = say_recalled(recalls);
        again = false;
        if (count > 0)
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); /* registered: it cannot fail */
        for (unsigned which = 0; which < count; which++)
            again |= !take_back(&recalls[which]);
    }
}
