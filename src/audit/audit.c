/* SPDX-License-Identifier: MIT */
/* Judges a recorded run by causality: Garg's Safety, Liveness and Fairness, and that fences grow.
 *
 * The lines of a trace stand in an order that its causality allows: a send before its receives.
 * Happened-before is program order, and besides
 * - where messages are recorded: a send happened before its receives. That two sections did not
 *   overlap as it happened
 * is not enough, then; a leaving must have happened before the next conflicting entry, or another
 * run could have had both inside;
 * - where none are (shared memory): a leaving happened before the conflicting entries that follow
 *   it. Entering and leaving are recorded from inside, so their order in the file is the order in
 *   which they happened.
 *
 * The dead are ordered by the notice of their death, which is no message: their sections are judged
 * by overlap alone. What they stood for is judged on: a leaving that happened before the section of
 * one that then died must have happened before the next entry too.
 */
#include "audit/audit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "audit/judge.h"

const char *audit_property_name(enum audit_property property)
{
    static const char *const names[PROPERTIES] = {"Run", "Safety", "Fence", "Liveness", "Fairness"};
    return names[property];
}

bool audit_holds(const struct audit *audit)
{
    for (unsigned i = 0; i < PROPERTIES; i++)
        if (audit->findings[i].found)
            return false;
    return true;
}

void audit_find(struct judge *judge, enum audit_property property, size_t record, size_t other,
                const char *format, ...)
{
    struct audit_finding *finding = &judge->audit->findings[property];
    if (finding->found)
        return;
    *finding = (struct audit_finding){.found = true, .record = record, .other = other};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->words, sizeof finding->words, format, arguments);
    va_end(arguments);
}

static void judge_send(struct judge *judge, const struct record *record, size_t index)
{
    const struct letter *letter = past_letter(&judge->past, record->message);
    if (!letter)
        judge->failed |= !past_send(&judge->past, record, index);
    else
        audit_find(judge, PROPERTY_RUN, index, letter->send - 1,
                   "line %u: message %" PRIu64 " is sent again; line %u sent it first",
                   record->line, record->message, line_of(judge, letter->send - 1));
}

static void judge_receive(struct judge *judge, const struct record *record, size_t index)
{
    struct letter *letter = past_letter(&judge->past, record->message);
    if (!letter) {
        audit_find(judge, PROPERTY_RUN, index, index,
                   "line %u: %s receives message %" PRIu64 " before it is sent", record->line,
                   name_of(judge, index), record->message);
        return;
    }
    const size_t send = letter->send - 1;
    const uint32_t to = judge->trace->records[send].to;
    if (to != TRACE_NONE && to != record->process)
        audit_find(judge, PROPERTY_RUN, index, send,
                   "line %u: %s receives message %" PRIu64 ", which line %u sent to somebody else",
                   record->line, name_of(judge, index), record->message, line_of(judge, send));
    else if (!letter->to_come)
        audit_find(judge, PROPERTY_RUN, index, send,
                   "line %u: %s receives message %" PRIu64 " once more than line %u sent it",
                   record->line, name_of(judge, index), record->message, line_of(judge, send));
    else
        past_receive(&judge->past, record->process, letter);
}

static void judge_record(struct judge *judge, const struct record *record, size_t index)
{
    const enum life life = judge->lives[record->process];
    if (life != LIFE_UP && record->kind != RECORD_JOINED && record->kind != RECORD_DIED) {
        audit_find(judge, PROPERTY_RUN, index, index, "line %u: %s does something after %s",
                   record->line, name_of(judge, index),
                   life == LIFE_DEAD ? "its death" : "it was told that it is out");
        return;
    }
    switch ((enum trace_event)record->kind) {
    case RECORD_REQUEST:
        audit_request(judge, record, index);
        break;
    case RECORD_ENTER:
        audit_enter(judge, record, index);
        break;
    case RECORD_LEAVE:
    case RECORD_ABANDON:
        audit_leave(judge, record, index);
        break;
    case RECORD_SEND:
        judge_send(judge, record, index);
        break;
    case RECORD_RECEIVE:
        judge_receive(judge, record, index);
        break;
    case RECORD_DIED:
    case RECORD_LOST:
        audit_gone(judge, record);
        break;
    default:
        audit_joined(judge, record, index);
    }
}

/* Liveness, where the trace says that all had come to rest: nobody waits, nobody is inside. */
static void judge_end(struct judge *judge)
{
    for (uint32_t i = 0; i < judge->trace->regions.count; i++)
        for (uint32_t seat = 0; seat < judge->regions[i].busy_count; seat++) {
            const struct passage *passage = &judge->passages[judge->regions[i].busy[seat]];
            const bool inside = passage->status == STATUS_INSIDE;
            const size_t record = inside ? passage->enter : passage->request;
            judge->audit->open_requests += !inside;
            if (judge->audit->liveness_judged)
                audit_find(judge, PROPERTY_LIVENESS, record, record, "line %u: %s %s",
                           line_of(judge, record), name_of(judge, record),
                           inside ? "enters, and never leaves" : "requests, and never enters");
        }
}

int audit_judge(const struct trace *trace, bool fair, struct audit *audit)
{
    *audit = (struct audit){.fairness_judged = fair || trace->fair, .liveness_judged = trace->rest};
    struct judge judge = {.trace = trace, .audit = audit};
    judge.failed = !judge_open(&judge);
    for (size_t i = 0; i < trace->count && !judge.failed; i++)
        judge_record(&judge, &trace->records[i], i);
    judge.failed |= judge.past.sets.failed;
    if (!judge.failed)
        judge_end(&judge);
    judge_close(&judge);
    return judge.failed ? -ENOMEM : 0;
}
