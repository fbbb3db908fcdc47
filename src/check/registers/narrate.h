/* SPDX-License-Identifier: MIT */
/* A move of a register protocol, made and told in words. */
#ifndef AFTERYOU_CHECK_REGISTERS_NARRATE_H
#define AFTERYOU_CHECK_REGISTERS_NARRATE_H

#include "check/registers/register_model.h"

/* A register's name, and a value of it, as people write them. */
void register_model_name(const struct register_model *model, unsigned place, unsigned index,
                         char *text, size_t room);
void register_model_value(const struct register_model *model, unsigned index, word value,
                          char *text, size_t room);

void register_model_narrate(const struct system *system, unsigned char *state, struct move move,
                            char *line, size_t room);

#endif
