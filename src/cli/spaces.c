/* SPDX-License-Identifier: MIT */
/* `afteryou spaces`: list, create, show, remove, repair. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/status/status.h"
#include "cli/text.h"

enum { FOR_CREATE = 1, FOR_READING = 2 };

struct spaces_words {
    ay_options options;
    bool json;
    bool listed;      /* of a list: one is out already; set by list_one() */
    struct json list; /* with .json: the list that is open */
};

static int fail(void)
{
    return usage_error("spaces", "%s", ay_message());
}

static int take_mode(const struct option_word *word)
{
    struct spaces_words *asked = word->asked;
    char *end;
    const unsigned long number = strtoul(word->value, &end, 8);
    if (end == word->value || *end || number == 0 || number > 0777)
        return OPTION_REFUSED;
    asked->options.mode = (unsigned)number;
    return OPTION_TAKEN;
}

static const struct option_row rows[] = {
    {.heading = "Of 'create'",
     .names = {"places"},
     .argument = "N",
     .help = "regions that can be open at once, of all processes together",
     .standard = "65536",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = AY_PLACES_MOST,
     OPTION_AT(struct spaces_words, options.places),
     .only = FOR_CREATE},
    {.names = {"protocol"},
     .argument = "P",
     .help = "the protocol",
     .standard = "courtesy",
     .kind = OPTION_TEXT,
     OPTION_AT(struct spaces_words, options.protocol),
     .list = text_protocol_at,
     .only = FOR_CREATE},
    {.names = {"precedence"},
     .argument = "WHO",
     .help = "who goes first",
     .standard = "in-order",
     .kind = OPTION_CHOICE,
     OPTION_AT(struct spaces_words, options.precedence),
     .list = text_precedence_at,
     .only = FOR_CREATE},
    {.names = {"overtake"},
     .argument = "B",
     .help = "how often one that sleeps may be passed; 0 is strict order",
     .standard = "0",
     .kind = OPTION_NUMBER,
     .most = UINT32_MAX,
     OPTION_AT(struct spaces_words, options.overtake),
     .only = FOR_CREATE},
    {.names = {"retain"},
     .help = "who was inside last goes in again at next to no cost, until another asks",
     .kind = OPTION_SET,
     .most = 1,
     OPTION_AT(struct spaces_words, options.retain),
     .only = FOR_CREATE},
    {.names = {"mode"},
     .argument = "MODE",
     .help = "permissions of the file, octal; a group's: 0660",
     .standard = "0600",
     .kind = OPTION_CALL,
     .take = take_mode,
     .takes = "permissions from 0001 to 0777",
     .only = FOR_CREATE},
    {.heading = "Of 'list' and 'show'",
     .names = {"json"},
     .help = "print JSON, for programs: docs/json.md",
     .kind = OPTION_FLAG,
     OPTION_AT(struct spaces_words, json),
     .only = FOR_READING},
    {0},
};

static const char *action_at(size_t at);

static const struct option_place word_places[] = {{.from = 1, .to = 1, .list = action_at},
                                                  {.from = 2, .offer = OFFER_SPACES}};

const struct option_table spaces_options = {
    .command = "spaces",
    .usage =
        "usage: afteryou spaces [list] [--json]           list the spaces of this user\n"
        "       afteryou spaces create SPACE [OPTION…]    make one; if it is there, it must agree\n"
        "       afteryou spaces show SPACE [--json]       tell what it is\n"
        "       afteryou spaces remove SPACE…             unless somebody has a place in it\n"
        "       afteryou spaces repair SPACE…             mark as dead who is gone without the\n"
        "                                                 kernel's word\n"
        "A space is a name, or a path (with a slash).",
    .rows = rows,
    .wrong = EXIT_USAGE,
    .places = word_places,
    .places_count = 2,
};

static int create(const char *name, struct spaces_words *asked)
{
    ay_space *space;
    if (ay_open(name, &asked->options, &space) < 0)
        return fail();
    ay_close(space);
    return 0;
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
        struct json json = json_begin(stdout);
        json_object(&json, NULL);
        json_number(&json, "schema", STATUS_SCHEMA);
        json_object(&json, "space");
        status_describe_space(&json, &space);
        json_close(&json);
        json_close(&json);
        json_end(&json);
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
        json_object(&asked->list, NULL);
        status_describe_space(&asked->list, &space);
        json_close(&asked->list);
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
    struct json *json = &asked->list;
    if (asked->json) {
        *json = json_begin(stdout);
        json_object(json, NULL);
        json_number(json, "schema", STATUS_SCHEMA);
        json_list(json, "spaces");
    }
    char trouble[512];
    const int error = spaces_each(list_one, asked, trouble, sizeof trouble);
    if (asked->json) {
        json_close(json);
        json_close(json);
        json_end(json);
    }
    if (error)
        return usage_error("spaces", "%s", trouble);
    if (!asked->listed && !asked->json)
        say("spaces", "there is no space yet");
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

static int list_all(const char *name, struct spaces_words *asked)
{
    (void)name;
    return list(asked);
}

static const struct {
    const char *name;
    int (*run)(const char *space, struct spaces_words *asked);
    unsigned least, most; /* how many spaces it takes */
    unsigned purpose;     /* which options */
} actions[] = {{"list", list_all, 0, 0, FOR_READING},
               {"create", create, 1, 1, FOR_CREATE},
               {"show", show, 1, 1, FOR_READING},
               {"remove", remove_one, 1, UINT_MAX, 0},
               {"repair", repair, 1, UINT_MAX, 0}};

static const char *action_at(size_t at)
{
    return at < sizeof actions / sizeof *actions ? actions[at].name : NULL;
}

static int act(const struct option_reading *reading, struct spaces_words *asked)
{
    const char *wanted = reading->count > 0 ? reading->words[0] : "list";
    char **names = reading->words + (reading->count > 0);
    const unsigned count = reading->count > 0 ? (unsigned)reading->count - 1 : 0;
    size_t at = 0;
    while (action_at(at) && strcmp(wanted, action_at(at)) != 0)
        at++;
    char there[128];
    if (!action_at(at))
        return usage_error("spaces", "there is no '%s'; there are %s", wanted,
                           option_words(action_at, " and ", there, sizeof there));
    const char *beyond = option_beyond(&spaces_options, reading, actions[at].purpose);
    if (beyond)
        return usage_error("spaces",
                           "--%s does not go with '%s'; 'afteryou spaces --help' tells more",
                           beyond, wanted);
    if (count < actions[at].least)
        return usage_error("spaces", "which space? afteryou spaces %s SPACE", wanted);
    if (count > actions[at].most)
        return usage_error("spaces",
                           actions[at].most ? "%s takes one space, not '%s' too"
                                            : "%s shows all spaces: leave out '%s'",
                           wanted, names[actions[at].most]);
    if (count == 0)
        return actions[at].run(NULL, asked);
    int status = 0;
    for (unsigned which = 0; which < count; which++)
        status |= *names[which] ? actions[at].run(names[which], asked)
                                : usage_error("spaces", "the name of a space is empty");
    return status;
}

int command_spaces(int count, char **words)
{
    struct spaces_words asked = {0};
    struct option_reading reading;
    int status = options_read(&spaces_options, count, words, &asked, &reading);
    if (status)
        return status < 0 ? 0 : status;
    return act(&reading, &asked);
}
