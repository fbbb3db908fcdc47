/* SPDX-License-Identifier: MIT */
/* What an agent finds of one that ran before it on this machine. */
#ifndef AFTERYOU_AGENT_HOST_INHERITANCE_H
#define AFTERYOU_AGENT_HOST_INHERITANCE_H

#include "agent/core/agent.h"
#include "agent/host/directory.h"
#include "agent/host/pages.h"

/* Before it is connected. */
void inherit(struct agent *agent, struct pages *pages, const struct directory *directory,
             int64_t now);

#endif
