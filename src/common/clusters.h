/* SPDX-License-Identifier: MIT */
/* Where the files of a cluster lie on this machine, and how a cluster may be called. */
#ifndef AFTERYOU_COMMON_CLUSTERS_H
#define AFTERYOU_COMMON_CLUSTERS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/permissions.h"

enum { LINK_PORT = 5447 }; /* where agents listen for each other, unless an option says otherwise */

#define CLUSTERS_DIRECTORY   "/run/afteryou"
#define CLUSTERS_ENVIRONMENT "AFTERYOU_CLUSTERS"
#define CLUSTER_PREFIX       "cluster:"

/* A name that can stand in a path, as a file's name. */
static inline bool cluster_name_is_good(const char *name)
{
    const size_t length = strlen(name);
    return length >= 1 && length <= CLUSTER_NAME_MOST && name[0] != '.' && !strchr(name, '/');
}

static inline const char *clusters_directory(void)
{
    const char *directory = secure_getenv(CLUSTERS_ENVIRONMENT);
    return directory && *directory ? directory : CLUSTERS_DIRECTORY;
}

/* DIRECTORY/NAME/FILE: false if it does not fit. `file` may be "". */
static inline bool cluster_path(const char *name, const char *file, char *path, size_t room)
{
    const int length =
        snprintf(path, room, "%s/%s%s%s", clusters_directory(), name, *file ? "/" : "", file);
    return length > 0 && (size_t)length < room;
}

#endif
