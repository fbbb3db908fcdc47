/* SPDX-License-Identifier: MIT */
/* The agent's lines of log, in words. */
#include "agent/host/wording.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/printable.h"

/* What a line tells besides its event. */
enum tells {
    TELLS_WHY = 1 << 0,
    TELLS_NODE = 1 << 1,
    TELLS_SLOT = 1 << 2,
    TELLS_PID = 1 << 3,
    TELLS_RESOURCE = 1 << 4,
    TELLS_MODE = 1 << 5,
    TELLS_FENCE = 1 << 6,
    TELLS_GHOST = 1 << 7,
    TELLS_KIND = 1 << 8,
    TELLS_MACHINE = 1 << 9,
    TELLS_VIEW = 1 << 10,
    TELLS_QUARANTINE = 1 << 11
};

static const struct {
    enum log_level level;
    const char *event;
    unsigned tells;
} lines[LINES] = {
    [LINE_CUT] = {LOG_WARNING, "cut", TELLS_WHY | TELLS_VIEW},
    [LINE_GONE] = {LOG_INFORMATION, "gone", TELLS_NODE | TELLS_SLOT | TELLS_MACHINE},
    [LINE_MALFORMED] = {LOG_WARNING, "malformed", TELLS_KIND | TELLS_NODE},
    [LINE_SECOND_AGENT] = {LOG_WARNING, "second-agent", TELLS_NODE | TELLS_PID},
    [LINE_OTHER_PAGES] = {LOG_WARNING, "other-pages", TELLS_NODE | TELLS_PID},
    [LINE_NO_SLOT] = {LOG_WARNING, "no-slot", TELLS_NODE},
    [LINE_JOINED] = {LOG_INFORMATION, "joined", TELLS_NODE | TELLS_SLOT | TELLS_VIEW},
    [LINE_MEMBER] = {LOG_INFORMATION, "member", TELLS_SLOT | TELLS_VIEW},
    [LINE_BEGUN] = {LOG_INFORMATION, "begun", TELLS_VIEW | TELLS_QUARANTINE},
    [LINE_READY] = {LOG_INFORMATION, "ready", TELLS_SLOT | TELLS_VIEW},
    [LINE_LOST] = {LOG_WARNING, "lost", TELLS_RESOURCE},
    [LINE_GRANTED] = {LOG_DEBUGGING, "granted",
                      TELLS_RESOURCE | TELLS_MODE | TELLS_FENCE | TELLS_VIEW},
    [LINE_LOWERED] = {LOG_DEBUGGING, "lowered", TELLS_RESOURCE | TELLS_MODE},
    [LINE_RELEASED] = {LOG_DEBUGGING, "released", TELLS_RESOURCE | TELLS_FENCE | TELLS_GHOST},
    [LINE_BURIED] = {LOG_WARNING, "buried", TELLS_NODE | TELLS_SLOT},
    [LINE_FAREWELL] = {LOG_INFORMATION, "farewell", TELLS_NODE | TELLS_SLOT},
    [LINE_GHOST_ENDED] = {LOG_DEBUGGING, "ghost-ended", TELLS_RESOURCE | TELLS_SLOT | TELLS_VIEW},
};

static const char *const reasons[] = {
    [CUT_NO_QUORUM] = "no quorum",
    [CUT_NO_TRANSPORT] = "corosync has gone",
    [CUT_MISSED] = "a message was missed",
    [CUT_PARTED] = "parted from the majority",
    [CUT_LAPSED] = "the lease has run out",
    [CUT_BURIED] = "not heard of for the grace",
    [CUT_LEFT_OUT] = "the others have begun without me",
    [CUT_BAD_STATE] = "a state that makes no sense",
    [CUT_NO_ROOM] = "no room for another name",
    [CUT_OVERWHELMED] = "more at once than there is memory for",
};

void wording_name(const struct resource *resource, char text[NAME_ROOM])
{
    size_t length = 0;
    for (const char *at = resource->name; *at; at++) {
        if (*at == '"' || *at == '\\')
            text[length++] = '\\';
        text[length++] = *at;
    }
    text[length] = '\0';
    make_printable(text);
}

static void put(struct wording *wording, const char *key, uint64_t value)
{
    const size_t length = strlen(wording->details);
    snprintf(wording->details + length, sizeof wording->details - length, "%s%s=%" PRIu64,
             length ? " " : "", key, value);
}

static void put_text(struct wording *wording, const char *key, const char *text)
{
    const size_t length = strlen(wording->details);
    snprintf(wording->details + length, sizeof wording->details - length, "%s%s=\"%s\"",
             length ? " " : "", key, text);
}

enum log_level wording_level(const struct agent_effect *effect)
{
    return lines[effect->say.line].level;
}

void wording_of(const struct agent *agent, const struct agent_effect *effect,
                struct wording *wording)
{
    const unsigned tells = lines[effect->say.line].tells;
    char name[NAME_ROOM];
    wording->level = lines[effect->say.line].level;
    wording->event = lines[effect->say.line].event;
    wording->details[0] = '\0';
    if (tells & TELLS_WHY)
        put_text(wording, "why", reasons[effect->say.number]);
    if (tells & TELLS_RESOURCE) {
        wording_name(&agent->resource[effect->resource], name);
        put_text(wording, "resource", name);
    }
    const struct {
        unsigned tells;
        const char *key;
        uint64_t value;
    } numbers[] = {
        {TELLS_KIND, "kind", effect->say.number},
        {TELLS_NODE, "node", effect->say.node},
        {TELLS_SLOT, "slot", effect->say.slot},
        {TELLS_PID, "pid", effect->say.number},
        {TELLS_MACHINE, "machine", effect->say.number},
        {TELLS_MODE, "mode", effect->say.mode},
        {TELLS_FENCE, "fence", effect->say.number},
        {TELLS_VIEW, "view", effect->say.view},
        {TELLS_QUARANTINE, "quarantine_ms", effect->say.number / 1000000},
    };
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
        if (tells & numbers[at].tells)
            put(wording, numbers[at].key, numbers[at].value);
    if (tells & TELLS_GHOST && effect->say.slot != NO_SLOT)
        put(wording, "ghost", effect->say.slot);
}
