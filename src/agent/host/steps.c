/* SPDX-License-Identifier: MIT */
/* One event after the other, with the time; and the one place that carries out what the agent
 * decides. */
#include "agent/host/steps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "agent/host/control.h"
#include "agent/host/hearing.h"
#include "agent/host/linking.h"
#include "agent/host/transport.h"
#include "common/assert.h"
#include "common/clock.h"

enum { EXIT_REFUSED = 125, SECONDS_2026 = 1767225600 };

void service_say(struct service *service, enum log_level level, const char *event,
                 const char *details)
{
    if (level != LOG_DEBUGGING || service->options->verbose)
        journal_write(service->options->cluster, level, event, details);
}

static void tell_full(struct service *service, bool full)
{
    if (full == (bool)atomic_load(&service->pages.map->full))
        return;
    if (full)
        service_say(service, LOG_WARNING, "full", "why=\"no room for another name of a resource\"");
    pages_full(&service->pages, full);
}

static void tell_state(struct service *service, enum agent_state state)
{
    static const char *const notices[] = {
        [AGENT_STARTING] = "STATUS=starting",
        [AGENT_NO_QUORUM] = "STATUS=no quorum: no permission can be had",
        [AGENT_JOINING] = "STATUS=joining the other agents",
        [AGENT_READY] = "READY=1\nSTATUS=ready",
        [AGENT_ENDED] = "STOPPING=1",
    };
    pages_state(&service->pages, state);
    journal_notify(notices[state]);
    if (state == AGENT_NO_QUORUM)
        service_say(service, LOG_WARNING, "no-quorum", "");
}

static void keep_view(struct service *service, uint64_t view)
{
    pages_keep_view(&service->pages, view);
    if (view_file_keep(&service->view_file, view) || service->view_file.failed)
        return;
    char details[PATH_MAX + 64];
    service->view_file.failed = true;
    snprintf(details, sizeof details, "file=\"%s\" why=\"%s\"", service->view_file.path,
             strerror(errno));
    service_say(service, LOG_WARNING, "view-not-kept", details);
}

static void stop(struct service *service, const char *why, size_t length)
{
    fprintf(stderr, "afteryou agent: the agents of the other machines have %.*s\n", (int)length,
            why);
    service->ending = true;
    service->exit_code = EXIT_REFUSED;
}

static void say(struct service *service, const struct agent_effect *effect)
{
    struct wording wording;
    if (wording_level(effect) == LOG_DEBUGGING && !service->options->verbose)
        return; /* a hand-over has two of these */
    wording_of(&service->agent, effect, &wording);
    service_say(service, wording.level, wording.event, wording.details);
}

static void carry_out(struct service *service, const struct agent_effect *effect)
{
    struct pages *pages = &service->pages;
    const unsigned resource = effect->resource;
    const struct resource *its = &service->agent.resource[resource];
    switch (effect->kind) {
    case DO_SEND:
        transport_send(service->transport, effect->send.bytes, effect->send.length);
        break;
    case DO_PEER:
    case DO_FORGET_PEER:
    case DO_SEND_TO:
    case DO_NUDGE:
        linking_do(service, effect);
        break;
    case DO_NAME:
        pages_name(pages, resource, its->name, its->length);
        break;
    case DO_GRANT:
        assert_invariant(P1, effect->grant.raised == pages_has_some(pages, resource));
        pages_grant(pages, resource, effect->grant.mode, effect->grant.slot, effect->grant.base,
                    effect->grant.first);
        break;
    case DO_WITHDRAW:
        pages_lose(pages, resource, effect->owed);
        break;
    case DO_TAKE_BACK: /* once the list has been carried out */
    case DO_DESCRIBE:
        break;
    case DO_TELL_BUSY:
        pages_busy(pages, resource);
        break;
    case DO_TELL_DEATH:
        pages_death(pages, resource, effect->death);
        break;
    case DO_WATCH:
        pages_watch(pages, resource, effect->watch.armed, effect->watch.others,
                    effect->watch.heard);
        break;
    case DO_TELL_FULL:
        tell_full(service, effect->full);
        break;
    case DO_LEASE:
        pages_lease(pages, effect->deadline);
        break;
    case DO_TELL_STATE:
        tell_state(service, effect->state);
        break;
    case DO_KEEP_VIEW:
        keep_view(service, effect->view);
        break;
    case DO_ANSWER:
        control_answered(service->control, effect->answer.query, effect->answer.node,
                         effect->answer.text, effect->answer.length);
        break;
    case DO_STOP:
        stop(service, effect->answer.text, effect->answer.length);
        break;
    case DO_SAY:
        say(service, effect);
        break;
    case DO_WAKE:
        service->due = effect->due < service->due ? effect->due : service->due;
        break;
    }
}

static uint64_t minutes_since_2026(void)
{
    const int64_t seconds = clock_ns(CLOCK_REALTIME) / 1000000000 - SECONDS_2026;
    return seconds > 0 ? (uint64_t)seconds / 60 : 0;
}

static void describe(struct service *service)
{
    static char text[UINT16_MAX];
    const size_t length = control_describe(service->control, text, sizeof text);
    service_step(service, (struct agent_event){.kind = ON_DESCRIBED,
                                               .described = {.text = text, .length = length}});
}

/* What a hand-over is made of changes nothing that has a time, but for what DO_WAKE says. */
static bool needs_tick(const struct service *service, enum agent_event_kind kind)
{
    const bool is_of_passages =
        kind == ON_PACKET || kind == ON_DEMAND || kind == ON_BUSY || kind == ON_TAKEN_BACK;
    return kind != ON_TICK && (!is_of_passages || !agent_is_member(&service->agent));
}

/* By now the pages are as the agent takes them to be. */
static void take_back(struct service *service)
{
    for (unsigned at = 0; at < service->effects.count; at++) {
        const struct agent_effect *effect = &service->effects.effect[at];
        if (effect->kind == DO_TAKE_BACK)
            local_take_back(service->local, effect->resource,
                            service->agent.resource[effect->resource].name, effect->mode);
    }
    hearing_news(service);
}

void service_step(struct service *service, struct agent_event event)
{
    bool is_asked = false, takes_back = false;
    event.now = clock_ns(CLOCK_BOOTTIME);
    event.minute = minutes_since_2026();
    agent_step(&service->agent, &event, &service->effects);
    if (event.kind == ON_TICK) /* this was what it was due for: DO_WAKE says for what next */
        service->due = INT64_MAX;
    for (unsigned at = 0; at < service->effects.count; at++) {
        carry_out(service, &service->effects.effect[at]);
        is_asked |= service->effects.effect[at].kind == DO_DESCRIBE;
        takes_back |= service->effects.effect[at].kind == DO_TAKE_BACK;
    }
    if (needs_tick(service, event.kind))
        service->due = 0;
    if (takes_back)
        take_back(service);
    if (is_asked)
        describe(service);
}
