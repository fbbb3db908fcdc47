/* SPDX-License-Identifier: MIT */
/* Table I of the authors' response (CACM 26(2), 1983), measured again: messages and delays to
 * invoke exclusion. */
#ifndef AFTERYOU_SIMULATE_TABLE_H
#define AFTERYOU_SIMULATE_TABLE_H

#include <stdio.h>

#include "protocols/messages/messages.h"

enum { TABLE_NOTES = 4 };

struct table_row {
    uint64_t fewest, greatest; /* messages on behalf of one passage */
    bool only_those;           /* no passage had a number between the two */
    double delay[TABLE_NOTES]; /* the table's notes 1 to 4, in round trips */
    double longest_handover;   /* the greatest that the average of note 1 is made of */
};

/* Measures a protocol with that many nodes (2 or more): 0, or -ENOMEM; -EPROTO if the run itself
 * broke a property. */
int table_measure(const struct message_protocol *protocol, uint32_t nodes, struct table_row *row);
/* Writes the run of note 4 with the longest chain of requests. The same errors, and those of
 * writing. */
int table_trace(const struct message_protocol *protocol, uint32_t nodes, FILE *trace);

/* What the paper prints for the protocol's note (1 to 4), or for its messages (0): text, and a
 * number where it is one.
 */
const char *table_printed(const struct message_protocol *protocol, unsigned note);
/* The printed figure with that many nodes, or a negative number where the paper has none (or says
 * "at least"). */
double table_printed_figure(const struct message_protocol *protocol, unsigned note, uint32_t nodes);
/* Why ours differs from the paper's, or NULL. */
const char *table_difference(const struct message_protocol *protocol, unsigned note);

#endif
