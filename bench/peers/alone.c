/* SPDX-License-Identifier: MIT */
/* Alone: the time of a passage when nobody else wants in, though others may have the lock open. */
#include <stdlib.h>

#include "crew.h"
#include "measure.h"
#include "numbers.h"

enum { CHUNKS_MOST = 64, FIRST_COUNT = 256, COUNT_MOST = 1 << 24 };

static struct effort present_effort; /* what the child that measures inherits */
static uint64_t present_passages;

/* Other places are open, and do nothing. They are members of this process, which costs a passage
 * the same. */
static void open_others(struct crew *crew)
{
    static struct member others[PLACES_OPEN_MOST];
    if (!(crew->peer->can & PEER_PLACES))
        return;
    for (unsigned at = 1; at < crew->of->members && at < PLACES_OPEN_MOST; at++)
        crew_join(crew, &others[at], at);
}

static double time_chunk(const struct loops *loops, struct member *member, uint64_t count)
{
    const int64_t begin = now_ns();
    loops->passages(member, count);
    return (double)(now_ns() - begin);
}

static void body_alone(struct crew *crew, struct member *member)
{
    const struct loops *loops = crew->peer->loops;
    double times[CHUNKS_MOST];
    open_others(crew);
    uint64_t count = FIRST_COUNT;
    while (count < COUNT_MOST &&
           time_chunk(loops, member, count) < 1000.0 * present_effort.chunk_us)
        count *= 2;
    const unsigned chunks =
        present_effort.chunks < CHUNKS_MOST ? present_effort.chunks : CHUNKS_MOST;
    for (unsigned at = 0; at < chunks; at++)
        times[at] = time_chunk(loops, member, count) / (double)count;
    crew->findings[0].value = quantile(times, chunks, .5);
}

static void body_passages(struct crew *crew, struct member *member)
{
    open_others(crew);
    crew->peer->loops->passages(member, FIRST_COUNT);
    crew->peer->loops->passages(member, present_passages);
}

int measure_alone(const struct bench_case *of, const struct peer *peer, const struct effort *effort,
                  struct sample *sample, char *message)
{
    struct crew *crew = crew_make(peer, of, message);
    if (!crew)
        return -1;
    present_effort = *effort;
    int result = crew_start(crew, 1, body_alone);
    if (result == 0)
        result = crew_await_end(crew);
    *sample = (struct sample){.ns = crew->findings[0].value,
                              .fairness = -1,
                              .cpu_ns = -1,
                              .overtaken = -1,
                              .overtaken_in_queue = -1};
    crew_end(crew, message);
    return result;
}

int run_passages(const struct bench_case *of, const struct peer *peer, uint64_t passages,
                 char *message)
{
    struct crew *crew = crew_make(peer, of, message);
    if (!crew)
        return -1;
    present_passages = passages;
    int result = crew_start(crew, 1, body_passages);
    if (result == 0)
        result = crew_await_end(crew);
    crew_end(crew, message);
    return result;
}
