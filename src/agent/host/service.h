/* SPDX-License-Identifier: MIT */
/* `afteryou agent`: the whole of it, in the foreground. */
#ifndef AFTERYOU_AGENT_HOST_SERVICE_H
#define AFTERYOU_AGENT_HOST_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

struct service_options {
    const char *cluster;
    const char *protocol; /* NULL: the default */
    double lease, grace;  /* seconds */
    unsigned mode;        /* of the space */
    gid_t group;          /* (gid_t)-1: as it comes */
    const char *metrics;  /* a path, or 127.0.0.1:PORT; NULL: beside the space */
    const char *state;    /* the directory of the file with the last view */
    bool verbose;
};

/* Runs until it is told to end (0), or cannot go on (125, after a line on stderr). */
int service_run(const struct service_options *options);
/* NULL, or what is wrong with a name of a cluster, a protocol, or times that do not fit together.
 */
const char *service_options_trouble(const struct service_options *options);

#endif
