/* SPDX-License-Identifier: MIT */
/* The file of a space: what lies where, who writes it, and when.
 *
 * The file is a row of granules, all of one size: a page of the machine that made it, 4096 bytes or
 * more. What different processes write lies in different granules, so that each can be mapped,
 * and kept from the others, by itself. A machine maps in its own pages: it uses a file whose
 * granules are one page or several (ay_open() refuses another; who only looks, or removes it, maps
 * no granule by itself).
 *
 *   0        header. Written once, by the creator, before the file has a name; but for
 *            `claims`, `used`, `hand` and the buckets, which only grow, by atomic steps of whoever
 *            claims a place; `threads`, by those of who takes a pulse; `rouses`, by those of
 *            whoever leaves while somebody is aside; and the bells, by those of who rings
 *   1        hot granules. Places 0 to 63 have one each, of which two cache lines are used, at
 *            (place mod 60)·64: lines a granule apart would otherwise fall into the same sets of
 *            the cache. From place 64 on, they lie side by side: see below
 *   …        cold granules, one a place
 *   …        granules of registers, one a place, if the protocol has more than one register
 *   …        pulses: a granule each, as many as there are places, and PULSES_SPARE
 *   …        tags: two bytes a place, side by side: who may have a resource in common with whom
 *            (tags.h). A process maps them to write for a moment, like the header
 *
 *   The file has its full size from the beginning, and holes where nobody was yet: a place takes
 *   memory from when it is first claimed.
 *
 *   What is looked at of every place lies in its two hot lines. Whoever scans a crowd reads nothing
 *   else of those who idle or wait: its process would have to map a page, or three, for each.
 *
 *   Isolation: a process can store to the hot pages of its own places only. So a stray store of a
 *   faulty program hits nobody else, if its place is one of the first 64; beyond, it may hit the
 *   others that share the page: 31 of them, or 127 or 511 where pages have 16 or 64 KB. To map a
 *   page for each rival costs a microsecond; with 4000 that is more than everything else that a
 *   passage costs.
 *
 *   One place. Each word has a writer, in brackets; others only read it.
 *   Hot lines. The second is seldom written: to look at it costs little, however often its owner
 *   comes and goes.
 *     +0       word [owner; its keeper, by compare-and-swap, if it is RETAINED]: register 0
 *     +8       asleep [owner]: place + 1 and index of the register slept on
 *     +16      fence [owner]: of this passage or the last, if the protocol has no numbers
 *     +24      inside [owner]: 1 from just before ay_enter() returns until ay_leave() begins
 *     +28      inherited [claimer]: 1: earlier owners may have left deaths inside, untold
 *     +32      seen [owner]: low half of what the register slept on was seen as
 *     +36      sleeps [owner]: how often it has slept
 *     +40      recalled [its keeper]: the grant that the keeper takes back, and sleeps on
 *     +64      life [owner; the kernel at its death; a claimer, by compare-and-swap]
 *                0: closed
 *                keeper's TID | FUTEX_WAITERS: alive
 *                LIFE_SHARED | FUTEX_WAITERS: alive while somebody holds its claim (share.c)
 *                FUTEX_OWNER_DIED: dead; or being claimed, with a count of the claims begun since
 *     +68      generation [claimer]: how often the place was claimed; 0: never
 *     +72      pulse [owner; who buries it, by compare-and-swap]: of the thread that enters, or
 *              entered last; 0: none did yet
 *     +80      name, mode, slots, units, priority, bell [claimer]: its spec in short (spec.c)
 *   Cold granule [owner; before it is alive, its claimer]: spec, identity, units
 *     admission  [owner; who disagrees, by compare-and-swap] whether others agree (spec.c)
 *     told, inherited[].state  [claimer; who is told, by compare-and-swap] inherited.c, deaths.c
 *   Granule of registers: registers 1 … [owner], then safe bits [owner]
 *
 *   One pulse (pulse.c): the end of its granule. It is found by where that ends, its border.
 *   −32      generation [by compare-and-swap]: how often it was taken, twice
 *   −24      a robust mutex [its thread; the kernel at that thread's end]. Its lock is
 *            the TID of its thread | FUTEX_WAITERS; FUTEX_OWNER_DIED once that has ended; 0: free
 *
 * Who is dead. A place that is closed (life 0) is dead; one that is shared is alive. Else, if a
 * thread has entered through it, that thread's pulse decides (V1): while it beats, the place is
 * alive, though its keeper may be dead; once it does not, whatever that thread was about is over,
 * though its process may live. If none has entered yet, life decides.
 *
 * A place's one writer is its owner while it lives; before that its claimer, who took it by a
 * compare-and-swap of its life. Both hold a *read* lock (open file description) on the byte of the
 * file that stands for it, the claimer from before that swap. It keeps nobody out: it is the
 * witness that somebody is still there. So a lock of somebody who may only read the file stops
 * nobody, but makes a place look as if its last owner were still dying. Who removes the space
 * write-locks all these bytes, without waiting. They lie side by side: the kernel keeps one lock
 * for all places in a row that one process has, and walks through a list of them at each claim.
 *
 * No lock of the file is ever waited for: whoever is stopped, wherever, keeps nobody from claiming.
 *
 * Invariants:
 *   L1  No word has two writers at once, but for those that are only swapped: life, pulse,
 *       admission, told and state. And `word` of a place that retains its permission: its keeper
 *       swaps it (recall.c), and its owner then finds the recall before it stores there.
 *   L2  Every place that was ever alive lies below `used`, which is raised before the place comes
 *       alive. So a scan may end there.
 *   L3  All granules of the places below `used` are allocated, and the header: no access ends in
 *       SIGBUS on a full file system.
 *   L4  Registers, spec and identity are rewritten only while life is 0 or dead, and the generation
 *       changes in the same store that makes the place alive. So what was read between two equal
 *       fetches of (life, generation) with life alive was written by that owner in that life.
 *   L5  A fence, and what a protocol keeps of its word across death, never go back, whoever owns
 *       the place.
 *   L6  `claims`, the space's and those of the buckets of its names, grow after a claimed place has
 *       come alive, and before its owner's first step in the protocol. So who finds that of its
 *       name as it was before gathering the rivals has them all: one that is missing has not begun,
 *       and will see what was stored before this look.
 *   L7  The read lock on a place's byte is held from before its claim until its owner has made its
 *       last store there.
 *   L8  A thread says by which pulse it lives before it makes a passage's first store. Another
 *       thread of the process does so only while the word is idle; after the end of one that was
 *       not outside, the place is renewed first: claimed by its own process, rewritten, and alive
 *       in a new generation.
 *   L9  The tag of a place lets everybody look there who may have a resource in common with it,
 *       from before it comes alive until it is claimed anew. And before another name is written
 *       there, the `floor` of each old name's bucket has risen to the number of its word. So who
 *       looks at tags, and then at the floor, knows the greatest number that its name ever had.
 */
#ifndef AFTERYOU_MEMORY_FILE_LAYOUT_H
#define AFTERYOU_MEMORY_FILE_LAYOUT_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "afteryou.h"

/* Places with a hot granule of their own. Tests are built with fewer, too. */
#ifndef HOT_ALONE
#define HOT_ALONE 64
#endif

enum {
    LAYOUT_VERSION = 11,
    GRANULE_LEAST = 4096, /* what anything that has a granule fits into */
    GRANULE_MOST = 64 * 1024,
    LINE = 64,
    LINES_APART = 60, /* of the 64 in 4096 bytes, with room for two; looks go by fours */
    HOT_SIZE = 2 * LINE,
    NAMES_MOST = 1 + AY_ALSO_MOST,
    COMMAND_ROOM = 64,
    PROTOCOL_ROOM = 16,
    INHERITED_MOST = 8,
    WORDS_MOST = 384, /* registers 1 … 384 of a place */
    BITS_MOST = 1024,
    PULSES_SPARE = 4096,
    BUCKETS = 128,
    BELLS = 64,
    TAG_SIZE = 2,
    /* of the mutex: from its lock to its kind */
    PULSE_SHARED = offsetof(pthread_mutex_t, __data.__list),
    PULSE_INDEX_BITS = 18
};

#define LAYOUT_MAGIC "afteryou"

/* A process, without mistaking one for another that has its pid now or in another namespace. */
struct identity {
    uint64_t start_time; /* clock ticks after boot */
    uint64_t pid_namespace;
    uint32_t pid;
    uint32_t uid;
    char command[COMMAND_ROOM];
};

/* What those whose names have one hash, as far as it counts here, tell each other. */
struct bucket {
    _Atomic uint64_t claims; /* L6 */
    _Atomic uint64_t floor;  /* L9 */
};

struct header {
    char magic[8];
    uint32_t version;
    uint32_t granule;  /* in bytes: a power of two */
    uint32_t granules; /* a place: hot, cold, and perhaps registers */
    uint32_t places;
    uint32_t precedence;
    uint32_t overtake;
    uint32_t retain;
    int64_t created_s;
    char protocol[PROTOCOL_ROOM];
    struct identity creator;
    uint64_t device, inode;   /* of the file that it was made as: a copy is another */
    _Atomic uint64_t claims;  /* L6 */
    _Atomic uint32_t used;    /* L2 */
    _Atomic uint32_t rouses;  /* how often somebody aside was roused: wake.c */
    _Atomic uint32_t threads; /* spare pulses below are allocated; only these were ever taken */
    _Atomic uint32_t hand;    /* where the next claimer looks for the dead: claim.c */
    /* who cancelled a wait last: its place + 1, and in the high half how often: cancel.c */
    _Atomic uint64_t cancels;
    /* counts by which a helper of a process is called: to see who is wanted (wanted.c), or which
     * ask is cancelled (cancel.c) */
    _Atomic uint32_t bell[BELLS];
    struct bucket bucket[BUCKETS];
};

struct hot {
    _Alignas(LINE) _Atomic uint64_t word;
    _Atomic uint64_t asleep;
    _Atomic uint64_t fence;
    _Atomic uint32_t inside;
    _Atomic uint32_t inherited;
    _Atomic uint32_t seen;
    _Atomic uint32_t sleeps;
    _Atomic uint32_t recalled;
    /* life in the low half, generation in the high half: fetched as one */
    _Alignas(LINE) _Atomic uint64_t life;
    _Atomic uint64_t pulse;
    /* the spec, as far as strangers ask for it: written with it (L4) */
    _Atomic uint64_t name; /* its hash; 0: it has several, see there */
    _Atomic uint32_t slots, of;
    _Atomic uint32_t mode;
    _Atomic int32_t priority;
    _Atomic uint32_t bell;
};

struct name {
    uint8_t length;
    char bytes[AY_NAME_MOST];
};

struct public_spec {
    uint32_t mode, slots, take, of;
    int32_t priority;
    uint32_t bell; /* of the header, plus one: by which its owner is told; 0: it is not to be */
    uint32_t names;
    struct name name[NAMES_MOST];
};

/* Whether a claimer may stay: spec.c. */
enum admission { ADMISSION_ASKED = 1, ADMISSION_REFUSED, ADMISSION_GIVEN };

/* What became of the death inside of one generation (deaths.c). */
enum told { TOLD_SOMEBODY = 1, TOLD_KEPT };
enum inherited_state { INHERITED_PERHAPS = 1, INHERITED_UNTOLD, INHERITED_TOLD };

/* A death inside, kept by the place's next owners until somebody is told. */
struct inherited_death {
    _Atomic uint64_t state; /* of_generation(generation, enum inherited_state); 0: none */
    uint64_t pid;
    uint64_t names;
    uint64_t name[NAMES_MOST]; /* hashes */
};

struct cold {
    struct identity owner;
    struct public_spec spec;
    _Atomic uint64_t thread; /* who enters, or is inside: a number no two threads share */
    _Atomic uint32_t tid;
    _Atomic uint32_t conditional; /* asleep until its `when` may have changed */
    _Atomic int64_t since_ns;
    _Atomic uint64_t since_fence; /* of the passage that since_ns belongs to, for those inside */
    _Atomic uint32_t waiting;     /* from the doorway until inside */
    _Atomic uint32_t held;        /* the mode of one that upgrades: its word shows what it wants */
    /* whose wait this owner cancels: of_generation(its generation, its place + 1), and which of its
     * passages; 0: nobody's */
    _Atomic uint64_t cancels;
    _Atomic uint64_t cancels_passage;
    /* its last wait that was cancelled: the passage + 1, by whom and when; 0: none was */
    _Atomic uint64_t cancelled;
    _Atomic uint32_t cancelled_by;
    /* that of its process, plus one: a helper there sleeps on it, and finds the ask that is
     * cancelled; 0: nobody has asked here. A claimer leaves it: one ring too many does no harm */
    _Atomic uint32_t bell;
    _Atomic int64_t cancelled_ns;
    /* its `when` is being asked, since since_ns: not inside yet, but nobody else may enter */
    _Atomic uint32_t asks;
    _Atomic uint64_t units[AY_UNITS_MOST / 64];
    _Atomic uint64_t admission; /* of_generation(generation, enum admission) */
    /* of_generation(generation, enum told) of the last death inside that was told, or kept */
    _Atomic uint64_t told;
    struct inherited_death inherited[INHERITED_MOST];
    /* what the descriptor of its process is called, and what opens it: of one that asks, and says
     * in `asleep` that it hears (ask/descriptor.c) */
    _Atomic uint64_t ear, key;
    _Atomic uint64_t network; /* the namespace in which it is called so */
};

struct registers_page {
    _Atomic uint64_t word[WORDS_MOST];
    _Atomic uint8_t bit[BITS_MOST];
};

_Static_assert(offsetof(struct hot, life) == LINE && sizeof(struct hot) == HOT_SIZE, "two lines");
_Static_assert(sizeof(struct header) <= GRANULE_LEAST && sizeof(struct cold) <= GRANULE_LEAST &&
                   sizeof(struct registers_page) <= GRANULE_LEAST &&
                   LINES_APART * LINE + LINE <= GRANULE_LEAST,
               "each fits into the smallest granule");
_Static_assert(AY_PLACES_MOST + PULSES_SPARE < 1 << PULSE_INDEX_BITS, "every pulse has a name");
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0 &&
                   PULSE_SHARED % _Alignof(pthread_mutex_t) == 0,
               "the mutex lies across the border of its granule, its list behind it");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "life is the low half, at the word's own address");

/* The life of a place whose region several processes hold (ay_share): no thread's TID, so the
 * kernel marks it at nobody's death. Its claim alone tells whether somebody holds it. */
#define LIFE_SHARED ((uint32_t)FUTEX_TID_MASK)

/* Offsets in the file. */
static inline size_t hot_offset(size_t granule, unsigned place)
{
    return place < HOT_ALONE
               ? (1 + (size_t)place) * granule + (size_t)(place % LINES_APART) * LINE
               : (1 + (size_t)HOT_ALONE) * granule + (size_t)(place - HOT_ALONE) * HOT_SIZE;
}

/* How far apart the lines of a place and the next one lie: where they do at all (hot_follows). */
static inline size_t hot_stride(size_t granule, unsigned place)
{
    return place < HOT_ALONE ? granule + LINE : HOT_SIZE;
}

static inline bool hot_follows(size_t granule, unsigned place)
{
    return place > 0 && hot_offset(granule, place) ==
                            hot_offset(granule, place - 1) + hot_stride(granule, place - 1);
}

/* Where the unit, a page or a granule, begins in which something lies. */
static inline size_t begin_of(size_t unit, size_t offset)
{
    return offset / unit * unit;
}

static inline size_t cold_offset(size_t granule, unsigned places, unsigned place)
{
    return begin_of(granule, hot_offset(granule, places - 1)) + (1 + (size_t)place) * granule;
}

static inline size_t registers_offset(size_t granule, unsigned places, unsigned place)
{
    return cold_offset(granule, places, places) + (size_t)place * granule;
}

/* Where its granule ends. */
static inline size_t pulse_border(size_t granule, unsigned places, unsigned granules,
                                  unsigned index)
{
    return cold_offset(granule, places, places) +
           ((size_t)places * (granules - 2) + index + 1) * granule;
}

static inline size_t tags_offset(size_t granule, unsigned places, unsigned granules)
{
    return pulse_border(granule, places, granules, places + PULSES_SPARE - 1);
}

static inline size_t space_size(size_t granule, unsigned places, unsigned granules)
{
    return tags_offset(granule, places, granules) +
           begin_of(granule, (size_t)places * TAG_SIZE + granule - 1);
}

/* Whose lock is the witness that somebody has the place (L7). What lies there does not matter. */
static inline int64_t claim_byte(size_t granule, unsigned place)
{
    return (int64_t)(granule + place);
}

static inline uint32_t life_generation(uint64_t life)
{
    return (uint32_t)(life >> 32);
}

static inline uint32_t life_word(uint64_t life)
{
    return (uint32_t)life;
}

static inline bool life_alive(uint64_t life)
{
    return (life & FUTEX_TID_MASK) != 0 && !(life & FUTEX_OWNER_DIED);
}

/* The lock of the pulse at this border; like a life, alive or not. */
static inline const _Atomic uint32_t *pulse_lock(const char *border)
{
    return (const _Atomic uint32_t *)(border - PULSE_SHARED);
}

static inline const _Atomic uint64_t *pulse_generation(const char *border)
{
    return (const _Atomic uint64_t *)(border - PULSE_SHARED) - 1;
}

/* hot.pulse. */
static inline uint64_t pulse_name(unsigned index, uint64_t generation)
{
    return generation << PULSE_INDEX_BITS | (index + 1);
}

static inline unsigned pulse_index(uint64_t name)
{
    return (unsigned)(name & ((1 << PULSE_INDEX_BITS) - 1)) - 1;
}

/* V1. */
static inline bool pulse_beats(const char *border, uint64_t name)
{
    return life_alive(atomic_load(pulse_lock(border))) &&
           atomic_load(pulse_generation(border)) == name >> PULSE_INDEX_BITS;
}

/* What is said of one owner of a place: like a life, with its generation in the high half. */
static inline uint64_t of_generation(uint32_t generation, uint32_t what)
{
    return (uint64_t)generation << 32 | what;
}

static inline bool life_shared(uint64_t life)
{
    return (life & FUTEX_TID_MASK) == LIFE_SHARED && life_alive(life);
}

static inline uint64_t life_make(uint32_t generation, uint32_t life)
{
    return of_generation(generation, life);
}

#endif
