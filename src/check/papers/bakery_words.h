/* SPDX-License-Identifier: MIT */
/* `bakery-words`: Lamport's simple region as the paper has it: mode, choosing and number each in a
 * word of its own, the number in several words if one is too small, or bounded to {1, 2, 3} for two
 * processes. `bakery` is the one to use.
 *
 * L. Lamport, The Synchronization of Independent Processes, 1976: "A Simple Algorithm" and
 * "Bounding number[i]".
 *   I1. Values of number[i] are written from right to left (least significant word first) and read
 *   from left to right. I2. number[i] is chosen to be the maximum of (i) its previous non-zero
 *   value and (ii) 1 + maximum{number[j]}.
 * With both, no number is more than one greater than some number chosen before, however the words
 * tear.
 */
#ifndef AFTERYOU_CHECK_PAPERS_BAKERY_WORDS_H
#define AFTERYOU_CHECK_PAPERS_BAKERY_WORDS_H

#include "check/registers/accesses.h"

struct bakery_words_rules {
    unsigned digits;    /* words of a number */
    unsigned word_bits; /* bits of each of them */
    /* two processes, numbers 1 < 2 < 3 < 1 */
    bool bounded;
    bool read_right_to_left, write_left_to_right, without_I2; /* mutants */
};

/* Registers of a place: the words of its number, most significant first, then these; PREVIOUS is
 * read by its owner alone. */
#define NUMBER(process, digit) (process), (digit)
#define CHOOSING(process)      (process), rules.digits
#define MODE(process)          (process), rules.digits + 1
#define PREVIOUS               (rules.digits + 2)

struct bakery_words_number {
    PART_HEAD
    word value;
    word rest; /* the word about to be stored */
    uint8_t digit;
};

/* Fetches number[j], word by word. */
static inline enum passage_result bakery_words_fetch(struct bakery_words_number *my,
                                                     struct registers *at, unsigned j,
                                                     struct bakery_words_rules rules)
{
    unsigned digit = 0;
    word scale = 1, w = 0;
    PASSAGE_BEGIN
    my->value = 0;
    for (my->digit = 0; my->digit < rules.digits; my->digit++) {
        READ(number, w,
             NUMBER(j, rules.read_right_to_left ? rules.digits - 1u - my->digit : my->digit));
        digit = rules.read_right_to_left ? rules.digits - 1u - my->digit : my->digit;
        for (; digit + 1 < rules.digits; digit++)
            scale = (word)(scale << rules.word_bits);
        my->value = (word)(my->value + w * scale);
    }
    my->digit = 0;
    PASSAGE_END
}

/* Stores my->value as my number, word by word. */
static inline enum passage_result bakery_words_store(struct bakery_words_number *my,
                                                     struct registers *at,
                                                     struct bakery_words_rules rules)
{
    unsigned digit = 0;
    word rest = 0;
    PASSAGE_BEGIN
    for (my->digit = 0; my->digit < rules.digits; my->digit++) {
        digit = rules.write_left_to_right ? my->digit : rules.digits - 1u - my->digit;
        rest = my->value;
        for (; digit + 1 < rules.digits; digit++)
            rest = (word)(rest >> rules.word_bits);
        my->rest = (word)(rest & ((1u << rules.word_bits) - 1));
        WRITE(store,
              NUMBER(registers_self(at),
                     rules.write_left_to_right ? my->digit : rules.digits - 1u - my->digit),
              my->rest);
        my->rest = 0;
    }
    my->digit = 0;
    my->value = 0;
    PASSAGE_END
}

/* #(i) < #(j), where 0 stands for infinity. */
static inline bool bakery_words_before(word i_number, unsigned i, word j_number, unsigned j,
                                       bool bounded)
{
    if (j_number == 0)
        return i_number > 0 || i < j;
    if (i_number == 0)
        return false;
    if (i_number == j_number)
        return i < j;
    return bounded ? i_number % 3 + 1 == j_number : i_number < j_number;
}

struct bakery_words_passage {
    /* the greatest seen, then mine */
    PASSAGE_HEAD
    word number;
    place_number j;
    struct bakery_words_number part;
};

static inline word bakery_words_choose(struct bakery_words_passage *my, struct registers *at,
                                       struct bakery_words_rules rules)
{
    if (rules.bounded)
        return (word)(my->number % 3 + 1);
    const word next = registers_draw(at, my->number, rules.digits * rules.word_bits),
               previous = registers_own(at, PREVIOUS);
    const word chosen = !rules.without_I2 && previous > next ? previous : next;
    registers_keep(at, PREVIOUS, chosen);
    return chosen;
}

static inline enum passage_result bakery_words_run(struct bakery_words_passage *my,
                                                   struct registers *at,
                                                   struct bakery_words_rules rules)
{
    const unsigned i = registers_self(at);
    word w = 0;
    PASSAGE_BEGIN
    /* doorway */
    WRITE(mode, MODE(i), (word)registers_mode(at));
    WRITE(choosing, CHOOSING(i), 1);
    for (EACH_OTHER(my->j)) {
        CALL(bakery_words_fetch, &my->part, at, my->j, rules);
        if (my->part.value > my->number)
            my->number = my->part.value;
        my->part.value = 0;
    }
    my->j = 0;
    my->part.value = my->number = bakery_words_choose(my, at, rules);
    CALL(bakery_words_store, &my->part, at, rules);
    WRITE(chosen, CHOOSING(i), 0);
    /* waiting queue */
    QUEUE;
    for (EACH_OTHER(my->j)) {
        for (;;) { /* wait until not choosing[j] or not conflict(i, j) */
            READ(wait_chosen, w, CHOOSING(my->j));
            if (!w)
                break;
            READ(wait_chosen_mode, w, MODE(my->j));
            if (!registers_conflict(at, my->j, (unsigned)w))
                break;
            PAUSE(CHOOSING(my->j), 1);
        }
        for (;;) { /* wait until #(i) < #(j) or not conflict(i, j) */
            CALL(bakery_words_fetch, &my->part, at, my->j, rules);
            w = my->part.value;
            my->part.value = 0;
            if (bakery_words_before(my->number, i, w, my->j, rules.bounded))
                break;
            READ(wait_turn_mode, w, MODE(my->j));
            if (!registers_conflict(at, my->j, (unsigned)w))
                break;
            PAUSE(NUMBER(my->j, rules.digits - 1), w);
        }
    }
    my->j = 0;
    my->number = 0;
    PASSAGE_END
}

static inline enum passage_result bakery_words_leave(struct bakery_words_passage *my,
                                                     struct registers *at,
                                                     struct bakery_words_rules rules)
{
    PASSAGE_BEGIN
    my->part.value = 0;
    CALL(bakery_words_store, &my->part, at, rules);
    PASSAGE_END
}

#undef NUMBER
#undef CHOOSING
#undef MODE
#undef PREVIOUS
#endif
