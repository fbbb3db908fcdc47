/* SPDX-License-Identifier: MIT */
/* Claims: how a place gets its one writer, and how it is given back or taken from one who is gone.
 *
 * The order of a claim matters, for the claimer can be killed after any step:
 *   lock CLAIMS_BYTE; lock the place's byte (now its one writer, L1); allocate its pages (L3); map them; make `claims` odd (L6); note an
 *   untold death of the last owner; rewrite registers, spec and identity while life is dead (L4); link into the keeper's list (K1); make it
 *   alive; make `claims` even; unlock CLAIMS_BYTE (L2).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/memory.h"
#include "memory/protocol.h"
#include "memory/region.h"

unsigned ay__used(const ay_space *space)
{
    unsigned place = 0;
    while (place < space->places && life_generation(atomic_load(&ay__hot(space, place)->life)) != 0)
        place++;
    return place;
}

static off_t place_byte(const ay_space *space, unsigned place)
{
    return (off_t)place_offset(space->place_size, place);
}

/* The lowest place that nobody has, its byte locked: the place, or an error. */
static int choose(const ay_space *space)
{
    for (unsigned place = 0; place < space->places; place++) {
        const uint64_t life = atomic_load(&ay__hot(space, place)->life);
        if (life_alive(life))
            continue;
        /* Not alive, yet locked: its owner is dying, and its file is not closed yet. If it never came alive we must wait
         * for it, or L2 would not hold; else the next place will do. */
        const int error = ay__file_lock(space->fd, place_byte(space, place), life_generation(life) == 0);
        if (error == 0)
            return (int)place;
        if (error != -EAGAIN)
            return error;
    }
    return ay__fail(-EUSERS, "all %u places of the space are taken", space->places);
}

/* Pages of the place, and the hot page of the next, which may be the first unused one (L3). */
static int allocate(const ay_space *space, unsigned place)
{
    const size_t more = place + 1 < space->places ? PAGE : 0;
    const int error = posix_fallocate(space->fd, place_byte(space, place), (off_t)(space->place_size + more));
    return error ? ay__fail(-error, "cannot allocate a place: %s", strerror(error)) : 0;
}

static int map(const ay_space *space, unsigned place, struct claim *claim)
{
    const size_t size = PAGE + space->place_size;
    char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return ay__fail(-errno, "cannot map a place: %s", strerror(errno));
    if (mmap(pages + PAGE, space->place_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, space->fd,
             place_byte(space, place)) == MAP_FAILED ||
        madvise(pages, size, MADV_DONTFORK) != 0) {
        const int error = errno;
        munmap(pages, size);
        return ay__fail(-error, "cannot map a place: %s", strerror(error));
    }
    *claim = (struct claim){.pages = pages, .place = place};
    return 0;
}

static void unmap(const ay_space *space, const struct claim *claim)
{
    munmap(claim->pages, PAGE + space->place_size);
}

/* L4: life is dead. The word keeps what its protocol keeps across death (L5). */
static void reset(const ay_space *space, const struct claim *claim, const struct public_spec *spec)
{
    struct hot *hot = ay__claim_hot(claim);
    struct cold *cold = ay__claim_cold(claim);
    atomic_store(&hot->word, space->protocol->dead(0, atomic_load(&hot->word)));
    atomic_store(&hot->asleep, 0);
    atomic_store(&hot->inside, 0);
    if (space->place_size > 2 * PAGE) {
        struct registers_page *page = ay__claim_registers(claim);
        for (unsigned index = 0; index < WORDS_MOST; index++)
            atomic_store(&page->word[index], space->protocol->dead(index + 1, atomic_load(&page->word[index])));
        for (unsigned index = 0; index < BITS_MOST && space->protocol->dead_bit; index++)
            atomic_store(&page->bit[index], space->protocol->dead_bit(index, atomic_load(&page->bit[index])));
    }
    atomic_store(&cold->thread, 0);
    atomic_store(&cold->conditional, 0);
    atomic_store(&cold->waiting, 0);
    atomic_store(&cold->since_ns, ay__now());
    for (unsigned at = 0; at < AY_UNITS_MOST / 64; at++)
        atomic_store_explicit(&cold->units[at], 0, memory_order_relaxed);
    cold->spec = *spec;
    ay__identify(&cold->owner);
}

static int come_alive(const struct claim *claim)
{
    struct hot *hot = ay__claim_hot(claim);
    uint32_t tid;
    const int error = ay__keeper_add(claim->pages + hot_offset(claim->place), &tid);
    if (error)
        return error;
    uint32_t generation = life_generation(atomic_load(&hot->life)) + 1;
    if (generation == 0) /* 0 is for places never used */
        generation = 1;
    atomic_store(&hot->life, life_make(generation, tid | FUTEX_WAITERS));
    return 0;
}

/* The header, writable for a moment: CLAIMS_BYTE is locked. */
static struct header *map_header(const ay_space *space)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, space->fd, 0);
    if (page != MAP_FAILED)
        return page;
    ay__fail(-errno, "cannot map the header: %s", strerror(errno));
    return NULL;
}

static void make_claims_even(struct header *header)
{
    const uint64_t claims = atomic_load(&header->claims);
    atomic_store(&header->claims, claims + claims % 2);
}

void ay__claims_mend(ay_space *space)
{
    if (pthread_mutex_trylock(&ay__process.mutex) != 0)
        return;
    if (ay__file_lock(space->fd, CLAIMS_BYTE, false) == 0) {
        struct header *header = map_header(space);
        if (header) {
            make_claims_even(header);
            munmap(header, PAGE);
        }
        ay__file_unlock(space->fd, CLAIMS_BYTE);
    }
    pthread_mutex_unlock(&ay__process.mutex);
}

/* The place is mapped, its byte and CLAIMS_BYTE are locked. */
static int move_in(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    struct header *header = map_header(space);
    if (!header)
        return -ENOMEM;
    const uint64_t claims = atomic_load(&header->claims);
    atomic_store(&header->claims, claims | 1); /* L6 */
    ay__deaths_inherit(space, claim->place, ay__claim_hot(claim), ay__claim_cold(claim));
    reset(space, claim, spec);
    const int error = come_alive(claim);
    make_claims_even(header);
    munmap(header, PAGE);
    return error;
}

/* CLAIMS_BYTE is locked. */
static int claim_locked(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    struct stat status;
    if (fstat(space->fd, &status) != 0 || status.st_nlink == 0)
        return ay__fail(-ESTALE, "the space %s was removed", space->path);
    int error = ay__spec_agree(space, spec);
    if (error)
        return error;
    const int place = choose(space);
    if (place < 0)
        return place;
    error = allocate(space, (unsigned)place);
    if (!error)
        error = map(space, (unsigned)place, claim);
    if (!error) {
        error = move_in(space, spec, claim);
        if (error)
            unmap(space, claim);
    }
    if (error)
        ay__file_unlock(space->fd, place_byte(space, (unsigned)place));
    return error;
}

int ay__claim(ay_space *space, const struct public_spec *spec, struct claim *claim)
{
    int error = ay__file_lock(space->fd, CLAIMS_BYTE, true);
    if (error)
        return error;
    error = claim_locked(space, spec, claim);
    ay__file_unlock(space->fd, CLAIMS_BYTE);
    return error;
}

void ay__release(ay_space *space, const struct claim *claim)
{
    struct hot *hot = ay__claim_hot(claim);
    atomic_store(&hot->life, life_make(life_generation(atomic_load(&hot->life)), 0));
    ay__futex_wake(&hot->life);
    ay__keeper_remove(claim->pages + hot_offset(claim->place));
    unmap(space, claim);
    ay__file_unlock(space->fd, place_byte(space, claim->place));
}

static bool is_mine(const ay_space *space, unsigned place)
{
    for (const ay_region *region = space->regions; region; region = region->next)
        if (region->claim.place == place)
            return true;
    return false;
}

bool ay__bury(ay_space *space, unsigned place)
{
    if (!life_alive(atomic_load(&ay__hot(space, place)->life)) || is_mine(space, place) ||
        ay__file_locked(space->fd, place_byte(space, place)))
        return false;
    if (ay__file_lock(space->fd, CLAIMS_BYTE, true) != 0)
        return false;
    bool buried = false;
    struct claim claim;
    if (ay__file_lock(space->fd, place_byte(space, place), false) == 0) {
        if (map(space, place, &claim) == 0) {
            struct hot *hot = ay__claim_hot(&claim);
            const uint64_t life = atomic_load(&hot->life);
            if (life_alive(life)) {
                atomic_store(&hot->life, life_make(life_generation(life), FUTEX_OWNER_DIED));
                ay__futex_wake(&hot->life);
                buried = true;
            }
            unmap(space, &claim);
        }
        ay__file_unlock(space->fd, place_byte(space, place));
    }
    ay__file_unlock(space->fd, CLAIMS_BYTE);
    return buried;
}
