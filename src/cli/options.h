/* SPDX-License-Identifier: MIT */
/* The one reader of command lines. A subcommand states its options as a table of rows; from it come
 * what getopt_long() is given, what --help prints, what is said of a wrong word, and what the
 * shells complete (by `afteryou --options`, which tests compare with the man pages, too).
 *
 * --help (-h) and --version (-V) are in no table: every subcommand has them. */
#ifndef AFTERYOU_CLI_OPTIONS_H
#define AFTERYOU_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How an option is taken. */
enum option_kind {
    OPTION_NOTED,  /* nothing is stored: option_given() tells */
    OPTION_FLAG,   /* a bool becomes true */
    OPTION_SET,    /* .most is stored */
    OPTION_TEXT,   /* a const char * */
    OPTION_NUMBER, /* from .least to .most, in a whole number of any size */
    OPTION_SIZE,   /* the same, with K, M, G for powers of 1024 */
    OPTION_REAL,   /* from .least to .most, in a double */
    OPTION_WORD,   /* a const char *, of .list */
    OPTION_CHOICE, /* the number of a word of .list */
    OPTION_BITS,   /* words of .list, with commas between: a bit for each */
    OPTION_CALL    /* .take does it */
};

/* What a shell can offer, where it is no word of a list. */
enum option_offer {
    OFFER_NOTHING,
    OFFER_FILES,
    OFFER_DIRECTORIES,
    OFFER_SPACES,
    OFFER_REGIONS,
    OFFER_CLUSTERS,
    OFFER_GROUPS
};

/* The word of that number, NULL behind the last: lists live where they are used. */
typedef const char *option_list(size_t at);
/* Whether a word is the value of an option that can do without. */
typedef bool option_looks(const char *word);

/* What .take may answer; or an exit code, after a complaint of its own. */
enum { OPTION_TAKEN = 0, OPTION_REFUSED = -1 /* it is not what .takes says */, OPTION_DONE = -2 };

struct option_row;

/* An option as it was given. */
struct option_word {
    const struct option_row *row;
    char *value; /* NULL: it takes none */
    void *asked; /* what the table fills in */
};
typedef int option_taker(const struct option_word *word);

enum { OPTION_NAMES_MOST = 3, OPTION_ROWS_MOST = 60 };

struct option_row {
    const char *heading; /* of --help: a line before this row; NULL: none */
    const char *letters; /* each of them is this option; NULL: none */
    const char *names[OPTION_NAMES_MOST];
    const char *argument; /* what its value is called; NULL: it takes none */
    const char *help;
    const char *standard; /* the value it has if it is not given; NULL: none, or help tells */
    enum option_kind kind;
    size_t offset, size; /* OPTION_AT */
    uint64_t least, most;
    option_list *list; /* OPTION_WORD, _CHOICE, _BITS; else what help and shells name */
    option_taker *take;
    const char *takes; /* "seconds, as in 2.5"; NULL: as the kind and the list have it */
    /* Not NULL: the value may be left out (it is then NULL). --name=VALUE gives it, and so does a
     * word behind the option that looks like one. OPTION_CALL alone. */
    option_looks *looks;
    enum option_offer offer;
    unsigned only; /* for which purposes, of the table's own: a bit each; 0: for all */
};

/* Where a row stores what it takes. */
#define OPTION_AT(type, member)                                                                    \
    .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* What a shell offers for the words that are no options. */
struct option_place {
    unsigned from, to; /* the first is 1; .to 0: and all that follow */
    const char *after; /* only if the first word is this; NULL: always */
    option_list *list; /* either */
    enum option_offer offer;
};

/* Where options may stand. */
enum option_order {
    OPTIONS_ANYWHERE,
    OPTIONS_FIRST,     /* before all words */
    OPTIONS_TO_COMMAND /* before and after the first word, but before the second */
};

struct option_table {
    const char *command;           /* as say() wants it */
    const char *usage;             /* what --help begins with */
    const char *remarks;           /* and ends with; NULL: nothing */
    const struct option_row *rows; /* up to one without help */
    enum option_order order;
    int wrong; /* the exit code of what makes no sense */
    /* for shells: where each word stands; and after how many a command line of its own begins */
    const struct option_place *places;
    unsigned places_count, command_after;
};

/* What is left of the words. */
struct option_reading {
    const char *first; /* OPTIONS_TO_COMMAND: the word before the command, or NULL */
    char **words;      /* the others, NULL-ended */
    int count;
    uint64_t given; /* a bit for each row of the table */
};

/* Reads words[1] and on, and fills in `asked`, to which the rows refer. 0; negative: all is done,
 * with success (--help, --version); or the exit code, after a line that says what is wrong. The
 * words change places. */
int options_read(const struct option_table *table, int count, char **words, void *asked,
                 struct option_reading *reading);

/* Whether the option of that name was given. */
bool option_given(const struct option_table *table, const struct option_reading *reading,
                  const char *name);
/* Whether nothing else was given, no option and no word; false after a word about it. */
bool option_alone(const struct option_table *table, const struct option_reading *reading,
                  const char *name);
/* The first option given that is not for this purpose, as in "--name"; NULL: all are. */
const char *option_beyond(const struct option_table *table, const struct option_reading *reading,
                          unsigned purpose);

/* "a, b or c": the words of a list. Returns the text. */
const char *option_words(option_list *list, const char *last, char *text, size_t room);

/* options_help.c: what --help prints. */
void options_print_help(const struct option_table *table);

struct option_command {
    const char *name;
    int (*run)(int count, char **words);
    const char *summary;
    const struct option_table *table;
};
/* All tables, as JSON: what completions are made from, and what tests read. */
void options_print_all(const struct option_command *commands, size_t count);

#endif
