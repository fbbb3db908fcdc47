/* SPDX-License-Identifier: MIT */
/* Lamport's simple region with its variables in words of their own, under the checker: torn
 * numbers, bounded numbers, malfunction. */
#include <stdio.h>

#include "check/papers/bakery_words.h"
#include "check/registers/models/models.h"

/* One word holds any number here; three words of one bit each tear. */
static const struct bakery_words_rules whole = {.digits = 1, .word_bits = 15};
static const struct bakery_words_rules bounded = {.digits = 1, .word_bits = 15, .modulus = 3};
static const struct bakery_words_rules circle_3 = {.digits = 1, .word_bits = 15, .modulus = 3};
static const struct bakery_words_rules circle_5 = {.digits = 1, .word_bits = 15, .modulus = 5};
static const struct bakery_words_rules circle_7 = {.digits = 1, .word_bits = 15, .modulus = 7};
static const struct bakery_words_rules circle_9 = {.digits = 1, .word_bits = 15, .modulus = 9};
static const struct bakery_words_rules split = {
    .digits = 1, .word_bits = 15, .modulus = 3, .split_mode = true};
static const struct bakery_words_rules fragile = {
    .digits = 1, .word_bits = 15, .modulus = 3, .fragile = true};
static const struct bakery_words_rules recovering = {
    .digits = 1, .word_bits = 15, .modulus = 3, .fragile = true, .recovers = true};
static const struct bakery_words_rules repairing = {
    .digits = 1, .word_bits = 15, .modulus = 3, .fragile = true, .recovers = true, .clears = true};
static const struct bakery_words_rules relapsing = {.digits = 1,
                                                    .word_bits = 15,
                                                    .modulus = 3,
                                                    .fragile = true,
                                                    .recovers = true,
                                                    .clears = true,
                                                    .no_choosing = true};
static const struct bakery_words_rules safe_hasty = {
    .digits = 4, .word_bits = 1, .safe = true, .no_choosing = true};
static const struct bakery_words_rules safe = {.digits = 4, .word_bits = 1, .safe = true};
static const struct bakery_words_rules torn = {.digits = 3, .word_bits = 1};
static const struct bakery_words_rules torn_read = {
    .digits = 3, .word_bits = 1, .read_right_to_left = true};
static const struct bakery_words_rules torn_write = {
    .digits = 3, .word_bits = 1, .write_left_to_right = true};
static const struct bakery_words_rules torn_forgotten = {
    .digits = 3, .word_bits = 1, .without_I2 = true};

/* The registers behind the number; the previous number, and the greatest ever drawn. The last one
 * only where the mode has two words. */
enum { BEHIND = 4 };
static const char *const behind_names[] = {"choosing", "mode", "previous", "greatest", "mode'"};

#define WORDS_MODEL(rules, identifier, title, text, most, requests, promised, drawn, found, ...)   \
    MODEL_PASSAGE(enter_##rules, bakery_words, bakery_words_run(my, at, rules))                    \
    MODEL_PASSAGE(leave_##rules, bakery_words, bakery_words_leave(my, at, rules))                  \
    static unsigned words_##rules(unsigned places)                                                 \
    {                                                                                              \
        (void)places;                                                                              \
        return rules.digits + BEHIND + rules.split_mode;                                           \
    }                                                                                              \
    static unsigned bits_##rules(unsigned places)                                                  \
    {                                                                                              \
        (void)places;                                                                              \
        return rules.safe ? rules.digits + 2 : 0;                                                  \
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
                     index < rules.digits ? "number" : behind_names[index - rules.digits], place); \
        return label;                                                                              \
    }                                                                                              \
    static unsigned domain_##rules(const struct registers *at, unsigned index, unsigned value,     \
                                   word *out)                                                      \
    {                                                                                              \
        return rules.fragile ? domain_of_circle(index, value, out)                                 \
                             : domain(at, index, value, out);                                      \
    }                                                                                              \
    const struct register_protocol identifier = {.name = title,                                    \
                                                 .summary = text,                                  \
                                                 .places_least = 2,                                \
                                                 .places_most = most,                              \
                                                 .default_places = 2,                              \
                                                 .passage_size =                                   \
                                                     sizeof(struct bakery_words_passage),          \
                                                 .words = words_##rules,                           \
                                                 .bits = bits_##rules,                             \
                                                 .enter = enter_##rules,                           \
                                                 .leave = leave_##rules,                           \
                                                 .dead = dead_##rules,                             \
                                                 .active = active,                                 \
                                                 .domain = domain_##rules,                         \
                                                 .name_register = name_##rules,                    \
                                                 .default_requests = requests,                     \
                                                 .modes = true,                                    \
                                                 .promises = promised,                             \
                                                 .checks_draws = drawn,                            \
                                                 .refutes = found,                                 \
                                                 __VA_ARGS__};

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

/* Likewise a number of a circle of three, whatever numbers there are. */
static unsigned domain_of_circle(unsigned index, unsigned value, word *out)
{
    *out = (word)value;
    return index == 0 ? 4 : 2;
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
WORDS_MODEL(circle_3, model_bakery_circle_3, "bakery-circle-3",
            "numbers 1 < 2 < 3 < 1 for more than two processes", PROCESSES_MOST, 0, 0, false,
            "progress")
WORDS_MODEL(circle_5, model_bakery_circle_5, "bakery-circle-5",
            "numbers of a circle of five, for more than two processes", PROCESSES_MOST, 0, 0, false,
            "exclusion")
WORDS_MODEL(circle_7, model_bakery_circle_7, "bakery-circle-7",
            "numbers of a circle of seven, for more than two processes", PROCESSES_MOST, 0, 0,
            false, "exclusion")
WORDS_MODEL(circle_9, model_bakery_circle_9, "bakery-circle-9",
            "numbers of a circle of nine, for more than two processes", PROCESSES_MOST, 0, 0, false,
            "exclusion")
WORDS_MODEL(safe, model_bakery_safe, "bakery-safe",
            "Lamport 1976, footnote 1: every word is of safe bits", PROCESSES_MOST, EITHER, 0,
            false, NULL)
WORDS_MODEL(split, model_bakery_split_mode, "bakery-split-mode",
            "footnote 5: the mode in two words, which tear", 2, EITHER, 1u << PROPERTY_LOCKOUT,
            false, "lockout")
WORDS_MODEL(fragile, model_bakery_fragile, "bakery-fragile",
            "nothing is done after an error; with --errors", 2, EITHER, 0, false, "progress",
            .fragile = 3)
WORDS_MODEL(recovering, model_bakery_recovering, "bakery-recovering",
            "footnote 4: mode and number are written again in the waiting loops", 2, EITHER, 0,
            false, "progress", .fragile = 3)
WORDS_MODEL(repairing, model_bakery_repairing, "bakery-repairing",
            "footnote 4, and choosing as well; and who is outside puts its words right", 2, EITHER,
            1u << PROPERTY_LOCKOUT, false, NULL, .fragile = 3, .repairs = 2)
WORDS_MODEL(relapsing, model_bakery_relapsing, "bakery-relapsing",
            "likewise, but nobody waits for one that is choosing", 2, EITHER, 0, false, "recovery",
            .fragile = 3, .repairs = 2)
WORDS_MODEL(safe_hasty, model_bakery_safe_hasty, "bakery-safe-hasty",
            "of safe bits, and nobody waits for one that is choosing", PROCESSES_MOST, EITHER, 0,
            false, "exclusion")
