/* SPDX-License-Identifier: MIT */
/* Memory that a search grows in: pages.c has it from the machine, and moves pages instead of
 * copying them; pages_heap.c, where there is no mmap, from the heap. */
#ifndef AFTERYOU_CHECK_SEARCH_PAGES_H
#define AFTERYOU_CHECK_SEARCH_PAGES_H

#include <stddef.h>

/* All zeros. NULL if there is no more. */
void *pages_fresh(size_t bytes);
/* What was there stays, at another address; the rest is zeros. NULL, and nothing changed, if there
 * is no more. */
void *pages_longer(void *old, size_t old_bytes, size_t bytes);
void pages_release(void *pages, size_t bytes);

#endif
