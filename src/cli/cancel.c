/* SPDX-License-Identifier: MIT */
/* `afteryou cancel`: makes a call that waits return. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "afteryou.h"
#include "cli/commands.h"
#include "cli/text.h"

struct cancel_words {
    const char *space;
    unsigned pid;
};

static const struct option_row rows[] = {
    {.letters = "p",
     .names = {"pid"},
     .argument = "P",
     .help = "the process that waits, as status shows it",
     .kind = OPTION_NUMBER,
     .least = 1,
     .most = INT_MAX,
     OPTION_AT(struct cancel_words, pid)},
    {.letters = "S",
     .names = {"space"},
     .argument = "SPACE",
     .help = "a space: a name, or a path",
     .standard = "default",
     .kind = OPTION_TEXT,
     OPTION_AT(struct cancel_words, space),
     .offer = OFFER_SPACES},
    {0},
};

static const struct option_place word_places[] = {{.from = 1, .to = 1, .offer = OFFER_REGIONS}};

const struct option_table cancel_options = {
    .command = "cancel",
    .usage = "usage: afteryou cancel NAME --pid P [-S SPACE]\n"
             "The process P, which waits for the region NAME, gives up: its call returns\n"
             "ECANCELED, and 'afteryou run' ends. Whoever is inside stays there: kill it.",
    .remarks = "Exit status: 0 cancelled; 1 it does not wait for that (any more), or is inside;\n"
               "125 usage, or it cannot be done.",
    .rows = rows,
    .wrong = EXIT_USAGE,
    .places = word_places,
    .places_count = 1,
};

int command_cancel(int count, char **words)
{
    struct cancel_words asked = {0};
    struct option_reading reading;
    const int status = options_read(&cancel_options, count, words, &asked, &reading);
    if (status)
        return status < 0 ? 0 : status;
    if (reading.count != 1)
        return usage_error("cancel", "which region? afteryou cancel NAME --pid P");
    if (!asked.pid)
        return usage_error("cancel", "which process? 'afteryou status' shows who waits; --pid P");
    ay_view view;
    ay_space *space;
    /* not to make one by asking */
    if (ay_look(asked.space, &view, NULL, NULL) < 0 || ay_open(asked.space, NULL, &space) < 0)
        return usage_error("cancel", "%s", ay_message());
    const int result = ay_cancel(space, reading.words[0], (int)asked.pid);
    const bool nobody = result == -ESRCH || result == -EBUSY;
    if (result < 0)
        say("cancel", "%s", ay_message());
    ay_close(space);
    return result > 0 ? 0 : nobody ? 1 : EXIT_USAGE;
}
