/* SPDX-License-Identifier: MIT */
/* A link as a system to search.
 *
 * End 0 is the elder, which dials. It may dial as soon as it has closed what it had, while the
 * other end still reads the old connection: so there may be two. Either end may close a connection
 * at any moment, with or without a reason, and the other may learn of it late or never. What is
 * unread at an end that closes is lost. A connection takes a few packets; the sender of more must
 * wait until they are read.
 *
 * Nothing of this need ever happen, and nothing need ever arrive over a connection, in either
 * direction: so it may be open at one end only, or carry one way only. What must happen: the ledger
 * delivers, and who has waited long enough for an acknowledgement doubts.
 *
 * A new connection may take the place of another of which the end has not heard that it is down.
 *
 * Judged: each end takes the other's messages in order, each once; and whatever was said is taken
 * in the end, and its sender knows. Besides: K2 on every new connection, and K4; nothing is to be
 * sent where there is no connection, nor what was acknowledged; an acknowledgement is not
 * acknowledged; who doubts sends something; and all can be taken without the ledger.
 */
#include "check/messages/link_model.h"

#include <stdio.h>
#include <string.h>

#include "check/messages/link_state.h"

/* What must happen in the end, and what may. */
static enum move_kind kind_of(enum doing_kind kind)
{
    switch (kind) {
    case DOES_SAY:
        return MOVE_START;
    case DOES_DOUBT:
        return MOVE_STEP;
    case DOES_RECEIVE_BY_LEDGER:
        return MOVE_SYSTEM;
    default:
        return MOVE_FAULT;
    }
}

struct move link_move(unsigned self, unsigned slot, enum doing_kind kind)
{
    return (struct move){.process = (uint8_t)self,
                         .kind = (uint8_t)kind_of(kind),
                         .choice = (uint8_t)(kind * SLOTS + slot)};
}

static void link_begin(const struct system *system, unsigned char *bytes)
{
    const struct link_model *model = system->context;
    struct link_bytes state = {.ledger.connections_left = (uint8_t)model->options.connections};
    for (unsigned end = 0; end < ENDS; end++) {
        state.end[end].present = NONE;
        state.end[end].says_left = (uint8_t)model->options.messages;
    }
    memcpy(bytes, &state, sizeof state);
}

static void try_doing(const struct link_model *model, const struct link_bytes *from, unsigned self,
                      unsigned slot, enum doing_kind kind, struct successors *out)
{
    struct link_bytes state = *from;
    struct link_doing doing = {.model = model, .state = &state, .self = self, .slot = slot};
    struct move move = link_move(self, slot, kind);
    link_make(&doing, kind);
    for (unsigned end = 0; end < ENDS; end++)
        move.enters |= !is_done(from, end) && is_done(&state, end);
    memcpy(successors_add(out, move), &state, sizeof state);
    out->full |= doing.full;
    out->complaint[out->count - 1] = doing.complaint;
}

static void link_successors(const struct system *system, const unsigned char *bytes,
                            struct successors *out)
{
    const struct link_model *model = system->context;
    struct link_bytes state;
    memcpy(&state, bytes, sizeof state);
    for (unsigned self = 0; self < ENDS; self++)
        for (enum doing_kind kind = 0; kind < DOES_KINDS; kind++)
            for (unsigned slot = 0; slot < (kind < DOES_DIAL ? 1 : SLOTS); slot++)
                if (link_may_do(model, &state, self, slot, kind))
                    try_doing(model, &state, self, slot, kind, out);
}

static const char *link_judge(const struct system *system, const unsigned char *bytes)
{
    (void)system, (void)bytes;
    return NULL; /* what is taken wrongly is said of the move */
}

static enum status link_status(const struct system *system, const unsigned char *bytes,
                               unsigned process)
{
    (void)system;
    struct link_bytes state;
    memcpy(&state, bytes, sizeof state);
    return is_done(&state, process) ? STATUS_IDLE : STATUS_QUEUED;
}

static const char *const goals[] = {"end 0 has said all, and all is taken",
                                    "end 1 has said all, and all is taken",
                                    "a connection is open at one end only",
                                    "two connections are open at once",
                                    "a message is on its way twice",
                                    "what end 0 said is taken, and it knows, without the ledger",
                                    "what end 1 said is taken, and it knows, without the ledger"};

static bool is_twice(const struct link_bytes *state, unsigned from)
{
    for (unsigned slot = 0; slot < SLOTS; slot++)
        for (unsigned at = 0; at < state->connection[slot].count[from]; at++)
            for (unsigned other = 0; other < state->ledger.count[from]; other++)
                if (state->ledger.packet[from][other] >> 4 &&
                    state->ledger.packet[from][other] >> 4 ==
                        state->connection[slot].packet[from][at] >> 4)
                    return true;
    return false;
}

static uint64_t link_reaches(const struct system *system, const unsigned char *bytes)
{
    (void)system;
    struct link_bytes state;
    uint64_t reached = 0;
    unsigned open = 0;
    memcpy(&state, bytes, sizeof state);
    for (unsigned end = 0; end < ENDS; end++)
        if (is_done(&state, end) && !state.end[end].says_left) {
            reached |= UINT64_C(1) << end;
            if (!state.end[end].detour)
                reached |= UINT64_C(1) << (5 + end);
        }
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        const struct connection_bytes *connection = &state.connection[slot];
        open += connection->open[0] || connection->open[1];
        if (connection->accepted && connection->open[0] != connection->open[1])
            reached |= UINT64_C(1) << 2;
    }
    if (open == 2)
        reached |= UINT64_C(1) << 3;
    if (is_twice(&state, 0) || is_twice(&state, 1))
        reached |= UINT64_C(1) << 4;
    return reached;
}

static void link_name_goal(const struct system *system, unsigned goal, char *text, size_t room)
{
    (void)system;
    snprintf(text, room, "%s", goals[goal]);
}

static void link_narrate(const struct system *system, unsigned char *bytes, struct move move,
                         char *line, size_t room)
{
    struct link_bytes state;
    memcpy(&state, bytes, sizeof state);
    line[0] = '\0';
    struct link_doing doing = {.model = system->context,
                               .state = &state,
                               .self = move.process,
                               .slot = move.choice % SLOTS,
                               .line = line,
                               .room = room};
    link_make(&doing, (enum doing_kind)(move.choice / SLOTS));
    memcpy(bytes, &state, sizeof state);
}

static uint64_t promised_goals(const struct link_options *options)
{
    enum { ALL_SAID = 3, ONE_MADE = 1 << 2 | 1 << 4 | 3 << 5, TWO_MADE = 1 << 3 };
    return ALL_SAID | (options->connections > 0 ? ONE_MADE : 0) |
           (options->connections > 1 ? TWO_MADE : 0);
}

void link_model_open(struct link_model *model, const struct link_options *options)
{
    *model = (struct link_model){.options = *options};
    model->system = (struct system){.name = options->variant->name,
                                    .size = sizeof(struct link_bytes),
                                    .part_size = PART,
                                    .processes = ENDS,
                                    .all_conflict = true,
                                    .context = model,
                                    .goals = promised_goals(options),
                                    .begin = link_begin,
                                    .successors = link_successors,
                                    .judge = link_judge,
                                    .status = link_status,
                                    .reaches = link_reaches,
                                    .name_goal = link_name_goal,
                                    .narrate = link_narrate};
}

static const struct link_variant variants[] = {
    {"link", 0, NULL},
    {"link-takes-duplicates", LINK_WITHOUT_LAST_SEEN, "passing over what was taken before"},
    {"link-no-resend", LINK_WITHOUT_RESENDING, NULL},
    {"link-takes-gaps", LINK_WITHOUT_RESENDING | LINK_WITHOUT_NEXT_ONLY,
     "sending again on a new connection, and waiting for the next message"},
    {"link-trusts-the-kernel", LINK_WITHOUT_KEEPING,
     "keeping what the other's application has not taken"},
    {"link-no-detour", LINK_WITHOUT_LEDGER, "the detour through the ledger"},
    {"link-never-doubts", LINK_WITHOUT_DOUBT, "the detour where a connection seems to be well"},
    {"link-answers-once", LINK_WITHOUT_ANSWER, "the acknowledgement of what comes again"},
};

const struct link_variant *link_variant_at(unsigned i)
{
    return i < sizeof variants / sizeof *variants ? &variants[i] : NULL;
}

const struct link_variant *link_variant_find(const char *name)
{
    for (unsigned i = 0; link_variant_at(i); i++)
        if (strcmp(variants[i].name, name) == 0)
            return &variants[i];
    return NULL;
}
