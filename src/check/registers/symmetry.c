/* SPDX-License-Identifier: MIT */
/* Places taken for one another: see symmetry.h for the argument. */
#include "check/registers/symmetry.h"

#include <assert.h>
#include <string.h>

/* Where a process is in its scan. */
struct scanning {
    enum symmetry_point at; /* POINT_UNKNOWN: not in a part that scans */
    uint8_t passed;         /* places, a bit each; not its own */
    uint8_t place;          /* the one it is at */
};

/* A state, and what the rankings of its class have in common. */
struct ranked {
    const struct register_model *model;
    const unsigned char *state;
    unsigned places;
    struct scanning scanning[PROCESSES_MOST];
    uint64_t numbers[PROCESSES_MOST]; /* by which it is compared with others, a bit each */
    uint8_t before[PROCESSES_MOST];   /* by place: those that must rank before it, a bit each */
};

/* Where its next access is, by a step on a copy: of a place other than its own only in a scan. */
static enum symmetry_point learn(const struct register_model *model, const unsigned char *state,
                                 unsigned who)
{
    unsigned char copy[STATE_SIZE_MOST] __attribute__((aligned(8)));
    struct registers at;
    memcpy(copy, state, model->system.size);
    register_model_make(model, copy, (struct move){.process = (uint8_t)who, .kind = MOVE_STEP},
                        &at);
    if (at.access.place == who)
        return POINT_APART;
    for (const char *const *label = model->protocol->firsts; *label; label++)
        if (at.access.line && strcmp(*label, at.access.line->label) == 0)
            return POINT_FIRST;
    return POINT_WITH;
}

static struct scanning scanning_of(const struct register_model *model, const unsigned char *state,
                                   unsigned who)
{
    unsigned point = 0;
    const place_number *cursor = model->protocol->cursor(model_passage(model, state, who), &point);
    if (!cursor)
        return (struct scanning){0};
    assert(point < SYMMETRY_POINTS);
    _Atomic uint8_t *known = &model->symmetry->point[point];
    unsigned at = atomic_load_explicit(known, memory_order_relaxed);
    if (at == POINT_UNKNOWN) {
        at = learn(model, state, who);
        atomic_store_explicit(known, (uint8_t)at, memory_order_relaxed);
    }
    struct scanning scanning = {.at = at};
    if (at != POINT_APART) {
        scanning.place = *cursor;
        scanning.passed = (uint8_t)(((1u << *cursor) - 1) & ~(1u << who));
    }
    return scanning;
}

static bool scans(const struct scanning *scanning)
{
    return scanning->at == POINT_FIRST || scanning->at == POINT_WITH;
}

static unsigned all_places(const struct ranked *ranked)
{
    return (1u << ranked->places) - 1;
}

/* Whom its scan has yet to pass, the one that it is at among them. */
static unsigned ahead(const struct ranked *ranked, unsigned who)
{
    return all_places(ranked) & ~(ranked->scanning[who].passed | 1u << who);
}

static void put_before(struct ranked *ranked, unsigned first, unsigned then)
{
    for (unsigned place = 0; place < ranked->places; place++)
        if (then >> place & 1)
            ranked->before[place] = (uint8_t)(ranked->before[place] | first);
}

/* Places are ranked as they are now; so all that must be before a place is below it, and one round
 * upwards tells all that follows. */
static void rank_places(struct ranked *ranked, const struct register_model *model,
                        const unsigned char *state)
{
    *ranked = (struct ranked){.model = model, .state = state, .places = model->places};
    for (unsigned who = 0; who < ranked->places; who++) {
        struct scanning *scanning = &ranked->scanning[who];
        *scanning = scanning_of(model, state, who);
        ranked->numbers[who] = model->protocol->numbers(model, state, who);
        if (!scans(scanning))
            continue;
        put_before(ranked, scanning->passed, ahead(ranked, who));
        if (scanning->at == POINT_WITH)
            put_before(ranked, 1u << scanning->place,
                       ahead(ranked, who) & ~(1u << scanning->place));
    }
    for (unsigned later = 0; later < ranked->places; later++)
        for (unsigned place = 0; place < later; place++) {
            if (ranked->numbers[place] & ranked->numbers[later])
                put_before(ranked, 1u << place, 1u << later);
            if (ranked->before[later] >> place & 1)
                ranked->before[later] |= ranked->before[place];
        }
}

/* The same state under another ranking, `rank` by place. */
static void arrange(const struct ranked *ranked, const uint8_t *rank, unsigned char *out)
{
    const struct register_model *model = ranked->model;
    for (unsigned place = 0; place < ranked->places; place++) {
        memcpy(out + rank[place] * model->stride, ranked->state + place * model->stride,
               model->stride);
        struct passage_head *my = model_passage(model, out, rank[place]);
        my->watched = (uint8_t)symmetry_set(my->watched, ranked->places, rank);
        if (model->protocol->relabel)
            model->protocol->relabel(my, ranked->places, rank);
        const struct scanning *scanning = &ranked->scanning[place];
        if (!scans(scanning))
            continue;
        unsigned point, next = rank[scanning->place];
        if (scanning->at == POINT_FIRST) {
            const unsigned left = symmetry_set(ahead(ranked, place), ranked->places, rank);
            next = (unsigned)__builtin_ctz(left);
        }
        *model->protocol->cursor(my, &point) = (place_number)next;
    }
}

/* What a process is, whatever its rank and those of the others. */
static uint64_t likeness(const struct ranked *ranked, unsigned who)
{
    const struct register_model *model = ranked->model;
    uint64_t part[STATE_SIZE_MOST / sizeof(uint64_t)], hash = 0;
    memcpy(part, ranked->state + who * model->stride, model->stride);
    struct passage_head *my = model_passage(model, (unsigned char *)part, 0);
    my->watched = (uint8_t)__builtin_popcount(my->watched);
    if (model->protocol->relabel)
        model->protocol->relabel(my, ranked->places, NULL);
    if (scans(&ranked->scanning[who])) {
        unsigned point;
        *model->protocol->cursor(my, &point) =
            (place_number)__builtin_popcount(ranked->scanning[who].passed);
    }
    for (size_t at = 0; at < model->stride / sizeof *part; at++) {
        hash = (hash ^ part[at]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* The walk through the linear extensions of a state's order. */
struct extensions {
    const struct ranked *ranked;
    uint8_t rank[PROCESSES_MOST]; /* by place */
    /* where those that look alike are tried alone */
    bool least;
    uint64_t likeness[PROCESSES_MOST];
    void (*visit)(struct extensions *extensions);
    void *context;
};

static unsigned possible(const struct extensions *extensions, unsigned taken)
{
    const struct ranked *ranked = extensions->ranked;
    unsigned next = 0;
    uint64_t least = UINT64_MAX;
    for (unsigned place = 0; place < ranked->places; place++) {
        if (taken >> place & 1 || ranked->before[place] & ~taken)
            continue;
        if (extensions->least && extensions->likeness[place] < least) {
            least = extensions->likeness[place];
            next = 0;
        }
        if (!extensions->least || extensions->likeness[place] == least)
            next |= 1u << place;
    }
    return next;
}

static void extend(struct extensions *extensions, unsigned taken, uint8_t ranks)
{
    if (ranks == extensions->ranked->places) {
        extensions->visit(extensions);
        return;
    }
    for (unsigned next = possible(extensions, taken); next; next &= next - 1) {
        const unsigned place = (unsigned)__builtin_ctz(next);
        extensions->rank[place] = ranks;
        extend(extensions, taken | 1u << place, (uint8_t)(ranks + 1));
    }
}

struct least {
    unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
    bool some;
};

static void keep_least(struct extensions *extensions)
{
    unsigned char state[STATE_SIZE_MOST] __attribute__((aligned(8)));
    struct least *least = extensions->context;
    const size_t size = extensions->ranked->model->system.size;
    unsigned char *here = least->some ? state : least->state;
    arrange(extensions->ranked, extensions->rank, here);
    if (least->some && memcmp(state, least->state, size) < 0)
        memcpy(least->state, state, size);
    least->some = true;
}

void symmetry_hasten(const struct register_model *model, unsigned char *state)
{
    if (model->protocol->hasten)
        model->protocol->hasten(model, state);
    if (model->protocol->normalise && !model->unreduced)
        model->protocol->normalise(model, state);
}

void symmetry_canonical(const struct register_model *model, unsigned char *state)
{
    struct ranked ranked;
    struct least least;
    least.some = false;
    rank_places(&ranked, model, state);
    struct extensions extensions = {
        .ranked = &ranked, .least = true, .visit = keep_least, .context = &least};
    for (unsigned who = 0; who < ranked.places; who++)
        extensions.likeness[who] = likeness(&ranked, who);
    extend(&extensions, 0, 0);
    memcpy(state, least.state, model->system.size);
}

/* The moves of one process, in some members of a class. */
struct moves {
    struct successors *out;
    unsigned who, first; /* the first of its moves */
    bool tied;           /* two have equal numbers now whose order was open */
};

/* A move that makes two numbers equal leads elsewhere by who ranks first. */
static bool ties(const struct ranked *ranked, const uint8_t *rank, const unsigned char *next)
{
    uint64_t numbers[PROCESSES_MOST];
    for (unsigned place = 0; place < ranked->places; place++)
        numbers[place] = ranked->model->protocol->numbers(ranked->model, next, rank[place]);
    for (unsigned later = 0; later < ranked->places; later++)
        for (unsigned place = 0; place < later; place++)
            if (numbers[place] & numbers[later] && !(ranked->before[later] >> place & 1))
                return true;
    return false;
}

/* Whether the last successor is one of the process's moves already; then it is taken out. */
static void leave_out_copy(struct moves *moves)
{
    struct successors *out = moves->out;
    const unsigned last = out->count - 1;
    for (unsigned at = moves->first; at < last; at++)
        if (out->complaint[at] == out->complaint[last] && out->stays[at] == out->stays[last] &&
            memcmp(out->states + at * out->size, out->states + last * out->size, out->size) == 0) {
            out->count--;
            return;
        }
}

/* One that was hastened to where it is idle may have died on the way. */
static void die_idle(const struct register_model *model, const unsigned char *member, unsigned who,
                     struct successors *out)
{
    const struct move move = {.process = (uint8_t)who, .kind = MOVE_DEATH};
    struct registers at;
    if (!model->deaths || !model->protocol->hasten ||
        model_process(model, member, who)->part != PART_IDLE)
        return;
    unsigned char *next = successors_add(out, move);
    memcpy(next, member, model->system.size);
    register_model_make(model, next, move, &at);
}

static void move_member(const struct ranked *ranked, const uint8_t *rank, struct moves *moves)
{
    unsigned char member[STATE_SIZE_MOST] __attribute__((aligned(8)));
    struct successors *out = moves->out;
    const unsigned begin = out->count;
    arrange(ranked, rank, member);
    register_model_moves(ranked->model, member, out, rank[moves->who]);
    die_idle(ranked->model, member, rank[moves->who], out);
    const unsigned end = out->count;
    out->count = begin;
    for (unsigned at = begin; at < end; at++) {
        unsigned char *const next = out->states + at * out->size;
        if (!out->stays[at]) {
            symmetry_hasten(ranked->model, next);
            moves->tied |= ties(ranked, rank, next);
            symmetry_canonical(ranked->model, next);
        }
        const unsigned last = out->count++;
        if (last != at) {
            out->move[last] = out->move[at];
            out->stays[last] = out->stays[at];
            out->complaint[last] = out->complaint[at];
            memcpy(out->states + last * out->size, next, out->size);
        }
        leave_out_copy(moves);
    }
}

static void move_visited(struct extensions *extensions)
{
    move_member(extensions->ranked, extensions->rank, extensions->context);
}

static void move_all_members(const struct ranked *ranked, struct moves *moves)
{
    struct extensions extensions = {.ranked = ranked, .visit = move_visited, .context = moves};
    moves->out->count = moves->first;
    extend(&extensions, 0, 0);
}

/* The rankings differ for one that looks at another place next in whom it looks at: any that may
 * rank before all others it has yet to pass. */
static void move_some_members(const struct ranked *ranked, struct moves *moves)
{
    const struct scanning *scanning = &ranked->scanning[moves->who];
    const unsigned left = ahead(ranked, moves->who);
    uint8_t rank[PROCESSES_MOST];
    for (unsigned place = 0; place < ranked->places; place++)
        rank[place] = (uint8_t)place;
    if (scanning->at != POINT_FIRST) {
        move_member(ranked, rank, moves);
        return;
    }
    for (unsigned next = 0; next < ranked->places; next++) {
        if (!(left >> next & 1) || ranked->before[next] & left)
            continue;
        /* those that must be before it, it, and the rest, each as they are ranked now */
        const unsigned early = ranked->before[next] | 1u << next;
        uint8_t ranks = 0;
        for (unsigned place = 0; place < ranked->places; place++)
            if (early >> place & 1)
                rank[place] = ranks++;
        for (unsigned place = 0; place < ranked->places; place++)
            if (!(early >> place & 1))
                rank[place] = ranks++;
        move_member(ranked, rank, moves);
    }
}

void symmetry_successors(const struct system *system, const unsigned char *state,
                         struct successors *out)
{
    const struct register_model *model = system->context;
    struct ranked ranked;
    rank_places(&ranked, model, state);
    for (unsigned who = 0; who < ranked.places; who++) {
        struct moves moves = {.out = out, .who = who, .first = out->count};
        if (!model->symmetry->thorough)
            move_some_members(&ranked, &moves);
        if (model->symmetry->thorough || moves.tied)
            move_all_members(&ranked, &moves);
    }
}
