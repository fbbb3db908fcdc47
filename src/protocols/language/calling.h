/* SPDX-License-Identifier: MIT */
/* CALL for engines whose passages return in the middle, and go on from `my->head.point`: the part
 * is called again until it has passed. Included by stopping.h and resuming.h alone. */
#ifndef AFTERYOU_PROTOCOLS_LANGUAGE_CALLING_H
#define AFTERYOU_PROTOCOLS_LANGUAGE_CALLING_H

#define CALL_(id, passage, part, ...)                                                              \
    do {                                                                                           \
        my->head.point = (id);                                                                     \
        __attribute__((fallthrough));                                                              \
    case (id): {                                                                                   \
        const enum passage_result called = passage(part, __VA_ARGS__);                             \
        if (called != PASSED)                                                                      \
            return called;                                                                         \
    }                                                                                              \
    } while (0)
#define CALL_AS(id, passage, part, ...) CALL_(id, passage, part, __VA_ARGS__)
#define CALL(passage, part, ...)        CALL_AS(__COUNTER__ + 1, passage, part, __VA_ARGS__)

#endif
