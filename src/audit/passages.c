/* SPDX-License-Identifier: MIT */
/* Requests, entries, leavings and deaths, each judged as it comes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit/judge.h"
#include "common/grow.h"

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
    const uint32_t words = judge->clocks.columns;
    if (passage->status != STATUS_OUTSIDE) {
        audit_find(
            judge, PROPERTY_RUN, index,
            passage->status == STATUS_INSIDE ? passage->enter : passage->request,
            "line %u: %s requests, and never left since line %u", record->line,
            name_of(judge, index),
            line_of(judge, passage->status == STATUS_INSIDE ? passage->enter : passage->request));
        rise(judge, record->process, record->region);
    }
    if (!passage->request_clock)
        passage->request_clock = malloc(words * sizeof *passage->request_clock);
    if (!passage->request_clock) {
        judge->failed = true;
        return;
    }
    memcpy(passage->request_clock, clocks_of(&judge->clocks, record->process),
           words * sizeof(uint32_t));
    passage->asked = clocks_count(&judge->clocks, passage->request_clock, record->process);
    passage->status = STATUS_WAITING;
    passage->mode = record->mode == TRACE_MODE_NOT_GIVEN ? 0 : record->mode;
    passage->slots = record->slots;
    passage->units = TRACE_NONE;
    passage->request = index;
    sit(judge, record->process, record->region);
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

/* Safety, as it happened: fewer than `slots` others that conflict are inside, and no unit is held
 * twice. Fairness: nobody waits whose request happened before this one's. */
static void judge_against_busy(struct judge *judge, const struct record *record, size_t index)
{
    const struct passage *mine = passage_of(judge, record->process, record->region), *last = NULL;
    const struct region *region = &judge->regions[record->region];
    uint32_t inside = 0;
    for (uint32_t i = 0; i < region->busy_count; i++) {
        const uint32_t other = region->busy[i];
        const struct passage *theirs = passage_of(judge, other, record->region);
        if (other == record->process || !trace_conflict(mine->mode, theirs->mode))
            continue;
        if (theirs->status != STATUS_INSIDE) {
            if (clocks_count(&judge->clocks, mine->request_clock, other) >= theirs->asked)
                judge_fairness(judge, index, mine, theirs);
        } else if (theirs->units == TRACE_NONE) {
            inside++;
            last = !last || theirs->enter > last->enter ? theirs : last;
        } else if (mine->units != TRACE_NONE) {
            judge_units(judge, index, mine, theirs);
        }
    }
    if (inside >= mine->slots && mine->units == TRACE_NONE && mine->slots == 1)
        audit_find(judge, PROPERTY_SAFETY, index, last->enter,
                   "line %u: %s enters while %s is inside, since line %u", record->line,
                   name_of(judge, index), name_of(judge, last->enter), line_of(judge, last->enter));
    else if (inside >= mine->slots && mine->units == TRACE_NONE)
        audit_find(
            judge, PROPERTY_SAFETY, index, last->enter,
            "line %u: %s enters while %u others are inside, of which %s came last, in line %u, "
            "and there are %u slots",
            record->line, name_of(judge, index), inside, name_of(judge, last->enter),
            line_of(judge, last->enter), mine->slots);
}

static bool leavings_add(struct leavings *to, struct leaving leaving)
{
    if (!grow(&to->list, to->count, &to->room, sizeof *to->list, 4))
        return false;
    to->list[to->count++] = leaving;
    return true;
}

static void leavings_forget(struct leavings *left, uint32_t process)
{
    for (uint32_t at = 0; at < left->count; at++)
        if (left->list[at].process == process)
            left->list[at--] = left->list[--left->count];
}

static bool leavings_move(struct leavings *to, struct leavings *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (!leavings_add(to, from->list[i]))
            return false;
    from->count = 0;
    return true;
}

/* Every leaving in a mode that is no stronger than `mode` is settled by an entry in it: what
 * conflicts with it later conflicts with this one too. */
static bool covers(unsigned mode, unsigned weaker)
{
    for (unsigned other = 0; other < TRACE_MODES; other++)
        if (trace_conflict(weaker, other) && !trace_conflict(mode, other))
            return false;
    return true;
}

/* They are settled by this passage's own leaving; should it die instead, they are judged on. */
static bool cover(struct passage *passage, struct region *region, unsigned mode)
{
    if (!passage->covered)
        passage->covered = calloc(TRACE_MODES, sizeof *passage->covered);
    return passage->covered && leavings_move(&passage->covered[mode], &region->left[mode]);
}

/* Several may be inside at once for want of neither mode: their entries have no order that fences
 * or clocks could follow. */
static bool has_company(const struct passage *passage)
{
    return passage->slots > 1 || passage->units != TRACE_NONE;
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
            if (clocks_count(&judge->clocks, clock, leaving->process) < leaving->clock)
                audit_find(
                    judge, PROPERTY_SAFETY, index, leaving->record,
                    "line %u: %s enters, and nothing orders this after %s's leaving (line %u)",
                    record->line, name_of(judge, index), name_of(judge, leaving->record),
                    line_of(judge, leaving->record));
        }
        if (covers(mode, other) && region->left[other].count > 0)
            judge->failed |=
                !cover(passage_of(judge, record->process, record->region), region, other);
        if (region->handed[other])
            clocks_merge(&judge->clocks, clock, region->handed[other]);
    }
}

static void judge_fence(struct judge *judge, const struct record *record, size_t index)
{
    struct region *region = &judge->regions[record->region];
    const unsigned mode = passage_of(judge, record->process, record->region)->mode;
    if (!record->fenced || has_company(passage_of(judge, record->process, record->region)))
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
    struct passage *passage = passage_of(judge, record->process, record->region);
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
    passage->status = STATUS_INSIDE;
    passage->enter = index;
}

static void remember_leaving(struct judge *judge, const struct record *record, size_t index,
                             unsigned mode)
{
    struct leavings *left = &judge->regions[record->region].left[mode];
    const uint32_t clock =
        clocks_count(&judge->clocks, clocks_of(&judge->clocks, record->process), record->process);
    leavings_forget(left, record->process);
    judge->failed |= !leavings_add(left, (struct leaving){record->process, clock, index});
}

/* Shared memory: what comes after this leaving in the file comes after it. */
static void hand_over(struct judge *judge, const struct record *record, unsigned mode)
{
    struct region *region = &judge->regions[record->region];
    if (!region->handed[mode])
        region->handed[mode] = calloc(judge->clocks.columns, sizeof *region->handed[mode]);
    if (region->handed[mode])
        clocks_merge(&judge->clocks, region->handed[mode],
                     clocks_of(&judge->clocks, record->process));
    else
        judge->failed = true;
}

void audit_leave(struct judge *judge, const struct record *record, size_t index)
{
    struct passage *passage = passage_of(judge, record->process, record->region);
    const enum passage_status expected =
        record->kind == RECORD_LEAVE ? STATUS_INSIDE : STATUS_WAITING;
    if (passage->status != expected) {
        audit_find(judge, PROPERTY_RUN, index, index, "line %u: %s %s, and is not %s", record->line,
                   name_of(judge, index), record->kind == RECORD_LEAVE ? "leaves" : "gives up",
                   expected == STATUS_INSIDE ? "inside" : "waiting");
        return;
    }
    rise(judge, record->process, record->region);
    if (record->kind != RECORD_LEAVE)
        return;
    for (unsigned mode = 0; passage->covered && mode < TRACE_MODES; mode++)
        passage->covered[mode].count = 0;
    if (has_company(passage))
        return;
    if (judge->trace->messages)
        remember_leaving(judge, record, index, passage->mode);
    else
        hand_over(judge, record, passage->mode);
}

/* One that is gone is ordered by the notice of it: nobody need hear of its leavings. */
static void forget_leavings(struct judge *judge, uint32_t region, uint32_t process)
{
    struct region *there = &judge->regions[region];
    for (unsigned mode = 0; mode < TRACE_MODES; mode++) {
        leavings_forget(&there->left[mode], process);
        for (uint32_t seat = 0; seat < there->busy_count; seat++) {
            const struct passage *passage = passage_of(judge, there->busy[seat], region);
            if (passage->covered)
                leavings_forget(&passage->covered[mode], process);
        }
    }
}

/* It died, or was told that it is out: its passages end, and what its leavings would have stood for
 * is judged on. */
void audit_gone(struct judge *judge, const struct record *record)
{
    for (uint32_t i = 0; i < judge->trace->regions.count; i++) {
        struct passage *passage = passage_of(judge, record->process, i);
        if (passage->status != STATUS_OUTSIDE)
            rise(judge, record->process, i);
        for (unsigned mode = 0; passage->covered && mode < TRACE_MODES; mode++)
            judge->failed |= !leavings_move(&judge->regions[i].left[mode], &passage->covered[mode]);
        forget_leavings(judge, i, record->process);
    }
    judge->lives[record->process] = record->kind == RECORD_DIED ? LIFE_DEAD : LIFE_LOST;
}

/* It remembers nothing, so nothing of its earlier life happened before what it does from here on.
 */
void audit_joined(struct judge *judge, const struct record *record, size_t index)
{
    for (uint32_t i = 0; i < judge->trace->regions.count; i++) {
        const struct passage *passage = passage_of(judge, record->process, i);
        if (passage->status != STATUS_OUTSIDE)
            audit_find(judge, PROPERTY_RUN, index,
                       passage->status == STATUS_INSIDE ? passage->enter : passage->request,
                       "line %u: %s joins while it is %s", record->line, name_of(judge, index),
                       passage->status == STATUS_INSIDE ? "inside" : "waiting");
    }
    judge->lives[record->process] = LIFE_UP;
    clocks_forget(&judge->clocks, record->process);
}
