/* SPDX-License-Identifier: MIT */
/* A message protocol as a system to search: a few nodes, what is on its way between them, crashes
 * and joinings. */
#ifndef AFTERYOU_CHECK_MESSAGES_MESSAGES_MODEL_H
#define AFTERYOU_CHECK_MESSAGES_MESSAGES_MODEL_H

#include "check/search/system.h"
#include "protocols/messages/catalogue.h"

enum {
    MODEL_NODES_MOST = 4,
    MODEL_PACKETS_MOST = 28,
    MODEL_WORDS_MOST = 64,
    MODEL_PARTS_MOST = 16
};

enum channels {
    CHANNELS_REORDERED, /* whatever is on its way may arrive next */
    CHANNELS_FIFO,      /* from one node to another, in the order sent */
    /* to everybody in one order, notices of changes too: what crashes and joinings need */
    CHANNELS_AGREED
};

struct messages_options {
    const struct variant *variant;
    unsigned nodes;
    /* of each node: this bounds the numbers, and so the states; 0: no bound (messages_shift.c) */
    unsigned requests;
    enum channels channels;
    unsigned crashes, joinings; /* in all; joining: one that died comes back */
    unsigned modes;             /* a set of enum mode in which nodes ask; 0: exclusive */
};

/* Filled in by messages_model_open; the system points into it. */
struct messages_model {
    struct messages_options options;
    struct system system;
    size_t words, body_most, packet_size, packets_per_part;
    /* What the search saw so far: messages on behalf of one passage. Meaningful without crashes. */
    unsigned fewest, greatest;
};

/* NULL, or what is wrong with the options. */
const char *messages_model_open(struct messages_model *model,
                                const struct messages_options *options);

#endif
