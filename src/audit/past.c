/* SPDX-License-Identifier: MIT */
/* Happened-before: what each process has heard of, and each message on its way.
 *
 * The number of an act that is settled still stands in sets. It is given to another act only when
 * it was struck out of all of them, which is done for all such numbers at once, when none is spare.
 */
#include "audit/past.h"

#include <stdlib.h>

enum { LETTERS_FIRST = 1024, ACTS_LEAST = 8 * SETS_LEAF };

bool past_open(struct past *past, const struct trace *trace, uint32_t most)
{
    /* Twice as many as are needed: whenever numbers are struck out, half of them are. */
    const uint64_t wanted = (2 * (uint64_t)most + SETS_LEAF - 1) / SETS_LEAF * SETS_LEAF;
    *past = (struct past){.trace = trace, .letters_room = LETTERS_FIRST};
    past->acts_room = wanted > ACTS_LEAST ? (uint32_t)wanted : ACTS_LEAST;
    past->letters = calloc(LETTERS_FIRST, sizeof *past->letters);
    past->heard = calloc(trace->processes.count + (size_t)1, sizeof *past->heard);
    past->acts = calloc(past->acts_room, sizeof *past->acts);
    past->spare = calloc(past->acts_room, sizeof *past->spare);
    return past->letters && past->heard && past->acts && past->spare &&
           sets_open(&past->sets, past->acts_room);
}

void past_close(struct past *past)
{
    sets_close(&past->sets);
    free(past->letters);
    free(past->heard);
    free(past->acts);
    free(past->spare);
}

static bool strike_settled(struct past *past)
{
    uint64_t *kept = calloc(past->acts_room / 64, sizeof *kept);
    if (!kept)
        return false;
    for (uint32_t act = past->acts_room; act-- > 0;)
        if (past->acts[act].asked)
            kept[act / 64] |= UINT64_C(1) << act % 64;
        else
            past->spare[past->spare_count++] = act;
    sets_strike(&past->sets, kept);
    free(kept);
    return true;
}

uint32_t past_act(struct past *past, uint32_t process, size_t record)
{
    if (past->spare_count == 0 && (!strike_settled(past) || past->spare_count == 0)) {
        past->sets.failed = true;
        return 0;
    }
    const uint32_t act = past->spare[--past->spare_count];
    past->acts[act] = (struct act){process, (uint32_t)record, true};
    past->heard[process] = sets_put(&past->sets, past->heard[process], act, true);
    return act;
}

void past_settle(struct past *past, uint32_t act)
{
    if (act != TRACE_NONE)
        past->acts[act].asked = false;
}

bool past_heard(const struct past *past, uint32_t process, uint32_t act)
{
    return sets_has(&past->sets, past->heard[process], act);
}

void past_hear(struct past *past, uint32_t process, uint32_t set)
{
    past->heard[process] = sets_merge(&past->sets, past->heard[process], set);
}

void past_forget(struct past *past, uint32_t process)
{
    sets_drop(&past->sets, past->heard[process]);
    past->heard[process] = 0;
}

void past_recall(struct past *past, uint32_t act)
{
    if (act == TRACE_NONE)
        return;
    uint32_t *heard = &past->heard[past->acts[act].process];
    *heard = sets_put(&past->sets, *heard, act, true);
}

static size_t slot_of(const struct past *past, const struct letter *letters, size_t room,
                      uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
    while (letters[at].send && past->trace->records[letters[at].send - 1].message != number)
        at = (at + 1) & (room - 1);
    return at;
}

struct letter *past_letter(struct past *past, uint64_t number)
{
    struct letter *letter =
        &past->letters[slot_of(past, past->letters, past->letters_room, number)];
    return letter->send ? letter : NULL;
}

static bool letters_grow(struct past *past)
{
    const size_t room = 2 * past->letters_room;
    struct letter *letters = calloc(room, sizeof *letters);
    if (!letters)
        return false;
    for (size_t i = 0; i < past->letters_room; i++)
        if (past->letters[i].send)
            letters[slot_of(past, letters, room,
                            past->trace->records[past->letters[i].send - 1].message)] =
                past->letters[i];
    free(past->letters);
    past->letters = letters;
    past->letters_room = room;
    return true;
}

bool past_send(struct past *past, const struct record *record, size_t index)
{
    if (4 * ++past->letters_count > 3 * past->letters_room && !letters_grow(past))
        return false;
    const size_t slot = slot_of(past, past->letters, past->letters_room, record->message);
    past->letters[slot] = (struct letter){.send = (uint32_t)index + 1, .to_come = record->copies};
    if (record->copies > 0)
        past->letters[slot].heard = sets_keep(&past->sets, past->heard[record->process]);
    return true;
}

void past_receive(struct past *past, uint32_t process, struct letter *letter)
{
    past_hear(past, process, letter->heard);
    if (--letter->to_come)
        return;
    sets_drop(&past->sets, letter->heard);
    letter->heard = 0;
}
