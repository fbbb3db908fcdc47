/* SPDX-License-Identifier: MIT */
/* `fork`: the fork alone, between two that take and offer it and one that only reads it.
 *
 * D. Dolev, E. Gafni and N. Shavit, Toward a Non-Atomic Era: l-Exclusion as a Test Case, STOC 1988,
 * section 3.1. A passage is one operation. One read of the run, any one, is R1 of the properties P3
 * to P5; every later read, of anybody, is judged as R2. What happened between the two is kept in a
 * record that no process can see.
 */
#ifndef AFTERYOU_CHECK_PAPERS_FORK_ALONE_H
#define AFTERYOU_CHECK_PAPERS_FORK_ALONE_H

#include "check/registers/register_model.h"
#include "protocols/registers/fork.h"

/* What a passage asks for. */
enum { FORK_READ = 0, FORK_TAKE = 1, FORK_OFFER = 2, FORK_FIRST_READ = REQUEST_URGENT };

/* R1 and what came after it; process 0 keeps it. Mutations are bits: take_0, offer_0, take_1,
 * offer_1. */
struct fork_record {
    uint8_t begun : 1, ended : 1;
    uint8_t reader : 2;
    struct fork_reading value;
    uint8_t overlaps : 4;  /* mutations that were made while R1 or later */
    uint8_t completed : 4; /* those that began after R1 ended, and have ended */
};

struct fork_alone_passage {
    PASSAGE_HEAD
    struct fork_memory memory;
    struct fork_record record;
    uint8_t follows : 1;   /* this operation began after R1 had ended */
    uint8_t completed : 4; /* what was completed when it began */
    union {
        struct fork_read read;
        struct fork_mutation mutation;
    };
};

static inline struct fork_record *fork_record(struct registers *at)
{
    struct fork_alone_passage *first = model_passage(at->model, at->state, 0);
    return &first->record;
}

static inline unsigned fork_mutation_bit(unsigned place, unsigned request)
{
    return request == FORK_TAKE || request == FORK_OFFER ? 1u << (2 * place + (request & 2) / 2)
                                                         : 0;
}

/* The mutations that others are making now. */
static inline unsigned fork_under_way(struct registers *at)
{
    unsigned bits = 0;
    for (unsigned other = 0; other < at->model->system.processes; other++) {
        const struct model_process *process = model_process(at->model, at->state, other);
        if (other != at->process && process->part == PART_ENTERING)
            bits |= fork_mutation_bit(other, process->request);
    }
    return bits;
}

static inline void fork_alone_begins(struct fork_alone_passage *my, struct registers *at)
{
    struct fork_record *record = fork_record(at);
    if (at->request == FORK_FIRST_READ)
        *record = (struct fork_record){
            .begun = 1, .reader = at->self & 3, .overlaps = fork_under_way(at) & 15};
    my->follows = record->ended;
    my->completed = record->completed;
    if (record->begun)
        record->overlaps = (record->overlaps | fork_mutation_bit(at->self, at->request)) & 15;
}

static inline bool fork_same(struct fork_reading a, struct fork_reading b)
{
    return a.held_by_high == b.held_by_high && a.in_use == b.in_use;
}

/* P5, of mutator i; R2 has read `now`. NULL if it holds. */
static inline const char *fork_mutable(const struct fork_record *r1, unsigned completed,
                                       struct fork_reading now, unsigned i)
{
    const unsigned j = !i, take = 1u << 2 * i, offer = take << 1,
                   its = 3u << 2 * j; /* take_j and offer_j */
    const bool mine = fork_used_by(r1->value, i, j), to_me = fork_offered_by(r1->value, j, i);
    if (completed & take && (mine || to_me) && !(r1->overlaps & offer) && !fork_used_by(now, i, j))
        return "P5a";
    if (completed & offer && mine && (r1->overlaps & (take | its)) != (take | its) &&
        fork_used_by(now, i, j))
        return "P5b";
    if (completed & take && to_me && (r1->overlaps & (offer | its)) != (offer | its) &&
        fork_offered_by(now, j, i))
        return "P5b";
    if (completed & offer && mine && !(r1->overlaps & ~offer & 15u) && !fork_offered_by(now, i, j))
        return "P5c";
    return NULL;
}

/* R2 has ended. NULL, or what it breaks. */
static inline const char *fork_judge(const struct fork_record *r1, unsigned completed,
                                     unsigned reader, struct fork_reading now)
{
    const unsigned its = reader < 2 ? 3u << 2 * reader : 0, other = !reader;
    const bool same = fork_same(r1->value, now);
    if (!r1->overlaps && !same)
        return "P3a";
    if (reader < 2 && !(r1->overlaps & its) && !same) {
        if (r1->reader == reader &&
            (fork_offered_by(r1->value, other, reader) || fork_used_by(r1->value, reader, other)))
            return "P3b";
        if (fork_offered_by(r1->value, other, reader))
            return "P4";
    }
    const char *broken = fork_mutable(r1, completed, now, 0);
    return broken ? broken : fork_mutable(r1, completed, now, 1);
}

static inline void fork_alone_ends(struct fork_alone_passage *my, struct registers *at)
{
    struct fork_record *record = fork_record(at);
    const unsigned mutation = fork_mutation_bit(at->self, at->request);
    if (!mutation) {
        const struct fork_reading now = fork_outcome(&my->read);
        if (at->request == FORK_FIRST_READ) {
            record->value = now;
            record->ended = 1;
        } else if (my->follows) {
            const char *broken = fork_judge(record, my->completed, at->self, now);
            if (broken)
                at->complaint = broken;
        }
    } else if (my->follows) {
        record->completed = (record->completed | mutation) & 15;
    }
    my->follows = 0;
    my->completed = 0;
}

static inline enum passage_result fork_alone_run(struct fork_alone_passage *my,
                                                 struct registers *at, struct forks_rules rules)
{
    PASSAGE_BEGIN
    fork_alone_begins(my, at);
    if (at->request == FORK_TAKE)
        CALL(fork_take, &my->mutation, at, FORK_GRAPH, !registers_self(at), &my->memory, rules);
    else if (at->request == FORK_OFFER)
        CALL(fork_offer, &my->mutation, at, FORK_GRAPH, !registers_self(at), &my->memory, rules);
    else
        CALL(fork_read, &my->read, at, FORK_GRAPH, 0, 1, &my->memory, rules);
    fork_alone_ends(my, at);
    PASSAGE_END
}

#endif
