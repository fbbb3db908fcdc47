/* SPDX-License-Identifier: MIT */
/* The agent's lines of log, in words. */
#ifndef AFTERYOU_AGENT_HOST_WORDING_H
#define AFTERYOU_AGENT_HOST_WORDING_H

#include "agent/core/agent.h"

enum log_level { LOG_DEBUGGING, LOG_INFORMATION, LOG_WARNING };

enum { WORDING_ROOM = 512, NAME_ROOM = 2 * PERMISSION_NAME_MOST + 1 };

struct wording {
    enum log_level level;
    const char *event;
    char details[WORDING_ROOM]; /* key=value … */
};

/* Of DO_SAY. */
enum log_level wording_level(const struct agent_effect *effect);
void wording_of(const struct agent *agent, const struct agent_effect *effect,
                struct wording *wording);
/* For the log: no quote, no control. */
void wording_name(const struct resource *resource, char text[NAME_ROOM]);

#endif
