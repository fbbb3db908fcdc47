/* SPDX-License-Identifier: MIT */
/* Names, each kept once, and numbered as they come. */
#ifndef AFTERYOU_AUDIT_NAMES_H
#define AFTERYOU_AUDIT_NAMES_H

#include <stdint.h>

enum { NAMES_NONE = UINT32_MAX };

struct names {
    char **text; /* as it is shown */
    char **key;  /* by which two are told apart */
    uint32_t count, room;
    uint32_t *table; /* open addressing: number + 1 */
    uint32_t table_room;
};

/* The number of that key, new or old; NAMES_NONE: no memory. `text` is how it is shown. */
uint32_t names_find(struct names *names, const char *key, const char *text);
void names_close(struct names *names);

#endif
