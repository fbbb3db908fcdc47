/* SPDX-License-Identifier: MIT */
/* Pulses: how the kernel says that a thread has ended, and not only its process.
 *
 * Every thread that opens or enters a region locks a robust mutex of its own in the space, once,
 * and keeps it locked for as long as it lives. When that very thread ends, however it ends, the
 * kernel marks the mutex: after the thread's last system call, however long that takes. Whoever is
 * inside counts as dead then, and not before.
 *
 * A pulse has a granule of the space. Only its end is used, and the mutex lies across its border:
 *
 *     … generation | lock … kind | list …
 *       shared page, of the space | a page of this process alone
 *
 * A border between what is shared and what is not can only be one of the machine's pages. The end
 * of a granule is the end of a page, for granules are whole pages; that is why each pulse has one.
 *
 * So the list that the C library keeps of a thread's robust mutexes, and the kernel walks, never
 * leaves the process's own memory: nobody else can lead it astray.
 *
 * Taking one needs no lock of a file, and waits for nobody. A free pulse is one whose mutex nobody
 * alive has locked.
 *   1  fetch its generation, and then see that it is free
 *   2  swap the generation for the next
 *   3  try to lock it
 *   4  raise the generation once more: that is the name by which it is known
 *
 *   V1  Who names (pulse, generation) is alive iff the lock has an owner and the generation,
 *       fetched after the lock, is that one. For after a death, 2 comes before the next owner's 3;
 *       and while it is locked nobody raises the generation but its owner in 4: whoever is before
 *       its 2 has seen it free, so fetched a generation that 4 made an old one.
 *
 * Memory with a locked mutex in it must not go away before its thread has: the list would end
 * there. So a pulse stays mapped until its own thread gives it up, or is dead.
 *
 * Everything here is under the mutex of the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/assert.h"
#include "memory/memory.h"

enum {
    /* of one thread: the kernel walks 2048 robust mutexes of a thread, and the program may have its
     * own */
    PULSES_MOST = 1000,
    TAKEN = 1
};

struct pulse {
    struct pulse *next;
    const ay_space *space; /* NULL: closed by another thread than its own */
    uint64_t thread;       /* its number, ay__thread */
    uint64_t name;         /* as others know it */
    char *border;          /* where the shared page ends, and the private one begins */
};

static struct pulse *pulses; /* of this process */

static pthread_mutex_t *mutex_of(const struct pulse *pulse)
{
    return (pthread_mutex_t *)(pulse->border - PULSE_SHARED);
}

/* The shared words, through the mapping that may be written. */
static _Atomic uint32_t *lock_of(const struct pulse *pulse)
{
    return (_Atomic uint32_t *)(uintptr_t)pulse_lock(pulse->border);
}

static _Atomic uint64_t *generation_of(const struct pulse *pulse)
{
    return (_Atomic uint64_t *)(uintptr_t)pulse_generation(pulse->border);
}

static void unmap(struct pulse *pulse)
{
    munmap(pulse->border - ay__process.page, 2 * ay__process.page);
}

static void drop(struct pulse **link)
{
    struct pulse *pulse = *link;
    *link = pulse->next;
    unmap(pulse);
    free(pulse);
}

/* What its thread does not need any more: it is dead, or it is this one, and the space is closed.
 * Returns one of that space that is free now; UINT_MAX: there is none. */
static unsigned sweep(const ay_space *space)
{
    unsigned ended = UINT_MAX;
    struct pulse **link = &pulses;
    while (*link) {
        struct pulse *pulse = *link;
        if (!pulse->space && pulse->thread == ay__thread)
            pthread_mutex_unlock(mutex_of(pulse));
        if (!pulse_beats(pulse->border, pulse->name)) {
            if (pulse->space == space)
                ended = pulse_index(pulse->name);
            drop(link);
        } else {
            link = &pulse->next;
        }
    }
    return ended;
}

void ay__pulse_close(const ay_space *space)
{
    for (struct pulse *pulse = pulses; pulse; pulse = pulse->next)
        if (pulse->space == space)
            pulse->space = NULL;
    sweep(space);
}

void ay__pulse_forget(void)
{
    while (pulses) { /* the shared pages are not there in a child */
        struct pulse *pulse = pulses;
        pulses = pulse->next;
        munmap(pulse->border, ay__process.page);
        free(pulse);
    }
}

/* The last page of its granule, and behind it one that a child after fork has a copy of: its C
 * library may still link there. */
static int map(const ay_space *space, unsigned index, struct pulse *pulse)
{
    const size_t page = ay__process.page;
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return ay__fail(-errno, "cannot map the pulse of a thread: %s", strerror(errno));
    if (mmap(pages, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, space->fd,
             (off_t)(ay__pulse_border(space, index) - page)) == MAP_FAILED ||
        madvise(pages, page, MADV_DONTFORK) != 0) {
        const int error = errno;
        munmap(pages, 2 * page);
        return ay__fail(-error, "cannot map the pulse of a thread: %s", strerror(error));
    }
    pulse->border = pages + page;
    return 0;
}

/* Steps 2 to 4. The kind is the same whoever stores it, and the rest of the mutex is its owner's.
 */
static int lock(struct pulse *pulse, unsigned index, uint64_t generation, int kind)
{
    pthread_mutex_t *mutex = mutex_of(pulse);
    access_point();
    if (!atomic_compare_exchange_strong(generation_of(pulse), &generation, generation + 1))
        return TAKEN;
    __atomic_store_n(&mutex->__data.__kind, kind, __ATOMIC_RELAXED);
    access_point();
    int error = pthread_mutex_trylock(mutex);
    if (error == EOWNERDEAD)
        error = pthread_mutex_consistent(mutex);
    if (error)
        return error == EBUSY ? TAKEN
                              : ay__fail(-error, "cannot lock a robust mutex: %s", strerror(error));
    access_point();
    atomic_fetch_or(lock_of(pulse), FUTEX_WAITERS); /* so that the kernel wakes who sleeps on it */
    access_point();
    pulse->name = pulse_name(index, atomic_fetch_add(generation_of(pulse), 1) + 1);
    assert_invariant(V1, pulse_index(pulse->name) == index);
    return 0;
}

/* L3. */
static int allocate(const ay_space *space, unsigned index)
{
    const size_t border = ay__pulse_border(space, index), page = ay__process.page;
    const int error = posix_fallocate(space->fd, (off_t)(border - page), (off_t)page);
    return error ? ay__fail(-error, "cannot allocate the pulse of a thread: %s", strerror(error))
                 : 0;
}

/* One that is allocated. TAKEN: it is another thread's. */
static int take(const ay_space *space, unsigned index, int kind, struct pulse *pulse)
{
    const size_t border = ay__pulse_border(space, index);
    const uint64_t generation = atomic_load(pulse_generation(space->base + border));
    if (life_alive(atomic_load(pulse_lock(space->base + border))))
        return TAKEN;
    int error = map(space, index, pulse);
    if (error)
        return error;
    error = lock(pulse, index, generation, kind);
    if (error)
        unmap(pulse);
    return error;
}

/* What pthread_mutex_init() makes of a robust mutex that processes share: all zeros, but for this.
 */
static int find_kind(int *kind)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    int error = pthread_mutexattr_init(&attributes);
    if (!error)
        error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (!error)
        error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    if (!error)
        error = pthread_mutex_init(&mutex, &attributes);
    if (error)
        return ay__fail(-error, "cannot make a robust mutex: %s", strerror(error));
    *kind = mutex.__data.__kind;
    pthread_mutex_destroy(&mutex);
    pthread_mutexattr_destroy(&attributes);
    return 0;
}

/* How many of those to spare are allocated. */
static unsigned count_spare(const ay_space *space)
{
    const unsigned spare = atomic_load(&((const struct header *)space->base)->threads);
    /* another's word is believed within limits only */
    return spare < PULSES_SPARE ? spare : PULSES_SPARE;
}

/* One of those to spare that was taken before, and is free again; from where few others look first.
 */
static int take_again(const ay_space *space, int kind, struct pulse *pulse)
{
    const unsigned count = count_spare(space), first = (unsigned)syscall(SYS_gettid) * 31;
    int error = TAKEN;
    for (unsigned probe = 0; error == TAKEN && probe < count; probe++)
        error = take(space, space->places + (first + probe) % count, kind, pulse);
    return error;
}

/* One that nobody had. */
static int take_fresh(const ay_space *space, int kind, struct pulse *pulse)
{
    struct header *header = ay__map_header(space);
    int error = header ? TAKEN : -ENOMEM;
    for (unsigned count = count_spare(space); error == TAKEN && count < PULSES_SPARE; count++) {
        error = allocate(space, space->places + count);
        if (!error) {
            unsigned seen = count;
            atomic_compare_exchange_strong(&header->threads, &seen, count + 1);
            error = take(space, space->places + count, kind, pulse);
        }
    }
    if (header)
        munmap(header, ay__process.page);
    return error;
}

/* First that of a thread of this process that has ended, then the one that belongs to the place. */
static int take_any(const ay_space *space, unsigned place, unsigned ended, struct pulse *pulse)
{
    int kind = 0, error = find_kind(&kind);
    if (error)
        return error;
    error = ended < space->pulses ? take(space, ended, kind, pulse) : TAKEN;
    if (error == TAKEN) {
        error = allocate(space, place);
        if (!error)
            error = take(space, place, kind, pulse);
    }
    if (error == TAKEN)
        error = take_again(space, kind, pulse);
    if (error == TAKEN)
        error = take_fresh(space, kind, pulse);
    if (error == TAKEN)
        return ay__fail(-EUSERS,
                        "%d threads have regions of the space: there is no room for another",
                        PULSES_SPARE);
    return error;
}

static unsigned count_own(void)
{
    unsigned count = 0;
    for (const struct pulse *pulse = pulses; pulse; pulse = pulse->next)
        count += pulse->thread == ay__thread;
    return count;
}

int ay__pulse_take(ay_space *space, unsigned place, uint64_t *name)
{
    assert_required(place < space->places && ay__mutex_is_held());
    ay__thread_begin();
    for (const struct pulse *pulse = pulses; pulse; pulse = pulse->next)
        if (pulse->space == space && pulse->thread == ay__thread) {
            *name = pulse->name;
            return 0;
        }
    const unsigned ended = sweep(space);
    if (count_own() >= PULSES_MOST)
        return ay__fail(-EMFILE, "this thread has regions in %d spaces, the most it can",
                        PULSES_MOST);
    int error = ay__file_again(space);
    if (error)
        return error;
    struct pulse *pulse = calloc(1, sizeof *pulse);
    if (!pulse)
        return ay__fail(-ENOMEM, "out of memory");
    error = take_any(space, place, ended, pulse);
    if (error) {
        free(pulse);
        return error;
    }
    pulse->space = space;
    pulse->thread = ay__thread;
    pulse->next = pulses;
    pulses = pulse;
    *name = pulse->name;
    return 0;
}
