/* SPDX-License-Identifier: MIT */
/* `afteryou spaces`: list, create, show, remove, repair. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/status/sightings.h"
#include "cli/text.h"

enum {
    WORD_PLACES = 256,
    WORD_PROTOCOL,
    WORD_PRECEDENCE,
    WORD_OVERTAKE,
    WORD_RETAIN,
    WORD_MODE,
    WORD_JSON,
    SCHEMA = 1
};

static const struct option options[] = {
    {"places", required_argument, NULL, WORD_PLACES},
    {"protocol", required_argument, NULL, WORD_PROTOCOL},
    {"precedence", required_argument, NULL, WORD_PRECEDENCE},
    {"overtake", required_argument, NULL, WORD_OVERTAKE},
    {"retain", no_argument, NULL, WORD_RETAIN},
    {"mode", required_argument, NULL, WORD_MODE},
    {"json", no_argument, NULL, WORD_JSON},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct spaces_words {
    ay_options options;
    bool has_options, json;
    bool listed; /* of a JSON list: one is out already */
};

static void print_help(void)
{
    puts("usage: afteryou spaces [list] [--json]           the spaces of this user\n"
         "       afteryou spaces create SPACE [OPTION…]    make one; it must agree if it is there\n"
         "       afteryou spaces show SPACE [--json]       what it is\n"
         "       afteryou spaces remove SPACE…             unless somebody has a place in it\n"
         "       afteryou spaces repair SPACE…             mark dead who is gone without the "
         "kernel's word\n"
         "A space is a name, or a path (with a slash).\n\n"
         "  --places N           open regions at once, of all processes together (default: 4096)\n"
         "  --protocol P         courtesy (default), bakery, region, forks, clock, races, pair\n"
         "  --precedence WHO     in-order (default), writers-first, readers-first, by-priority\n"
         "  --overtake B         how often one that sleeps may be passed (default: 0, strict "
         "order)\n"
         "  --retain             who was inside last goes in again at next to no cost, until "
         "another asks\n"
         "  --mode MODE          permissions of the file, octal (default: 0600; a group's: 0660)\n"
         "  --json               for programs; \"schema\" is its version\n"
         "  -h, --help           this\n"
         "  -V, --version        the version");
}

static int fail(void)
{
    return usage_error("spaces", "%s", ay_message());
}

static int parse_count(const char *option, uint64_t least, uint64_t most, unsigned *count)
{
    uint64_t number;
    if (!parse_number(optarg, least, most, &number))
        return usage_error("spaces", "%s takes a number from %llu to %llu, not '%s'", option,
                           (unsigned long long)least, (unsigned long long)most, optarg);
    *count = (unsigned)number;
    return 0;
}

static int parse_mode(unsigned *mode)
{
    char *end;
    const unsigned long number = strtoul(optarg, &end, 8);
    if (end == optarg || *end || number == 0 || number > 0777)
        return usage_error("spaces", "--mode takes permissions from 0001 to 0777, not '%s'",
                           optarg);
    *mode = (unsigned)number;
    return 0;
}

static int take_option(int option, char **words, struct spaces_words *asked)
{
    switch (option) {
    case WORD_PLACES:
        return parse_count("--places", 1, AY_PLACES_MOST, &asked->options.places);
    case WORD_OVERTAKE:
        return parse_count("--overtake", 0, UINT32_MAX, &asked->options.overtake);
    case WORD_RETAIN:
        asked->options.retain = 1;
        return 0;
    case WORD_MODE:
        return parse_mode(&asked->options.mode);
    case WORD_PROTOCOL:
        asked->options.protocol = optarg;
        return 0;
    case WORD_PRECEDENCE:
        if (text_parse_precedence(optarg, &asked->options.precedence))
            return 0;
        return usage_error(
            "spaces",
            "--precedence is in-order, writers-first, readers-first or by-priority, not '%s'",
            optarg);
    default:
        return common_option("spaces", option, words, print_help);
    }
}

static int create(const char *name, struct spaces_words *asked)
{
    ay_space *space;
    if (ay_open(name, &asked->options, &space) < 0)
        return fail();
    ay_close(space);
    return 0;
}

static void print_json(const struct sightings *space)
{
    const ay_view *view = &space->view;
    fputs("{\"name\":", stdout);
    text_json(stdout, space->name);
    fputs(",\"path\":", stdout);
    text_json(stdout, space->path);
    printf(
        ",\"protocol\":\"%s\",\"precedence\":\"%s\",\"overtake\":%u,\"places\":%u,\"used\":%u,\"alive\":%u,"
        "\"mode\":\"%04o\",\"uid\":%u,\"gid\":%u,\"created\":%lld}",
        view->protocol, text_precedence(view->precedence), view->overtake, view->places, view->used,
        view->alive, view->mode, view->uid, view->gid, (long long)view->created_s);
}

static void print_space(const struct sightings *space)
{
    const ay_view *view = &space->view;
    char created[32], user[64];
    struct tm local;
    strftime(created, sizeof created, "%Y-%m-%d %H:%M:%S",
             localtime_r(&(time_t){view->created_s}, &local));
    text_user(view->uid, user, sizeof user);
    fputs("name        ", stdout);
    text_print(stdout, space->name, 0);
    fputs("\npath        ", stdout);
    text_print(stdout, space->path, 0);
    printf("\nprotocol    %s\nprecedence  %s\novertake    %u\n", view->protocol,
           text_precedence(view->precedence), view->overtake);
    printf("places      %u, %u open now, %u ever used\nowner       %s, mode %04o\ncreated     %s\n",
           view->places, view->alive, view->used, user, view->mode, created);
}

static int show(const char *name, struct spaces_words *asked)
{
    struct sightings space;
    if (sightings_take(name, &space) < 0)
        return fail();
    if (asked->json) {
        printf("{\"schema\":%d,\"space\":", SCHEMA);
        print_json(&space);
        puts("}");
    } else {
        print_space(&space);
    }
    sightings_drop(&space);
    return 0;
}

static int list_one(const char *name, void *arg)
{
    struct spaces_words *asked = arg;
    struct sightings space;
    if (sightings_take(name, &space) < 0) {
        say("spaces", "%s", ay_message());
        return 0;
    }
    if (asked->json) {
        fputs(asked->listed ? "," : "", stdout);
        print_json(&space);
    } else {
        if (!asked->listed)
            printf("%-20s %-10s %-14s %7s %5s  %s\n", "SPACE", "PROTOCOL", "PRECEDENCE", "PLACES",
                   "OPEN", "PATH");
        const size_t columns = text_print(stdout, name, 0);
        printf("%*s %-10s %-14s %7u %5u  ", columns < 20 ? (int)(20 - columns) : 0, "",
               space.view.protocol, text_precedence(space.view.precedence), space.view.places,
               space.view.alive);
        text_print(stdout, space.path, 0);
        putchar('\n');
    }
    asked->listed = true;
    sightings_drop(&space);
    return 0;
}

static int list(struct spaces_words *asked)
{
    if (asked->json)
        printf("{\"schema\":%d,\"spaces\":[", SCHEMA);
    const int error = spaces_each(list_one, asked);
    if (asked->json)
        puts("]}");
    if (error)
        return usage_error("spaces", "cannot list: %s", strerror(-error));
    if (!asked->listed && !asked->json)
        say("spaces", "there are none yet");
    return 0;
}

static int remove_one(const char *name, struct spaces_words *asked)
{
    (void)asked;
    return ay_remove(name) < 0 ? fail() : 0;
}

static int repair(const char *name, struct spaces_words *asked)
{
    (void)asked;
    ay_space *space;
    if (ay_look(name, NULL, NULL, NULL) < 0 || ay_open(name, NULL, &space) < 0)
        return fail();
    const int found = ay_repair(space);
    if (found < 0)
        return fail();
    ay_close(space);
    if (found == 0)
        printf("%s: every place that says it is alive has an owner; nothing was done\n", name);
    else
        printf("%s: %d place%s said to be alive, but nobody held the claim; marked dead\n", name,
               found, found == 1 ? "" : "s");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(const char *space, struct spaces_words *asked);
    bool many;
} actions[] = {{"create", create, false},
               {"show", show, false},
               {"remove", remove_one, true},
               {"repair", repair, true}};

static int act(int count, char **words, struct spaces_words *asked)
{
    if (count == 0 || strcmp(words[0], "list") == 0)
        return count < 2
                   ? list(asked)
                   : usage_error("spaces", "list shows all; '%s' is one word too many", words[1]);
    for (size_t at = 0; at < sizeof actions / sizeof *actions; at++) {
        if (strcmp(words[0], actions[at].name) != 0)
            continue;
        if (count < 2)
            return usage_error("spaces", "%s what? give the name of a space", words[0]);
        if (count > 2 && !actions[at].many)
            return usage_error("spaces", "%s takes one space, not '%s' too", words[0], words[2]);
        int status = 0;
        for (int which = 1; which < count; which++)
            status |= *words[which] ? actions[at].run(words[which], asked)
                                    : usage_error("spaces", "the name of a space is empty");
        return status;
    }
    return usage_error("spaces", "there is no '%s'; there are list, create, show, remove, repair",
                       words[0]);
}

int command_spaces(int count, char **words)
{
    struct spaces_words asked = {0};
    optind = 1;
    for (int option; (option = getopt_long(count, words, ":hV", options, NULL)) != -1;) {
        asked.json |= option == WORD_JSON;
        const int status = option == WORD_JSON ? 0 : take_option(option, words, &asked);
        if (status)
            return status < 0 ? 0 : status;
        asked.has_options |= option != WORD_JSON;
    }
    if (asked.has_options && (optind >= count || strcmp(words[optind], "create") != 0))
        return usage_error("spaces", "options of a space go with 'create' only");
    const int status = act(count - optind, words + optind, &asked);
    return fflush(stdout) == 0 ? status
                               : usage_error("spaces", "cannot write: %s", strerror(errno));
}
