/* SPDX-License-Identifier: MIT */
/* One state of the message model, unpacked for work; messages_pack.c makes flat bytes of it and
 * back. */
#ifndef AFTERYOU_CHECK_MESSAGES_MESSAGES_STATE_H
#define AFTERYOU_CHECK_MESSAGES_MESSAGES_STATE_H

#include "check/messages/messages_model.h"

/* What is on its way: a message, or the notice of a change of the group. */
struct packet {
    uint8_t event;          /* enum event_kind */
    uint8_t mask;           /* who has yet to receive it */
    uint8_t knows;          /* whose present request happened before this was sent */
    uint8_t tally;          /* RELEASE: the messages of the passage it ends */
    struct message message; /* notice: `whom` is who died or joined, `view` the change */
    uint64_t body[3 * MODEL_NODES_MOST + 1];
};

struct model_node {
    uint8_t up, requests_left;
    uint8_t knows; /* whose present request is in this node's causal past */
    uint8_t after; /* whose request, not yet served, happened before this node's own */
    uint8_t tally; /* messages on behalf of its passage */
    uint64_t words[MODEL_WORDS_MOST];
};

struct model_state {
    uint8_t crashes_left, joinings_left, view, packets;
    uint64_t highest_fence[MODES];
    struct model_node node[MODEL_NODES_MOST];
    struct packet packet[MODEL_PACKETS_MOST];
};

static inline struct node *model_head(struct model_node *node)
{
    return (struct node *)node->words;
}

/* What one move does, and what it says. */
struct doing {
    struct messages_model *model;
    struct model_state *state;
    const char *complaint;
    bool full; /* more messages are on their way than there is room for */
    bool entered;
    char *line; /* NULL: nobody listens */
    size_t room;
};

void messages_make(struct doing *doing, struct move move);
/* Tells every founder that all have begun. */
void messages_begun(struct messages_model *model, struct model_state *state);
void messages_begin_node(const struct messages_model *model, struct model_state *state,
                         unsigned process);

/* Requests without bound: the same state, with its numbers brought down. */
void messages_shift(const struct messages_model *model, struct model_state *state);

/* What Garg's proof of Lamport's algorithm says: NULL, or what does not hold. In a state; right
 * after a node has requested; and where a node has just entered. */
const char *garg_judge_state(const struct messages_model *model, struct model_state *state);
const char *garg_judge_request(const struct messages_model *model, struct model_state *state,
                               unsigned process);
const char *garg_judge_entry(const struct messages_model *model, struct model_state *state,
                             unsigned process);

/* messages_goals.c: what must be reached, for struct system. */
uint64_t messages_goals(const struct messages_model *model);
uint64_t messages_reach(const struct system *system, const unsigned char *bytes);
void messages_name_goal(const struct system *system, unsigned goal, char *text, size_t room);

static inline bool messages_judges(const struct messages_model *model,
                                   enum messages_property property)
{
    return model->options.judged >> property & 1;
}

/* The bytes of the parts, for struct system. */
void messages_layout(struct messages_model *model);
void messages_unpack(const struct messages_model *model, const unsigned char *bytes,
                     struct model_state *state);
/* False: a number is too great for its field. Brings what is on its way into an order that does not
 * depend on history.
 */
bool messages_pack(const struct messages_model *model, const struct model_state *state,
                   unsigned char *bytes);

#endif
