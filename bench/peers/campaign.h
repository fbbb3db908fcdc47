/* SPDX-License-Identifier: MIT */
/* A campaign: all peers of a case in turn, again and again, and what comes of it in rows. */
#ifndef BENCH_PEERS_CAMPAIGN_H
#define BENCH_PEERS_CAMPAIGN_H

#include "machine.h"
#include "measure.h"
#include "rows.h"

struct choice {
    const char *peers;    /* names with commas; NULL: all. The reference takes part anyway */
    const char *cases;    /* names or beginnings of names with commas; NULL: all */
    const char *afteryou; /* the command */
};

/* by whole words, or up to a hyphen of the name */
bool choice_has(const char *list, const char *name);

/* Measures one case, and adds its rows, and what was heard of others meanwhile. */
void campaign_case(const struct bench_case *of, const struct choice *choice,
                   const struct effort *effort, struct rows *rows, struct noise *whole);

#endif
