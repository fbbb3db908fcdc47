/* SPDX-License-Identifier: MIT */
/* The cases: in which situations the peers are measured. */
#include "cases.h"

#include <string.h>

#define ALONE(n)                                                                                   \
    {                                                                                              \
        .name = "alone-" #n, .what = "alone, open at " #n " places", .kind = CASE_ALONE,           \
        .members = n, .slots = 1                                                                   \
    }
#define CONTENDED(n, ns, words)                                                                    \
    {                                                                                              \
        .name = "contended-" #n "-" #ns, .what = #n " processes, " words, .kind = CASE_CONTENDED,  \
        .members = n, .section_ns = ns, .slots = 1                                                 \
    }
#define CONTENDED_ALL(n)                                                                           \
    CONTENDED(n, 0, "empty section"), CONTENDED(n, 100, "100 ns inside"),                          \
        CONTENDED(n, 1000, "1 µs inside"), CONTENDED(n, 10000, "10 µs inside")
#define READERS(n, writing, ns, words)                                                             \
    {                                                                                              \
        .name = "readers-" #n "-" #writing "-" #ns,                                                \
        .what = #n " processes, " #writing " of them writing, " words, .kind = CASE_READERS,       \
        .members = n, .writers = writing, .section_ns = ns, .slots = 1                             \
    }
#define SLOTS(n, k, ns, words)                                                                     \
    {                                                                                              \
        .name = "slots-" #n "-" #k "-" #ns, .what = #n " processes, " #k " slots, " words,         \
        .kind = CASE_SLOTS, .members = n, .slots = k, .section_ns = ns                             \
    }
#define KILL(mb)                                                                                   \
    {                                                                                              \
        .name = "kill-" #mb,                                                                       \
        .what = "kill -9 of a holder with " #mb " MB more, to the next one inside",                \
        .kind = CASE_KILL, .members = 2, .slots = 1, .megabytes = mb                               \
    }

const struct bench_case bench_cases[] = {
    ALONE(2),
    ALONE(8),
    ALONE(16),
    ALONE(64),
    ALONE(256),
    CONTENDED_ALL(2),
    CONTENDED_ALL(4),
    CONTENDED_ALL(8),
    READERS(2, 0, 0, "empty section"),
    READERS(8, 0, 1000, "1 µs inside"),
    READERS(8, 1, 1000, "1 µs inside"),
    SLOTS(8, 2, 1000, "1 µs inside"),
    {.name = "slots-64-8-rest",
     .what = "64 processes, 8 slots, 2 ms asleep inside",
     .kind = CASE_SLOTS,
     .members = 64,
     .slots = 8,
     .section_ns = 2000000,
     .rests = true},
    KILL(0),
    KILL(256),
    {.name = "startup",
     .what = "a command that does nothing, started and ended",
     .kind = CASE_STARTUP},
};

const size_t bench_case_count = sizeof bench_cases / sizeof *bench_cases;

bool case_has(const struct bench_case *of, const struct peer *peer)
{
    static const unsigned needs[] = {[CASE_READERS] = PEER_READERS,
                                     [CASE_SLOTS] = PEER_SLOTS,
                                     [CASE_KILL] = PEER_RECOVERS,
                                     [CASE_STARTUP] = 0};
    if (of->kind == CASE_STARTUP)
        return false; /* it has commands for peers: startup.c */
    if (peer == peer_at(0))
        return true;
    if (peer->members_most != 0 && of->members > peer->members_most)
        return false;
    if ((peer->can & PEER_SWEEP) && of->kind != CASE_CONTENDED)
        return false;
    if (of->megabytes > 0 && peer->options && peer->options->protocol)
        /* what the holder's memory costs is the engine's affair: the default protocol stands for
         * all */
        return false;
    if (of->kind == CASE_ALONE)
        return of->members <= 2 || (peer->can & PEER_PLACES);
    return (peer->can & needs[of->kind]) == needs[of->kind];
}

bool case_means(const char *word, size_t length, const char *name)
{
    return strncmp(word, name, length) == 0 && (name[length] == '\0' || name[length] == '-');
}
