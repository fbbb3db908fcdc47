/* SPDX-License-Identifier: MIT */
/* Tags: who may have a resource in common with whom, to be read at a glance.
 *
 * A place has a tag of two bytes: some bits of its name's hash. They lie side by side, four in a
 * word, so that among ten thousand places those of one name are found in a microsecond or two,
 * and no line of the others is touched. A tag says only where to look: who finds its own there
 * reads the place itself.
 *
 * A claimer stores the tag of its place before that comes alive (L9). Its word has three
 * neighbours, so it is swapped (L1). Who looks before has not missed anybody: L6.
 */
#ifndef AFTERYOU_MEMORY_FILE_TAGS_H
#define AFTERYOU_MEMORY_FILE_TAGS_H

#include "memory/file/layout.h"

enum {
    TAG_NOBODY = 0, /* nobody was there yet */
    /* everybody looks there: it has several names; or an untold death of another name; or its
     * protocol knows no names */
    TAG_LOOK = 1,
    TAG_LEAST = 2,
    TAGS_A_WORD = 4,
    TAG_BITS = 8 * TAG_SIZE
};

/* `hash` is that of its one name; 0: it has several. */
static inline unsigned tag_of(uint64_t hash)
{
    const unsigned tag =
        (unsigned)((hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) & ((1u << TAG_BITS) - 1));
    return hash == 0 ? TAG_LOOK : tag < TAG_LEAST ? tag + TAG_LEAST : tag;
}

static inline unsigned bucket_of(uint64_t hash)
{
    return (unsigned)((hash ^ hash >> 29) % BUCKETS);
}

/* The same tag four times. */
static inline uint64_t tag_pattern(unsigned tag)
{
    return UINT64_C(0x0001000100010001) * tag;
}

/* The top bit of a tag that is 0. Above the first such tag there may be false ones. */
static inline uint64_t tags_zero(uint64_t word)
{
    return (word - UINT64_C(0x0001000100010001)) & ~word & UINT64_C(0x8000800080008000);
}

/* Whether the tag of a place is that of the pattern. */
static inline bool tag_is(const _Atomic uint64_t *tags, uint64_t pattern, unsigned place)
{
    const unsigned shift = place % TAGS_A_WORD * TAG_BITS;
    const uint64_t word = atomic_load_explicit(&tags[place / TAGS_A_WORD], memory_order_relaxed);
    return (((word ^ pattern) >> shift) & ((UINT64_C(1) << TAG_BITS) - 1)) == 0;
}

/* The first place from `place` on whose tag is that of either pattern; `end`: there is none. What a
 * shift brings in is TAG_NOBODY, which is neither. The one at `place` itself is compared alone: of
 * few places it mostly is, and a processor that guesses so need not wait for the sum. */
static inline unsigned tags_next(const _Atomic uint64_t *tags, uint64_t pattern, uint64_t other,
                                 unsigned place, unsigned end)
{
    while (place < end) {
        if (tag_is(tags, pattern, place))
            return place;
        /* most words have neither: four at a time */
        while (place % TAGS_A_WORD == 0 && place + 4 * TAGS_A_WORD <= end) {
            const _Atomic uint64_t *four = &tags[place / TAGS_A_WORD];
            const uint64_t first = atomic_load(&four[0]), second = atomic_load(&four[1]),
                           third = atomic_load(&four[2]), fourth = atomic_load(&four[3]);
            if (tags_zero(first ^ pattern) | tags_zero(first ^ other) |
                tags_zero(second ^ pattern) | tags_zero(second ^ other) |
                tags_zero(third ^ pattern) | tags_zero(third ^ other) |
                tags_zero(fourth ^ pattern) | tags_zero(fourth ^ other))
                break;
            place += 4 * TAGS_A_WORD;
        }
        if (place == end)
            break;
        const uint64_t word =
            atomic_load(&tags[place / TAGS_A_WORD]) >> place % TAGS_A_WORD * TAG_BITS;
        const uint64_t found = tags_zero(word ^ pattern) | tags_zero(word ^ other);
        if (found) {
            place += (unsigned)__builtin_ctzll(found) / TAG_BITS;
            return place < end ? place : end;
        }
        place = (place | (TAGS_A_WORD - 1)) + 1;
    }
    return end;
}

static inline void tag_store(_Atomic uint64_t *tags, unsigned place, unsigned tag)
{
    _Atomic uint64_t *word = &tags[place / TAGS_A_WORD];
    const unsigned shift = place % TAGS_A_WORD * TAG_BITS;
    const uint64_t mask = (UINT64_C(1) << TAG_BITS) - 1;
    uint64_t seen = atomic_load(word);
    while (!atomic_compare_exchange_weak(word, &seen,
                                         (seen & ~(mask << shift)) | (uint64_t)tag << shift))
        ;
}

#endif
