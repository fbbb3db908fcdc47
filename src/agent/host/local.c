/* SPDX-License-Identifier: MIT */
/* Taking permissions back: threads enter the regions of the space in their turn, so the agent's
 * loop never waits for anybody.
 *
 * The permission is withdrawn while the thread is inside, exclusively: then no local process is
 * inside under it, and whoever comes after will find it gone.
 *
 * A region is open for as long as its taking back takes, and no longer: places are few. Each is
 * tried first. Only where somebody is inside does a thread wait, and only WAITING_MOST at once;
 * those beyond are tried again and again, and so are those that could not be opened. So nothing
 * that is held for long stops what is free. If all places are taken, or the file system is full, a
 * place of the reserve makes room: with it a region can be tried, but not waited for.
 */
#include "agent/host/local.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "afteryou.h"
#include "agent/host/reserve.h"
#include "common/clock.h"
#include "common/descriptors.h"

enum {
    RUNNERS_KEPT = 2,
    RUNNERS_MOST = 8,
    WAITING_MOST = 1024,
    STACK = 256 * 1024,
    RETRY_NS = 50 * 1000 * 1000
};

struct work {
    struct work *next;
    int64_t due; /* not before */
    unsigned resource;
    bool told_busy;   /* that somebody is inside */
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
    struct reserve reserve; /* has a mutex of its own */
    int event;
    /* Under the mutex: */
    pthread_mutex_t mutex;
    pthread_cond_t more;
    unsigned threads, idle; /* idle: of the threads, those that have nothing to do */
    /* and those that wait for somebody inside. There is always one that does not: it does the rest
     * of the work */
    unsigned waiting;
    bool begun;        /* the first thread is there */
    struct work *work; /* by when they are due */
    struct news *news, **news_end;
};

static void tell(struct local *local, struct local_news what)
{
    struct news *news = malloc(sizeof *news);
    if (!news)
        /* a permission that nobody gives back would stop the cluster: better to be buried */
        abort();
    *news = (struct news){.what = what};
    pthread_mutex_lock(&local->mutex);
    *local->news_end = news;
    local->news_end = &news->next;
    pthread_mutex_unlock(&local->mutex);
    const uint64_t one = 1;
    (void)!write(local->event, &one, sizeof one);
}

/* 0, or a negative errno. `spent`: by a place of the reserve. */
static int open_region(struct local *local, const char *name, ay_region **region, bool *spent)
{
    *spent = false;
    for (;;) {
        const int error = ay_region_open(local->space, &(ay_spec){.name = name}, region);
        if ((error != -EUSERS && error != -ENOSPC) || !reserve_spend(&local->reserve))
            return error;
        *spent = true;
    }
}

static void close_region(struct local *local, ay_region *region)
{
    ay_region_close(region);
    reserve_fill(&local->reserve);
}

/* ---- taking back ---- */

/* Inside, alone. */
static struct local_news withdraw(struct local *local, unsigned resource, ay_region *region,
                                  bool death)
{
    struct local_news news = {.resource = resource, .kind = LOCAL_TAKEN_BACK, .death = death};
    news.number = ay_fence(region) / AY_PLACES_MOST;
    news.withdrawn = pages_withdraw(local->pages, resource);
    ay_leave(region);
    return news;
}

static int start_thread(struct local *local);

/* Not if there would be no thread left for the others. */
static bool may_wait(struct local *local)
{
    pthread_mutex_lock(&local->mutex);
    if (local->threads - local->waiting == 1)
        start_thread(local);
    const bool may = local->waiting < WAITING_MOST && local->threads - local->waiting > 1;
    local->waiting += may;
    pthread_mutex_unlock(&local->mutex);
    return may;
}

static int wait_inside(struct local *local, ay_region *region)
{
    const int result = ay_enter(region);
    pthread_mutex_lock(&local->mutex);
    local->waiting--;
    pthread_mutex_unlock(&local->mutex);
    return result;
}

static void tell_trouble(struct local *local, struct work *work, int error)
{
    if (work->told_trouble == error)
        return;
    work->told_trouble = error;
    struct local_news news = {.resource = work->resource, .kind = LOCAL_TROUBLE};
    snprintf(news.why, sizeof news.why, "%s", ay_message());
    tell(local, news);
}

static void tell_busy(struct local *local, struct work *work)
{
    if (!work->told_busy)
        tell(local, (struct local_news){.resource = work->resource, .kind = LOCAL_BUSY});
    work->told_busy = true;
}

/* False: it must be tried again. */
static bool take_back(struct local *local, struct work *work)
{
    ay_region *region;
    bool spent;
    int result = open_region(local, work->name, &region, &spent);
    if (result < 0) {
        tell_trouble(local, work, result);
        return false;
    }
    result = ay_try(region);
    if (result == -EBUSY) {
        tell_busy(local, work);
        if (!spent && may_wait(local))
            result = wait_inside(local, region);
    }
    if (result >= 0)
        tell(local, withdraw(local, work->resource, region, result == AY_AFTER_DEATH));
    else if (result != -EBUSY)
        tell_trouble(local, work, result);
    close_region(local, region);
    return result >= 0;
}

/* ---- threads ---- */

/* Under the mutex. In order of when they are due; those due at once in order of arrival. */
static void add_work(struct local *local, struct work *work)
{
    struct work **link = &local->work;
    while (*link && (*link)->due <= work->due)
        link = &(*link)->next;
    work->next = *link;
    *link = work;
    pthread_cond_signal(&local->more);
}

/* Under the mutex. NULL: there is none, and threads enough. */
static struct work *next_work(struct local *local)
{
    for (;;) {
        struct work *work = local->work;
        if (work && work->due <= clock_ns(CLOCK_MONOTONIC)) {
            local->work = work->next;
            return work;
        }
        if (local->threads - local->waiting > RUNNERS_KEPT)
            return NULL;
        local->idle++;
        if (work) {
            const struct timespec due = {.tv_sec = work->due / 1000000000,
                                         .tv_nsec = work->due % 1000000000};
            pthread_cond_timedwait(&local->more, &local->mutex, &due);
        } else {
            pthread_cond_wait(&local->more, &local->mutex);
        }
        local->idle--;
    }
}

/* A thread needs a page of the space for itself, from its first region on: it is had while there is
 * room. Who gets none leaves the work to the others, if there are any. */
static bool is_equipped(struct local *local)
{
    ay_region *region = NULL;
    const bool equipped =
        ay_region_open(local->space, &(ay_spec){.name = RESERVED_NAME}, &region) == 0;
    ay_region_close(region);
    reserve_fill(&local->reserve);
    pthread_mutex_lock(&local->mutex);
    const bool stays = equipped || local->threads - local->waiting == 1;
    local->begun = true;
    pthread_cond_broadcast(&local->more);
    pthread_mutex_unlock(&local->mutex);
    return stays;
}

static void *work_on(void *arg)
{
    struct local *local = arg;
    const bool stays = is_equipped(local);
    pthread_mutex_lock(&local->mutex);
    for (struct work *work; stays && (work = next_work(local));) {
        pthread_mutex_unlock(&local->mutex);
        const bool done = take_back(local, work);
        work->due = clock_ns(CLOCK_MONOTONIC) + RETRY_NS;
        pthread_mutex_lock(&local->mutex);
        if (done)
            free(work);
        else
            add_work(local, work);
    }
    local->threads--;
    pthread_mutex_unlock(&local->mutex);
    return NULL;
}

/* Under the mutex. If there can be no more, those that there are will do the work, one after the
 * other. */
static int start_thread(struct local *local)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, work_on, local);
    pthread_attr_destroy(&attributes);
    local->threads += !error;
    return error;
}

void local_take_back(struct local *local, unsigned resource, const char *name)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        abort();
    work->resource = resource;
    snprintf(work->name, sizeof work->name, "%s", name);
    pthread_mutex_lock(&local->mutex);
    add_work(local, work);
    if (local->idle == 0 && local->threads - local->waiting < RUNNERS_MOST)
        start_thread(local);
    pthread_mutex_unlock(&local->mutex);
}

bool local_try_take_back(struct local *local, unsigned resource, const char *name,
                         struct local_news *news)
{
    ay_region *region;
    bool spent;
    if (open_region(local, name, &region, &spent) < 0)
        return false;
    const int result = ay_try(region);
    if (result >= 0)
        *news = withdraw(local, resource, region, result == AY_AFTER_DEATH);
    close_region(local, region);
    return result >= 0;
}

bool local_next(struct local *local, struct local_news *what)
{
    uint64_t count;
    pthread_mutex_lock(&local->mutex);
    struct news *news = local->news;
    if (news) {
        local->news = news->next;
        if (!local->news)
            local->news_end = &local->news;
    } else {
        (void)!read(local->event, &count, sizeof count);
    }
    pthread_mutex_unlock(&local->mutex);
    if (news)
        *what = news->what;
    free(news);
    return news != NULL;
}

int local_fd(const struct local *local)
{
    return local->event;
}

/* The space, which is this agent's: made, or a predecessor's. */
static bool open_space(struct local *local, const struct directory *directory, char *trouble,
                       size_t room)
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/space", directory->path);
    if (ay_open(path, &(ay_options){.mode = directory->mode}, &local->space) < 0) {
        snprintf(trouble, room, "%s", ay_message());
        return false;
    }
    const int fd = directory_file(directory, "space", O_RDWR, directory->mode, trouble, room);
    if (fd < 0)
        return false;
    struct stat status;
    const bool known = fstat(fd, &status) == 0;
    if (known)
        pages_bind_space(local->pages, status.st_dev, status.st_ino);
    else
        snprintf(trouble, room, "cannot look at %s: %s", path, strerror(errno));
    close(fd);
    return known;
}

/* One thread that is always there. */
static bool begin_threads(struct local *local, char *trouble, size_t room)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&local->mutex, NULL);
    reserve_begin(&local->reserve, local->space);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&local->more, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_lock(&local->mutex);
    const int error = start_thread(local);
    while (!error && !local->begun)
        pthread_cond_wait(&local->more, &local->mutex);
    pthread_mutex_unlock(&local->mutex);
    if (error)
        snprintf(trouble, room, "cannot start a thread: %s", strerror(error));
    return error == 0;
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
    local->news_end = &local->news;
    local->event = descriptor_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (local->event < 0)
        snprintf(trouble, room, "cannot make an eventfd: %s", strerror(errno));
    else if (open_space(local, directory, trouble, room) && begin_threads(local, trouble, room))
        return local;
    if (local->event >= 0)
        close(local->event);
    ay_close(local->space);
    free(local);
    return NULL;
}
