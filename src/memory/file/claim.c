/* SPDX-License-Identifier: MIT */
/* Claims: how a place gets its one writer, and how it is given back or taken from one who is gone.
 *
 * Nobody waits for anybody here. A claimer may be stopped or killed after any of its steps, and all
 * others go on:
 *   1  read-lock the place's byte, the witness that somebody is there (L7)
 *   2  allocate the granules up to it (L3), and map its own
 *   3  swap its life from one that is over to CLAIMED: now its one writer (L1)
 *   4  keep an untold death of the last owner; rewrite registers, spec and identity (L4)
 *   5  raise `used` above it (L2)
 *   6  link it into the keeper's list (K1), and make it alive: it asks to be admitted
 *   7  look whether all who are alive agree with its spec, and be admitted (spec.c)
 *   8  add one to `claims` (L6)
 * Killed before 3 it leaves nothing; before 6, a place that is not alive and that nobody locks: the
 * next swaps it likewise, if there is no other. After 6 the kernel says that it is dead. Stopped,
 * it keeps that one place: the others take another, for its life is not as they saw it, or its byte
 * is locked.
 *
 * Which lives are over: 0 is the last store of an owner that closes its region. One that died may
 * still run for a moment on another processor; its byte is locked until its process is gone. So
 * is the byte of a claimer that works, and it is CLAIMED by compare-and-swap, so of two one wins.
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

static size_t claim_size(const ay_space *space)
{
    return (1 + (size_t)space->granules) * ay__process.page;
}

/* The machine's page in which that offset of the file lies; the smallest granule fits into it. */
static bool map_page(const ay_space *space, char *at, size_t offset)
{
    return mmap(at, ay__process.page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, space->fd,
                (off_t)begin_of(ay__process.page, offset)) != MAP_FAILED;
}

int ay__map_place(const ay_space *space, unsigned place, struct claim *claim)
{
    const size_t size = claim_size(space), page = ay__process.page, granule = space->granule,
                 hot = hot_offset(granule, place);
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return ay__fail(-errno, "cannot map a place: %s", strerror(errno));
    if (!map_page(space, pages + page, hot) ||
        !map_page(space, pages + 2 * page, cold_offset(granule, space->places, place)) ||
        (space->granules > 2 &&
         !map_page(space, pages + 3 * page, registers_offset(granule, space->places, place))) ||
        madvise(pages, size, MADV_DONTFORK) != 0) {
        const int error = errno;
        munmap(pages, size);
        return ay__fail(-error, "cannot map a place: %s", strerror(error));
    }
    *claim = (struct claim){.pages = pages, .node = pages + hot % page, .place = place};
    return 0;
}

void ay__unmap_place(const ay_space *space, struct claim *claim)
{
    munmap(claim->pages, claim_size(space));
    claim->pages = claim->node = NULL;
    if (claim->step > CLAIM_LOCKED)
        claim->step = CLAIM_LOCKED;
}

/* It can store there no more. */
static void unlock(const ay_space *space, struct claim *claim)
{
    assert_invariant(L7, claim->step <= CLAIM_LOCKED && !claim->pages);
    if (descriptor_is(space->fd, &space->file)) /* or the lock has gone with it */
        ay__file_unlock(space->fd, ay__claim_byte(space, claim->place));
    claim->step = CLAIM_NONE;
}

enum { TAKEN = 1 };

/* Step 3. `seen`: the life that was over; a place never used is looked at only now (L3). */
static int swap(const ay_space *space, const struct claim *claim, bool ever_used, uint64_t seen)
{
    struct hot *hot = ay__claim_hot(claim);
    if (!ever_used) {
        seen = atomic_load(&hot->life);
        if (!is_over(space, claim->place, seen))
            return TAKEN;
    }
    access_point();
    return atomic_compare_exchange_strong(&hot->life, &seen, claimed_after(seen)) ? 0 : TAKEN;
}

/* Of this process, by this space. */
static bool is_mine(const ay_space *space, unsigned place)
{
    for (const ay_region *region = space->regions; region; region = region->next)
        if (region->claim.place == place)
            return true;
    return false;
}

/* Steps 1 to 3. TAKEN: somebody else is there. Unless it is the last resort, also: somebody was
 * about to claim it, for to ask whether it is still there takes long in a crowd; or there are so
 * many untold deaths that one would be forgotten. */
static int take(const ay_space *space, unsigned place, bool last_resort, struct claim *claim)
{
    const bool ever_used = place < ay__used(space);
    const uint64_t seen = ever_used ? atomic_load(&ay__hot(space, place)->life) : 0;
    if (ever_used && !last_resort && is_claimed(seen))
        return TAKEN;
    if (ever_used && !is_over(space, place, seen))
        return TAKEN;
    if (is_mine(space, place)) /* who may write the file has closed it for me */
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
        error = ay__map_place(space, place, claim);
    if (!error) {
        claim->step = CLAIM_MAPPED;
        error = swap(space, claim, ever_used, seen);
        if (error)
            ay__unmap_place(space, claim);
        else
            claim->step = CLAIM_OWNED;
    }
    if (error)
        unlock(space, claim);
    return error;
}

/* The lowest place that nobody has. */
static int take_any(const ay_space *space, struct claim *claim)
{
    for (unsigned tries = 0; tries < 2; tries++)
        for (unsigned place = 0; place < space->places; place++) {
            const int error = take(space, place, tries == 1, claim);
            if (error != TAKEN)
                return error;
        }
    return ay__fail(
        -EUSERS,
        "all %u places of the space are taken: each open region has one; make a space with more "
        "(--places)",
        space->places);
}

/* Step 4. The word keeps what its protocol keeps across death. */
static void reset(const ay_space *space, struct claim *claim, const struct public_spec *spec)
{
    assert_invariant(L4, claim->step == CLAIM_OWNED);
    const struct running_protocol *protocol = space->protocol;
    struct hot *hot = ay__claim_hot(claim);
    struct cold *cold = ay__claim_cold(claim);
    const uint64_t was = atomic_load(&hot->word), is = protocol->dead(0, was);
    assert_invariant(L5, protocol_number(protocol, is) >= protocol_number(protocol, was));
    atomic_store(&hot->word, is);
    atomic_store(&hot->pulse, 0);
    atomic_store(&hot->asleep, 0);
    if (space->granules > 2) {
        struct registers_page *page = ay__claim_registers(claim);
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
    atomic_store(&cold->since_ns, ay__now());
    for (unsigned at = 0; at < AY_UNITS_MOST / 64; at++)
        atomic_store_explicit(&cold->units[at], 0, memory_order_relaxed);
    access_point();
    cold->spec = *spec;
    ay__spec_shorten(spec, hot);
    ay__identify(&cold->owner);
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
    struct hot *hot = ay__claim_hot(claim);
    uint32_t tid;
    const int error = ay__keeper_add(claim->node, &tid);
    if (error)
        return error;
    const uint32_t generation = next_generation(atomic_load(&hot->life));
    atomic_store(&ay__claim_cold(claim)->admission, of_generation(generation, ADMISSION_ASKED));
    access_point();
    atomic_store(&hot->life, life_make(generation, tid | FUTEX_WAITERS));
    claim->step = CLAIM_ALIVE;
    return 0;
}

/* The header, writable for a moment. */
struct header *ay__map_header(const ay_space *space)
{
    void *page = mmap(NULL, ay__process.page, PROT_READ | PROT_WRITE, MAP_SHARED, space->fd, 0);
    if (page != MAP_FAILED)
        return page;
    ay__fail(-errno, "cannot map the header: %s", strerror(errno));
    return NULL;
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
    struct hot *hot = ay__claim_hot(claim);
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
    ay__unmap_place(space, claim);
    unlock(space, claim);
}

/* Steps 4 to 8. */
static int move_in(ay_space *space, struct header *header, const struct public_spec *spec,
                   struct claim *claim)
{
    int error = check_named(space);
    if (!error) {
        ay__inherit(ay__claim_hot(claim), ay__claim_cold(claim));
        reset(space, claim, spec);
        access_point();
        raise_used(header, claim);
        error = come_alive(claim);
    }
    if (!error)
        error = ay__spec_admit(space, claim);
    if (error) {
        give_back(space, claim);
        return error;
    }
    claim->step = CLAIM_ADMITTED;
    count(header, claim);
    return 0;
}

int ay__claim(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    assert_required(claim->step == CLAIM_NONE && ay__mutex_is_held());
    int error = ay__file_again(space);
    if (error)
        return error;
    struct header *header = ay__map_header(space);
    if (!header)
        return -ENOMEM;
    error = take_any(space, claim);
    if (!error)
        error = move_in(space, header, spec, claim);
    munmap(header, ay__process.page);
    return error;
}

/* Of a living process, whose thread ended there in the middle of a passage: steps 3 to 6, and 8.
 * Its node stays linked (K1), and the others agreed with its spec. */
int ay__renew(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    assert_required(claim->step == CLAIM_COUNTED && ay__mutex_is_held());
    struct hot *hot = ay__claim_hot(claim);
    const int error = ay__file_again(space);
    struct header *header = error ? NULL : ay__map_header(space);
    if (!header)
        return error ? error : -ENOMEM;
    const uint64_t life = atomic_load(&hot->life);
    access_point();
    atomic_store(&hot->life, claimed_after(life_make(life_generation(life), 0)));
    claim->step = CLAIM_OWNED;
    ay__inherit(hot, ay__claim_cold(claim));
    reset(space, claim, spec);
    const uint32_t generation = next_generation(life);
    atomic_store(&ay__claim_cold(claim)->admission, of_generation(generation, ADMISSION_GIVEN));
    access_point();
    atomic_store(&hot->life, life_make(generation, life_word(life)));
    claim->step = CLAIM_ADMITTED;
    count(header, claim);
    munmap(header, ay__process.page);
    return 0;
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
    if (!vital.alive || is_mine(space, place) || ay__file_again(space) != 0 ||
        ay__file_locked(space->fd, ay__claim_byte(space, place)) ||
        lives_without_lock(space, place))
        return false;
    struct claim claim;
    if (ay__map_place(space, place, &claim) != 0)
        return false;
    struct hot *hot = ay__claim_hot(&claim);
    bool buried =
        !life_alive(life) ||
        atomic_compare_exchange_strong(
            &hot->life, &life, life_make(life_generation(life), FUTEX_WAITERS | FUTEX_OWNER_DIED));
    buried = buried && atomic_compare_exchange_strong(&hot->pulse, &pulse, 0);
    if (buried)
        ay__futex_wake(vital.futex);
    ay__unmap_place(space, &claim);
    return buried;
}
