/* SPDX-License-Identifier: MIT */
/* One state of the message model, unpacked for work; messages_pack.c makes flat bytes of it and
 * back. */
#ifndef AFTERYOU_CHECK_MESSAGES_MESSAGES_STATE_H
#define AFTERYOU_CHECK_MESSAGES_MESSAGES_STATE_H

#include "check/messages/messages_model.h"
#include "check/messages/units.h"
#include "check/search/run.h"

/* What is on its way: a message, or the notice of a change of the group. */
struct packet {
    uint8_t event;       /* enum event_kind */
    uint8_t mask;        /* who has yet to receive it */
    uint8_t knows;       /* whose present request happened before this was sent */
    uint8_t tally;       /* RELEASE: the messages of the passage it ends */
    uint8_t incarnation; /* over a link: the change with which its sender joined */
    /* EVENT_DIED: 0; or one above the changes that were installed by one that went by itself, and
     * said what it knew of deaths */
    uint8_t farewell;
    struct message message; /* notice: `whom` is who died or joined, `view` the change */
    uint64_t body[3 * MODEL_NODES_MOST + 1];
};

/* Where the user of a node is that wants units. */
enum units_stage {
    STAGE_NONE,
    STAGE_LOOKS,   /* has its turn, and is to look */
    STAGE_WATCHES, /* has looked, found too few, and is to WATCH: a rule is left out */
    STAGE_WAITS,   /* has its turn, and waits until it is to look again */
    STAGE_TOOK,    /* is inside, and has them */
    STAGE_ASIDE,   /* waits without its turn: a rule is left out, and */
    STAGE_ASKS     /* is to ask for it again */
};

struct model_node {
    uint8_t up, requests_left;
    uint8_t knows; /* whose present request is in this node's causal past */
    uint8_t after; /* whose request, not yet served, happened before this node's own */
    uint8_t tally; /* messages on behalf of its passage */
    /* the death of which its user is to be told: set when it enters, cleared when it has been */
    uint64_t tells;
    uint8_t stage; /* enum units_stage */
    uint64_t words[MODEL_WORDS_MOST];
    uint64_t units[MODEL_UNITS_WORDS];
};

struct model_state {
    uint8_t crashes_left, joinings_left, view, packets, deaths_left;
    uint8_t owed; /* the modes of those who died inside, and nobody alone has been told; a set */
    uint64_t highest_told; /* of those of which somebody alone was told */
    uint64_t highest_fence[MODES];
    struct model_node node[MODEL_NODES_MOST];
    struct packet packet[MODEL_PACKETS_MOST];
};

static inline struct node *model_head(struct model_node *node)
{
    return (struct node *)node->words;
}

/* Of carvalho-roucairol with ranks: that of its request. */
static inline uint64_t model_rank(const struct model_node *node)
{
    return ((const struct node *)node->words)->own[3];
}

/* What one move does, and what it says. */
struct doing {
    struct messages_model *model;
    struct model_state *state;
    const char *complaint;
    bool full; /* more messages are on their way than there is room for */
    bool entered;
    bool keeps; /* who makes the step was inside while it waited for a stronger mode */
    char *line; /* NULL: nobody listens */
    size_t room;
};

/* How one is lost: a node dies, the group goes on without it, it goes by itself; or its user dies
 * inside; or another node takes its place, and answers for the units that its users hold. */
enum loss { LOSS_DEATH, LOSS_CUT, LOSS_FAREWELL, LOSS_OF_USER, LOSS_SUCCESSION };

void messages_make(struct doing *doing, struct move move);
/* Tells every founder that all have begun. */
void messages_begun(struct messages_model *model, struct model_state *state);
void messages_begin_node(const struct messages_model *model, struct model_state *state,
                         unsigned process);

/* messages_links.c: what a link does. */
/* Whether the node is still the incarnation that a message of this view is meant for. */
bool links_reach(const struct messages_model *model, const struct model_state *state, unsigned to,
                 uint64_t view);
/* Puts a message on the link to one node. */
void links_send(struct doing *doing, unsigned from, unsigned to, const struct effect *effect);
/* Whether packet i may be the next that the process receives or installs. */
bool links_may_arrive(const struct messages_model *model, const struct model_state *state,
                      unsigned process, unsigned i);
/* A message that came where its sender's joining is not known yet, and was not held: it is lost. */
bool links_lose(const struct messages_model *model, const struct model_state *state,
                unsigned process, const struct packet *packet);
/* The process has installed a burial: the link is closed, and what is unread on it thrown away. */
void links_close(struct doing *doing, unsigned process, const struct packet *burial);
/* The process is gone, and with it what is on its way to it, whatever the network. */
void links_forget_receiver(struct doing *doing, unsigned process);

/* messages_deaths.c: deaths inside, and who is told of them. */
void deaths_note(struct doing *doing, unsigned process); /* whoever is inside there dies */
void deaths_forget(struct doing *doing);                 /* if nobody is up any more */
void deaths_told(struct doing *doing, unsigned process); /* whoever is inside there */
/* The process was let in, and is to be told of this death; 0: of none. NULL, or what is wrong. */
const char *deaths_judge_entry(struct doing *doing, unsigned process, uint64_t died);
/* The process is to hear of a loss, and knows that nobody was inside there: the lost one said so,
 * or had not got back the permission that is here. */
bool deaths_know_outside(struct doing *doing, unsigned process, const struct packet *notice);
/* Of such a loss it has heard: it must not count as a death. */
void deaths_judge_loss(struct doing *doing, unsigned process, const struct packet *notice);

/* messages_units.c: what users do with units. */
uint64_t units_held(const struct messages_model *model, struct model_node *node);
bool units_wait(const struct model_node *node); /* its user, for units */
bool units_go(const struct model_node *node);   /* its user has a step to make */
void units_go_on(struct doing *doing, unsigned process);
bool units_may_give_up(const struct model_node *node);
void units_give_up(struct doing *doing, unsigned process);
void units_free(struct doing *doing, unsigned process, unsigned unit);
void units_entered(struct doing *doing, unsigned process);
/* One change: a node is gone, and another in its place answers for its users' units. */
void units_succeed(struct doing *doing, unsigned process, const struct packet *joining);
void units_changed(struct doing *doing, unsigned process); /* EFFECT_CHANGED */
/* NULL, or what is wrong. */
const char *units_judge(const struct messages_model *model, struct model_state *state);

/* A step of a node's protocol, with all that follows from it; and what is said of it. */
void messages_step(struct doing *doing, unsigned process, const struct event *event);
#define messages_say(doing, ...) run_line_add((doing)->line, (doing)->room, __VA_ARGS__)

/* messages_tally.c: how many messages a passage takes. One was sent from one node to another, or,
 * where it is multicast in the agreed order, on behalf of another; and a passage took so many. */
void messages_count(struct doing *doing, unsigned from, unsigned to, const struct effect *effect);
void messages_passage_took(struct messages_model *model, unsigned messages);

/* Rooms and packets, for those that move. */
struct packet *messages_packet_add(struct doing *doing);
void messages_packet_remove(struct doing *doing, unsigned i);

/* Requests without bound: the same state, with its numbers brought down. */
void messages_shift(const struct messages_model *model, struct model_state *state);

/* What Garg's proof of Lamport's algorithm says: NULL, or what does not hold. In a state; right
 * after a node has requested; and where a node has just entered. */
const char *garg_judge_state(const struct messages_model *model, struct model_state *state);
const char *garg_judge_request(const struct messages_model *model, struct model_state *state,
                               unsigned process);
const char *garg_judge_entry(const struct messages_model *model, struct model_state *state,
                             unsigned process);

/* messages_permissions.c: NULL, or what is wrong. */
const char *permissions_judge(const struct messages_model *model, struct model_state *state);

/* messages_token.c: NULL, or where members that have seen the same disagree. */
const char *token_judge_state(const struct messages_model *model, struct model_state *state);

/* messages_goals.c: what must be reached, for struct system. */
uint64_t messages_goals(const struct messages_model *model);
uint64_t messages_reach(const struct system *system, const unsigned char *bytes);
void messages_name_goal(const struct system *system, unsigned goal, char *text, size_t room);

/* A rule of what is searched is left out. */
static inline bool messages_lack(const struct messages_model *model, uint64_t rule)
{
    return (model->options.variant->without & rule) != 0;
}

/* Nodes may come and go: every change reaches all in one order. */
static inline bool messages_changes(const struct messages_model *model)
{
    return model->options.channels == CHANNELS_AGREED || model->options.links;
}

static inline bool messages_judges(const struct messages_model *model,
                                   enum messages_property property)
{
    return model->options.judged >> property & 1;
}

/* Whose requests are known by this message to whoever gets it: by causality all that its sender
 * knows of, by received-order and precedence the one that it makes. */
static inline uint8_t messages_known(const struct doing *doing, unsigned from,
                                     const struct message *message)
{
    if (!messages_judges(doing->model, MESSAGES_RECEIVED_ORDER) &&
        !messages_judges(doing->model, MESSAGES_PRECEDENCE))
        return doing->state->node[from].knows;
    const bool is_request = message->kind == MESSAGE_REQUEST || message->kind == MESSAGE_URGE;
    return (uint8_t)((unsigned)is_request << from);
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
