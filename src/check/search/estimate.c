/* SPDX-License-Identifier: MIT */
/* How many states are to come, as far as the layers of a search tell. */
#include "check/search/estimate.h"

/* More than any machine holds is no estimate. */
#define ALL_MOST 1e15

void estimate_add(struct estimate *estimate, uint64_t layer)
{
    for (unsigned at = LAYERS_KEPT - 1; at > 0; at--)
        estimate->layer[at] = estimate->layer[at - 1];
    estimate->layer[0] = (double)layer;
}

static double together(const double *layer)
{
    double sum = 0;
    for (unsigned at = 0; at < LAYERS_TOGETHER; at++)
        sum += layer[at];
    return sum;
}

double estimate_to_come(const struct estimate *estimate)
{
    const double *layer = estimate->layer, newest = together(layer),
                 before = together(layer + LAYERS_TOGETHER),
                 first = together(layer + 2 * LAYERS_TOGETHER);
    if (layer[LAYERS_KEPT - 1] <= 0)
        return -1;
    double growth = newest / before, next = newest, all = 0;
    const double falls = growth / (before / first);
    if (falls >= 1)
        return -1;
    while (next >= 1) {
        growth *= falls;
        next *= growth;
        all += next;
        if (all > ALL_MOST)
            return -1;
    }
    return all;
}
