/* SPDX-License-Identifier: MIT */
/* The one writer of JSON: objects, lists, texts, numbers, on one line, to a stream.
 *
 * What it writes is valid whatever it is given: texts are UTF-8, and a byte that is none is
 * replaced. What could upset a terminal is written as \uXXXX. docs/json.md states what the outputs
 * hold.
 *
 *   struct json json = json_begin(stdout);
 *   json_object(&json, NULL);                  {
 *   json_number(&json, "schema", 1);            "schema":1
 *   json_list(&json, "names");                  ,"names":[
 *   json_text(&json, NULL, name);                "x"
 *   json_close(&json);                          ]
 *   json_close(&json);                         }
 *   json_end(&json);                           and a newline
 *
 * A name is given within an object, and NULL within a list and at the outermost.
 *
 * All of it is inline: libafteryou writes JSON, too, and has no names of others in it. */
#ifndef AFTERYOU_COMMON_JSON_H
#define AFTERYOU_COMMON_JSON_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/printable.h"

enum {
    JSON_DEPTH_MOST = 16,
    /* What stands for a byte that is no UTF-8: the replacement character; or a character for each
     * byte, of Unicode's private use, so that texts that differ stay different. */
    JSON_REPLACEMENT = 0xfffd,
    JSON_BYTES = 0xf700
};

struct json {
    FILE *out;
    bool more;                   /* set by a value, cleared by an opening: a comma comes first */
    bool keep_bytes;             /* set by who begins: JSON_BYTES in place of JSON_REPLACEMENT */
    unsigned depth;              /* how many are open */
    char close[JSON_DEPTH_MOST]; /* what closes each of them */
};

static inline struct json json_begin(FILE *out)
{
    return (struct json){.out = out};
}

/* What stands between the quotes. What can stand as it is, is written in one go. */
static inline void json_part(struct json *json, const char *text)
{
    const char *plain = text;
    for (size_t length; *text;) {
        length = utf8_length(text);
        const uint32_t character = length             ? utf8_character(text, length)
                                   : json->keep_bytes ? (uint32_t)JSON_BYTES + (unsigned char)*text
                                                      : (uint32_t)JSON_REPLACEMENT;
        const bool quoted = *text == '"' || *text == '\\';
        const bool escaped = !length || !is_printable(character); /* which are all below U+10000 */
        if (quoted || escaped) {
            fwrite(plain, 1, (size_t)(text - plain), json->out);
            plain = text + (length ? length : 1);
        }
        if (quoted)
            fprintf(json->out, "\\%c", *text);
        else if (escaped)
            fprintf(json->out, "\\u%04" PRIx32, character);
        text += length ? length : 1;
    }
    fwrite(plain, 1, (size_t)(text - plain), json->out);
}

static inline void json_quote(struct json *json, const char *text)
{
    fputc('"', json->out);
    json_part(json, text);
    fputc('"', json->out);
}

/* What comes before a value: a comma if it is not the first, and its name. */
static inline void json_next(struct json *json, const char *name)
{
    assert((name != NULL) == (json->depth > 0 && json->close[json->depth - 1] == '}'));
    if (json->more)
        fputc(',', json->out);
    json->more = true;
    if (!name)
        return;
    json_quote(json, name);
    fputc(':', json->out);
}

static inline void json_open(struct json *json, const char *name, char open, char close)
{
    assert(json->depth < JSON_DEPTH_MOST);
    json_next(json, name);
    fputc(open, json->out);
    json->close[json->depth++] = close;
    json->more = false;
}

static inline void json_object(struct json *json, const char *name)
{
    json_open(json, name, '{', '}');
}

static inline void json_list(struct json *json, const char *name)
{
    json_open(json, name, '[', ']');
}

/* The object or list that was opened last. */
static inline void json_close(struct json *json)
{
    assert(json->depth > 0);
    fputc(json->close[--json->depth], json->out);
    json->more = true;
}

/* The line is whole. Another may begin. */
static inline void json_end(struct json *json)
{
    assert(json->depth == 0);
    fputc('\n', json->out);
    json->more = false;
}

/* NULL is null. */
static inline void json_text(struct json *json, const char *name, const char *text)
{
    json_next(json, name);
    if (text)
        json_quote(json, text);
    else
        fputs("null", json->out);
}

/* A text that is given part by part: json_part(), up to json_close_text(). */
static inline void json_open_text(struct json *json, const char *name)
{
    json_next(json, name);
    fputc('"', json->out);
}

static inline void json_close_text(struct json *json)
{
    fputc('"', json->out);
}

static inline void json_null(struct json *json, const char *name)
{
    json_text(json, name, NULL);
}

static inline void json_flag(struct json *json, const char *name, bool flag)
{
    json_next(json, name);
    fputs(flag ? "true" : "false", json->out);
}

static inline void json_number(struct json *json, const char *name, uint64_t number)
{
    json_next(json, name);
    fprintf(json->out, "%" PRIu64, number);
}

static inline void json_signed(struct json *json, const char *name, int64_t number)
{
    json_next(json, name);
    fprintf(json->out, "%" PRId64, number);
}

/* With so many digits after the point. What is no number, or infinite, is null. */
static inline void json_real(struct json *json, const char *name, double number, int digits)
{
    json_next(json, name);
    if (number - number == 0)
        fprintf(json->out, "%.*f", digits, number);
    else
        fputs("null", json->out);
}

#endif
