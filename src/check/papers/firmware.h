/* SPDX-License-Identifier: MIT */
/* The bakery lock of ARM's Trusted Firmware, as its description tells it: a published error of
 * memory order.
 *
 * The lock's words lie in device memory: accesses to them are never reordered with each other, but
 * order nothing else. Until 2018 nothing held the accesses of the critical section, to other
 * memory, inside it ("it is likely that a contender will observe accesses in the critical section
 * before the lock is released; same goes on the read side": issue 609 of the firmware's list). It
 * was mended by a barrier for loads at the end of `get` and one for stores before the store that
 * releases. Here a passage is one act; that a barrier for stores holds no loads back is not told.
 *
 * A word: the ticket, and whether it is being chosen. No process dies in firmware.
 */
#ifndef AFTERYOU_CHECK_PAPERS_FIRMWARE_H
#define AFTERYOU_CHECK_PAPERS_FIRMWARE_H

#include "check/registers/accesses.h"

#define W(process) (process), 0

/* Accesses to device memory, and a barrier in this processor alone. */
#define DEVICE_READ(label, into, ...)                                                              \
    do {                                                                                           \
        (into) = 0;                                                                                \
        STOP(label);                                                                               \
        at->relaxed = true;                                                                        \
        (into) = registers_read(at, __VA_ARGS__);                                                  \
        at->relaxed = false;                                                                       \
    } while (0)
#define DEVICE_AWAIT_(label, into, place, index, test)                                             \
    do {                                                                                           \
        (into) = 0;                                                                                \
        STOP(label);                                                                               \
        at->relaxed = true;                                                                        \
        (into) = registers_read(at, place, index);                                                 \
        at->relaxed = false;                                                                       \
        if (!(test)) {                                                                             \
            (into) = 0;                                                                            \
            return STOPPED;                                                                        \
        }                                                                                          \
    } while (0)
#define DEVICE_AWAIT(label, ...) DEVICE_AWAIT_(label, __VA_ARGS__)
#define DEVICE_WRITE_(label, place, index, value)                                                  \
    do {                                                                                           \
        STOP(label);                                                                               \
        at->relaxed = true;                                                                        \
        registers_write_late(at, index, value);                                                    \
        at->relaxed = false;                                                                       \
    } while (0)
#define DEVICE_WRITE(label, ...) DEVICE_WRITE_(label, __VA_ARGS__)
#define BARRIER(label)                                                                             \
    do {                                                                                           \
        STOP(label);                                                                               \
        registers_barrier(at);                                                                     \
    } while (0)

enum { FIRMWARE_CHOOSING = 1, FIRMWARE_TICKET_SHIFT = 1, FIRMWARE_TICKET_BITS = 15 };

static inline word firmware_ticket(word w)
{
    return (word)(w >> FIRMWARE_TICKET_SHIFT);
}

struct firmware_passage {
    PASSAGE_HEAD
    word ticket; /* in the doorway: the greatest seen so far; then mine */
    word theirs;
    place_number j;
};

static inline enum passage_result firmware_get(struct firmware_passage *my, struct registers *at,
                                               bool barriers)
{
    word w = 0;
    PASSAGE_BEGIN
    DEVICE_WRITE(choosing, W(registers_self(at)), FIRMWARE_CHOOSING);
    for (EACH_OTHER(my->j)) {
        DEVICE_READ(maximum, w, W(my->j));
        if (firmware_ticket(w) > my->ticket)
            my->ticket = firmware_ticket(w);
    }
    my->ticket = registers_draw(at, my->ticket, FIRMWARE_TICKET_BITS);
    DEVICE_WRITE(chosen, W(registers_self(at)), (word)(my->ticket << FIRMWARE_TICKET_SHIFT));
    QUEUE;
    for (EACH_OTHER(my->j)) {
        DEVICE_AWAIT(contender, w, W(my->j), !(w & FIRMWARE_CHOOSING));
        my->theirs = firmware_ticket(w);
        if (my->theirs &&
            (my->theirs < my->ticket || (my->theirs == my->ticket && my->j < registers_self(at))))
            DEVICE_AWAIT(turn, w, W(my->j), firmware_ticket(w) != my->theirs);
        my->theirs = 0;
    }
    my->j = 0;
    my->ticket = 0;
    if (barriers)
        BARRIER(acquired);
    PASSAGE_END
}

static inline enum passage_result firmware_release(struct firmware_passage *my,
                                                   struct registers *at, bool barriers)
{
    PASSAGE_BEGIN
    if (barriers)
        BARRIER(releases);
    DEVICE_WRITE(release, W(registers_self(at)), 0);
    PASSAGE_END
}

#undef W
#endif
