/* SPDX-License-Identifier: MIT */
/* Happened-before: a vector clock for each process, and for each message on its way (Mattern;
 * Fidge).
 *
 * A message's clock is given back when its last copy has been received, so that memory follows what
 * is on its way, not the length of the trace.
 */
#include "audit/clocks.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_CLOCKS = 64, LETTERS_FIRST = 1024 };

bool clocks_open(struct clocks *clocks, uint32_t processes)
{
    *clocks = (struct clocks){.processes = processes, .letters_room = LETTERS_FIRST};
    clocks->rows = calloc(processes, processes * sizeof *clocks->rows);
    clocks->letters = calloc(LETTERS_FIRST, sizeof *clocks->letters);
    return clocks->rows && clocks->letters;
}

void clocks_close(struct clocks *clocks)
{
    for (size_t i = 0; i < clocks->blocks_count; i++)
        free(clocks->blocks[i]);
    free(clocks->blocks);
    free(clocks->letters);
    free(clocks->rows);
}

uint32_t *clocks_of(const struct clocks *clocks, uint32_t process)
{
    return clocks->rows + (size_t)process * clocks->processes;
}

void clocks_tick(struct clocks *clocks, uint32_t process)
{
    clocks_of(clocks, process)[process]++;
}

void clocks_forget(struct clocks *clocks, uint32_t process)
{
    uint32_t *clock = clocks_of(clocks, process);
    const uint32_t own = clock[process];
    memset(clock, 0, clocks->processes * sizeof *clock);
    clock[process] = own;
}

void clocks_merge(const struct clocks *clocks, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < clocks->processes; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

static size_t slot_of(const struct letter *letters, size_t room, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
    while (letters[at].number && letters[at].number != number + 1)
        at = (at + 1) & (room - 1);
    return at;
}

struct letter *clocks_letter(struct clocks *clocks, uint64_t number)
{
    struct letter *letter =
        &clocks->letters[slot_of(clocks->letters, clocks->letters_room, number)];
    return letter->number ? letter : NULL;
}

static bool letters_grow(struct clocks *clocks)
{
    const size_t room = 2 * clocks->letters_room;
    struct letter *letters = calloc(room, sizeof *letters);
    if (!letters)
        return false;
    for (size_t i = 0; i < clocks->letters_room; i++)
        if (clocks->letters[i].number)
            letters[slot_of(letters, room, clocks->letters[i].number - 1)] = clocks->letters[i];
    free(clocks->letters);
    clocks->letters = letters;
    clocks->letters_room = room;
    return true;
}

/* A clock holds a pointer while it is spare, so it is two words at least. */
static size_t clock_words(const struct clocks *clocks)
{
    return clocks->processes < 2 ? 2 : clocks->processes + clocks->processes % 2;
}

static uint32_t *clock_new(struct clocks *clocks)
{
    uint32_t *clock = clocks->spare;
    if (clock) {
        memcpy(&clocks->spare, clock, sizeof clocks->spare);
        return clock;
    }
    if (clocks->block_left == 0) {
        uint32_t **blocks = realloc(clocks->blocks, (clocks->blocks_count + 1) * sizeof *blocks);
        if (!blocks)
            return NULL;
        clocks->blocks = blocks;
        blocks[clocks->blocks_count] = malloc(BLOCK_CLOCKS * clock_words(clocks) * sizeof **blocks);
        if (!blocks[clocks->blocks_count])
            return NULL;
        clocks->blocks_count++;
        clocks->block_left = BLOCK_CLOCKS;
    }
    return clocks->blocks[clocks->blocks_count - 1] + --clocks->block_left * clock_words(clocks);
}

bool clocks_send(struct clocks *clocks, const struct record *record, size_t index)
{
    if (2 * ++clocks->letters_count > clocks->letters_room && !letters_grow(clocks))
        return false;
    struct letter *letter =
        &clocks->letters[slot_of(clocks->letters, clocks->letters_room, record->message)];
    *letter = (struct letter){
        .number = record->message + 1, .to_come = record->copies, .to = record->to, .send = index};
    if (record->copies == 0)
        return true;
    letter->clock = clock_new(clocks);
    if (!letter->clock)
        return false;
    memcpy(letter->clock, clocks_of(clocks, record->process),
           clocks->processes * sizeof *letter->clock);
    return true;
}

void clocks_receive(struct clocks *clocks, uint32_t process, struct letter *letter)
{
    clocks_merge(clocks, clocks_of(clocks, process), letter->clock);
    if (--letter->to_come)
        return;
    memcpy(letter->clock, &clocks->spare, sizeof clocks->spare);
    clocks->spare = letter->clock;
    letter->clock = NULL;
}
