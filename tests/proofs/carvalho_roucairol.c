/* SPDX-License-Identifier: MIT */
/* proofs/carvalho_roucairol.proof and the shipped `carvalho-roucairol`, over links, are about the
 * same thing: see tie.h.
 *
 * A place of the proof is an incarnation. The founders are the first places; who joins is the one
 * behind them, whichever machine it is. With one joining and two deaths at most, the state tells
 * which is meant wherever it speaks of a machine.
 */
#include <stdio.h>
#include <string.h>

#include "check/messages/messages_state.h"
#include "tie.h"

static int founders;      /* how many; the newcomer is the place behind them */
static int newcomer_slot; /* its machine, as last seen; -1: not known */

static int given_conflict(int mode, int other)
{
    return modes_conflict((unsigned)mode, (unsigned)other);
}

static int given_includes(int mode, int weaker)
{
    return modes_include((unsigned)mode, (unsigned)weaker);
}

static int given_idle_mode(void)
{
    return MODE_EXCLUSIVE;
}

static int given_index(int place)
{
    return place < founders ? place : newcomer_slot;
}

static int given_founder(int place)
{
    return place < founders;
}

#include "carvalho_roucairol_proof.h"

/* The words of the protocol behind its head. */
struct own {
    const uint64_t *members, *deferred, *permissions;
};

static struct own own_of(const struct model_node *node)
{
    const struct node *head = (const struct node *)node->words;
    const size_t width = set_words(head->nodes);
    const uint64_t *behind = node->words + sizeof *head / sizeof(uint64_t) + 2 * width;
    return (struct own){head->sets, behind, behind + width};
}

static const struct node *head_of(const struct model_node *node)
{
    return (const struct node *)node->words;
}

/* The incarnation that is up, or was last. */
static int place_of(const struct model_state *state, int slot)
{
    return head_of(&state->node[slot])->joined ? founders : slot;
}

static bool awaits_joining(const struct model_state *state, int slot)
{
    for (unsigned i = 0; i < state->packets; i++)
        if (state->packet[i].event == EVENT_JOINED && state->packet[i].mask >> slot & 1)
            return true;
    return false;
}

/* Which machine the newcomer is, or was if somebody has yet to hear of it. */
static int find_newcomer(const struct model_state *state)
{
    for (int slot = 0; slot < founders; slot++)
        if (head_of(&state->node[slot])->joined)
            return slot;
    for (unsigned i = 0; i < state->packets; i++)
        if (state->packet[i].event != EVENT_MESSAGE)
            return (int)state->packet[i].message.whom;
    return -1;
}

/* Whom the machine in `slot` means by the machine `other`. */
static int meant(const struct model_state *state, bool has_joined, int slot, int other)
{
    return has_joined && other == newcomer_slot && !awaits_joining(state, slot) ? founders : other;
}

static void see_node(struct carvalho_roucairol_view *v, const struct model_state *state,
                     bool has_joined, int slot)
{
    const struct model_node *node = &state->node[slot];
    const struct node *head = head_of(node);
    const struct own own = own_of(node);
    const int a = place_of(state, slot);
    v->life[a] = LIFE_UP;
    v->status[a] = head->status == NODE_INSIDE    ? STAGE_INSIDE
                   : head->status == NODE_WAITING ? STAGE_WAITING
                                                  : STAGE_OUTSIDE;
    v->mode[a] = (int)head->mode;
    v->our[a] = (int)head->own[0];
    v->highest[a] = (int)head->own[1];
    for (int other = 0; other < founders; other++) {
        const int b = meant(state, has_joined, slot, other);
        if (other == slot)
            continue;
        v->knows[a][b] = set_has(own.members, (uint64_t)other);
        v->deferred[a][b] = set_has(own.deferred, (uint64_t)other);
        for (int mode = 0; mode < tie_modes; mode++)
            v->A[a][mode][b] =
                set_has(own.permissions + (size_t)mode * set_words(head->nodes), (uint64_t)other);
    }
}

/* What comes twice, or with another mode than its sender's, is in no state of the proof. */
static void see_message(struct carvalho_roucairol_view *v, const struct model_state *state,
                        const struct packet *packet, int to)
{
    const int from = packet->incarnation ? founders : (int)packet->message.from;
    const int receiver = place_of(state, to);
    if (packet->message.kind == MESSAGE_REPLY) {
        v->reply[from][receiver]++;
        return;
    }
    const bool other_mode = v->life[from] == LIFE_UP && v->mode[from] != packet->message.mode;
    v->request[from][receiver] += 1 + other_mode;
    v->asked_number[from][receiver] = (int)packet->message.number;
}

static void see(const struct system *inner, const unsigned char *bytes, void *view)
{
    const struct messages_model *model = inner->context;
    struct carvalho_roucairol_view *v = view;
    struct model_state state;
    messages_unpack(model, bytes, &state);
    const bool has_joined = state.joinings_left < model->options.joinings;
    newcomer_slot = has_joined ? find_newcomer(&state) : -1;
    for (int place = 0; place < tie_places; place++)
        v->life[place] = place < founders || has_joined ? LIFE_GONE : LIFE_ABSENT;
    for (int slot = 0; slot < founders; slot++)
        if (state.node[slot].up)
            see_node(v, &state, has_joined, slot);
    for (unsigned i = 0; i < state.packets; i++)
        for (int to = 0; to < founders; to++) {
            const struct packet *packet = &state.packet[i];
            if (packet->mask >> to & 1 && packet->event == EVENT_MESSAGE)
                see_message(v, &state, packet, to);
            else if (packet->mask >> to & 1 && packet->event == EVENT_JOINED)
                v->announced[place_of(&state, to)][founders] = 1;
        }
}

static void make(const struct system *inner, unsigned char *bytes, struct move move)
{
    struct messages_model *model = inner->context;
    struct model_state state;
    struct doing doing = {.model = model, .state = &state};
    messages_unpack(model, bytes, &state);
    messages_make(&doing, move);
    messages_pack(model, &state, bytes);
}

static int mover(const struct system *inner, const unsigned char *bytes, struct move move)
{
    struct model_state state;
    messages_unpack(inner->context, bytes, &state);
    return state.node[move.process].up ? place_of(&state, move.process) : founders;
}

struct message_case {
    const char *variant;
    unsigned nodes, requests, crashes, joinings;
    bool readers;         /* they may ask in the shared mode, too */
    const char *left_out; /* a part, left out of the proof as well */
    const char *finds;    /* what must be found; NULL: nothing */
    bool long_one;        /* for `./dev prove`, not for `./dev test` */
};

/* NULL, or what is found. */
static const char *search_case(const struct message_case *one)
{
    struct messages_model model;
    const char *wrong = messages_model_open(
        &model, &(struct messages_options){.variant = variant_find(one->variant),
                                           .nodes = one->nodes,
                                           .requests = one->requests,
                                           .channels = CHANNELS_REORDERED,
                                           .links = true,
                                           .crashes = one->crashes,
                                           .joinings = one->joinings,
                                           .modes = 1u << MODE_EXCLUSIVE |
                                                    (one->readers ? 1u << MODE_SHARED : 0)});
    if (wrong)
        return wrong;
    founders = (int)one->nodes;
    return tie_search(&(struct tie){.proof = &proof,
                                    .inner = &model.system,
                                    .make = make,
                                    .see = see,
                                    .mover = mover,
                                    .modes = 2,
                                    .places = one->nodes + (one->joinings > 0),
                                    .left_out = one->left_out});
}

#define STRANGE "a move that the proof does not have"

int main(int count, char **words)
{
    static const struct message_case cases[] = {
        {"carvalho-roucairol", 2, 2, 1, 1, true, NULL, NULL, false},
        {"carvalho-roucairol", 2, 2, 2, 1, true, NULL, NULL, false},
        {"carvalho-roucairol", 3, 1, 1, 0, false, NULL, NULL, false},
        {"carvalho-roucairol", 3, 1, 1, 1, false, NULL, NULL, true},
        {"carvalho-roucairol", 3, 1, 1, 0, true, NULL, NULL, true},
        {"carvalho-roucairol", 3, 2, 0, 0, true, NULL, NULL, true},
        /* A mutant's moves are not in the proof. */
        {"carvalho-roucairol-no-inside-test", 2, 2, 0, 0, false, NULL, STRANGE, false},
        {"carvalho-roucairol-never-defers", 2, 2, 0, 0, false, NULL, STRANGE, false},
        {"carvalho-roucairol-no-ask-again", 3, 2, 0, 0, false, NULL, STRANGE, false},
        {"carvalho-roucairol-preset-newcomer", 2, 2, 1, 1, false, NULL, STRANGE, false},
        {"carvalho-roucairol-nobodys-permission", 2, 2, 1, 1, false, NULL, STRANGE, false},
        /* The same part left out of both: now the moves agree, and the invariant breaks. */
        {"carvalho-roucairol-no-inside-test", 2, 2, 0, 0, false, "inside_test", "answered", false},
        {"carvalho-roucairol-never-defers", 2, 2, 0, 0, false, "deferring", "answered", false},
        {"carvalho-roucairol-preset-newcomer", 2, 2, 1, 1, false, "empty_hands", "stranger", false},
        {.variant = NULL}};
    setvbuf(stdout, NULL, _IOLBF, 0);
    const bool all = count > 1 && strcmp(words[1], "--all") == 0;
    int wrong = 0;
    for (const struct message_case *one = cases; one->variant; one++) {
        if (one->long_one && !all)
            continue;
        printf("%s, %u nodes, %u requests, %u crashes, %u joinings%s%s\n", one->variant, one->nodes,
               one->requests, one->crashes, one->joinings,
               one->left_out ? ", the proof without " : "", one->left_out ? one->left_out : "");
        const char *found = search_case(one);
        printf("  %s%s\n", found ? found : "every state has the invariant, every move is a step",
               one->finds ? ", as it must be" : "");
        if (one->finds ? !found || strcmp(found, one->finds) != 0 : found != NULL) {
            printf("  WRONG: expected %s\n", one->finds ? one->finds : "nothing to be found");
            wrong = 1;
        }
    }
    return wrong;
}
