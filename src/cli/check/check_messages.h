/* SPDX-License-Identifier: MIT */
/* `afteryou check` of a message protocol: its own words and its own report. */
#ifndef AFTERYOU_CLI_CHECK_CHECK_MESSAGES_H
#define AFTERYOU_CLI_CHECK_CHECK_MESSAGES_H

#include <stdbool.h>

#include "check/search/verdict.h"

/* Whether one of the words is the name of a message protocol, or of a broken variant. */
bool check_messages_wanted(int count, char **words);
/* What command_check does then; an exit status. */
int check_messages(int count, char **words);
void check_messages_list(void);
/* The run that breaks it, as a space-time diagram. 0, or a negative errno. */
int check_messages_draw(const char *path, const char *title, unsigned nodes,
                        const struct finding *broken);

#endif
