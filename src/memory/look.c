/* SPDX-License-Identifier: MIT */
/* ay_look: shows a space to somebody who only reads it. Takes no place, no lock, and believes
 * nothing beyond its limits. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/passage/protocol.h"
#include "memory/passage/region.h"

/* A private copy of one place, taken within one life. */
struct sight {
    struct vital vital;
    uint64_t word, asleep, fence;
    uint32_t inside;
    struct cold cold;
};

/* What orders one that waits: apart from its sight, which is large, for each is compared with each.
 */
struct queued {
    uint64_t key, hash; /* of its names; 0: it has several */
    unsigned place;
};

/* All sights are taken before one is shown, so that they are of nearly one moment. Of ten thousand
 * most of the room would be that for names which they have not got: they are kept packed. */
struct viewer {
    char *packed;
    size_t length, room;  /* of that; in bytes */
    size_t *at;           /* where each place's begins */
    struct queued *queue; /* those that wait, by place */
    unsigned used, queued;
    ay_space space; /* never registered: read-only, without claims */
};

static size_t units_size(const struct public_spec *spec)
{
    return (spec->of + 63) / 64 * sizeof(uint64_t);
}

/* From `thread` on, up to the units. */
static size_t passage_size(void)
{
    return offsetof(struct cold, units) - offsetof(struct cold, thread);
}

/* What is shown of it, within limits. */
static void copy_cold(const struct cold *from, struct cold *to)
{
    to->owner = from->owner;
    to->owner.command[COMMAND_ROOM - 1] = '\0';
    memcpy(&to->spec, &from->spec, offsetof(struct public_spec, name));
    if (to->spec.names > NAMES_MOST)
        to->spec.names = NAMES_MOST;
    if (to->spec.of > AY_UNITS_MOST)
        to->spec.of = AY_UNITS_MOST;
    for (unsigned at = 0; at < to->spec.names; at++) {
        to->spec.name[at].length = from->spec.name[at].length;
        memcpy(to->spec.name[at].bytes, from->spec.name[at].bytes, to->spec.name[at].length);
    }
    memcpy(&to->thread, &from->thread, passage_size());
    memcpy(&to->units, &from->units, units_size(&to->spec));
    memcpy(&to->told, &from->told, sizeof to->told);
}

/* One part of a sight, from where it is packed or to it. */
struct packing {
    char *at;
    bool unpacks;
};

static void pack_part(struct packing *packing, void *part, size_t size)
{
    if (packing->unpacks)
        memcpy(part, packing->at, size);
    else
        memcpy(packing->at, part, size);
    packing->at += size;
}

/* Each length stands before what it is the length of. */
static void pack_parts(struct packing *packing, struct sight *sight)
{
    struct cold *cold = &sight->cold;
    pack_part(packing, sight, offsetof(struct sight, cold));
    pack_part(packing, &cold->owner, sizeof cold->owner);
    pack_part(packing, &cold->spec, offsetof(struct public_spec, name));
    for (unsigned at = 0; at < cold->spec.names; at++) {
        pack_part(packing, &cold->spec.name[at].length, sizeof cold->spec.name[at].length);
        pack_part(packing, cold->spec.name[at].bytes, cold->spec.name[at].length);
    }
    pack_part(packing, &cold->thread, passage_size());
    pack_part(packing, &cold->units, units_size(&cold->spec));
    pack_part(packing, &cold->told, sizeof cold->told);
}

static bool pack(struct viewer *viewer, unsigned place, struct sight *sight)
{
    if (viewer->room - viewer->length < sizeof *sight) {
        const size_t room = 2 * viewer->room + 16 * sizeof *sight;
        char *const more = realloc(viewer->packed, room);
        if (!more)
            return false;
        viewer->packed = more;
        viewer->room = room;
    }
    struct packing packing = {.at = viewer->packed + viewer->length};
    viewer->at[place] = viewer->length;
    pack_parts(&packing, sight);
    viewer->length = (size_t)(packing.at - viewer->packed);
    return true;
}

static void unpack(const struct viewer *viewer, unsigned place, struct sight *sight)
{
    struct packing packing = {.at = viewer->packed + viewer->at[place], .unpacks = true};
    pack_parts(&packing, sight);
}

static void copy_sight(const ay_space *space, unsigned place, struct sight *sight)
{
    const struct hot *hot = ay__hot(space, place);
    /* one that changes owners all the time is shown as it is */
    for (int tries = 0; tries < 16; tries++) {
        sight->vital = ay__vital(space, place);
        sight->word = atomic_load(&hot->word);
        sight->asleep = atomic_load(&hot->asleep);
        sight->fence = ay__fence(space, place);
        sight->inside = atomic_load(&hot->inside);
        copy_cold(ay__cold(space, place), &sight->cold);
        ay__order_loads();
        const struct vital after = ay__vital(space, place);
        if (ay__same_vital(&sight->vital, &after))
            break;
    }
    if (life_shared(sight->vital.life) &&
        !ay__file_locked(space->fd, ay__claim_byte(space, place))) {
        /* nobody has noticed yet */
        sight->vital.life = life_make(life_generation(sight->vital.life), FUTEX_OWNER_DIED);
        sight->vital.alive = false;
    }
}

/* Its process lives, or the thread that is inside still does. */
static bool is_open(const struct sight *sight)
{
    return life_alive(sight->vital.life) || sight->vital.alive;
}

static bool waits(const struct sight *sight)
{
    return sight->vital.alive && !sight->inside && !atomic_load(&sight->cold.asks) &&
           atomic_load(&sight->cold.waiting);
}

/* Not inside yet, but keeps others out. */
static bool asks(const struct sight *sight)
{
    return sight->vital.alive && !sight->inside && atomic_load(&sight->cold.asks);
}

static uint64_t order_key(const ay_space *space, const struct sight *sight)
{
    return space->protocol->number_bits ? protocol_number(space->protocol, sight->word)
                                        : (uint64_t)atomic_load(&sight->cold.since_ns);
}

static bool meets(const struct viewer *viewer, const struct public_spec *spec, unsigned place)
{
    struct sight other;
    unpack(viewer, place, &other);
    return ay__spec_meets(spec, &other.cold.spec);
}

/* Its position among those who wait for a resource of its own. */
static uint64_t order_of(const struct viewer *viewer, unsigned place, const struct sight *sight)
{
    const struct public_spec *spec = &sight->cold.spec;
    const uint64_t key = order_key(&viewer->space, sight), hash = ay__spec_hash(spec);
    uint64_t order = 1;
    for (unsigned at = 0; at < viewer->queued; at++) {
        const struct queued *other = &viewer->queue[at];
        const bool before = other->key < key || (other->key == key && other->place < place);
        if (before &&
            (hash && other->hash ? hash == other->hash : meets(viewer, spec, other->place)))
            order++;
    }
    return order;
}

static ay_state state_of(const struct sight *sight)
{
    if (sight->vital.alive)
        return sight->inside || asks(sight) ? AY_INSIDE : waits(sight) ? AY_WAITING : AY_IDLE;
    if (sight->inside && !ay__inherited_is_told(&sight->cold, life_generation(sight->vital.life)))
        return AY_DEAD_INSIDE;
    return AY_IDLE;
}

static size_t list_units(const struct sight *sight, unsigned *units)
{
    size_t count = 0;
    for (unsigned unit = 0; unit < sight->cold.spec.of; unit++)
        if (atomic_load(&sight->cold.units[unit / 64]) >> unit % 64 & 1)
            units[count++] = unit;
    return count;
}

/* One that went inside by the express lane has not looked at a clock: 0. */
static int64_t since(const struct sight *sight, ay_state state)
{
    const bool taken =
        state != AY_INSIDE || asks(sight) || atomic_load(&sight->cold.since_fence) == sight->fence;
    return taken ? atomic_load(&sight->cold.since_ns) : 0;
}

/* Inside, and waits for a stronger mode. */
static bool upgrades(const struct viewer *viewer, const struct sight *sight)
{
    const struct running_protocol *protocol = viewer->space.protocol;
    return sight->vital.alive && sight->inside && protocol->upgrades &&
           protocol->upgrades(sight->word);
}

static ay_mode within_limits(unsigned mode)
{
    return mode <= AY_NULL ? (ay_mode)mode : AY_NULL;
}

static ay_mode mode_shown(const struct viewer *viewer, const struct sight *sight)
{
    return within_limits(viewer->space.protocol->mode(sight->word));
}

/* What it has, or waits for: one that upgrades has another than its word shows. Outside, the
 * strongest that it may have. */
static ay_mode mode_of(const struct viewer *viewer, const struct sight *sight, ay_state state)
{
    const struct cold *cold = &sight->cold;
    if (upgrades(viewer, sight))
        return within_limits(atomic_load(&cold->held));
    return viewer->space.protocol->mode && (state == AY_INSIDE || state == AY_WAITING)
               ? mode_shown(viewer, sight)
               : within_limits(cold->spec.mode);
}

static int show(const struct viewer *viewer, unsigned place, const struct sight *sight,
                int (*each)(const ay_place *, void *), void *arg)
{
    const struct cold *cold = &sight->cold;
    const char *names[NAMES_MOST + 1] = {0};
    char longest[NAMES_MOST][AY_NAME_MOST + 1];
    unsigned units[AY_UNITS_MOST];
    for (unsigned at = 0; at < cold->spec.names; at++) {
        memcpy(longest[at], cold->spec.name[at].bytes, cold->spec.name[at].length);
        longest[at][cold->spec.name[at].length] = '\0';
        names[at] = longest[at];
    }
    const unsigned on = (unsigned)(sight->asleep & ASLEEP_PLACE_MASK);
    const ay_state state = state_of(sight);
    const ay_place seen = {
        .place = place,
        .state = state,
        .alive = is_open(sight),
        .conditional = atomic_load(&cold->conditional) || asks(sight),
        .names = names,
        .mode = mode_of(viewer, sight, state),
        .slots = cold->spec.slots,
        .take = cold->spec.take,
        .of = cold->spec.of,
        .priority = cold->spec.priority,
        .fence = sight->fence,
        .order = state == AY_WAITING ? order_of(viewer, place, sight) : 0,
        .since_ns = since(sight, state),
        .waits_for = (state == AY_WAITING || upgrades(viewer, sight)) && on > 0 &&
                             on <= viewer->space.places && on != place + 1
                         ? (int)on - 1
                         : -1,
        .units = units,
        .unit_count = state == AY_INSIDE ? list_units(sight, units) : 0,
        .pid = (int)cold->owner.pid,
        .tid = (int)atomic_load(&cold->tid),
        .pid_namespace = cold->owner.pid_namespace,
        .start_time = cold->owner.start_time,
        .uid = cold->owner.uid,
        .command = cold->owner.command,
        .thread = atomic_load(&cold->thread),
        .cancelled_by = (int)atomic_load(&cold->cancelled_by),
        .cancelled_ns = atomic_load(&cold->cancelled_by) ? atomic_load(&cold->cancelled_ns) : 0,
        .wants =
            upgrades(viewer, sight) ? mode_shown(viewer, sight) : mode_of(viewer, sight, state),
    };
    return each(&seen, arg);
}

/* Takes all sights. How many are alive. */
static int look_at_all(struct viewer *viewer, unsigned *alive)
{
    struct sight sight;
    for (unsigned place = 0; place < viewer->used; place++) {
        copy_sight(&viewer->space, place, &sight);
        *alive += is_open(&sight);
        if (waits(&sight))
            viewer->queue[viewer->queued++] = (struct queued){
                order_key(&viewer->space, &sight), ay__spec_hash(&sight.cold.spec), place};
        if (!pack(viewer, place, &sight))
            return ay__fail(-ENOMEM, "out of memory");
    }
    return 0;
}

static int look(struct viewer *viewer, ay_view *view, int (*each)(const ay_place *, void *),
                void *arg)
{
    viewer->used = ay__used(&viewer->space);
    viewer->at = calloc(viewer->used ? viewer->used : 1, sizeof *viewer->at);
    viewer->queue = calloc(viewer->used ? viewer->used : 1, sizeof *viewer->queue);
    unsigned alive = 0;
    int result = viewer->at && viewer->queue ? look_at_all(viewer, &alive)
                                             : ay__fail(-ENOMEM, "out of memory");
    if (view && !result) {
        view->used = viewer->used;
        view->alive = alive;
    }
    for (unsigned place = 0; each && !result && place < viewer->used; place++) {
        struct sight sight;
        unpack(viewer, place, &sight);
        /* else it is being claimed for the first time */
        if (life_generation(sight.vital.life) != 0)
            result = show(viewer, place, &sight, each, arg);
    }
    free(viewer->packed);
    free(viewer->at);
    free(viewer->queue);
    return result;
}

static pthread_key_t path_key;
static bool path_key_made;

static void make_path_key(void)
{
    path_key_made = pthread_key_create(&path_key, free) == 0;
}

/* Room for a path, one a thread, NULL without memory. Not thread-local storage: the linker has
 * little of that for a library that is loaded at run time. */
static char *path_room(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_path_key);
    char *room = path_key_made ? pthread_getspecific(path_key) : NULL;
    if (!room && path_key_made && (room = malloc(PATH_MAX)) &&
        pthread_setspecific(path_key, room) != 0) {
        free(room);
        room = NULL;
    }
    return room;
}

static void describe(ay_view *view, int fd, const struct header *header)
{
    char link[64], *path = path_room();
    struct stat status = {0};
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = path ? readlink(link, path, PATH_MAX - 1) : 0;
    if (path)
        path[length > 0 ? length : 0] = '\0';
    (void)!fstat(fd, &status);
    *view = (ay_view){.path = path ? path : "",
                      .protocol = ay__protocol(header->protocol)->name,
                      .places = header->places,
                      .precedence = (ay_precedence)header->precedence,
                      .overtake = header->overtake,
                      .mode = status.st_mode & 0777,
                      .uid = status.st_uid,
                      .gid = status.st_gid,
                      .created_s = header->created_s,
                      .retain = header->retain};
}

int ay_look(const char *name, ay_view *view, int (*each)(const ay_place *, void *), void *arg)
{
    AY__UNCANCELLED;
    char path[PATH_MAX];
    struct header header;
    int fd, error = ay__path_to_look(name, path, sizeof path);
    if (!error)
        error = ay__file_open(path, true, NULL, 0, &fd, &header);
    if (error)
        return error;
    const size_t size = space_size(header.granule, header.places, header.granules);
    void *base = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        error = ay__fail(-errno, "cannot map %s: %s", path, strerror(errno));
    } else {
        struct viewer viewer = {
            .space = {.fd = fd,
                      .base = base,
                      .size = size,
                      .places = header.places,
                      .granules = header.granules,
                      .granule = header.granule,
                      .cold_at = cold_offset(header.granule, header.places, 0),
                      .pulses_at = pulse_border(header.granule, header.places, header.granules, 0),
                      .pulses = header.places + PULSES_SPARE,
                      .protocol = ay__protocol(header.protocol)}};
        if (view)
            describe(view, fd, &header);
        error = look(&viewer, view, each, arg);
        munmap(base, size);
    }
    close(fd);
    return error;
}
