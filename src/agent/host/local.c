/* SPDX-License-Identifier: MIT */
/* Taking permissions back: the agent asks for the region of the space, and takes its turn there.
 *
 * The permission is withdrawn while the agent is inside, exclusively: then no local process is
 * inside under it, and whoever comes after will find it gone. Or the agent is inside in a weaker
 * mode, and leaves of the permission what may be inside beside that. If the region is free, that
 * is at once. Else the ask stands in the queue like any other process that waits, and the loop
 * hears by the descriptor of the space that it is decided.
 *
 * A region has the name for as long as its taking back takes, and no longer: places are few. So
 * STANDING_MOST stand in queues at once, and the last spare region is for those that are free; what
 * is beyond is tried again and again, and so is what could not be had. So nothing that is held for
 * long stops what is free.
 */
#include "agent/host/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "afteryou.h"
#include "agent/host/spares.h"
#include "common/clock.h"

#define MS INT64_C(1000000)
enum {
    STANDING_MOST = 1024,
    USED_MOST = 64,
    PAUSE_LEAST_MS = 50,
    PAUSE_MOST_MS = 800,
    BUSY_MS = 1 /* after so long it is worth while to tell that somebody is inside */
};

/* One taking back, from its beginning until it is done. */
struct taking {
    struct taking *next;
    ay_region *region; /* asked for, since `due`; NULL: it is to be tried again, */
    int64_t due;       /* not before, by CLOCK_MONOTONIC, */
    int64_t pause;     /* and so long after the last time */
    unsigned resource;
    uint8_t mode;     /* PERMISSION_…: what is left is what may be inside beside it */
    uint8_t spare;    /* PERMISSION_…: the mode of `region`, as strong or stronger */
    bool told_busy;   /* that somebody is inside: set when the agent was told, never cleared */
    int told_trouble; /* the last error that the agent was told of */
    char name[PERMISSION_NAME_MOST + 1];
};

struct news {
    struct news *next;
    struct local_news what;
};

struct local {
    struct pages *pages;
    ay_space *space;
    int file; /* of the space */
    int fd;   /* by which the space says that something may be decided: its own */
    struct spares spares;
    /* Of takings back that are done: each keeps its name until local_tick(), so that the news goes
     * out first. */
    unsigned used_count;
    struct {
        ay_region *region;
        uint8_t mode; /* PERMISSION_… */
    } used[USED_MOST];
    int64_t woken_ns; /* CLOCK_MONOTONIC: when it was last called to go on */
    unsigned standing_count;
    struct taking *standing; /* in queues of the space, the latest first */
    int64_t busy_due;        /* one of them is to be told as busy then; INT64_MAX: none */
    struct taking *later;    /* by when they are due */
    struct news *news, **news_end;
};

/* A permission that nobody gives back would stop the cluster: better to be buried. */
static void *obtain(size_t size)
{
    void *memory = calloc(1, size);
    if (!memory)
        abort();
    return memory;
}

static void tell(struct local *local, struct local_news what)
{
    struct news *news = obtain(sizeof *news);
    news->what = what;
    *local->news_end = news;
    local->news_end = &news->next;
}

static void tell_trouble(struct local *local, struct taking *taking, int error, const char *why)
{
    if (taking->told_trouble == error)
        return;
    taking->told_trouble = error;
    struct local_news news = {.resource = taking->resource, .kind = LOCAL_TROUBLE};
    snprintf(news.why, sizeof news.why, "%s", why);
    tell(local, news);
}

static void tell_busy(struct local *local, struct taking *taking)
{
    if (!taking->told_busy)
        tell(local, (struct local_news){.resource = taking->resource, .kind = LOCAL_BUSY});
    taking->told_busy = true;
}

/* Inside, in that mode or exclusively; and outside again. */
static struct local_news withdraw(struct local *local, unsigned resource, ay_region *region,
                                  unsigned mode, bool death)
{
    struct local_news news = {
        .resource = resource, .kind = LOCAL_TAKEN_BACK, .mode = (uint8_t)mode, .death = death};
    news.number = ay_fence(region) / AY_PLACES_MOST;
    if (death) /* for a successor, should I be killed before the agent has heard of it */
        pages_death(local->pages, resource, true);
    news.withdrawn = pages_lower_since(local->pages, resource, mode, local->woken_ns);
    ay_leave(region);
    return news;
}

/* In order of when they are due. */
static void try_later(struct local *local, struct taking *taking)
{
    const int64_t twice = 2 * taking->pause, most = PAUSE_MOST_MS * MS;
    taking->pause = !twice ? PAUSE_LEAST_MS * MS : twice < most ? twice : most;
    taking->due = clock_ns(CLOCK_MONOTONIC) + taking->pause;
    struct taking **link = &local->later;
    while (*link && (*link)->due <= taking->due)
        link = &(*link)->next;
    taking->next = *link;
    *link = taking;
}

static void put_away(struct local *local)
{
    while (local->used_count > 0) {
        const unsigned at = --local->used_count;
        spares_give_back(&local->spares, local->used[at].mode, local->used[at].region);
    }
}

static void put_away_later(struct local *local, uint8_t mode, ay_region *region)
{
    if (local->used_count == USED_MOST)
        put_away(local);
    local->used[local->used_count].region = region;
    local->used[local->used_count++].mode = mode;
}

/* It has been entered, or not: what ay_enter() would have returned. */
static void decided(struct local *local, struct taking *taking, ay_region *region, int result)
{
    if (result >= 0)
        tell(local,
             withdraw(local, taking->resource, region, taking->mode, result == AY_AFTER_DEATH));
    else
        tell_trouble(local, taking, result, ay_message());
    put_away_later(local, taking->spare, region);
    if (result >= 0)
        free(taking);
    else
        try_later(local, taking);
}

/* Somebody is inside, or before it. */
static void stand(struct local *local, struct taking *taking, ay_region *region)
{
    spares_fill(&local->spares);
    if (local->standing_count == STANDING_MOST || local->spares.count == 0) {
        tell_busy(local, taking);
        ay_withdraw(region);
        spares_give_back(&local->spares, taking->spare, region);
        try_later(local, taking);
        return;
    }
    local->standing_count++;
    taking->region = region;
    taking->due = local->woken_ns;
    if (!taking->told_busy && taking->due + BUSY_MS * MS < local->busy_due)
        local->busy_due = taking->due + BUSY_MS * MS;
    taking->next = local->standing;
    local->standing = taking;
}

/* Most who are inside leave sooner. */
static void tell_of_busy_ones(struct local *local, int64_t now)
{
    if (now < local->busy_due)
        return;
    local->busy_due = INT64_MAX;
    for (struct taking *taking = local->standing; taking; taking = taking->next) {
        const int64_t due = taking->due + BUSY_MS * MS;
        if (due <= now)
            tell_busy(local, taking);
        else if (due < local->busy_due)
            local->busy_due = due;
    }
}

static void begin(struct local *local, struct taking *taking)
{
    ay_region *region;
    char why[SPARES_WHY];
    if (local->spares.count == 0)
        put_away(local);
    taking->spare = taking->mode;
    int result = spares_take(&local->spares, taking->name, &taking->spare, &region, why);
    if (result < 0) {
        tell_trouble(local, taking, result, why);
        try_later(local, taking);
        return;
    }
    result = ay_ask(region);
    if (result == -EINPROGRESS)
        stand(local, taking, region);
    else
        decided(local, taking, region, result);
}

void local_take_back(struct local *local, unsigned resource, const char *name, unsigned mode)
{
    struct taking *taking = obtain(sizeof *taking);
    local->woken_ns = clock_ns(CLOCK_MONOTONIC);
    taking->resource = resource;
    taking->mode = (uint8_t)mode;
    snprintf(taking->name, sizeof taking->name, "%s", name);
    begin(local, taking);
}

static struct taking *take_out(struct local *local, const ay_region *region)
{
    struct taking **link = &local->standing;
    while ((*link)->region != region)
        link = &(*link)->next;
    struct taking *taking = *link;
    *link = taking->next;
    taking->region = NULL;
    local->standing_count--;
    return taking;
}

bool local_dispatch(struct local *local)
{
    int result;
    local->woken_ns = clock_ns(CLOCK_MONOTONIC);
    ay_region *region = ay_decided(local->space, &result);
    if (region)
        decided(local, take_out(local, region), region, result);
    return region;
}

int64_t local_pause(const struct local *local)
{
    const int64_t due =
        local->later && local->later->due < local->busy_due ? local->later->due : local->busy_due;
    return due < INT64_MAX ? due - clock_ns(CLOCK_MONOTONIC) : INT64_MAX;
}

int64_t local_tick(struct local *local)
{
    const int64_t now = local->woken_ns = clock_ns(CLOCK_MONOTONIC);
    put_away(local);
    while (local->later && local->later->due <= now) {
        struct taking *taking = local->later;
        local->later = taking->next;
        begin(local, taking);
    }
    tell_of_busy_ones(local, now);
    return local_pause(local);
}

bool local_next(struct local *local, struct local_news *what)
{
    struct news *news = local->news;
    if (!news)
        return false;
    local->news = news->next;
    if (!local->news)
        local->news_end = &local->news;
    *what = news->what;
    free(news);
    return true;
}

int local_fd(const struct local *local)
{
    return local->fd;
}

bool local_call(struct local *local, void (*call)(void *), void *arg, char *trouble, size_t room)
{
    if (ay_on_decided(local->space, call, arg) == 0)
        return true;
    snprintf(trouble, room, "%s", ay_message());
    return false;
}

bool local_try_take_back(struct local *local, unsigned resource, const char *name,
                         struct local_news *news)
{
    ay_region *region;
    char why[SPARES_WHY];
    uint8_t mode = PERMISSION_EXCLUSIVE;
    if (spares_take(&local->spares, name, &mode, &region, why) < 0)
        return false;
    const int result = ay_try(region);
    if (result >= 0)
        *news = withdraw(local, resource, region, mode, result == AY_AFTER_DEATH);
    spares_give_back(&local->spares, mode, region);
    return result >= 0;
}

/* The space, which is this agent's: made, or a predecessor's. */
static bool open_space(struct local *local, const struct directory *directory, char *trouble,
                       size_t room)
{
    char path[PATH_MAX + 8];
    struct stat status;
    snprintf(path, sizeof path, "%s/space", directory->path);
    /* Of this protocol, for others cannot be asked. */
    const ay_options options = {.protocol = "courtesy", .mode = directory->mode};
    if (ay_open(path, &options, &local->space) < 0 || (local->fd = ay_fd(local->space)) < 0) {
        snprintf(trouble, room, "%s", ay_message());
        return false;
    }
    local->file = directory_file(directory, "space", O_RDWR, directory->mode, trouble, room);
    if (local->file < 0)
        return false;
    if (fstat(local->file, &status) != 0) {
        snprintf(trouble, room, "cannot look at %s: %s", path, strerror(errno));
        return false;
    }
    pages_bind_space(local->pages, status.st_dev, status.st_ino);
    return true;
}

struct local *local_open(const struct directory *directory, struct pages *pages, char *trouble,
                         size_t room)
{
    struct local *local = calloc(1, sizeof *local);
    if (!local) {
        snprintf(trouble, room, "out of memory");
        return NULL;
    }
    local->pages = pages;
    local->file = -1;
    local->news_end = &local->news;
    local->busy_due = INT64_MAX;
    if (!open_space(local, directory, trouble, room)) {
        local_close(local);
        return NULL;
    }
    spares_begin(&local->spares, local->space, local->file);
    spares_fill(&local->spares);
    return local;
}

static void free_list(struct taking *list)
{
    while (list) {
        struct taking *next = list->next;
        free(list);
        list = next;
    }
}

void local_close(struct local *local)
{
    if (!local)
        return;
    ay_close(local->space); /* with all its regions */
    if (local->file >= 0)
        close(local->file);
    free_list(local->standing);
    free_list(local->later);
    for (struct local_news news; local_next(local, &news);)
        continue;
    free(local);
}
