/* SPDX-License-Identifier: MIT */
/* `bakery-words`: Lamport's simple region as the paper has it: mode, choosing and number each in a
 * word of its own, the number in several words if one is too small, or bounded to {1, 2, 3} for two
 * processes. `bakery` is the one to use. Here are also its words as safe bits (footnote 1), what it
 * does after errors (footnote 4), and a mode in two words (footnote 5).
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
    /* numbers 1 … modulus, where one is before the half of the others that follows it in the
     * circle: 1 < 2 < 3 < 1; 0: they grow for ever */
    unsigned modulus;
    bool safe;       /* all words are safe bits */
    bool split_mode; /* the mode in two words: footnote 5 */
    bool fragile;    /* it remembers nothing that its words say: errors hit them */
    bool recovers;   /* footnote 4: the waiting loops write the mode, and a number that is not 0 */
    bool clears;     /* and choosing, of which the footnote says nothing */
    bool read_right_to_left, write_left_to_right, without_I2, no_choosing; /* mutants */
};

/* Registers of a place: the words of its number, most significant first, then these; PREVIOUS is
 * read by its owner alone. */
#define NUMBER(process, digit) (process), (digit)
#define CHOOSING(process)      (process), rules.digits
#define MODE(process)          (process), rules.digits + 1
#define PREVIOUS               (rules.digits + 2)
#define MODE_TOO(process)      (process), rules.digits + 4 /* with split_mode */

/* A word, or a safe bit of the same index; a bit is written only where that changes it. */
#define LOOK(label, into, ...)                                                                     \
    do {                                                                                           \
        if (rules.safe)                                                                            \
            READ_BIT(label, into, __VA_ARGS__);                                                    \
        else                                                                                       \
            READ(label, into, __VA_ARGS__);                                                        \
    } while (0)
#define SAY_(label, place, index, value)                                                           \
    do {                                                                                           \
        if (!rules.safe)                                                                           \
            WRITE(label, place, index, value);                                                     \
        else if (OWN_BIT(place, index) != ((value) != 0))                                          \
            WRITE_BIT(label, place, index, (value) != 0);                                          \
    } while (0)
#define SAY(label, ...) SAY_(label, __VA_ARGS__)

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
        LOOK(number, w,
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
        SAY(store,
            NUMBER(registers_self(at),
                   rules.write_left_to_right ? my->digit : rules.digits - 1u - my->digit),
            my->rest);
        my->rest = 0;
    }
    my->digit = 0;
    my->value = 0;
    PASSAGE_END
}

/* Of two that are not 0 and differ. */
static inline bool bakery_words_less(word a, word b, unsigned modulus)
{
    return modulus ? (b + modulus - a) % modulus <= modulus / 2 : a < b;
}

/* #(i) < #(j), where 0 stands for infinity. */
static inline bool bakery_words_before(word i_number, unsigned i, word j_number, unsigned j,
                                       unsigned modulus)
{
    if (j_number == 0)
        return i_number > 0 || i < j;
    if (i_number == 0)
        return false;
    if (i_number == j_number)
        return i < j;
    return bakery_words_less(i_number, j_number, modulus);
}

struct bakery_words_conflict {
    PART_HEAD
    word w, too;
    uint8_t conflicts; /* the outcome */
};

struct bakery_words_passage {
    /* the greatest seen, then mine */
    PASSAGE_HEAD
    word number;
    place_number j;
    struct bakery_words_number part;
    struct bakery_words_conflict other;
};

static inline word bakery_words_choose(struct bakery_words_passage *my, struct registers *at,
                                       struct bakery_words_rules rules)
{
    if (rules.modulus)
        return (word)(my->number % rules.modulus + 1);
    const word next = registers_draw(at, my->number, rules.digits * rules.word_bits),
               previous = registers_own(at, PREVIOUS);
    const word chosen = !rules.without_I2 && previous > next ? previous : next;
    registers_keep(at, PREVIOUS, chosen);
    return chosen;
}

/* conflict(i,j). In two words, the same in both is shared, and there are two modes of that kind. */
static inline enum passage_result bakery_words_conflict(struct bakery_words_conflict *my,
                                                        struct registers *at, unsigned j,
                                                        struct bakery_words_rules rules)
{
    PASSAGE_BEGIN
    LOOK(wait_mode, my->w, MODE(j));
    if (rules.split_mode) {
        READ(wait_mode, my->too, MODE_TOO(j));
        my->w = my->w == my->too ? REQUEST_SHARED : REQUEST_EXCLUSIVE;
        my->too = 0;
    }
    my->conflicts = registers_conflict(at, j, (unsigned)my->w);
    my->w = 0;
    PASSAGE_END
}

/* My number, as I have it: in the word itself, where errors may hit it. */
static inline word bakery_words_mine(const struct bakery_words_passage *my, struct registers *at,
                                     struct bakery_words_rules rules)
{
    return rules.fragile ? registers_own(at, 0) : my->number;
}

/* "by recomputing mode[i] and making sure that number[i] > 0 in the waiting loops" */
static inline enum passage_result bakery_words_recover(struct bakery_words_conflict *my,
                                                       struct registers *at,
                                                       struct bakery_words_rules rules)
{
    PASSAGE_BEGIN
    if (OWN(MODE(registers_self(at))) != registers_mode(at))
        WRITE(mode_again, MODE(registers_self(at)), (word)registers_mode(at));
    if (OWN(NUMBER(registers_self(at), 0)) == 0)
        WRITE(number_again, NUMBER(registers_self(at), 0), 1);
    if (rules.clears && OWN(CHOOSING(registers_self(at))) != 0)
        WRITE(chosen_again, CHOOSING(registers_self(at)), 0);
    PASSAGE_END
}

static inline enum passage_result bakery_words_run(struct bakery_words_passage *my,
                                                   struct registers *at,
                                                   struct bakery_words_rules rules)
{
    const unsigned i = registers_self(at), mode = registers_mode(at);
    word w = 0;
    PASSAGE_BEGIN
    /* doorway */
    if (rules.split_mode) {
        my->other.w = mode == REQUEST_SHARED ? !OWN(MODE(i)) : OWN(MODE(i));
        WRITE(mode, MODE(i), my->other.w);
        WRITE(mode, MODE_TOO(i), mode == REQUEST_SHARED ? my->other.w : !my->other.w);
        my->other.w = 0;
    } else {
        SAY(mode, MODE(i), (word)mode);
    }
    SAY(choosing, CHOOSING(i), 1);
    for (EACH_OTHER(my->j)) {
        CALL(bakery_words_fetch, &my->part, at, my->j, rules);
        if (my->part.value &&
            (!my->number || (my->part.value != my->number &&
                             bakery_words_less(my->number, my->part.value, rules.modulus))))
            my->number = my->part.value;
        my->part.value = 0;
    }
    my->j = 0;
    my->part.value = my->number = bakery_words_choose(my, at, rules);
    if (rules.fragile)
        my->number = 0;
    CALL(bakery_words_store, &my->part, at, rules);
    SAY(chosen, CHOOSING(i), 0);
    /* waiting queue */
    QUEUE;
    for (EACH_OTHER(my->j)) {
        for (;;) { /* wait until not choosing[j] or not conflict(i, j) */
            if (rules.recovers)
                CALL(bakery_words_recover, &my->other, at, rules);
            LOOK(wait_chosen, w, CHOOSING(my->j));
            if (!w || rules.no_choosing)
                break;
            CALL(bakery_words_conflict, &my->other, at, my->j, rules);
            if (!my->other.conflicts)
                break;
            my->other.conflicts = 0;
            PAUSE(CHOOSING(my->j), 1);
        }
        for (;;) { /* wait until #(i) < #(j) or not conflict(i, j) */
            if (rules.recovers)
                CALL(bakery_words_recover, &my->other, at, rules);
            CALL(bakery_words_fetch, &my->part, at, my->j, rules);
            w = my->part.value;
            my->part.value = 0;
            if (bakery_words_before(bakery_words_mine(my, at, rules), i, w, my->j, rules.modulus))
                break;
            CALL(bakery_words_conflict, &my->other, at, my->j, rules);
            if (!my->other.conflicts)
                break;
            my->other.conflicts = 0;
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
#undef MODE_TOO
#undef LOOK
#undef SAY
#undef SAY_
#endif
