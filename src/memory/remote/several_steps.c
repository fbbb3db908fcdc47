/* SPDX-License-Identifier: MIT */
/* The passages of a region with several names (cluster_several.c): of one member after the other.
 *
 * Those that have passed wait for the rest, as others see it; the passage is inside once all have.
 * So who is killed before has died inside of none, but for those where it was told of a death: the
 * next one there is told of its own. Who gives up gives back all of them, and a death
 * that one was told of is left to the next. If the machine was cut off meanwhile, what it had is
 * lost: then all begin anew, under the same deadline.
 *
 * A condition is asked when all have passed, for no more than that (TEST_ASKS). If it is false, the
 * agent is asked, of each name, to tell who will be inside (ROUND_ARM); then all are left, and
 * slept on. Whoever changes what the condition asks for is inside of one of the names, and is
 * announced there before. If it is true, each permission is had for good (ROUND_REAL). That waits
 * for agents, and never for another's passage: what was lost by then is not waited for, but begun
 * anew, in the order of the names.
 *
 * Whoever waits or asks makes the steps: begin, and for each the present one, its passage, and to
 * pass on; between two rounds it may have to rest; then the end. The members live and die with the
 * thread that enters the caller's region, whichever makes a step. */
#include <errno.h>

#include "memory/passage/long_way.h"
#include "memory/passage/passer.h"
#include "memory/passage/sleep.h"
#include "memory/remote/several.h"
#include "memory/remote/wait.h"

enum { MS = 1000 * 1000, DEAF_MS = 16, DEAF_TO_SIGNALS_MS = 500 };

/* Asked whenever a sleep of a member's ends. Any whose passage has begun may be seen to wait: from
 * the second round on, those too that are behind the present one. */
static bool is_called_off(void *arg)
{
    ay_region *region = arg;
    struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at < several->count; at++)
        if (several->begun >> at & 1 && ay__cancelled(&several->member[at]->at)) {
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

bool ay__several_called_off(ay_region *region)
{
    return is_called_off(region);
}

static void begin_round(struct cluster_several *several, enum several_round round)
{
    several->round = round;
    several->passed = 0;
    several->asleep = false;
}

/* Its own passage has begun, and none of the others'. */
void ay__several_begin(ay_region *region, bool by_ask)
{
    struct cluster_several *several = region->remote.several;
    several->asked = region->at.request;
    several->by_ask = by_ask;
    several->begun = 1U << (several->count - 1);
    several->error = 0;
    several->cancelled = NULL;
    begin_round(several, ROUND_ENTER);
}

static int begin_one(ay_region *region, ay_region *member)
{
    struct cluster_several *several = region->remote.several;
    struct request *request = &member->at.request;
    *request = several->asked;
    request->when = NULL;   /* it is asked for all of them */
    if (!several->by_ask) { /* an ask looks by itself */
        request->interrupted = is_called_off;
        request->argument = region;
    }
    if (several->begun >> several->passed & 1) {
        ay__say_awake(&member->at);
        return 0;
    }
    const int error =
        ay__passage_begin(member, region->at.passage.deadline, region->at.passage.give_up);
    several->begun |= (unsigned)!error << several->passed;
    return error;
}

ay_region *ay__several_present(ay_region *region, bool *enters)
{
    struct cluster_several *several = region->remote.several;
    ay_region *member = several->member[several->passed];
    struct registers *at = &member->at;
    several->error = begin_one(region, member);
    if (several->error) {
        at->request = (struct request){0};
        return NULL;
    }
    ay__passer_visit(at);
    *enters = several->round == ROUND_ENTER;
    at->passage.remote = false;
    at->passage.test = several->round == ROUND_REAL  ? TEST_TRUE
                       : several->round == ROUND_ARM ? TEST_FALSE
                       : several->asked.when         ? TEST_ASKS
                                                     : TEST_NONE;
    atomic_store(&at->fixed.own_cold->conditional, several->round == ROUND_ARM);
    if (several->round == ROUND_ARM)
        ay__wait_begin(member);
    return member;
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
    for (unsigned at = 0; at < several->count; at++)
        if (several->begun >> at & 1)
            ay__say_awake(&several->member[at]->at);
}

bool ay__several_stand(const ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    for (unsigned at = 0; at < several->count; at++)
        if (several->member[at]->remote.needed != PERMISSION_NONE &&
            !ay__cluster_stands(several->member[at]))
            return false;
    return true;
}

void ay__several_leave_first(struct cluster_several *several, unsigned count)
{
    for (unsigned at = 0; at < count; at++)
        if (several->owed >> at & 1)
            ay__leave_to_tell(several->member[at]);
        else
            ay_leave(several->member[at]);
    several->owed = 0;
}

/* What it had was lost: all are given back, and its own begins anew, in a moment. */
static enum members_next begin_anew(ay_region *region)
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
    several->begun = 0;
    region->at.request = several->asked;
    begin_round(several, ROUND_ENTER);
    several->error = deadline == INT64_MIN || ay__now() >= deadline ? reason
                     : several->by_ask ? ay__passage_begin_as(region, &comer, deadline, reason)
                                       : ay__passage_begin(region, deadline, reason);
    if (several->error)
        return MEMBERS_GIVE_UP;
    several->begun = 1U << (several->count - 1);
    stand_by(region);
    several->word_count = 0;
    several->wake = ay__now() + (int64_t)CLUSTER_ANEW_MS * MS;
    return MEMBERS_REST;
}

static enum members_next give_up_for(struct cluster_several *several, int error)
{
    several->error = error;
    return MEMBERS_GIVE_UP;
}

/* Asks again that it is told, if need be. False: nobody will ever answer. */
static bool watch_one(struct cluster_several *several, ay_region *member)
{
    const struct permissions *pages = member->at.fixed.space->cluster->pages;
    struct cluster_wait *wait = &member->remote.wait;
    const struct permission *permission = member->remote.permission;
    ay__sleep_watch(several->words, &several->word_count, &permission->watch,
                    atomic_load(&permission->watch));
    if (ay__wait_agent(pages) != wait->agent)
        ay__wait_ask_anew(wait);
    const bool asked = ay__wait_ask(member, DEMAND_WATCH);
    several->wake = wait->ask < several->wake ? wait->ask : several->wake;
    return asked;
}

/* Outside of all. What it sleeps on is seen before it looks. */
static enum members_next sleep_on(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    bool heard = false;
    several->word_count = 0;
    several->wake = region->at.passage.deadline;
    ay__sleep_watch(several->words, &several->word_count, &pages->state,
                    atomic_load(&pages->state));
    for (unsigned at = 0; at < several->count; at++) {
        if (!watch_one(several, several->member[at]))
            return give_up_for(several, several->member[at]->at.passage.reason);
        heard |= ay__cluster_heard(several->member[at]);
    }
    if (heard) {
        begin_round(several, ROUND_ENTER);
        return MEMBERS_MORE;
    }
    return ay__now() < region->at.passage.deadline
               ? MEMBERS_REST
               : give_up_for(several, region->at.passage.give_up);
}

/* All are armed, or one has been heard of, or lost. */
static enum members_next fall_asleep(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    bool lost = false;
    for (unsigned at = 0; at < several->count; at++) {
        struct registers *member = &several->member[at]->at;
        lost |= ay__cluster_lost_since(several->member[at]);
        member->fixed.protocol->leave(member);
    }
    several->asleep = true;
    if (!lost)
        return sleep_on(region);
    begin_round(several, ROUND_ENTER);
    return MEMBERS_MORE;
}

/* All have passed, to ask. */
static enum members_next ask(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    struct registers *at = &region->at;
    for (unsigned which = 0; which < several->count; which++)
        ay__cluster_note_test(several->member[which]);
    ay__passer_visit(at);
    at->request = several->asked;
    const bool holds = ay__condition(at);
    at->request = (struct request){0};
    if (at->passage.refused)
        return MEMBERS_PASSED; /* to hear why it does not go in */
    if (!holds && at->passage.deadline == INT64_MIN)
        return give_up_for(several, at->passage.give_up);
    begin_round(several, holds ? ROUND_REAL : ROUND_ARM);
    return MEMBERS_MORE;
}

/* The present one is in its turn, on this machine and among all; not inside yet. */
enum members_next ay__several_pass_on(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    ay_region *passed = several->member[several->passed++];
    passed->at.request = (struct request){0};
    stand_by(passed);
    if (several->passed < several->count)
        return MEMBERS_MORE;
    if (several->round == ROUND_ARM)
        return fall_asleep(region);
    if (!ay__several_stand(region))
        return begin_anew(region);
    if (several->round == ROUND_ENTER)
        return several->asked.when ? ask(region) : MEMBERS_PASSED;
    for (unsigned at = 0; at < several->count; at++)
        if (ay__cluster_lost_since(several->member[at]))
            return begin_anew(region);
    return MEMBERS_PASSED;
}

unsigned ay__several_rest(const ay_region *region, const struct ay__waitv **words, int64_t *wake)
{
    *words = region->remote.several->words;
    *wake = region->remote.several->wake;
    return region->remote.several->word_count;
}

/* It rested at its own, which waits on, in whatever round: so that it is cancelled by that, too. */
enum members_next ay__several_rested(ay_region *region)
{
    const struct cluster_several *several = region->remote.several;
    stand_by(region);
    if (several->asleep)
        return sleep_on(region);
    return ay__now() < several->wake ? MEMBERS_REST : MEMBERS_MORE;
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
        ay__several_leave_first(several, at); /* the file was removed: this one has given up */
        for (unsigned rest = at + 1; rest < several->count; rest++)
            give_back(several->member[rest]);
        return result;
    }
    const int result = several->owed ? AY_AFTER_DEATH : 0;
    several->owed = 0;
    return result;
}

/* All that have begun, for the reason of the present one, if there is no other. Those that have
 * passed were told of a death, perhaps. */
static int give_up(ay_region *region)
{
    struct cluster_several *several = region->remote.several;
    int error = several->error;
    if (!error && several->passed < several->count && several->begun >> several->passed & 1)
        error = several->member[several->passed]->at.passage.reason;
    if (!error)
        error = region->at.passage.reason;
    for (unsigned at = 0; at < several->count; at++) {
        ay_region *member = several->member[at];
        member->at.request = (struct request){0};
        if (at < several->passed && !several->asleep)
            give_back(member);
        else if (several->begun >> at & 1)
            (void)ay__passage_end(member, false);
    }
    if (several->cancelled)
        error =
            ay__fail(-ECANCELED, "the wait was cancelled by pid %u",
                     (unsigned)atomic_load(&several->cancelled->at.fixed.own_cold->cancelled_by));
    return error;
}

int ay__several_end(ay_region *region, bool passed)
{
    struct cluster_several *several = region->remote.several;
    get_up(several);
    for (unsigned at = 0; at < several->count; at++)
        several->member[at]->at.passage.asked = false;
    const int result = passed ? go_in(several) : give_up(region);
    region->at.request = several->asked;
    return result;
}

/* Between two rounds. False: called off. */
static bool rest(ay_region *region)
{
    AY__UNCANCELLED;
    struct cluster_several *several = region->remote.several;
    struct ay__waitv words[NAMES_MOST + 2];
    unsigned count = several->word_count;
    const int64_t listen = ay__now() + (int64_t)DEAF_TO_SIGNALS_MS * MS;
    memcpy(words, several->words, count * sizeof words[0]);
    ay__sleep_watch(words, &count, &region->at.near.own->sleeps, region->at.mine.sleeps);
    ay__futex_sleep(words, count, (int64_t)DEAF_MS * MS,
                    listen < several->wake ? listen : several->wake);
    if (!is_called_off(region))
        return true;
    if (!several->cancelled)
        several->error = ay__fail(-EINTR, "interrupted while it waited");
    return false;
}

/* As an ask does it (memory/ask/pass.c), by a thread that waits. */
static bool pass_all(ay_region *region)
{
    enum members_next next = MEMBERS_MORE;
    while (next != MEMBERS_PASSED) {
        bool enters;
        if (next == MEMBERS_GIVE_UP || (next == MEMBERS_REST && !rest(region)))
            return false;
        if (next == MEMBERS_REST) {
            next = ay__several_rested(region);
            continue;
        }
        ay_region *member = ay__several_present(region, &enters);
        if (!member || !(enters ? ay__passage_pass(member) : ay__passage_permitted(member)))
            return false;
        next = ay__several_pass_on(region);
    }
    return true;
}

int ay__several_enter(ay_region *region)
{
    ay__several_begin(region, false);
    return ay__several_end(region, pass_all(region));
}
