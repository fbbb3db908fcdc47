/* SPDX-License-Identifier: MIT */
/* The lists of `afteryou check`: of protocols, and the words that are lists. */
#ifndef AFTERYOU_CLI_CHECK_CHECK_LISTS_H
#define AFTERYOU_CLI_CHECK_CHECK_LISTS_H

#include "cli/options.h"

/* Prints all protocols. OPTION_DONE. */
int check_print_list(void);
/* The name of the at-th, NULL after the last. */
const char *check_protocol_at(size_t at);

/* Each takes a word, or refuses it. */
int check_take_places(const struct option_word *given);
int check_take_victim(const struct option_word *given);
int check_take_stopped(const struct option_word *given);
int check_take_rivals(const struct option_word *given);
int check_take_unfenced(const struct option_word *given);
int check_take_relaxed(const struct option_word *given);

/* What --precedence, --memory-model, --errors, --timeouts, --network and --property may be, by
 * number; NULL after the last. */
const char *check_precedence_at(size_t at);
const char *check_memory_model_at(size_t at);
const char *check_errors_at(size_t at);
const char *check_timeouts_at(size_t at);
const char *check_network_at(size_t at);
const char *check_property_at(size_t at);

#endif
