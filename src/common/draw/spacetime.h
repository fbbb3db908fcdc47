/* SPDX-License-Identifier: MIT */
/* Space-time diagrams: processes as lines, steps as dots, messages as arrows; waiting, inside and
 * dead as bars. A run of registers has squares that store, circles that fetch, and an arrow from
 * each store to the fetches that read it.
 *
 * Time runs to the right in columns; a caller that has only an order uses 0, 1, 2, … . A column is
 * as wide as what is written there. Everything may be added in any order. A diagram that runs out
 * of memory remembers it, and spacetime_write says so.
 */
#ifndef AFTERYOU_COMMON_DRAW_SPACETIME_H
#define AFTERYOU_COMMON_DRAW_SPACETIME_H

#include <stdbool.h>
#include <stdio.h>

struct spacetime;

/* NULL if there is no memory. */
struct spacetime *spacetime_open(const char *title);
void spacetime_close(struct spacetime *diagram);

/* A further process; its number, counted from 0. */
unsigned spacetime_process(struct spacetime *diagram, const char *name);
/* A dot on a process's line; `label` may be NULL. */
void spacetime_step(struct spacetime *diagram, unsigned process, double column, const char *label);
/* The process dies here: a hollow red dot. */
void spacetime_death(struct spacetime *diagram, unsigned process, double column, const char *label);
/* An arrow; `label` may be NULL. */
void spacetime_message(struct spacetime *diagram, unsigned from, double sent, unsigned to,
                       double received, const char *label);

/* A move of a register protocol: a square, a circle, a grey circle, a red one. Its `number` is
 * within, and what it did, if not NULL, below: the value of a store. */
enum spacetime_move { SPACETIME_STORES, SPACETIME_FETCHES, SPACETIME_ACTS, SPACETIME_DIES };
void spacetime_move(struct spacetime *diagram, enum spacetime_move kind, unsigned process,
                    double column, const char *number, const char *did);
/* An arrow from the move that stored to the one that fetched it. */
void spacetime_read(struct spacetime *diagram, unsigned from, double stored, unsigned to,
                    double fetched);

enum spacetime_bar { SPACETIME_WAITS, SPACETIME_INSIDE, SPACETIME_DEAD };
void spacetime_bar(struct spacetime *diagram, enum spacetime_bar kind, unsigned process,
                   double from, double to);
/* The violation: a ring around two moments (they may be the same), and what is wrong with them. */
void spacetime_violation(struct spacetime *diagram, unsigned process, double column, unsigned other,
                         double other_column, const char *what);
/* At `to` the run is where it was at `from`, and goes round for ever. */
void spacetime_loop(struct spacetime *diagram, double from, double to);

/* A line of text below the drawing, in the order added. */
void spacetime_note(struct spacetime *diagram, const char *text);

/* Writes the whole as SVG: 0, or a negative errno (-ENOMEM from before, or what the writing met).
 */
int spacetime_write(struct spacetime *diagram, FILE *out);

#endif
