/* SPDX-License-Identifier: MIT */
/* Text of somebody else's (names, commands, paths) that is safe to show: no control of a terminal
 * gets through.
 *
 * A terminal obeys C0 (below U+0020), DEL, and C1 (U+0080 to U+009F, in UTF-8 or, if it takes other
 * encodings, as single bytes). The marks that change the direction of writing, and the separators
 * of lines, let a text pass for another one. Bytes that are no UTF-8 may be anything. All these are
 * shown as '?'. */
#ifndef AFTERYOU_COMMON_PRINTABLE_H
#define AFTERYOU_COMMON_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the UTF-8 character at `at`, which ends with NUL; 0: it is none. */
static inline size_t utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    const size_t length = *at < 0x80                  ? 1
                          : *at >= 0xc2 && *at < 0xe0 ? 2
                          : *at >= 0xe0 && *at < 0xf0 ? 3
                          : *at >= 0xf0 && *at < 0xf5 ? 4
                                                      : 0;
    for (size_t more = 1; more < length; more++)
        if ((at[more] & 0xc0) != 0x80)
            return 0;
    const bool too_long = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xf0 && at[1] < 0x90);
    const bool surrogate = *at == 0xed && at[1] > 0x9f, too_great = *at == 0xf4 && at[1] > 0x8f;
    return too_long || surrogate || too_great ? 0 : length;
}

/* The character at `at` that has this length, which is not 0. */
static inline uint32_t utf8_character(const char *text, size_t length)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = (unsigned char)*text & first[length];
    for (size_t more = 1; more < length; more++)
        character = character << 6 | ((unsigned char)text[more] & 0x3f);
    return character;
}

static inline bool is_printable(uint32_t character)
{
    const bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    const bool direction = character == 0x061c || character == 0x200e || character == 0x200f ||
                           (character >= 0x2028 && character <= 0x202e) ||
                           (character >= 0x2066 && character <= 0x2069);
    return !control && !direction;
}

/* In place: each character that is not printable, and each byte that is no character, becomes one
 * '?'. */
static inline void make_printable(char *text)
{
    char *to = text;
    for (const char *from = text; *from;) {
        const size_t length = utf8_length(from);
        if (length == 0 || !is_printable(utf8_character(from, length))) {
            *to++ = '?';
            from += length ? length : 1;
            continue;
        }
        for (size_t at = 0; at < length; at++)
            *to++ = *from++;
    }
    *to = '\0';
}

#endif
