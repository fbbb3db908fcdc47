/* SPDX-License-Identifier: MIT */
/* Whether a process is dead, for storms: one that was killed may be inside by what it wrote; it is
 * not by the kernel. */
#ifndef AFTERYOU_TESTS_MEMORY_LIVES_H
#define AFTERYOU_TESTS_MEMORY_LIVES_H

#include "harness.h"

/* Neither gone nor about to be. 0: nobody. */
static inline bool process_lives(int pid)
{
    if (pid == 0)
        return false;
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *state = strrchr(text, ')');
    if (!state || state[2] == 'Z' || state[2] == 'X')
        return false;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "r");
    if (!file)
        return false;
    uint64_t pending = 0;
    unsigned told = 0; /* if it is reaped between opening and reading, nothing is read */
    while (fgets(text, sizeof text, file)) {
        unsigned long long set;
        if (sscanf(text, "SigPnd: %llx", &set) == 1 || sscanf(text, "ShdPnd: %llx", &set) == 1) {
            pending |= set;
            told++;
        }
    }
    fclose(file);
    return told == 2 && !(pending >> (SIGKILL - 1) & 1);
}

#endif
