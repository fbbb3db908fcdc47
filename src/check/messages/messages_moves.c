/* SPDX-License-Identifier: MIT */
/* The moves of the message model: what a request, a leaving, an arrival, a crash and a joining do
 * to a state. */
#include <inttypes.h>
#include <string.h>

#include "check/messages/messages_state.h"

static uint8_t everyone_up(const struct doing *doing)
{
    uint8_t mask = 0;
    for (unsigned i = 0; i < doing->model->options.nodes; i++)
        mask = (uint8_t)(mask | doing->state->node[i].up << i);
    return mask;
}

struct packet *messages_packet_add(struct doing *doing)
{
    if (doing->state->packets == MODEL_PACKETS_MOST) {
        doing->full = true;
        return &doing->state->packet[MODEL_PACKETS_MOST - 1];
    }
    struct packet *packet = &doing->state->packet[doing->state->packets++];
    memset(packet, 0, sizeof *packet);
    return packet;
}

void messages_packet_remove(struct doing *doing, unsigned i)
{
    struct model_state *state = doing->state;
    state->packets--;
    memmove(&state->packet[i], &state->packet[i + 1],
            (state->packets - i) * sizeof state->packet[0]);
}

static void send(struct doing *doing, unsigned from, const struct effect *effect)
{
    const unsigned nodes = doing->model->options.nodes;
    uint8_t mask = 0;
    for (unsigned to = 0; to < nodes; to++)
        mask = (uint8_t)(mask | (unsigned)effect_reaches(effect, from, to) << to);
    for (unsigned to = 0; to < nodes && effect->to != TO_GROUP; to++)
        if (to != from && mask >> to & 1)
            messages_count(doing, from, to, effect);
    if (effect->to == TO_GROUP)
        messages_count(doing, from, effect->message.whom, effect);
    if (!doing->model->options.links)
        mask &= everyone_up(doing);
    for (unsigned to = 0; to < nodes && doing->model->options.links; to++)
        if (!links_reach(doing->model, doing->state, to, effect->message.view))
            mask = (uint8_t)(mask & ~(1u << to));
    messages_say(doing, "; sends %s", message_name(effect->message.kind));
    if (effect->message.number)
        messages_say(doing, "(%" PRIu64 ")", effect->message.number);
    for (unsigned to = 0; to < nodes; to++)
        if (mask >> to & 1)
            messages_say(doing, " →%u", to);
    for (unsigned to = 0; to < nodes && doing->model->options.links; to++)
        if (mask >> to & 1)
            links_send(doing, from, to, effect);
    if (mask == 0 || doing->model->options.links)
        return;
    struct packet *packet = messages_packet_add(doing);
    packet->event = EVENT_MESSAGE;
    packet->mask = mask;
    packet->knows = messages_known(doing, from, &effect->message);
    packet->message = effect->message;
    if (effect->body)
        memcpy(packet->body, effect->body, effect->body_words * sizeof *effect->body);
}

/* Its request waits no longer: nothing that happens after it can be unfair to it. */
static void forget_request(struct model_state *state, unsigned process, unsigned nodes)
{
    const uint8_t others = (uint8_t) ~(1u << process);
    for (unsigned i = 0; i < nodes; i++) {
        state->node[i].knows &= others;
        state->node[i].after &= others;
    }
    for (unsigned i = 0; i < state->packets; i++)
        state->packet[i].knows &= others;
}

/* i waits in a rank that the process has heard of, greater than that of the process. (Who was
 * inside all the time, and becomes stronger, is before everybody.) */
static bool precedes(struct model_state *state, unsigned i, unsigned process)
{
    struct model_node *entered = &state->node[process], *waits = &state->node[i];
    return entered->knows >> i & 1 && model_head(waits)->status == NODE_WAITING &&
           model_rank(waits) > model_rank(entered) &&
           modes_conflict(model_head(waits)->mode, model_head(entered)->mode);
}

/* NULL, or what is wrong with an entry. */
static const char *entered_wrongly(const struct doing *doing, unsigned process, uint64_t fence)
{
    struct model_state *state = doing->state;
    const struct messages_model *model = doing->model;
    const uint64_t mode = model_head(&state->node[process])->mode;
    for (unsigned i = 0; i < model->options.nodes; i++) {
        if (messages_judges(model, MESSAGES_PRECEDENCE) && !doing->keeps &&
            precedes(state, i, process))
            return "precedence: whose request has the greater rank, and was heard of, is overtaken";
        if (!(state->node[process].after >> i & 1) ||
            !modes_conflict(mode, model_head(&state->node[i])->mode))
            continue;
        if (messages_judges(model, MESSAGES_FAIRNESS))
            return "fairness: a request that happened before is overtaken";
        if (messages_judges(model, MESSAGES_REQUEST_ORDER))
            return "request-order: whose REQUEST happened before another's REQUEST is overtaken";
        if (messages_judges(model, MESSAGES_RECEIVED_ORDER))
            return "received-order: whose REQUEST the other had received is overtaken";
    }
    for (unsigned other = 0; other < MODES && messages_judges(model, MESSAGES_FENCE); other++)
        if (modes_conflict(mode, other) && fence <= state->highest_fence[other])
            return "fence: an entry's fence is not above that of an earlier one";
    return model->garg ? garg_judge_entry(model, state, process) : NULL;
}

static void enter(struct doing *doing, unsigned process, const struct effect *entered)
{
    struct model_state *state = doing->state;
    const uint64_t mode = model_head(&state->node[process])->mode, fence = entered->fence;
    const char *wrong = entered_wrongly(doing, process, fence);
    if (!wrong)
        wrong = deaths_judge_entry(doing, process, entered->died);
    if (wrong)
        doing->complaint = wrong;
    if (fence > state->highest_fence[mode])
        state->highest_fence[mode] = fence;
    state->node[process].after = 0;
    forget_request(state, process, doing->model->options.nodes);
    if (doing->model->options.units)
        units_entered(doing, process);
    else
        doing->entered = true;
    messages_say(doing, ", and is inside, fence %" PRIu64 ".%" PRIu64, fence >> FENCE_VIEW_SHIFT,
                 fence & ((UINT64_C(1) << FENCE_VIEW_SHIFT) - 1));
}

static bool sends_request(const struct effects *effects)
{
    for (unsigned i = 0; i < effects->count; i++)
        if (effects->effect[i].kind == EFFECT_SEND &&
            effects->effect[i].message.kind == MESSAGE_REQUEST)
            return true;
    return false;
}

/* req_start: what it now sends comes after it. By request-order it is the sending of REQUESTs;
 * one that is sent again did not happen before what came between, so the passage counts anew for
 * others. */
static void note_request(struct doing *doing, unsigned process, bool begins, bool sends)
{
    struct model_node *node = &doing->state->node[process];
    const bool by_sending = messages_judges(doing->model, MESSAGES_REQUEST_ORDER);
    if (!(by_sending ? sends : begins))
        return;
    if (by_sending && node->knows >> process & 1)
        forget_request(doing->state, process, doing->model->options.nodes);
    else
        node->after = (uint8_t)(node->knows & ~(1u << process));
    node->knows = (uint8_t)(node->knows | 1u << process);
    const char *wrong =
        doing->model->garg ? garg_judge_request(doing->model, doing->state, process) : NULL;
    if (wrong)
        doing->complaint = wrong;
}

void messages_step(struct doing *doing, unsigned process, const struct event *event)
{
    struct model_node *node = &doing->state->node[process];
    uint64_t room[8 * (3 * MODEL_NODES_MOST + 1)];
    struct effects effects = {.room = room};
    doing->keeps = model_head(node)->kept || event->kind == EVENT_RAISE;
    const bool requested = node_has_requested(model_head(node)),
               busy = model_head(node)->status != NODE_OUTSIDE && event->kind != EVENT_RELEASE;
    units_step(doing->model->options.variant->protocol, node->words,
               doing->model->options.units ? node->units : NULL, event, &effects);
    if (!doing->model->tells)
        model_head(node)->died = 0; /* nobody asks: it would only tell states apart */
    note_request(doing, process, !requested && node_has_requested(model_head(node)),
                 sends_request(&effects));
    if (busy && model_head(node)->status == NODE_OUTSIDE &&
        messages_judges(doing->model, MESSAGES_CUT))
        doing->complaint = "cut: who is inside or waits is sent away, and was not cut off";
    for (unsigned i = 0; i < effects.count; i++) {
        if (effects.effect[i].kind == EFFECT_SEND)
            send(doing, process, &effects.effect[i]);
        else if (effects.effect[i].kind == EFFECT_ENTERED)
            enter(doing, process, &effects.effect[i]);
        else if (effects.effect[i].kind == EFFECT_CHANGED)
            units_changed(doing, process);
    }
}

static enum event_kind event_of_request(const struct node *head, unsigned mode)
{
    switch ((enum node_status)head->status) {
    case NODE_OUTSIDE:
        return EVENT_REQUEST;
    case NODE_WAITING:
        return EVENT_URGE;
    case NODE_INSIDE:
        break;
    }
    return modes_include(head->mode, mode) ? EVENT_LOWER : EVENT_RAISE;
}

static const char *word_of_request(enum event_kind event)
{
    return event == EVENT_REQUEST ? "requests"
           : event == EVENT_URGE  ? "is urged on"
           : event == EVENT_LOWER ? "goes on in a weaker mode"
                                  : "requests a stronger mode";
}

static void request(struct doing *doing, unsigned process, unsigned choice)
{
    struct model_node *node = &doing->state->node[process];
    const unsigned mode = choice % MODEL_URGENT;
    const enum event_kind event = event_of_request(model_head(node), mode);
    if (event == EVENT_REQUEST || event == EVENT_RAISE)
        node->requests_left--;
    if (event == EVENT_REQUEST)
        node->tally = 0;
    if (event == EVENT_URGE) /* nobody has heard of what it is now */
        forget_request(doing->state, process, doing->model->options.nodes);
    messages_say(doing, "%s", word_of_request(event));
    if (mode != MODE_EXCLUSIVE)
        messages_say(doing, " (%s)", mode_name(mode));
    if (choice & MODEL_URGENT)
        messages_say(doing, " with priority");
    messages_step(doing, process,
                  &(struct event){.kind = (uint8_t)event,
                                  .mode = (uint8_t)mode,
                                  .rank = (choice & MODEL_URGENT) != 0});
}

static void release(struct doing *doing, unsigned process, bool died)
{
    messages_say(doing, died ? "has its user die inside" : "leaves");
    if (died) {
        doing->state->deaths_left--;
        deaths_note(doing, process);
    }
    if (model_head(&doing->state->node[process])->status == NODE_WAITING) {
        messages_say(doing, ", and waits for the stronger mode outside");
        messages_step(doing, process,
                      &(struct event){.kind = EVENT_LOWER, .mode = MODE_NULL, .number = died});
        return;
    }
    messages_step(doing, process, &(struct event){.kind = EVENT_RELEASE, .number = died});
    struct model_state *state = doing->state;
    struct packet *last = state->packets ? &state->packet[state->packets - 1] : NULL;
    if (last && last->message.kind == MESSAGE_RELEASE && last->message.from == process)
        last->tally = state->node[process].tally;
    else
        messages_passage_took(doing->model, state->node[process].tally);
    state->node[process].tally = 0;
}

static void be_told(struct doing *doing, unsigned process)
{
    struct model_node *node = &doing->state->node[process];
    messages_say(doing, "is told of a death");
    messages_step(doing, process, &(struct event){.kind = EVENT_TOLD, .number = node->tells});
    deaths_told(doing, process);
}

/* It was let in, and is gone before it took notice: a timeout that came too late. */
static void be_gone(struct doing *doing, unsigned process)
{
    messages_say(doing, "finds its user gone; ");
    doing->state->node[process].tells = 0;
    release(doing, process, false);
}

/* An URGE that comes when the REQUEST has been answered: if the answer was for less, there will be
 * another. */
static bool is_passed_over(const struct messages_model *model, struct model_node *node,
                           const struct message *message)
{
    return message->kind == MESSAGE_URGE &&
           !set_has(model->options.variant->protocol->deferred(node->words), message->from);
}

static void receive(struct doing *doing, unsigned process, unsigned i)
{
    struct model_state *state = doing->state;
    const struct packet packet = state->packet[i];
    struct message message = packet.message;
    if (packet.farewell)
        message.view = packet.farewell - 1u;
    const bool lost = links_lose(doing->model, state, process, &packet);
    state->packet[i].mask = (uint8_t)(packet.mask & ~(1u << process));
    if (packet.event == EVENT_MESSAGE)
        messages_say(doing, "receives %s from %u", message_name(packet.message.kind),
                     packet.message.from);
    else
        messages_say(doing, "learns that %u %s", packet.message.whom,
                     packet.event != EVENT_DIED ? "joined"
                     : packet.farewell          ? "went"
                                                : "died");
    if (lost) {
        messages_say(doing, ", which it does not know, and drops it");
    } else if (packet.event == EVENT_JOINED && packet.message.units) {
        units_succeed(doing, process, &packet);
    } else {
        if (!is_passed_over(doing->model, &state->node[process], &message))
            state->node[process].knows |= packet.knows;
        const bool outside = deaths_know_outside(doing, process, &packet);
        messages_step(doing, process,
                      &(struct event){.kind = packet.event,
                                      .node = packet.message.whom,
                                      .view = packet.message.view,
                                      .message = packet.event == EVENT_MESSAGE || packet.farewell
                                                     ? &message
                                                     : NULL,
                                      .body = packet.body});
        if (outside)
            deaths_judge_loss(doing, process, &packet);
    }
    if (!state->packet[i].mask) {
        if (packet.message.kind == MESSAGE_RELEASE)
            messages_passage_took(doing->model, state->packet[i].tally);
        messages_packet_remove(doing, i);
    }
    if (doing->model->options.links && packet.event == EVENT_DIED)
        links_close(doing, process, &packet);
}

static struct packet *announce(struct doing *doing, enum event_kind event, unsigned process)
{
    const uint8_t mask = (uint8_t)(everyone_up(doing) & ~(1u << process));
    if (!mask)
        return NULL;
    struct packet *packet = messages_packet_add(doing);
    packet->event = (uint8_t)event;
    packet->mask = mask;
    packet->message = (struct message){.whom = process, .view = doing->state->view};
    return packet;
}

/* EVENT_CUT: the group goes on without a node that lives. Its lease has run out by then, so it is
 * told before the others are; from there on it is to them as if it had died, and it begins anew. */
static void be_cut_off(struct doing *doing, unsigned process)
{
    struct node *head = model_head(&doing->state->node[process]);
    const bool busy = head->status != NODE_OUTSIDE;
    uint64_t room[8 * (3 * MODEL_NODES_MOST + 1)];
    struct effects effects = {.room = room};
    messages_say(doing, "is cut off; ");
    doing->model->options.variant->protocol->step(doing->state->node[process].words,
                                                  &(struct event){.kind = EVENT_CUT}, &effects);
    const bool told = effects.count == 1 && effects.effect[0].kind == EFFECT_LOST;
    if (messages_judges(doing->model, MESSAGES_CUT) &&
        (effects.count != busy || told != busy || head->status != NODE_OUTSIDE ||
         node_inside(head) != MODE_NULL))
        doing->complaint = "cut: who was inside or waited is not told, or goes on";
}

static void die(struct doing *doing, unsigned process, enum loss how)
{
    struct model_state *state = doing->state;
    const bool cut = how == LOSS_CUT, farewell = how == LOSS_FAREWELL;
    const struct node last = *model_head(&state->node[process]);
    if (cut && messages_lack(doing->model, WITHOUT_LEASE)) {
        messages_say(doing, "is buried, and lives");
        state->crashes_left--;
        state->view++;
        announce(doing, EVENT_DIED, process);
        return;
    }
    deaths_note(doing, process);
    if (cut)
        be_cut_off(doing, process);
    messages_say(doing, cut                      ? "the others go on without it"
                        : farewell               ? "goes, and says so"
                        : how == LOSS_SUCCESSION ? "has its agent die; "
                                                 : "dies");
    forget_request(state, process, doing->model->options.nodes);
    const uint8_t requests_left = state->node[process].requests_left;
    state->node[process] = (struct model_node){.requests_left = requests_left};
    deaths_forget(doing);
    links_forget_receiver(doing, process);
    state->crashes_left--;
    state->view++;
    struct packet *notice = how == LOSS_SUCCESSION ? NULL : announce(doing, EVENT_DIED, process);
    if (notice && farewell) {
        notice->farewell = (uint8_t)(last.view + 1);
        notice->message.died = last.died;
        notice->message.told = last.told;
    }
}

void messages_begin_node(const struct messages_model *model, struct model_state *state,
                         unsigned process)
{
    uint64_t members = 0;
    for (unsigned i = 0; i < model->options.nodes; i++)
        members |= (uint64_t)state->node[i].up << i;
    const struct beginning how = {.self = process,
                                  .nodes = model->options.nodes,
                                  .agreed = messages_changes(model),
                                  .apart = model->options.links,
                                  .view = state->view,
                                  .members = &members,
                                  .without = model->options.variant->without};
    model->options.variant->protocol->begin(state->node[process].words, &how);
    if (model->options.units)
        units_begin(state->node[process].units, &how);
}

void messages_begun(struct messages_model *model, struct model_state *state)
{
    struct doing doing = {.model = model, .state = state};
    for (unsigned i = 0; i < model->options.nodes; i++)
        messages_step(&doing, i, &(struct event){.kind = EVENT_BEGUN});
}

/* `kept`: what users hold since before. */
static void join(struct doing *doing, unsigned process, uint64_t kept)
{
    struct model_state *state = doing->state;
    messages_say(doing, "joins anew");
    state->joinings_left--;
    state->view++;
    state->node[process].up = 1;
    messages_begin_node(doing->model, state, process);
    struct packet *notice = announce(doing, EVENT_JOINED, process);
    if (kept)
        ((struct units *)state->node[process].units)->held = kept;
    if (notice)
        notice->message.units = kept;
}

static void lose(struct doing *doing, unsigned process, enum loss how)
{
    const uint64_t held = units_held(doing->model, &doing->state->node[process]);
    die(doing, process, how);
    if (how == LOSS_SUCCESSION)
        join(doing, process, held);
}

void messages_make(struct doing *doing, struct move move)
{
    switch ((enum move_kind)move.kind) {
    case MOVE_START:
        request(doing, move.process, move.choice);
        break;
    case MOVE_STEP:
        if (doing->model->options.units)
            units_go_on(doing, move.process);
        else if (doing->state->node[move.process].tells)
            be_told(doing, move.process);
        else
            release(doing, move.process, false);
        break;
    case MOVE_ABORT:
        if (doing->model->options.units)
            units_give_up(doing, move.process);
        else
            be_gone(doing, move.process);
        break;
    case MOVE_SYSTEM:
        if (move.choice >= MODEL_FREES)
            units_free(doing, move.process, move.choice - MODEL_FREES);
        else
            receive(doing, move.process, move.choice);
        break;
    case MOVE_DEATH:
        if (move.choice == LOSS_OF_USER)
            release(doing, move.process, true);
        else
            lose(doing, move.process, (enum loss)move.choice);
        break;
    default:
        join(doing, move.process, 0);
    }
    if (!doing->model->options.requests)
        messages_shift(doing->model, doing->state);
}
