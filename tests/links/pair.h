/* SPDX-License-Identifier: MIT */
/* Two ends that mean well, and are linked: what most tests begin with. */
#ifndef AFTERYOU_TESTS_LINKS_PAIR_H
#define AFTERYOU_TESTS_LINKS_PAIR_H

#include "ends.h"

static struct end a, b;

static inline void open_both(const struct links_options *options)
{
    end_open_as(&a, "a", 1, 100, options);
    end_open_as(&b, "b", 2, 200, options);
}

static inline void close_both(void)
{
    end_close(&a);
    end_close(&b);
}

static inline const struct links_options *secured(void)
{
    static struct links_options options = {.cluster = "c", .listen = "127.0.0.1"};
    options.key_file = key_path;
    return &options;
}

static inline void link_both(const struct links_options *options)
{
    open_both(options);
    introduce(&a, &b);
    UNTIL(a.ups == 1 && b.ups == 1);
}

#endif
