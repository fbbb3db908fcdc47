/* SPDX-License-Identifier: MIT */
/* Assertions that stay on in release builds: what must hold whatever a caller, another process or a
 * file does. A failure is a mistake of ours, and to go on would let two in: the process says which
 * invariant broke, and aborts.
 *
 * Only what this process alone writes is asserted. What comes from a file, a socket or memory that
 * others may write is input: it gets an error, or counts as nobody's. */
#ifndef AFTERYOU_COMMON_ASSERT_H
#define AFTERYOU_COMMON_ASSERT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One write, so that the lines of several threads do not mix. */
__attribute__((cold, noinline, __noreturn__, unused)) static void
assert_failed(const char *file, int line, const char *what, const char *condition)
{
    char text[512];
    const int length =
        snprintf(text, sizeof text, "afteryou: %s:%d: %s does not hold: %s. Please report this\n",
                 file, line, what, condition);
    (void)!write(STDERR_FILENO, text,
                 (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    abort();
}

/* A numbered invariant, by the name under which it is stated: assert_invariant(L2, place < used).
 */
#define assert_invariant(name, condition)                                                          \
    (__builtin_expect(!!(condition), 1)                                                            \
         ? (void)0                                                                                 \
         : assert_failed(__FILE__, __LINE__, "invariant " #name, #condition))

/* What a function's caller must see to. */
#define assert_required(condition)                                                                 \
    (__builtin_expect(!!(condition), 1)                                                            \
         ? (void)0                                                                                 \
         : assert_failed(__FILE__, __LINE__, "a precondition", #condition))

#endif
