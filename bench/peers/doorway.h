/* SPDX-License-Identifier: MIT */
/* Whether a member has passed the doorway of `courtesy`, seen from outside: the one thing that the
 * bench reads below the public header. */
#ifndef BENCH_PEERS_DOORWAY_H
#define BENCH_PEERS_DOORWAY_H

#include "peer.h"

/* makes it known to the others which place this member has; 0 or a negative errno */
int doorway_show(struct member *member);
/* in the queue, and not inside yet */
bool doorway_passed(const struct member *self, unsigned other);

#endif
