/* SPDX-License-Identifier: MIT */
/* Waking: who sleeps on a word of mine, or is aside, and whether it must be told. How they sleep,
 * and why no wake-up is lost, is in wait.c. */
#include "memory/ask/tell.h"
#include "memory/passage/region.h"

/* Through the mapping that may be written: there the kernel finds it faster. */
static long wake_own(struct registers *at, unsigned index)
{
    asks_tell(at);
    return ay__futex_wake(registers_own_word(at, index));
}

/* One that sleeps on a dead place, and cannot hear that it died. */
static void tell_the_deaf(struct registers *at, uint64_t asleep)
{
    const unsigned on = (unsigned)(asleep & ASLEEP_PLACE_MASK) - 1;
    if (on < at->fixed.places && !life_alive(atomic_load(&registers_hot(at, on)->life)))
        ay__futex_wake(&registers_hot(at, on)->word);
}

/* Whether one that says `asleep` sleeps, in the kernel or on its way there, and I may have to wake
 * it: it sleeps on me, or on several. A sleep that I ended when I left needs no second call:
 * whoever is on its way up, or on its way to sleep, will find my word changed, for the next passage
 * has another number. Who steps back, or aside, comes again with the same one: a sleeper that has
 * not reached the kernel may find just the word that it saw. So what was ended then may have to be
 * ended again. `wakes`: I shall. */
static inline bool needs_waking(struct registers *at, unsigned place, const struct hot *hot,
                                uint64_t asleep, bool wakes)
{
    const bool mine = (asleep & ASLEEP_PLACE_MASK) == at->fixed.self + 1;
    if (asleep >> ASLEEP_SEVERAL_SHIFT & 1)
        return mine || !(asleep >> ASLEEP_ONE_SHIFT & 1);
    if (!mine)
        return false;
    access_point();
    const uint32_t sleeps = atomic_load(&hot->sleeps);
    const bool again =
        !at->rivals.taken && acquaintance_of(&at->rivals.met, place)->woken == sleeps;
    if (wakes && registers_is_idle(at, 0, registers_own(at, 0)))
        registers_acquaintance(at, place)->woken = sleeps;
    return !again;
}

/* I have left. Who was woken ahead of time, and sleeps again, waits for just this: it hears of it
 * before anybody else is looked at, and that may be thousands. */
static void wake_expected(struct registers *at)
{
    const unsigned next = at->habits.next;
    at->habits.next = 0;
    if (next == 0)
        return;
    const struct hot *hot = registers_hot(at, next - 1);
    access_point();
    const uint64_t asleep = atomic_load(&hot->asleep);
    if (!(asleep >> ASLEEP_SEVERAL_SHIFT & 1) && needs_waking(at, next - 1, hot, asleep, true))
        wake_own(at, 0);
}

/* Whether somebody at this place may have to be woken or roused. Whoever dies meanwhile may be
 * taken at its word: if it is to be woken, the look behind this one tells. */
static inline bool is_waited_for(struct registers *at, unsigned place, const struct hot *hot,
                                 word mask, word waits)
{
    access_point();
    const word value = atomic_load(&hot->word);
    if (registers_is_idle(at, 0, value))
        return false;
    access_point();
    const uint64_t asleep = atomic_load(&hot->asleep);
    return (value & mask) != waits || asleep >> ASLEEP_DEAF_SHIFT & 1 ||
           needs_waking(at, place, hot, asleep, false);
}

/* Of those who have come since the rivals were gathered too: their tags are enough. */
static bool none_among_tagged(struct registers *at, word mask, word waits)
{
    if (!at->fixed.tags)
        return false;
    const unsigned end = registers_end(at);
    for (unsigned place = registers_next_tagged(at, 0, end); place < end;
         place = registers_next_tagged(at, place + 1, end))
        if (place != at->fixed.self &&
            is_waited_for(at, place, registers_hot(at, place), mask, waits))
            return false;
    return true;
}

static bool none_among_gathered(struct registers *at, word mask, word waits)
{
    const struct stretch *const end = at->rivals.runs + at->rivals.run_count;
    for (const struct stretch *run = at->rivals.runs; run < end; run++) {
        const char *line = run->line;
        for (unsigned place = run->place; place < run->end; place++, line += run->stride)
            if (is_waited_for(at, place, (const struct hot *)line, mask, waits))
                return false;
    }
    return true;
}

/* One that sleeps is passed again and again, and has to be woken once. */
bool ay__none_to_wake(struct registers *at, word mask, word waits)
{
    wake_expected(at);
    if (!(registers_gathered(at) ? none_among_gathered(at, mask, waits)
                                 : none_among_tagged(at, mask, waits)))
        return false;
    at->habits.contended = true;
    return true;
}

/* An ask that sleeps on my word: a hint is faster than a helper. Many of one process need one. */
static bool hint(struct registers *at, unsigned place, uint64_t asleep, struct hints *hints)
{
    return asleep >> ASLEEP_HEARS_SHIFT & 1 && (asleep & ASLEEP_PLACE_MASK) == at->fixed.self + 1 &&
           ay__hint(at->fixed.space, place, at->fixed.self, hints);
}

void ay__wake(struct registers *at)
{
    bool needed = false;
    struct hints hints = {0};
    at->habits.contended = true;
    if (!registers_gathered(at))
        ay__gather(at);
    const struct stretch *const end = at->rivals.runs + at->rivals.run_count;
    for (const struct stretch *run = at->rivals.runs; run < end; run++) {
        const char *line = run->line;
        for (unsigned place = run->place; place < run->end; place++, line += run->stride) {
            const struct hot *hot = (const struct hot *)line;
            access_point();
            const uint64_t asleep = atomic_load(&hot->asleep);
            if (asleep >> ASLEEP_DEAF_SHIFT & 1)
                tell_the_deaf(at, asleep);
            needed |=
                needs_waking(at, place, hot, asleep, true) && !hint(at, place, asleep, &hints);
        }
    }
    if (needed)
        wake_own(at, 0);
}

/* Those who sleep on my word, but for asks. */
struct sleepers {
    unsigned count;
    bool asks;       /* likewise, of these */
    unsigned place;  /* of the last of them, */
    uint32_t sleeps; /* its sleep, */
    bool alone;      /* and it is to be inside alone: whoever waits behind it sleeps on it */
};

static void count_sleeper(const struct registers *at, unsigned place, struct sleepers *found)
{
    const struct hot *hot = registers_hot(at, place);
    access_point();
    const uint64_t asleep = atomic_load(&hot->asleep);
    if ((asleep & ASLEEP_PLACE_MASK) != at->fixed.self + 1)
        return;
    const bool asks = asleep >> ASLEEP_ONE_SHIFT & 1;
    found->asks |= asks;
    if (asks)
        return;
    access_point();
    found->sleeps = atomic_load(&hot->sleeps);
    access_point();
    const uint64_t value = atomic_load(&hot->word);
    found->alone = at->fixed.protocol->mode && at->fixed.protocol->mode(value) == AY_EXCLUSIVE;
    found->place = place;
    found->count++;
}

/* Who sleeps on me says so at its place: of those who have come since the rivals were gathered, and
 * that may be thousands, nobody need be met for it. */
static struct sleepers find_sleepers(struct registers *at)
{
    struct sleepers found = {0};
    if (!registers_gathered(at)) {
        const unsigned end = registers_end(at);
        for (unsigned place = registers_next_tagged(at, 0, end); place < end;
             place = registers_next_tagged(at, place + 1, end))
            count_sleeper(at, place, &found);
        return found;
    }
    for (unsigned place = registers_next_rival(at, 0); place < at->fixed.places;
         place = registers_next_rival(at, place + 1))
        count_sleeper(at, place, &found);
    return found;
}

/* While I am inside, the next one gets up. Not an ask, whose helper would find nothing, go to sleep
 * again, and be woken twice. When I leave `soon`, it need not be woken any more, if the kernel says
 * that one was asleep on my word, and that can only be this one: no ask's helper, and no other
 * reader that was on its way there. */
void ay__wake_next(struct registers *at, bool soon)
{
    const struct sleepers found = find_sleepers(at);
    at->habits.next = found.count == 1 && !found.asks ? found.place + 1 : 0;
    if (found.count > 0 && wake_own(at, 0) == 1 && soon && found.count == 1 && found.alone &&
        !found.asks)
        registers_acquaintance(at, found.place)->woken = found.sleeps;
}

/* One that says nothing of sleeping is awake, or on its way to sleep: there it will find what has
 * changed. */
void ay__wake_one(struct registers *at, unsigned place)
{
    const struct hot *hot = registers_hot(at, place);
    struct hints hints = {0};
    access_point();
    const uint64_t asleep = atomic_load(&hot->asleep);
    if (asleep != 0 &&
        !(asleep >> ASLEEP_HEARS_SHIFT & 1 && ay__hint(at->fixed.space, place, place, &hints)))
        ay__futex_wake(&hot->sleeps);
}

/* One that is about to sleep finds `rouses` changed, wherever it stands between its look and its
 * sleep. Without memory for a mapping it may miss that, if it cannot watch me. */
void ay__rouse_aside(struct registers *at, unsigned place)
{
    _Atomic uint32_t *rouses = ay__space_rouses(at->fixed.space);
    access_point();
    if (rouses)
        atomic_fetch_add(rouses, 1);
    ay__wake_one(at, place);
}

void ay__rouse(struct registers *at)
{
    /* the fence: the last store may have been a late one */
    ay__store_and_fence(&at->near.own->asleep, 0);
    for (unsigned place = registers_next(at, 0); place < at->fixed.places;
         place = registers_next(at, place + 1)) {
        access_point();
        const uint64_t asleep = atomic_load(&registers_hot(at, place)->asleep);
        if ((asleep & ASLEEP_PLACE_MASK) == at->fixed.self + 1) {
            const unsigned index = (unsigned)(asleep >> ASLEEP_INDEX_SHIFT) & ASLEEP_INDEX_MASK;
            if (index <= WORDS_MOST)
                wake_own(at, index);
        }
    }
}
