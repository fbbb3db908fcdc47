/* SPDX-License-Identifier: MIT */
/* The owner's side of a retained permission: whether it may, whether it does, and how it ends. The
 * keeper's side, and the rivals', is recall.c. */
#ifndef AFTERYOU_MEMORY_COURTESY_RETENTION_H
#define AFTERYOU_MEMORY_COURTESY_RETENTION_H

#include "memory/passage/state.h"

enum { RETAINED_MOST = 100 }; /* places of a process: the keeper sleeps on them all */

/* When a region is opened, and closed: under the mutex, which the keeper has to recall. */
void ay__retention_open(struct registers *at);
void ay__retention_close(struct registers *at);
void ay__retention_give_back(struct registers *at); /* outside; likewise under the mutex */
/* When it leaves, inside still: whether with its permission, if nobody is about. */
void ay__retention_decide(struct registers *at);
/* Outside: gives the permission back, if it has one, and asks for none this time. */
void ay__retention_end(struct registers *at);

#endif
