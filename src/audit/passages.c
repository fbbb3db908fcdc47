/* SPDX-License-Identifier: MIT */
/* Requests, entries, leavings and deaths, each judged as it comes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"

static void sit(struct judge *judge, struct passage *passage)
{
    struct region *there = &judge->regions[passage->region];
    passage->seat = there->busy_count;
    there->busy[there->busy_count++] = (uint32_t)(passage - judge->passages);
}

/* Its request is asked about no more: it entered, gave up, or is gone. */
static void settle_request(struct judge *judge, struct passage *passage)
{
    past_settle(&judge->past, passage->asked);
    sets_drop(&judge->past.sets, passage->heard);
    passage->asked = TRACE_NONE;
    passage->heard = 0;
}

static void rise(struct judge *judge, struct passage *passage)
{
    struct region *there = &judge->regions[passage->region];
    const uint32_t last = there->busy[--there->busy_count];
    there->busy[passage->seat] = last;
    judge->passages[last].seat = passage->seat;
    passage->status = STATUS_OUTSIDE;
    settle_request(judge, passage);
}

void audit_request(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record);
    if (passage->status != STATUS_OUTSIDE) {
        const size_t since = passage->status == STATUS_INSIDE ? passage->enter : passage->request;
        audit_find(judge, PROPERTY_RUN, index, since,
                   "line %u: %s requests, and never left since line %u", record->line,
                   name_of(judge, index), line_of(judge, since));
        rise(judge, passage);
    }
    passage->asked = past_act(&judge->past, record->process, index);
    passage->heard = sets_keep(&judge->past.sets, judge->past.heard[record->process]);
    passage->status = STATUS_WAITING;
    passage->mode = trace_asked_mode(record);
    passage->slots = record->slots;
    passage->units = TRACE_NONE;
    passage->request = index;
    sit(judge, passage);
}

/* The least unit that stands in both lists; -1: none. */
static int64_t common_unit(const char *mine, const char *theirs)
{
    while (*mine && *theirs) {
        char *mine_end, *theirs_end;
        const long my_unit = strtol(mine, &mine_end, 10),
                   their_unit = strtol(theirs, &theirs_end, 10);
        if (my_unit == their_unit)
            return my_unit;
        if (my_unit < their_unit)
            mine = mine_end + (*mine_end == ',');
        else
            theirs = theirs_end + (*theirs_end == ',');
    }
    return -1;
}

static void judge_units(struct judge *judge, size_t index, const struct passage *mine,
                        const struct passage *theirs)
{
    char *const *units = judge->trace->units.text;
    const int64_t unit = common_unit(units[mine->units], units[theirs->units]);
    if (unit >= 0)
        audit_find(judge, PROPERTY_SAFETY, index, theirs->enter,
                   "line %u: %s enters with unit %" PRId64 ", which %s holds since line %u",
                   line_of(judge, index), name_of(judge, index), unit,
                   name_of(judge, theirs->enter), line_of(judge, theirs->enter));
}

static void judge_fairness(struct judge *judge, size_t index, const struct passage *mine,
                           const struct passage *theirs)
{
    judge->audit->overtaken++;
    if (judge->audit->fairness_judged)
        audit_find(
            judge, PROPERTY_FAIRNESS, index, theirs->request,
            "line %u: %s enters before %s, whose request (line %u) happened before its own (line "
            "%u)",
            line_of(judge, index), name_of(judge, index), name_of(judge, theirs->request),
            line_of(judge, theirs->request), line_of(judge, mine->request));
}

static bool exclude(const struct passage *mine, const struct passage *theirs)
{
    return mine != theirs && trace_conflict(mine->mode, theirs->mode) &&
           (mine->units == TRACE_NONE || theirs->units == TRACE_NONE);
}

/* Both exclude the same others, and have the same slots. */
static bool count_alike(const struct passage *mine, const struct passage *theirs)
{
    return mine->mode == theirs->mode && mine->slots == theirs->slots &&
           mine->units == theirs->units;
}

/* How many are inside that exclude this one; and which of them came last. */
static uint32_t count_excluded(const struct judge *judge, const struct passage *mine,
                               const struct passage **last)
{
    const struct region *region = &judge->regions[mine->region];
    uint32_t inside = 0;
    *last = NULL;
    for (uint32_t i = 0; i < region->busy_count; i++) {
        const struct passage *theirs = &judge->passages[region->busy[i]];
        if (theirs->status != STATUS_INSIDE || !exclude(mine, theirs))
            continue;
        inside++;
        *last = !*last || theirs->enter > (*last)->enter ? theirs : *last;
    }
    return inside;
}

/* Safety, as it happened: of those that exclude each other, no more are inside than there are
 * slots, as `mine` counts them: the one that enters, or one that is inside. */
static void judge_slots(struct judge *judge, size_t index, const struct passage *entering,
                        const struct passage *mine)
{
    const struct passage *last;
    const uint32_t inside = count_excluded(judge, mine, &last) + (mine != entering);
    if (inside < mine->slots)
        return;
    if (mine != entering)
        last = mine;
    if (mine->slots == 1)
        audit_find(judge, PROPERTY_SAFETY, index, last->enter,
                   "line %u: %s enters while %s is inside, since line %u", line_of(judge, index),
                   name_of(judge, index), name_of(judge, last->enter), line_of(judge, last->enter));
    else
        audit_find(
            judge, PROPERTY_SAFETY, index, last->enter,
            "line %u: %s enters while %u others are inside, of which %s came last, in line %u, "
            "and there are %u slots",
            line_of(judge, index), name_of(judge, index), inside, name_of(judge, last->enter),
            line_of(judge, last->enter), mine->slots);
}

/* Safety, as it happened: slots are not exceeded, and no unit is held twice. Fairness: nobody waits
 * whose request happened before this one's. */
static void judge_against_busy(struct judge *judge, const struct record *record, size_t index)
{
    const struct passage *mine = passage_of(judge, record);
    const struct region *region = &judge->regions[record->region];
    judge_slots(judge, index, mine, mine);
    for (uint32_t i = 0; i < region->busy_count; i++) {
        const struct passage *theirs = &judge->passages[region->busy[i]];
        if (theirs == mine)
            continue;
        if (theirs->status == STATUS_WAITING) {
            if (trace_conflict(mine->mode, theirs->mode) &&
                sets_has(&judge->past.sets, mine->heard, theirs->asked))
                judge_fairness(judge, index, mine, theirs);
            continue;
        }
        if (mine->units != TRACE_NONE && theirs->units != TRACE_NONE)
            judge_units(judge, index, mine, theirs);
        else if (exclude(mine, theirs) && !count_alike(mine, theirs))
            judge_slots(judge, index, mine, theirs);
    }
}

/* Several may be inside at once for want of neither mode: their entries have no order that fences
 * or clocks could follow. */
static bool has_company(const struct passage *passage)
{
    return passage->slots > 1 || passage->units != TRACE_NONE;
}

/* The last of the leavings in that mode which the process has not heard of. */
static size_t last_unheard(const struct judge *judge, uint32_t process, uint32_t left)
{
    const struct past *past = &judge->past;
    size_t last = 0;
    for (uint32_t act = 0; act < past->acts_room; act++)
        if (sets_has(&past->sets, left, act) && !past_heard(past, process, act) &&
            past->acts[act].record >= last)
            last = past->acts[act].record;
    return last;
}

/* Safety, by causality: the last leaving of each process in each conflicting mode happened before
 * this entry, and so did its earlier ones. */
static void judge_against_left(struct judge *judge, const struct record *record, size_t index)
{
    struct region *region = &judge->regions[record->region];
    struct past *past = &judge->past;
    const unsigned mode = passage_of(judge, record)->mode;
    for (unsigned other = 0; other < TRACE_MODES; other++) {
        if (!trace_conflict(mode, other))
            continue;
        past_hear(past, record->process, region->handed[other]);
        if (sets_within(&past->sets, region->left[other], past->heard[record->process]) ||
            judge->audit->findings[PROPERTY_SAFETY].found)
            continue;
        const size_t leaving = last_unheard(judge, record->process, region->left[other]);
        audit_find(judge, PROPERTY_SAFETY, index, leaving,
                   "line %u: %s enters, and nothing orders this after %s's leaving (line %u)",
                   record->line, name_of(judge, index), name_of(judge, leaving),
                   line_of(judge, leaving));
    }
}

static void judge_fence(struct judge *judge, const struct record *record, size_t index)
{
    struct region *region = &judge->regions[record->region];
    const struct passage *passage = passage_of(judge, record);
    const unsigned mode = passage->mode;
    if (!record->fenced || has_company(passage))
        return;
    for (unsigned other = 0; other < TRACE_MODES; other++)
        if (trace_conflict(mode, other) && region->fenced[other] &&
            record->fence <= region->fence[other])
            audit_find(judge, PROPERTY_FENCE, index, region->fence_record[other],
                       "line %u: %s enters with fence %" PRIu64 ", not above the fence %" PRIu64
                       " of line %u",
                       record->line, name_of(judge, index), record->fence, region->fence[other],
                       line_of(judge, region->fence_record[other]));
    if (!region->fenced[mode] || record->fence > region->fence[mode]) {
        region->fenced[mode] = true;
        region->fence[mode] = record->fence;
        region->fence_record[mode] = index;
    }
}

void audit_enter(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record);
    if (passage->status != STATUS_WAITING) {
        audit_find(judge, PROPERTY_RUN, index,
                   passage->status == STATUS_INSIDE ? passage->enter : index,
                   "line %u: %s enters without a request", record->line, name_of(judge, index));
        return;
    }
    if (record->mode != TRACE_MODE_NOT_GIVEN && record->mode != passage->mode)
        audit_find(judge, PROPERTY_RUN, index, passage->request,
                   "line %u: %s enters in mode %s, and requested mode %s in line %u", record->line,
                   name_of(judge, index), trace_mode_name(record->mode),
                   trace_mode_name(passage->mode), line_of(judge, passage->request));
    passage->slots = record->slots > passage->slots ? record->slots : passage->slots;
    passage->units = record->units;
    judge->audit->entries++;
    judge_against_busy(judge, record, index);
    if (!has_company(passage))
        judge_against_left(judge, record, index);
    judge_fence(judge, record, index);
    settle_request(judge, passage);
    passage->status = STATUS_INSIDE;
    passage->enter = index;
}

static void forget_leaving(struct judge *judge, struct passage *passage, unsigned mode)
{
    if (passage->left[mode] == TRACE_NONE)
        return;
    uint32_t *left = &judge->regions[passage->region].left[mode];
    *left = sets_put(&judge->past.sets, *left, passage->left[mode], false);
    past_settle(&judge->past, passage->left[mode]);
    passage->left[mode] = TRACE_NONE;
}

/* Who hears of this leaving has heard of the earlier ones too. */
static void remember_leaving(struct judge *judge, struct passage *passage, size_t index)
{
    uint32_t *left = &judge->regions[passage->region].left[passage->mode];
    forget_leaving(judge, passage, passage->mode);
    passage->left[passage->mode] = past_act(&judge->past, passage->process, index);
    *left = sets_put(&judge->past.sets, *left, passage->left[passage->mode], true);
}

/* Shared memory: what comes after this leaving in the file comes after it. */
static void hand_over(struct judge *judge, const struct passage *passage)
{
    uint32_t *handed = &judge->regions[passage->region].handed[passage->mode];
    *handed = sets_merge(&judge->past.sets, *handed, judge->past.heard[passage->process]);
}

void audit_leave(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record);
    const enum passage_status expected =
        record->kind == RECORD_LEAVE ? STATUS_INSIDE : STATUS_WAITING;
    if (passage->status != expected) {
        audit_find(judge, PROPERTY_RUN, index, index, "line %u: %s %s, and is not %s", record->line,
                   name_of(judge, index), record->kind == RECORD_LEAVE ? "leaves" : "gives up",
                   expected == STATUS_INSIDE ? "inside" : "waiting");
        return;
    }
    rise(judge, passage);
    if (record->kind != RECORD_LEAVE || has_company(passage))
        return;
    if (judge->trace->messages)
        remember_leaving(judge, passage, index);
    else
        hand_over(judge, passage);
}

/* It died, or was told that it is out: its passages end. It is ordered by the notice of it, so that
 * nobody need hear of its leavings. */
void audit_gone(struct judge *judge, const struct record *record)
{
    for (uint32_t i = judge->first[record->process]; i != TRACE_NONE; i = judge->passages[i].next) {
        if (judge->passages[i].status != STATUS_OUTSIDE)
            rise(judge, &judge->passages[i]);
        for (unsigned mode = 0; mode < TRACE_MODES; mode++)
            forget_leaving(judge, &judge->passages[i], mode);
    }
    judge->lives[record->process] = record->kind == RECORD_DIED ? LIFE_DEAD : LIFE_LOST;
}

/* It remembers nothing: what it had heard of in its earlier life did not happen before what it does
 * from here on; what it did itself, did. */
void audit_joined(struct judge *judge, const struct record *record, size_t index)
{
    past_forget(&judge->past, record->process);
    for (uint32_t i = judge->first[record->process]; i != TRACE_NONE; i = judge->passages[i].next) {
        const struct passage *passage = &judge->passages[i];
        if (passage->status != STATUS_OUTSIDE)
            audit_find(judge, PROPERTY_RUN, index,
                       passage->status == STATUS_INSIDE ? passage->enter : passage->request,
                       "line %u: %s joins while it is %s", record->line, name_of(judge, index),
                       passage->status == STATUS_INSIDE ? "inside" : "waiting");
        past_recall(&judge->past, passage->asked);
        for (unsigned mode = 0; mode < TRACE_MODES; mode++)
            past_recall(&judge->past, passage->left[mode]);
    }
    judge->lives[record->process] = LIFE_UP;
}
