/* SPDX-License-Identifier: MIT */
/* How the states and moves of a register protocol are judged. */
#ifndef AFTERYOU_CHECK_REGISTERS_REGISTER_JUDGE_H
#define AFTERYOU_CHECK_REGISTERS_REGISTER_JUDGE_H

#include "check/registers/register_model.h"

/* Those of struct system. */
const char *register_judge(const struct system *system, const unsigned char *state);
bool register_conflict(const struct system *system, const unsigned char *state, unsigned i,
                       unsigned j);
bool register_permitted(const struct system *system, const unsigned char *state, unsigned who);
bool register_legitimate(const struct system *system, const unsigned char *state);

bool register_able(const struct system *system, const unsigned char *state, unsigned process);
bool register_precedes(const struct system *system, const unsigned char *state, unsigned i,
                       unsigned j);
bool register_rests(const struct system *system, const unsigned char *state, unsigned process);

/* At the move that enters: NULL, or what is wrong. */
const char *register_entry(const struct register_model *model, const unsigned char *state,
                           unsigned who);
const char *register_fence(const struct register_model *model, struct registers *at);
/* Where a process is. */
enum status register_status(const struct system *system, const unsigned char *state, unsigned who);

#endif
