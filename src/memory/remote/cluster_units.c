/* SPDX-License-Identifier: MIT */
/* Units and slots of a cluster: each is a region of its own, "NAME, unit 17", and the region of the
 * name itself is the door where they are chosen.
 *
 * Who has its turn at the door, on this machine and among all, asks for units until it has enough,
 * and only then gives its turn to the next: so a large request does not starve behind small ones,
 * which wait behind it. Whoever holds units frees them without a turn. A unit is excluded, lost,
 * handed over at a death, and told of, as any region is.
 *
 * The units are regions of a space that is opened for the door alone: asks for them are nobody
 * else's. They are asked for, never waited for: so whoever waits or asks for the region goes on
 * whenever one of them is decided. Each lives and dies with the thread that enters the door,
 * whichever goes on with it. They are asked for from some unit on that differs from machine to
 * machine, for where a permission was used last it is at hand.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory/passage/convert.h"
#include "memory/passage/passer.h"
#include "memory/remote/kind.h"
#include "memory/remote/wait.h"

enum {
    UNITS_MOST = 256,    /* each is a name of the cluster's */
    ASK_AGAIN_MS = 1000, /* for what could not be had, and while the lease has run out */
    UNIT_NAME_ROOM = 12, /* ", unit 255" */
    MS = 1000 * 1000
};

enum unit_state {
    UNIT_CLOSED,
    UNIT_OPEN,
    UNIT_ASKED,
    UNIT_HELD /* changes from and to this are made under the process's mutex */
};

/* Rung when one of the units that are asked for may have been decided, and slept on at the door. It
 * is never freed, but used again: where futex_waitv(2) is refused, a thread that watches for asks
 * at the door may look at it once more when the region is closed. */
struct unit_bell {
    struct unit_bell *next; /* of the spare ones */
    _Atomic uint32_t rung;  /* a count */
};

static struct unit_bell *spare_bells; /* under the process's mutex */

struct cluster_units {
    ay_space *space;
    unsigned of, take;
    bool are_slots; /* nobody asks which */
    int trouble;    /* why the last that could not be had was refused. Cleared when a take begins */
    struct unit_bell *bell;
    struct {
        ay_region *region; /* not of UNIT_CLOSED */
        uint8_t state;     /* enum unit_state */
        /* Of UNIT_HELD: somebody died inside, and the passage has not been told yet. Set when it is
         * got; cleared when a passage is told, or lets it go. */
        bool death;
        int refused; /* why, the last time. Cleared when a take begins */
    } unit[];
};

static struct unit_bell *take_bell(void)
{
    pthread_mutex_lock(&ay__process.mutex);
    struct unit_bell *bell = spare_bells;
    if (bell)
        spare_bells = bell->next;
    pthread_mutex_unlock(&ay__process.mutex);
    return bell ? bell : calloc(1, sizeof *bell);
}

static void put_bell_back(struct unit_bell *bell)
{
    if (!bell)
        return;
    pthread_mutex_lock(&ay__process.mutex);
    bell->next = spare_bells;
    spare_bells = bell;
    pthread_mutex_unlock(&ay__process.mutex);
}

static int check_name(const struct cluster *cluster, size_t length)
{
    if (length + UNIT_NAME_ROOM <= PERMISSION_NAME_MOST)
        return 0;
    return ay__fail(-ENOTSUP,
                    "cluster '%s': the name of a resource with slots or units has at most %d bytes",
                    cluster->name, PERMISSION_NAME_MOST - UNIT_NAME_ROOM);
}

int ay__cluster_units_open(ay_region *region, const struct cluster *cluster)
{
    struct public_spec *spec = &region->spec;
    const bool are_slots = spec->slots > 1;
    const unsigned of = are_slots ? spec->slots : spec->of;
    char name[sizeof CLUSTER_PREFIX + CLUSTER_NAME_MOST];
    if (of == 0)
        return 0;
    if (of > UNITS_MOST)
        return ay__fail(-ENOTSUP, "cluster '%s': a resource has at most %d slots or units, not %u",
                        cluster->name, UNITS_MOST, of);
    int error = check_name(cluster, spec->name[0].length);
    if (error)
        return error;
    if (spec->take == 0 && !are_slots)
        return ay__fail(-ENOTSUP, "cluster '%s': a region with units takes some", cluster->name);
    struct cluster_units *units = calloc(1, sizeof *units + of * sizeof units->unit[0]);
    if (!units)
        return ay__fail(-ENOMEM, "out of memory");
    snprintf(name, sizeof name, CLUSTER_PREFIX "%s", cluster->name);
    units->bell = take_bell();
    error = units->bell ? ay_open(name, NULL, &units->space) : ay__fail(-ENOMEM, "out of memory");
    if (error) {
        put_bell_back(units->bell);
        free(units);
        return error;
    }
    units->of = of;
    units->take = are_slots ? 1 : spec->take;
    units->are_slots = are_slots;
    /* the agent comes to the door too, and has neither: all who come there agree */
    spec->slots = 1;
    spec->of = 0;
    spec->take = units->take;
    region->remote.kind = &ay__kind_units;
    region->remote.units = units;
    return 0;
}

static void close_all(ay_region *region)
{
    ay_close(region->remote.units->space);
    put_bell_back(region->remote.units->bell);
    free(region->remote.units);
}

static void set_state(struct cluster_units *units, unsigned which, enum unit_state state)
{
    pthread_mutex_lock(&ay__process.mutex);
    units->unit[which].state = (uint8_t)state;
    pthread_mutex_unlock(&ay__process.mutex);
}

static unsigned count_in(const struct cluster_units *units, enum unit_state state)
{
    unsigned count = 0;
    for (unsigned which = 0; which < units->of; which++)
        count += units->unit[which].state == state;
    return count;
}

static int open_unit(ay_region *region, unsigned which)
{
    struct cluster_units *units = region->remote.units;
    const struct name *name = &region->spec.name[0];
    char text[PERMISSION_NAME_MOST + 1];
    if (units->unit[which].state != UNIT_CLOSED)
        return 0;
    snprintf(text, sizeof text, "%.*s, unit %u", (int)name->length, name->bytes, which);
    const int error =
        ay_region_open(units->space, &(ay_spec){.name = text}, &units->unit[which].region);
    if (error)
        return error;
    units->unit[which].region->leader = region;
    set_state(units, which, UNIT_OPEN);
    return 0;
}

static void decided(struct cluster_units *units, unsigned which, int result)
{
    set_state(units, which, result >= 0 ? UNIT_HELD : UNIT_OPEN);
    units->unit[which].death = result == AY_AFTER_DEATH;
    units->unit[which].refused = result < 0 ? result : 0;
    if (result < 0 && result != -ETIMEDOUT)
        units->trouble = result;
}

/* What it has open of the old name's is closed; what it holds stays: it is not renamed then. */
static int close_old(ay_region *region, size_t length)
{
    struct cluster_units *units = region->remote.units;
    const int error = check_name(region->at.fixed.space->cluster, length);
    for (unsigned which = 0; which < units->of && !error; which++)
        if (units->unit[which].state == UNIT_OPEN) {
            set_state(units, which, UNIT_CLOSED);
            ay_region_close(units->unit[which].region);
        }
    return error;
}

static void ask_for(ay_region *region, unsigned which, bool tries)
{
    struct cluster_units *units = region->remote.units;
    int result = open_unit(region, which);
    if (result) {
        units->unit[which].refused = units->trouble = result;
        return;
    }
    result = ay_ask_when(units->unit[which].region, NULL, NULL, tries ? 0 : -1);
    if (result == -EINPROGRESS)
        set_state(units, which, UNIT_ASKED);
    else
        decided(units, which, result);
}

/* It was not asked for yet; or was refused, but not for a reason that stays, or that the others are
 * told as well. */
static bool may_ask_for(const struct cluster_units *units, unsigned which)
{
    const int refused = units->unit[which].refused;
    return units->unit[which].state < UNIT_ASKED && refused != -ECANCELED && refused != -EDEADLK &&
           refused != -EHOSTDOWN && refused != -ESTALE;
}

/* As many as there are, until there are enough; but to open one takes a while if somebody keeps the
 * space locked, and then so it does with the next. */
static void ask_for_all(ay_region *region, bool tries, int64_t until)
{
    struct cluster_units *units = region->remote.units;
    const unsigned first = (unsigned)(region->at.fixed.space->cluster->identity % units->of);
    for (unsigned at = 0; at < units->of && count_in(units, UNIT_HELD) < units->take; at++) {
        const unsigned which = (first + at) % units->of;
        if (!may_ask_for(units, which))
            continue;
        ask_for(region, which, tries);
        if (units->unit[which].refused == -EAGAIN || (until < INT64_MAX && ay__now() >= until))
            break;
    }
}

static void take_decided(struct cluster_units *units)
{
    int result;
    for (ay_region *unit; (unit = ay_decided(units->space, &result)) != NULL;)
        for (unsigned which = 0; which < units->of; which++)
            if (units->unit[which].state == UNIT_ASKED && units->unit[which].region == unit)
                decided(units, which, result);
}

/* Of those that are held, so many stay so. What was asked for stays open: to open it takes longer
 * than to ask. */
static void let_go(struct cluster_units *units, unsigned kept)
{
    for (unsigned which = 0; which < units->of; which++) {
        const bool asked = units->unit[which].state == UNIT_ASKED;
        if (!asked && units->unit[which].state != UNIT_HELD)
            continue;
        if (!asked && kept > 0) {
            kept--;
            continue;
        }
        const bool death = !asked && units->unit[which].death;
        units->unit[which].death = false;
        set_state(units, which, UNIT_OPEN);
        if (death)
            ay__leave_to_tell(units->unit[which].region);
        else if (!asked || ay_withdraw(units->unit[which].region) == -EALREADY)
            ay_leave(units->unit[which].region);
    }
}

/* Each of those that it has. */
static bool hold(const ay_region *region)
{
    const struct cluster_units *units = region->remote.units;
    for (unsigned which = 0; which < units->of; which++)
        if (units->unit[which].state == UNIT_HELD && !ay__cluster_stands(units->unit[which].region))
            return false;
    return true;
}

/* What it has is lost with the lease, should the agent not be there to say so; nothing else goes on
 * by itself, but what could not be had. */
static int64_t next_look(const ay_region *region)
{
    const struct cluster_units *units = region->remote.units;
    const int64_t lease = atomic_load(&region->at.fixed.space->cluster->pages->deadline_monotonic);
    const int64_t soon = ay__now() + (int64_t)ASK_AGAIN_MS * MS;
    return lease > soon && count_in(units, UNIT_HELD) + count_in(units, UNIT_ASKED) == units->of
               ? lease
               : soon;
}

/* The units that it has are its own, and then its turn at the door is: so whoever chooses after it
 * has a greater fence, and finds them taken. */
static bool has_its_turn(const ay_region *region)
{
    return hold(region) && ay__cluster_stands(region);
}

/* A thread that ended inside has left them so. Each is dead as the others see it, who may have it
 * by now: it is not left, and whoever asks for it through this region renews it. What that one had
 * asked for is forgotten. */
static void begin_take(ay_region *region)
{
    struct cluster_units *units = region->remote.units;
    struct cluster_wait *wait = &region->remote.wait;
    wait->stage = CLUSTER_TAKES;
    wait->until = wait->tries ? INT64_MAX : region->at.passage.deadline;
    wait->ask = 0;
    units->trouble = ay__asks_ring(units->space, &units->bell->rung);
    for (unsigned which = 0; which < units->of; which++) {
        units->unit[which].refused = 0;
        units->unit[which].death = false;
        if (units->unit[which].state == UNIT_ASKED)
            (void)ay_withdraw(units->unit[which].region);
        if (units->unit[which].state > UNIT_OPEN)
            set_state(units, which, UNIT_OPEN);
    }
}

static enum cluster_answer pause_first(ay_region *region)
{
    const struct permissions *pages = region->at.fixed.space->cluster->pages;
    const uint32_t changes = atomic_load(&pages->changes), state = atomic_load(&pages->state);
    const int64_t now = ay__now();
    if (now >= region->remote.wait.ask || now >= region->remote.wait.until)
        return ay__cluster_begin_anew(region); /* and gives up there, if it must */
    return ay__wait_rest_on(region, &pages->changes, changes, &pages->state, state);
}

/* Its machine was cut off: others choose by now. It gives back all that it has, for two that have
 * lost their turn would wait for each other. */
static enum cluster_answer lose(ay_region *region)
{
    struct cluster_wait *wait = &region->remote.wait;
    let_go(region->remote.units, 0);
    region->at.passage.reason = region->at.passage.give_up;
    if (wait->tries)
        return CLUSTER_GIVES_UP;
    region->at.passage.waited = true;
    wait->stage = CLUSTER_PAUSES;
    wait->ask = ay__now() + (int64_t)CLUSTER_ANEW_MS * MS;
    return pause_first(region);
}

/* As far as it is now; CLUSTER_RESTS until something of it is decided, or may be lost. What it
 * gives up is let go when its passage is. */
static enum cluster_answer take(ay_region *region)
{
    struct cluster_units *units = region->remote.units;
    struct registers *at = &region->at;
    struct cluster_wait *wait = &region->remote.wait;
    const struct permissions *pages = at->fixed.space->cluster->pages;
    const uint32_t rung = atomic_load(&units->bell->rung), changes = atomic_load(&pages->changes);
    if (wait->stage == CLUSTER_PAUSES)
        return pause_first(region);
    if (wait->stage != CLUSTER_TAKES)
        begin_take(region);
    take_decided(units);
    if (ay__now() >= wait->ask) {
        ask_for_all(region, wait->tries, wait->until);
        wait->ask = wait->tries ? INT64_MAX : next_look(region);
    }
    const unsigned held = count_in(units, UNIT_HELD);
    if (!has_its_turn(region))
        return lose(region);
    if (held >= units->take) {
        let_go(units, units->take);
        return CLUSTER_PERMITS;
    }
    const bool hopeless = held + count_in(units, UNIT_ASKED) < units->take;
    at->passage.reason = hopeless && units->trouble ? units->trouble : at->passage.give_up;
    if (hopeless || ay__now() >= wait->until)
        return CLUSTER_GIVES_UP;
    at->passage.waited = true;
    ay__begin_waiting(at); /* on nobody of this machine */
    return ay__wait_rest_on(region, &units->bell->rung, rung, &pages->changes, changes);
}

static void leave(ay_region *region)
{
    let_go(region->remote.units, 0);
}

/* Once: of who had one of them before. A death at the door is of no unit. */
static int told(ay_region *region, int of_itself)
{
    (void)of_itself;
    struct cluster_units *units = region->remote.units;
    bool death = false;
    for (unsigned which = 0; which < units->of; which++) {
        death |= units->unit[which].death;
        units->unit[which].death = false;
    }
    return death ? AY_AFTER_DEATH : 0;
}

static size_t list_held(const ay_region *region, unsigned *list, size_t room)
{
    const struct cluster_units *units = region->remote.units;
    size_t count = 0;
    for (unsigned which = 0; which < units->of && !units->are_slots; which++)
        if (units->unit[which].state == UNIT_HELD) {
            if (count < room)
                list[count] = which;
            count++;
        }
    return count;
}

/* Who waits for any of them. */
static unsigned wanted(const ay_region *region)
{
    const struct cluster_units *units = region->remote.units;
    unsigned most = 0;
    for (unsigned which = 0; which < units->of; which++)
        if (units->unit[which].state == UNIT_HELD) {
            const unsigned waiting = ay_wanted(units->unit[which].region);
            most = waiting > most ? waiting : most;
        }
    return most;
}

static int unshare_all(ay_region *region)
{
    const struct cluster_units *units = region->remote.units;
    int error = 0;
    for (unsigned which = 0; which < units->of && !error; which++)
        if (units->unit[which].state != UNIT_CLOSED) /* held, or left since it was shared */
            error = ay_unshare(units->unit[which].region);
    return error;
}

/* They are all of one space: any of the descriptors keeps them. */
static int share_all(ay_region *region)
{
    const struct cluster_units *units = region->remote.units;
    int shared = -1;
    for (unsigned which = 0; which < units->of; which++) {
        if (units->unit[which].state != UNIT_HELD)
            continue;
        const int fd = ay_share(units->unit[which].region);
        if (shared >= 0)
            close(shared);
        shared = fd;
        if (fd < 0) {
            (void)unshare_all(region);
            return fd;
        }
    }
    return shared;
}

const struct remote_kind ay__kind_units = {.is_door = true,
                                           .close = close_all,
                                           .take = take,
                                           .give_up = leave,
                                           .leave = leave,
                                           .told = told,
                                           .fence = ay__cluster_fence,
                                           .units = list_held,
                                           .wanted = wanted,
                                           .holds = hold,
                                           .convert = ay__convert_one,
                                           .rename = close_old,
                                           .share = share_all,
                                           .unshare = unshare_all,
                                           .bury_shared = ay__bury_shared};
