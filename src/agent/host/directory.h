/* SPDX-License-Identifier: MIT */
/* The cluster's directory on this machine, by its descriptor: what is made in it, and by whom. */
#ifndef AFTERYOU_AGENT_HOST_DIRECTORY_H
#define AFTERYOU_AGENT_HOST_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct directory {
    int fd;
    /* of the space: whoever may use it may look into the directory, read the pages, use the sockets
     */
    unsigned mode;
    gid_t group; /* (gid_t)-1: as it comes */
    char path[PATH_MAX];
};

/* Makes it, or takes over a predecessor's. 0, or a negative errno, and `trouble` says what is
 * wrong: one that another user made, or could change, is refused. */
int directory_open(struct directory *directory, const char *cluster, unsigned mode, gid_t group,
                   char *trouble, size_t room);
void directory_close(struct directory *directory);

/* A file in it, of this user's alone, with this mode and the directory's group: a descriptor, or a
 * negative errno. */
int directory_file(const struct directory *directory, const char *name, int flags, mode_t mode,
                   char *trouble, size_t room);
/* A socket in it, in place of a predecessor's: a descriptor, or -1. */
int directory_socket(const struct directory *directory, const char *name, int type, char *trouble,
                     size_t room);
/* The same at a path elsewhere, which nobody else can change. */
int directory_socket_at(const struct directory *like, const char *path, int type, char *trouble,
                        size_t room);

#endif
