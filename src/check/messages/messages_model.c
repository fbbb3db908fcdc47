/* SPDX-License-Identifier: MIT */
/* A message protocol as a system to search: a few nodes, what is on its way between them, crashes
 * and joinings.
 *
 * The protocol's own step function is run, byte for byte the one that ships. The model adds what
 * judges it:
 *
 * - the highest fence of each mode: an entry must be above those that conflict;
 * - fairness as Garg states it: (req_start(s) and req_start(t) and s → t) implies next_cs(s) →
 *   next_cs(t). Every node,
 * and every message, carries whose present request lies in its causal past; a node that enters
 * while a request that
 *   happened before its own still waits, and conflicts, is a violation;
 * - the messages sent on behalf of each passage.
 *
 * In agreed order a change of the group enters the order at the moment of the crash or the joining:
 * a node that is dead and one that merely does not move are the same to the others, so every other
 * moment is covered by other runs.
 */
#include "check/messages/messages_model.h"

#include "check/messages/messages_state.h"

enum {
    MESSAGES_TRUE_OF_GARG = 1 << MESSAGES_LEMMA_1 | 1 << MESSAGES_LEMMA_2 | 1 << MESSAGES_CLAIM_1 |
                            1 << MESSAGES_CLAIM_2 | 1 << MESSAGES_FACTS,
    MESSAGES_OF_GARG = MESSAGES_TRUE_OF_GARG | 1 << MESSAGES_FACT_1,
    MESSAGES_OF_ORDER = 1 << MESSAGES_FAIRNESS | 1 << MESSAGES_REQUEST_ORDER |
                        1 << MESSAGES_RECEIVED_ORDER | 1 << MESSAGES_PRECEDENCE
};

const char *messages_property_name(unsigned property)
{
    static const char *const names[] = {
#define MESSAGES_NAME(identifier, name, meaning) name,
        MESSAGES_PROPERTIES(MESSAGES_NAME)
#undef MESSAGES_NAME
    };
    return property < MESSAGES_PROPERTY_COUNT ? names[property] : NULL;
}

/* The proof of Lamport's algorithm is about a group that does not change. Of what is broken, the
 * end is judged, not the steps of its proof, nor what the members know on the way. */
unsigned messages_promised(const struct messages_options *options)
{
    const struct message_protocol *protocol = options->variant->protocol;
    const bool whole = !options->variant->left_out;
    return 1u << MESSAGES_EXCLUSION | 1u << MESSAGES_DEADLOCK |
           (options->requests ? 1u << MESSAGES_FENCE : 0) |
           (protocol->fair ? 1u << MESSAGES_FAIRNESS : 0) |
           (options->ranked ? 1u << MESSAGES_PRECEDENCE : 0) |
           (options->crashes ? 1u << MESSAGES_CUT : 0) |
           (whole && protocol->lacks ? 1u << MESSAGES_PERMISSIONS : 0) |
           (options->deaths ? 1u << MESSAGES_TOLD : 0) |
           (options->units ? 1u << MESSAGES_UNITS | 1u << MESSAGES_TURN : 0) |
           (protocol == &lamport_protocol && whole && !options->crashes && !options->joinings
                ? (unsigned)MESSAGES_TRUE_OF_GARG
                : 0);
}

static const char *judged_wrongly(const struct messages_options *options)
{
    const unsigned orders = options->judged & MESSAGES_OF_ORDER;
    if (orders & (orders - 1))
        return "fairness, request-order, received-order and precedence are judged one at a time";
    if (options->judged & 1u << MESSAGES_PRECEDENCE && !options->ranked)
        return "precedence is judged where there is some: say --precedence priority";
    if (options->judged & 1u << MESSAGES_FENCE && !options->requests)
        return "fences grow for ever: with requests without bound they are not judged";
    if (options->judged & 1u << MESSAGES_CUT && !options->crashes)
        return "cut is judged where nodes may be lost: say how many with --crashes";
    if (options->judged & 1u << MESSAGES_PERMISSIONS && !options->variant->protocol->lacks)
        return "permissions are judged of carvalho-roucairol";
    if (options->judged & 1u << MESSAGES_AGREEMENT &&
        (options->variant->protocol != &token_protocol || !options->crashes))
        return "agreement is judged of token, where nodes may be lost: say how many with --crashes";
    if (options->judged & 1u << MESSAGES_TOLD && !options->links)
        return "who is told of deaths inside is judged over links: say --links";
    if (options->judged & (1u << MESSAGES_UNITS | 1u << MESSAGES_TURN) && !options->units)
        return "how units are held is judged where there are some: say --units";
    if (options->judged & MESSAGES_OF_GARG &&
        (options->variant->protocol != &lamport_protocol || options->crashes || options->joinings))
        return "lemma-1, lemma-2, claim-1, claim-2, fact-1 and facts are about lamport, where "
               "nobody comes or goes";
    return NULL;
}

static void model_begin(const struct system *system, unsigned char *bytes)
{
    struct messages_model *model = system->context;
    struct model_state state = {.crashes_left = (uint8_t)model->options.crashes,
                                .joinings_left = (uint8_t)model->options.joinings,
                                .deaths_left = (uint8_t)model->options.deaths};
    for (unsigned i = 0; i < model->options.nodes; i++) {
        state.node[i].up = 1;
        state.node[i].requests_left =
            (uint8_t)(model->options.requests ? model->options.requests : 1);
    }
    for (unsigned i = 0; i < model->options.nodes; i++)
        messages_begin_node(model, &state, i);
    if (model->options.variant->protocol->restless)
        messages_begun(model, &state);
    messages_pack(model, &state, bytes);
}

static void try_move(struct messages_model *model, const struct model_state *from, struct move move,
                     struct successors *out)
{
    struct model_state state = *from;
    struct doing doing = {.model = model, .state = &state};
    messages_make(&doing, move);
    move.enters = doing.entered;
    unsigned char *bytes = successors_add(out, move);
    out->overflow |= !messages_pack(model, &state, bytes);
    out->full |= doing.full;
    out->complaint[out->count - 1] = doing.complaint;
}

/* A request in this mode; in either rank, if they have some. */
static void try_start(struct messages_model *model, const struct model_state *state,
                      unsigned process, uint8_t mode, bool asks, struct successors *out)
{
    struct move move = {.process = (uint8_t)process, .kind = MOVE_START, .choice = mode};
    try_move(model, state, move, out);
    move.choice |= MODEL_URGENT;
    if (asks && model->options.ranked)
        try_move(model, state, move, out);
}

/* Whether packet i may be the next that the process receives. */
static bool may_arrive(const struct messages_model *model, const struct model_state *state,
                       unsigned process, unsigned i)
{
    const struct packet *packet = &state->packet[i];
    if (model->options.links)
        return links_may_arrive(model, state, process, i);
    if (!(packet->mask >> process & 1))
        return false;
    for (unsigned earlier = 0; earlier < i && model->options.channels != CHANNELS_REORDERED;
         earlier++) {
        const struct packet *other = &state->packet[earlier];
        if (other->mask >> process & 1 && (model->options.channels == CHANNELS_AGREED ||
                                           other->message.from == packet->message.from))
            return false;
    }
    return true;
}

static bool may_be_lost(const struct messages_model *model, struct model_state *state,
                        unsigned process, enum loss how)
{
    const uint64_t status = model_head(&state->node[process])->status;
    switch (how) {
    case LOSS_DEATH:
    case LOSS_CUT:
        return state->crashes_left > 0;
    case LOSS_FAREWELL: /* to all others the same as a death, but for what it says of deaths */
        return state->crashes_left > 0 && model->tells && status == NODE_OUTSIDE;
    case LOSS_OF_USER:
        return state->deaths_left > 0 &&
               node_inside(model_head(&state->node[process])) != MODE_NULL;
    case LOSS_SUCCESSION:
        return state->crashes_left > 0 && state->joinings_left > 0 &&
               units_held(model, &state->node[process]);
    }
    return false;
}

/* Who is inside in one mode may go on in another: in a weaker one; or in a stronger one, if its own
 * is not in the way of that. */
static bool may_convert(const struct messages_model *model, struct model_node *node, unsigned mode)
{
    const struct node *head = model_head(node);
    if (!model->options.converts || head->status != NODE_INSIDE || node->tells ||
        mode == head->mode || !(model->options.modes >> mode & 1))
        return false;
    return modes_include(head->mode, mode) ||
           (node->requests_left && modes_include(mode, head->mode) &&
            !modes_conflict(mode, head->mode));
}

static bool may_be_urged(const struct messages_model *model, struct model_node *node, unsigned mode)
{
    const struct node *head = model_head(node);
    return model->options.ranked && head->status == NODE_WAITING && !model_rank(node) &&
           model->options.modes >> mode & 1 && (!head->kept || mode == head->mode);
}

static void model_successors(const struct system *system, const unsigned char *bytes,
                             struct successors *out)
{
    struct messages_model *model = system->context;
    struct model_state state;
    messages_unpack(model, bytes, &state);
    for (unsigned process = 0; process < model->options.nodes; process++) {
        struct model_node *node = &state.node[process];
        const uint64_t status = model_head(node)->status;
        const struct move move = {.process = (uint8_t)process};
        if (!node->up && state.joinings_left)
            try_move(model, &state, (struct move){.process = move.process, .kind = MOVE_FAULT},
                     out);
        if (!node->up)
            continue;
        if (model->options.units ? units_go(node) : node_inside(model_head(node)) != MODE_NULL)
            try_move(model, &state, (struct move){.process = move.process, .kind = MOVE_STEP}, out);
        if (node->tells || units_may_give_up(node))
            try_move(model, &state, (struct move){.process = move.process, .kind = MOVE_ABORT},
                     out);
        for (uint8_t mode = 0; status == NODE_OUTSIDE && node->stage == STAGE_NONE &&
                               node->requests_left && mode < MODES;
             mode++)
            if (model->options.modes >> mode & 1)
                try_start(model, &state, process, mode, true, out);
        for (uint8_t mode = 0; mode < MODES; mode++)
            if (may_convert(model, node, mode))
                try_start(model, &state, process, mode,
                          !modes_include(model_head(node)->mode, mode), out);
        for (uint8_t mode = 0; mode < MODES; mode++)
            if (may_be_urged(model, node, mode))
                try_move(model, &state,
                         (struct move){.process = move.process,
                                       .kind = MOVE_START,
                                       .choice = (uint8_t)(mode | MODEL_URGENT)},
                         out);
        for (uint8_t how = 0; how <= LOSS_SUCCESSION; how++)
            if (may_be_lost(model, &state, process, (enum loss)how))
                try_move(model, &state,
                         (struct move){.process = move.process, .kind = MOVE_DEATH, .choice = how},
                         out);
        for (uint8_t unit = 0; unit < model->options.units; unit++)
            if (units_held(model, node) >> unit & 1)
                try_move(model, &state,
                         (struct move){.process = move.process,
                                       .kind = MOVE_SYSTEM,
                                       .choice = (uint8_t)(MODEL_FREES + unit)},
                         out);
        for (uint8_t i = 0; i < state.packets; i++)
            if (may_arrive(model, &state, process, i))
                try_move(model, &state,
                         (struct move){.process = move.process, .kind = MOVE_SYSTEM, .choice = i},
                         out);
    }
}

static enum status model_status(const struct system *system, const unsigned char *bytes,
                                unsigned process)
{
    struct model_state state;
    messages_unpack(system->context, bytes, &state);
    if (!state.node[process].up)
        return STATUS_IDLE;
    const uint64_t status = model_head(&state.node[process])->status;
    const unsigned stage = state.node[process].stage;
    if (stage != STAGE_NONE && stage != STAGE_TOOK)
        return STATUS_QUEUED;
    return status == NODE_INSIDE    ? STATUS_INSIDE
           : status == NODE_WAITING ? STATUS_QUEUED
                                    : STATUS_IDLE;
}

static bool model_conflict(const struct system *system, const unsigned char *bytes, unsigned i,
                           unsigned j)
{
    struct model_state state;
    messages_unpack(system->context, bytes, &state);
    return modes_conflict(model_head(&state.node[i])->mode, model_head(&state.node[j])->mode);
}

static const char *model_judge(const struct system *system, const unsigned char *bytes)
{
    const struct messages_model *model = system->context;
    struct model_state state;
    messages_unpack(model, bytes, &state);
    for (unsigned i = 0; i < model->options.nodes; i++)
        for (unsigned j = 0; j < i; j++) {
            struct node *one = model_head(&state.node[i]), *two = model_head(&state.node[j]);
            if (modes_conflict(node_inside(one), node_inside(two)) &&
                messages_judges(model, MESSAGES_EXCLUSION))
                return "exclusion: two whose modes conflict are inside";
        }
    const char *wrong = model->garg ? garg_judge_state(model, &state) : NULL;
    if (!wrong && messages_judges(model, MESSAGES_UNITS))
        wrong = units_judge(model, &state);
    if (!wrong && messages_judges(model, MESSAGES_PERMISSIONS))
        wrong = permissions_judge(model, &state);
    if (!wrong && messages_judges(model, MESSAGES_AGREEMENT))
        wrong = token_judge_state(model, &state);
    if (wrong)
        return wrong;
    /* Nothing is on its way, nobody is inside or dead, and still somebody waits: no move of the
     * system can help it. */
    bool waits = false, moves = state.packets > 0;
    for (unsigned i = 0; i < model->options.nodes; i++) {
        struct model_node *node = &state.node[i];
        waits |= model_head(node)->status == NODE_WAITING || units_wait(node);
        moves |= model->options.units ? units_go(node) || units_held(model, node)
                                      : node_inside(model_head(node)) != MODE_NULL;
    }
    return waits && !moves && messages_judges(model, MESSAGES_DEADLOCK)
               ? "deadlock: somebody waits, and nothing is on its way"
               : NULL;
}

static void model_narrate(const struct system *system, unsigned char *bytes, struct move move,
                          char *line, size_t room)
{
    struct model_state state;
    messages_unpack(system->context, bytes, &state);
    line[0] = '\0';
    /* tells must not count */
    struct messages_model silent = *(const struct messages_model *)system->context;
    struct doing doing = {.model = &silent, .state = &state, .line = line, .room = room};
    messages_make(&doing, move);
    messages_pack(&silent, &state, bytes);
}

const char *messages_model_open(struct messages_model *model,
                                const struct messages_options *options)
{
    *model = (struct messages_model){.options = *options, .fewest = UINT32_MAX};
    if (options->nodes < 2 || options->nodes > MODEL_NODES_MOST)
        return "message protocols are searched with 2 to 4 nodes";
    if (options->links && options->channels == CHANNELS_AGREED)
        return "over links the changes alone have an agreed order: messages are fifo or reordered";
    if (options->links && (options->variant->protocol == &token_protocol ||
                           options->variant->protocol->fixed || !options->requests))
        return "links are for lamport, ricart-agrawala and carvalho-roucairol, and a number of "
               "requests";
    if (options->deaths && (!options->links || !options->variant->protocol->tells))
        return "deaths of users are for carvalho-roucairol, over links";
    if (options->units &&
        (!options->links || !options->variant->protocol->tells || options->deaths ||
         options->units > MODEL_UNITS_MOST || options->take > options->units))
        return "units are for carvalho-roucairol, over links, without --deaths: 1 to 4, of which "
               "no more are taken at once";
    if (variant_needs_units(options->variant) && !options->units)
        return "leaves out a rule that matters where units are held: say --units";
    if (options->converts && (!options->variant->protocol->converts || options->units))
        return "does not convert; --convert works with carvalho-roucairol, without --units";
    if (options->ranked && (options->variant->protocol != &carvalho_roucairol_protocol ||
                            options->units || options->channels == CHANNELS_AGREED))
        return "has no precedence; --precedence works with carvalho-roucairol, fifo, without "
               "--units";
    if (variant_needs_links(options->variant) && !options->links)
        return "leaves out a rule that matters over links: say --links";
    if (!options->links && options->channels != CHANNELS_AGREED &&
        (options->crashes || options->joinings))
        return "crashes and joinings need agreed order, or links";
    const bool shifts = options->variant->protocol == &lamport_protocol ||
                        options->variant->protocol == &ricart_agrawala_protocol;
    if (!options->requests && (!shifts || options->crashes || options->joinings))
        return "requests without bound: lamport and ricart-agrawala only, and nobody comes or goes";
    if (options->variant->protocol->fixed && (options->crashes || options->joinings))
        return "in this protocol's group nobody comes or goes";
    const char *wrong = judged_wrongly(options);
    if (wrong)
        return wrong;
    if (!options->judged)
        model->options.judged = messages_promised(options);
    model->variant = *options->variant;
    if (options->ranked)
        model->variant.protocol = &carvalho_roucairol_ranked_protocol;
    model->options.variant = &model->variant;
    model->tells = messages_judges(model, MESSAGES_TOLD);
    model->garg = (model->options.judged & MESSAGES_OF_GARG) != 0;
    if (!options->modes)
        model->options.modes = 1u << MODE_EXCLUSIVE;
    if (options->variant->protocol->exclusive_only && model->options.modes != 1u << MODE_EXCLUSIVE)
        return "this protocol carries the exclusive mode only";
    model->system = (struct system){
        .name = options->variant->name,
        .processes = options->nodes,
        .context = model,
        .all_conflict = model->options.modes == 1u << MODE_EXCLUSIVE,
        .begin = model_begin,
        .successors = model_successors,
        .judge = model_judge,
        .status = model_status,
        .conflict = model_conflict,
        .goals = messages_goals(model),
        .reaches = messages_reach,
        .name_goal = messages_name_goal,
        .narrate = model_narrate,
    };
    messages_layout(model);
    return NULL;
}
