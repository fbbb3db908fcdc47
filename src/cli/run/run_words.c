/* SPDX-License-Identifier: MIT */
/* The words of `afteryou run`: flock(1)'s letters where flock has one. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/run/run.h"
#include "cli/text.h"

int run_take_wait(const struct option_word *word, struct run_words *asked)
{
    char *end;
    asked->seconds = strtod(word->value, &end);
    if (end == word->value || *end || !(asked->seconds >= 0) || asked->seconds > RUN_SECONDS_MOST)
        return OPTION_REFUSED;
    asked->timeout_ms = (int)(asked->seconds * 1000);
    if (asked->timeout_ms == 0 && asked->seconds > 0)
        asked->timeout_ms = 1;
    return OPTION_TAKEN;
}

static int take_wait(const struct option_word *word)
{
    return run_take_wait(word, word->asked);
}

static int take_mode(const struct option_word *word)
{
    struct run_words *asked = word->asked;
    return text_parse_mode(word->value, &asked->spec.mode) ? OPTION_TAKEN : OPTION_REFUSED;
}

static int take_priority(const struct option_word *word)
{
    struct run_words *asked = word->asked;
    char *end;
    const long priority = strtol(word->value, &end, 10);
    if (end == word->value || *end || priority < INT_MIN || priority > INT_MAX)
        return OPTION_REFUSED;
    asked->spec.priority = (int)priority;
    asked->options.precedence = AY_BY_PRIORITY; /* or it would be ignored, silently */
    return OPTION_TAKEN;
}

static int take_also(const struct option_word *word)
{
    struct run_words *asked = word->asked;
    size_t count = 0;
    while (asked->also[count])
        count++;
    if (count == AY_ALSO_MOST)
        return usage_error("run", "--also can be given %d times at most", AY_ALSO_MOST);
    asked->also[count] = word->value;
    asked->spec.also = asked->also;
    return OPTION_TAKEN;
}

void run_use_shell(char *line, struct run_words *asked)
{
    static char plain_shell[] = "/bin/sh", minus_c[] = "-c";
    static char *words[] = {plain_shell, minus_c, NULL, NULL};
    char *shell = getenv("SHELL");
    if (shell && *shell)
        words[0] = shell;
    words[2] = line;
    asked->command = words;
}

static int take_line(const struct option_word *word)
{
    run_use_shell(word->value, word->asked);
    return OPTION_TAKEN;
}

static int take_cluster(const struct option_word *word)
{
    static char space[AY_NAME_MOST + 16];
    struct run_words *asked = word->asked;
    if (strlen(word->value) > AY_NAME_MOST)
        return usage_error("run", "the name of the cluster has %zu bytes; at most %d are allowed",
                           strlen(word->value), AY_NAME_MOST);
    snprintf(space, sizeof space, "cluster:%s", word->value);
    asked->cluster = word->value;
    asked->space = space;
    return OPTION_TAKEN;
}

static int refuse_unlock(const struct option_word *word)
{
    (void)word;
    return usage_error("run",
                       "there is nothing to unlock: a region is left when its command has ended "
                       "('afteryou flock -u NUMBER' is for an open descriptor)");
}

static const struct option_row rows[] = {
    {.heading = "How it is entered",
     .letters = "xe",
     .names = {"exclusive"},
     .help = "alone (the default)",
     .kind = OPTION_SET,
     .most = AY_EXCLUSIVE,
     OPTION_AT(struct run_words, spec.mode)},
    {.letters = "s",
     .names = {"shared"},
     .help = "together with others that are shared: readers",
     .kind = OPTION_SET,
     .most = AY_SHARED,
     OPTION_AT(struct run_words, spec.mode)},
    {.letters = "m",
     .names = {"mode"},
     .argument = "MODE",
     .help = "in one of the six modes",
     .kind = OPTION_CALL,
     .take = take_mode,
     .list = text_mode_at},
    {.letters = "k",
     .names = {"slots"},
     .argument = "SLOTS",
     .help = "let at most so many inside at once",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = AY_SLOTS_MOST,
     OPTION_AT(struct run_words, spec.slots)},
    {.names = {"take"},
     .argument = "N",
     .help = "hold N of the units that --of counts; AFTERYOU_UNITS lists them",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = AY_UNITS_MOST,
     OPTION_AT(struct run_words, spec.take)},
    {.names = {"of"},
     .argument = "T",
     .help = "the units are 0 to T-1",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = AY_UNITS_MOST,
     OPTION_AT(struct run_words, spec.of)},
    {.names = {"also"},
     .argument = "NAME",
     .help = "enter this region too, at the same time (up to 6 times)",
     .kind = OPTION_CALL,
     .take = take_also,
     .offer = OFFER_REGIONS},
    {.names = {"when"},
     .argument = "TEST",
     .help = "only when the shell command TEST succeeds; it is run inside",
     .kind = OPTION_TEXT,
     OPTION_AT(struct run_words, when)},
    {.names = {"priority"},
     .argument = "P",
     .help = "the greater goes first, in a space by priority",
     .kind = OPTION_CALL,
     .take = take_priority,
     .takes = "a whole number"},
    {.heading = "How long to wait",
     .letters = "n",
     .names = {"nonblock", "nb"},
     .help = "not at all"},
    {.letters = "w",
     .names = {"wait", "timeout"},
     .argument = "SECONDS",
     .help = "so long at most, as in 2.5",
     .kind = OPTION_CALL,
     .take = take_wait,
     .takes = RUN_SECONDS},
    {.letters = "E",
     .names = {"conflict-exit-code"},
     .argument = "CODE",
     .help = "the exit code when not obtained; nothing is said then",
     .standard = "1",
     .kind = OPTION_NUMBER,
     .most = 255,
     OPTION_AT(struct run_words, refused)},
    {.letters = "q",
     .names = {"quiet"},
     .help = "say nothing when not obtained: the exit code tells",
     .kind = OPTION_FLAG,
     OPTION_AT(struct run_words, quiet)},
    {.heading = "What is run",
     .letters = "c",
     .names = {"command"},
     .argument = "LINE",
     .help = "a line for the shell ($SHELL, or /bin/sh)",
     .kind = OPTION_CALL,
     .take = take_line},
    {.letters = "o",
     .names = {"close"},
     .help = "hold for the command alone, not for what it leaves running",
     .kind = OPTION_FLAG,
     OPTION_AT(struct run_words, close)},
    /* The wrapper passes on what it gets, so whoever started it reaches the command. */
    {.letters = "F",
     .names = {"no-fork"},
     .help = "flock(1)'s; it changes nothing: signals reach the command anyway"},
    {.letters = "u",
     .names = {"unlock"},
     .help = "flock(1)'s; it is refused: a region is left when its command has ended",
     .kind = OPTION_CALL,
     .take = refuse_unlock},
    {.heading = "Where",
     .letters = "S",
     .names = {"space"},
     .argument = "SPACE",
     .help = "a space: a name, or a path",
     .standard = "default",
     .kind = OPTION_TEXT,
     OPTION_AT(struct run_words, space),
     .offer = OFFER_SPACES},
    {.names = {"protocol"},
     .argument = "P",
     .help = "the protocol of a space that is made now",
     .standard = "courtesy",
     .kind = OPTION_TEXT,
     OPTION_AT(struct run_words, options.protocol),
     .list = text_protocol_at},
    {.names = {"cluster"},
     .argument = "NAME",
     .help = "a space of many machines, whose agent runs on this one: afteryou-agent(1)",
     .kind = OPTION_CALL,
     .take = take_cluster,
     .offer = OFFER_CLUSTERS},
    {.heading = "What is told",
     .letters = "v",
     .names = {"verbose"},
     .help = "tell what happens, and how long it took",
     .kind = OPTION_FLAG,
     OPTION_AT(struct run_words, verbose)},
    {0},
};

static const struct option_place places[] = {{.from = 1, .to = 1, .offer = OFFER_REGIONS}};

const struct option_table run_options = {
    .command = "run",
    .usage =
        "usage: afteryou run NAME [OPTION…] [--] COMMAND [WORD…]\n"
        "       afteryou run NAME [OPTION…] -c 'SHELL LINE'\n"
        "Runs a command inside the region NAME: after those who came before, and before those who\n"
        "come after. The region is held until the command and everything it started is gone. If\n"
        "this program is killed, they are killed with it.",
    .remarks =
        "The command finds AFTERYOU_FENCE, AFTERYOU_UNITS and AFTERYOU_AFTER_DEATH in its\n"
        "environment.\n"
        "Exit code: the command's own; 128+n if signal n ended it; 1 (or -E) not obtained; 125\n"
        "afteryou failed; 126 the command could not be run; 127 it was not found; 123 a cluster's\n"
        "region was lost, and the command ended.",
    .rows = rows,
    .order = OPTIONS_TO_COMMAND,
    .wrong = EXIT_USAGE,
    .places = places,
    .places_count = 1,
    .command_after = 1,
};

static int check_name(const char *what, const char *name)
{
    if (!*name)
        return usage_error("run", "%s is empty", what);
    if (strlen(name) > AY_NAME_MOST)
        return usage_error("run", "%s has %zu bytes; at most %d are allowed", what, strlen(name),
                           AY_NAME_MOST);
    return 0;
}

/* What no option can see by itself. */
static int check_together(const struct run_words *asked, bool no_wait, bool waits)
{
    if (!asked->spec.name)
        return usage_error("run", "no name is given; 'afteryou run --help' tells more");
    int error = check_name("the name", asked->spec.name);
    for (const char *const *also = asked->also; !error && *also; also++)
        error = check_name("a name of --also", *also);
    if (error)
        return error;
    if ((!asked->command || !*asked->command) &&
        asked->spec.name[strspn(asked->spec.name, "0123456789")] == '\0')
        return usage_error(
            "run", "no command is given for '%s'; if it is an open descriptor: 'afteryou flock %s'",
            asked->spec.name, asked->spec.name);
    if (!asked->command || !*asked->command)
        return usage_error("run", "no command is given for '%s'; 'afteryou run --help' tells more",
                           asked->spec.name);
    if (asked->space && !*asked->space)
        return usage_error("run", "-S: the name of a space is empty");
    if (no_wait && waits)
        return usage_error("run", "-n and -w exclude each other: do not wait, or wait so long");
    if (asked->spec.slots && asked->spec.take)
        return usage_error("run",
                           "-k and --take exclude each other: slots are alike, units have numbers");
    if (!asked->spec.take != !asked->spec.of)
        return usage_error("run", "--take N and --of T go together: give both, or neither");
    if (asked->spec.take > asked->spec.of)
        return usage_error("run", "--take %u is more than --of %u", asked->spec.take,
                           asked->spec.of);
    return 0;
}

int run_words_parse(int count, char **words, struct run_words *asked)
{
    struct option_reading reading;
    *asked = (struct run_words){.timeout_ms = -1, .refused = EXIT_REFUSED, .lock = -1};
    const int status = options_read(&run_options, count, words, asked, &reading);
    if (status)
        return status;
    const bool no_wait = option_given(&run_options, &reading, "nonblock"),
               waits = option_given(&run_options, &reading, "wait");
    asked->spec.name = reading.first;
    /* who asks for a code of its own looks at it */
    asked->quiet |= option_given(&run_options, &reading, "conflict-exit-code");
    asked->quiet &= !asked->verbose;
    if (no_wait)
        asked->timeout_ms = waits ? asked->timeout_ms : 0;
    if (reading.count > 0 && asked->command)
        return usage_error("run", "both -c and a command are given, '%s': choose one",
                           reading.words[0]);
    if (reading.count > 0)
        asked->command = reading.words;
    return check_together(asked, no_wait, waits);
}
