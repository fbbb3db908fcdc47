/* SPDX-License-Identifier: MIT */
/* Lamport's simple region with its variables in words of their own, under the checker: torn
 * numbers, bounded numbers, malfunction. */
#include <stdio.h>

#include "check/papers/bakery_words.h"
#include "check/registers/models/models.h"

/* One word holds any number here; three words of one bit each tear. */
static const struct bakery_words_rules whole = {.digits = 1, .word_bits = 15};
static const struct bakery_words_rules bounded = {.digits = 1, .word_bits = 15, .bounded = true};
static const struct bakery_words_rules torn = {.digits = 3, .word_bits = 1};
static const struct bakery_words_rules torn_read = {
    .digits = 3, .word_bits = 1, .read_right_to_left = true};
static const struct bakery_words_rules torn_write = {
    .digits = 3, .word_bits = 1, .write_left_to_right = true};
static const struct bakery_words_rules torn_forgotten = {
    .digits = 3, .word_bits = 1, .without_I2 = true};

/* The registers behind the number: choosing, mode, the previous number, and the greatest ever
 * drawn. */
enum { BEHIND = 4 };

#define WORDS_MODEL(rules, identifier, title, text, most, requests, promised, drawn, found)        \
    MODEL_PASSAGE(enter_##rules, bakery_words, bakery_words_run(my, at, rules))                    \
    MODEL_PASSAGE(leave_##rules, bakery_words, bakery_words_leave(my, at, rules))                  \
    static unsigned words_##rules(unsigned places)                                                 \
    {                                                                                              \
        (void)places;                                                                              \
        return rules.digits + BEHIND;                                                              \
    }                                                                                              \
    static word dead_##rules(unsigned index, word value)                                           \
    {                                                                                              \
        return index > rules.digits + 1 ? value : 0; /* what only its owner reads is remembered */ \
    }                                                                                              \
    static const char *name_##rules(unsigned places, unsigned place, unsigned index, char *label,  \
                                    size_t room)                                                   \
    {                                                                                              \
        (void)places;                                                                              \
        if (index < rules.digits && rules.digits > 1)                                              \
            snprintf(label, room, "number[%u].%u", place, index);                                  \
        else                                                                                       \
            snprintf(label, room, "%s[%u]",                                                        \
                     index < rules.digits    ? "number"                                            \
                     : index == rules.digits ? "choosing"                                          \
                                             : "mode",                                             \
                     place);                                                                       \
        return label;                                                                              \
    }                                                                                              \
    const struct register_protocol identifier = {                                                  \
        .name = title,                                                                             \
        .summary = text,                                                                           \
        .places_least = 2,                                                                         \
        .places_most = most,                                                                       \
        .default_places = 2,                                                                       \
        .passage_size = sizeof(struct bakery_words_passage),                                       \
        .words = words_##rules,                                                                    \
        .enter = enter_##rules,                                                                    \
        .leave = leave_##rules,                                                                    \
        .dead = dead_##rules,                                                                      \
        .active = active,                                                                          \
        .domain = domain,                                                                          \
        .name_register = name_##rules,                                                             \
        .default_requests = requests,                                                              \
        .modes = true,                                                                             \
        .promises = promised,                                                                      \
        .checks_draws = drawn,                                                                     \
        .refutes = found,                                                                          \
    };

/* The first public step is the mode, which shows nothing: a process counts as active once it is in
 * the queue. */
static bool active(word first)
{
    return first != 0;
}

/* A malfunctioning place: a number reads as 0 or anything up to one above the greatest there is; a
 * flag or a mode as 0 or 1. */
static unsigned domain(const struct registers *at, unsigned index, unsigned value, word *out)
{
    word most = 0;
    if (index == 0)
        for (unsigned process = 0; process < at->model->system.processes; process++) {
            const word number = model_words(at->model, at->state, process)[0];
            most = number > most ? number : most;
        }
    *out = (word)value;
    return index == 0 ? most + 2u : 2u;
}

#define EITHER (1u << REQUEST_EXCLUSIVE | 1u << REQUEST_SHARED)

WORDS_MODEL(whole, model_bakery_words, "bakery-words",
            "Lamport 1976: mode, choosing and number in words of their own", PROCESSES_MOST, EITHER,
            0, false, NULL)
WORDS_MODEL(bounded, model_bakery_bounded, "bakery-bounded",
            "Lamport 1976: two processes, numbers 1 < 2 < 3 < 1", 2, EITHER,
            1u << PROPERTY_LOCKOUT | 1u << PROPERTY_ORDER, false, NULL)
WORDS_MODEL(torn, model_bakery_torn, "bakery-torn",
            "Lamport 1976: a number in three words, rules I1 and I2", PROCESSES_MOST, 0, 0, true,
            NULL)
WORDS_MODEL(torn_read, model_bakery_torn_read, "bakery-torn-read",
            "rule I1 broken: numbers are read from right to left", PROCESSES_MOST, 0, 0, true,
            "bound")
WORDS_MODEL(torn_write, model_bakery_torn_write, "bakery-torn-write",
            "rule I1 broken: numbers are written from left to right; no harm was found",
            PROCESSES_MOST, 0, 0, true, NULL)
WORDS_MODEL(torn_forgotten, model_bakery_torn_forgotten, "bakery-torn-forgotten",
            "rule I2 broken: a process forgets its previous number", PROCESSES_MOST, 0, 0, true,
            "bound")
