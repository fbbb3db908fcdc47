/* SPDX-License-Identifier: MIT */
/* What a passage costs whose way is free, in nanoseconds: one figure a line, the mean of a batch.
 *
 *   bench-passages space|redis|etcd WHERE COUNT BATCHES
 */
#include <stdio.h>
#include <stdlib.h>

#include "locks.h"

static bool pass(const struct lock_kind *kind, long passages)
{
    for (long at = 0; at < passages; at++)
        if (!kind->enter() || !kind->leave())
            return false;
    return true;
}

int main(int count, char **words)
{
    const struct lock_kind *kind = count == 5 ? lock_kind(words[1]) : NULL;
    const long passages = kind ? strtol(words[3], NULL, 10) : 0,
               batches = kind ? strtol(words[4], NULL, 10) : 0;
    if (passages < 1 || batches < 1) {
        fprintf(stderr, "usage: bench-passages space|redis|etcd WHERE COUNT BATCHES\n");
        return 125;
    }
    bool good = kind->open(words[2]);
    /* the first warms up, and gets the permission */
    for (long batch = -1; good && batch < batches; batch++) {
        const int64_t start = now_ns();
        good = pass(kind, passages);
        if (good && batch >= 0)
            printf("%.2f\n", (double)(now_ns() - start) / (double)passages);
    }
    if (!good)
        fprintf(stderr, "bench-passages: %s: %s\n", words[1], kind->message());
    return good ? 0 : 1;
}
