/* SPDX-License-Identifier: MIT */
/* One line of JSON: a flat object of strings, whole numbers and truth values. */
#ifndef AFTERYOU_AUDIT_JSON_LINE_H
#define AFTERYOU_AUDIT_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* JSON_OTHER: valid, but none of the first three (a fraction, a negative or too great a number,
 * null, an array or an object). */
enum json_kind { JSON_STRING, JSON_NUMBER, JSON_TRUTH, JSON_OTHER };

struct json_pair {
    const char *key; /* both end with '\0': the line is taken apart in place */
    const char *text;
    uint64_t number; /* JSON_NUMBER; JSON_TRUTH: 0 or 1 */
    enum json_kind kind;
};

enum { JSON_PAIRS_MOST = 24, JSON_DEPTH_MOST = 64 };

struct json_line {
    struct json_pair pairs[JSON_PAIRS_MOST];
    unsigned count;
};

/* NULL, or what is wrong. Changes `text`, and points into it. Members that are not wanted, of any
 * number, are read through and passed over; at most JSON_PAIRS_MOST names are wanted. The last of
 * two members of one name counts. */
const char *json_read(char *text, bool (*wanted)(const char *key), struct json_line *line);
/* The member of that name, or NULL. */
const struct json_pair *json_find(const struct json_line *line, const char *key);

#endif
