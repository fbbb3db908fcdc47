/* SPDX-License-Identifier: MIT */
/* Orders between accesses to shared memory that no single access of C11 gives. */
#ifndef AFTERYOU_MEMORY_ORDER_H
#define AFTERYOU_MEMORY_ORDER_H

#include <stdatomic.h>

/* What WRITE stands for (protocols/language/registers.h): a store in release order, and a fence. In
 * C11 a seq_cst store alone is less: it comes before those loads behind it that are seq_cst, and
 * says nothing of the thread's earlier stores in release order. On x86 it is a locked exchange, and
 * so a fence as well: there the compiler alone is told. */
#if defined(__x86_64__)
#define ay__store_and_fence(to, value)                                                             \
    do {                                                                                           \
        atomic_store(to, value);                                                                   \
        atomic_signal_fence(memory_order_seq_cst);                                                 \
    } while (0)
#else
#define ay__store_and_fence(to, value)                                                             \
    do {                                                                                           \
        atomic_store_explicit(to, value, memory_order_release);                                    \
        atomic_thread_fence(memory_order_seq_cst);                                                 \
    } while (0)
#endif

#endif
