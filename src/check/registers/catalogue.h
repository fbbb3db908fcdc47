/* SPDX-License-Identifier: MIT */
/* Every register protocol that the checker knows: the shipped ones, and the broken ones that it
 * must refute. */
#ifndef AFTERYOU_CHECK_REGISTERS_CATALOGUE_H
#define AFTERYOU_CHECK_REGISTERS_CATALOGUE_H

#include "check/registers/register_model.h"

/* NULL-ended, the shipped ones first. */
extern const struct register_protocol *const register_protocols[];

/* NULL if there is none of that name. */
const struct register_protocol *register_protocol_find(const char *name);

#endif
