/* SPDX-License-Identifier: MIT */
/* What ties of register protocols have in common: cases, how a move is made, where a process is. */
#ifndef AFTERYOU_TESTS_PROOFS_REGISTERS_H
#define AFTERYOU_TESTS_PROOFS_REGISTERS_H

#include "check/registers/catalogue.h"
#include "tie.h"

/* One search. `passages` bounds it, and numbers stay as they are; 0: any number, renumbered. */
struct tie_case {
    const char *model;
    unsigned places, passages;
    struct register_model with; /* further settings */
    const char *left_out;       /* a part, left out of the proof as well */
    const char *finds;          /* what must be found; NULL: nothing */
    bool long_one;              /* for `./dev prove`, not for `./dev test` */
};

/* The label of the next access of a process that is not idle, found by making it on a copy. */
const char *tie_label(const struct register_model *model, const unsigned char *state,
                      unsigned process);

/* Runs the cases, the long ones only if told to by "--all". For main. */
int tie_cases(int count, char **words, const struct proof *proof, const struct tie_case *cases,
              void (*see)(const struct system *inner, const unsigned char *state, void *view));

#endif
