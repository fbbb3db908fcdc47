/* SPDX-License-Identifier: MIT */
/* What an agent finds of one that ran before it on this machine. */
#ifndef AFTERYOU_AGENT_HOST_INHERITANCE_H
#define AFTERYOU_AGENT_HOST_INHERITANCE_H

#include "agent/host/steps.h"

/* Until then processes of this machine may be inside by pages that are not there: a grace from when
 * these were made. */
int64_t inheritance_obliges(struct service *service, int64_t grace);
/* Tells the agent all that the pages and the space say. */
void inherit(struct service *service);

#endif
