/* SPDX-License-Identifier: MIT */
/* One line of JSON: a flat object of strings, whole numbers and truth values.
 *
 * Not a parser of all JSON: a trace needs no more, and at a million lines it must be quick. Escapes in strings are
 * undone where they stand for one byte; \u is kept as written.
 */
#include "audit/json.h"

#include <ctype.h>
#include <string.h>

static char *skip_space(char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

/* `at` is behind the opening quote; the string ends up there. NULL: no closing quote. */
static char *read_string(char *at)
{
    char *to = at;
    for (; *at && *at != '"'; at++) {
        if (*at == '\\') {
            if (!at[1])
                return NULL;
            at++;
            if (*at == 'u')
                *to++ = '\\';
        }
        *to++ = *at;
    }
    if (!*at)
        return NULL;
    *to = '\0';
    return at + 1;
}

/* A nested value: to its closing bracket, strings passed over. NULL: it does not close. */
static char *skip_nested(char *at)
{
    int depth = 0;
    for (; *at; at++) {
        if (*at == '"') {
            at = read_string(at + 1);
            if (!at)
                return NULL;
            at--;
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

static char *read_number(char *at, struct json_pair *pair)
{
    pair->kind = JSON_NUMBER;
    if (!isdigit((unsigned char)*at))
        return NULL;
    for (; isdigit((unsigned char)*at); at++) {
        const unsigned digit = (unsigned)(*at - '0');
        if (pair->number > (UINT64_MAX - digit) / 10)
            return NULL;
        pair->number = pair->number * 10 + digit;
    }
    return at;
}

static char *read_value(char *at, struct json_pair *pair)
{
    if (*at == '"') {
        pair->kind = JSON_STRING;
        pair->text = at + 1;
        return read_string(at + 1);
    }
    if (*at == '{' || *at == '[') {
        pair->kind = JSON_OTHER;
        return skip_nested(at);
    }
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

const char *json_read(char *text, struct json_line *line)
{
    line->count = 0;
    char *at = skip_space(text);
    if (*at++ != '{')
        return "it does not begin with '{'";
    at = skip_space(at);
    if (*at == '}')
        return *skip_space(at + 1) ? "there is more after its '}'" : NULL;
    for (;;) {
        if (line->count == JSON_PAIRS_MOST)
            return "it has too many members";
        struct json_pair *pair = &line->pairs[line->count++];
        *pair = (struct json_pair){.text = ""};
        if (*at != '"')
            return "a member has no name";
        pair->key = at + 1;
        at = read_string(at + 1);
        if (!at)
            return "a string does not end";
        at = skip_space(at);
        if (*at != ':')
            return "a member's name has no ':' after it";
        at = read_value(skip_space(at + 1), pair);
        if (!at)
            return "a value is neither a string, a whole number, true nor false";
        at = skip_space(at);
        const char separator = *at++;
        if (separator == '}')
            return *skip_space(at) ? "there is more after its '}'" : NULL;
        if (separator != ',')
            return "neither ',' nor '}' follows a value";
        at = skip_space(at);
    }
}
