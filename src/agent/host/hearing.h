/* SPDX-License-Identifier: MIT */
/* What the agent hears of its own machine: what processes ask for, and what has been taken back. */
#ifndef AFTERYOU_AGENT_HOST_HEARING_H
#define AFTERYOU_AGENT_HOST_HEARING_H

#include "agent/host/local.h"
#include "agent/host/steps.h"

/* What processes have said by now, or much of it. */
void hearing_demands(struct service *service);
void hearing_taken_back(struct service *service, const struct local_news *news);
/* Of takings back. What is taken back is gone from the page already, and the agent knows nothing of
 * that before: so it hears of it before anything else happens, in whatever turn of the loop. */
void hearing_news(struct service *service);

#endif
