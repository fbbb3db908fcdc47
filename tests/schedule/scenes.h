/* SPDX-License-Identifier: MIT */
/* What scenes are made of (steps.c), and where they stand. */
#ifndef AFTERYOU_TESTS_SCHEDULE_SCENES_H
#define AFTERYOU_TESTS_SCHEDULE_SCENES_H

#include <stdatomic.h>

#include "afteryou.h"
#include "scheduler.h"

/* The whole list, scene by scene; each ends with one that has no name. */
extern const struct scene scenes_asks[], scenes_plain[], scenes_retained[], scenes_hurried[],
    scenes_places[], scenes_several[], scenes_cluster[];

extern char space_path[64];
extern ay_space *space;
extern ay_region *region;
extern unsigned room;     /* for so many together */
extern _Atomic int *flag; /* of the conditions: shared */

void open_space(ay_options options);
void open_region(ay_spec spec);
void close_region(void);
void heed(int result); /* of entering: it must have, and perhaps was told */
void stay(void);       /* inside; then leaves */
void pass(void);
bool pass_in_time(void);          /* gives up if its deadline lapses: false */
bool is_set(void *unused);        /* the flag */
bool pass_when_set_in_time(void); /* likewise, once the flag is set */
void audit_of(ay_spec spec, unsigned deaths, unsigned kills);
void prepare_slots(unsigned actor); /* two of them */
void audit_slots(unsigned deaths, unsigned kills);

/* For scenes around a region "x" of one slot, in a space of four places. */
void prepare_x(unsigned actor);
void pass_once(unsigned actor);
void pass_twice(unsigned actor);
void audit_x(unsigned deaths, unsigned kills);

#endif
