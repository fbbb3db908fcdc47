/* SPDX-License-Identifier: MIT */
/* The language in which register protocols are written: one text, with several bodies, and the only
 * file that chooses between them.
 *
 * A protocol is a set of passages: functions over a flat struct `my` (what the passage remembers)
 * and over `at` (the registers, as the engine sees them). Every access to a public variable goes
 * through a word of this file, and carries the label that the paper gives to that line.
 *
 * - Built for an engine that runs (the default), a word is the access itself: a passage is a plain
 *   inline function.
 * - Built with REGISTERS_STOP_AT_SLEEP, for an engine that runs and has other things to do than
 *   wait (memory/ask/), a word is likewise the access itself; but where it would sleep the passage
 *   notes the place in `my->head.point`, returns STOPPED, and when called again goes on from there.
 * - Built with REGISTERS_STOP_AT_ACCESS, for an engine that searches, a passage stops *before* each
 *   access: it notes
 *   the place in `my->head.point`, returns STOPPED, and when called again makes that one access and
 *     runs on to the next.
 *   What an access does (interleave, buffer the store, let a safe bit flicker) is the engine's
 *   affair.
 *
 * Words. R is written `place, index`; protocols name their registers by macros of that shape. In
 * brackets: the orders of C11 that a word stands for. An engine may do more, never less; what is
 * checked under weak memory is this.
 *   PASSAGE_HEAD                 first member of a passage's struct; PART_HEAD, of a passage that
 *                                is CALLed
 *   PASSAGE_BEGIN … PASSAGE_END  the body; falls out of the end as PASSED
 *   READ(label, into, R)         into := R [load acquire]
 *   WRITE(label, R, value)       own R := value, and a fence: what follows is fetched after all can
 *                                see it [store release, thread fence seq_cst]
 *   WRITE_LATE(label, R, value)  own R := value, which others may see later [store release]
 *   READ_BIT, WRITE_BIT          the same for safe bits: one that is being written reads as
 *                                anything
 *   AWAIT(label, into, R, test)  fetch R into `into` until `test` holds [as READ]
 *   PAUSE(R, seen)               before a wait of more than one fetch is tried again
 *   AGAIN                        a round of busy waiting was in vain: the next begins, or the
 *                                passage is given up
 *   HEED(HEAD_OF(my))            a round was in vain, and the next begins at once: the passage may
 *                                be given up here
 *   OWN(R), OWN_BIT(R)           what my own R holds: no event, since nobody else can change it
 *   for (EACH_OTHER(my->j))      every other place in use, ascending; EACH_RIVAL: those that may
 *                                conflict with mine
 *   NONE_ABOVE(label, into, limit)
 *                                into := whether a look may be left out: no rival's word is above
 *                                the limit
 *   NONE_WITH(label, into, mask) likewise: none has a bit of the mask
 *   NONE_TO_WAKE(label, into, mask, asleep)
 *                                likewise: each is idle; or is `asleep`, under the mask, and WAKE
 *                                would not wake it
 *   RARELY, OFTEN                of a passage: how often it is called
 *   CALL(passage, &my->part, …)  run a passage inside a passage
 *   ACT(label, act)              an access that has no word of its own: naming.h
 *   QUEUE                        the doorway ends here
 *   STEP(number)                 the paper's step of that number begins here, 1 to 7; 0: none
 *   CONDITION(label, into)       into := my `when`
 *   SLEEP(label, HEAD_OF(my), &my->watch, woken)
 *                                sleep until a watched place wakes me; not at all (woken := false)
 *                                  if the word of one
 *                                differs from what was seen. The watch is kept. It may be given up
 *                                here, asleep or not [thread fence seq_cst, then load relaxed]
 *   LISTEN(label, HEAD_OF(my))   what ROUSE says to me from here on, my next SLUMBER hears
 *   SLUMBER(label, HEAD_OF(my), &my->watch, woken)
 *                                likewise, but until I am roused as well, and not at all if I was
 *                                since I said LISTEN; woken := false if it looked up by itself: one
 *                                that slumbers does so now and then, should somebody die that it
 *                                does not watch
 *   WAKE(label)                  wake whoever watches me
 *   WAKE_ONE(label, place)       wake that place, if it sleeps: whatever it watches
 *   ROUSE(label, place)          likewise; and if it does not sleep yet, its SLUMBER hears of it
 *   AWAKE(label, place)          set that place's alarm; AWAIT_ALARM, RESET_ALARM: my own
 *                                (Lamport's sleep and awake)
 *   RECALL(label, place, &memory, w, barrier)
 *                                have the keeper of that place, seen to RETAIN as w, take its
 *                                permission back: courtesy_retain.h
 *   READ_OWN(label, into, R)     into := own R, which a thread of my own process may write
 *   ASSERT(name, condition)      the numbered invariant of that name, of what is mine: no access.
 *                                An engine that runs ends the process, one that searches reports
 *                                it
 *   ASK(label, into, place)      into := register 0 of that place, as it is when its owner answers:
 *                                at once, unless it is
 *                                between its DEFER and its ANSWER; then with the latter. `my` has a
 *                                struct asked
 *
 * Rules for the writer of a protocol: what must outlive the next access lives in `my`, and is
 * zeroed once dead (the searching engine compares and hashes the struct); a C local may only carry
 * a value from one access to the code right behind it; between two accesses nothing may loop
 * without end.
 *
 * The engine defines, before it includes a protocol, `struct registers` and these inline functions.
 * A place writes its own registers only.
 *   unsigned registers_self(at), registers_places(at)     who I am, and how many places there are
 *   unsigned registers_next(at, place)                    the next place in use from `place` on,
 *     mine left out
 *   unsigned registers_next_rival(at, place)              the same, without places known to be no
 *     rivals
 *   word     registers_read(at, place, index)             one fetch; the default value if the owner
 *            has failed
 *   void     registers_write(at, index, value)            one store to my own register, and a
 *            fence
 *   void     registers_write_late(at, index, value)       one store in release order
 *   word     registers_own(at, index)                     my own register: no access, since I alone
 *            write it
 *   bool     registers_own_bit(at, index)                 likewise my own safe bit
 *   void     registers_keep(at, index, value)             my own register that nobody else reads:
 *            no access
 *   bool     registers_read_bit(at, place, index)
 *   void     registers_write_bit(at, index, value)        (engines that run)
 *   void     registers_begin_bit, registers_end_bit       (engines that search: a write takes time)
 *   bool     registers_pause(at, place, index, seen)      wait until that register may differ from
 *            `seen`; false: give
 *                                                         up (timeout, cancel, try)
 *   bool     registers_sleep(at, &watch, &woken)          (engines that run) what SLEEP says;
 *            false: give up
 *   bool     registers_asleep(at, &head, &watch, &woken)  (engines that search) whether it sleeps
 *            on
 *   bool     registers_slumbers(at, &head, &watch, &woken)  (engines that search) likewise, SLUMBER
 *   void     registers_wake(at), registers_wake_one(at, place), registers_rouse(at, place)
 *   void     registers_listen(at)                         (engines that run)
 *   bool     registers_condition(at)                      the `when` of this passage
 *   bool     registers_conditional(at)                    whether it has one
 *   unsigned registers_mode(at)                           in which mode I ask for the region
 *   unsigned registers_strongest(at)                      the strongest mode that I may convert to
 *   bool     registers_excludes(at, mode, other)          whether passages in these two modes
 *            conflict
 *   bool     registers_admits(at)                         whether one that I exclude no longer,
 *            once I am inside, may sleep on me
 *   bool     registers_conflict(at, place, mode)          whether that place's passage in that mode
 *            conflicts with mine
 *   bool     registers_conflict_between(at, j, mode_j, k, mode_k)  likewise of two others
 *   bool     registers_rival(at, place)                   whether the passage whose word was just
 *            fetched may conflict, in the strongest modes of both
 *   bool     registers_stays(at, place)                   likewise; but one that was gone when it
 *            was last fetched or left out (EACH_RIVAL) does not
 *   int      registers_precedence(at, place)              < 0: its class goes before mine; 0: the
 *            same class
 *   unsigned registers_slots(at), registers_overtake(at)  how many may be inside; the bound B
 *   bool     registers_again(at)                          (engines that run) AGAIN; false: give up
 *   bool     registers_heed(at)                           (engines that run) HEED; false: give up
 *   bool     registers_await_alarm(at)                    (engines that run) false: give up
 *   void     registers_reset_alarm(at)                    (engines that run)
 *   void     registers_awake(at, place)                   set that place's alarm
 *   bool     registers_ask(at, place, &into)              (engines that run) false: give up
 *   void     registers_defer(at), registers_answer(at)    (engines that run) what DEFER and ANSWER
 *            say
 *   bool     registers_retains(at)                        whether it leaves with its permission
 *   void     registers_recall(at, place, w)               (engines that run) what RECALL says
 *   word     registers_read_own(at, index)                (engines that run) what READ_OWN says
 *   void     registers_broken(at, invariant, condition, file, line)   what ASSERT says
 *   uint64_t registers_missed(at)                         how many rivals may have come and gone
 *     since it last looked
 *   bool     registers_calm(at)                           a guess: nobody is about
 *   bool     registers_none_above(at, limit), registers_none_with(at, mask)
 *   bool     registers_none_to_wake(at, mask, asleep)
 *   bool     registers_brief(at)                          (engines that search) whether these three
 *            are asked for
 *   word     registers_draw(at, largest, bits)            the number after `largest`; overflow of
 *            `bits` is reported
 */
#ifndef AFTERYOU_PROTOCOLS_LANGUAGE_REGISTERS_H
#define AFTERYOU_PROTOCOLS_LANGUAGE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

enum passage_result { PASSED, STOPPED, ABANDONED };

#ifdef REGISTERS_STOP_AT_ACCESS
#include "protocols/language/stopping.h"
#else
#include "protocols/language/running.h"
#ifdef REGISTERS_STOP_AT_SLEEP
#include "protocols/language/resuming.h"
#endif
#endif

#define ASSERT(name, condition)                                                                    \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            registers_broken(at, "invariant " #name, #condition, __FILE__, __LINE__);              \
    } while (0)

/* Every other place that is in use, in ascending order. A place that nobody uses need not be
 * fetched: it would read as dead. */
#define EACH_OTHER(j)                                                                              \
    (j) = (place_number)registers_next(at, 0);                                                     \
    (j) < registers_places(at);                                                                    \
    (j) = (place_number)registers_next(at, (j) + 1u)

/* Every other place in use that may conflict with mine. An engine may leave out a place that it
 * knows to be no rival, and then acts as if it had fetched its word; the protocol asks
 * registers_rival() after each fetch all the same. */
#define EACH_RIVAL(j)                                                                              \
    (j) = (place_number)registers_next_rival(at, 0);                                               \
    (j) < registers_places(at);                                                                    \
    (j) = (place_number)registers_next_rival(at, (j) + 1u)

/* R stands for two arguments, `place, index`: the outer word lets the macro R expand before they
 * are told apart. */
#define OWN_(place, index)     registers_own(at, index)
#define OWN_BIT_(place, index) registers_own_bit(at, index)
#define OWN(...)               OWN_(__VA_ARGS__)
#define OWN_BIT(...)           OWN_BIT_(__VA_ARGS__)
#define WRITE(label, ...)      WRITE_(label, __VA_ARGS__)
#define WRITE_LATE(label, ...) WRITE_LATE_(label, __VA_ARGS__)
#define WRITE_BIT(label, ...)  WRITE_BIT_(label, __VA_ARGS__)
#define AWAIT(label, ...)      AWAIT_(label, __VA_ARGS__)

#endif
