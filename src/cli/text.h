/* SPDX-License-Identifier: MIT */
/* Words and numbers as people read them. */
#ifndef AFTERYOU_CLI_TEXT_H
#define AFTERYOU_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "afteryou.h"

enum { TEXT_ROOM = 1024 };

/* CLOCK_MONOTONIC. */
int64_t text_now(void);
/* "0.213 s", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
void text_duration(int64_t ns, char *text, size_t room);
/* The same, in whole seconds from the first. */
void text_seconds(int64_t ns, char *text, size_t room);
/* Local time of a moment of CLOCK_MONOTONIC: "10:31:07" today, else "2026-11-15 10:31:07". */
void text_moment(int64_t ns, char *text, size_t room);
/* The same moment in UTC, as in "2026-11-15T10:31:07.250Z". */
void text_timestamp(int64_t ns, char *text, size_t room);
/* A user's name, or number. */
void text_user(unsigned uid, char *text, size_t room);
/* Prints with anything that could upset a terminal as '?'; at most `most` columns, if not 0.
 * Returns how many. NULL: nowhere. */
size_t text_print(FILE *out, const char *text, size_t most);
/* How many columns of a terminal it takes, so printed. */
size_t text_columns(const char *text);

const char *text_mode(ay_mode mode);
const char *text_precedence(ay_precedence precedence);
/* The names of modes, of precedences, and of the protocols a space can have: of that number, NULL
 * behind the last. */
const char *text_mode_at(size_t at);
const char *text_precedence_at(size_t at);
const char *text_protocol_at(size_t at);
/* By its name, or as EX, PR, PW, CW, CR, NL. */
bool text_parse_mode(const char *text, ay_mode *mode);
/* Of a place's owner, without the spaces it may end with. */
void text_command(const ay_place *place, char *text, size_t room);

#endif
