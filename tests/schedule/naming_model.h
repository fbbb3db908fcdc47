/* SPDX-License-Identifier: MIT */
/* protocols/registers/naming.h, run step by step over plain arrays: what naming.c compares the
 * memory engine with. */
#ifndef AFTERYOU_TESTS_SCHEDULE_NAMING_MODEL_H
#define AFTERYOU_TESTS_SCHEDULE_NAMING_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { MODEL_PLACES = 10, MODEL_NAMES = 5 };

/* What a name is to those who look for it. */
struct model_name {
    unsigned tag, bucket;
};

/* What one place knows of another. */
struct model_view {
    bool met;
    bool stands; /* it is as it was met */
    bool rival, alive;
    bool gathered;
};

/* What is left out of the text: naming_parts.h has the words. */
enum model_part { PART_NONE, PART_LIFE, PART_NUMBER, PART_COUNT, PART_ANEW, PARTS };

void model_begin(const struct model_name *names, enum model_part left_out);
/* Each is one whole step: nobody else's falls into it. */
void model_claim(unsigned place, unsigned name);
void model_rename(unsigned place, unsigned name);
void model_gather(unsigned place);
/* Looks at all rivals, gathered anew if somebody came: how many numbers it read, and their sum. */
uint64_t model_look(unsigned place, unsigned *count);
/* Looks at all that may have its name, and draws: its number from now on. */
uint64_t model_draw(unsigned place);
void model_end(unsigned place); /* it is closed, or its process has died */

bool model_alive(unsigned place);
struct model_view model_view(unsigned place, unsigned other);
uint64_t model_floor(unsigned place);
bool model_gathered(unsigned place); /* nobody came since, or went: it need not gather anew */

#endif
