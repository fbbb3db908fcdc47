/* SPDX-License-Identifier: MIT */
/* The cases: in which situations the peers are measured. */
#ifndef BENCH_PEERS_CASES_H
#define BENCH_PEERS_CASES_H

#include "peer.h"

enum case_kind { CASE_ALONE, CASE_CONTENDED, CASE_READERS, CASE_SLOTS, CASE_KILL, CASE_STARTUP };

struct bench_case {
    const char *name; /* for --case */
    const char *what; /* one line */
    enum case_kind kind;
    unsigned members; /* or places open, for CASE_ALONE */
    unsigned section_ns;
    bool rests;       /* inside, it sleeps */
    unsigned writers; /* CASE_READERS: how many of the members write */
    unsigned slots;
    unsigned megabytes; /* CASE_KILL: what the holder has mapped */
};

extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;

/* whether that peer takes part */
bool case_has(const struct bench_case *of, const struct peer *peer);

/* Whether `name` is meant by `word`: the whole of it, or up to a hyphen ("contended-2" is all with
 * two members). */
bool case_means(const char *word, size_t length, const char *name);

#endif
