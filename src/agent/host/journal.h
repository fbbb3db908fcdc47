/* SPDX-License-Identifier: MIT */
/* What the agent tells the machine it runs on: lines of log, systemd, and a file with the last
 * view. */
#ifndef AFTERYOU_AGENT_HOST_JOURNAL_H
#define AFTERYOU_AGENT_HOST_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/host/wording.h"

/* One line on stderr: time=… level=… cluster=… event=… and the details, which are key=value
 * already. */
void journal_write(const char *cluster, enum log_level level, const char *event,
                   const char *details);

/* To $NOTIFY_SOCKET, if there is one: "READY=1", "STATUS=…". */
void journal_notify(const char *message);

/* The greatest view that may have been used, kept in a file so that fences grow across a restart of
 * all agents. Views are reserved in advance, so the file is written rarely. */
enum { VIEWS_IN_ADVANCE = 256 };

struct view_file {
    char path[4096];
    uint64_t reserved;
    bool failed; /* said so once */
};

/* Reads it; a file that is not there is 0. False: what is there makes no sense, or the path is too
 * long; `trouble` says. */
bool view_file_open(struct view_file *file, const char *directory, const char *cluster,
                    char *trouble, size_t room);
/* Returns once a view as great as this is on the disk. False: it could not be written. */
bool view_file_keep(struct view_file *file, uint64_t view);

#endif
