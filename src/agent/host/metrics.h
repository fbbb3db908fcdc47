/* SPDX-License-Identifier: MIT */
/* The agent's numbers, as Prometheus reads them. */
#ifndef AFTERYOU_AGENT_HOST_METRICS_H
#define AFTERYOU_AGENT_HOST_METRICS_H

#include "agent/core/agent.h"
#include "agent/host/links.h"

/* Text of the exposition format: its length; what does not fit is left out. Without links, NULL. */
size_t metrics_write(const struct agent *agent, const struct links *links, const char *cluster,
                     char *room, size_t size);

#endif
