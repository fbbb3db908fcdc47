/* SPDX-License-Identifier: MIT */
/* `afteryou status --cluster`: asks this machine's agent, which asks the others. What it answers is
 * told in src/agent/host/control.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/status/status.h"
#include "cli/text.h"
#include "common/clusters.h"
#include "common/grow.h"
#include "common/permissions.h"
#include "common/trusted.h"

enum { ANSWER_MOST = 1 << 20, FIELDS = 10, WAIT_S = 5 };

/* The whole answer, NUL-ended, to be freed; NULL, and `trouble` says why. */
static char *read_answer(int fd, char *trouble, size_t room)
{
    char *text = malloc(ANSWER_MOST);
    size_t length = 0;
    ssize_t got = text ? 1 : -1;
    while (got > 0 && length < ANSWER_MOST - 1) {
        got = recv(fd, text + length, ANSWER_MOST - 1 - length, 0);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            length += (size_t)got;
    }
    if (got < 0) {
        snprintf(trouble, room, "the agent does not answer: %s", strerror(errno));
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* Only root and this user can have made its sockets; or none has been made, which connecting will
 * tell. */
static bool is_trusted(const char *cluster, char *trouble, size_t room)
{
    char directory[PATH_MAX];
    const struct trust trust = {.user = geteuid(), .trouble = trouble, .room = room};
    if (!cluster_path(cluster, "", directory, sizeof directory))
        return false;
    const int fd = trusted_directory(&trust, directory);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || fd == -ENOENT;
}

static char *ask(const char *cluster, char *trouble, size_t room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = WAIT_S};
    if (!cluster_name_is_good(cluster) ||
        !cluster_path(cluster, "control", address.sun_path, sizeof address.sun_path)) {
        snprintf(trouble, room, "'%s' is no name of a cluster", cluster);
        return NULL;
    }
    if (!is_trusted(cluster, trouble, room))
        return NULL;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char *text = NULL;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        send(fd, "status\n", 7, MSG_NOSIGNAL) != 7)
        snprintf(
            trouble, room,
            "the agent of cluster '%s' does not run on this machine (%s: %s); start it: afteryou "
            "agent --cluster %s",
            cluster, address.sun_path, strerror(errno), cluster);
    else
        text = read_answer(fd, trouble, room);
    if (fd >= 0)
        close(fd);
    return text;
}

/* Splits a line at its tabs, in place; how many fields there are. */
static unsigned split(char *line, char **field)
{
    unsigned count = 0;
    for (char *rest = line; count < FIELDS && rest; count++)
        field[count] = strsep(&rest, "\t");
    return count;
}

/* machine, number, name, state */
static int add_machine(struct status_view *view, char **field)
{
    struct sightings *machines = realloc(view->space, (view->count + 1) * sizeof *machines);
    if (!machines)
        return -ENOMEM;
    view->space = machines;
    struct sightings *machine = &machines[view->count++];
    *machine = (struct sightings){.node = (unsigned)strtoul(field[1], NULL, 10)};
    snprintf(machine->name, sizeof machine->name, "%s", field[2]);
    /* its agent's state: it has no path here */
    snprintf(machine->path, sizeof machine->path, "%s", field[3]);
    return 0;
}

/* place, name, state, mode, pid, uid, milliseconds, fence, order, command */
static int add_place(struct status_view *view, char **field)
{
    const char *const names[] = {field[1], NULL};
    const unsigned long mode = strtoul(field[3], NULL, 10);
    const long long lasts = strtoll(field[6], NULL, 10);
    const ay_place place = {.state = strcmp(field[2], "inside") == 0 ? AY_INSIDE : AY_WAITING,
                            .alive = true,
                            .names = names,
                            .mode = mode <= AY_NULL ? (ay_mode)mode : AY_NULL,
                            .wants = mode <= AY_NULL ? (ay_mode)mode : AY_NULL,
                            .pid = (int)strtol(field[4], NULL, 10),
                            .uid = (unsigned)strtoul(field[5], NULL, 10),
                            .since_ns = lasts < 0 ? 0 : text_now() - lasts * 1000000,
                            .fence = strtoull(field[7], NULL, 10),
                            .order = strtoull(field[8], NULL, 10),
                            .waits_for = -1,
                            .command = field[9]};
    return view->count ? sightings_add(&view->space[view->count - 1], &place) : -EPROTO;
}

/* name, exclusive or shared */
static int add_permission(struct status_view *view, char **field)
{
    if (view->count == 0)
        return -EPROTO;
    struct sightings *machine = &view->space[view->count - 1];
    char *name = strdup(field[1]);
    if (!name || !grow(&machine->permission, machine->permissions, &machine->permission_room,
                       sizeof *machine->permission, 8)) {
        free(name);
        return -ENOMEM;
    }
    machine->permission[machine->permissions++] =
        (struct sighted_permission){name, strcmp(field[2], "exclusive") == 0};
    return 0;
}

static int set_lease(struct status_view *view, char **field)
{
    if (view->count == 0)
        return -EPROTO;
    view->space[view->count - 1].lease_ms = strtoll(field[1], NULL, 10);
    return 0;
}

static int set_links(struct status_view *view, char **field)
{
    if (view->count == 0)
        return -EPROTO;
    view->space[view->count - 1].kind =
        strcmp(field[1], "secured") == 0 ? LINKS_SECURED : LINKS_PLAIN;
    return 0;
}

/* link, number, up or down, nanoseconds, breaks, resent, relayed */
static int add_link(struct status_view *view, char **field)
{
    if (view->count == 0)
        return -EPROTO;
    struct sightings *machine = &view->space[view->count - 1];
    if (!grow(&machine->link, machine->links, &machine->link_room, sizeof *machine->link, 8))
        return -ENOMEM;
    machine->link[machine->links++] =
        (struct sighted_link){.node = (unsigned)strtoul(field[1], NULL, 10),
                              .up = strcmp(field[2], "up") == 0,
                              .round_trip_ns = strtoull(field[3], NULL, 10),
                              .breaks = strtoull(field[4], NULL, 10),
                              .resent = strtoull(field[5], NULL, 10),
                              .relayed = strtoull(field[6], NULL, 10)};
    return 0;
}

static int take_line(struct status_view *view, char **field, unsigned count)
{
    static const struct {
        const char *name;
        unsigned fields;
        int (*take)(struct status_view *view, char **field);
    } lines[] = {
        {"machine", 4, add_machine},       {"place", FIELDS, add_place},
        {"permission", 3, add_permission}, {"lease", 2, set_lease},
        {"links", 2, set_links},           {"link", 7, add_link},
    };
    for (size_t at = 0; at < sizeof lines / sizeof *lines; at++)
        if (count == lines[at].fields && strcmp(field[0], lines[at].name) == 0)
            return lines[at].take(view, field);
    return -EPROTO;
}

int status_look_cluster(const struct status_words *asked, struct status_view *view, char *trouble,
                        size_t room)
{
    char *text = ask(asked->cluster, trouble, room), *rest = text;
    int error = text ? 0 : -EHOSTDOWN;
    for (char *line; !error && (line = strsep(&rest, "\n")) && *line;) {
        char *field[FIELDS] = {0};
        const unsigned count = split(line, field);
        error = take_line(view, field, count);
        if (error)
            snprintf(trouble, room, "what the agent answers makes no sense: %s", strerror(-error));
    }
    free(text);
    for (size_t at = 0; at < view->count; at++)
        sightings_sort(&view->space[at]);
    return error;
}
