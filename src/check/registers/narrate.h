/* SPDX-License-Identifier: MIT */
/* A move of a register protocol, made and told in words. */
#ifndef AFTERYOU_CHECK_REGISTERS_NARRATE_H
#define AFTERYOU_CHECK_REGISTERS_NARRATE_H

#include "check/registers/register_model.h"

void register_model_narrate(const struct system *system, unsigned char *state, struct move move,
                            char *line, size_t room);

#endif
