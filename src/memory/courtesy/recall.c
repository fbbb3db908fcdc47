/* SPDX-License-Identifier: MIT */
/* Recall: how a retained permission is taken back, by the keeper of its owner
 * (protocols/registers/courtesy/courtesy_retain.h).
 *
 * A rival wakes the keeper by the `recalled` of the owner's place, a word that only the keeper
 * writes. Should the keeper not be asleep on it just then, the rival tries again: either the keeper
 * is at work, and will see that the word is RETAINED, or it is on its way to sleep. The keeper
 * takes back all that its process retains: which of it was meant it need not know.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "memory/courtesy/retention.h"
#include "memory/passage/words.h"

#include "protocols/registers/courtesy/courtesy.h"

static bool is_retained(word w)
{
    return courtesy_state(w) == COURTESY_RETAINED;
}

static bool is_settled(const struct registers *at, unsigned place, word seen)
{
    access_point();
    return atomic_load(&registers_hot(at, place)->word) != seen ||
           !ay__vital(at->fixed.space, place).alive;
}

/* Calls until the keeper has heard it, or it is of no use any more: a moment at most, for one that
 * is stopped hears nothing. The processor is not given away meanwhile: it may be long until one
 * gets it back. */
static bool call(const struct registers *at, unsigned place, word seen)
{
    enum { PAUSES = 20 };
    for (unsigned calls = 0; calls < CALLS_MOST && !is_settled(at, place, seen); calls++) {
        if (ay__futex_wake(&registers_hot(at, place)->recalled) > 0)
            return true;
        for (unsigned pause = 0; pause < PAUSES; pause++)
            spin_once();
    }
    return false;
}

/* Comes back soon, whatever the owner does: it never waits for one that does not run. If the word
 * is the same then, the rival sleeps on it, or gives up. The keeper wakes it when it takes the
 * permission back; so does the owner when it leaves. */
void ay__recall(struct registers *at, unsigned place, word seen)
{
    enum { ANSWER_NS = 1000 * 1000 };
    AY__UNCANCELLED;
    const struct hot *hot = registers_hot(at, place);
    at->passage.waited = true;
    const bool heard = call(at, place, seen);
    at->passage.unheard = heard ? AT_NOBODY : place;
    if (!heard || at->passage.deadline != INT64_MIN || atomic_load(&hot->inside))
        return;
    /* A keeper that has heard is not stopped, and answers at once: who only tries waits for
     * that. */
    struct ay__waitv answer = {
        .value = (uint32_t)seen, .address = (uintptr_t)&hot->word, .flags = WAITV_32_BITS};
    ay__futex_sleep(&answer, 1, 0, ay__now() + ANSWER_NS);
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
        for (ay_region *region = space->regions; region && count < RETAINED_MOST;
             region = region->next) {
            struct registers *at = &region->at;
            access_point();
            const word seen = atomic_load(&at->near.own->word);
            access_point();
            const uint32_t grant = atomic_load(&at->retention.grant);
            if (!at->retention.may || !is_retained(seen) || grant == 0)
                continue;
            access_point();
            atomic_store(&at->near.own->recalled, grant);
            recalls[count++] = (struct recall_of){at, seen};
        }
    return count;
}

/* False: the owner was inside since its word was seen. */
static bool take_back(struct recall_of *recall)
{
    struct hot *own = recall->at->near.own;
    assert_invariant(L1, recall->at->retention.may); /* its owner looks for recalls */
    access_point();
    if (atomic_load(&own->inside) != 0)
        return true; /* it will find the recall when it leaves */
    word expected = recall->seen;
    access_point();
    if (!atomic_compare_exchange_strong(&own->word, &expected,
                                        courtesy_in(COURTESY_IDLE, recall->seen)))
        return false;
    ay__futex_wake(&own->word);
    return true;
}

unsigned ay__recall_words(struct ay__waitv *words)
{
    unsigned count = 0;
    for (const ay_space *space = ay__process.spaces; space; space = space->next)
        for (const ay_region *region = space->regions; region && count < RETAINED_MOST;
             region = region->next)
            if (region->at.retention.may) {
                const struct registers *at = &region->at;
                words[count++] = (struct ay__waitv){.value = atomic_load(&at->near.own->recalled),
                                                    .address = (uintptr_t)&at->near.own->recalled,
                                                    .flags = WAITV_32_BITS};
            }
    return count;
}

void ay__recall_all(void)
{
    assert_required(ay__mutex_is_held());
    struct recall_of recalls[RETAINED_MOST];
    bool again = true;
    while (again) { /* a second time at most, unless a permission is given anew meanwhile */
        const unsigned count = say_recalled(recalls);
        again = false;
        if (count > 0)
            /* registered: it cannot fail */
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
        for (unsigned which = 0; which < count; which++)
            again |= !take_back(&recalls[which]);
    }
}
