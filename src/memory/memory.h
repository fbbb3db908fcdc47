/* SPDX-License-Identifier: MIT */
/* What the files of the memory engine share: the objects of one process, and who may touch them.
 *
 * Nobody holds `ay__process.mutex` while it waits for a region, for a lock of a file, or for any
 * other process.
 */
#ifndef AFTERYOU_MEMORY_MEMORY_H
#define AFTERYOU_MEMORY_MEMORY_H

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "common/descriptors.h"
#include "memory/file/layout.h"
#include "memory/file/tags.h"
#include "memory/order.h"
#include "memory/passage/access.h"
#include "memory/process/futex.h"

struct running_protocol;
struct cluster;
struct permission;
struct vital;
struct asks;

/* Where a process maps its own places (mapping.c). Under the mutex; all 0 until it has had one. */
struct arena {
    char *nodes;           /* the first address */
    unsigned places;       /* how many it has */
    bool keeps_pen;        /* for good. Set by who renames a place; never cleared */
    unsigned short *users; /* how many of its places lie in a page of hot lines */
    unsigned char *mine;   /* which places it has, a bit each */
};

/* From a node to its hot lines; at least as much as all hot lines take, in every space. */
#define NODE_DISTANCE ((size_t)16 << 20)
_Static_assert((1 + (size_t)HOT_ALONE) * GRANULE_MOST + (size_t)AY_PLACES_MOST * HOT_SIZE <
                   NODE_DISTANCE,
               "nodes and hot lines lie apart");

/* What a claimer writes besides its place (mapping.c). Under the mutex. */
struct pen {
    struct header *header; /* NULL: not mapped */
    _Atomic uint64_t *tags;
};

struct ay_space {
    ay_space *next;     /* in ay__process.spaces; under the mutex */
    ay_region *regions; /* under the mutex */
    uint64_t mark;      /* the process that opened it */
    /* -1 in a child after fork; under the mutex, and see ay__file_again() */
    int fd;
    struct descriptor_identity file; /* what fd was opened as */
    const char *base;                /* the whole file, read-only */
    size_t size;
    unsigned places;
    unsigned granules; /* a place */
    size_t granule;    /* its size */
    /* offsets in the file: of the first cold granule, of the border of the first pulse, of the
     * tags */
    size_t cold_at, pulses_at, tags_at;
    const _Atomic uint64_t *tags; /* there */
    struct arena arena;
    struct pen pen;
    /* the header, writable; NULL: not mapped yet. Set by ay__space_map_bell(), for good */
    struct header *_Atomic bell;
    unsigned pulses;
    unsigned precedence, overtake, retain;
    const struct running_protocol *protocol;
    struct cluster *cluster; /* NULL: of one machine */
    /* NULL: nobody has asked. Set by the first ask, or ay_fd(); cleared when it is closed */
    struct asks *_Atomic asks;
    /* by which hints are sent, and in which network namespace; 0 or -1: none were yet. Under
     * ay__asks_mutex */
    int sender;
    struct descriptor_identity sender_file;
    uint64_t sender_network;
    char path[];
};

/* A claimed place, writable. */
struct claim {
    char *pages; /* one that is mapped for a moment: where; NULL: it lies in the arena */
    char *node;  /* the keeper's, of this process alone; NULL: it has none */
    struct hot *hot;
    struct cold *cold;
    struct registers_page *registers; /* NULL: its protocol has none */
    unsigned place;
    /* How far the claim has come: the steps of claim.c, by number. A place that is only mapped for
     * a moment, to swap a word of it, is at none. */
    enum claim_step {
        CLAIM_NONE,
        CLAIM_LOCKED,
        CLAIM_MAPPED,
        CLAIM_OWNED,
        CLAIM_WRITTEN,
        CLAIM_IN_USE,
        CLAIM_ALIVE,
        CLAIM_ADMITTED,
        CLAIM_COUNTED
    } step;
};

/* In pages of its own, whatever their size, which fork wipes: what a parent opened, its child can
 * tell. */
enum { MARK_ROOM = GRANULE_MOST };
union mark {
    uint64_t value;
    char pages[MARK_ROOM];
};
extern union mark ay__mark;

/* One for the process. */
struct this_process {
    pthread_mutex_t mutex;
    ay_space *spaces;
    unsigned places; /* claimed now, all spaces */
    size_t page;     /* of this machine: set before anything is opened, for good */
    unsigned processors;
    uint64_t threads;           /* how many have ever opened a space, or entered a region */
    _Atomic unsigned retaining; /* of these places: those that may retain their permissions */
};
extern struct this_process ay__process;

/* By some thread: what is said to be "under the mutex" requires it. */
static inline bool ay__mutex_is_held(void)
{
    return pthread_mutex_trylock(&ay__process.mutex) != 0;
}

/* No call is a cancellation point: a thread that ended in the middle would leave a mutex, a lock of
 * the file or its turn in the queue behind. There are two holds; what was pending is delivered in
 * the caller's next cancellation point, at once if its type is asynchronous.
 *
 * AY__DEFERRED: the type. Nothing strikes between two cancellation points. It is but a call, unless
 *   the type was asynchronous; so a passage of the long way holds it from end to end.
 * AY__UNCANCELLED: the state as well. It takes two swaps of a word of the thread, which a passage
 *   that waits for nobody does not spend: who calls what may be a cancellation point (a file, a
 *   sleep, the caller's own functions) says it, and so does who takes a mutex. The type is held
 *   too: glibc 2.36 delivers an asynchronous cancellation that was under way when the state was
 *   set.
 *
 * The short ways hold nothing: they meet no cancellation point but in calls that hold, and who is
 * cancelled asynchronously between two of their steps has died there. */
static inline int ay__cancel_defer(void)
{
    int before;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before);
    return before;
}

static inline void ay__cancel_undefer(const int *before)
{
    int held;
    if (__builtin_expect(*before != PTHREAD_CANCEL_DEFERRED, 0))
        pthread_setcanceltype(*before, &held);
}

struct cancel {
    int state, type;
};

static inline struct cancel ay__cancel_hold(void)
{
    struct cancel before = {.type = ay__cancel_defer()};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

static inline void ay__cancel_restore(const struct cancel *before)
{
    int held;
    pthread_setcancelstate(before->state, &held);
    ay__cancel_undefer(&before->type);
}

#define AY__DEFERRED                                                                               \
    const int cancel_type_before_ __attribute__((cleanup(ay__cancel_undefer))) =                   \
        ay__cancel_defer();                                                                        \
    (void)cancel_type_before_

#define AY__UNCANCELLED                                                                            \
    const struct cancel cancel_before_ __attribute__((cleanup(ay__cancel_restore))) =              \
        ay__cancel_hold();                                                                         \
    (void)cancel_before_

/* message.c */
int ay__fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* process.c */
int ay__process_begin(void);     /* before anything is opened */
uint64_t ay__process_mark(void); /* 0 if this process has opened nothing */
void ay__identify(struct identity *self);
/* A number that no other thread of this machine has now, whatever its namespace: the process's
 * mark, and the thread's TID, by exclusive or. */
uint64_t ay__thread_name(void);
/* A number that no other thread of this process ever has, given by ay__thread_begin(); 0: not yet.
 * In a child after fork, the parent's. */
extern _Thread_local uint64_t ay__thread __attribute__((tls_model("initial-exec")));
/* Both false if it cannot be told: in another PID namespace, or without /proc. */
bool ay__is_running(const struct identity *who); /* there, though perhaps a zombie */
bool ay__is_gone(const struct identity *who);
bool ay__thread_is_running(const struct identity *who, uint32_t tid);

/* space.c */
/* The header, writable; NULL: it cannot be mapped. And what `rouses` may be added to. Takes the
 * mutex of the process, unless the bell is mapped already. */
struct header *ay__space_bell(ay_space *space);
_Atomic uint32_t *ay__space_rouses(ay_space *space);
bool ay__space_map_bell(ay_space *space); /* under the mutex. False: it cannot be mapped */

/* pulse.c: all under the mutex */
/* this thread's, if need be a new one */
int ay__pulse_take(ay_space *space, unsigned place, uint64_t *name);
void ay__pulse_close(const ay_space *space);
void ay__pulse_forget(void); /* in a child after fork */

/* keeper.c: all under the mutex */
/* a space was opened: a thread takes as long to start as a place to claim, and the first place is
 * not to wait for it */
void ay__keeper_prepare(void);
int ay__keeper_add(char *node, uint32_t *tid); /* starts the keeper if need be */
void ay__keeper_remove(char *node);
void ay__keeper_tell(void); /* there are more or fewer places that retain */
void ay__keeper_end(void);  /* once no place is left */
/* gives this thread its number, and counts it: the keeper ends the process when it is alone */
void ay__thread_begin(void);
void ay__keeper_forget(void); /* in a child after fork: the thread is not there */

/* recall.c */
int ay__recall_begin(void); /* before a space is opened that retains */
/* on which the keeper sleeps, RETAINED_MOST at most; under the mutex */
unsigned ay__recall_words(struct ay__waitv *words);
void ay__recall_all(void); /* the keeper, under the mutex */

/* path.c */
int ay__path(const char *space, char *path, size_t room);
/* the same, for who does not make a space: refuses the directory of named spaces as
 * ay__private_directory() would, and makes none */
int ay__path_to_look(const char *space, char *path, size_t room);
/* makes the directory of named spaces, and refuses one that is not this user's alone */
int ay__private_directory(const char *path);

/* file.c */
int ay__file_open(const char *path, bool reading_only, const struct header *wanted, unsigned mode,
                  int *fd, struct header *found);
/* L3: the granules of the places from `first` to before `end`; an errno */
int ay__file_allocate(int fd, size_t granule, unsigned places, unsigned granules, unsigned first,
                      unsigned end);
/* never waits: -EAGAIN; length 0: to the end */
int ay__file_lock(int fd, short type, off_t from, off_t length);
void ay__file_unlock(int fd, off_t byte);
bool ay__file_locked(int fd, off_t byte); /* by another open file description, however */
/* Under the mutex, before the descriptor of a space is used: it may have been closed by the
 * program, and its number be a stranger's. Then the file is opened again, or -EBADF. */
int ay__file_again(ay_space *space);

/* mapping.c: under the mutex */
/* Any place, writable for a moment: for those words that are only swapped (L1). */
int ay__map_place(const ay_space *space, unsigned place, struct claim *claim);
void ay__unmap_place(struct claim *claim);
/* What the first place of a space would wait for: once, when the space is opened. */
void ay__arena_prepare(ay_space *space);
/* claim->place, as one of this process's own */
int ay__arena_map(ay_space *space, struct claim *claim);
void ay__arena_unmap(ay_space *space, struct claim *claim);
bool ay__arena_has(const ay_space *space, unsigned place);
void ay__arena_end(ay_space *space, bool mapped); /* `mapped`: not in a child after fork */
/* The header, writable. NULL: it cannot be mapped, and why has been said. */
struct header *ay__map_header(const ay_space *space);
int ay__pen_take(ay_space *space);      /* maps space->pen */
void ay__pen_lay_down(ay_space *space); /* unmaps it, unless it is to be kept */

/* claim.c: under the mutex */
enum { WALKED = 256 }; /* the first places, at which whoever claims one looks one by one */
int ay__claim(ay_space *space, const struct public_spec *spec, struct claim *claim);
void ay__release(ay_space *space, struct claim *claim);
int ay__renew(ay_space *space, const struct public_spec *spec, struct claim *claim); /* L8 */
/* Of a living process, outside: spec->name[0] is its new name. An error: it has the old one. */
int ay__rename(ay_space *space, const struct public_spec *spec, struct claim *claim);
/* says it is alive, but nobody holds its claim: marked dead */
bool ay__bury(ay_space *space, unsigned place);

/* spec.c */
int ay__spec_read(const ay_space *space, const ay_spec *from, struct public_spec *spec);
int ay__spec_name(const char *text, struct name *name);
/* whether nobody who is admitted disagrees, now */
int ay__spec_agrees(const ay_space *space, unsigned self, const struct public_spec *spec);
/* it is alive, and asks */
int ay__spec_admit(const ay_space *space, const struct claim *claim);
/* a resource in common */
bool ay__spec_meets(const struct public_spec *a, const struct public_spec *b);
uint64_t ay__name_hash(const struct name *name);
uint64_t ay__spec_hash(const struct public_spec *spec); /* of its one name; 0: it has several */
/* in the hot lines, what others ask of a spec: of those with one name its hash stands for it */
void ay__spec_shorten(const struct public_spec *spec, struct hot *hot);

/* trace.c */
extern int ay__trace_file; /* -1: nobody wants one */
void ay__trace_begin(void);
void ay__trace(const ay_region *region, const char *event);
/* A conversion, after the leaving of the mode it had: it requests the new one, and enters in it. */
void ay__trace_converted(const ay_region *region, bool weaker);
void ay__trace_death(const ay_space *space, unsigned pid, unsigned place, unsigned generation);

/* deaths.c */
/* It is inside: AY_AFTER_DEATH if it is told of one, or 0. */
int ay__deaths_attend(ay_region *region);

/* ask/ask.c */
void ay__ask_close(ay_region *region); /* before it is closed: withdraws */
/* To those who look for cycles (deadlock.c): what an ask holds is not held by its thread, which
 * might wait elsewhere; or it is, for the thread waits to become stronger there, or has left. */
void ay__ask_holds(const ay_region *region);
void ay__ask_thread_holds(const ay_region *region);
void ay__ask_leaves(ay_region *region); /* that was entered by an ask */
void ay__ask_has_left(ay_region *region);
void ay__asks_close(ay_space *space);  /* likewise: its helpers end */
void ay__asks_forget(ay_space *space); /* in a child after fork */
/* ask/descriptor.c */
void ay__hints_close(ay_space *space);
/* ask/words.c */
/* what is decided there is told by a count that goes up, and not by the descriptor */
int ay__asks_ring(ay_space *space, _Atomic uint32_t *rung);
/* around a fork, under the mutex */
void ay__asks_hold(void);
void ay__asks_release(void);
/* ask/wanted.c */
int ay__wanted_open(ay_space *space);    /* one more region that is to be told: it is watched for */
void ay__wanted_close(ay_space *space);  /* one less */
void ay__wanted_tell(ay_region *region); /* inside, since a moment: if it is wanted, says so */
/* ask/helper.c */
unsigned ay__helpers_count(void); /* threads of ours */
void ay__helpers_forget(void);    /* in a child after fork */

/* inherited.c */
bool ay__inherited_is_told(const struct cold *cold, uint32_t generation);
bool ay__inherited_is_untold(const struct cold *cold, uint64_t state);
bool ay__inherited_meets(const struct inherited_death *death, const struct public_spec *spec);
bool ay__inherited_concern(const struct public_spec *spec, const struct vital *vital,
                           const struct hot *hot, const struct cold *cold);
void ay__inherit(struct hot *hot, struct cold *cold); /* the claimer */
/* one more, and the oldest is forgotten */
bool ay__inherited_full(const struct hot *hot, const struct cold *cold);

static inline const struct hot *ay__hot(const ay_space *space, unsigned place)
{
    return (const struct hot *)(space->base + hot_offset(space->granule, place));
}

static inline const struct cold *ay__cold(const ay_space *space, unsigned place)
{
    return (const struct cold *)(space->base + space->cold_at + (size_t)place * space->granule);
}

/* A resource in common with who has that place; `hash` is that of `spec`. */
static inline bool ay__spec_meets_place(const ay_space *space, const struct public_spec *spec,
                                        uint64_t hash, unsigned place)
{
    const uint64_t its = atomic_load(&ay__hot(space, place)->name);
    return hash && its ? hash == its : ay__spec_meets(spec, &ay__cold(space, place)->spec);
}

/* Whose lock is the witness that somebody has the place (L7). */
static inline off_t ay__claim_byte(const ay_space *space, unsigned place)
{
    return claim_byte(space->granule, place);
}

/* In the file. */
static inline size_t ay__pulse_border(const ay_space *space, unsigned index)
{
    return space->pulses_at + (size_t)index * space->granule;
}

static inline const char *ay__pulse(const ay_space *space, uint64_t name)
{
    return space->base + ay__pulse_border(space, pulse_index(name));
}

/* Whether a place is alive (layout.h), and by what that is told. */
struct vital {
    uint64_t life, pulse;
    const char *border; /* of the pulse, if it decides, and beats or was not felt */
    const void *futex;  /* changes when this ends: the lock of the pulse, or the life */
    uint32_t value;     /* of that; 0: not fetched */
    bool alive;
};

/* Without a look at its pulse: alive, if that beats. */
static inline struct vital ay__vital_unfelt(const ay_space *space, unsigned place)
{
    const struct hot *hot = ay__hot(space, place);
    struct vital vital = {0};
    access_point();
    vital.life = atomic_load(&hot->life);
    access_point();
    vital.pulse = atomic_load(&hot->pulse);
    if (life_word(vital.life) == 0 || life_shared(vital.life) ||
        pulse_index(vital.pulse) >= space->pulses) {
        vital.futex = &hot->life;
        vital.value = life_word(vital.life);
        vital.alive = life_alive(vital.life);
        return vital;
    }
    vital.border = ay__pulse(space, vital.pulse);
    vital.futex = pulse_lock(vital.border);
    vital.alive = true;
    return vital;
}

static inline void ay__vital_feel(struct vital *vital)
{
    if (!vital->border)
        return;
    access_point();
    vital->value = atomic_load(pulse_lock(vital->border));
    vital->alive = life_alive(vital->value) && pulse_beats(vital->border, vital->pulse);
    if (!vital->alive)
        vital->border = NULL;
}

/* The pulse is fetched before it is felt. Should another thread have come to the place meanwhile,
 * what was fetched of the place before is the former's, and that is whose end is found. */
static inline struct vital ay__vital(const ay_space *space, unsigned place)
{
    struct vital vital = ay__vital_unfelt(space, place);
    ay__vital_feel(&vital);
    return vital;
}

static inline bool ay__same_vital(const struct vital *a, const struct vital *b)
{
    return a->life == b->life && a->pulse == b->pulse && a->alive == b->alive;
}

/* rivals.c: the fence of the passage that is or was inside there. Under a protocol whose number
 * grows with every conflicting passage: that, with the place counted in. */
uint64_t ay__fence(const ay_space *space, unsigned place);

/* All places that were ever used are below (L2). */
unsigned ay__used(const ay_space *space);

/* Earlier loads before later ones. x86 keeps loads in order by itself: there only the compiler is
 * told, for ThreadSanitizer knows no fences. */
static inline void ay__order_loads(void)
{
#if defined(__x86_64__)
    atomic_signal_fence(memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_acquire);
#endif
}

/* CLOCK_MONOTONIC to a few milliseconds, at a few nanoseconds. */
static inline int64_t ay__coarse_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t ay__now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
