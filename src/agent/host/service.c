/* SPDX-License-Identifier: MIT */
/* The agent's loop: it waits for the transport, the local processes, regions that it takes back and
 * the clock, and hands the agent what happens (steps.c). */
#include "agent/host/steps.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/host/control.h"
#include "agent/host/hearing.h"
#include "agent/host/inheritance.h"
#include "agent/host/linking.h"
#include "agent/host/local.h"
#include "agent/host/transport.h"
#include "common/clock.h"
#include "common/clusters.h"
#include "common/descriptors.h"
#include "protocols/messages/catalogue.h"

enum { EXIT_OK = 0, EXIT_FAILED = 125, LARGE = 1 << 18 };
#define DEFAULT_PROTOCOL "carvalho-roucairol"

static int64_t now(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

static int complain(const char *what)
{
    fprintf(stderr, "afteryou agent: %s\n", what);
    return EXIT_FAILED;
}

/* ---- what happens ---- */

static void on_connected(void *arg, struct address self, uint32_t nodes)
{
    char details[64];
    snprintf(details, sizeof details, "node=%u machines=%u", self.node, nodes);
    service_say(arg, LOG_INFORMATION, "quorum", details);
    linking_announce(arg);
    service_step(arg, (struct agent_event){.kind = ON_CONNECTED,
                                           .connected = {.self = self, .nodes = nodes}});
}

static void on_cut(void *arg, enum cut_reason why)
{
    service_step(arg, (struct agent_event){.kind = ON_CUT, .cut = why});
}

static void on_delivered(void *arg, struct address from, const void *bytes, size_t length)
{
    service_step(arg,
                 (struct agent_event){.kind = ON_PARCEL,
                                      .parcel = {.from = from, .bytes = bytes, .length = length}});
}

static void on_left(void *arg, struct address who, bool with_its_machine)
{
    service_step(arg,
                 (struct agent_event){.kind = ON_LEFT,
                                      .left = {.who = who, .with_its_machine = with_its_machine}});
}

static void on_line(void *arg, enum log_level level, const char *event, const char *details)
{
    service_say(arg, level, event, details);
}

/* One by one: who waits on another machine waits for what is done next. */
static void take_decided(struct service *service)
{
    do
        hearing_news(service);
    while (local_dispatch(service->local));
}

static void take_signal(struct service *service)
{
    struct signalfd_siginfo info;
    if (read(service->signals, &info, sizeof info) == (ssize_t)sizeof info)
        service->ending = true;
}

/* ---- turns ---- */

/* What was said goes out first. Returns until when nothing is to be done: each is asked for that
 * after the last step that may have given it something to do. */
static int64_t finish_turn(struct service *service)
{
    if (service->links)
        links_flush(service->links);
    if (service->due <= now())
        service_step(service, (struct agent_event){.kind = ON_TICK});
    local_tick(service->local);
    hearing_news(service); /* of what was tried again */
    const int64_t sends = transport_tick(service->transport);
    const int64_t latest = control_tick(service->control);
    const int64_t linked = service->links ? links_tick(service->links) : sends;
    const int64_t tries = local_pause(service->local);
    int64_t until = now() + (sends < tries ? sends : tries);
    until = now() + linked < until ? now() + linked : until;
    until = service->due < until ? service->due : until;
    return latest < until ? latest : until;
}

static void wake_loop_by(struct service *service, int64_t until)
{
    const int64_t when = until > 0 ? until : 1; /* 0 would be never */
    const struct itimerspec time = {
        .it_value = {.tv_sec = when / 1000000000, .tv_nsec = when % 1000000000}};
    if (until >= service->until)
        return;
    service->until = until;
    timerfd_settime(service->timer, TFD_TIMER_ABSTIME, &time, NULL);
}

/* A thread of the library's has found that a taking back may be decided. It goes on itself: to wake
 * the loop up first would take as long again as all the rest. But who has the mutex at that moment
 * sees to it afterwards, and nobody waits: it looks when it has given the mutex back. */
static void on_decided(void *arg)
{
    struct service *service = arg;
    atomic_store(&service->decided, true);
    while (atomic_load(&service->decided) && pthread_mutex_trylock(&service->mutex) == 0) {
        if (atomic_exchange(&service->decided, false) && !service->over) {
            take_decided(service);
            wake_loop_by(service, finish_turn(service));
        }
        pthread_mutex_unlock(&service->mutex);
    }
}

/* ---- the loop ---- */

static void wait_and_take(struct service *service)
{
    enum { OWN = 6 };
    struct pollfd fds[OWN + TRANSPORT_FDS_MOST + CONTROL_FDS_MOST] = {
        {.fd = service->socket, .events = POLLIN},
        {.fd = local_fd(service->local), .events = POLLIN},
        {.fd = service->signals, .events = POLLIN},
        {.fd = service->links ? links_fd(service->links) : -1, .events = POLLIN},
        {.fd = service->timer, .events = POLLIN},
        {.fd = unused_fd(&service->unused), .events = POLLIN}, /* the loop sees to it each time */
    };
    const unsigned transports = transport_fds(service->transport, fds + OWN);
    const unsigned controls = control_fds(service->control, fds + OWN + transports);
    const int64_t left = service->until - now();
    struct timespec patience = {.tv_sec = left > 0 ? left / 1000000000 : 0,
                                .tv_nsec = left > 0 ? left % 1000000000 : 0};
    pthread_mutex_unlock(&service->mutex);
    if (atomic_load(&service->decided))
        patience = (struct timespec){0};
    const int ready = ppoll(fds, OWN + transports + controls, &patience, NULL);
    pthread_mutex_lock(&service->mutex);
    if (ready < 0)
        return;
    if (fds[4].revents)
        (void)!read(service->timer, &(uint64_t){0}, sizeof(uint64_t));
    for (unsigned at = 0; at < transports; at++)
        if (fds[OWN + at].revents) {
            transport_dispatch(service->transport); /* first: it may say that all is lost */
            break;
        }
    if (fds[3].revents)
        links_dispatch(service->links);
    if (atomic_exchange(&service->decided, false) || fds[1].revents)
        take_decided(service);
    if (fds[0].revents)
        hearing_demands(service);
    control_dispatch(service->control, fds + OWN + transports, controls);
    if (fds[2].revents)
        take_signal(service);
}

/* Some room ahead for names, so that none has to be refused that could be there. */
static void grow(struct service *service)
{
    const unsigned had = service->pages.allocated;
    if (service->agent.resources + PAGES_AHEAD / 2 > had &&
        pages_grow(&service->pages, service->agent.resources + PAGES_AHEAD) != had)
        service_step(service,
                     (struct agent_event){.kind = ON_ROOM, .entries = service->pages.allocated});
}

static void loop(struct service *service)
{
    while (!service->ending) {
        grow(service);
        const int64_t looks = unused_tick(service);
        int64_t until = finish_turn(service);
        if (service->links)
            links_flush(service->links);
        until = service->due < until ? service->due : until;
        service->until = looks < until - now() ? now() + looks : until;
        wait_and_take(service);
    }
}

/* What nobody uses is given back, so that the others need not wait for it; what somebody is inside
 * of stays, for a successor to take over. */
static void go(struct service *service)
{
    service_step(service, (struct agent_event){.kind = ON_ENDING});
    take_decided(service);
    for (unsigned at = 0; at < service->agent.resources; at++) {
        struct local_news news;
        const struct resource *resource = &service->agent.resource[at];
        if (resource->granted && !resource->taking_back &&
            local_try_take_back(service->local, at, resource->name, &news))
            hearing_taken_back(service, &news);
    }
    service_step(service, (struct agent_event){.kind = ON_FAREWELL});
    transport_tick(service->transport);
    if (service->links)
        links_flush(service->links);
    pages_state(&service->pages, AGENT_ENDED);
    journal_notify("STOPPING=1");
    service_say(service, LOG_INFORMATION, "ended", "");
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

/* By the file, or by the pages should that be lost: these know the last that was, not the last that
 * may have been. */
static uint64_t known_view(const struct service *service)
{
    const uint64_t kept = service->view_file.reserved,
                   seen = atomic_load(&service->pages.map->view);
    return seen && seen + VIEWS_IN_ADVANCE > kept ? seen + VIEWS_IN_ADVANCE : kept;
}

static uint64_t draw_nonce(void)
{
    uint64_t nonce = 0;
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        nonce = (uint64_t)clock_ns(CLOCK_REALTIME) ^ (uint64_t)getpid() << 48;
    return nonce;
}

static const struct message_protocol *protocol_of(const struct service_options *asked)
{
    return variant_find(asked->protocol ? asked->protocol : DEFAULT_PROTOCOL)->protocol;
}

/* All zeros. What is not touched is not there: most of it is for names that never come. */
static void *map_memory(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The pages are there: what they say is handed over. */
static bool begin_agent(struct service *service, int64_t lease, int64_t grace)
{
    const struct agent_options options = {.protocol = protocol_of(service->options),
                                          .lease = lease,
                                          .grace = grace,
                                          .links = service->links != NULL,
                                          .pages = service->pages.map->identity,
                                          .nonce = draw_nonce(),
                                          .known_view = known_view(service),
                                          .last_view = atomic_load(&service->pages.map->view),
                                          .obliged = inheritance_obliges(service, grace),
                                          .names = NAMES_MOST};
    service->memory = map_memory(agent_room(&options));
    service->effects.room = EFFECTS_A_NAME * agent_entries(options.names);
    service->effects.effect = map_memory(service->effects.room * sizeof *service->effects.effect);
    if (!service->memory || !service->effects.effect)
        return false;
    agent_begin(&service->agent, &options, service->memory);
    atomic_store(&service->pages.map->conditions, agent_is_apart(&service->agent));
    service_step(service,
                 (struct agent_event){.kind = ON_ROOM, .entries = service->pages.allocated});
    inherit(service);
    unused_begin(&service->unused);
    return true;
}

static bool open_files(struct service *service, const struct pages_options *pages, char *trouble,
                       size_t room)
{
    const struct service_options *asked = service->options;
    if (!view_file_open(&service->view_file, asked->state, asked->cluster, trouble, room) ||
        directory_open(&service->directory, asked->cluster, asked->mode, asked->group, trouble,
                       room) < 0 ||
        pages_open(&service->pages, &service->directory, pages, trouble, room) != 0)
        return false;
    service->local = local_open(&service->directory, &service->pages, trouble, room);
    return service->local != NULL;
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
                                            .log = on_line};
    const struct pages_options pages = {.cluster = asked->cluster,
                                        .protocol = protocol_of(asked)->name,
                                        .lease = (int64_t)(asked->lease * 1e9),
                                        .grace = (int64_t)(asked->grace * 1e9)};
    service->transport = transport_open(asked->cluster, &events, trouble, room);
    if (!service->transport || !open_files(service, &pages, trouble, room) ||
        !linking_open(service, trouble, room))
        return false;
    if (!begin_agent(service, pages.lease, pages.grace)) {
        snprintf(trouble, room, "out of memory");
        return false;
    }
    pages_announce(&service->pages);
    service->socket = directory_socket(&service->directory, "socket", SOCK_DGRAM, trouble, room);
    if (service->socket < 0)
        return false;
    service->control = control_open(service, trouble, room);
    return service->control && local_call(service->local, on_decided, service, trouble, room);
}

const char *service_options_trouble(const struct service_options *options)
{
    const struct variant *variant =
        variant_find(options->protocol ? options->protocol : DEFAULT_PROTOCOL);
    if (!options->cluster)
        return "which cluster? --cluster NAME";
    if (!cluster_name_is_good(options->cluster))
        return "the name of a cluster has 1 to 64 bytes, no slash, and does not begin with a dot";
    if (!variant || !variant_ships(variant))
        return "there is no such protocol; 'afteryou agent --help' lists them";
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
    service.timer =
        descriptor_above_standard(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
    if (service.signals < 0 || service.timer < 0)
        return complain(strerror(errno));
    pthread_mutex_init(&service.mutex, NULL);
    /* what a look at very many places takes is given back when it is over, not kept for the next */
    mallopt(M_MMAP_THRESHOLD, LARGE);
    /* so that renewals are in time on a busy machine; without the right, as it is */
    setpriority(PRIO_PROCESS, 0, -10);
    if (!open_all(&service, trouble, sizeof trouble))
        return complain(trouble);
    pthread_mutex_lock(&service.mutex);
    service_say(&service, LOG_INFORMATION, "started", "version=" AFTERYOU_VERSION);
    loop(&service);
    if (service.exit_code == EXIT_OK)
        go(&service);
    service.over = true;
    pthread_mutex_unlock(&service.mutex);
    unused_end(&service.unused);
    local_close(service.local);
    links_close(service.links);
    transport_close(service.transport);
    return service.exit_code;
}
