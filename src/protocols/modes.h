/* SPDX-License-Identifier: MIT */
/* The modes in which a region is entered, and which of them conflict: the matrix of the VMS lock
 * manager.
 *
 * The numbers are those of the public header's AY_EXCLUSIVE … AY_NULL; this file stands alone so
 * that a protocol needs nothing but itself. EX, PR, PW, CW, CR, NL are the names VMS gives them.
 */
#ifndef AFTERYOU_PROTOCOLS_MODES_H
#define AFTERYOU_PROTOCOLS_MODES_H

#include <stdbool.h>
#include <stdint.h>

enum mode {
    MODE_EXCLUSIVE,        /* EX: alone */
    MODE_SHARED,           /* PR: with other readers */
    MODE_PROTECTED_WRITE,  /* PW: the one writer, beside readers that do not mind */
    MODE_CONCURRENT_WRITE, /* CW: with other writers */
    MODE_CONCURRENT_READ,  /* CR: with everybody but EX */
    MODE_NULL,             /* NL: with everybody */
    MODES
};

/* Bit m' of compatible[m]: m and m' may be inside at once. The matrix is symmetric (a test says
 * so). */
static inline bool modes_conflict(uint64_t mode, uint64_t other)
{
    enum {
        NL = 1 << MODE_NULL,
        CR = 1 << MODE_CONCURRENT_READ,
        CW = 1 << MODE_CONCURRENT_WRITE,
        PW = 1 << MODE_PROTECTED_WRITE,
        PR = 1 << MODE_SHARED
    };
    static const uint8_t compatible[MODES] = {
        [MODE_EXCLUSIVE] = NL,
        [MODE_SHARED] = NL | CR | PR,
        [MODE_PROTECTED_WRITE] = NL | CR,
        [MODE_CONCURRENT_WRITE] = NL | CR | CW,
        [MODE_CONCURRENT_READ] = NL | CR | CW | PR | PW,
        [MODE_NULL] = (1 << MODES) - 1,
    };
    return !(compatible[mode] >> other & 1);
}

/* Whoever may be inside in `mode` may be there in `weaker` as well: it conflicts with nothing more.
 */
static inline bool modes_include(uint64_t mode, uint64_t weaker)
{
    for (unsigned other = 0; other < MODES; other++)
        if (modes_conflict(weaker, other) && !modes_conflict(mode, other))
            return false;
    return true;
}

/* The strongest mode that may be inside beside this one: those that may are what it includes. */
static inline unsigned modes_beside(uint64_t mode)
{
    static const uint8_t beside[MODES] = {
        [MODE_EXCLUSIVE] = MODE_NULL,
        [MODE_SHARED] = MODE_SHARED,
        [MODE_PROTECTED_WRITE] = MODE_CONCURRENT_READ,
        [MODE_CONCURRENT_WRITE] = MODE_CONCURRENT_WRITE,
        [MODE_CONCURRENT_READ] = MODE_PROTECTED_WRITE,
        [MODE_NULL] = MODE_EXCLUSIVE,
    };
    return beside[mode];
}

/* The strongest mode that both include. Only shared and concurrent-write include neither the
 * other. */
static inline unsigned modes_common(unsigned mode, unsigned other)
{
    if (modes_include(mode, other))
        return other;
    return modes_include(other, mode) ? mode : MODE_CONCURRENT_READ;
}

static inline const char *mode_name(unsigned mode)
{
    static const char *const names[MODES] = {
        "exclusive", "shared", "protected-write", "concurrent-write", "concurrent-read", "null"};
    return mode < MODES ? names[mode] : "unknown";
}

#endif
