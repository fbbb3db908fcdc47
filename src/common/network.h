/* SPDX-License-Identifier: MIT */
/* The network namespace of a socket: names of unix(7) without a file are of one of these. */
#ifndef AFTERYOU_COMMON_NETWORK_H
#define AFTERYOU_COMMON_NETWORK_H

#include <stdint.h>
#include <sys/socket.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* Linux 5.14 */
#endif

/* By a number that no two have; 0, and errno, if the kernel does not tell. */
static inline uint64_t network_of(int fd)
{
    uint64_t network = 0;
    socklen_t length = sizeof network;
    return getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &network, &length) == 0 ? network : 0;
}

#endif
