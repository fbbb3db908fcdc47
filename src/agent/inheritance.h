/* SPDX-License-Identifier: MIT */
/* What an agent finds of one that ran before it on this machine. */
#ifndef AFTERYOU_AGENT_INHERITANCE_H
#define AFTERYOU_AGENT_INHERITANCE_H

#include "agent/agent.h"
#include "agent/directory.h"
#include "agent/pages.h"

/* Before it is connected. */
void inherit(struct agent *agent, struct pages *pages, const struct directory *directory, int64_t now);

#endif
