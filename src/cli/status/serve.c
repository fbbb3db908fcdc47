/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: the loop. It sleeps in poll(2) until a request comes, a signal, or,
 * while a page is open, the time of the next look. Nobody looks: nothing is looked at. */
#include "cli/status/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "common/clock.h"

enum {
    CONNECTIONS_MOST = 4096,
    DESCRIPTORS_SPARE = 64,
    FILES = 3, /* of the loop itself, before those of the streams */
    MILLISECOND = 1000000
};
/* So long a stream is silent before it shows that it is there. */
static const int64_t beat_ns = 15000000000;

struct serve_loop {
    struct server *server;
    int signals, sockets;
    bool has_reader; /* stdout is a pipe: when nobody reads it any more, all ends */
    int64_t beat_due;
};

/* As many connections as there can be descriptors for. */
static unsigned raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return DESCRIPTORS_SPARE;
    const rlim_t wanted = CONNECTIONS_MOST + DESCRIPTORS_SPARE;
    if (limit.rlim_cur < wanted) {
        struct rlimit more = limit;
        more.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &more) == 0)
            limit = more;
    }
    if (limit.rlim_cur <= 2 * DESCRIPTORS_SPARE)
        return DESCRIPTORS_SPARE;
    return limit.rlim_cur < wanted ? (unsigned)limit.rlim_cur - DESCRIPTORS_SPARE
                                   : CONNECTIONS_MOST;
}

static int take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t set;
    sigemptyset(&set);
    for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++)
        sigaddset(&set, numbers[at]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* a page that is closed while something is sent */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int in_milliseconds(int64_t ns)
{
    return ns <= 0 ? 0 : ns / MILLISECOND >= INT32_MAX ? INT32_MAX : (int)(ns / MILLISECOND) + 1;
}

/* Until when the loop may sleep: -1, for ever. */
static int time_to_sleep(const struct serve_loop *loop)
{
    MHD_UNSIGNED_LONG_LONG patience;
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    int timeout = -1;
    if (MHD_get_timeout(loop->server->daemon, &patience) == MHD_YES)
        timeout = patience > INT32_MAX ? INT32_MAX : (int)patience;
    const int64_t due = visitors_due(loop->server);
    if (due != INT64_MAX) {
        const int until = in_milliseconds(due - now);
        timeout = timeout < 0 || until < timeout ? until : timeout;
    }
    if (streams_rest(loop->server)) {
        const int64_t next = loop->server->newsroom.next_ns < loop->beat_due
                                 ? loop->server->newsroom.next_ns
                                 : loop->beat_due;
        const int until = in_milliseconds(next - now);
        timeout = timeout < 0 || until < timeout ? until : timeout;
    }
    return timeout;
}

/* What the loop waits for; how many. Of a stream that rests, only that its reader goes: the library
 * does not watch it then. */
static nfds_t gather(const struct serve_loop *loop, struct pollfd *files, struct stream **whose)
{
    nfds_t count = 0;
    files[count++] = (struct pollfd){.fd = loop->signals, .events = POLLIN};
    files[count++] = (struct pollfd){.fd = loop->sockets, .events = POLLIN};
    files[count++] = (struct pollfd){.fd = loop->has_reader ? STDOUT_FILENO : -1};
    for (struct stream *stream = loop->server->stream;
         stream < loop->server->stream + SERVE_STREAMS; stream++)
        if (stream->state == STREAM_RESTS) {
            whose[count] = stream;
            files[count++] = (struct pollfd){.fd = stream->fd, .events = POLLRDHUP};
        }
    return count;
}

static void look_if_due(struct serve_loop *loop)
{
    struct server *server = loop->server;
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (!streams_rest(server)) {
        loop->beat_due = now + beat_ns;
        return;
    }
    if (now >= server->newsroom.next_ns)
        newsroom_look(&server->newsroom);
    const bool beat = now >= loop->beat_due;
    if (beat)
        loop->beat_due = now + beat_ns;
    streams_wake(server, beat, false);
}

/* Until a signal comes, whose number it is; 0: whoever read stdout has gone. Negative: -errno. */
static int run(struct serve_loop *loop)
{
    for (;;) {
        struct pollfd files[FILES + SERVE_STREAMS];
        struct stream *whose[FILES + SERVE_STREAMS];
        struct signalfd_siginfo info;
        const nfds_t count = gather(loop, files, whose);
        if (poll(files, count, time_to_sleep(loop)) < 0 && errno != EINTR)
            return -errno;
        if (files[0].revents && read(loop->signals, &info, sizeof info) == sizeof info)
            return (int)info.ssi_signo;
        if (files[2].revents)
            return 0;
        for (nfds_t at = FILES; at < count; at++)
            whose[at]->ends |= files[at].revents != 0;
        look_if_due(loop);
        visitors_dismiss(loop->server);
        if (MHD_run(loop->server->daemon) != MHD_YES)
            return -EIO;
    }
}

static void close_server(struct server *server)
{
    /* A connection that is suspended cannot be closed: each goes on, and ends. */
    streams_wake(server, false, true);
    if (server->daemon)
        MHD_stop_daemon(server->daemon); /* closes the socket, too */
    server->address.fd = server->daemon ? -1 : server->address.fd;
    if (server->page)
        MHD_destroy_response(server->page);
    newsroom_close(&server->newsroom);
    serve_unlisten(&server->address);
}

static bool announce(const struct serve_address *address)
{
    if (!address->loopback)
        say("status",
            "warning: %s can be reached from other machines; whoever has the whole address sees "
            "what you see, and HTTP hides nothing on its way",
            address->host);
    puts(address->url);
    return output_flush();
}

static int serve(struct server *server)
{
    const int signals = take_signals();
    if (signals < 0)
        return usage_error("status", "cannot watch for signals: %s", strerror(errno));
    struct stat out;
    struct serve_loop loop = {.server = server,
                              .signals = signals,
                              .has_reader =
                                  fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode)};
    if (!answers_open(server, raise_limit())) {
        close(signals);
        return usage_error("status", "cannot start to serve: %s", strerror(errno));
    }
    loop.sockets = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    const int ended = announce(&server->address) ? run(&loop) : -EPIPE;
    close(signals);
    if (ended == -EPIPE)
        return EXIT_USAGE; /* output_end() says why */
    if (ended < 0)
        return usage_error("status", "cannot serve any more: %s", strerror(-ended));
    return ended == 0 || ended == SIGINT ? 0 : 128 + ended;
}

int status_serve(const struct status_words *asked)
{
    static struct server server;
    char trouble[512];
    server = (struct server){.newsroom.asked = asked};
    if (!serve_listen(asked->address, &server.address, trouble, sizeof trouble))
        return usage_error("status", "%s", trouble);
    const int code = serve(&server);
    close_server(&server);
    return code;
}
