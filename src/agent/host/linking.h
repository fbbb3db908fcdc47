/* SPDX-License-Identifier: MIT */
/* Links of the agent: what it decides about them is done, what happens on them is told to it. */
#ifndef AFTERYOU_AGENT_HOST_LINKING_H
#define AFTERYOU_AGENT_HOST_LINKING_H

#include "agent/host/links.h"
#include "agent/host/steps.h"

/* False: `trouble` says why. Without links by its options, service->links stays NULL. */
bool linking_open(struct service *service, char *trouble, size_t room);
/* Before ON_CONNECTED: the group will be told where this agent can be reached. */
void linking_announce(struct service *service);
/* DO_PEER, DO_FORGET_PEER, DO_SEND_TO. */
void linking_do(struct service *service, const struct agent_effect *effect);
/* For status: whether they are secured, and a line for each peer, as control.c tells. */
size_t linking_describe(const struct service *service, char *text, size_t room);

#endif
