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

static bool is_of_a_passage(const struct record *record)
{
    return record->kind == RECORD_REQUEST || record->kind == RECORD_ENTER ||
           record->kind == RECORD_LEAVE || record->kind == RECORD_ABANDON;
}

bool clocks_open(struct clocks *clocks, const struct trace *trace)
{
    const uint32_t processes = trace->processes.count;
    *clocks = (struct clocks){.letters_room = LETTERS_FIRST};
    clocks->letters = calloc(LETTERS_FIRST, sizeof *clocks->letters);
    clocks->column = malloc((processes + (size_t)1) * sizeof *clocks->column);
    if (!clocks->letters || !clocks->column)
        return false;
    memset(clocks->column, 0xff, processes * sizeof *clocks->column);
    for (size_t i = 0; i < trace->count; i++)
        if (is_of_a_passage(&trace->records[i]) &&
            clocks->column[trace->records[i].process] == TRACE_NONE)
            clocks->column[trace->records[i].process] = clocks->columns++;
    clocks->columns += clocks->columns == 0;
    clocks->rows = calloc(processes, clocks->columns * sizeof *clocks->rows);
    return clocks->rows != NULL;
}

void clocks_close(struct clocks *clocks)
{
    for (size_t i = 0; i < clocks->blocks_count; i++)
        free(clocks->blocks[i]);
    free(clocks->blocks);
    free(clocks->letters);
    free(clocks->rows);
    free(clocks->column);
}

uint32_t *clocks_of(const struct clocks *clocks, uint32_t process)
{
    return clocks->rows + (size_t)process * clocks->columns;
}

uint32_t clocks_count(const struct clocks *clocks, const uint32_t *clock, uint32_t process)
{
    return clock[clocks->column[process]];
}

void clocks_tick(struct clocks *clocks, uint32_t process)
{
    if (clocks->column[process] != TRACE_NONE)
        clocks_of(clocks, process)[clocks->column[process]]++;
}

void clocks_forget(struct clocks *clocks, uint32_t process)
{
    uint32_t *clock = clocks_of(clocks, process);
    const uint32_t column = clocks->column[process];
    const uint32_t own = column == TRACE_NONE ? 0 : clock[column];
    memset(clock, 0, clocks->columns * sizeof *clock);
    if (column != TRACE_NONE)
        clock[column] = own;
}

void clocks_merge(const struct clocks *clocks, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < clocks->columns; i++)
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
    return clocks->columns < 2 ? 2 : clocks->columns + clocks->columns % 2;
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
           clocks->columns * sizeof *letter->clock);
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
