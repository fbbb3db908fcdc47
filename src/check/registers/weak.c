/* SPDX-License-Identifier: MIT */
/* Registers in the memory of C11: messages and views. See weak.h. */
#include "check/registers/weak.h"

#include <string.h>

#include "check/registers/weak_parts.h"

/* As many messages of a register as a state has room for, and no more than this. */
enum { HISTORY_MOST = 24 };

void weak_lay_out(struct register_model *model)
{
    const unsigned processes = (unsigned)__builtin_popcount(model->alive);
    model->registers = processes * model->words;
    model->view_size = (sizeof(struct view) + model->registers + 1) & ~(size_t)1;
    const size_t head = sizeof(struct weak_thread) + (views_kept(model) + 1) * model->view_size;
    model->weak_at = (model->buffer_at + 1) & ~(size_t)1;
    model->histories_at = model->weak_at + head;
    const size_t room = (STATE_SIZE_MOST / processes & ~(size_t)7) - model->histories_at;
    const size_t most = (room / model->words - sizeof(struct history)) / message_size(model);
    model->history_most = (uint8_t)(most < HISTORY_MOST ? most : HISTORY_MOST);
    model->stride = (model->histories_at + model->words * history_size(model) + 7) & ~(size_t)7;
}

unsigned weak_count(const struct register_model *model, const unsigned char *state,
                    unsigned process, unsigned index)
{
    return history_of(model, state, process, index)->count;
}

word weak_value(const struct register_model *model, const unsigned char *state, unsigned process,
                unsigned index, unsigned message)
{
    return message_of(model, history_of(model, state, process, index), message)->value;
}

static void join(const struct register_model *model, struct view *view, const struct view *other)
{
    view->known |= other->known;
    for (unsigned at = 0; at < model->registers; at++)
        if (other->from[at] > view->from[at])
            view->from[at] = other->from[at];
}

static void copy(const struct register_model *model, struct view *view, const struct view *other)
{
    memcpy(view, other, model->view_size);
}

static void clear(const struct register_model *model, struct view *view)
{
    memset(view, 0, model->view_size);
}

bool weak_is_behind(const struct register_model *model, const unsigned char *state, unsigned who)
{
    const struct view *seen = view_of(model, state, who, VIEW_SEEN);
    for (unsigned process = 0; process < model->system.processes; process++)
        for (unsigned index = 0; index < model->words; index++)
            if (seen->from[register_number(model, process, index)] + 1u <
                history_of(model, state, process, index)->count)
                return true;
    return false;
}

void weak_catch_up(struct registers *at)
{
    const struct register_model *model = at->model;
    struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    for (unsigned process = 0; process < model->system.processes; process++)
        for (unsigned index = 0; index < model->words; index++)
            seen->from[register_number(model, process, index)] =
                (uint8_t)(history_of(model, at->state, process, index)->count - 1);
}

void weak_begin(const struct register_model *model, unsigned char *state)
{
    for (unsigned process = 0; process < model->system.processes; process++) {
        view_of(model, state, process, VIEW_SEEN)->known = known_all(model);
        for (unsigned index = 0; index < model->words; index++)
            history_of(model, state, process, index)->count = 1;
    }
    weak_normalise(model, state);
}

/* Whether the access that is being made was said to be weaker than it is. */
static bool is_weakened(struct registers *at, const char *label, bool relaxed)
{
    bool found = false;
    for (unsigned which = 0; which < at->model->weakened_count; which++) {
        struct weakening *weakening = &at->model->weakened[which];
        if (weakening->relaxed == relaxed && strcmp(weakening->label, label) == 0) {
            found = true;
            /* several may make moves at once (search/crew.h) */
            __atomic_store_n(&weakening->met, true, __ATOMIC_RELAXED);
        }
    }
    return found;
}

static bool is_relaxed(struct registers *at)
{
    return at->relaxed || is_weakened(at, at->access.line->label, true);
}

word registers_read_weak(struct registers *at, unsigned place, unsigned index)
{
    const struct register_model *model = at->model;
    const unsigned process = at->process_of[place];
    const unsigned number = register_number(model, process, index);
    struct history *history = history_of(model, at->state, process, index);
    struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    at->outcomes = (uint8_t)(history->count - seen->from[number]);
    at->newer = at->choice;
    const unsigned which = history->count - 1u - at->choice;
    struct stored *message = message_of(model, history, which);
    const bool relaxed = is_relaxed(at);
    join(model, relaxed ? view_of(model, at->state, at->process, VIEW_PENDING) : seen,
         view_in(message));
    if (which > seen->from[number])
        seen->from[number] = (uint8_t)which;
    return message->value;
}

/* One more message of a register of the process that moves, with that view. */
static void add_message(struct registers *at, unsigned index, const struct view *view)
{
    const struct register_model *model = at->model;
    struct history *history = history_of(model, at->state, at->process, index);
    if (history->count == model->history_most) {
        at->full = true;
        return;
    }
    struct stored *message = message_of(model, history, history->count);
    const unsigned number = register_number(model, at->process, index);
    message->value = registers_of_process(at, at->process)[index];
    copy(model, view_in(message), view);
    view_in(message)->from[number] = history->count;
    view_of(model, at->state, at->process, VIEW_SEEN)->from[number] = history->count;
    history->count++;
    for (unsigned who = 0; who < model->system.processes; who++) {
        struct view *seen = view_of(model, at->state, who, VIEW_SEEN);
        if (history->count - 1u > model->lag + seen->from[number])
            seen->from[number] = (uint8_t)(history->count - 1 - model->lag);
    }
}

void registers_write_weak(struct registers *at, unsigned index)
{
    add_message(
        at, index,
        view_of(at->model, at->state, at->process, is_relaxed(at) ? VIEW_RELEASED : VIEW_SEEN));
}

bool registers_fences_weak(struct registers *at)
{
    if (is_weakened(at, at->access.line->label, false))
        return false;
    thread_of(at->model, at->state, at->process)->fencing = 1;
    return true;
}

/* What a thread has seen by relaxed fetches it has seen now, and what it stores from now on carries
 * that. */
static void settle(struct registers *at)
{
    const struct register_model *model = at->model;
    if (!model->apart)
        return;
    struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    struct view *pending = view_of(model, at->state, at->process, VIEW_PENDING);
    join(model, seen, pending);
    clear(model, pending);
    copy(model, view_of(model, at->state, at->process, VIEW_RELEASED), seen);
}

static void fence(struct registers *at)
{
    const struct register_model *model = at->model;
    struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    settle(at);
    join(model, seen, global_view(model, at->state));
    copy(model, global_view(model, at->state), seen);
    settle(at);
    thread_of(model, at->state, at->process)->fencing = 0;
}

void registers_fence(struct registers *at)
{
    fence(at);
    registers_note(at, ACCESS_FENCE, at->self, 0, 0);
}

void registers_barrier(struct registers *at)
{
    const bool left_out = at->weak && is_weakened(at, at->access.line->label, false);
    if (at->weak && !left_out)
        settle(at);
    registers_note(at, ACCESS_FENCE, at->self, 0, left_out);
}

void weak_die(struct registers *at)
{
    const struct register_model *model = at->model;
    struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    unsigned char nothing[STATE_SIZE_MOST] __attribute__((aligned(8))) = {0};
    settle(at);
    const bool relaxed = is_weakened(at, "death", true);
    for (unsigned index = 0; index < model->words; index++)
        add_message(at, index, relaxed ? (struct view *)(void *)nothing : seen);
    thread_of(model, at->state, at->process)->fencing = 0;
    if (!is_weakened(at, "death", false))
        fence(at);
}

bool weak_differs(struct registers *at, const struct watch *watch)
{
    const struct register_model *model = at->model;
    const struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    bool may = false, must = false;
    fence(at);
    for (unsigned place = 0; place < at->places; place++) {
        if (!(watch->places >> place & 1))
            continue;
        const unsigned process = at->process_of[place];
        struct history *history = history_of(model, at->state, process, 0);
        bool alike = false;
        for (unsigned which = seen->from[register_number(model, process, 0)];
             which < history->count; which++) {
            const bool differs = message_of(model, history, which)->value != watch->seen[place];
            may |= differs;
            alike |= !differs;
        }
        must |= !alike;
    }
    if (may && !must)
        at->outcomes = 2;
    return must || (may && at->choice);
}

static unsigned knows(unsigned process, unsigned request)
{
    return 1u << (2 * process + ((request & 3) == REQUEST_SHARED));
}

/* No view but its own comes after what is done inside from now on. */
static void forget(const struct register_model *model, unsigned char *state, unsigned passages)
{
    const uint16_t kept = (uint16_t)~passages;
    global_view(model, state)->known &= kept;
    for (unsigned process = 0; process < model->system.processes; process++) {
        for (unsigned which = 0; which < views_kept(model); which++)
            view_of(model, state, process, which)->known &= kept;
        for (unsigned index = 0; index < model->words; index++) {
            struct history *history = history_of(model, state, process, index);
            for (unsigned which = 0; which < history->count; which++)
                view_in(message_of(model, history, which))->known &= kept;
        }
    }
}

const char *weak_enter(struct registers *at)
{
    const struct register_model *model = at->model;
    struct view *seen = view_of(model, at->state, at->process, VIEW_SEEN);
    unsigned wanted = 0;
    for (unsigned process = 0; process < model->system.processes; process++)
        for (unsigned request = REQUEST_EXCLUSIVE; request <= REQUEST_SHARED; request++)
            if (process != at->process && request_conflict(at->request, request))
                wanted |= knows(process, request);
    const bool knows_all = (seen->known & wanted) == wanted;
    const unsigned mine = knows(at->process, at->request);
    forget(model, at->state, mine);
    seen->known |= (uint16_t)mine;
    return model->slots > 1 || knows_all ? NULL : "race";
}
