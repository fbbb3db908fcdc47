/* SPDX-License-Identifier: MIT */
/* What the page, and the program, ask for by name: one session at a time. */
#include "playground/calls.h"

#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "playground/playground.h"

static struct session session; /* closed where asked.system is NULL */

static bool is_open(size_t index)
{
    if (!session.asked.system)
        say("check", "no protocol is open");
    else if (index > session.count)
        say("check", "the run has only %zu moves", session.count);
    else
        return true;
    return false;
}

bool playground_open(const char *words)
{
    session_close(&session);
    if (!session_open(&session, words))
        return false;
    view_opened(&session);
    return true;
}

bool playground_state(size_t index)
{
    if (!is_open(index))
        return false;
    view_state(&session, index);
    return true;
}

bool playground_make(size_t index, const char *text)
{
    struct move move;
    const char *at = text;
    if (!is_open(index))
        return false;
    if (!move_read(&at, &move) || *at) {
        say("check", "'%.20s' is no move", text);
        return false;
    }
    switch (session_make(&session, index, move)) {
    case MADE:
        view_made(&session);
        return true;
    case MADE_NOT_POSSIBLE:
        say("check", "the move '%s' cannot be made after %zu moves", text, index);
        return false;
    case MADE_OVERFLOW:
        say("check",
            "a number has outgrown its field, or a store buffer is full: go back, or begin "
            "anew");
        return false;
    default:
        say("check", "there is no memory left for a longer run");
        return false;
    }
}

/* False after a complaint. */
static bool read_property(const char *text, enum property *property)
{
    for (unsigned each = 0; each < PROPERTY_COUNT; each++)
        if (strcmp(property_name(each), text) == 0) {
            *property = (enum property)each;
            return true;
        }
    say("check", "'%.40s' is no property", text);
    return false;
}

bool playground_shows(size_t index, const char *text)
{
    char why[160] = "";
    enum property property;
    if (!is_open(index) || !read_property(text, &property))
        return false;
    const bool shows = session_shows(&session, index, property, why, sizeof why);
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    json_flag(&json, "shows", shows);
    json_text(&json, "why", why);
    json_close(&json);
    json_end(&json);
    return true;
}

bool playground_hint(size_t index, const char *text)
{
    struct check_run run = {0};
    enum property property;
    if (!is_open(index) || !read_property(text, &property))
        return false;
    if (property != PROPERTY_SAFETY && property != PROPERTY_REACHED) {
        say("check", "the shortest way is known of %s and %s alone", property_name(PROPERTY_SAFETY),
            property_name(PROPERTY_REACHED));
        return false;
    }
    const enum hint hint = session_hint(&session, index, property, &run);
    struct json json = json_begin(stdout);
    json_object(&json, NULL);
    json_flag(&json, "too_far", hint == HINT_TOO_FAR);
    if (hint == HINT_FOUND) {
        json_number(&json, "left", run.count);
        view_move(&json, "move", run.steps[0].move);
    } else {
        json_null(&json, "left");
    }
    json_close(&json);
    json_end(&json);
    run_close(&run);
    return true;
}

bool playground_catalogue(void)
{
    view_catalogue();
    return true;
}

bool playground_options(void)
{
    const struct option_command check = {.name = "check", .table = &check_options};
    options_print_all(&check, 1);
    return true;
}

bool playground_takes(const char *words)
{
    struct asked_system *asked = calloc(1, sizeof *asked);
    const bool taken = asked && asked_read(asked, words);
    free(asked);
    return taken;
}

bool playground_check(const char *words, size_t memory,
                      void (*progress)(const struct search *search))
{
    return view_verdict(words, memory, progress);
}
