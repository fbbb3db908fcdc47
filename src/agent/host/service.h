/* SPDX-License-Identifier: MIT */
/* `afteryou agent`: the whole of it, in the foreground. */
#ifndef AFTERYOU_AGENT_HOST_SERVICE_H
#define AFTERYOU_AGENT_HOST_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct service_options {
    const char *cluster;
    const char *protocol; /* NULL: the default */
    double lease, grace;  /* seconds */
    unsigned mode;        /* of the space */
    gid_t group;          /* (gid_t)-1: as it comes */
    const char *metrics;  /* a path, or 127.0.0.1:PORT; NULL: beside the space */
    const char *state;    /* the directory of the file with the last view */
    const char *listen;   /* numeric address for links of other agents; NULL: the ring's */
    uint32_t port;        /* there */
    const char *key;      /* a file: who has it may be linked */
    bool plain_links;     /* neither authenticated nor encrypted: the key is not used */
    bool no_links;        /* all messages go by the ring */
    bool verbose;
};

/* Runs until it is told to end (0), or cannot go on (125, after a line on stderr). */
int service_run(const struct service_options *options);
/* NULL, or what is wrong with a name of a cluster, a protocol, or times that do not fit together.
 */
const char *service_options_trouble(const struct service_options *options);

#endif
