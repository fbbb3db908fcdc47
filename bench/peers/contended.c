/* SPDX-License-Identifier: MIT */
/* Contended: all members enter and leave as fast as they can, for so long; and a second pass that
 * counts overtakings, for counting costs. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <sys/resource.h>

#include "crew.h"
#include "measure.h"

static int64_t cpu_ns(const struct crew *crew)
{
    struct rusage usage;
    getrusage(crew->peer->can & PEER_THREADS ? RUSAGE_THREAD : RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
}

typedef uint64_t work_loop(struct member *, struct work *);

static void take_part(struct crew *crew, struct member *member, work_loop *loop)
{
    struct finding *mine = &crew->findings[member->self];
    atomic_fetch_add(&crew->ready, 1);
    while (!atomic_load_explicit(&crew->work.go, memory_order_acquire))
        sched_yield();
    const int64_t before = cpu_ns(crew);
    mine->passages = loop(member, &crew->work);
    mine->cpu_ns = cpu_ns(crew) - before;
}

static void body_timed(struct crew *crew, struct member *member)
{
    take_part(crew, member, crew_loops(crew, member)->until_stop);
}

static void body_counted(struct crew *crew, struct member *member)
{
    take_part(crew, member, crew_loops(crew, member)->counted);
}

/* Lets them go for so long: the nanoseconds it was in fact, or a negative errno. */
static int64_t run(struct crew *crew, unsigned ms, member_body *body)
{
    int result = crew_start(crew, crew->of->members, body);
    if (result == 0)
        result = crew_await_ready(crew, crew->of->members);
    if (result != 0)
        return result;
    const int64_t begin = now_ns();
    atomic_store(&crew->work.go, true);
    rest_us(1000 * (int64_t)ms);
    atomic_store(&crew->work.stop, true);
    const int64_t taken = now_ns() - begin;
    result = crew_await_end(crew);
    return result ? result : taken;
}

static struct sample sum_up(const struct crew *crew, int64_t taken)
{
    uint64_t passages = 0, most = 0, least = UINT64_MAX;
    int64_t cpu = 0;
    for (unsigned at = 0; at < crew->of->members; at++) {
        const struct finding *one = &crew->findings[at];
        passages += one->passages;
        cpu += one->cpu_ns;
        most = one->passages > most ? one->passages : most;
        least = one->passages < least ? one->passages : least;
    }
    return (struct sample){
        .ns = (double)taken / (double)(passages ? passages : 1),
        .fairness = least ? (double)most / (double)least : INFINITY,
        .cpu_ns = (double)cpu / (double)(passages ? passages : 1),
        .overtaken = -1,
        .overtaken_in_queue = -1,
    };
}

int measure_contended(const struct bench_case *of, const struct peer *peer,
                      const struct effort *effort, struct sample *sample, char *message)
{
    struct crew *crew = crew_make(peer, of, message);
    if (!crew)
        return -1;
    const int64_t taken = run(crew, effort->window_ms, body_timed);
    if (taken > 0)
        *sample = sum_up(crew, taken);
    crew_end(crew, message);
    return taken > 0 ? 0 : (int)taken;
}

/* Two inside at once would make the ledger's count differ from the members' own. */
static int compare_entries(struct crew *crew)
{
    uint64_t passages = 0;
    for (unsigned at = 0; at < crew->of->members; at++)
        passages += crew->findings[at].passages;
    if (passages == crew->work.ledger.entries)
        return 0;
    return peer_fail(&crew->meeting, -EPROTO,
                     "exclusion broken: %ju passages, of which %ju were counted inside",
                     (uintmax_t)passages, (uintmax_t)crew->work.ledger.entries);
}

int measure_overtaken(const struct bench_case *of, const struct peer *peer,
                      const struct effort *effort, struct sample *sample, char *message)
{
    struct crew *crew = crew_make(peer, of, message);
    if (!crew)
        return -1;
    const int64_t taken = run(crew, effort->counted_ms, body_counted);
    const int result = taken > 0 ? compare_entries(crew) : (int)taken;
    if (result == 0) {
        sample->overtaken = (double)crew->work.ledger.overtaken_most;
        sample->overtaken_in_queue =
            peer->queued ? (double)crew->work.ledger.overtaken_in_queue_most : -1;
    }
    crew_end(crew, message);
    return result;
}
