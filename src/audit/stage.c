/* SPDX-License-Identifier: MIT */
/* Who passes where: one passage for each process in each region that it ever asks for.
 *
 * The trace is known before it is judged. So all room is made at once, for what occurs in it, and
 * nothing moves while it is judged. */
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "common/grow.h"

enum { TABLE_FIRST = 1024 };

static size_t slot_of(const struct judge *judge, uint32_t process, uint32_t region)
{
    const uint64_t key = (uint64_t)region << 32 | process;
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (judge->table_room - 1);
    for (; judge->table[at]; at = (at + 1) & (judge->table_room - 1)) {
        const struct passage *passage = &judge->passages[judge->table[at] - 1];
        if (passage->process == process && passage->region == region)
            break;
    }
    return at;
}

struct passage *passage_of(const struct judge *judge, const struct record *record)
{
    const uint32_t number = judge->table[slot_of(judge, record->process, record->region)];
    return &judge->passages[number - 1];
}

static bool table_grow(struct judge *judge)
{
    const size_t room = judge->table_room ? 2 * judge->table_room : TABLE_FIRST;
    uint32_t *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    free(judge->table);
    judge->table = table;
    judge->table_room = room;
    for (size_t i = 0; i < judge->passages_count; i++)
        table[slot_of(judge, judge->passages[i].process, judge->passages[i].region)] =
            (uint32_t)i + 1;
    return true;
}

static bool passage_add(struct judge *judge, const struct record *record)
{
    if (2 * judge->passages_count >= judge->table_room && !table_grow(judge))
        return false;
    uint32_t *number = &judge->table[slot_of(judge, record->process, record->region)];
    if (!*number) {
        if (!grow(&judge->passages, judge->passages_count, &judge->passages_room,
                  sizeof *judge->passages, 64))
            return false;
        struct passage *passage = &judge->passages[judge->passages_count++];
        *passage = (struct passage){.process = record->process,
                                    .region = record->region,
                                    .next = judge->first[record->process],
                                    .asked = TRACE_NONE};
        memset(passage->left, 0xff, sizeof passage->left);
        *number = (uint32_t)judge->passages_count;
        judge->first[record->process] = *number - 1;
    }
    if (record->kind == RECORD_REQUEST)
        judge->passages[*number - 1].modes |= (uint8_t)(1u << trace_asked_mode(record));
    return true;
}

/* Each region's list has room for all that ever pass there. */
static bool seat_all(struct judge *judge)
{
    judge->busy = calloc(judge->passages_count + 1, sizeof *judge->busy);
    if (!judge->busy)
        return false;
    for (size_t i = 0; i < judge->passages_count; i++)
        judge->regions[judge->passages[i].region].busy_count++;
    uint32_t *free_from = judge->busy;
    for (uint32_t i = 0; i < judge->trace->regions.count; i++) {
        judge->regions[i].busy = free_from;
        free_from += judge->regions[i].busy_count;
        judge->regions[i].busy_count = 0;
    }
    return true;
}

/* How many requests and leavings can be asked about at once: the request of each passage, and
 * where there are messages, its last leaving in each mode. */
static uint32_t acts_most(const struct judge *judge)
{
    uint32_t most = 0;
    for (size_t i = 0; i < judge->passages_count; i++) {
        most++;
        for (unsigned mode = 0; judge->trace->messages && mode < TRACE_MODES; mode++)
            most += judge->passages[i].modes >> mode & 1;
    }
    return most;
}

bool judge_open(struct judge *judge)
{
    const struct trace *trace = judge->trace;
    judge->first = malloc((trace->processes.count + (size_t)1) * sizeof *judge->first);
    judge->regions = calloc((size_t)trace->regions.count + 1, sizeof *judge->regions);
    judge->lives = calloc(trace->processes.count + (size_t)1, sizeof *judge->lives);
    if (!judge->first || !judge->regions || !judge->lives)
        return false;
    memset(judge->first, 0xff, trace->processes.count * sizeof *judge->first);
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind <= RECORD_ABANDON && !passage_add(judge, &trace->records[i]))
            return false;
    return seat_all(judge) && past_open(&judge->past, trace, acts_most(judge));
}

void judge_close(struct judge *judge)
{
    past_close(&judge->past);
    free(judge->passages);
    free(judge->table);
    free(judge->first);
    free(judge->regions);
    free(judge->busy);
    free(judge->lives);
}
