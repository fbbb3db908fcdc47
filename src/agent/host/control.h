/* SPDX-License-Identifier: MIT */
/* What the agent answers to people and programs: who is inside on all machines, and metrics. */
#ifndef AFTERYOU_AGENT_HOST_CONTROL_H
#define AFTERYOU_AGENT_HOST_CONTROL_H

#include <poll.h>

#include "agent/host/steps.h"

enum { CONTROL_FDS_MOST = 2 + 32 };

struct control;

/* NULL: `trouble` says why. */
struct control *control_open(struct service *service, char *trouble, size_t room);
unsigned control_fds(const struct control *control, struct pollfd *fds);
void control_dispatch(struct control *control, const struct pollfd *fds, unsigned count);
/* Ends questions that were not answered by all; the time (CLOCK_BOOTTIME) at which it wants to be
 * called again. */
int64_t control_tick(struct control *control);

/* Who is inside and who waits on this machine: one line each. Returns its length. */
size_t control_describe(struct control *control, char *text, size_t room);
/* What a machine answered to ON_QUERY. */
void control_answered(struct control *control, uint64_t query, uint32_t node, const char *text,
                      size_t length);

#endif
