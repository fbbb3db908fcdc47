/* SPDX-License-Identifier: MIT */
/* The words of a protocol, read as the command line reads them. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "playground/playground.h"

/* Cuts the text at its spaces. False if there are too many words. */
static bool split(char *text, char **words, int *count)
{
    static char name[] = "check";
    *count = 0;
    words[(*count)++] = name;
    char *rest = text, *each;
    while ((each = strsep(&rest, " \t\n")))
        if (*each) {
            if (*count == WORDS_MOST - 1)
                return false;
            words[(*count)++] = each;
        }
    words[*count] = NULL;
    return true;
}

bool asked_read(struct asked_system *asked, const char *words)
{
    char *each[WORDS_MOST];
    int count;
    memset(asked, 0, sizeof *asked);
    if (strlen(words) >= sizeof asked->text) {
        say("check", "more than %d letters are too many", WORDS_ROOM - 1);
        return false;
    }
    strcpy(asked->text, words);
    if (!split(asked->text, each, &count)) {
        say("check", "more than %d words are too many", WORDS_MOST - 2);
        return false;
    }
    for (int at = 1; at < count; at++)
        if (strcmp(each[at], "--help") == 0 || strcmp(each[at], "-h") == 0 ||
            strcmp(each[at], "--list") == 0) {
            say("check", "%s is for the command line", each[at]);
            return false;
        }
    if (check_words_parse(count, each, &asked->words))
        return false;
    if (asked->words.link.variant) {
        say("check", "%s has no nodes to show: it is for the command line", asked->words.protocol);
        return false;
    }
    asked->messages = asked->words.messages.variant != NULL;
    asked->system = asked->messages ? &asked->message_model.system : &asked->words.model.system;
    const char *wrong =
        asked->messages ? messages_model_open(&asked->message_model, &asked->words.messages) : NULL;
    if (wrong)
        say("check", "%s", wrong);
    return !wrong;
}

unsigned asked_promises(const struct asked_system *asked)
{
    return asked->messages ? CHECK_MESSAGES_PROMISES : check_promises(&asked->words.model);
}

bool asked_needs_newcomers(const struct asked_system *asked)
{
    return !asked->messages && asked->words.model.problem == PROBLEM_ALLOCATION;
}

void asked_describe(const struct asked_system *asked, char *text, size_t room)
{
    check_describe(&asked->words, text, room);
}

unsigned asked_place(const struct asked_system *asked, unsigned process)
{
    return asked->messages ? process : asked->words.model.place_of[process];
}
