/* SPDX-License-Identifier: MIT */
/* The words of registers.h for an engine that runs, and does not wait: as in running.h a word is
 * the access itself, but where a passage would sleep it notes the place in `my->head.point`, and
 * returns STOPPED. Called again, it goes on from there. Included by registers.h alone, behind
 * running.h.
 *
 * What a protocol keeps beyond an access is in `my`, for the searching engine's sake; so it is
 * there when the passage goes on. The engine defines
 *   enum registers_rest registers_rest(at, &watch, &woken)        what SLEEP says, without a sleep
 *   bool registers_woken(at)                                      how that sleep ended, afterwards
 *   enum registers_rest registers_linger(at, place, index, seen)  what AWAIT does between fetches
 * A protocol that says AGAIN, PAUSE, ASK or AWAIT_ALARM has no such passage.
 */
#ifndef AFTERYOU_PROTOCOLS_LANGUAGE_RESUMING_H
#define AFTERYOU_PROTOCOLS_LANGUAGE_RESUMING_H

enum registers_rest {
    REST_OVER, /* go on */
    REST_GIVEN_UP,
    REST_LASTS /* stop here */
};

struct resume_head {
    unsigned point; /* where the passage stopped; 0: not begun */
};

#undef PASSAGE_HEAD
#undef PART_HEAD
#undef PASSAGE_BEGIN
#undef PASSAGE_END
#undef AWAIT_
#undef CALL
#undef SLEEP
#undef AGAIN
#undef PAUSE
#undef ASK
#undef AWAIT_ALARM

#include "protocols/language/calling.h"

#define PASSAGE_HEAD struct resume_head head;
#define PART_HEAD    struct resume_head head;
#define PASSAGE_BEGIN                                                                              \
    switch (my->head.point) {                                                                      \
    case 0:
#define PASSAGE_END                                                                                \
    }                                                                                              \
    my->head.point = 0;                                                                            \
    return PASSED;

/* `case` stands inside the statement that the passage is in: it goes on from there. */
#define AWAIT_AS(id, into, place, index, test)                                                     \
    do {                                                                                           \
        while ((into) = registers_read(at, place, index), !(test)) {                               \
            const enum registers_rest rest = registers_linger(at, place, index, into);             \
            if (rest == REST_GIVEN_UP)                                                             \
                return ABANDONED;                                                                  \
            if (rest == REST_LASTS) {                                                              \
                my->head.point = (id);                                                             \
                return STOPPED;                                                                    \
            }                                                                                      \
            __attribute__((fallthrough));                                                          \
        case (id):;                                                                                \
        }                                                                                          \
    } while (0)
#define AWAIT_(label, into, place, index, test) AWAIT_AS(__COUNTER__ + 1, into, place, index, test)
#define SLEEP_AS(id, watch, woken)                                                                 \
    do {                                                                                           \
        const enum registers_rest rest = registers_rest(at, watch, &(woken));                      \
        if (rest == REST_GIVEN_UP)                                                                 \
            return ABANDONED;                                                                      \
        if (rest == REST_LASTS) {                                                                  \
            my->head.point = (id);                                                                 \
            return STOPPED;                                                                        \
        case (id):                                                                                 \
            (woken) = registers_woken(at);                                                         \
        }                                                                                          \
    } while (0)
#define SLEEP_AT(id, head, watch, woken)                                                           \
    do {                                                                                           \
        (void)(head);                                                                              \
        SLEEP_AS(id, watch, woken);                                                                \
    } while (0)
#define SLEEP(label, head, watch, woken) SLEEP_AT(__COUNTER__ + 1, head, watch, woken)

#endif
