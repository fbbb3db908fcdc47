/* SPDX-License-Identifier: MIT */
/* What the tables of options tell: people by --help, programs by `afteryou --options`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "common/json.h"

enum { LEFT_MOST = 28, GAP = 2, COLUMNS = 90, TEXT_ROOM = 1024 };

static const struct option_row common_rows[] = {
    {.letters = "h", .names = {"help"}, .help = "print this"},
    {.letters = "V", .names = {"version"}, .help = "print the version"},
    {0},
};

/* Characters, each of which is one column in our own words. */
static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t at = 0; at < length; at++)
        columns += ((unsigned char)text[at] & 0xc0) != 0x80;
    return columns;
}

/* "  -w, --wait, --timeout SECONDS" */
static void describe(const struct option_row *row, char *text, size_t room)
{
    size_t length = (size_t)snprintf(text, room, row->letters ? "  " : "      ");
    const char *comma = "";
    for (const char *letter = row->letters; letter && *letter; letter++, comma = ", ")
        length += (size_t)snprintf(text + length, room - length, "%s-%c", comma, *letter);
    for (unsigned at = 0; at < OPTION_NAMES_MOST && row->names[at]; at++, comma = ", ")
        length += (size_t)snprintf(text + length, room - length, "%s--%s", comma, row->names[at]);
    if (row->argument)
        snprintf(text + length, room - length, row->looks ? " [%s]" : " %s", row->argument);
}

/* Words up to the edge, then on the next line below the first. */
static void print_wrapped(const char *text, size_t indent)
{
    size_t column = indent;
    for (const char *space = ""; *text;) {
        const size_t length = strcspn(text, " "), width = columns_of(text, length);
        if (column + strlen(space) + width > COLUMNS && column > indent) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            space = "";
        }
        printf("%s%.*s", space, (int)length, text);
        column += strlen(space) + width;
        space = " ";
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_row(const struct option_row *row, size_t indent)
{
    char left[TEXT_ROOM], text[TEXT_ROOM], list[TEXT_ROOM];
    describe(row, left, sizeof left);
    const size_t length = columns_of(left, strlen(left));
    if (row->heading)
        printf("\n%s:\n", row->heading);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", row->help, row->list ? ": " : "",
             row->list ? option_words(row->list, ", ", list, sizeof list) : "",
             row->standard ? " (default: " : "", row->standard ? row->standard : "",
             row->standard ? ")" : "");
    fputs(left, stdout);
    if (length + GAP > indent)
        printf("\n%*s", (int)indent, "");
    else
        printf("%*s", (int)(indent - length), "");
    print_wrapped(text, indent);
}

/* How wide the left column is: as its widest row, but for those that are too wide. */
static size_t indent_of(const struct option_row *rows)
{
    size_t widest = 0;
    for (char text[TEXT_ROOM]; rows->help; rows++) {
        describe(rows, text, sizeof text);
        const size_t length = columns_of(text, strlen(text));
        widest = length > widest && length <= LEFT_MOST ? length : widest;
    }
    return widest + GAP;
}

void options_print_help(const struct option_table *table)
{
    const size_t indent = indent_of(table->rows);
    puts(table->usage);
    if (!table->rows->heading)
        putchar('\n');
    bool headings = false;
    for (const struct option_row *row = table->rows; row->help; row++) {
        headings |= row->heading != NULL;
        print_row(row, indent);
    }
    if (headings)
        putchar('\n');
    for (const struct option_row *row = common_rows; row->help; row++)
        print_row(row, indent);
    if (table->remarks)
        printf("\n%s\n", table->remarks);
}

static const char *offer_name(enum option_offer offer)
{
    static const char *const names[] = {
        [OFFER_NOTHING] = "nothing",         [OFFER_FILES] = "files",
        [OFFER_DIRECTORIES] = "directories", [OFFER_SPACES] = "spaces",
        [OFFER_REGIONS] = "regions",         [OFFER_CLUSTERS] = "clusters",
        [OFFER_GROUPS] = "groups",
    };
    return names[offer];
}

static void print_offer(struct json *json, option_list *list, enum option_offer offer)
{
    json_text(json, "offer", list ? "list" : offer_name(offer));
    json_list(json, "list");
    for (size_t at = 0; list && list(at); at++)
        json_text(json, NULL, list(at));
    json_close(json);
}

static void print_options(struct json *json, const struct option_row *row)
{
    for (; row->help; row++) {
        json_object(json, NULL);
        json_list(json, "words");
        for (const char *letter = row->letters; letter && *letter; letter++)
            json_text(json, NULL, (char[]){'-', *letter, '\0'});
        for (unsigned at = 0; at < OPTION_NAMES_MOST && row->names[at]; at++) {
            char name[TEXT_ROOM];
            snprintf(name, sizeof name, "--%s", row->names[at]);
            json_text(json, NULL, name);
        }
        json_close(json);
        json_text(json, "argument", row->argument);
        json_flag(json, "optional", row->looks != NULL);
        json_text(json, "help", row->help);
        json_flag(json, "several", row->kind == OPTION_BITS);
        print_offer(json, row->list, row->offer);
        json_close(json);
    }
}

static void print_command(struct json *json, const struct option_command *command)
{
    const struct option_table *table = command->table;
    json_object(json, NULL);
    json_text(json, "name", command->name);
    json_text(json, "summary", command->summary);
    json_number(json, "command_after", table->command_after);
    json_list(json, "options");
    print_options(json, table->rows);
    print_options(json, common_rows);
    json_close(json);
    json_list(json, "places");
    for (unsigned at = 0; at < table->places_count; at++) {
        const struct option_place *place = &table->places[at];
        json_object(json, NULL);
        json_number(json, "from", place->from);
        if (place->to)
            json_number(json, "to", place->to);
        else
            json_null(json, "to");
        json_text(json, "after", place->after);
        print_offer(json, place->list, place->offer);
        json_close(json);
    }
    json_close(json);
    json_close(json);
}

void options_print_all(const struct option_command *commands, size_t count)
{
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    json_number(&json, "schema", 1);
    json_list(&json, "commands");
    for (size_t at = 0; at < count; at++)
        print_command(&json, &commands[at]);
    json_close(&json);
    json_close(&json);
    json_end(&json);
}
