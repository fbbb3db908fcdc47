/* SPDX-License-Identifier: MIT */
/* Requests, entries, leavings and deaths, each judged as it comes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"

static void sit(struct judge *judge, uint32_t process, uint32_t region)
{
    struct region *there = &judge->regions[region];
    passage_of(judge, process, region)->seat = there->busy_count;
    there->busy[there->busy_count++] = process;
}

static void rise(struct judge *judge, uint32_t process, uint32_t region)
{
    struct region *there = &judge->regions[region];
    struct passage *passage = passage_of(judge, process, region);
    const uint32_t last = there->busy[--there->busy_count];
    there->busy[passage->seat] = last;
    passage_of(judge, last, region)->seat = passage->seat;
    passage->status = STATUS_OUTSIDE;
}

void audit_request(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record->process, record->region);
    const uint32_t processes = judge->clocks.processes;
    if (passage->status != STATUS_OUTSIDE) {
        audit_find(judge, PROPERTY_RUN, index, passage->status == STATUS_INSIDE ? passage->enter : passage->request,
                   "line %u: %s requests, and never left since line %u", record->line, name_of(judge, index),
                   line_of(judge, passage->status == STATUS_INSIDE ? passage->enter : passage->request));
        rise(judge, record->process, record->region);
    }
    if (!passage->request_clock)
        passage->request_clock = malloc(processes * sizeof *passage->request_clock);
    if (!passage->request_clock) {
        judge->failed = true;
        return;
    }
    memcpy(passage->request_clock, clocks_of(&judge->clocks, record->process), processes * sizeof(uint32_t));
    passage->asked = passage->request_clock[record->process];
    passage->status = STATUS_WAITING;
    passage->mode = record->mode;
    passage->request = index;
    sit(judge, record->process, record->region);
}

/* Safety, as it happened; and Fairness: nobody waits whose request happened before this one's. */
static void judge_against_busy(struct judge *judge, const struct record *record, size_t index)
{
    const struct passage *mine = passage_of(judge, record->process, record->region);
    const struct region *region = &judge->regions[record->region];
    for (uint32_t i = 0; i < region->busy_count; i++) {
        const uint32_t other = region->busy[i];
        const struct passage *theirs = passage_of(judge, other, record->region);
        if (other == record->process || !trace_conflict(mine->mode, theirs->mode))
            continue;
        if (theirs->status == STATUS_INSIDE)
            audit_find(judge, PROPERTY_SAFETY, index, theirs->enter,
                       "line %u: %s enters while %s is inside, since line %u", record->line, name_of(judge, index),
                       name_of(judge, theirs->enter), line_of(judge, theirs->enter));
        else if (mine->request_clock[other] >= theirs->asked) {
            judge->audit->overtaken++;
            if (judge->audit->fairness_judged)
                audit_find(judge, PROPERTY_FAIRNESS, index, theirs->request,
                           "line %u: %s enters before %s, whose request (line %u) happened before its own (line %u)",
                           record->line, name_of(judge, index), name_of(judge, theirs->request),
                           line_of(judge, theirs->request), line_of(judge, mine->request));
        }
    }
}

/* Every leaving in a mode that is no stronger than `mode` is settled by an entry in it: what conflicts with it later
 * conflicts with this one too. */
static bool covers(unsigned mode, unsigned weaker)
{
    for (unsigned other = 0; other < TRACE_MODES; other++)
        if (trace_conflict(weaker, other) && !trace_conflict(mode, other))
            return false;
    return true;
}

/* Safety, by causality: every conflicting leaving happened before this entry. */
static void judge_against_left(struct judge *judge, const struct record *record, size_t index)
{
    struct region *region = &judge->regions[record->region];
    const unsigned mode = passage_of(judge, record->process, record->region)->mode;
    uint32_t *clock = clocks_of(&judge->clocks, record->process);
    for (unsigned other = 0; other < TRACE_MODES; other++) {
        if (!trace_conflict(mode, other))
            continue;
        for (uint32_t i = 0; i < region->left[other].count; i++) {
            const struct leaving *leaving = &region->left[other].list[i];
            if (clock[leaving->process] < leaving->clock)
                audit_find(judge, PROPERTY_SAFETY, index, leaving->record,
                           "line %u: %s enters, and nothing orders this after %s's leaving (line %u)", record->line,
                           name_of(judge, index), name_of(judge, leaving->record), line_of(judge, leaving->record));
        }
        if (covers(mode, other))
            region->left[other].count = 0;
        if (region->handed[other])
            clocks_merge(&judge->clocks, clock, region->handed[other]);
    }
}

static void judge_fence(struct judge *judge, const struct record *record, size_t index)
{
    struct region *region = &judge->regions[record->region];
    const unsigned mode = passage_of(judge, record->process, record->region)->mode;
    if (!record->fence)
        return;
    for (unsigned other = 0; other < TRACE_MODES; other++)
        if (trace_conflict(mode, other) && record->fence <= region->fence[other])
            audit_find(judge, PROPERTY_FENCE, index, region->fence_record[other],
                       "line %u: %s enters with fence %" PRIu64 ", not above the fence %" PRIu64 " of line %u",
                       record->line, name_of(judge, index), record->fence, region->fence[other],
                       line_of(judge, region->fence_record[other]));
    if (record->fence > region->fence[mode]) {
        region->fence[mode] = record->fence;
        region->fence_record[mode] = index;
    }
}

void audit_enter(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record->process, record->region);
    if (passage->status != STATUS_WAITING) {
        audit_find(judge, PROPERTY_RUN, index, passage->status == STATUS_INSIDE ? passage->enter : index,
                   "line %u: %s enters without a request", record->line, name_of(judge, index));
        return;
    }
    judge->audit->entries++;
    judge_against_busy(judge, record, index);
    judge_against_left(judge, record, index);
    judge_fence(judge, record, index);
    passage->status = STATUS_INSIDE;
    passage->enter = index;
}

static void remember_leaving(struct judge *judge, const struct record *record, size_t index, unsigned mode)
{
    struct leavings *left = &judge->regions[record->region].left[mode];
    for (uint32_t i = 0; i < left->count; i++)
        if (left->list[i].process == record->process)
            left->list[i--] = left->list[--left->count];
    if (left->count == left->room) {
        const uint32_t room = left->room ? 2 * left->room : 4;
        struct leaving *list = realloc(left->list, room * sizeof *list);
        if (!list) {
            judge->failed = true;
            return;
        }
        left->list = list;
        left->room = room;
    }
    const uint32_t clock = clocks_of(&judge->clocks, record->process)[record->process];
    left->list[left->count++] = (struct leaving){record->process, clock, index};
}

/* Shared memory: what comes after this leaving in the file comes after it. */
static void hand_over(struct judge *judge, const struct record *record, unsigned mode)
{
    struct region *region = &judge->regions[record->region];
    if (!region->handed[mode])
        region->handed[mode] = calloc(judge->clocks.processes, sizeof *region->handed[mode]);
    if (region->handed[mode])
        clocks_merge(&judge->clocks, region->handed[mode], clocks_of(&judge->clocks, record->process));
    else
        judge->failed = true;
}

void audit_leave(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record->process, record->region);
    const enum status expected = record->kind == RECORD_LEAVE ? STATUS_INSIDE : STATUS_WAITING;
    if (passage->status != expected) {
        audit_find(judge, PROPERTY_RUN, index, index, "line %u: %s %s, and is not %s", record->line,
                   name_of(judge, index), record->kind == RECORD_LEAVE ? "leaves" : "gives up",
                   expected == STATUS_INSIDE ? "inside" : "waiting");
        return;
    }
    rise(judge, record->process, record->region);
    if (record->kind != RECORD_LEAVE)
        return;
    if (judge->trace->messages)
        remember_leaving(judge, record, index, passage->mode);
    else
        hand_over(judge, record, passage->mode);
}

/* It died, or was told that it is out: its passages end, and the notice orders what it did before. */
void audit_gone(struct judge *judge, const struct record *record)
{
    for (uint32_t i = 0; i < judge->trace->regions.count; i++) {
        if (passage_of(judge, record->process, i)->status != STATUS_OUTSIDE)
            rise(judge, record->process, i);
        for (unsigned mode = 0; mode < TRACE_MODES; mode++) {
            struct leavings *left = &judge->regions[i].left[mode];
            for (uint32_t at = 0; at < left->count; at++)
                if (left->list[at].process == record->process)
                    left->list[at--] = left->list[--left->count];
        }
    }
    judge->dead[record->process] = record->kind == RECORD_DIED;
}
