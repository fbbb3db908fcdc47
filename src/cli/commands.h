/* SPDX-License-Identifier: MIT */
/* The subcommands of `afteryou`, and the words they share. */
#ifndef AFTERYOU_CLI_COMMANDS_H
#define AFTERYOU_CLI_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"

/* 125 is what timeout(1) and env(1) say when they themselves, not their command, fail. */
enum { EXIT_HOLDS = 0, EXIT_VIOLATED = 1, EXIT_LIMIT = 2, EXIT_USAGE = 125 };

int command_agent(int count, char **words);
int command_cancel(int count, char **words);
int command_check(int count, char **words);
int command_flock(int count, char **words);
int command_run(int count, char **words);
int command_spaces(int count, char **words);
int command_status(int count, char **words);
int command_simulate(int count, char **words);
int command_audit(int count, char **words);
int command_cluster(int count, char **words);

extern const struct option_table agent_options, audit_options, cancel_options, check_options,
    cluster_options, flock_options, run_options, simulate_options, spaces_options, status_options;

/* programs.c: where a program of ours is: near this one, or else in the directory `installed`. */
void program_path(const char *program, const char *installed, char *path, size_t room);
/* Becomes another program of ours, of that package; or EXIT_USAGE, after a word about it. */
int hand_over(const char *command, const char *program, const char *package, char **words);

/* One line on stderr, "afteryou COMMAND: …", in one write(2); what could upset a terminal is '?' in
 * it. */
void say(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* output.c: writes what was printed. False if any of it, now or before, could not be written. */
bool output_flush(void);
/* At the end of every program of ours: the exit code, which is EXIT_USAGE, after a word about it,
 * if output is lost. */
int output_end(const char *command, int status);

/* Whole numbers from text: false if it is none, or not within the range. */
bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number);
/* Like parse_number, with K, M, G for powers of 1024. */
bool parse_size(const char *text, uint64_t least, uint64_t most, uint64_t *bytes);

#endif
