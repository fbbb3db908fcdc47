/* SPDX-License-Identifier: MIT */
/* What the passages of naming.h remember. The engine defines `struct naming_sight` before. */
#ifndef AFTERYOU_PROTOCOLS_REGISTERS_NAMING_PARTS_H
#define AFTERYOU_PROTOCOLS_REGISTERS_NAMING_PARTS_H

#include "protocols/language/registers.h"

/* Parts that look redundant, for the checker to refute their absence. */
struct naming_without {
    bool behind; /* looks whether a place is as it is known, and only then at its word */
    bool before; /* gathers, and only then notes `claims` */
    bool below;  /* looks at the floor, and only then at the tags */
    bool life;   /* renamed: keeps its life */
    bool number; /* renamed: leaves no number behind */
    bool tag;    /* renamed: stores its tag after it has counted itself */
    bool count;  /* renamed: does not count itself */
    bool anew;   /* renamed: keeps what it knew of the others by its old name */
};

/* Meets a place: sees who is there now. */
struct naming_meeting {
    PART_HEAD
    struct naming_sight sight;
    uint8_t same;
};

/* Reads the word of a place, and knows afterwards whose it was. */
struct naming_reading {
    PART_HEAD
    word w;
    uint8_t stands;
    struct naming_meeting meeting;
};

/* Gathering: who is a rival. */
struct naming_gathering {
    PART_HEAD
    place_number j;
    uint8_t holds; /* of the place that is looked at: it is as it is known, or has my tag */
    uint8_t same;  /* all that were gathered last time stay */
    struct naming_meeting meeting;
};

struct naming_gather {
    PART_HEAD
    uint8_t same; /* nobody has come, or gone */
    struct naming_gathering part;
};

/* Outside a passage: the same place for another resource; or a place that is claimed. */
struct naming_renaming {
    PART_HEAD
};

#endif
