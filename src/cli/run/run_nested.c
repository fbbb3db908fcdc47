/* SPDX-License-Identifier: MIT */
/* A run within another: whoever is inside an outer one waits for this one. So to wait for the same
 * region would never end; and a cycle of waiting goes through the outer ones.
 *
 * AFTERYOU_GUARDIANS lists the pids of the outer guardians that hold until all within has ended. It
 * is a hint, and may be stale or forged: an outer one counts if its guardian is an ancestor of this
 * process, and is inside.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run/run.h"
#include "cli/text.h"

enum { OUTER_MOST = 32, ANCESTORS_MOST = 1000 };

static const char variable[] = "AFTERYOU_GUARDIANS";

struct guard_search {
    const struct run_words *asked;
    pid_t outer[OUTER_MOST]; /* the nearest first */
    size_t count;
    uint64_t pid_namespace;
    size_t nearest; /* of those found inside; OUTER_MOST: none yet */
    struct nested *found;
};

static bool is_listed(pid_t pid, const char *list)
{
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (atol(at) == pid)
            return true;
    return false;
}

static void find_ancestors(struct guard_search *search, const char *list)
{
    pid_t pid = getppid();
    for (int steps = 0; pid > 1 && steps < ANCESTORS_MOST && search->count < OUTER_MOST; steps++) {
        if (is_listed(pid, list))
            search->outer[search->count++] = pid;
        pid = process_parent(pid);
    }
}

/* As the header has it: who may be inside together. */
static bool conflict(ay_mode a, ay_mode b)
{
    static const char together[6][7] = {".....+", ".+..++", "....++", "...+++", ".+++++", "++++++"};
    return together[a][b] == '.';
}

static bool shares_a_name(const struct run_words *asked, const ay_place *place)
{
    for (const char *const *name = place->names; *name; name++)
        if (holders_is_asked_for(asked, *name))
            return true;
    return false;
}

static int look_at(const ay_place *place, void *arg)
{
    struct guard_search *search = arg;
    const struct run_words *asked = search->asked;
    if (place->state != AY_INSIDE || !place->alive || place->pid_namespace != search->pid_namespace)
        return 0;
    size_t which = 0;
    while (which < search->count && search->outer[which] != place->pid)
        which++;
    if (which == search->count)
        return 0;
    if (which < search->nearest) {
        search->nearest = which;
        search->found->thread = place->thread;
    }
    if (asked->spec.slots <= 1 && !asked->spec.take && place->slots <= 1 && !place->take &&
        conflict(asked->spec.mode, place->mode) && shares_a_name(asked, place)) {
        search->found->holder = place->pid;
        text_command(place, search->found->command, sizeof search->found->command);
    }
    return 0;
}

void nested_find(const struct run_words *asked, struct nested *found)
{
    struct guard_search search = {.asked = asked, .nearest = OUTER_MOST, .found = found};
    struct stat status;
    const char *list = getenv(variable);
    *found = (struct nested){0};
    if (!list || stat("/proc/self/ns/pid", &status) != 0)
        return;
    search.pid_namespace = status.st_ino;
    find_ancestors(&search, list);
    if (search.count > 0)
        ay_look(asked->space, NULL, look_at, &search);
}

int nested_announce(void)
{
    const char *list = getenv(variable);
    char *longer;
    if (asprintf(&longer, "%d%s%s", (int)getpid(), list && *list ? "," : "", list ? list : "") < 0)
        return -1;
    const int error = setenv(variable, longer, 1);
    free(longer);
    return error;
}
