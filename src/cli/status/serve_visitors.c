/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: who is connected, and by when it must be done.
 *
 * The library ends a connection that is silent. One that says a byte now and then, or reads one,
 * would stay for ever, and with enough of them nobody else gets in: so asking has a time by which
 * it must be done, and reading the answer has one. A stream, which goes on for ever, has none:
 * there are only so many of them. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "cli/status/serve.h"
#include "common/clock.h"

static const int64_t asking_ns = 8000000000, reading_ns = 60000000000;

static struct visitor *visitor_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void greet(struct server *server, struct MHD_Connection *connection, void **kept)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct visitor *visitor = info ? malloc(sizeof *visitor) : NULL;
    if (!visitor)
        return; /* it stays as long as the library lets it */
    *visitor = (struct visitor){.fd = info->connect_fd,
                                .due_ns = clock_ns(CLOCK_MONOTONIC) + asking_ns,
                                .after = server->visitors};
    if (visitor->after)
        visitor->after->before = visitor;
    server->visitors = visitor;
    *kept = visitor;
}

static void see_off(struct server *server, struct visitor *visitor)
{
    if (visitor->after)
        visitor->after->before = visitor->before;
    if (visitor->before)
        visitor->before->after = visitor->after;
    else
        server->visitors = visitor->after;
    free(visitor);
}

void visitors_notice(void *cls, struct MHD_Connection *connection, void **kept,
                     enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        greet(cls, connection, kept);
    else if (*kept)
        see_off(cls, *kept);
}

void visitor_begins(struct MHD_Connection *connection, enum visit visit)
{
    struct visitor *visitor = visitor_of(connection);
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (!visitor)
        return;
    visitor->visit = visit;
    visitor->due_ns = visit == VISIT_ASKS    ? now + asking_ns
                      : visit == VISIT_READS ? now + reading_ns
                                             : INT64_MAX;
}

int64_t visitors_due(const struct server *server)
{
    int64_t due = INT64_MAX;
    for (const struct visitor *each = server->visitors; each; each = each->after)
        if (each->due_ns < due)
            due = each->due_ns;
    return due;
}

/* It has said something that was not read yet: then it is we who are late. */
static bool is_unheard(const struct visitor *visitor)
{
    int bytes = 0;
    return visitor->visit == VISIT_ASKS && ioctl(visitor->fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

void visitors_dismiss(const struct server *server)
{
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    for (struct visitor *each = server->visitors; each; each = each->after)
        if (each->due_ns <= now && !is_unheard(each)) {
            shutdown(each->fd, SHUT_RDWR); /* the library sees its end, and closes it */
            each->due_ns = INT64_MAX;
        }
}
