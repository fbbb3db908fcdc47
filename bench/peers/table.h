/* SPDX-License-Identifier: MIT */
/* The rows as tables of text. */
#ifndef BENCH_PEERS_TABLE_H
#define BENCH_PEERS_TABLE_H

#include "cases.h"
#include "rows.h"

void table_machine(const struct rows *rows, FILE *out);
/* nothing if it has no rows */
void table_case(const struct bench_case *of, const struct rows *rows, FILE *out);
void table_legend(FILE *out);

#endif
