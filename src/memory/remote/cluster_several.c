/* SPDX-License-Identifier: MIT */
/* Several resources of a cluster at once: each is a region of its own, a member.
 *
 * On one machine a region with several names has one place, which stands in the queues of all of
 * them. In a cluster the permissions of names move one by one. So the members are entered one after
 * the other, in the order of their names' bytes, which all machines have in common: whoever has one
 * and waits for another waits for a greater name, and so no cycle of such waits is closed.
 *
 * Those that have passed wait for the rest, as others see it; the passage is inside once all have.
 * So who is killed before has died inside of none, but for those where it was told of a death: the
 * next one there is told of its own. Who gives up gives back all of them, and a death
 * that one was told of is left to the next. If the machine was cut off meanwhile, what it had is
 * lost: then all begin anew, under the same deadline.
 *
 * Whoever waits or asks makes the passages of all of them, step by step: begin(), and for each
 * present(), its passage, pass_on(); then end(). They live and die with the thread that enters the
 * caller's region, whichever makes a step.
 *
 * The caller's region is the last member. The others are regions of the same space, opened before
 * it: so ay_close(), which closes the latest first, never finds them without it.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory/passage/convert.h"
#include "memory/passage/long_way.h"
#include "memory/passage/passer.h"
#include "memory/passage/sleep.h"
#include "memory/remote/kind.h"

struct cluster_several {
    /* fixed while the region is open */
    unsigned count;
    unsigned first; /* the member that has the name of the spec */
    ay_region *member[NAMES_MOST];
    /* while it is being entered */
    struct request asked;
    bool by_ask;                /* and not by a thread that waits */
    unsigned passed;            /* members that have passed, and wait for the rest */
    bool begun;                 /* the passage of the next. Set when it is, cleared when it ends */
    int error;                  /* why that could not be; 0: no reason */
    const ay_region *cancelled; /* one of them, whose wait somebody has cancelled; NULL: none */
    /* Inside: a bit for each member that was told of a death of which the caller has not heard. Set
     * by who is told; cleared when the caller hears of it, or the member is left. */
    unsigned owed;
};

static int compare(const void *a, const void *b)
{
    const struct name *one = a, *other = b;
    const size_t least = one->length < other->length ? one->length : other->length;
    const int differs = memcmp(one->bytes, other->bytes, least);
    return differs ? differs : (int)one->length - (int)other->length;
}

static int open_member(ay_space *space, const ay_spec *like, const struct name *name,
                       ay_region **out)
{
    char text[AY_NAME_MOST + 1];
    ay_spec spec = *like;
    memcpy(text, name->bytes, name->length);
    text[name->length] = '\0';
    spec.name = text;
    spec.also = NULL;
    spec.reentrant = 0;
    return ay_region_open(space, &spec, out);
}

/* What it reads of the spec is sorted; then the region has the last name, and no other. */
int ay__cluster_several_open(ay_space *space, const ay_spec *spec, ay_region *region)
{
    struct public_spec *own = &region->spec;
    const struct name first = own->name[0];
    struct cluster_several *several = calloc(1, sizeof *several);
    if (!several)
        return ay__fail(-ENOMEM, "out of memory");
    region->remote.kind = &ay__kind_several;
    region->remote.several = several;
    qsort(own->name, own->names, sizeof own->name[0], compare);
    int error = 0;
    for (unsigned at = 0; at < own->names && !error; at++) {
        if (compare(&own->name[at], &first) == 0)
            several->first = at;
        if (at + 1 == own->names)
            several->member[at] = region;
        else
            error = open_member(space, spec, &own->name[at], &several->member[at]);
        if (!error && several->member[at] != region)
            several->member[at]->leader = region;
        several->count += !error;
    }
    own->name[0] = own->name[own->names - 1];
    memset(&own->name[1], 0, (own->names - 1) * sizeof own->name[0]);
    own->names = 1;
    return error;
}

static void close_others(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at < several->count; at++)
        if (several->member[at] != region)
            ay_region_close(several->member[at]);
    free(several);
}

static ay_region *member(const ay_region *region, unsigned which)
{
    const struct cluster_several *several = region->remote.several;
    return which < several->count ? several->member[which] : NULL;
}

/* Asked whenever a sleep of a member's ends. */
static bool is_called_off(void *arg)
{
    ay_region *region = arg;
    struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at < several->passed; at++)
        if (ay__cancelled(&several->member[at]->at)) {
            several->cancelled = several->member[at];
            return true;
        }
    if (!several->asked.interrupted)
        return false;
    region->at.passage.asking = true;
    const bool interrupted = several->asked.interrupted(several->asked.argument);
    region->at.passage.asking = false;
    return interrupted;
}

static bool called_off(ay_region *region)
{
    return is_called_off(region);
}

/* Its own passage has begun, and none of the others'. */
static void begin(ay_region *region, bool by_ask)
{
    struct cluster_several *several = region->remote.several;
    several->asked = region->at.request;
    several->by_ask = by_ask;
    several->passed = 0;
    several->begun = false;
    several->error = 0;
    several->cancelled = NULL;
}

/* The one to be passed now, whose passage has begun; NULL: that could not be. */
static ay_region *present(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    ay_region *present = several->member[several->passed];
    struct request *request = &present->at.request;
    *request = several->asked;
    if (!several->by_ask) { /* an ask looks by itself */
        request->interrupted = is_called_off;
        request->argument = region;
    }
    if (present != region)
        several->error =
            ay__passage_begin(present, region->at.passage.deadline, region->at.passage.give_up);
    several->begun = several->error == 0;
    if (!several->begun)
        *request = (struct request){0};
    return several->begun ? present : NULL;
}

/* As others see it, it sleeps: on nobody, for it waits elsewhere. */
static void stand_by(ay_region *member)
{
    struct registers *at = &member->at;
    at->passage.waited = true;
    ay__say_asleep(at, at->fixed.self, 0, 0, 0);
}

/* It has passed, and goes no further. */
static void give_back(ay_region *member)
{
    ay__passer_visit(&member->at);
    if (!member->remote.death)
        (void)ay__passage_end(member, false);
    else if (ay__passage_end(member, true) >= 0)
        ay__leave_to_tell(member);
}

static void get_up(struct cluster_several *several)
{
    for (unsigned at = 0; at < several->passed; at++)
        ay__say_awake(&several->member[at]->at);
}

static bool stand(const ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at < several->count; at++)
        if (several->member[at]->remote.needed != PERMISSION_NONE &&
            !ay__cluster_stands(several->member[at]))
            return false;
    return true;
}

static void leave_first(struct cluster_several *several, unsigned count)
{
    for (unsigned at = 0; at < count; at++)
        if (several->owed >> at & 1)
            ay__leave_to_tell(several->member[at]);
        else
            ay_leave(several->member[at]);
    several->owed = 0;
}

/* The present one is in its turn, on this machine and among all; not inside yet. True: there are
 * more. */
static bool pass_on(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    ay_region *passed = several->member[several->passed++];
    several->begun = false;
    passed->at.request = (struct request){0};
    stand_by(passed);
    return several->passed < several->count;
}

/* All have passed, but one was lost by then: all are given back, and its own begins anew. False: it
 * does not. */
static bool begin_anew(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    const int64_t deadline = region->at.passage.deadline;
    const int reason = region->at.passage.give_up;
    const struct comer comer = ay__passer_of(region);
    get_up(several);
    for (unsigned at = 0; at < several->count; at++) {
        give_back(several->member[at]);
        several->member[at]->at.passage.asked = false;
    }
    several->passed = 0;
    region->at.request = several->asked;
    several->error = deadline == INT64_MIN || ay__now() >= deadline ? reason
                     : several->by_ask ? ay__passage_begin_as(region, &comer, deadline, reason)
                                       : ay__passage_begin(region, deadline, reason);
    return several->error == 0;
}

/* All have passed. */
static int go_in(struct cluster_several *several)
{
    several->owed = 0;
    for (unsigned at = 0; at < several->count; at++) {
        struct registers *registers = &several->member[at]->at;
        ay__passer_visit(registers);
        const int result = ay__passage_end(several->member[at], true);
        registers->passage.by_ask = several->by_ask && result >= 0;
        several->owed |= (unsigned)(result == AY_AFTER_DEATH) << at;
        if (result >= 0)
            continue;
        leave_first(several, at); /* the file was removed: this one has given up */
        for (unsigned rest = at + 1; rest < several->count; rest++)
            give_back(several->member[rest]);
        return result;
    }
    const int result = several->owed ? AY_AFTER_DEATH : 0;
    several->owed = 0;
    return result;
}

/* With one that has begun, or before it could. */
static int give_up(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    ay_region *present = several->member[several->passed];
    int error = several->error;
    if (several->begun)
        error = ay__passage_end(present, false);
    present->at.request = (struct request){0};
    for (unsigned at = 0; at < several->passed; at++)
        give_back(several->member[at]);
    if (region->at.passage.queues) {
        const int own = ay__passage_end(region, false);
        error = error ? error : own;
    }
    if (several->cancelled)
        error =
            ay__fail(-ECANCELED, "the wait was cancelled by pid %u",
                     (unsigned)atomic_load(&several->cancelled->at.fixed.own_cold->cancelled_by));
    return error;
}

static int end(ay_region *region, bool passed)
{
    struct cluster_several *several = region->remote.several;
    get_up(several);
    for (unsigned at = 0; at < several->count; at++)
        several->member[at]->at.passage.asked = false;
    const int result = passed ? go_in(several) : give_up(region);
    region->at.request = several->asked;
    return result;
}

/* As an ask does it (memory/ask/pass.c), by a thread that waits. */
static bool pass_all(ay_region *region)
{
    for (;;) {
        do {
            ay_region *now = present(region);
            if (!now || !ay__passage_pass(now))
                return false;
        } while (pass_on(region));
        if (stand(region))
            return true;
        if (!begin_anew(region))
            return false;
        AY__UNCANCELLED;
        (void)poll(NULL, 0, CLUSTER_ANEW_MS);
    }
}

static int enter(ay_region *region)
{
    begin(region, false);
    return end(region, pass_all(region));
}

static void leave(ay_region *region)
{
    leave_first(region->remote.several, region->remote.several->count - 1);
}

/* First all to a mode that includes both: from there each can go back to what it had. */
static int convert(ay_region *region, unsigned mode, int64_t deadline)
{
    struct cluster_several *several = region->remote.several;
    const unsigned had = region->at.near.mode, both = ay__mode_join(had, mode);
    for (unsigned at = 0; at < several->count; at++) {
        const int result = ay__convert_one(several->member[at], both, deadline);
        several->owed |= (unsigned)(result == AY_AFTER_DEATH) << at;
        if (result >= 0)
            continue;
        while (at-- > 0)
            (void)ay__convert_one(several->member[at], had, deadline);
        return result;
    }
    for (unsigned at = 0; at < several->count; at++)
        (void)ay__convert_one(several->member[at], mode, deadline);
    const int result = several->owed ? AY_AFTER_DEATH : 0;
    several->owed = 0;
    return result;
}

static uint64_t fence(const ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    return ay__cluster_fence(several->member[several->first]);
}

static unsigned wanted(const ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    unsigned count = ay__wanted_here(region);
    for (unsigned at = 0; at + 1 < several->count; at++)
        count += ay_wanted(several->member[at]);
    return count;
}

static bool bury_shared(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    bool buried = false;
    for (unsigned at = 0; at < several->count; at++)
        buried |= ay__bury_shared(several->member[at]);
    return buried;
}

static int unshare_others(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    int error = 0;
    for (unsigned at = 0; at + 1 < several->count && !error; at++)
        error = ay_unshare(several->member[at]);
    return error;
}

static int unshare_all(ay_region *region)
{
    (void)unshare_others(region);
    ay__unshare_one(region);
    return 0;
}

/* They are all of one space: the descriptor of the caller's keeps them. */
static int share_all(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    const bool shared = life_shared(atomic_load(&region->at.near.own->life));
    int fd = 0;
    for (unsigned at = 0; at + 1 < several->count && fd >= 0; at++) {
        fd = ay_share(several->member[at]);
        if (fd >= 0)
            close(fd);
    }
    if (fd >= 0)
        fd = ay__share_one(region);
    if (fd < 0 && !shared)
        (void)unshare_others(region);
    return fd;
}

static void on_behalf(ay_region *region, uint64_t thread)
{
    const struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at + 1 < several->count; at++)
        (void)ay_on_behalf(several->member[at], thread);
}

static int rename_none(ay_region *region, size_t length)
{
    (void)region;
    (void)length;
    return ay__fail(-ENOTSUP, "a region of several resources keeps its names");
}

static size_t no_units(const ay_region *region, unsigned *list, size_t room)
{
    (void)region;
    (void)list;
    (void)room;
    return 0;
}

const struct remote_kind ay__kind_several = {.close = close_others,
                                             .enter = enter,
                                             .member = member,
                                             .begin = begin,
                                             .present = present,
                                             .pass_on = pass_on,
                                             .begin_anew = begin_anew,
                                             .called_off = called_off,
                                             .end = end,
                                             .leave = leave,
                                             .fence = fence,
                                             .units = no_units,
                                             .wanted = wanted,
                                             .holds = stand,
                                             .convert = convert,
                                             .rename = rename_none,
                                             .on_behalf = on_behalf,
                                             .share = share_all,
                                             .unshare = unshare_all,
                                             .bury_shared = bury_shared};
