/* SPDX-License-Identifier: MIT */
/* The words of `afteryou check` that are lists: each takes one, or refuses it. */
#ifndef AFTERYOU_CLI_CHECK_CHECK_LISTS_H
#define AFTERYOU_CLI_CHECK_CHECK_LISTS_H

#include "cli/options.h"

int check_take_places(const struct option_word *given);
int check_take_victim(const struct option_word *given);
int check_take_stopped(const struct option_word *given);
int check_take_rivals(const struct option_word *given);
int check_take_unfenced(const struct option_word *given);
int check_take_relaxed(const struct option_word *given);

#endif
