/* SPDX-License-Identifier: MIT */
/* Locks of others, each on one persistent connection: what the bench of the cluster sets beside
 * ours. */
#ifndef AFTERYOU_BENCH_PEERS_H
#define AFTERYOU_BENCH_PEERS_H

#include <stdbool.h>

/* A lock of a Redis server: SET NX PX, and a script that deletes the key if the value is ours. */
struct redis_lock {
    int connection;
    char script[48]; /* the server's digest of the script */
};

bool redis_open(struct redis_lock *lock, const char *socket_path);
bool redis_enter(struct redis_lock *lock); /* false if it is held, or on an error */
bool redis_leave(struct redis_lock *lock);

/* A lock of an etcd server by its v3 lock service, which is what `etcdctl lock` calls, under one
 * lease. */
struct etcd_lock {
    int connection;
    char lease[32], key[128]; /* the key of the present ownership */
};

bool etcd_open(struct etcd_lock *lock, unsigned port);
bool etcd_enter(struct etcd_lock *lock); /* waits */
bool etcd_leave(struct etcd_lock *lock);

#endif
