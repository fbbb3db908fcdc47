/* SPDX-License-Identifier: MIT */
/* The agent's numbers, as Prometheus reads them. */
#include "agent/host/metrics.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/clock.h"

struct text {
    char *at;
    size_t left;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < text->left) {
        text->at += length;
        text->left -= (size_t)length;
    }
}

static void put_metric(struct text *text, const char *name, const char *type, const char *help,
                       const char *cluster, double value)
{
    put(text,
        "# HELP afteryou_agent_%s %s\n# TYPE afteryou_agent_%s "
        "%s\nafteryou_agent_%s{cluster=\"%s\"} %.17g\n",
        name, help, name, type, name, cluster, value);
}

static unsigned count_members(const struct agent *agent)
{
    unsigned count = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        count += agent->member[slot].used && !agent->member[slot].ghost;
    return count;
}

static unsigned count_granted(const struct agent *agent)
{
    unsigned count = 0;
    for (unsigned at = 0; at < agent->resources; at++)
        count += agent->resource[at].granted;
    return count;
}

struct link_sums {
    unsigned up;
    uint64_t longest; /* round trip, in nanoseconds */
    uint64_t breaks;
};

static struct link_sums sum_links(const struct links *links)
{
    struct link_sums sums = {.breaks = links ? links_breaks(links) : 0};
    for (uint32_t slot = 0; slot < LINK_SLOTS && links; slot++) {
        struct link_figures figures;
        if (!links_figures(links, slot, &figures) || !figures.up)
            continue;
        sums.up++;
        sums.longest = figures.round_trip > sums.longest ? figures.round_trip : sums.longest;
    }
    return sums;
}

size_t metrics_write(const struct agent *agent, const struct links *links, const char *cluster,
                     char *room, size_t size)
{
    struct text text = {room, size};
    const struct link_sums linked = sum_links(links);
    const struct counters *counters = &agent->counters;
    const double left = (double)(agent->deadline - clock_ns(CLOCK_BOOTTIME)) / 1e9;
    const struct {
        const char *name, *type, *help;
        double value;
    } metrics[] = {
        {"quorate", "gauge", "1 if this machine has quorum", agent->phase != PHASE_OFF},
        {"ready", "gauge", "1 if permissions can be had", agent->state == AGENT_READY},
        {"members", "gauge", "agents in the group", count_members(agent)},
        {"machines", "gauge", "machines that are configured", agent->nodes},
        {"view", "gauge", "the number of the last change of the group", (double)agent->view},
        {"lease_seconds", "gauge", "how long the lease still holds", left > 0 ? left : 0},
        {"resources", "gauge", "names of resources in the group", agent->group_count},
        {"permissions", "gauge", "permissions that this machine has", count_granted(agent)},
        {"grants_total", "counter", "permissions got", (double)counters->grants},
        {"releases_total", "counter", "permissions given back", (double)counters->releases},
        {"losses_total", "counter", "permissions lost", (double)counters->losses},
        {"burials_total", "counter", "agents counted as dead", (double)counters->burials},
        {"demands_total", "counter", "demands of local processes", (double)counters->demands},
        {"messages_total", "counter", "messages of the protocol sent", (double)counters->sent},
        {"parcels_total", "counter", "multicasts sent", (double)counters->parcels},
        {"links", "gauge", "agents with which there is a link", linked.up},
        {"link_round_trip_seconds", "gauge", "of the slowest link", (double)linked.longest / 1e9},
        {"link_breaks_total", "counter", "links that were lost", (double)linked.breaks},
        {"messages_resent_total", "counter", "messages sent again, after a break of a link",
         (double)counters->resent},
        {"messages_relayed_total", "counter", "messages that went by the ring, not by a link",
         (double)counters->relayed},
        {"records_total", "counter", "records received", (double)counters->received},
    };
    for (size_t at = 0; at < sizeof metrics / sizeof *metrics; at++)
        put_metric(&text, metrics[at].name, metrics[at].type, metrics[at].help, cluster,
                   metrics[at].value);
    return size - text.left;
}
