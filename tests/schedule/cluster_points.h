/* SPDX-License-Identifier: MIT */
/* Put before every source of `schedules-cluster`: in those that read or write the pages of a
 * cluster's agent, each access is a point. */
#ifndef AFTERYOU_TESTS_SCHEDULE_CLUSTER_POINTS_H
#define AFTERYOU_TESTS_SCHEDULE_CLUSTER_POINTS_H

#include <stdatomic.h>
#include <string.h>

void ay__access_point(const char *file);

static inline void cluster_point(const char *file)
{
    if (strstr(file, "/remote/") || strstr(file, "/pages.c") || strstr(file, "/permissions.h"))
        ay__access_point(file);
}

#undef atomic_load
#define atomic_load(object)                                                                        \
    (cluster_point(__FILE__), atomic_load_explicit(object, memory_order_seq_cst))
#undef atomic_store
#define atomic_store(object, value)                                                                \
    (cluster_point(__FILE__), atomic_store_explicit(object, value, memory_order_seq_cst))
#undef atomic_fetch_add
#define atomic_fetch_add(object, value)                                                            \
    (cluster_point(__FILE__), atomic_fetch_add_explicit(object, value, memory_order_seq_cst))

#endif
