/* SPDX-License-Identifier: MIT */
/* Memory that a search grows in, from the machine. */
#include "check/search/pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 1 << 21 };

/* Look-ups are random, so most of their time is the machine's translation of addresses: what is
 * large lies where huge pages can hold it. A kernel that has none costs nothing. */
void *pages_fresh(size_t bytes)
{
    const size_t slack = bytes < HUGE_PAGE ? 0 : HUGE_PAGE;
    unsigned char *fresh =
        mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    if (slack) {
        const size_t before = -(uintptr_t)fresh & (HUGE_PAGE - 1);
        if (before)
            munmap(fresh, before);
        fresh += before;
        if (slack - before)
            munmap(fresh + bytes, slack - before);
    }
    madvise(fresh, bytes, MADV_HUGEPAGE);
    return fresh;
}

/* Moves the pages, not what is in them. */
void *pages_longer(void *old, size_t old_bytes, size_t bytes)
{
    void *const fresh = pages_fresh(bytes);
    if (!fresh)
        return NULL;
    if (mremap(old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, fresh) == MAP_FAILED) {
        munmap(fresh, bytes);
        return NULL;
    }
    madvise(fresh, bytes, MADV_HUGEPAGE);
    return fresh;
}

void pages_release(void *pages, size_t bytes)
{
    munmap(pages, bytes);
}
