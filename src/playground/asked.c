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

const char *asked_kind_word(enum asked_kind kind)
{
    static const char *const words[] = {
        [ASKED_REGISTERS] = "registers", [ASKED_MESSAGES] = "messages", [ASKED_LINK] = "link"};
    return words[kind];
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
    const char *wrong = NULL;
    if (asked->words.link.variant) {
        asked->kind = ASKED_LINK;
        asked->system = &asked->link_model.system;
        link_model_open(&asked->link_model, &asked->words.link);
    } else if (asked->words.messages.variant) {
        asked->kind = ASKED_MESSAGES;
        asked->system = &asked->message_model.system;
        wrong = messages_model_open(&asked->message_model, &asked->words.messages);
    } else {
        asked->kind = ASKED_REGISTERS;
        asked->system = &asked->words.model.system;
    }
    if (wrong)
        say("check", "%s", wrong);
    return !wrong;
}

unsigned asked_promises(const struct asked_system *asked)
{
    return asked->kind == ASKED_REGISTERS ? check_promises(&asked->words.model)
                                          : CHECK_MESSAGES_PROMISES;
}

bool asked_may_suffer(const struct asked_system *asked, unsigned process)
{
    const unsigned victims = asked->kind == ASKED_REGISTERS ? check_victims(&asked->words) : 0;
    return !victims || victims >> process & 1;
}

bool asked_needs_newcomers(const struct asked_system *asked)
{
    return asked->kind == ASKED_REGISTERS && asked->words.model.problem == PROBLEM_ALLOCATION;
}

void asked_describe(const struct asked_system *asked, char *text, size_t room)
{
    check_describe(&asked->words, text, room);
}

const char *asked_who(const struct asked_system *asked)
{
    static const char *const words[] = {
        [ASKED_REGISTERS] = "P", [ASKED_MESSAGES] = "node ", [ASKED_LINK] = "end "};
    return words[asked->kind];
}

unsigned asked_place(const struct asked_system *asked, unsigned process)
{
    return asked->kind == ASKED_REGISTERS ? asked->words.model.place_of[process] : process;
}
