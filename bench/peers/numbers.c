/* SPDX-License-Identifier: MIT */
/* Order statistics of small samples. */
#include "numbers.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double quantile(double *values, size_t count, double q)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare);
    return values[(size_t)(q * (double)(count - 1) + .5)];
}
