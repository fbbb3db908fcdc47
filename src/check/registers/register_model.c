/* SPDX-License-Identifier: MIT */
/* A register protocol as a system to search: processes that begin, pass, leave, give up, die and
 * return. */
#include "check/registers/register_model.h"

#include <assert.h>
#include <string.h>

#include "check/registers/naming_state.h"
#include "check/registers/register_judge.h"
#include "check/registers/weak.h"

static struct registers registers_of(const struct register_model *model, unsigned char *state,
                                     unsigned process)
{
    struct registers at = {
        .model = model,
        .state = state,
        .process_of = model->process_of,
        .words = state + model->words_at,
        .stride = model->stride,
        .process = process,
        .self = model->place_of[process],
        .places = model->places,
        .rivals = model->rivals[model->place_of[process]],
        .request = model_process(model, state, process)->request,
        .target = model_process(model, state, process)->target,
        .buffered = model->tso,
        .weak = model->weak,
        .checks_draws = model->protocol->checks_draws,
        .named = model->renames != 0,
        .outcomes = 1,
    };
    if (model->malfunction)
        for (unsigned other = 0; other < model->system.processes; other++)
            if (model_process(model, state, other)->part == PART_MALFUNCTION)
                at.unreliable |= 1u << other;
    if (model->timeouts)
        for (unsigned other = 0; other < model->system.processes; other++)
            if (other != process &&
                (model->timeouts == TIMEOUTS_WRONG || model_process(model, state, other)->halted))
                at.unreliable |= 1u << other;
    return at;
}

/* One access of leaving, or of parting with the region while units are kept. Nobody enters by it.
 */
static bool depart(const struct register_model *model, struct registers *at)
{
    struct model_process *process = model_process(model, at->state, at->process);
    struct passage_head *my = model_passage(model, at->state, at->process);
    const bool parts = process->part == PART_PARTING;
    enum passage_result (*const passage)(void *my, struct registers *at) =
        parts ? model->protocol->hold : model->protocol->leave;
    if ((my->point == 0 && passage(my, at) == PASSED) || passage(my, at) == PASSED) {
        process->part = parts ? PART_HOLDING : PART_IDLE;
        process->request = 0;
        process->target = process->converted = 0;
    }
    return false;
}

/* The process makes its next access and runs on to the one after. True if with it the process is
 * inside. */
static bool advance(const struct register_model *model, struct registers *at)
{
    const struct register_protocol *protocol = model->protocol;
    struct model_process *process = model_process(model, at->state, at->process);
    struct passage_head *my = model_passage(model, at->state, at->process);
    switch (process->part) {
    case PART_IDLE:
        process->part = PART_ENTERING;
        __attribute__((fallthrough));
    case PART_ENTERING:
        my->again = my->heeds = 0;
        if (my->point == 0 && protocol->enter(my, at) == PASSED) {
            process->part = PART_INSIDE; /* it entered without an access */
            return true;
        }
        if (protocol->enter(my, at) == PASSED) {
            process->part = PART_INSIDE;
            my->queued = 0;
            return true;
        }
        return false;
    case PART_INSIDE:
        if (model->problem == PROBLEM_ALLOCATION && (process->request & 3) != REQUEST_STRANGER)
            process->held = (process->request & 3) == REQUEST_RELEASE
                                ? 0
                                : (process->held + request_units(process->request)) & 7u;
        process->part = protocol->hold && process->held ? PART_PARTING : PART_LEAVING;
        return depart(model, at);
    case PART_CONVERTING:
    case PART_STAYING:
        model_convert(at);
        return false;
    case PART_HOLDING:
        process->held = 0;
        process->part = PART_LEAVING;
        return depart(model, at);
    case PART_PARTING:
    case PART_LEAVING:
        return depart(model, at);
    case PART_NAMING:
        if (naming_step(at)) {
            process->part = PART_IDLE;
            process->target = 0;
        }
        return false;
    default:
        return false;
    }
}

/* Whether anything a process may ask for can be asked for now: the allocation problem's processes
 * acquire, then release. */
static bool may_request(const struct register_model *model, const struct model_process *process,
                        unsigned request)
{
    if (!(model->requests >> request & 1) ||
        (model->passages && process->begun == model->passages && !process->held))
        return false; /* what was acquired may always be released */
    if (model->problem == PROBLEM_ALLOCATION)
        return (process->held >= model->needs) == ((request & 3) == REQUEST_RELEASE);
    return true;
}

/* A request that starts a passage shares the move's `choice` with the outcome of its first access.
 */
enum { CHOICE_SHIFT = 3 };

static bool make(const struct register_model *model, unsigned char *state, struct move move,
                 struct registers *at)
{
    struct model_process *process = model_process(model, state, move.process);
    if (move.kind == MOVE_START && process->part == PART_INSIDE) {
        process->part = PART_CONVERTING;
        process->target = move.choice & 3u;
        process->converted = (process->converted + 1u) & 3u;
    } else if (move.kind == MOVE_START && model->renames && move.choice & REQUEST_NAME) {
        process->part = PART_NAMING;
        process->target = move.choice & 1u;
        process->named = (process->named + 1u) & 15u;
    } else if (move.kind == MOVE_START) {
        process->request = move.choice & 7u;
        if (model->passages && !process->held)
            process->begun = (process->begun + 1u) & 31u;
    }
    *at = registers_of(model, state, move.process);
    at->choice = move.kind == MOVE_START ? move.choice >> CHOICE_SHIFT : move.choice;
    switch (move.kind) {
    case MOVE_ABORT:
        memset(model_passage(model, state, move.process), 0, model->protocol->passage_size);
        process->part = process->part == PART_CONVERTING ? PART_STAYING : PART_LEAVING;
        if (at->named)
            naming_abandon(at);
        __attribute__((fallthrough));
    case MOVE_START:
    case MOVE_STEP:
        return advance(model, at);
    case MOVE_DEATH:
        registers_kill(at);
        return false;
    case MOVE_SYSTEM: /* one that malfunctions falls quiet; else what was stored is seen */
        if (process->part == PART_MALFUNCTION)
            process->part = PART_IDLE;
        else if (model->errors)
            errors_repair(at);
        else if (model->weak)
            weak_catch_up(at);
        else
            registers_drain(at);
        return false;
    default: /* MOVE_FAULT */
        if (model->errors)
            errors_strike(at, move.choice);
        else
            process->halted = 1;
        return false;
    }
}

bool register_model_make(const struct register_model *model, unsigned char *state, struct move move,
                         struct registers *at)
{
    const bool enters = make(model, state, move, at);
    if (!model->weak)
        return enters;
    if (enters) {
        const char *race = weak_enter(at);
        at->complaint = at->complaint ? at->complaint : race;
    }
    /* also where the search's reductions are not wanted: the lists would outgrow their room */
    weak_normalise(model, state);
    return enters;
}

void register_model_step_blindly(const struct register_model *model, unsigned char *state,
                                 unsigned who)
{
    struct registers at = registers_of(model, state, who);
    at.blind = true;
    advance(model, &at);
}

static bool same(const struct register_model *model, const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, model->system.size) == 0;
}

/* Where the process stood before the step that `at` has made. What the keeper of another does in
 * its name it need not await. */
static enum waits waits_before(const struct register_model *model, const unsigned char *state,
                               unsigned who, const struct registers *at)
{
    const struct passage_head *my = model_passage(model, state, who);
    if (my->again || at->naps)
        return WAITS_NAPS;
    return my->heeds || at->access.kind == ACCESS_RECALL ? WAITS_HEEDS : WAITS_NOT;
}

static bool has_register(const struct register_model *model, const struct access *access)
{
    const bool plain = access->kind == ACCESS_READ || access->kind == ACCESS_WRITE;
    return !plain || access->index < model->words || access->index < model->bits;
}

/* All outcomes of one move. `request`: what is asked for, if one begins; which error, if one
 * strikes. */
static void add(const struct register_model *model, const unsigned char *state,
                struct successors *out, unsigned who, enum move_kind kind, unsigned request)
{
    uint8_t outcomes = 1;
    for (unsigned choice = 0; choice < outcomes; choice++) {
        struct move move = {.process = (uint8_t)who, .kind = (uint8_t)kind};
        move.choice = (uint8_t)(kind == MOVE_START   ? choice << CHOICE_SHIFT | request
                                : kind == MOVE_FAULT ? request
                                                     : choice);
        unsigned char *next = successors_add(out, move);
        memcpy(next, state, model->system.size);
        struct registers at;
        const char *complaint = NULL;
        if (register_model_make(model, next, move, &at)) {
            out->move[out->count - 1].enters = 1;
            complaint = register_entry(model, next, who);
            if (model->fences && !complaint)
                complaint = register_fence(model, &at);
        }
        assert(has_register(model, &at.access) && "the protocol's .words or .bits is too small");
        assert((kind != MOVE_START || !model->protocol->begins_with_write ||
                at.access.kind == ACCESS_WRITE ||
                model_process(model, state, who)->part == PART_INSIDE || model->renames) &&
               "the protocol begins otherwise");
        if (at.complaint)
            complaint = at.complaint;
        out->complaint[out->count - 1] = complaint;
        if (kind == MOVE_STEP)
            out->move[out->count - 1].waits = waits_before(model, state, who, &at) & 3u;
        outcomes = at.outcomes;
        out->overflow |= at.overflow;
        out->full |= at.full;
        if ((at.access.kind == ACCESS_READ || at.access.kind == ACCESS_NONE) &&
            same(model, state, next)) {
            out->stays[out->count - 1] = true;
            out->move[out->count - 1].waits = WAITS_NAPS;
        } else if (model->protocol->normalise && !model->unreduced && !model->weak) {
            model->protocol->normalise(model, next);
        }
    }
}

static void add_starts(const struct register_model *model, const unsigned char *state,
                       struct successors *out, unsigned who)
{
    const struct model_process *process = model_process(model, state, who);
    for (unsigned name = 0; model->renames && name < NAMES; name++)
        if (naming_may_take(model, state, who, name))
            add(model, state, out, who, MOVE_START, REQUEST_NAME | name);
    if (model->renames && naming_of(model, state, who)->life != NAMING_ALIVE)
        return;
    for (unsigned request = 0; request < REQUESTS_MOST; request++)
        if (may_request(model, process, request) &&
            (!model->protocol->may_begin || model->protocol->may_begin(model, state, who, request)))
            add(model, state, out, who, MOVE_START, request);
}

/* Inside: it may change its mode, to any of those that are asked for. */
static void add_conversions(const struct register_model *model, const unsigned char *state,
                            struct successors *out, unsigned who)
{
    const struct model_process *process = model_process(model, state, who);
    for (unsigned mode = 0; mode < MODEL_MODES; mode++)
        if (model->requests >> mode & 1 && mode != (process->request & 3u) &&
            process->converted < CONVERSIONS_MOST)
            add(model, state, out, who, MOVE_START, mode);
}

/* A process in its passage: it goes on, or gives up where it waits. */
static void add_steps(const struct register_model *model, const unsigned char *state,
                      struct successors *out, unsigned who)
{
    const struct passage_head *my = model_passage(model, state, who);
    bool waits = my->watched & ASLEEP || my->again || my->heeds;
    if (model->protocol->asking ? asks_may_move(my) : !my->watched) {
        const unsigned first = out->count;
        add(model, state, out, who, MOVE_STEP, 0);
        waits |= out->stays[first] || (model->renames && out->move[first].waits == WAITS_NAPS);
    }
    const enum part part = model_process(model, state, who)->part;
    if (model->aborts && waits && (part == PART_ENTERING || part == PART_CONVERTING))
        add(model, state, out, who, MOVE_ABORT, 0);
    if (model->converts && part == PART_INSIDE)
        add_conversions(model, state, out, who);
}

/* What may befall one of its words, and that one outside puts it right. */
static void add_errors(const struct register_model *model, const unsigned char *state,
                       struct successors *out, unsigned who)
{
    unsigned char copy[STATE_SIZE_MOST] __attribute__((aligned(8)));
    memcpy(copy, state, model->system.size);
    const unsigned count = errors_count(model, copy, who);
    for (unsigned which = 0; which < count; which++)
        add(model, state, out, who, MOVE_FAULT, which);
    if (errors_linger(model, state, who))
        add(model, state, out, who, MOVE_SYSTEM, 0);
}

static unsigned count_halted(const struct register_model *model, const unsigned char *state)
{
    unsigned halted = 0;
    for (unsigned who = 0; who < model->system.processes; who++)
        halted += model_process(model, state, who)->halted;
    return halted;
}

void register_model_moves(const struct register_model *model, const unsigned char *state,
                          struct successors *out, unsigned who)
{
    const struct model_process *process = model_process(model, state, who);
    if (process->halted)
        return;
    if (model->errors)
        add_errors(model, state, out, who);
    if (process->part == PART_MALFUNCTION) {
        add(model, state, out, who, MOVE_SYSTEM, 0);
        return;
    }
    if (model->tso && model_buffer(model, state, who)->count)
        add(model, state, out, who, MOVE_SYSTEM, 0);
    if (model->catches_up && weak_is_behind(model, state, who))
        add(model, state, out, who, MOVE_SYSTEM, 0);
    if (process->part == PART_IDLE) {
        add_starts(model, state, out, who);
        /* it dies between two passages, and what it holds is free; or its place is */
        if (model->deaths &&
            (process->held ||
             (model->renames && naming_of(model, state, who)->life == NAMING_ALIVE)))
            add(model, state, out, who, MOVE_DEATH, 0);
        return;
    }
    add_steps(model, state, out, who);
    if (model->deaths)
        add(model, state, out, who, MOVE_DEATH, 0);
    if (model->halts && count_halted(model, state) < model->halts)
        add(model, state, out, who, MOVE_FAULT, 0);
}

void register_model_successors(const struct system *system, const unsigned char *state,
                               struct successors *out)
{
    for (unsigned who = 0; who < system->processes; who++)
        register_model_moves(system->context, state, out, who);
}
