/* SPDX-License-Identifier: MIT */
/* Reads a command line by the table of its subcommand, and says what is wrong with it. */
#include "cli/options.h"

#include <assert.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"

enum {
    /* what getopt_long() answers for a long option: the number of its row, from here on */
    FIRST_ROW = 256,
    HELP_ROW = FIRST_ROW + OPTION_ROWS_MOST,
    VERSION_ROW,
    LONG_MOST = OPTION_ROWS_MOST * OPTION_NAMES_MOST,
    LETTERS_MOST = 2 * OPTION_ROWS_MOST + 8,
    LIST_ROOM = 512,
    SAID_ROOM = 48
};

/* What getopt_long() is given. */
struct getopt_words {
    struct option longs[LONG_MOST + 3];
    unsigned long_count;
    char letters[LETTERS_MOST];
};

static void add_long(struct getopt_words *to, const char *name, int takes_value, int answer)
{
    assert(to->long_count < LONG_MOST + 2);
    to->longs[to->long_count++] = (struct option){name, takes_value, NULL, answer};
}

static void prepare(const struct option_table *table, struct getopt_words *to)
{
    to->long_count = 0;
    /* ':' tells apart what is wrong; with '+', the first word that is no option ends them. */
    char *letter = stpcpy(to->letters, table->order == OPTIONS_ANYWHERE ? ":hV" : "+:hV");
    for (int at = 0; table->rows[at].help; at++) {
        const struct option_row *row = &table->rows[at];
        assert(at < OPTION_ROWS_MOST && (!row->looks || (!row->letters && row->argument)));
        for (unsigned name = 0; name < OPTION_NAMES_MOST && row->names[name]; name++)
            add_long(to, row->names[name],
                     row->looks      ? optional_argument
                     : row->argument ? required_argument
                                     : no_argument,
                     FIRST_ROW + at);
        for (const char *one = row->letters; one && *one; one++) {
            assert(letter + 3 < to->letters + sizeof to->letters);
            *letter++ = *one;
            if (row->argument)
                *letter++ = ':';
        }
    }
    *letter = '\0';
    add_long(to, "help", no_argument, HELP_ROW);
    add_long(to, "version", no_argument, VERSION_ROW);
    to->longs[to->long_count] = (struct option){0};
}

static const struct option_row *row_of(const struct option_table *table, int answer)
{
    if (answer >= FIRST_ROW)
        return &table->rows[answer - FIRST_ROW];
    const struct option_row *row = table->rows;
    while (row->help && !(row->letters && strchr(row->letters, answer)))
        row++;
    assert(row->help);
    return row;
}

const char *option_words(option_list *list, const char *last, char *text, size_t room)
{
    size_t length = 0;
    *text = '\0';
    for (size_t at = 0; list(at) && length < room; at++)
        length += (size_t)snprintf(text + length, room - length, "%s%s",
                                   at == 0        ? ""
                                   : list(at + 1) ? ", "
                                                  : last,
                                   list(at));
    return text;
}

/* The number of a word of the list; -1: it is none. */
static int find_word(option_list *list, const char *word, size_t length)
{
    for (int at = 0; list((size_t)at); at++)
        if (strlen(list((size_t)at)) == length && strncmp(list((size_t)at), word, length) == 0)
            return at;
    return -1;
}

static void store(const struct option_word *word, uint64_t number)
{
    char *to = (char *)word->asked + word->row->offset;
    const uint32_t half = (uint32_t)number;
    const bool flag = number != 0;
    assert(word->row->size == sizeof number || word->row->size == sizeof half ||
           word->row->size == sizeof flag);
    memcpy(to,
           word->row->size == sizeof number ? (const void *)&number
           : word->row->size == sizeof half ? (const void *)&half
                                            : (const void *)&flag,
           word->row->size);
}

static int take_bits(const struct option_word *word)
{
    uint64_t bits = 0;
    const char *item = word->value;
    do {
        const size_t length = strcspn(item, ",");
        const int at = find_word(word->row->list, item, length);
        if (at < 0)
            return OPTION_REFUSED;
        bits |= (uint64_t)1 << at;
        item += length;
    } while (*item++);
    store(word, bits);
    return OPTION_TAKEN;
}

static int take_number(const struct option_word *word)
{
    const struct option_row *row = word->row;
    uint64_t number;
    if (!(row->kind == OPTION_SIZE ? parse_size : parse_number)(word->value, row->least, row->most,
                                                                &number))
        return OPTION_REFUSED;
    store(word, number);
    return OPTION_TAKEN;
}

static int take_real(const struct option_word *word)
{
    char *end;
    const double real = strtod(word->value, &end);
    if (end == word->value || *end || !(real >= (double)word->row->least) ||
        !(real <= (double)word->row->most))
        return OPTION_REFUSED;
    assert(word->row->size == sizeof real);
    memcpy((char *)word->asked + word->row->offset, &real, sizeof real);
    return OPTION_TAKEN;
}

static int take_word(const struct option_word *word)
{
    const struct option_row *row = word->row;
    const int at =
        row->kind == OPTION_TEXT ? 0 : find_word(row->list, word->value, strlen(word->value));
    if (at < 0)
        return OPTION_REFUSED;
    if (row->kind == OPTION_CHOICE) {
        store(word, (uint64_t)at);
    } else {
        const char *text = word->value;
        assert(row->size == sizeof text);
        memcpy((char *)word->asked + row->offset, &text, sizeof text);
    }
    return OPTION_TAKEN;
}

static int take(const struct option_word *word)
{
    switch (word->row->kind) {
    case OPTION_NOTED:
        return OPTION_TAKEN;
    case OPTION_FLAG:
        store(word, true);
        return OPTION_TAKEN;
    case OPTION_SET:
        store(word, word->row->most);
        return OPTION_TAKEN;
    case OPTION_NUMBER:
    case OPTION_SIZE:
        return take_number(word);
    case OPTION_REAL:
        return take_real(word);
    case OPTION_TEXT:
    case OPTION_WORD:
    case OPTION_CHOICE:
        return take_word(word);
    case OPTION_BITS:
        return take_bits(word);
    case OPTION_CALL:
        return word->row->take(word);
    }
    return OPTION_TAKEN;
}

/* What the option takes, for who gave it something else. */
static const char *what_it_takes(const struct option_row *row, char *text, size_t room)
{
    if (row->takes) {
        snprintf(text, room, "%s", row->takes);
    } else if (row->list) {
        option_words(row->list, row->kind == OPTION_BITS ? ", " : " or ", text, room);
        if (row->kind == OPTION_BITS)
            strncat(text, ", with commas between", room - strlen(text) - 1);
    } else {
        snprintf(text, room, "a %snumber from %" PRIu64 " to %" PRIu64,
                 row->kind == OPTION_REAL ? "" : "whole ", row->least, row->most);
    }
    return text;
}

/* An option that got what it does not take, named as it was written: `answer` is
 * getopt_long()'s. */
static int complain_of_value(const struct option_table *table, const struct option_word *word,
                             int answer, const char *long_name)
{
    char text[LIST_ROOM], said[SAID_ROOM];
    if (answer < FIRST_ROW)
        snprintf(said, sizeof said, "-%c", answer);
    else
        snprintf(said, sizeof said, "--%s", long_name);
    usage_error(table->command, "%s takes %s, not '%s'", said,
                what_it_takes(word->row, text, sizeof text), word->value ? word->value : "");
    return table->wrong;
}

/* Several that begin with what was written, or none at all. */
static int complain_of_name(const struct option_table *table, const struct getopt_words *known,
                            const char *said)
{
    char found[LIST_ROOM];
    const size_t length = strcspn(said, "=");
    size_t end = 0;
    for (unsigned at = 0; at < known->long_count && end < sizeof found; at++)
        if (strncmp(known->longs[at].name, said + 2, length - 2) == 0)
            end += (size_t)snprintf(found + end, sizeof found - end, "%s--%s", end ? ", " : "",
                                    known->longs[at].name);
    if (end > 0)
        usage_error(table->command, "%.*s may be any of %s: write it in full", (int)length, said,
                    found);
    else
        usage_error(table->command, "there is no option %.*s; 'afteryou %s --help' lists them",
                    (int)length, said, table->command);
    return table->wrong;
}

static int complain_of_option(const struct option_table *table, const struct getopt_words *known,
                              int answer, const char *word)
{
    if (answer == ':') {
        const struct option_row *row = row_of(table, optopt);
        char letter[] = {'-', (char)optopt, '\0'};
        usage_error(table->command, "%s wants a value: %s", optopt < FIRST_ROW ? letter : word,
                    row->argument);
    } else if (optopt >= FIRST_ROW) {
        usage_error(table->command, "%.*s takes no value, but got '%s'", (int)strcspn(word, "="),
                    word, strchrnul(word, '=') + 1);
    } else if (optopt) {
        usage_error(table->command, "there is no option -%c; 'afteryou %s --help' lists them",
                    optopt, table->command);
    } else {
        return complain_of_name(table, known, word);
    }
    return table->wrong;
}

/* --help and --version. */
static int tell(const struct option_table *table, bool version)
{
    if (version)
        puts("afteryou " AFTERYOU_VERSION);
    else
        options_print_help(table);
    return OPTION_DONE;
}

/* The word behind the option, if that can do without a value and it looks like one. */
static char *value_behind(const struct option_row *row, int count, char **words)
{
    return !optarg && row->looks && optind < count && row->looks(words[optind]) ? words[optind++]
                                                                                : optarg;
}

/* One option; as options_read() answers. */
static int read_option(const struct option_table *table, const struct getopt_words *known,
                       int answer, int longs, void *asked, struct option_reading *reading)
{
    if (answer == 'h' || answer == HELP_ROW || answer == 'V' || answer == VERSION_ROW)
        return tell(table, answer == 'V' || answer == VERSION_ROW);
    const struct option_row *row = row_of(table, answer);
    const struct option_word word = {
        .row = row, .value = value_behind(row, reading->count, reading->words), .asked = asked};
    const int taken = take(&word);
    reading->given |= (uint64_t)1 << (row - table->rows);
    return taken == OPTION_REFUSED
               ? complain_of_value(table, &word, answer, known->longs[longs].name)
               : taken;
}

int options_read(const struct option_table *table, int count, char **words, void *asked,
                 struct option_reading *reading)
{
    struct getopt_words known;
    prepare(table, &known);
    *reading = (struct option_reading){.words = words, .count = count};
    optind = 0; /* anew, also for the order that the letters begin with */
    opterr = 0;
    for (;;) {
        int longs = 0;
        const int answer = getopt_long(count, words, known.letters, known.longs, &longs);
        if (answer == '?' || answer == ':')
            return complain_of_option(table, &known, answer, words[optind - 1]);
        if (answer >= 0) {
            const int status = read_option(table, &known, answer, longs, asked, reading);
            if (status)
                return status;
            continue;
        }
        /* Not beyond "--", and not beyond the first word of a command. */
        const bool ended = optind >= count || reading->first ||
                           table->order != OPTIONS_TO_COMMAND ||
                           (optind > 1 && strcmp(words[optind - 1], "--") == 0);
        if (table->order == OPTIONS_TO_COMMAND && optind < count && !reading->first)
            reading->first = words[optind++];
        if (ended)
            break;
    }
    reading->words = words + optind;
    reading->count = count - optind;
    return 0;
}

bool option_given(const struct option_table *table, const struct option_reading *reading,
                  const char *name)
{
    int at = 0;
    while (table->rows[at].help && strcmp(table->rows[at].names[0], name) != 0)
        at++;
    assert(table->rows[at].help);
    return reading->given >> at & 1;
}

bool option_alone(const struct option_table *table, const struct option_reading *reading,
                  const char *name)
{
    for (int at = 0; table->rows[at].help; at++)
        if (reading->given >> at & 1 && strcmp(table->rows[at].names[0], name) != 0) {
            usage_error(table->command, "--%s stands alone: leave out --%s", name,
                        table->rows[at].names[0]);
            return false;
        }
    if (reading->count > 0)
        usage_error(table->command, "--%s stands alone: leave out '%s'", name, reading->words[0]);
    return reading->count == 0;
}

const char *option_beyond(const struct option_table *table, const struct option_reading *reading,
                          unsigned purpose)
{
    for (int at = 0; table->rows[at].help; at++)
        if (reading->given >> at & 1 && table->rows[at].only && !(table->rows[at].only & purpose))
            return table->rows[at].names[0];
    return NULL;
}
