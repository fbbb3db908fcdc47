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
    MODEL_UNITS_WORDS = 16,
    /* a move of the system: a unit is freed, and not a message received */
    MODEL_FREES = 128,
    MODEL_URGENT = 8, /* a choice of a mode: with the greater rank */
    MODEL_UNITS_MOST = 4,
    MODEL_PARTS_MOST = 16
};

enum channels {
    CHANNELS_REORDERED, /* whatever is on its way may arrive next */
    CHANNELS_FIFO,      /* from one node to another, in the order sent */
    /* to everybody in one order, notices of changes too: what crashes and joinings need */
    CHANNELS_AGREED
};

/* What is judged in every state or at every move: identifier, name, meaning. */
/* clang-format off */
#define MESSAGES_PROPERTIES(property)                                                              \
    property(EXCLUSION, "exclusion", "no two whose modes conflict are inside")                     \
    property(FENCE, "fence", "an entry's fence is above that of every earlier conflicting one")    \
    property(FAIRNESS, "fairness", "a request that happened before another is served before it")   \
    property(REQUEST_ORDER, "request-order",                                                       \
             "likewise of the REQUESTs that were in fact sent")                                    \
    property(RECEIVED_ORDER, "received-order",                                                     \
             "who has received another's REQUEST, and then requests, enters after it")             \
    property(PRECEDENCE, "precedence",                                                             \
             "who has heard of a request of greater rank enters after it")                         \
    property(DEADLOCK, "deadlock", "nobody waits with nothing on its way and nobody inside")       \
    property(CUT, "cut", "who is cut off while inside or waiting is told, and is outside")         \
    property(TOLD, "told", "who enters next after a death inside is told so, once")                \
    property(PERMISSIONS, "permissions",                                                           \
             "carvalho-roucairol: what two permit each other does not conflict")                   \
    property(AGREEMENT, "agreement",                                                               \
             "token, if one comes back: who has seen the same knows the same holder")        \
    property(UNITS, "units", "no unit is held by two")                                             \
    property(TURN, "turn", "while one waits for units in its turn nobody takes any")               \
    property(LEMMA_1, "lemma-1", "Garg: nothing on its way from p to r: r knows p's request")      \
    property(LEMMA_2, "lemma-2", "Garg: r heard p after p's request: r knows that request")        \
    property(CLAIM_1, "claim-1", "Garg: at an entry, everybody was heard after the request")       \
    property(CLAIM_2, "claim-2", "Garg: at an entry, every known request is later")                \
    property(FACT_1, "fact-1", "Garg: who requests has received what was requested before")        \
    property(FACTS, "facts", "Garg: the facts 2 to 9 by which a request is served in its turn")
/* clang-format on */

enum messages_property {
#define MESSAGES_IDENTIFIER(identifier, name, meaning) MESSAGES_##identifier,
    MESSAGES_PROPERTIES(MESSAGES_IDENTIFIER)
#undef MESSAGES_IDENTIFIER
        MESSAGES_PROPERTY_COUNT
};

const char *messages_property_name(unsigned property);

struct messages_options {
    const struct variant *variant;
    unsigned nodes;
    /* of each node: this bounds the numbers, and so the states; 0: no bound (messages_shift.c) */
    unsigned requests;
    enum channels channels;
    /* two planes: changes of the group in one order, each installed by each node at its own moment;
     * messages over links, one for each two incarnations (messages_links.c) */
    bool links;
    unsigned crashes, joinings; /* in all; joining: one that died comes back */
    unsigned deaths;            /* of users, inside, in all: with links */
    /* units, held beyond a passage (units.h): how many there are, 0: none; and how many of them
     * node 0 takes, 0: one, as the others. With links */
    unsigned units, take;
    bool converts;   /* who is inside may go on in a weaker or a stronger mode */
    bool ranked;     /* requests have one of two ranks, and who waits may be urged */
    unsigned modes;  /* a set of enum mode in which nodes ask; 0: exclusive */
    unsigned judged; /* a bit for each enum messages_property; 0: what is promised */
};

/* Filled in by messages_model_open; the system points into it. */
struct messages_model {
    struct messages_options options;
    struct variant variant; /* as searched: its protocol may be the one with ranks */
    struct system system;
    size_t words, units_words, body_most, packet_size, packets_per_part;
    /* What the search saw so far: messages on behalf of one passage. Meaningful without crashes. */
    unsigned fewest, greatest;
    bool tells; /* deaths inside are judged */
    bool garg;  /* one of the lemmas, claims and facts is judged */
};

/* What the protocol promises with these options, a bit for each enum messages_property. */
unsigned messages_promised(const struct messages_options *options);

/* NULL, or what is wrong with the options. */
const char *messages_model_open(struct messages_model *model,
                                const struct messages_options *options);

#endif
