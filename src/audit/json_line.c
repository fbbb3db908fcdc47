/* SPDX-License-Identifier: MIT */
/* One line of JSON: a flat object of strings, whole numbers and truth values.
 *
 * A trace needs no more, and at a million lines it must be quick. What is nested, or no whole
 * number, is read through and passed over; what is no JSON is refused. Strings are UTF-8, and come
 * out as UTF-8, their escapes undone.
 */
#include "audit/json_line.h"

#include <ctype.h>
#include <string.h>

#include "common/printable.h"

static char *skip_space(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

/* Four hexadecimal digits; -1: they are not. */
static int32_t read_code(const char *at)
{
    int32_t code = 0;
    for (unsigned digit = 0; digit < 4; digit++) {
        const char c = at[digit];
        if (!isxdigit((unsigned char)c))
            return -1;
        code = code * 16 + (isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code;
}

static char *write_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Behind "\u". U+0000 would end the string, and half of a pair is no character: both are refused.
 */
static char *read_escaped_code(char *at, char **to)
{
    int32_t code = read_code(at);
    at += 4;
    if (code >= 0xd800 && code < 0xdc00) {
        const int32_t low = at[0] == '\\' && at[1] == 'u' ? read_code(at + 2) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    } else if (code <= 0 || (code >= 0xdc00 && code <= 0xdfff)) {
        return NULL;
    }
    *to = write_utf8(*to, (uint32_t)code); /* never longer than its escape */
    return at;
}

/* Behind a backslash. NULL: no escape of JSON's. */
static char *read_escape(char *at, char **to)
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (*at == 'u')
        return read_escaped_code(at + 1, to);
    const char *found = *at ? strchr(escapes, *at) : NULL;
    if (!found)
        return NULL;
    *(*to)++ = meanings[found - escapes];
    return at + 1;
}

/* `at` is behind the opening quote; the string ends up there. NULL: it is none. */
static char *read_string(char *at)
{
    char *to = at;
    while (*at && *at != '"') {
        if (*at == '\\') {
            at = read_escape(at + 1, &to);
            if (!at)
                return NULL;
            continue;
        }
        const size_t length = (unsigned char)*at < ' ' ? 0 : utf8_length(at);
        if (length == 0)
            return NULL;
        memmove(to, at, length);
        to += length;
        at += length;
    }
    if (!*at)
        return NULL;
    *to = '\0';
    return at + 1;
}

static char *skip_digits(char *at)
{
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

static char *read_number(char *at, struct json_pair *pair)
{
    const bool negative = *at == '-';
    at += negative;
    if (!isdigit((unsigned char)*at) || (*at == '0' && isdigit((unsigned char)at[1])))
        return NULL;
    pair->kind = negative ? JSON_OTHER : JSON_NUMBER;
    for (; isdigit((unsigned char)*at); at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (pair->number > (UINT64_MAX - digit) / 10)
            pair->kind = JSON_OTHER;
        pair->number = pair->number * 10 + digit;
    }
    if (*at == '.') {
        pair->kind = JSON_OTHER;
        if (!isdigit((unsigned char)*++at))
            return NULL;
        at = skip_digits(at);
    }
    if (*at == 'e' || *at == 'E') {
        pair->kind = JSON_OTHER;
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        if (!isdigit((unsigned char)*at))
            return NULL;
        at = skip_digits(at);
    }
    return at;
}

static char *read_value(char *at, struct json_pair *pair, unsigned depth);

/* An array or an object, `at` behind its opening bracket. */
static char *skip_nested(char *at, char closing, unsigned depth)
{
    at = skip_space(at);
    if (*at == closing)
        return at + 1;
    for (;;) {
        struct json_pair inner = {.text = ""};
        if (closing == '}') {
            at = *at == '"' ? read_string(at + 1) : NULL;
            at = at ? skip_space(at) : NULL;
            if (!at || *at++ != ':')
                return NULL;
            at = skip_space(at);
        }
        at = read_value(at, &inner, depth + 1);
        if (!at)
            return NULL;
        at = skip_space(at);
        if (*at == closing)
            return at + 1;
        if (*at++ != ',')
            return NULL;
        at = skip_space(at);
    }
}

static char *read_value(char *at, struct json_pair *pair, unsigned depth)
{
    if (depth > JSON_DEPTH_MOST)
        return NULL;
    if (*at == '"') {
        pair->kind = JSON_STRING;
        pair->text = at + 1;
        return read_string(at + 1);
    }
    pair->kind = JSON_OTHER;
    if (*at == '{')
        return skip_nested(at + 1, '}', depth);
    if (*at == '[')
        return skip_nested(at + 1, ']', depth);
    static const struct {
        const char *word;
        enum json_kind kind;
        uint64_t number;
    } words[] = {{"true", JSON_TRUTH, 1}, {"false", JSON_TRUTH, 0}, {"null", JSON_OTHER, 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(at, words[i].word, strlen(words[i].word)) == 0) {
            pair->kind = words[i].kind;
            pair->number = words[i].number;
            return at + strlen(words[i].word);
        }
    return read_number(at, pair);
}

static void keep(struct json_line *line, const struct json_pair *pair)
{
    unsigned at = 0;
    while (at < line->count && strcmp(line->pairs[at].key, pair->key) != 0)
        at++;
    line->count += at == line->count;
    line->pairs[at] = *pair;
}

const char *json_read(char *text, bool (*wanted)(const char *key), struct json_line *line)
{
    line->count = 0;
    char *at = skip_space(text);
    if (*at++ != '{')
        return "it does not begin with '{'";
    at = skip_space(at);
    if (*at == '}')
        return *skip_space(at + 1) ? "there is more after its '}'" : NULL;
    for (;;) {
        if (*at != '"')
            return "a member has no name";
        struct json_pair pair = {.key = at + 1, .text = ""};
        at = read_string(at + 1);
        if (!at)
            return "a member's name is no string of JSON: it does not end, or is no UTF-8";
        at = skip_space(at);
        if (*at != ':')
            return "a member's name has no ':' after it";
        at = read_value(skip_space(at + 1), &pair, 0);
        if (!at)
            return "a value is none of JSON's: it does not end, or is no UTF-8, or no number";
        if (wanted(pair.key))
            keep(line, &pair);
        at = skip_space(at);
        const char separator = *at++;
        if (separator == '}')
            return *skip_space(at) ? "there is more after its '}'" : NULL;
        if (separator != ',')
            return "neither ',' nor '}' follows a value";
        at = skip_space(at);
    }
}

const struct json_pair *json_find(const struct json_line *line, const char *key)
{
    for (unsigned i = 0; i < line->count; i++)
        if (strcmp(line->pairs[i].key, key) == 0)
            return &line->pairs[i];
    return NULL;
}
