/* SPDX-License-Identifier: MIT */
/* Claims: how a place gets its one writer, and how it is given back or taken from one who is gone.
 *
 * Nobody waits for anybody here. A claimer may be stopped or killed after any of its steps, and all
 * others go on:
 *   1  read-lock the place's byte, the witness that somebody is there (L7)
 *   2  allocate the granules up to it (L3), and map its own
 *   3  swap its life from one that is over to CLAIMED: now its one writer (L1)
 *   4  keep an untold death of the last owner; raise the floors of its names, rewrite registers,
 *      spec and identity (L4), and store the tag (L9)
 *   5  raise `used` above it (L2)
 *   6  link it into the keeper's list (K1), and make it alive: it asks to be admitted
 *   7  look whether all who are alive agree with its spec, and be admitted (spec.c)
 *   8  add one to `claims`, the space's and those of its names (L6)
 * Killed before 3 it leaves nothing; before 6, a place that is not alive and that nobody locks: the
 * next swaps it likewise, if there is no other. After 6 the kernel says that it is dead. Stopped,
 * it keeps that one place: the others take another, for its life is not as they saw it, or its byte
 * is locked.
 *
 * Which lives are over: 0 is the last store of an owner that closes its region. One that died may
 * still run for a moment on another processor; its byte is locked until its process is gone. So
 * is the byte of a claimer that works, and it is CLAIMED by compare-and-swap, so of two one wins.
 *
 * Which place is taken: the lowest that nobody has, of the first WALKED. Beyond, those that are
 * free again are looked for by all claimers together, some places each, in turn: so few stay
 * unused, and nobody walks through ten thousand.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "memory/memory.h"
#include "memory/passage/protocol.h"
#include "memory/passage/region.h"

unsigned ay__used(const ay_space *space)
{
    const unsigned used = atomic_load(&((const struct header *)space->base)->used);
    /* another's word is believed within limits only */
    return used < space->places ? used : space->places;
}

static bool is_claimed(uint64_t life)
{
    return life & FUTEX_OWNER_DIED && (life & FUTEX_TID_MASK) != 0;
}

/* Being claimed: not alive, and another value than any before in this generation. */
static uint64_t claimed_after(uint64_t life)
{
    const uint32_t claims = is_claimed(life) ? (uint32_t)(life & FUTEX_TID_MASK) : 0;
    return life_make(life_generation(life), FUTEX_OWNER_DIED | (claims % FUTEX_TID_MASK + 1));
}

/* The program may have closed its descriptor, and the lock with it, and live on: the thread that
 * was there last, or if none was yet, the process. In a copy of the file nobody lives; and who
 * shares holds by the lock alone. Nor does a thread that another program was executed in, though
 * nothing may have marked its pulse: if it was not the first of its process, the kernel takes it
 * for that one before it looks at its list. */
static bool lives_without_lock(const ay_space *space, unsigned place)
{
    const struct header *header = (const struct header *)space->base;
    const struct cold *cold = ay__cold(space, place);
    const struct vital vital = ay__vital(space, place);
    if (!vital.alive || life_shared(vital.life) || header->device != space->file.device ||
        header->inode != space->file.inode)
        return false;
    return vital.border ? ay__thread_is_running(&cold->owner, atomic_load(&cold->tid))
                        : ay__is_running(&cold->owner);
}

/* Whether the last owner of a place, or a claimer, has made its last store there. A lock may be a
 * stranger's: then a dead owner whose process is gone counts; a claimer is not known by name. */
static bool is_over(const ay_space *space, unsigned place, uint64_t life)
{
    if (life_alive(life))
        return false;
    if (life_word(life) == 0)
        return true;
    if (!ay__file_locked(space->fd, ay__claim_byte(space, place)))
        return !lives_without_lock(space, place);
    return !is_claimed(life) && ay__is_gone(&ay__cold(space, place)->owner);
}

/* L3: all granules from `used` up to those of `place`. Some of them are being claimed by others;
 * that does not matter. */
static int allocate(const ay_space *space, unsigned place)
{
    const unsigned used = ay__used(space);
    if (place < used)
        return 0;
    const int error = ay__file_allocate(space->fd, space->granule, space->places, space->granules,
                                        used, place + 1);
    return error ? ay__fail(-error, "cannot allocate a place: %s", strerror(error)) : 0;
}

static void unmap(ay_space *space, struct claim *claim)
{
    ay__arena_unmap(space, claim);
    claim->step = CLAIM_LOCKED;
}

/* It can store there no more. */
static void unlock(const ay_space *space, struct claim *claim)
{
    assert_invariant(L7, claim->step <= CLAIM_LOCKED && !claim->hot);
    if (descriptor_is(space->fd, &space->file)) /* or the lock has gone with it */
        ay__file_unlock(space->fd, ay__claim_byte(space, claim->place));
    claim->step = CLAIM_NONE;
}

enum {
    TAKEN = 1,
    HAND_STEPS = 64 /* places beyond those walked that a claimer looks at */
};

/* Step 3. `seen`: the life that was over; a place never used is looked at only now (L3). */
static int swap(const ay_space *space, const struct claim *claim, bool ever_used, uint64_t seen)
{
    struct hot *hot = claim->hot;
    if (!ever_used) {
        seen = atomic_load(&hot->life);
        if (!is_over(space, claim->place, seen))
            return TAKEN;
    }
    access_point();
    return atomic_compare_exchange_strong(&hot->life, &seen, claimed_after(seen)) ? 0 : TAKEN;
}

/* Steps 1 to 3. TAKEN: somebody else is there. Unless it is the last resort, also: somebody was
 * about to claim it, for to ask whether it is still there takes long in a crowd; or there are so
 * many untold deaths that one would be forgotten. */
static int take(ay_space *space, unsigned place, bool last_resort, struct claim *claim)
{
    const bool ever_used = place < ay__used(space);
    const uint64_t seen = ever_used ? atomic_load(&ay__hot(space, place)->life) : 0;
    if (ever_used && !last_resort && is_claimed(seen))
        return TAKEN;
    if (ever_used && !is_over(space, place, seen))
        return TAKEN;
    if (ay__arena_has(space, place)) /* who may write the file has closed it for me */
        return TAKEN;
    if (ever_used && !last_resort &&
        ay__inherited_full(ay__hot(space, place), ay__cold(space, place)))
        return TAKEN;
    access_point();
    int error = ay__file_lock(space->fd, F_RDLCK, ay__claim_byte(space, place), 1);
    if (error)
        return error;
    *claim = (struct claim){.place = place, .step = CLAIM_LOCKED};
    error = allocate(space, place);
    if (!error)
        error = ay__arena_map(space, claim);
    if (!error) {
        claim->step = CLAIM_MAPPED;
        error = swap(space, claim, ever_used, seen);
        if (error)
            unmap(space, claim);
        else
            claim->step = CLAIM_OWNED;
    }
    if (error)
        unlock(space, claim);
    return error;
}

/* The lowest from `first` to before `end`. */
static int take_walking(ay_space *space, unsigned first, unsigned end, bool last_resort,
                        struct claim *claim)
{
    int error = TAKEN;
    for (unsigned place = first; place < end && error == TAKEN; place++)
        error = take(space, place, last_resort, claim);
    return error;
}

/* Of the places beyond the first: one that is free again, among those whose turn it is. */
static int take_in_turn(ay_space *space, unsigned used, struct claim *claim)
{
    int error = TAKEN;
    const unsigned beyond = used - WALKED,
                   first = atomic_fetch_add(&space->pen.header->hand, HAND_STEPS);
    for (unsigned step = 0; step < HAND_STEPS && step < beyond && error == TAKEN; step++)
        error = take(space, WALKED + (first + step) % beyond, false, claim);
    return error;
}

static int take_any(ay_space *space, struct claim *claim)
{
    const unsigned used = ay__used(space);
    int error = take_walking(space, 0, used < WALKED ? used : WALKED, false, claim);
    if (error == TAKEN && used > WALKED)
        error = take_in_turn(space, used, claim);
    if (error == TAKEN)
        error = take_walking(space, used, space->places, false, claim);
    if (error == TAKEN)
        error = take_walking(space, 0, space->places, true, claim);
    if (error != TAKEN)
        return error;
    return ay__fail(
        -EUSERS,
        "all %u places of the space are taken: each open region has one; make a space with more "
        "(--places)",
        space->places);
}

/* L9: who has one of these names from now on draws a greater number than this place ever did. */
static void raise_floors(struct header *header, const struct public_spec *spec, uint64_t number)
{
    /* another's page is believed within limits only */
    for (unsigned at = 0; at < spec->names && at < NAMES_MOST; at++) {
        _Atomic uint64_t *floor = &header->bucket[bucket_of(ay__name_hash(&spec->name[at]))].floor;
        uint64_t seen = atomic_load(floor);
        while (seen < number && !atomic_compare_exchange_weak(floor, &seen, number))
            ;
    }
}

static unsigned tag_for(const ay_space *space, const struct claim *claim)
{
    return !(space->protocol->features & FEATURE_NAMES) || atomic_load(&claim->hot->inherited)
               ? TAG_LOOK
               : tag_of(ay__spec_hash(&claim->cold->spec));
}

/* Step 4. The word keeps what its protocol keeps across death. */
static void reset(const ay_space *space, struct claim *claim, const struct public_spec *spec)
{
    assert_invariant(L4, claim->step == CLAIM_OWNED);
    const struct running_protocol *protocol = space->protocol;
    struct hot *hot = claim->hot;
    struct cold *cold = claim->cold;
    const uint64_t was = atomic_load(&hot->word), is = protocol->dead(0, was);
    assert_invariant(L5, protocol_number(protocol, is) >= protocol_number(protocol, was));
    if (protocol->number_bits)
        raise_floors(space->pen.header, &cold->spec, protocol_number(protocol, is));
    atomic_store(&hot->word, is);
    atomic_store(&hot->pulse, 0);
    atomic_store(&hot->asleep, 0);
    if (space->granules > 2) {
        struct registers_page *page = claim->registers;
        for (unsigned index = 0; index < WORDS_MOST; index++)
            atomic_store(&page->word[index],
                         space->protocol->dead(index + 1, atomic_load(&page->word[index])));
        for (unsigned index = 0; index < BITS_MOST && space->protocol->dead_bit; index++)
            atomic_store(&page->bit[index],
                         space->protocol->dead_bit(index, atomic_load(&page->bit[index])));
    }
    atomic_store(&cold->thread, 0);
    atomic_store(&cold->conditional, 0);
    atomic_store(&cold->waiting, 0);
    atomic_store(&cold->asks, 0);
    atomic_store(&cold->cancels, 0);
    atomic_store(&cold->cancelled, 0);
    atomic_store(&cold->cancelled_by, 0);
    atomic_store(&cold->since_ns, ay__now());
    for (unsigned at = 0; at < AY_UNITS_MOST / 64; at++)
        atomic_store_explicit(&cold->units[at], 0, memory_order_relaxed);
    access_point();
    cold->spec = *spec;
    ay__spec_shorten(spec, hot);
    ay__identify(&cold->owner);
    assert_invariant(L9, claim->step < CLAIM_ALIVE);
    access_point();
    tag_store(space->pen.tags, claim->place, tag_for(space, claim));
    claim->step = CLAIM_WRITTEN;
}

static uint32_t next_generation(uint64_t life)
{
    const uint32_t generation = life_generation(life) + 1;
    return generation ? generation : 1; /* 0 is for places never used */
}

/* Step 6. */
static int come_alive(struct claim *claim)
{
    assert_invariant(L2, claim->step == CLAIM_IN_USE);
    struct hot *hot = claim->hot;
    uint32_t tid;
    const int error = ay__keeper_add(claim->node, &tid);
    if (error)
        return error;
    const uint32_t generation = next_generation(atomic_load(&hot->life));
    atomic_store(&claim->cold->admission, of_generation(generation, ADMISSION_ASKED));
    access_point();
    atomic_store(&hot->life, life_make(generation, tid | FUTEX_WAITERS));
    claim->step = CLAIM_ALIVE;
    return 0;
}

/* Step 5: all up to it are allocated. */
static void raise_used(struct header *header, struct claim *claim)
{
    assert_invariant(L3, claim->step >= CLAIM_MAPPED);
    const unsigned least = claim->place + 1;
    unsigned used = atomic_load(&header->used);
    while (used < least && !atomic_compare_exchange_weak(&header->used, &used, least))
        ;
    claim->step = CLAIM_IN_USE;
}

/* Step 8. */
static void count(struct header *header, struct claim *claim)
{
    assert_invariant(L6, claim->step == CLAIM_ADMITTED);
    const struct public_spec *spec = &claim->cold->spec;
    for (unsigned at = 0; at < spec->names && at < NAMES_MOST; at++) {
        access_point();
        atomic_fetch_add(&header->bucket[bucket_of(ay__name_hash(&spec->name[at]))].claims, 1);
    }
    /* an untold death of some other name may have come here */
    for (unsigned at = 0; at < BUCKETS && atomic_load(&claim->hot->inherited); at++)
        atomic_fetch_add(&header->bucket[at].claims, 1);
    access_point();
    atomic_fetch_add(&header->claims, 1);
    claim->step = CLAIM_COUNTED;
}

static int check_named(const ay_space *space)
{
    struct stat status;
    if (fstat(space->fd, &status) != 0 || status.st_nlink == 0)
        return ay__fail(-ESTALE, "the space %s was removed", space->path);
    return 0;
}

/* A life is over for all who look before it is so for the next claimer: until the node is unlinked,
 * the kernel may still write there, should this process be killed. */
static void give_back(ay_space *space, struct claim *claim)
{
    assert_invariant(L1, claim->step >= CLAIM_OWNED);
    struct hot *hot = claim->hot;
    const uint32_t generation = life_generation(atomic_load(&hot->life));
    if (claim->step >= CLAIM_ALIVE) {
        access_point();
        atomic_store(&hot->life, claimed_after(life_make(generation, 0)));
        ay__futex_wake(&hot->life);
        ay__keeper_remove(claim->node);
    }
    access_point();
    atomic_store(&hot->pulse, 0);
    atomic_store(&hot->life, life_make(generation, 0));
    unmap(space, claim);
    unlock(space, claim);
}

/* Steps 4 to 8. */
static int move_in(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    int error = check_named(space);
    if (!error) {
        ay__inherit(claim->hot, claim->cold);
        reset(space, claim, spec);
        access_point();
        raise_used(space->pen.header, claim);
        error = come_alive(claim);
    }
    if (!error)
        error = ay__spec_admit(space, claim);
    if (error) {
        give_back(space, claim);
        return error;
    }
    claim->step = CLAIM_ADMITTED;
    count(space->pen.header, claim);
    return 0;
}

int ay__claim(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    assert_required(claim->step == CLAIM_NONE && ay__mutex_is_held());
    int error = ay__file_again(space);
    if (!error)
        error = ay__pen_take(space);
    if (error)
        return error;
    error = take_any(space, claim);
    if (!error)
        error = move_in(space, spec, claim);
    ay__pen_lay_down(space);
    return error;
}

/* Of a living process, whose thread ended there in the middle of a passage: steps 3 to 6, and 8.
 * Its node stays linked (K1), and the others agreed with its spec. */
int ay__renew(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    assert_required(claim->step == CLAIM_COUNTED && ay__mutex_is_held());
    struct hot *hot = claim->hot;
    int error = ay__file_again(space);
    if (!error)
        error = ay__pen_take(space);
    if (error)
        return error;
    const uint64_t life = atomic_load(&hot->life);
    access_point();
    atomic_store(&hot->life, claimed_after(life_make(life_generation(life), 0)));
    claim->step = CLAIM_OWNED;
    ay__inherit(hot, claim->cold);
    reset(space, claim, spec);
    const uint32_t generation = next_generation(life);
    atomic_store(&claim->cold->admission, of_generation(generation, ADMISSION_GIVEN));
    access_point();
    atomic_store(&hot->life, life_make(generation, life_word(life)));
    claim->step = CLAIM_ADMITTED;
    count(space->pen.header, claim);
    ay__pen_lay_down(space);
    return 0;
}

/* Steps 3 to 8 at the own place, as far as a name goes: what was known of it by its old name is
 * known of another generation. */
static int take_name(ay_space *space, const struct name *name, struct claim *claim)
{
    const struct running_protocol *protocol = space->protocol;
    struct hot *hot = claim->hot;
    struct public_spec *spec = &claim->cold->spec;
    const uint64_t life = atomic_load(&hot->life);
    const uint32_t generation = next_generation(life);
    access_point();
    atomic_store(&hot->life, claimed_after(life_make(life_generation(life), 0)));
    claim->step = CLAIM_OWNED;
    raise_floors(space->pen.header, spec, protocol_number(protocol, atomic_load(&hot->word)));
    access_point();
    memcpy(&spec->name[0], name, offsetof(struct name, bytes) + name->length);
    atomic_store(&hot->name, ay__name_hash(name));
    access_point();
    tag_store(space->pen.tags, claim->place, tag_for(space, claim));
    atomic_store(&claim->cold->admission, of_generation(generation, ADMISSION_ASKED));
    access_point();
    atomic_store(&hot->life, life_make(generation, life_word(life)));
    claim->step = CLAIM_ALIVE;
    const int error = ay__spec_admit(space, claim);
    if (!error) {
        claim->step = CLAIM_ADMITTED;
        count(space->pen.header, claim);
    }
    return error;
}

/* Nobody has the empty name: who is refused by the others of its new name, and then by those who
 * came to the old one meanwhile, is left with that. */
int ay__rename(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    assert_required(claim->step == CLAIM_COUNTED && ay__mutex_is_held());
    static const struct name nobodys = {0};
    const struct name old = claim->cold->spec.name[0];
    int error = ay__spec_agrees(space, claim->place, spec);
    if (error)
        return error;
    if (!life_alive(atomic_load(&claim->hot->life)))
        return ay__fail(-ESTALE, "the place of this region was taken from it: close the region, "
                                 "and open it anew");
    error = take_name(space, &spec->name[0], claim);
    if (error && take_name(space, &old, claim) != 0) {
        take_name(space, &nobodys, claim);
        claim->step = CLAIM_COUNTED; /* whether or not others have it: they are all like this */
    }
    return error;
}

void ay__release(ay_space *space, struct claim *claim)
{
    assert_required(claim->step == CLAIM_COUNTED && ay__mutex_is_held());
    give_back(space, claim);
}

bool ay__bury(ay_space *space, unsigned place)
{
    assert_required(place < space->places && ay__mutex_is_held());
    const struct vital vital = ay__vital(space, place);
    uint64_t life = vital.life, pulse = vital.pulse;
    if (!vital.alive || ay__arena_has(space, place) || ay__file_again(space) != 0 ||
        ay__file_locked(space->fd, ay__claim_byte(space, place)) ||
        lives_without_lock(space, place))
        return false;
    struct claim claim;
    if (ay__map_place(space, place, &claim) != 0)
        return false;
    struct hot *hot = claim.hot;
    bool buried =
        !life_alive(life) ||
        atomic_compare_exchange_strong(
            &hot->life, &life, life_make(life_generation(life), FUTEX_WAITERS | FUTEX_OWNER_DIED));
    buried = buried && atomic_compare_exchange_strong(&hot->pulse, &pulse, 0);
    if (buried)
        ay__futex_wake(vital.futex);
    ay__unmap_place(&claim);
    return buried;
}
