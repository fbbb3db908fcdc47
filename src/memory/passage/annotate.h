/* SPDX-License-Identifier: MIT */
/* Tells ThreadSanitizer what it cannot see: that leaving a region happens before the next one
 * enters it. The order is made through two mappings of one file, which it takes for different
 * memory. Nothing in other builds. */
#ifndef AFTERYOU_MEMORY_PASSAGE_ANNOTATE_H
#define AFTERYOU_MEMORY_PASSAGE_ANNOTATE_H

#include "memory/memory.h"

#if defined(__SANITIZE_THREAD__)
#define ANNOTATES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ANNOTATES 1
#endif
#endif

#ifdef ANNOTATES
void __tsan_acquire(void *address);
void __tsan_release(void *address);

/* One address a resource, as far as the hashes differ, for whoever enters or leaves by whatever
 * way: in long_way.c. */
extern char ay__annotated[1024];

static inline void *annotated(const struct name *name)
{
    return &ay__annotated[ay__name_hash(name) % sizeof ay__annotated];
}

static inline void annotate_enter(const struct public_spec *spec)
{
    for (unsigned at = 0; at < spec->names; at++)
        __tsan_acquire(annotated(&spec->name[at]));
}

static inline void annotate_leave(const struct public_spec *spec)
{
    for (unsigned at = 0; at < spec->names; at++)
        __tsan_release(annotated(&spec->name[at]));
}
#else
static inline void annotate_enter(const struct public_spec *spec)
{
    (void)spec;
}

static inline void annotate_leave(const struct public_spec *spec)
{
    (void)spec;
}
#endif

#endif
