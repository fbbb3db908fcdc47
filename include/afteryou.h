/* SPDX-License-Identifier: MIT */
/* libafteryou: mutual exclusion that no crash can wedge.
 *
 * Processes meet in a *space*. Each opens a *region* there (a named resource, in a mode), enters
 * it, is inside, leaves. Whoever dies, at whatever moment, counts as having left; nobody else is
 * stopped by it. See afteryou(7).
 *
 * Caveats, before anything else:
 *
 * - Death is noticed, a pause is not. A process that is stopped inside a region (SIGSTOP, a
 *   debugger, a suspended virtual machine) keeps it until it goes on. No holder is evicted for
 *   holding too long. Protect what lies outside the machine with ay_fence().
 * - A space is of *one* machine, unless it is a cluster's. A file on a network file system is not
 *   shared between machines.
 * - fork: the child owns nothing. A handle of the parent's gives -EPERM in the child; the child
 *   opens its own. A child made by clone(2) past fork() may keep the parent's places from being
 *   claimed anew for as long as it lives.
 * - exec counts as leaving everything, for the process that calls it.
 * - Whoever is inside is dead once the very thread that entered has ended. If its process was
 *   killed, that is after the thread's last system call. If the thread ended by itself, its process
 *   may live on.
 * - After a death inside, what the region protects may be half done: ay_enter() then returns
 *   AY_AFTER_DEATH, once.
 * - Anyone who can write to a space's file can harm the others of that space: by truncating it, for
 *   one. Its pages are protected against stray pointers, not against malice.
 *
 * Results:
 *
 * - 0, or a positive value that the function names, or a negative errno. ay_message() then says in
 *   words what was wrong. Each function lists its errors, one a line.
 * - Pointers must be valid. NULL is accepted only where it says so.
 *
 * Threads, signals, cancellation:
 *
 * - Any thread may call any function at any time, as long as no other thread uses the same region,
 *   or closes what it uses. A region is for one thread at a time: two threads that exclude each
 *   other open two. Two threads may use one space at once.
 * - No function may be called by a signal handler. Signals do not end a wait, but for
 *   ay_enter_unless().
 * - No function is a cancellation point (pthread_cancel(3)). A thread that waits is cancelled once
 *   the call has returned. Give a wait that somebody may want to end a limit. `when` and the
 *   callback of ay_look() run uncancelled too. A thread whose cancellation is asynchronous may be
 *   cut off in the middle of an ay_enter() or ay_leave() that meets nobody: it has died there.
 */
#ifndef AFTERYOU_H
#define AFTERYOU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AY_API __attribute__((visibility("default")))
#else
#define AY_API
#endif

/* Limits. */
enum {
    AY_NAME_MOST = 255,     /* bytes in the name of a space or a resource */
    AY_ALSO_MOST = 6,       /* further resources in one spec */
    AY_PLACES_MOST = 65536, /* places in one space: open regions of all its processes together */
    AY_SLOTS_MOST = 4096,
    AY_UNITS_MOST = 4096
};

/* Positive results. */
enum {
    /* entered; but somebody died inside since: look after what the region protects */
    AY_AFTER_DEATH = 1
};

/* EX, PR, PW, CW, CR, NL of the VMS and DLM lock managers. A lock for readers and a writer is
 * AY_SHARED and AY_EXCLUSIVE. Which of them may be inside at once:
 *
 *               EX  PR  PW  CW  CR  NL
 *   exclusive    .   .   .   .   .   +
 *   shared       .   +   .   .   +   +
 *   prot. write  .   .   .   .   +   +
 *   conc. write  .   .   .   +   +   +
 *   conc. read   .   +   +   +   +   +
 *   null         +   +   +   +   +   +
 */
typedef enum {
    AY_EXCLUSIVE = 0,
    AY_SHARED,
    AY_PROTECTED_WRITE,
    AY_CONCURRENT_WRITE,
    AY_CONCURRENT_READ,
    AY_NULL
} ay_mode;

/* Who goes first of those that wait (Lamport's "should precede"). Within a class: in order of
 * arrival. */
typedef enum {
    AY_IN_ORDER = 0,  /* first come, first served, readers and writers alike: nobody starves */
    AY_WRITERS_FIRST, /* exclusive and writing modes before the others, which can starve */
    AY_READERS_FIRST, /* the other way round: writers can starve */
    AY_BY_PRIORITY    /* greater ay_spec.priority first; the lesser can starve */
} ay_precedence;

/* What a space is. All zeros is the default of everything. The first to open a space creates it so;
 * for all others a value that is not zero must agree, or ay_open() gives -EINVAL and the message
 * says with whom it disagrees. */
typedef struct ay_options {
    /* open regions at once, all processes together; 0: 65536 ("courtesy", "bakery"), 64 ("races"),
     * 16 ("clock", "region"), 8 ("forks"), 2 ("pair") */
    unsigned places;
    /* NULL: "courtesy"; or "bakery", "region", "forks", "clock", "races", "pair" */
    const char *protocol;
    /* "courtesy" and "region"; not with slots, which are given in order */
    ay_precedence precedence;
    /* how often one that sleeps may be passed by others that are awake; 0: strict order */
    unsigned overtake;
    /* permissions of the file when it is made, whatever the umask; 0: 0600. A group's space: 0660.
     * Not compared */
    unsigned mode;
    /* 1: whoever was inside last goes in again at next to no cost, until somebody else asks; then
     * its process must run, or the other waits ("courtesy") */
    unsigned retain;
    uint64_t reserved[8]; /* must be 0 */
} ay_options;

/* What a region is. All zeros but the name is a plain mutex. All who open a resource must agree on
 * its slots and on `of`. */
typedef struct ay_spec {
    const char *name; /* the resource: 1 to 255 bytes, any but NUL */
    /* further resources, NULL-ended: all entered at once, none without the others; NULL: none */
    const char *const *also;
    ay_mode mode;   /* the strongest: ay_enter_as() and ay_convert() go below */
    unsigned slots; /* how many may be inside at once (exclusive mode); 0 is 1 */
    unsigned take;  /* hold so many units while inside; 0: none */
    unsigned of;    /* of the units 0 … of-1 */
    int priority;   /* with AY_BY_PRIORITY */
    /* 1: a thread that is inside may enter again, as often as it leaves, in a mode that the one it
     * has includes */
    uint64_t reentrant;
    /* 1: while it is inside, the descriptor of the space says that somebody wants it: see ay_fd()
     */
    uint64_t tell_wanted;
    uint64_t reserved[6]; /* must be 0 */
} ay_spec;

typedef struct ay_space ay_space;
typedef struct ay_region ay_region;

/* ---- spaces and regions ---- */

/* Opens a space, and creates it if there is none. `space` is
 *   NULL or ""        the user's space "default"
 *   a name            a private file below /dev/shm/afteryou-UID or AFTERYOU_DIR (afteryou(7))
 *   with a slash      a path; for a group, one in a directory of the group, and .mode = 0660
 *   "cluster:NAME"    a space of many machines, see below
 * `options` may be NULL: the defaults.
 *   0                 *out is the space
 *   -EINVAL           the name, the options, or a file that is no space (the message says which)
 *   -EPROTONOSUPPORT  a space of another layout version, or made by a machine with smaller pages
 *   -ENOTSUP          options that the protocol hasn't got
 *   -ERANGE           the path is too long
 *   -ELOOP            a symbolic link
 *   -EISDIR           a directory
 *   -EACCES           the permissions of the file, or of its directory
 *   -ENOSPC           the file system is full
 *   -EFBIG            it is to be made, and is larger than this process may make files
 *                     (RLIMIT_FSIZE); most of it is holes
 *   -EMFILE           this process has no descriptor left
 *   -ENOMEM           no memory is left
 *   others            as open(2) and mmap(2) say */
AY_API int ay_open(const char *space, const ay_options *options, ay_space **out);

/* Closes the space and all regions that are open in it: those inside leave. NULL is ignored. In a
 * child, after fork, it frees memory and does nothing else. */
AY_API void ay_close(ay_space *space);

/* Claims a place for a region. Needs no agreement with anybody but on slots and units.
 *   0         *out is the region
 *   -EINVAL   the spec, or it disagrees with another process's (the message says with whose)
 *   -ENOTSUP  the space's protocol hasn't got what the spec asks for
 *   -EUSERS   all places are taken; or 4096 threads more than there are places use the space
 *   -EMFILE   this thread uses 1000 spaces
 *   -ESTALE   the space was removed
 *   -EAGAIN   the space is being removed, or its file is locked; or the thread that watches for
 *             `tell_wanted` cannot be started
 *   -EBADF    this program closed the space's descriptor, and it cannot be opened again
 *   -EPERM    the space was opened by another process (before a fork)
 *   -ENOMEM   no memory is left
 *   -ENOSPC   the file system is full */
AY_API int ay_region_open(ay_space *space, const ay_spec *spec, ay_region **out);

/* Gives up the place; if inside, leaves. NULL is ignored. In a child, after fork, it frees memory
 * and does nothing else. */
AY_API void ay_region_close(ay_region *region);

/* Outside, gives the region another name: for one that locks now this record, now that. The place
 * stays, and with it the process's claim: so it takes less than a microsecond with some dozens of
 * regions open, and a hundred with 20,000, where to close and to open takes tens of them. Whatever
 * else its spec says stays too. What it retained of the old name is given back first. The order of
 * arrival, fences and deaths are those of the new name. In a cluster, too; there whoever enters by
 * a name that its machine has not got the permission for waits for the others.
 *   0         it has the new name
 *   -EBUSY    the region is entered, or being entered; or the thread that entered it has ended
 *             inside, which the next ay_enter() sees to
 *   -EINVAL   the name, or others who have it open disagree on slots or units (the message says
 *             who). The region has its old name; and if others came to that meanwhile who disagree,
 *             none, until it is renamed again
 *   -ENOTSUP  the space's protocol is not "courtesy", or the region has several resources
 *   -EPERM    the region belongs to another process (it was opened before a fork)
 *   -ESTALE   the region's place was taken from it: somebody else marked it dead
 *   -EBADF    this program closed the space's descriptor, and it cannot be opened again
 *   -ENOMEM   no memory is left */
AY_API int ay_region_rename(ay_region *region, const char *name);

/* ---- passages ---- */

/* Enters, waiting as long as need be.
 *   0               entered
 *   AY_AFTER_DEATH  entered, and somebody died inside since: of those who enter the resource, or
 *                   any of several (`also`), in whatever mode, one is told of each such death
 *   -EDEADLK        to wait would close a cycle of waiting threads; or this region is entered, and
 *                   is not `reentrant`, or another thread did, or it has a weaker mode now; or it
 *                   is being entered, and its `when` or `interrupted` calls this
 *   -ECANCELED      somebody has cancelled the wait: ay_cancel()
 *   -EPERM          the region belongs to another process (it was opened before a fork)
 *   -EOVERFLOW      the numbers of the space are used up, after 2^48 passages: remove the space
 *                   when nobody uses it
 *   -ESTALE         the space's file was removed: who opens it now does not meet those in the old
 *                   one. Close it, and open it again
 * Only for a thread that enters for the first time, by a region that another thread opened:
 *   -EUSERS         the space has no room for one more thread
 *   -EMFILE         this thread uses 1000 spaces
 *   -ENOMEM         no memory is left
 *   -ENOSPC         the file system is full */
AY_API int ay_enter(ay_region *region);

/* As ay_enter(), without waiting for others. In a cluster it waits for the other machines' answer,
 * a second at most.
 *   -EBUSY  somebody else is inside, or before me */
AY_API int ay_try(ay_region *region);

/* As ay_enter(), for so long at most, by the monotonic clock. 0 is as ay_try() but for the code;
 * negative: for ever.
 *   -ETIMEDOUT  not entered in time */
AY_API int ay_enter_for(ay_region *region, int timeout_ms);

/* As ay_enter_for(), once when(arg) is true: "region mode when condition". `when` is called while
 * nobody who conflicts is inside, so it may read what the region protects; it must not wait, not
 * change anything, and return (no longjmp(), no exception). It is asked again whenever somebody who
 * conflicts has left.
 *   -ENOTSUP  the protocol has no conditions; or the region is a cluster's, and has slots or units,
 *             or several resources in the null mode, or the cluster's agents have no links */
AY_API int ay_enter_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms);

/* As ay_enter_when() (`when` may be NULL), for those who must be able to stop waiting.
 * interrupted(arg) is called in this thread whenever its sleep ends: after every signal that was
 * handled meanwhile, and twice a second in any case. As long as it returns false, the place in the
 * queue is kept.
 *   -EINTR  interrupted(arg) returned true: the wait was given up */
AY_API int ay_enter_unless(ay_region *region, bool (*interrupted)(void *), bool (*when)(void *),
                           void *arg, int timeout_ms);

/* Enters in this mode: the spec's, or one that excludes no more. Timeout as in ay_enter_for(). It
 * waits its turn as if it asked for the strongest mode that it may have, and lets in beside it whom
 * its own mode does not exclude. Errors as ay_enter_for(), and
 *   -EINVAL   the spec's mode does not include this one
 *   -ENOTSUP  another mode than the spec's, and the region cannot have it: its protocol is not
 *             "courtesy", it has slots or units, or its space retains permissions
 * In a cluster it is let in as by the spec's mode: whom that excludes on other machines it waits
 * for. Those who come later it lets in beside it by its own mode, on whatever machine; while they
 * are there it cannot become stronger (ay_convert). */
AY_API int ay_enter_as(ay_region *region, ay_mode mode, int timeout_ms);

/* Changes the mode of the present passage; for the thread that entered. To a mode that excludes
 * less: at once, in one step, and those whom it now admits are woken; nobody who conflicts gets in
 * between, and the fence stays. To another: waits, inside and in the old mode, until nobody who
 * conflicts is inside; whoever comes meanwhile waits behind it. The passage then has a new fence.
 * Timeout as in ay_enter_for(). Whatever fails, it stays inside in the mode that it had.
 *   0               it has the mode
 *   AY_AFTER_DEATH  likewise, and somebody died inside since: as ay_enter()
 *   -ETIMEDOUT      not in time
 *   -EDEADLK        another that conflicts is becoming stronger already, and each would wait for
 *                   the other to leave; or to wait would close a cycle of waiting threads; or, in a
 *                   cluster, other machines may be inside beside it: it cannot wait for them inside
 *   -ECANCELED      somebody has cancelled the wait: ay_cancel()
 *   -EPERM          not inside; or another thread entered; or the region belongs to another process
 *   -EINVAL         the spec's mode does not include this one
 *   -ENOTSUP        as ay_enter_as()
 *   -EOVERFLOW      the numbers of the space are used up
 *   -ESTALE         the space's file was removed */
AY_API int ay_convert(ay_region *region, ay_mode mode, int timeout_ms);

/* ---- asking without waiting ---- */

/* Asks for a region, and returns at once. One that is not inside stands in the queue like any
 * waiter, until ay_decided() tells that it is inside, or why not. The passage is made by those who
 * call ay_ask() and ay_decided(); a few threads of the library's own only watch. In a cluster, too:
 * one whose turn it is on its machine waits for the others, and then the descriptor is readable
 * now and then though nothing is decided, for the agent may have gone: in the end as often as its
 * lease lasts, five seconds by default; every two while it has none.
 *
 * - The ask belongs to the thread that asked. Should that end, or its process die or exec, it is as
 *   one who has left. Any thread may call ay_decided() and ay_leave().
 * - Until it is decided or withdrawn nobody can enter the region (-EDEADLK). Closing the region or
 *   the space gives the ask up. A child after fork has none of its parent's asks; the descriptor
 *   is closed there.
 * - Who leaves what another process asks for may call socket(2), getsockopt(2) and sendto(2): a
 *   filter of system calls may refuse these, but must not kill for them.
 * - Cycles of waiting threads: an ask counts as a wait of its thread, if that is inside another
 *   region by ay_enter() or its kin; not an ask for several resources of a cluster. What was
 *   entered by an ask is held by no thread in particular, unless ay_on_behalf() gave all regions of
 *   one task one number.
 *
 *   0, AY_AFTER_DEATH  inside at once
 *   -EINPROGRESS       asked
 *   -EALREADY          it is asked for already
 *   -EDEADLK           the region is entered; or a `when` calls this
 *   -ENOTSUP           the space is of another protocol than "courtesy"
 *   -EAGAIN            a thread that watches cannot be started
 *   -ENOMEM            no memory is left
 *   others             as ay_enter() */
AY_API int ay_ask(ay_region *region);

/* As ay_ask(), for ay_enter_when(): in so many ms at most (negative: for ever; 0: inside at once,
 * or not at all), once when(arg) is true (NULL: no condition). `when` is called in ay_ask_when()
 * and ay_decided(), by the thread that calls these. In a cluster 0 waits for the other machines'
 * answer, -EINPROGRESS meanwhile: a second at most for each name; and with slots or units, another
 * for these.
 *   -ETIMEDOUT  not entered in time
 *   -ENOTSUP    also: as ay_enter_when() */
AY_API int ay_ask_when(ay_region *region, bool (*when)(void *), void *arg, int timeout_ms);

/* Returns the descriptor of a space. It is readable
 * - when an ask of this process may have been decided, but for those of which ay_ask() itself has
 *   told;
 * - when somebody has begun to wait for what a region with `tell_wanted` holds, each time; or did
 *   when that one entered, or became stronger (ay_convert). A call that does not wait tells nobody.
 * Then call ay_decided() until it returns NULL, which makes it unreadable; and after that
 * ay_wanted() of those regions with `tell_wanted` that are inside: the descriptor does not say
 * which is meant, nor whether the one that waited still does. In this order nothing is missed. The
 * descriptor belongs to the space, is for poll(2) and its kin and not for reading.
 *   -EPERM    the space was opened by another process (before a fork)
 *   -ENOTSUP  the space is of another protocol than "courtesy"
 *   -EMFILE   this process has no descriptor left
 *   -ENFILE   the machine has no descriptor left
 *   -ENOMEM   no memory is left */
AY_API int ay_fd(ay_space *space);

/* Has call(arg) called, by a thread of the library's own that finds the descriptor is to become
 * readable, and instead of that: one wake-up less. Those that it does not find, the descriptor
 * tells of. It calls ay_decided() as who sees the descriptor readable does; perhaps several threads
 * at once do. It returns soon, for nothing else is watched meanwhile, and does not close the space.
 * NULL: not any more; a call may be under way still.
 *   0         said
 *   -EPERM    the space was opened by another process (before a fork)
 *   -ENOTSUP  the space is of another protocol than "courtesy"
 *   -ENOMEM   no memory is left */
AY_API int ay_on_decided(ay_space *space, void (*call)(void *), void *arg);

/* Goes on with the asks of the space, of whatever threads of this process. Returns the next that is
 * decided, and in *result what ay_enter_when() would have returned: 0 or AY_AFTER_DEATH, and it is
 * inside; or a negative errno, and it is not. NULL: none is decided now, and *result is 0. It never
 * returns a region that was closed. Of several regions of one resource it returns who came first
 * first. Further values of *result, the last two with NULL:
 *   -EPERM    with a region: the thread that asked has ended. With NULL: the space was opened by
 *             another process (before a fork)
 *   -EAGAIN   a thread that watches cannot be started: the ask was given up
 *   -ENOMEM   no memory is left: the ask was given up
 *   -ENOTSUP  the space is of another protocol than "courtesy"
 *   -EDEADLK  a `when` calls this */
AY_API ay_region *ay_decided(ay_space *space, int *result);

/* Gives an ask up: it is as one who has left.
 *   0          withdrawn: ay_decided() will not return it
 *   -EALREADY  it was decided before, and is inside: leave it
 *   -EPERM     it is not asked for (any more), or the region belongs to another process
 *   -EDEADLK   a `when` calls this */
AY_API int ay_withdraw(ay_region *region);

/* Says that the thread `thread` (ay_place.thread), of whatever process, waits until this region has
 * been entered and left: it has started us, say, and is inside elsewhere. A cycle of waiting
 * threads is then found through it as well. For all later passages; 0: not any more.
 *   0       said
 *   -EPERM  inside, or asked for, or the region belongs to another process */
AY_API int ay_on_behalf(ay_region *region, uint64_t thread);

/* Has prepare(arg) called by every later passage that has to wait: once, by the thread that waits,
 * when one alone is before it, and that is inside. For what takes time and needs no region: to open
 * a file, to start a process. A hint: it may come late or never, and the passage may still be given
 * up. Of this library it may call ay_share(), for this region. It must return (no longjmp, no
 * exception). NULL: not any more. Nothing is prepared for ay_ask().
 *   0       said
 *   -EPERM  inside, or asked for, or the region belongs to another process */
AY_API int ay_prepare(ay_region *region, void (*prepare)(void *), void *arg);

/* Leaves, and never waits; but in a cluster, after AY_AFTER_DEATH, until the agent has heard that
 * this passage was told: some microseconds, or a second from its entry, should the agent be
 * stopped. So does ay_convert(), whatever its timeout. Another thread than the one that entered may
 * leave, as long as that one lives. A `reentrant` region is left with the last of as many calls as
 * it was entered by.
 *   0       outside, or inside still
 *   -EPERM  not inside; or the region belongs to another process; or the thread that entered has
 *           ended */
AY_API int ay_leave(ay_region *region);

/* Returns the fencing token of the present passage; after leaving, that of the last; 0 if there was
 * none. If two passages conflict, the later has the greater fence, across deaths and for as long as
 * the space's file lives. */
AY_API uint64_t ay_fence(const ay_region *region);

/* Writes the units held, ascending, at most `room` of them. Returns how many there are: 0 outside,
 * or without `take`. */
AY_API size_t ay_units(const ay_region *region, unsigned *units, size_t room);

/* Returns how many wait now for what this region holds: those who have begun to enter, are not
 * inside yet, and conflict with it. 0 outside, and in a child after fork. In a cluster all other
 * machines together count as one. Hardly ever makes a system call: a leader, a cache or a batch job
 * may ask now and then, and give way; or be told by the descriptor of the space (`tell_wanted`,
 * ay_fd). */
AY_API unsigned ay_wanted(const ay_region *region);

/* Wakes whoever would be next, on this machine, so that it has looked at all the others when the
 * caller leaves, and enters sooner. A hint, for one who stays inside for longer than a wake-up
 * takes; nothing else changes.
 *   0       told, if anybody waits
 *   -EPERM  not inside, or the region belongs to another process */
AY_API int ay_wake_next(ay_region *region);

/* Ends the waits of process `pid`, of this PID namespace, for the resource `name`: its calls return
 * -ECANCELED, and ay_look() shows by whom it was done. Whoever is inside stays there; one that
 * waits for a stronger mode (ay_convert) keeps the one that it has. Needs a free place. In a
 * cluster it reaches the processes of this machine, whomever they wait for.
 *   n > 0       so many waits were ended
 *   -ESRCH      it does not wait for that, or not any more
 *   -EBUSY      it is inside, and does not wait: no holder is put out
 *   -EPERM      it is another user's, and this one is not root; or the space was opened by another
 *               process (before a fork)
 *   -ETIMEDOUT  it waits, but has not answered within two seconds: it is stopped
 *   others      as ay_region_open() */
AY_API int ay_cancel(ay_space *space, const char *name, int pid);

/* ---- a region that is held by several processes ---- */

/* From now on the region is held until this process has died *and* every copy of the returned
 * descriptor is closed, and every mapping made through it gone: a child has them after fork(2), and
 * what it executes has the copy if it clears FD_CLOEXEC. For a process that is to end what this one
 * began, should this one be killed. Such a second process, when it is done, closes its copy and
 * calls ay_repair(); without that, those who wait notice by themselves, in a second or so. Whoever
 * enters next is told of a death. Give the copy to nobody who writes to descriptors that he did not
 * open: it is one of the space's file. Called by who prepares (ay_prepare), it gives the descriptor
 * and nothing else: the region is shared by the next call, inside.
 *   the descriptor, for the caller to close
 *   -EPERM   not inside, or the region belongs to another process; or it is being prepared, and has
 *            several resources, slots or units of a cluster
 *   -EMFILE  this process has no descriptor left
 *   -EBADF   this program closed the space's descriptor, and it cannot be opened again */
AY_API int ay_share(ay_region *region);

/* This process alone holds it again: its death is noticed at once, as usual. It may be inside or
 * not.
 *   0       held by this process alone
 *   -EPERM  the region belongs to another process */
AY_API int ay_unshare(ay_region *region);

/* ---- spaces of many machines: "cluster:NAME" ---- */

/* Further errors of ay_open():
 *   -ENOENT     no agent of the cluster has run on this machine
 *   -EACCES     the agent is neither root's nor this user's, so it is not believed
 *   -ESTALE     its space was removed
 * Of entering:
 *   -EHOSTDOWN  the agent has not been running for ten seconds; ay_try(): it does not run
 *   -ESTALE     its files were made anew: open it again
 *   -ENOSPC     the cluster has no room for another name
 * Cycles of waiting processes are found on one machine (-EDEADLK), not across machines: there,
 * enter regions in one order, or wait with a limit.
 *
 * Slots and units count on all machines together; a resource has at most 256 (-ENOTSUP), and a name
 * of 243 bytes. Who has its turn and finds too few keeps its turn until there are enough: so a
 * large request does not starve behind small ones, but these wait behind it. Each unit is a region
 * of its own, "NAME, unit 17", of which ay_look() tells, and takes a place once it was asked for.
 * An ask opens them in ay_ask() or ay_decided(), which takes as long as ay_region_open() does.
 * `of` is not compared with others', and `tell_wanted` is refused.
 *
 * Several resources (`also`) are entered one after the other, in the order of their names' bytes,
 * which is the same on all machines: so those who enter several at once never wait for each other
 * in a cycle. Who waits for the rest keeps those before from others, and is inside of none: it
 * gives them back if it gives up or dies, and nobody is told of a death. Each takes a place of its
 * own. ay_fence() is that of `name`: it is compared with that of other passages of this resource.
 * ay_try() waits a second for each of them, at most, ay_wanted() counts the other machines once for
 * each, and ay_cancel() reaches one that waits by the name that it waits at, or one before; by any,
 * once it has asked its condition. A thread that waits for them looks up twice a second. An ask
 * that gives one back at which it was told of a death (as one for slots or units may) waits in that
 * call until the agent knows, a second at most.
 *
 * A condition (`when`) is asked by the permission of the cluster, and again whenever somebody who
 * conflicts has left or died, on whatever machine; now and then, when a machine comes or goes, once
 * more. Nothing is said while nothing happens. Whoever enters what another waits for so has its
 * agent tell that one's machine first: a round trip to the agent, once for each time that it was
 * asked in vain. Of several resources it is asked once all of them are had, and again when somebody
 * has left any of them.
 *
 * Those who wait on one machine are served in order of arrival. A cluster's space has no other
 * `precedence` (ay_open: -EINVAL), so `priority` means nothing there. */

/* Returns a descriptor (an eventfd) that becomes readable when the present passage is lost: this
 * machine has been cut off from the majority, or its agent has died, and another machine may soon
 * be inside. Stop what you do, and leave. Ask ay_valid() when it is readable. The descriptor
 * belongs to the region, is for poll(2) and not for reading, is readable until the region is next
 * entered, and is never readable in a space of one machine.
 *   -EPERM   the region belongs to another process
 *   -EMFILE  this process has no descriptor left
 *   -ENFILE  the machine has no descriptor left
 *   -EAGAIN  the thread that watches cannot be started */
AY_API int ay_lost(ay_region *region);

/* Returns whether the present passage still holds: false outside, and once it has been lost. The
 * answer was true when it was asked: what lies outside needs the fence all the same. Makes no
 * system call. */
AY_API bool ay_valid(const ay_region *region);

/* Returns how many milliseconds after a loss (ay_lost) another machine may be inside, at the
 * earliest: so much time there is to stop. 0 in a space of one machine, where nothing is lost. */
AY_API int ay_grace(const ay_space *space);

/* Returns what was wrong with the last call of this thread that failed, in one line without a full
 * stop; "" if none did. Valid until the thread's next call. */
AY_API const char *ay_message(void);

/* ---- looking on: reads only, disturbs nobody ---- */

typedef enum {
    AY_IDLE = 0,
    AY_WAITING,
    AY_INSIDE,
    AY_DEAD_INSIDE /* its owner died inside; nobody has been told yet */
} ay_state;

/* One place, as an observer finds it. Valid during the callback only. Not a consistent cut: others
 * go on meanwhile. */
typedef struct ay_place {
    unsigned place;
    ay_state state;
    bool alive; /* false: its owner has died or closed it */
    /* AY_WAITING: for its `when`, or for units; not for another place. AY_INSIDE: its `when` is
     * being asked, which keeps others out as well */
    bool conditional;
    const char *const *names; /* the resource and what it takes also, NULL-ended */
    ay_mode mode;             /* of the passage; if it makes none: the strongest that it may have */
    unsigned slots, take, of;
    int priority;
    uint64_t fence; /* of the present passage, or the last */
    /* those who wait, in the order in which they would be served: 1, 2, …; 0 elsewhere */
    uint64_t order;
    /* CLOCK_MONOTONIC when the state was entered (not kept for AY_IDLE: when the place was opened);
     * 0: not known, for one that went inside by a short way, without a look at a clock */
    int64_t since_ns;
    int waits_for;         /* a place, or -1 */
    const unsigned *units; /* held */
    size_t unit_count;
    int pid, tid;                       /* as seen in the owner's PID namespace */
    uint64_t pid_namespace, start_time; /* inode; clock ticks after boot, as in /proc/PID/stat */
    unsigned uid;
    const char *command;
    /* who entered last, or waits: a number that no other thread of this machine has */
    uint64_t thread;
    /* what it waits for, if it is inside and converts to a stronger mode; else as `mode` */
    ay_mode wants;
    /* the process that cancelled a wait of its present or last owner (ay_cancel), and when
     * (CLOCK_MONOTONIC); 0: none did */
    int cancelled_by;
    int64_t cancelled_ns;
} ay_place;

/* A space, as an observer finds it. `path` is valid until this thread looks again. */
typedef struct ay_view {
    const char *path, *protocol;
    unsigned places, used, alive; /* all; ever used; now open */
    ay_precedence precedence;
    unsigned overtake, mode, uid, gid;
    int64_t created_s;    /* seconds since 1970 */
    unsigned retain;      /* 1: a permission stays with whoever was inside last */
    uint64_t reserved[8]; /* 0 */
} ay_view;

/* Fills *view and calls `each` for every place that was ever used, ascending, until it returns
 * non-zero. `view` may be NULL, `each` too. Needs only the right to read the file. Who died inside
 * is shown (AY_DEAD_INSIDE) until its place is used again; one is told of that death nevertheless.
 * Errors as ay_open(), and
 *   0            all places were shown
 *   non-zero     what `each` returned
 *   -ENOENT      there is no such space */
AY_API int ay_look(const char *space, ay_view *view, int (*each)(const ay_place *, void *),
                   void *arg);

/* Writes the path of the file that `space` names, as ay_open() would find it, to `path`, which has
 * `room` bytes.
 *   0        written
 *   -EINVAL  the name, or AFTERYOU_DIR is not an absolute path
 *   -ERANGE  the path is too long
 *   others   ay_open() would refuse the directory of named spaces, or could not make it */
AY_API int ay_path(const char *space, char *path, size_t room);

/* Removes a space in which nobody has a place. Whoever has it open gets -ESTALE when it opens a
 * region. Errors as ay_open(), and
 *   0        removed
 *   -EBUSY   somebody has a place (the message says who)
 *   -ENOENT  there is no such space */
AY_API int ay_remove(const char *space);

/* Looks after what no kernel has: places that say they are alive while nobody holds their claim (a
 * file that was copied or restored, or written by something else). Waiting does this by itself in
 * time.
 *   n >= 0  so many were found and marked dead
 *   -EPERM  the space was opened by another process (before a fork) */
AY_API int ay_repair(ay_space *space);

#ifdef __cplusplus
}
#endif
#endif
