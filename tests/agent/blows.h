/* SPDX-License-Identifier: MIT */
/* One storm: agents that die, stop, are cut off and come back, messages that are missed, processes
 * that die inside. Never two inside, fences that grow, whoever enters after a death is told, and in
 * the end everybody gets in. */
#ifndef AFTERYOU_TESTS_AGENT_BLOWS_H
#define AFTERYOU_TESTS_AGENT_BLOWS_H

#include "world.h"

/* NULL, or what was wrong. `without`: enum agent_rule. */
const char *blow(uint64_t seed, const struct message_protocol *protocol, uint64_t without);

#endif
