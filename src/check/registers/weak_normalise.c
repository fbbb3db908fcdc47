/* SPDX-License-Identifier: MIT */
/* Few states for what weak.h describes. Each step replaces a view by a greater one of which nobody
 * can tell the difference:
 *
 * - A thread that makes no further access has seen everything.
 * - A thread whose next fetch comes after a fence (it has stored and not fenced yet, or is idle and
 *   begins with a store that has a fence) is blind until then. Whatever it stores meanwhile is read
 *   by others, who join its view to their own. So where everybody's view and the views of all that
 *   are not blind have come to some message, it may have come there too: a reader knows that much,
 *   or will by its own fence, and so will the thread itself.
 * - Where all threads have come, everybody's view may have come: whoever joins it has come there.
 * - Likewise a message's view, where all have come that may still read that message.
 *
 * Then what lies before all threads' views cannot be read any more: it is dropped. */
#include <string.h>

#include "check/registers/weak_parts.h"

enum { VIEW_END = UINT8_MAX };

/* What all of some threads have come to, and know. */
struct common {
    uint16_t known;
    uint8_t from[STATE_SIZE_MOST / 8];
};

static void common_clear(const struct register_model *model, struct common *common)
{
    common->known = known_all(model);
    memset(common->from, VIEW_END, model->registers);
}

static void common_add(const struct register_model *model, struct common *common,
                       const struct view *view)
{
    common->known &= view->known;
    for (unsigned at = 0; at < model->registers; at++)
        if (view->from[at] < common->from[at])
            common->from[at] = view->from[at];
}

/* `ends`: one above the last message of each register. */
static void raise_to(const struct register_model *model, struct view *view,
                     const struct common *common, const uint8_t *ends)
{
    view->known |= common->known;
    for (unsigned at = 0; at < model->registers; at++) {
        const uint8_t last = (uint8_t)(ends[at] - 1);
        const uint8_t to = common->from[at] < last ? common->from[at] : last;
        if (to > view->from[at])
            view->from[at] = to;
    }
}

/* It will make no access any more: its passages are used up. */
static bool is_finished(const struct register_model *model, const unsigned char *state,
                        unsigned who)
{
    const struct model_process *process = model_process(model, state, who);
    return model->passages && process->part == PART_IDLE && process->begun == model->passages &&
           !process->held;
}

static bool is_blind(const struct register_model *model, const unsigned char *state, unsigned who)
{
    if (model->weakened_count || model->apart)
        return false; /* the fence may be one that is left out */
    return thread_of(model, state, who)->fencing ||
           (model->protocol->begins_with_write &&
            model_process(model, state, who)->part == PART_IDLE);
}

static void raise_threads(const struct register_model *model, unsigned char *state,
                          const uint8_t *ends)
{
    const unsigned processes = model->system.processes;
    struct common all, common;
    common_clear(model, &all);
    common_clear(model, &common);
    common_add(model, &common, global_view(model, state));
    for (unsigned who = 0; who < processes; who++)
        if (!is_finished(model, state, who) && !is_blind(model, state, who))
            common_add(model, &common, view_of(model, state, who, VIEW_SEEN));
    for (unsigned who = 0; who < processes; who++) {
        if (is_finished(model, state, who))
            raise_to(model, view_of(model, state, who, VIEW_SEEN), &all, ends);
        else if (is_blind(model, state, who))
            raise_to(model, view_of(model, state, who, VIEW_SEEN), &common, ends);
    }
    for (unsigned who = 0; who < processes; who++)
        common_add(model, &all, view_of(model, state, who, VIEW_SEEN));
    raise_to(model, global_view(model, state), &all, ends);
}

static void raise_messages(const struct register_model *model, unsigned char *state,
                           unsigned process, unsigned index, const uint8_t *ends)
{
    struct history *history = history_of(model, state, process, index);
    const unsigned number = register_number(model, process, index);
    for (unsigned which = 0; which < history->count; which++) {
        struct common readers;
        common_clear(model, &readers);
        for (unsigned who = 0; who < model->system.processes; who++) {
            const struct view *seen = view_of(model, state, who, VIEW_SEEN);
            if (who != process && seen->from[number] <= which && !is_finished(model, state, who))
                common_add(model, &readers, seen);
        }
        raise_to(model, view_in(message_of(model, history, which)), &readers, ends);
    }
}

static void shift_view(const struct register_model *model, struct view *view,
                       const uint8_t *dropped)
{
    for (unsigned at = 0; at < model->registers; at++)
        view->from[at] = (uint8_t)(view->from[at] > dropped[at] ? view->from[at] - dropped[at] : 0);
}

static void shift(const struct register_model *model, unsigned char *state, const uint8_t *dropped)
{
    shift_view(model, global_view(model, state), dropped);
    for (unsigned who = 0; who < model->system.processes; who++) {
        for (unsigned which = 0; which < views_kept(model); which++)
            shift_view(model, view_of(model, state, who, which), dropped);
        for (unsigned index = 0; index < model->words; index++) {
            struct history *history = history_of(model, state, who, index);
            const unsigned gone = dropped[register_number(model, who, index)];
            const size_t size = message_size(model);
            memmove(history->messages, history->messages + gone * size,
                    (history->count - gone) * size);
            memset(history->messages + (history->count - gone) * size, 0, gone * size);
            history->count = (uint8_t)(history->count - gone);
            for (unsigned which = 0; which < history->count; which++)
                shift_view(model, view_in(message_of(model, history, which)), dropped);
        }
    }
}

void weak_normalise(const struct register_model *model, unsigned char *state)
{
    uint8_t ends[STATE_SIZE_MOST / 8];
    struct common reached;
    for (unsigned who = 0; who < model->system.processes; who++)
        for (unsigned index = 0; index < model->words; index++)
            ends[register_number(model, who, index)] = history_of(model, state, who, index)->count;
    if (!model->unreduced) {
        raise_threads(model, state, ends);
        for (unsigned who = 0; who < model->system.processes; who++)
            for (unsigned index = 0; index < model->words; index++)
                raise_messages(model, state, who, index, ends);
    }
    common_clear(model, &reached);
    for (unsigned who = 0; who < model->system.processes; who++)
        common_add(model, &reached, view_of(model, state, who, VIEW_SEEN));
    shift(model, state, reached.from);
}
