/* SPDX-License-Identifier: MIT */
/* What asks know of others is handed on from one to the next.
 *
 * Each of ten thousand asks on one name has ten thousand rivals. If each kept what it knows of each
 * of them, that would be gigabytes. But one goes on at a time, and all know the same: whose place
 * it is, whether its owner lives, and whether it is a rival, which follows from the spec. So who
 * knows many puts that down when it stops, and who goes on with the same spec takes it up. What
 * lies here is nobody's; what was taken up is that region's alone, as if it had always been. Two
 * threads that go on at once, one of them leaving, have one each.
 *
 * Why it is right. A region that has put down what it knows is as one that was just opened: nobody
 * is known, and its next look gathers all of them. In the middle of a look (it awaits one that
 * chooses) they are gathered anew, and it goes on with the next place: whom it has not looked at
 * yet, and who was there when the look began, is among them, or gone; who came since will see what
 * was stored before the look. Only who has claimed keeps what it knows: it drops those whom it
 * watches once it knows that they are gone.
 * Who takes it up believes of it what it would believe of its own: that of a place whose life and
 * pulse are as they were when it was met (L4). Nothing else is taken for granted:
 *   - they are gathered anew, for who gave it is not in it, and who takes it may be;
 *   - whose sleep was ended, by another, does not matter until then, and is forgotten
 *     (passage/wake.c);
 *   - who had met a death, or a number, has passed that on: below.
 * Conditions and slots remember whom they saw, and keep what they know; so do regions of several
 * names, of which there are no ten thousand.
 *
 *   A5  What lies here was found by regions of that name, mode and priority.
 */
#include <string.h>

#include "memory/ask/ask.h"

/* Whether another with its spec may go on with what it knows. Not one that is being closed; nor of
 * a cluster's, one that is entered name by name or unit by unit. */
static bool shares(const ay_region *region)
{
    return region->ask && !region->remote.kind && region->spec.names == 1 &&
           region->spec.slots == 1 && !region->at.passage.conditional;
}

static bool is_alike(const struct put_down *down, const ay_region *region)
{
    return down->knowledge.met.slot && down->mode == region->spec.mode &&
           down->priority == region->spec.priority &&
           down->name.length == region->spec.name[0].length &&
           memcmp(down->name.bytes, region->spec.name[0].bytes, down->name.length) == 0;
}

/* Whoever has met a death since is not the only one to be told of it: it may have taken the death
 * of a place for known that another would have found. So each death found has a number, and who
 * takes up another number than it has seen looks for deaths. */
void ay__knowledge_take(ay_region *region)
{
    struct rivals *rivals = &region->at.rivals;
    if (!shares(region) || ay__acquaintances_are_many(rivals))
        return;
    struct asks *asks = region->ask->asks;
    if (atomic_load(&asks->down_count) == 0)
        return;
    AY__UNCANCELLED;
    pthread_mutex_lock(&ay__asks_mutex);
    for (struct put_down *down = asks->down; down < asks->down + KNOWLEDGE_MOST; down++)
        if (is_alike(down, region)) {
            ay__acquaintances_take(rivals, &down->knowledge);
            rivals->news |= rivals->deaths != down->deaths;
            rivals->deaths = down->deaths;
            atomic_fetch_sub(&asks->down_count, 1);
            break;
        }
    pthread_mutex_unlock(&ay__asks_mutex);
}

/* Room: where nothing lies; or else what has not been wanted for longest is forgotten. NULL: there
 * are no addresses left. */
static struct put_down *find_room(struct asks *asks)
{
    struct put_down *oldest = asks->down;
    for (struct put_down *down = asks->down; down < asks->down + KNOWLEDGE_MOST; down++) {
        if (!down->knowledge.reserve)
            down->knowledge.reserve = ay__acquaintances_reserve(asks->space->places);
        if (!down->knowledge.reserve)
            return NULL;
        if (!down->knowledge.met.slot)
            return down;
        if (down->when < oldest->when)
            oldest = down;
    }
    ay__knowledge_forget(&oldest->knowledge, asks->space->places);
    atomic_fetch_sub(&asks->down_count, 1);
    return oldest;
}

void ay__knowledge_give(ay_region *region)
{
    struct rivals *rivals = &region->at.rivals;
    if (!shares(region) || !ay__acquaintances_are_many(rivals))
        return;
    AY__UNCANCELLED;
    struct asks *asks = region->ask->asks;
    pthread_mutex_lock(&ay__asks_mutex);
    struct put_down *down = find_room(asks);
    if (down) {
        ay__acquaintances_give(rivals, &down->knowledge);
        if (rivals->heard)
            rivals->deaths = ++asks->deaths;
        rivals->heard = false;
        down->deaths = rivals->deaths;
        down->when = ++asks->when;
        down->name = region->spec.name[0];
        down->mode = region->spec.mode;
        down->priority = region->spec.priority;
        atomic_fetch_add(&asks->down_count, 1);
    }
    pthread_mutex_unlock(&ay__asks_mutex);
    if (!down)
        ay__acquaintances_forget(rivals, asks->space->places);
}

/* Not after it has claimed. */
static bool hands_on(const struct ask *ask)
{
    const struct registers *at = &ask->region->at;
    return !ask->resting || ask->remote || registers_waits(at, 0, at->mine.word);
}

/* Where it rests they are gathered at once: in the middle of a look it goes on with the next of
 * them; and who looks up counts those that sleep where it does (passage/wait.c). */
void ay__ask_takes_up(struct ask *ask)
{
    struct registers *at = &ask->region->at;
    if (!shares(ask->region) || !hands_on(ask))
        return;
    ay__knowledge_take(ask->region);
    if (ask->resting && !ask->remote && at->rivals.gathered == NEVER_GATHERED) {
        ay__gather(at);
        at->rivals.run = 0;
    }
}

void ay__ask_puts_down(struct ask *ask)
{
    if (hands_on(ask))
        ay__knowledge_give(ask->region);
}

void ay__knowledge_end(struct asks *asks)
{
    for (struct put_down *down = asks->down; down < asks->down + KNOWLEDGE_MOST; down++)
        if (down->knowledge.reserve)
            ay__acquaintances_unreserve(down->knowledge.reserve, asks->space->places);
}
