/* SPDX-License-Identifier: MIT */
/* What an access does beyond a plain fetch or store: flicker, malfunction, store buffers, sleep,
 * death. */
#include "check/registers/accesses.h"

#include <string.h>

#include "check/registers/naming_state.h"
#include "check/registers/register_model.h"
#include "check/registers/weak.h"

/* Rivest and Pratt 1977: "the equivalent of reading the value D in a public variable could be
 * obtained by timing out another process". One that runs may be taken for dead, or not. */
static word read_or_time_out(struct registers *at, unsigned place, unsigned index)
{
    const unsigned process = at->process_of[place];
    const word value = registers_of_process(at, process)[index];
    if (!model_process(at->model, at->state, process)->halted) {
        at->outcomes = 2;
        if (!at->choice)
            return value;
    }
    return at->model->protocol->dead ? at->model->protocol->dead(index, value) : 0;
}

/* The words of a malfunctioning process read as anything in their domain (Lamport 1976, section 1).
 */
word registers_read_unreliable(struct registers *at, unsigned place, unsigned index)
{
    word value = 0;
    if (at->model->timeouts)
        return read_or_time_out(at, place, index);
    at->outcomes = (uint8_t)at->model->protocol->domain(at, index, at->choice, &value);
    return value;
}

/* TSO: the newest of my own buffered stores, else memory. */
word registers_read_buffered(struct registers *at, unsigned index)
{
    const struct buffer *buffer = model_buffer(at->model, at->state, at->process);
    for (unsigned newest = buffer->count; newest-- > 0;)
        if (buffer->store[newest].index == index)
            return buffer->store[newest].value;
    return registers_of_process(at, at->process)[index];
}

void registers_drain(struct registers *at)
{
    struct buffer *buffer = model_buffer(at->model, at->state, at->process);
    registers_of_process(at, at->process)[buffer->store[0].index] = buffer->store[0].value;
    registers_note(at, ACCESS_WRITE, at->self, buffer->store[0].index, buffer->store[0].value);
    memmove(buffer->store, buffer->store + 1, sizeof buffer->store - sizeof *buffer->store);
    memset(buffer->store + BUFFER_MOST - 1, 0, sizeof *buffer->store);
    buffer->count--;
}

void registers_drain_all(struct registers *at)
{
    if (at->buffered)
        while (model_buffer(at->model, at->state, at->process)->count)
            registers_drain(at);
}

/* A fenced store waits until the buffer is empty. That the buffer drains store by store before it,
 * with others looking on, is in the moves that drain; so here it may drain at once. */
void registers_write_buffered(struct registers *at, unsigned index, word value, bool late)
{
    struct buffer *buffer = model_buffer(at->model, at->state, at->process);
    if (!late || buffer->count == BUFFER_MOST) {
        at->full |= late;
        registers_drain_all(at);
        registers_note(at, ACCESS_WRITE, at->self, index, value);
        registers_of_process(at, at->process)[index] = value;
        return;
    }
    buffer->store[buffer->count++] = (struct buffered){.index = (uint16_t)index, .value = value};
}

/* Safe: a read that overlaps a write returns anything. */
bool registers_read_bit(struct registers *at, unsigned place, unsigned index)
{
    const unsigned process = at->process_of[place];
    bool value = model_bit(at->model, at->state, process, index);
    if (model_process(at->model, at->state, process)->writing == index + 1) {
        at->outcomes = 2;
        value = at->choice;
    }
    registers_note(at, ACCESS_BIT, place, index, value);
    return value;
}

bool registers_own_bit(const struct registers *at, unsigned index)
{
    return model_bit(at->model, at->state, at->process, index);
}

void registers_begin_bit(struct registers *at, unsigned index, bool value)
{
    model_process(at->model, at->state, at->process)->writing = (uint16_t)(index + 1);
    registers_note(at, ACCESS_BEGIN, at->self, index, value);
}

void registers_end_bit(struct registers *at, unsigned index, bool value)
{
    model_process(at->model, at->state, at->process)->writing = 0;
    model_set_bit(at->model, at->state, at->process, index, value);
    registers_note(at, ACCESS_WRITE, at->self, index, value);
}

/* Lamport 1976, "Bounding number[i]": each value is at most one greater than a previously chosen
 * one. Every place remembers the greatest it drew, in its last register. */
void registers_check_draw(struct registers *at, word largest)
{
    const unsigned last = at->model->words - 1;
    word most = 0;
    for (unsigned process = 0; process < at->model->system.processes; process++) {
        const word drawn = registers_of_process(at, process)[last];
        most = drawn > most ? drawn : most;
    }
    if (largest > most)
        at->complaint = "bound";
    if (registers_of_process(at, at->process)[last] < largest + 1)
        registers_of_process(at, at->process)[last] = (word)(largest + 1);
}

/* Dijkstra's banker, who has given `who` one more unit: all can still get what they need, one after
 * another, each giving back what it has when it is done. */
static bool banker_is_safe(const struct register_model *model, const unsigned char *state,
                           unsigned who)
{
    unsigned free = model->units - 1, done = 0;
    for (unsigned other = 0; other < model->system.processes; other++)
        free -= model_process(model, state, other)->held;
    for (bool found = true; found;) {
        found = false;
        for (unsigned other = 0; other < model->system.processes; other++) {
            const unsigned held =
                model_process(model, state, other)->held + (other == who ? 1u : 0u);
            if (!(done >> other & 1) && model->needs - held <= free) {
                done |= 1u << other;
                free += held;
                found = true;
            }
        }
    }
    return done == (1u << model->system.processes) - 1;
}

/* The allocation problem: an acquire needs free units; a release needs nothing. */
bool model_condition(const struct register_model *model, const unsigned char *state,
                     unsigned process)
{
    const unsigned request = model_process(model, state, process)->request;
    if (model->problem != PROBLEM_ALLOCATION || (request & 3) == REQUEST_RELEASE ||
        (request & 3) == REQUEST_STRANGER)
        return true;
    unsigned held = 0;
    for (unsigned other = 0; other < model->system.processes; other++)
        held += model_process(model, state, other)->held;
    return held + request_units(request) <= model->units &&
           (!model->banker || banker_is_safe(model, state, process));
}

bool registers_condition(struct registers *at)
{
    const bool holds = model_condition(at->model, at->state, at->process);
    registers_note(at, ACCESS_WHEN, at->self, 0, holds);
    return holds;
}

bool registers_differ(struct registers *at, const struct watch *watch)
{
    if (at->weak)
        return weak_differs(at, watch);
    for (unsigned place = 0; place < at->places; place++)
        if (watch->places >> place & 1 &&
            registers_of_process(at, at->process_of[place])[0] != watch->seen[place])
            return true;
    return false;
}

/* futex_waitv: compare and fall asleep are one act. Once asleep, only a watched place's WAKE or
 * death ends it, and the process then goes on past its SLEEP. */
bool registers_asleep(struct registers *at, struct passage_head *head, struct watch *watch,
                      bool *woken)
{
    registers_drain_all(at);
    registers_note(at, ACCESS_SLEEP, at->self, 0, watch->places);
    if (at->model->protocol->asking && !watch->overflow)
        return asks_rest(at, head, watch, woken);
    *woken = head->woken;
    head->woken = 0;
    if (*woken)
        return false;
    at->naps = watch->overflow; /* it looks up by itself after a time */
    if (watch->overflow)
        return false;
    if (registers_differ(at, watch))
        return false;
    head->watched = watch->places | ASLEEP;
    return true;
}

/* Likewise, but whoever is roused, asleep or not since it listened, goes on. It looks up by itself
 * after a death alone, and only if it cannot watch all: see look_up(). */
bool registers_slumbers(struct registers *at, struct passage_head *head, struct watch *watch,
                        bool *woken)
{
    registers_drain_all(at);
    registers_note(at, ACCESS_SLEEP, at->self, 0, watch->places);
    bool goes_on = head->woken || head->alarm || registers_differ(at, watch);
    *woken = goes_on;
    goes_on |= head->slumbers && watch->overflow;
    head->woken = head->listens = 0;
    head->slumbers = !goes_on;
    if (!goes_on)
        head->watched = watch->places | ASLEEP;
    return !goes_on;
}

bool registers_conflict_between(const struct registers *at, unsigned j, unsigned mode_j, unsigned k,
                                unsigned mode_k)
{
    return model_rivals(at->model, j, k) && request_conflict(mode_j, mode_k);
}

bool registers_rival(const struct registers *at, unsigned place)
{
    const struct model_process *other = model_process(at->model, at->state, at->process_of[place]);
    if (at->named)
        return registers_rival_named(at, place);
    return at->rivals >> place & 1 &&
           (at->model->converts || request_conflict(at->request, other->request));
}

int model_class(const struct register_model *model, unsigned request)
{
    return (model->writers_first && (request & 3) == REQUEST_SHARED) -
           (model->by_priority && (request & REQUEST_URGENT) != 0);
}

int registers_precedence(const struct registers *at, unsigned place)
{
    const struct model_process *other = model_process(at->model, at->state, at->process_of[place]);
    if (at->model->protocol->knows_no_precedence)
        return 0;
    return model_class(at->model, other->request) - model_class(at->model, at->request);
}

unsigned registers_slots(const struct registers *at)
{
    return at->model->slots;
}

unsigned registers_overtake(const struct registers *at)
{
    return at->model->overtake;
}

bool registers_conditional(const struct registers *at)
{
    return at->model->problem == PROBLEM_ALLOCATION && (at->request & 3) == REQUEST_EXCLUSIVE;
}

/* Right or wrong: both guesses are tried. */
bool registers_calm(struct registers *at)
{
    if (!at->model->express)
        return false;
    at->outcomes = 2;
    return at->choice;
}

static void wake(struct registers *at, struct passage_head *sleeper)
{
    if (at->model->protocol->asking) {
        asks_hear(at, sleeper);
        return;
    }
    sleeper->watched = 0;
    sleeper->woken = 1;
}

static void wake_watchers(struct registers *at, unsigned place)
{
    for (unsigned process = 0; process < at->model->system.processes; process++) {
        struct passage_head *other = model_passage(at->model, at->state, process);
        if (other->watched >> place & 1)
            wake(at, other);
    }
}

void registers_wake(struct registers *at)
{
    registers_drain_all(at);
    registers_note(at, ACCESS_WAKE, at->self, 0, 0);
    wake_watchers(at, at->self);
}

void registers_wake_one(struct registers *at, unsigned place)
{
    struct passage_head *other = model_passage(at->model, at->state, at->process_of[place]);
    registers_drain_all(at);
    registers_note(at, ACCESS_WAKE, place, 0, 0);
    if (other->watched)
        wake(at, other);
}

void registers_rouse(struct registers *at, unsigned place)
{
    if (at->model->protocol->rouses_nobody) {
        registers_note(at, ACCESS_NONE, place, 0, 0);
        return;
    }
    registers_wake_one(at, place);
    ((struct passage_head *)model_passage(at->model, at->state, at->process_of[place]))->alarm = 1;
}

/* After a death. Of those that slumber one looks up by itself, the least; and so does whoever falls
 * asleep only now. */
static void look_up(struct registers *at)
{
    bool slumbers = false;
    for (unsigned place = 0; place < at->places; place++) {
        struct passage_head *other = model_passage(at->model, at->state, at->process_of[place]);
        if (other->watched && other->slumbers && !slumbers) {
            other->watched = 0;
            slumbers = true;
        }
        if (other->listens)
            other->slumbers = 1;
    }
}

unsigned registers_room(const struct registers *at)
{
    return at->model->room;
}

bool registers_retains(const struct registers *at)
{
    return at->model->protocol->withdrawn != NULL;
}

enum { BUSY = 1, RECALLED = 2, GRANT = 3 };

bool registers_recall_sees(struct registers *at, unsigned place, struct recall *memory)
{
    const word *words = registers_of_process(at, at->process_of[place]);
    registers_note(at, ACCESS_RECALL, place, 0, words[0]);
    memory->seen = words[0];
    memory->grant = words[GRANT];
    return at->model->protocol->withdrawn(words[0]) != words[0];
}

void registers_recall_says(struct registers *at, unsigned place, const struct recall *memory)
{
    registers_of_process(at, at->process_of[place])[RECALLED] = memory->grant;
    registers_note(at, ACCESS_RECALL, place, RECALLED, memory->grant);
}

/* membarrier: what the owner has stored is stored. */
void registers_recall_drains(struct registers *at, unsigned place)
{
    struct registers owner = *at;
    owner.process = at->process_of[place];
    owner.self = place;
    registers_drain_all(&owner);
    registers_note(at, ACCESS_RECALL, place, BUSY, 0);
}

bool registers_recall_may(struct registers *at, unsigned place)
{
    const word busy = registers_of_process(at, at->process_of[place])[BUSY];
    registers_note(at, ACCESS_RECALL, place, BUSY, busy);
    return busy == 0;
}

bool registers_recall_takes(struct registers *at, unsigned place, const struct recall *memory)
{
    word *first = registers_of_process(at, at->process_of[place]);
    registers_note(at, ACCESS_RECALL, place, 0, *first);
    if (*first != memory->seen)
        return false; /* it was inside since: again */
    *first = at->model->protocol->withdrawn(*first);
    wake_watchers(at, place);
    return true;
}

/* An alarm stays set until its owner resets it, whatever the owner does meanwhile. */
void registers_awake(struct registers *at, unsigned place)
{
    struct passage_head *other = model_passage(at->model, at->state, at->process_of[place]);
    other->alarm = 1;
    registers_note(at, ACCESS_AWAKE, place, 0, 0);
}

/* "We simply assume that a failed computer i performs an awake(alarm[j]) operation for each j"
 * (Lamport 1976). */
static void awake_all(struct registers *at)
{
    for (unsigned place = registers_next(at, 0); place < at->places;
         place = registers_next(at, place + 1))
        registers_awake(at, place);
}

static struct asked *asked_of(const struct registers *at, unsigned process)
{
    unsigned char *my = model_passage(at->model, at->state, process);
    return (struct asked *)(void *)(my + at->model->protocol->asked_at);
}

/* Asks a place for its register 0. True if the answer is deferred. */
bool registers_asked(struct registers *at, struct asked *mine, unsigned place)
{
    if (asked_of(at, at->process_of[place])->defers) {
        mine->place = (place + 1) & 0xf;
        registers_note(at, ACCESS_ASK, place, 0, 0);
        return true;
    }
    mine->answer = registers_read(at, place, 0);
    return false;
}

/* Answers all that wait for it. */
void registers_answer(struct registers *at, struct asked *mine)
{
    mine->defers = 0;
    for (unsigned process = 0; process < at->model->system.processes; process++) {
        struct asked *other = asked_of(at, process);
        if (other->place == at->self + 1) {
            other->place = 0;
            other->answered = 1;
            other->answer = registers_of_process(at, at->process)[0];
        }
    }
}

/* What becomes of the stores in the buffer of one that dies. The kernel marks a death by a store of
 * the same processor, which comes after them: they are all out by then, and how they came out, one
 * by one with others looking on, is in the moves that drain. With `lost_stores` the mark may
 * overtake them: so many come out, and the others never. */
static void let_out(struct registers *at)
{
    if (at->buffered && at->model->lost_stores) {
        struct buffer *buffer = model_buffer(at->model, at->state, at->process);
        at->outcomes = (uint8_t)(buffer->count + 1);
        for (unsigned out = 0; out < at->choice; out++)
            registers_drain(at);
        memset(buffer, 0, sizeof *buffer);
    }
    registers_drain_all(at);
}

/* "A process may die after any step: its public word becomes D at once, its private state is lost."
 * The kernel wakes who sleeps on the dead. */
void registers_kill(struct registers *at)
{
    const struct register_model *model = at->model;
    const struct register_protocol *protocol = model->protocol;
    struct model_process *process = model_process(model, at->state, at->process);
    let_out(at);
    for (unsigned index = 0; index < model->words; index++) {
        word *value = &registers_of_process(at, at->process)[index];
        *value = protocol->dead ? protocol->dead(index, *value) : 0;
    }
    if (at->weak)
        weak_die(at);
    for (unsigned index = 0; index < model->bits; index++)
        model_set_bit(
            model, at->state, at->process, index,
            protocol->dead_bit &&
                protocol->dead_bit(index, model_bit(at->model, at->state, at->process, index)));
    at->dies = true;
    if (protocol->sleeps)
        registers_wake(at);
    if (protocol->asked_at)
        /* the default value: no answer came in time */
        registers_answer(at, asked_of(at, at->process));
    if (protocol->alarms)
        awake_all(at);
    if (at->named)
        naming_die(at);
    const bool malfunctions = model->malfunction && process->part != PART_IDLE;
    struct model_process survivor = {.begun = process->begun, .named = process->named};
    if (model->fences)
        survivor.fence = process->fence;
    *process = survivor;
    memset(process + 1, 0, protocol->passage_size);
    if (protocol->sleeps)
        look_up(at);
    if (malfunctions)
        process->part = PART_MALFUNCTION;
    registers_note(at, ACCESS_NONE, at->self, 0, 0);
}
