/* SPDX-License-Identifier: MIT */
/* Memory that a search grows in, from the heap: for WebAssembly, which has no mmap. */
#include "check/search/pages.h"

#include <stdlib.h>
#include <string.h>

void *pages_fresh(size_t bytes)
{
    return calloc(1, bytes);
}

void *pages_longer(void *old, size_t old_bytes, size_t bytes)
{
    unsigned char *const longer = realloc(old, bytes);
    if (longer)
        memset(longer + old_bytes, 0, bytes - old_bytes);
    return longer;
}

void pages_release(void *pages, size_t bytes)
{
    (void)bytes;
    free(pages);
}
