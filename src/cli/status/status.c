/* SPDX-License-Identifier: MIT */
/* `afteryou status`: who is inside, who waits for whom, since when, with which fence. */
#include "cli/status/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/status/serve_address.h"
#include "common/grow.h"
#include "common/network.h"
#include "common/printable.h"
#include "common/waitv.h"

enum { EXIT_UNSEEN = 1 };

const char *status_order_at(size_t at)
{
    static const char *const names[STATUS_ORDERS] = {"region", "since", "pid", "user"};
    return at < STATUS_ORDERS ? names[at] : NULL;
}

static int take_serve(const struct option_word *word)
{
    struct status_words *asked = word->asked;
    asked->serve = true;
    asked->address = word->value;
    return OPTION_TAKEN;
}

static const struct option_row rows[] = {
    {.letters = "S",
     .names = {"space"},
     .argument = "SPACE",
     .help = "show this space: a name, or a path",
     .kind = OPTION_TEXT,
     OPTION_AT(struct status_words, space),
     .offer = OFFER_SPACES},
    {.names = {"cluster"},
     .argument = "NAME",
     .help = "show all machines of this cluster, by its agent on this one",
     .kind = OPTION_TEXT,
     OPTION_AT(struct status_words, cluster),
     .offer = OFFER_CLUSTERS},
    {.names = {"json"},
     .help = "print one JSON object, on one line: docs/json.md",
     .kind = OPTION_FLAG,
     OPTION_AT(struct status_words, json)},
    {.names = {"serve"},
     .argument = "ADDRESS",
     .help = "show it as a page for browsers, which moves as things happen, at HOST:PORT or "
             "unix:PATH; without ADDRESS, at 127.0.0.1 and the first free port from 8642 on",
     .kind = OPTION_CALL,
     .take = take_serve,
     .looks = serve_looks_like_address},
    {.names = {"sort"},
     .argument = "WHAT",
     .help = "sort the rows",
     .standard = "region",
     .kind = OPTION_CHOICE,
     OPTION_AT(struct status_words, order),
     .list = status_order_at},
    {.names = {"watch"},
     .help = "again every second, until q or Ctrl-C; arrows and space move, s sorts, / filters",
     .kind = OPTION_FLAG,
     OPTION_AT(struct status_words, watch)},
    {.letters = "v",
     .names = {"verbose"},
     .help = "tell as well how processes wait on this machine",
     .kind = OPTION_FLAG,
     OPTION_AT(struct status_words, verbose)},
    {0},
};

static const struct option_place places[] = {{.from = 1, .offer = OFFER_REGIONS}};

const struct option_table status_options = {
    .command = "status",
    .usage =
        "usage: afteryou status [NAME…] [OPTION…]\n"
        "Shows who is inside which region, who waits for whom, since when; who died inside; and\n"
        "cycles of waiting. It only reads: nobody is disturbed. Without -S, it shows all spaces\n"
        "of this user.",
    .remarks =
        "NO_COLOR in the environment: without colours.\n"
        "Exit code: 0; 1 if nobody has a NAME open; 125 if afteryou failed, or a space in which\n"
        "NAME may be cannot be read.",
    .rows = rows,
    .wrong = EXIT_USAGE,
    .places = places,
    .places_count = 1,
};

static bool has_name(const struct sighting *item, const char *wanted)
{
    for (char **name = item->name; *name; name++)
        if (strcmp(wanted, *name) == 0)
            return true;
    return false;
}

bool status_is_asked(const struct status_words *asked, const struct sighting *item)
{
    if (!asked->names || !*asked->names)
        return true;
    for (char **wanted = asked->names; *wanted; wanted++)
        if (has_name(item, *wanted))
            return true;
    return false;
}

static bool was_seen(const struct status_view *view, const char *name)
{
    for (size_t at = 0; at < view->count; at++)
        for (size_t which = 0; which < view->space[at].count; which++) {
            const struct sighting *item = &view->space[at].item[which];
            if ((item->seen.alive || item->seen.state == AY_DEAD_INSIDE ||
                 status_is_cancelled(&item->seen)) &&
                has_name(item, name))
                return true;
        }
    return false;
}

/* A name that was asked for and that nobody uses may be a slip of the pen. The exit code. */
static int tell_of_unseen(const struct status_view *view)
{
    int code = 0;
    for (char **name = view->asked->names; *name; name++)
        if (!was_seen(view, *name)) {
            say("status",
                view->unreadable_count > 0
                    ? "nobody has '%s' open in the spaces that can be read, and some cannot be read"
                    : "nobody has '%s' open: nobody is inside, nobody waits",
                *name);
            code = view->unreadable_count > 0 ? EXIT_USAGE : EXIT_UNSEEN;
        }
    return code;
}

static int look_at(const char *space, void *arg)
{
    struct status_view *view = arg;
    if (!grow(&view->space, view->count, &view->room, sizeof *view->space, 8))
        return -ENOMEM;
    const int error = sightings_take(space, &view->space[view->count]);
    if (error == 0)
        sightings_sort(&view->space[view->count++]);
    return error;
}

static int note_unreadable(struct status_view *view, const char *space, const char *why)
{
    const size_t count = view->unreadable_count;
    struct status_unreadable *list =
        reallocarray(view->unreadable, count + 1, sizeof *view->unreadable);
    if (!list)
        return -ENOMEM;
    view->unreadable = list;
    list[count] = (struct status_unreadable){.name = strdup(space), .why = strdup(why)};
    view->unreadable_count++;
    return list[count].name && list[count].why ? 0 : -ENOMEM;
}

/* One of many may be removed meanwhile, or be no space at all: the others are shown. */
static int look_at_one_of_many(const char *space, void *arg)
{
    const int error = look_at(space, arg);
    if (error == 0 || error == -ENOENT || error == -ENOMEM)
        return error == -ENOMEM ? error : 0;
    return note_unreadable(arg, space, ay_message());
}

int status_look(const struct status_words *asked, struct status_view *view, char *trouble,
                size_t room)
{
    *view = (struct status_view){.asked = asked};
    if (asked->cluster) {
        const int failed = status_look_cluster(asked, view, trouble, room);
        if (failed)
            status_drop(view);
        return failed;
    }
    const int error = asked->space ? look_at(asked->space, view)
                                   : spaces_each(look_at_one_of_many, view, trouble, room);
    if (error && asked->space)
        snprintf(trouble, room, "%s", *ay_message() ? ay_message() : strerror(-error));
    if (error)
        status_drop(view);
    return error;
}

void status_drop(struct status_view *view)
{
    for (size_t at = 0; at < view->count; at++)
        sightings_drop(&view->space[at]);
    free(view->space);
    for (size_t at = 0; at < view->unreadable_count; at++) {
        free(view->unreadable[at].name);
        free(view->unreadable[at].why);
    }
    free(view->unreadable);
    for (size_t at = 0; at < view->removed_count; at++)
        free(view->removed[at].path);
    free(view->removed);
    *view = (struct status_view){0};
}

static int parse(int count, char **words, struct status_words *asked)
{
    struct option_reading reading;
    *asked = (struct status_words){0};
    const int status = options_read(&status_options, count, words, asked, &reading);
    if (status)
        return status;
    if (asked->cluster && asked->space)
        return usage_error(
            "status", "-S and --cluster exclude each other: a space of one machine, or of many");
    if (asked->space && !*asked->space)
        return usage_error("status", "-S: the name of a space is empty");
    if (asked->serve && (asked->json || asked->watch || asked->verbose ||
                         option_given(&status_options, &reading, "sort")))
        return usage_error("status",
                           "--serve shows a page: leave out --json, --watch, --sort and -v");
    asked->names = reading.words;
    const char *no_colour = getenv("NO_COLOR");
    asked->colour = isatty(STDOUT_FILENO) && !(no_colour && *no_colour);
    return 0;
}

static void print_waiting(void)
{
    const int refusal = waitv_refusal();
    if (refusal)
        printf("waits: on one word at a time, for futex_waitv(2) is refused here (%s): a death may "
               "be noticed "
               "some tens of milliseconds late, in a crowd a second, and permissions are not "
               "retained\n",
               strerror(refusal));
    else
        puts("waits: by futex_waitv(2)");
}

static void print_asking(void)
{
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && network_of(fd) != 0)
        puts("asks: told by who leaves, by datagrams of unix(7)");
    else
        printf("asks: told by a thread that watches, a wake-up later than a thread that waits, for "
               "sockets %s here (%s)\n",
               fd < 0 ? "are refused" : "do not tell their network", strerror(errno));
    if (fd >= 0)
        close(fd);
}

static void print_ways(void)
{
    print_waiting();
    print_asking();
}

static void print_removed(const char *path, int pid, void *unused)
{
    (void)unused;
    char safe[PATH_MAX];
    snprintf(safe, sizeof safe, "%s", path);
    make_printable(safe);
    printf(
        "removed while in use: pid %d still has the file that was %s; it gets ESTALE when it next "
        "enters\n",
        pid, safe);
}

int command_status(int count, char **words)
{
    struct status_words asked;
    struct status_view view;
    char trouble[512];
    const int status = parse(count, words, &asked);
    if (status)
        return status < 0 ? 0 : status;
    if (asked.watch)
        return status_watch(&asked);
    if (asked.serve)
        return status_serve(&asked);
    if (status_look(&asked, &view, trouble, sizeof trouble) != 0) {
        if (!asked.json)
            status_removed(&asked, print_removed, NULL);
        output_flush();
        return usage_error("status", "%s", trouble);
    }
    if (asked.json) {
        status_look_for_removed(&view);
        status_print_json(stdout, &view);
    } else {
        status_print_table(stdout, &view, asked.order, "", 0);
        status_removed(&asked, print_removed, NULL);
    }
    if (asked.verbose && !asked.json)
        print_ways();
    const bool written = output_flush();
    for (size_t at = 0; at < view.unreadable_count && !asked.json; at++)
        say("status", "%s", view.unreadable[at].why);
    const int code = written ? tell_of_unseen(&view) : 0;
    status_drop(&view);
    return code;
}
