/* SPDX-License-Identifier: MIT */
/* Entering a cluster's region without the permission at hand: asks the agent, and waits until it
 * has come.
 *
 * One who waits stays inside the region of the space, so the order among local processes is kept;
 * the agent's word, and what it says of those who hold it elsewhere, wake it. An agent that begins
 * anew, and knows nothing of the demand, says that it is there. That the agent has died nobody
 * says: it is asked again a few times, and from then on only if it does not renew its lease. So who
 * waits for long looks up as often as that lasts, and says nothing.
 *
 * Nothing here sleeps but ay__cluster_rest(): ay__cluster_go_on() looks, and says what to do next.
 * A thread that waits sleeps on the words that it names; an ask (memory/ask/) is linked to them.
 * They were read before the look that found no permission, so no change of them is missed.
 */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "common/assert.h"
#include "memory/passage/long_way.h"
#include "memory/passage/sleep.h"
#include "memory/remote/kind.h"
#include "memory/remote/wait.h"

enum {
    MS = 1000 * 1000,
    ASK_AGAIN_MS = 250, /* the first time, and while there is no agent; then ever more rarely */
    ASK_RARELY_MS = 2000,
    ROOM_MS = 4, /* one that does not wait for room in the agent's queue looks again so soon */
    /* somebody who does not want to wait waits for an answer of the other machines */
    TRY_MS = 1000,
    AGENT_DEAD_MS = 10000, /* an agent that is not there may be started again so long */
    DEAF_MS = 16,          /* to all words but one, where the kernel watches one only */
    DEAF_TO_SIGNALS_MS = 500
};

bool ay__wait_give_up(ay_region *region, int reason)
{
    region->at.passage.reason = reason;
    return false;
}

/* Somebody removed the pages, or their space, and an agent has made others: nothing will ever be
 * granted in these. The files are looked at only when it asks again: most need not. */
static bool is_replaced(const struct cluster *cluster, bool again)
{
    char path[PATH_MAX];
    struct stat status;
    if (cluster->pages->identity != cluster->identity)
        return true;
    return again && cluster_path(cluster->name, "agent", path, sizeof path) &&
           lstat(path, &status) == 0 &&
           (status.st_dev != cluster->device || status.st_ino != cluster->inode);
}

uint64_t ay__wait_agent(const struct permissions *pages)
{
    return (uint64_t)atomic_load(&pages->pid) << 32 | atomic_load(&pages->state);
}

void ay__wait_ask_anew(struct cluster_wait *wait)
{
    wait->ask = 0;
    wait->pause_ms = ASK_AGAIN_MS;
}

/* Asked often enough, and there as long as its lease holds: that is renewed long before. */
static bool is_well(const struct permissions *pages, const struct cluster_wait *wait, int64_t now)
{
    return wait->pause_ms == ASK_RARELY_MS && !wait->unheard && !wait->agent_lost &&
           wait->agent == ay__wait_agent(pages) && now < atomic_load(&pages->deadline_monotonic);
}

bool ay__wait_ask(ay_region *region, enum demand_kind kind)
{
    const struct cluster *cluster = region->at.fixed.space->cluster;
    struct cluster_wait *wait = &region->remote.wait;
    const int64_t now = ay__now();
    if (atomic_load(&cluster->pages->full) && !region->remote.permission)
        return ay__wait_give_up(
            region,
            ay__fail(-ENOSPC, "cluster '%s' has no room for another resource", cluster->name));
    if (now < wait->ask)
        return true;
    if (is_well(cluster->pages, wait, now)) {
        wait->ask = atomic_load(&cluster->pages->deadline_monotonic);
        return true;
    }
    const int64_t again = now + (int64_t)wait->pause_ms * MS;
    const int64_t soon = now + (int64_t)ASK_AGAIN_MS * MS;
    const bool asked = wait->agent != 0;
    wait->agent = ay__wait_agent(cluster->pages);
    const enum demand_answer answer =
        ay__cluster_demand(region, kind, (soon < wait->until ? soon : wait->until) - now);
    wait->unheard = answer == DEMAND_NO_ROOM || answer == DEMAND_NOT_SENT;
    wait->pause_ms = answer != DEMAND_SENT                ? ASK_AGAIN_MS
                     : 2 * wait->pause_ms < ASK_RARELY_MS ? 2 * wait->pause_ms
                                                          : ASK_RARELY_MS;
    if (answer == DEMAND_NO_ROOM) /* a thread has waited for it, and asks again at once */
        wait->ask = region->at.passage.asked ? now + ROOM_MS * MS : now;
    else
        wait->ask = answer == DEMAND_NOT_SENT ? soon : again;
    if (answer != DEMAND_NO_AGENT)
        wait->agent_lost = 0;
    else if (!wait->agent_lost)
        wait->agent_lost = now;
    if (is_replaced(cluster, asked))
        return ay__wait_give_up(
            region,
            ay__fail(-ESTALE, "the files of cluster '%s' were removed and made anew: open it again",
                     cluster->name));
    if (wait->agent_lost && (wait->tries || now - wait->agent_lost > (int64_t)AGENT_DEAD_MS * MS))
        return ay__wait_give_up(region,
                                ay__fail(-EHOSTDOWN,
                                         "the agent of cluster '%s' does not run on this machine; "
                                         "start it: afteryou agent --cluster %s",
                                         cluster->name, cluster->name));
    return true;
}

enum cluster_answer ay__wait_rest_on(ay_region *region, const void *first, uint64_t seen_first,
                                     const void *second, uint32_t seen_second)
{
    struct cluster_wait *wait = &region->remote.wait;
    unsigned count = 0;
    ay__sleep_watch(wait->words, &count, first, seen_first);
    ay__sleep_watch(wait->words, &count, second, seen_second);
    wait->wake = wait->ask < wait->until ? wait->ask : wait->until;
    return CLUSTER_RESTS;
}

static bool suffices(const ay_region *region, uint64_t granted)
{
    return modes_include(permission_turned(permission_mode(granted)),
                         permission_turned(region->remote.needed));
}

bool ay__cluster_suffices(const ay_region *region)
{
    const struct permission *permission = region->remote.permission;
    return region->remote.needed == PERMISSION_NONE ||
           (permission && suffices(region, atomic_load(&permission->granted)));
}

/* P5: somebody is to be told before another is inside. */
static bool is_watched(const struct permission *permission)
{
    return atomic_load(&permission->watch) & (PERMISSION_ARMED | PERMISSION_WATCHED);
}

/* The permission is there, in time, and sufficient: the passage is the cluster's. */
static bool take(ay_region *region)
{
    const struct permission *permission = region->remote.permission;
    const uint64_t granted = atomic_load(&permission->granted);
    const struct cluster *cluster = region->at.fixed.space->cluster;
    const struct name *name = &region->spec.name[0];
    if (!suffices(region, granted) || granted & PERMISSION_CHANGING ||
        !ay__cluster_in_time(region) || cluster->pages->identity != cluster->identity)
        return false;
    region->remote.base = atomic_load(&permission->base);
    region->remote.first = atomic_load(&permission->number);
    const bool watched = is_watched(permission),
               whole = !wait_tests(region) || (!watched && !atomic_load(&permission->death));
    if ((watched && !wait_tests(region)) ||           /* P5 */
        atomic_load(&permission->granted) != granted) /* P2 */
        return false;
    if (!permission_is_of(permission, name->bytes, name->length) ||
        atomic_load(&permission->granted) != granted)
        return false; /* P3 */
    assert_invariant(P5, wait_tests(region) || !watched);
    /* who only asks its condition takes it for no more than that: never at hand, but of its era */
    atomic_store(&region->remote.granted, whole ? granted : granted & ~(uint64_t)PERMISSION_MODE);
    return true;
}

bool ay__wait_is_named(const ay_region *region)
{
    const struct name *name = &region->spec.name[0];
    return permission_is_of(region->remote.permission, name->bytes, name->length);
}

/* That it was told of a death stays known. */
enum cluster_answer ay__cluster_begin_anew(ay_region *region)
{
    region->at.passage.remote = false;
    region->at.passage.reason = region->at.passage.give_up;
    return CLUSTER_BEGINS_ANEW;
}

/* The permission has gone before it was inside, though others see it there: that is no loss to tell
 * the caller of. */
static enum cluster_answer lose(ay_region *region)
{
    atomic_store(&region->remote.granted, 0);
    return ay__cluster_begin_anew(region);
}

/* Somebody died inside on another machine: of those who enter, one is told, and tells the agent so.
 * Its own death counts by then. That nobody else is told it waits for when it leaves. */
static enum cluster_answer tell(ay_region *region)
{
    const struct cluster_wait *wait = &region->remote.wait;
    const struct permission *permission = region->remote.permission;
    if (atomic_load(&permission->granted) != atomic_load(&region->remote.granted) && !take(region))
        return lose(region);
    if (!atomic_load(&permission->death) || ay__now() >= wait->until ||
        !ay__wait_ask(region, DEMAND_TOLD) || !wait->unheard)
        return take(region) ? CLUSTER_PERMITS : lose(region);
    return ay__wait_rest_on(region, &permission->death, 1, &permission->granted,
                            (uint32_t)atomic_load(&region->remote.granted));
}

/* Whoever comes next on this machine is told as well while the page says so. It says so no longer
 * when the agent has taken what this passage said: that it has left is waited for until then, or
 * until a second after it was told, should the agent be stopped. If there is another agent, what
 * was said is lost; however this one is now, it has it. Not said again: by now it may be another
 * death, of which nobody is told yet. */
void ay__cluster_leaves(ay_region *region)
{
    struct cluster_wait *wait = &region->remote.wait;
    const struct permission *permission = region->remote.permission;
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    if (wait->stage != CLUSTER_TELLS)
        return;
    for (;;) {
        struct ay__waitv words[CLUSTER_WORDS];
        const uint64_t granted = atomic_load(&permission->granted); /* its mode may change */
        if (!atomic_load(&permission->death) || !ay__cluster_stands(region) ||
            ay__now() >= wait->until || wait->agent_lost ||
            atomic_load(&pages->pid) != wait->agent >> 32)
            break;
        wait->ask = wait->until;
        ay__wait_rest_on(region, &permission->death, 1, &permission->granted, (uint32_t)granted);
        memcpy(words, wait->words, sizeof words);
        ay__futex_sleep(words, CLUSTER_WORDS, (int64_t)DEAF_MS * MS, wait->wake);
    }
    wait->stage = CLUSTER_INSIDE;
}

static enum cluster_answer permit(ay_region *region)
{
    struct cluster_wait *wait = &region->remote.wait;
    if (!atomic_load(&region->remote.permission->death) || wait_tests(region))
        return CLUSTER_PERMITS;
    region->at.passage.waited = true;
    region->remote.death = true;
    /* N2, as others see it: should it die from here on, the next one is told of that instead. It
     * may be long until it is inside: it may wait for other resources, or begin anew. */
    atomic_store_explicit(&region->at.near.own->inside, 1, memory_order_release);
    wait->stage = CLUSTER_TELLS;
    wait->until = ay__now() + (int64_t)TRY_MS * MS;
    ay__wait_ask_anew(wait);
    return tell(region);
}

/* Outside, so that the agent can come in: until the permission may have changed. */
static enum cluster_answer make_way(ay_region *region)
{
    struct registers *at = &region->at;
    struct cluster_wait *wait = &region->remote.wait;
    const struct permission *permission = region->remote.permission;
    const struct permissions *pages = at->fixed.space->cluster->pages;
    const uint32_t state = atomic_load(&pages->state);
    if (atomic_load(&permission->granted) != wait->granted || !ay__wait_is_named(region)) {
        at->passage.deadline = wait->until;
        ay__wait_ask_anew(wait);
        wait->stage = CLUSTER_INSIDE;
        return CLUSTER_COMES_BACK;
    }
    if (ay__now() >= wait->until) {
        ay__wait_give_up(region, at->passage.give_up);
        return CLUSTER_GIVES_UP;
    }
    if (ay__wait_agent(pages) != wait->agent)
        ay__wait_ask_anew(wait);
    if (!ay__wait_ask(region, DEMAND_MORE))
        return CLUSTER_GIVES_UP;
    return ay__wait_rest_on(region, &permission->granted, wait->granted, &pages->state, state);
}

/* The name in the pages, if it is there by now. */
static void find_name(ay_region *region)
{
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    const struct name *name = &region->spec.name[0];
    struct cluster_wait *wait = &region->remote.wait;
    if (region->remote.permission && !ay__wait_is_named(region)) {
        atomic_store(&region->remote.granted, 0); /* it is asked for anew */
        region->remote.permission = NULL;
    }
    if (region->remote.permission)
        return;
    region->remote.permission = permissions_find(pages, name->bytes, name->length);
    if (!region->remote.permission)
        return;
    wait->busy = atomic_load(&region->remote.permission->busy);
    ay__wait_ask_anew(wait); /* so that who tries hears of it, should it be busy */
}

/* Inside the region of the space. The agent's state is told when it changes, and so whenever there
 * is another agent. */
static enum cluster_answer look(ay_region *region)
{
    struct registers *at = &region->at;
    struct cluster_wait *wait = &region->remote.wait;
    const struct permissions *pages = at->fixed.space->cluster->pages;
    const uint32_t changes = atomic_load(&pages->changes), state = atomic_load(&pages->state);
    find_name(region);
    const struct permission *permission = region->remote.permission;
    const uint32_t watch = permission ? atomic_load(&permission->watch) : 0;
    if (permission && take(region))
        return permit(region);
    at->passage.waited = true;
    ay__begin_waiting(at);
    const uint64_t granted = permission ? atomic_load(&permission->granted) : 0;
    if (permission && !ay__wait_is_named(region))
        return CLUSTER_BEGINS_ANEW; /* P3: what was granted may be of another name */
    /* what has been granted since is not wanted any more; and another agent may know nothing */
    if (granted != wait->granted || ay__wait_agent(pages) != wait->agent)
        ay__wait_ask_anew(wait);
    if (suffices(region, granted))
        wait->pause_ms = ASK_AGAIN_MS; /* its lease has run out: nobody tells that it is renewed */
    wait->granted = granted;
    if (permission_mode(granted) != PERMISSION_NONE && !suffices(region, granted)) {
        wait->stage = CLUSTER_OUTSIDE;
        ay__wait_ask_anew(wait);
        return CLUSTER_MAKES_WAY;
    }
    const bool is_only_watched =
        permission && !wait_tests(region) && suffices(region, granted) && is_watched(permission);
    if (!ay__wait_ask(region, is_only_watched ? DEMAND_REAL : DEMAND_PERMISSION))
        return CLUSTER_GIVES_UP;
    if (permission && take(region))
        return permit(region);
    if (ay__now() >= wait->until ||
        (wait->tries && permission && atomic_load(&permission->busy) != wait->busy)) {
        ay__wait_give_up(region, at->passage.give_up);
        return CLUSTER_GIVES_UP;
    }
    if (!permission)
        return ay__wait_rest_on(region, &pages->changes, changes, &pages->state, state);
    if (is_only_watched) /* the answer changes no more of `granted` than its upper half */
        return ay__wait_rest_on(region, &permission->granted, granted, &permission->watch, watch);
    if (wait->tries)
        return ay__wait_rest_on(region, &permission->granted, granted, &permission->busy,
                                wait->busy);
    return ay__wait_rest_on(region, &permission->granted, granted, &pages->state, state);
}

void ay__wait_begin(ay_region *region)
{
    const int64_t deadline = region->at.passage.deadline;
    const bool tries = deadline == INT64_MIN;
    const struct permission *permission = region->remote.permission;
    region->at.passage.remote = true;
    region->remote.wait = (struct cluster_wait){
        .until = tries ? ay__now() + (int64_t)TRY_MS * MS : deadline,
        .busy = permission ? atomic_load(&permission->busy) : 0,
        .tries = tries,
        .pause_ms = ASK_AGAIN_MS,
    };
}

/* Inside, and stronger than before: somebody may have gone to sleep meanwhile beside the weaker
 * mode. */
bool ay__cluster_announce(ay_region *region)
{
    struct registers *at = &region->at;
    const struct permission *permission = region->remote.permission;
    bool announced = true;
    if (!is_watched(permission))
        return true;
    ay__cluster_leaves(region); /* what it waits for when it leaves is forgotten here */
    ay__wait_begin(region);
    at->passage.queues = at->passage.waited = true;
    while (announced && is_watched(permission)) {
        const uint64_t granted = atomic_load(&permission->granted);
        const uint32_t watch = atomic_load(&permission->watch);
        announced = ay__now() < region->remote.wait.until
                        ? ay__wait_ask(region, DEMAND_REAL)
                        : ay__wait_give_up(region, at->passage.give_up);
        if (announced && is_watched(permission)) {
            ay__wait_rest_on(region, &permission->granted, granted, &permission->watch, watch);
            announced = ay__cluster_rest(region);
        }
    }
    ay__stop_waiting(at);
    return announced;
}

enum cluster_answer ay__wait_permission(ay_region *region)
{
    assert_required(region->at.near.cluster && region->at.passage.queues);
    if (!region->at.passage.remote) {
        if (region->remote.needed == PERMISSION_NONE || ay__cluster_at_hand(region))
            return CLUSTER_PERMITS;
        if (region->remote.told_lost)
            ay__cluster_enters(region);
        ay__wait_begin(region);
    }
    switch (region->remote.wait.stage) {
    case CLUSTER_OUTSIDE:
        return make_way(region);
    case CLUSTER_TELLS:
        return tell(region);
    default:
        return look(region);
    }
}

/* Its region is permitted, and of a kind that needs more: it waits for that, without its own. */
static enum cluster_answer take_more(ay_region *region)
{
    if (!region->at.passage.remote)
        ay__wait_begin(region);
    return region->remote.kind->take(region);
}

enum cluster_answer ay__cluster_go_on(ay_region *region)
{
    const struct remote_kind *kind = region->remote.kind;
    if (region->at.request.when && region->remote.needed != PERMISSION_NONE)
        return ay__cluster_go_on_when(region);
    if (region->at.passage.test > TEST_ASKS)
        return ay__cluster_go_on_tested(region);
    if (!kind || !kind->take)
        return ay__wait_permission(region);
    if (region->at.passage.remote && region->remote.wait.stage >= CLUSTER_TAKES)
        return kind->take(region);
    const enum cluster_answer answer = ay__wait_permission(region);
    return answer == CLUSTER_PERMITS ? take_more(region) : answer;
}

/* Who is told of a death is not called off: nobody else would be told. */
bool ay__cluster_called_off(ay_region *region)
{
    struct registers *at = &region->at;
    return region->remote.wait.stage != CLUSTER_TELLS && (ay__cancelled(at) || ay__interrupted(at));
}

/* On nobody of this machine; but who cancels waits ends the sleep by its count. */
bool ay__cluster_rest(ay_region *region)
{
    struct registers *at = &region->at;
    const struct cluster_wait *wait = &region->remote.wait;
    struct ay__waitv words[CLUSTER_WORDS + 1];
    unsigned count = CLUSTER_WORDS;
    ay__say_asleep(at, at->fixed.self, 0, 0, 0);
    memcpy(words, wait->words, sizeof wait->words);
    ay__sleep_watch(words, &count, &at->near.own->sleeps, at->mine.sleeps);
    /* a signal may have come just before the sleep */
    const int64_t listen =
        at->request.interrupted ? ay__now() + (int64_t)DEAF_TO_SIGNALS_MS * MS : INT64_MAX;
    ay__futex_sleep(words, count, (int64_t)DEAF_MS * MS, listen < wait->wake ? listen : wait->wake);
    ay__say_awake(at);
    return !ay__cluster_called_off(region);
}
