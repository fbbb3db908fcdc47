/* SPDX-License-Identifier: MIT */
/* `afteryou check` of a message protocol: its own words and its own report. */
#ifndef AFTERYOU_CLI_CHECK_MESSAGES_H
#define AFTERYOU_CLI_CHECK_MESSAGES_H

#include <stdbool.h>

/* Whether one of the words is the name of a message protocol, or of a broken variant. */
bool check_messages_wanted(int count, char **words);
/* What command_check does then; an exit status. */
int check_messages(int count, char **words);
void check_messages_list(void);

#endif
