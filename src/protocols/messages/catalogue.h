/* SPDX-License-Identifier: MIT */
/* The message protocols by name: the four that ship, and the broken variants that every engine must
 * find out.
 */
#ifndef AFTERYOU_PROTOCOLS_MESSAGES_CATALOGUE_H
#define AFTERYOU_PROTOCOLS_MESSAGES_CATALOGUE_H

#include "protocols/messages/messages.h"

struct variant {
    const char *name;
    const struct message_protocol *protocol;
    uint64_t without;     /* enum without; 0: as it ships */
    bool needs_changes;   /* broken only where nodes crash or join */
    const char *left_out; /* what is left out, or NULL */
};

/* One of the four that a cluster offers. */
bool variant_ships(const struct variant *variant);
/* Broken only where messages go over links, beside the changes of the group. */
bool variant_needs_links(const struct variant *variant);
/* Broken only where units are held (check/messages/units.h): over links, too. */
bool variant_needs_units(const struct variant *variant);
/* Broken only where who is inside changes its mode. */
bool variant_needs_conversions(const struct variant *variant);
/* Broken only where requests have ranks. */
bool variant_needs_ranks(const struct variant *variant);
/* NULL if there is none of that name. */
const struct variant *variant_find(const char *name);
/* The i-th, the shipped ones first, those of links last; NULL after the last. */
const struct variant *variant_at(unsigned i);

#endif
