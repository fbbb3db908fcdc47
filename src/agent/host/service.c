/* SPDX-License-Identifier: MIT */
/* The agent's loop: it waits for the transport, the local processes, its own threads and the clock,
 * and carries out what the agent decides. */
#include "agent/host/service.h"
#include "common/descriptors.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afteryou.h"
#include "agent/core/agent.h"
#include "agent/host/control.h"
#include "agent/host/directory.h"
#include "agent/host/inheritance.h"
#include "agent/host/journal.h"
#include "agent/host/local.h"
#include "agent/host/pages.h"
#include "agent/host/transport.h"
#include "protocols/messages/catalogue.h"

enum { EXIT_OK = 0, EXIT_FAILED = 125, MS = 1000 * 1000, DEMANDS_AT_ONCE = 64 };
#define DEFAULT_PROTOCOL "carvalho-roucairol"

struct service {
    const struct service_options *options;
    struct agent agent;
    struct directory directory;
    struct pages pages;
    struct local *local;
    struct transport *transport;
    struct control *control;
    struct view_file view_file;
    int socket, signals;
    bool ending;
    int exit_code;
};

static int64_t now(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

static void say(struct service *service, enum log_level level, const char *event,
                const char *details)
{
    if (level != LOG_DEBUGGING || service->options->verbose)
        journal_write(service->options->cluster, level, event, details);
}

static int complain(const char *what)
{
    fprintf(stderr, "afteryou agent: %s\n", what);
    return EXIT_FAILED;
}

/* ---- what the agent decides ---- */

static void do_send(void *arg, const void *bytes, size_t length)
{
    transport_send(((struct service *)arg)->transport, bytes, length);
}

static void do_named(void *arg, unsigned resource)
{
    struct service *service = arg;
    const struct resource *named = &service->agent.resource[resource];
    pages_name(&service->pages, resource, named->name, named->length);
}

static void do_grant(void *arg, unsigned resource)
{
    struct service *service = arg;
    const struct resource *granted = &service->agent.resource[resource];
    pages_grant(&service->pages, resource, granted->mode, service->agent.self, granted->base,
                granted->first);
}

static void do_withdraw(void *arg, unsigned resource)
{
    struct service *service = arg;
    pages_lose(&service->pages, resource, service->agent.resource[resource].owed);
}

static void do_take_back(void *arg, unsigned resource)
{
    struct service *service = arg;
    local_take_back(service->local, resource, service->agent.resource[resource].name);
}

static void do_busy(void *arg, unsigned resource)
{
    pages_busy(&((struct service *)arg)->pages, resource);
}

static void do_death(void *arg, unsigned resource)
{
    struct service *service = arg;
    pages_death(&service->pages, resource, service->agent.resource[resource].death);
}

static void do_full(void *arg, bool full)
{
    struct service *service = arg;
    if (full && !atomic_load(&service->pages.map->full))
        say(service, LOG_WARNING, "full", "why=\"no room for another name of a resource\"");
    if (full != (bool)atomic_load(&service->pages.map->full))
        pages_full(&service->pages, full);
}

static void do_lease(void *arg, int64_t deadline)
{
    pages_lease(&((struct service *)arg)->pages, deadline);
}

static void do_changed(void *arg, enum agent_state state)
{
    static const char *const notices[] = {
        [AGENT_STARTING] = "STATUS=starting",
        [AGENT_NO_QUORUM] = "STATUS=no quorum: no permission can be had",
        [AGENT_JOINING] = "STATUS=joining the other agents",
        [AGENT_READY] = "READY=1\nSTATUS=ready",
        [AGENT_ENDED] = "STOPPING=1",
    };
    struct service *service = arg;
    pages_state(&service->pages, state);
    journal_notify(notices[state]);
    if (state == AGENT_NO_QUORUM)
        say(service, LOG_WARNING, "no-quorum", "");
}

static void do_keep_view(void *arg, uint64_t view)
{
    struct service *service = arg;
    pages_keep_view(&service->pages, view);
    if (!view_file_keep(&service->view_file, view) && !service->view_file.failed) {
        char details[PATH_MAX + 64];
        service->view_file.failed = true;
        snprintf(details, sizeof details, "file=\"%s\" why=\"%s\"", service->view_file.path,
                 strerror(errno));
        say(service, LOG_WARNING, "view-not-kept", details);
    }
}

static uint64_t do_nonce(void *arg)
{
    (void)arg;
    uint64_t nonce = 0;
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        nonce = (uint64_t)clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 48;
    return nonce;
}

struct numbers {
    const char *name;
    uint64_t least, greatest; /* of those who have begun, and of the rest */
};

static int note_number(const ay_place *place, void *arg)
{
    struct numbers *numbers = arg;
    const uint64_t number = place->fence / AY_PLACES_MOST;
    if (strcmp(place->names[0], numbers->name) != 0)
        return 0;
    if (place->alive && (place->state == AY_INSIDE || place->state == AY_WAITING))
        numbers->least = number < numbers->least ? number : numbers->least;
    else
        numbers->greatest = number > numbers->greatest ? number : numbers->greatest;
    return 0;
}

/* Whoever begins later draws a number above all that there are. */
static uint64_t do_number(void *arg, unsigned resource)
{
    struct service *service = arg;
    struct numbers numbers = {.name = service->agent.resource[resource].name, .least = UINT64_MAX};
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/space", service->directory.path);
    if (ay_look(path, NULL, note_number, &numbers) < 0)
        return 0;
    return numbers.least != UINT64_MAX ? numbers.least : numbers.greatest;
}

static size_t do_describe(void *arg, char *text, size_t room)
{
    struct service *service = arg;
    return control_describe(service->control, text, room);
}

static void do_answered(void *arg, uint64_t query, uint32_t node, const char *text, size_t length)
{
    struct service *service = arg;
    control_answered(service->control, query, node, text, length);
}

static void do_refused(void *arg, const char *why)
{
    struct service *service = arg;
    complain(why);
    service->ending = true;
    service->exit_code = EXIT_FAILED;
}

static void do_log(void *arg, enum log_level level, const char *event, const char *details)
{
    say(arg, level, event, details);
}

/* ---- what happens ---- */

static void on_connected(void *arg, struct address self, uint32_t nodes)
{
    struct service *service = arg;
    char details[64];
    snprintf(details, sizeof details, "node=%u machines=%u", self.node, nodes);
    say(service, LOG_INFORMATION, "quorum", details);
    agent_connected(&service->agent, now(), self, nodes);
}

static void on_cut(void *arg, const char *why)
{
    agent_cut(&((struct service *)arg)->agent, now(), why);
}

static void on_delivered(void *arg, struct address from, const void *bytes, size_t length)
{
    agent_delivered(&((struct service *)arg)->agent, now(), from, bytes, length);
}

static void on_left(void *arg, struct address who, bool with_its_machine)
{
    agent_left(&((struct service *)arg)->agent, now(), who, with_its_machine);
}

static void take_demands(struct service *service)
{
    for (int count = 0; count < DEMANDS_AT_ONCE; count++) {
        struct demand demand;
        const ssize_t length = recv(service->socket, &demand, sizeof demand, MSG_DONTWAIT);
        if (length < 0)
            return;
        if (length != (ssize_t)sizeof demand || demand.magic != DEMAND_MAGIC || demand.length < 1 ||
            demand.length > PERMISSION_NAME_MOST || demand.mode > PERMISSION_EXCLUSIVE ||
            demand.kind > DEMAND_TOLD)
            continue;
        agent_demand(&service->agent, now(), &demand);
    }
}

static void take_news(struct service *service)
{
    for (struct local_news news; local_next(service->local, &news);)
        if (news.kind == LOCAL_TAKEN_BACK) {
            agent_took_back(&service->agent, now(), news.resource, news.withdrawn, news.number,
                            news.death);
        } else {
            agent_is_busy(&service->agent, now(), news.resource);
            if (news.kind == LOCAL_TROUBLE)
                agent_log(&service->agent, LOG_WARNING, "not-handed-over",
                          "resource=\"%s\" why=\"%s\"",
                          agent_name(&service->agent.resource[news.resource]), news.why);
        }
}

static void take_signal(struct service *service)
{
    struct signalfd_siginfo info;
    if (read(service->signals, &info, sizeof info) == (ssize_t)sizeof info)
        service->ending = true;
}

/* ---- the loop ---- */

static void wait_and_take(struct service *service, int64_t until)
{
    struct pollfd fds[3 + TRANSPORT_FDS_MOST + CONTROL_FDS_MOST] = {
        {.fd = service->socket, .events = POLLIN},
        {.fd = local_fd(service->local), .events = POLLIN},
        {.fd = service->signals, .events = POLLIN},
    };
    const unsigned transports = transport_fds(service->transport, fds + 3);
    const unsigned controls = control_fds(service->control, fds + 3 + transports);
    const int64_t left = until - now();
    const struct timespec patience = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                                      .tv_nsec = left > 0 ? left % 1000000000 : 0};
    if (ppoll(fds, 3 + transports + controls, &patience, NULL) < 0)
        return;
    transport_dispatch(service->transport); /* first: it may say that all is lost */
    if (fds[1].revents)
        take_news(service);
    if (fds[0].revents)
        take_demands(service);
    control_dispatch(service->control, fds + 3 + transports, controls);
    if (fds[2].revents)
        take_signal(service);
}

static void loop(struct service *service)
{
    while (!service->ending) {
        const int64_t again = transport_tick(service->transport);
        const int64_t due = agent_tick(&service->agent, now());
        const int64_t latest = control_tick(service->control);
        int64_t until = now() + again;
        until = due < until ? due : until;
        until = latest < until ? latest : until;
        wait_and_take(service, until);
    }
}

/* What nobody uses is given back, so that the others need not wait for it; what somebody is inside
 * of stays, for a successor to take over. */
static void go(struct service *service)
{
    for (unsigned at = 0; at < service->agent.resources; at++) {
        struct local_news news;
        const struct resource *resource = &service->agent.resource[at];
        if (resource->granted && !resource->taking_back &&
            local_try_take_back(service->local, at, resource->name, &news)) {
            service->agent.resource[at].wanted = PERMISSION_NONE;
            agent_took_back(&service->agent, now(), at, news.withdrawn, news.number, news.death);
        }
    }
    agent_farewell(&service->agent, now());
    transport_tick(service->transport);
    pages_state(&service->pages, AGENT_ENDED);
    journal_notify("STOPPING=1");
    say(service, LOG_INFORMATION, "ended", "");
}

/* ---- the beginning ---- */

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* before there are threads, so for all of them */
    signal(SIGPIPE, SIG_IGN);
    return descriptor_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

static bool open_agent(struct service *service)
{
    const struct service_options *asked = service->options;
    const struct agent_options options = {
        .protocol = variant_find(asked->protocol ? asked->protocol : DEFAULT_PROTOCOL)->protocol,
        .lease = (int64_t)(asked->lease * 1e9),
        .grace = (int64_t)(asked->grace * 1e9),
    };
    const struct surroundings around = {.arg = service,
                                        .send = do_send,
                                        .named = do_named,
                                        .grant = do_grant,
                                        .withdraw = do_withdraw,
                                        .take_back = do_take_back,
                                        .busy = do_busy,
                                        .death = do_death,
                                        .full = do_full,
                                        .lease = do_lease,
                                        .changed = do_changed,
                                        .keep_view = do_keep_view,
                                        .nonce = do_nonce,
                                        .number = do_number,
                                        .describe = do_describe,
                                        .answered = do_answered,
                                        .refused = do_refused,
                                        .log = do_log};
    return agent_begin(&service->agent, &options, &around);
}

static bool open_pages(struct service *service, char *trouble, size_t room)
{
    const struct pages_options options = {.cluster = service->options->cluster,
                                          .protocol = service->agent.options.protocol->name,
                                          .lease = service->agent.options.lease,
                                          .grace = service->agent.options.grace};
    return pages_open(&service->pages, &service->directory, &options, trouble, room) == 0;
}

/* By the file, or by the pages should that be lost: these know the last that was, not the last that
 * may have been. */
static uint64_t known_view(const struct service *service)
{
    const uint64_t kept = service->view_file.reserved,
                   seen = atomic_load(&service->pages.map->view);
    return seen && seen + VIEWS_IN_ADVANCE > kept ? seen + VIEWS_IN_ADVANCE : kept;
}

/* False: `trouble` says why. */
static bool open_all(struct service *service, char *trouble, size_t room)
{
    const struct service_options *asked = service->options;
    const struct transport_events events = {.arg = service,
                                            .connected = on_connected,
                                            .cut = on_cut,
                                            .delivered = on_delivered,
                                            .left = on_left,
                                            .log = do_log};
    service->transport = transport_open(asked->cluster, &events, trouble, room);
    if (!service->transport ||
        !view_file_open(&service->view_file, asked->state, asked->cluster, trouble, room))
        return false;
    snprintf(trouble, room, "out of memory");
    if (!open_agent(service) ||
        directory_open(&service->directory, asked->cluster, asked->mode, asked->group, trouble,
                       room) < 0 ||
        !open_pages(service, trouble, room))
        return false;
    service->local = local_open(&service->directory, &service->pages, trouble, room);
    if (!service->local)
        return false;
    service->agent.known_view = known_view(service);
    service->agent.options.pages = service->pages.map->identity;
    inherit(&service->agent, &service->pages, &service->directory, now());
    pages_announce(&service->pages);
    service->socket = directory_socket(&service->directory, "socket", SOCK_DGRAM, trouble, room);
    if (service->socket < 0)
        return false;
    service->control = control_open(asked, &service->directory, &service->agent, service->transport,
                                    trouble, room);
    return service->control != NULL;
}

const char *service_options_trouble(const struct service_options *options)
{
    const struct variant *variant =
        variant_find(options->protocol ? options->protocol : DEFAULT_PROTOCOL);
    if (!options->cluster)
        return "which cluster? --cluster NAME";
    if (!cluster_name_is_good(options->cluster))
        return "the name of a cluster has 1 to 64 bytes, no slash, and does not begin with a dot";
    if (!variant || variant->left_out)
        return "there is no such protocol: lamport, ricart-agrawala, carvalho-roucairol, token";
    if (options->lease < 0.5 || options->lease > 3600)
        return "--lease takes seconds, from 0.5 to 3600";
    if (options->grace < 1.1 * options->lease + 0.2 || options->grace > 7200)
        return "--grace must be more than 1.1 times the lease and 0.2 s: the clocks of two "
               "machines may differ in rate";
    return NULL;
}

int service_run(const struct service_options *options)
{
    static struct service service;
    char trouble[PATH_MAX + 256];
    service =
        (struct service){.options = options, .socket = -1, .pages.fd = -1, .exit_code = EXIT_OK};
    service.signals = open_signals();
    if (service.signals < 0)
        return complain(strerror(errno));
    /* so that renewals are in time on a busy machine; without the right, as it is */
    setpriority(PRIO_PROCESS, 0, -10);
    if (!open_all(&service, trouble, sizeof trouble))
        return complain(trouble);
    say(&service, LOG_INFORMATION, "started", "version=" AFTERYOU_VERSION);
    loop(&service);
    if (service.exit_code == EXIT_OK)
        go(&service);
    transport_close(service.transport);
    return service.exit_code;
}
