/* SPDX-License-Identifier: MIT */
/* A link as a system to search: its two ends, the connections between them with all that can befall
 * these, and the ledger. */
#ifndef AFTERYOU_CHECK_MESSAGES_LINK_MODEL_H
#define AFTERYOU_CHECK_MESSAGES_LINK_MODEL_H

#include "check/search/system.h"
#include "protocols/messages/link.h"

struct link_variant {
    const char *name;
    uint64_t without;     /* enum link_without */
    const char *left_out; /* what is left out, or NULL */
};

/* NULL if there is none of that name; the i-th, NULL after the last. */
const struct link_variant *link_variant_find(const char *name);
const struct link_variant *link_variant_at(unsigned i);

struct link_options {
    const struct link_variant *variant;
    unsigned messages;    /* that each end says */
    unsigned connections; /* that are made, in all */
};

enum { LINK_MESSAGES_MOST = 3, LINK_CONNECTIONS_MOST = 6 };

/* Filled in by link_model_open; the system points into it. */
struct link_model {
    struct link_options options;
    struct system system;
};

void link_model_open(struct link_model *model, const struct link_options *options);

#endif
