/* SPDX-License-Identifier: MIT */
/* Taking permissions back: a thread for each that is contested enters the region of the space in its turn, so the agent's loop never waits for anybody.
 *
 * The permission is withdrawn while the thread is inside, exclusively: then no local process is inside under it, and whoever comes after will find it gone.
 * A thread lives for one taking back; its region stays open, for what was contested once will be again.
 */
#include "agent/local.h"
#include "common/descriptors.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "afteryou.h"

enum { THREADS_MOST = 512, STACK = 256 * 1024, RETRY_US = 50 * 1000 };

struct work {
    struct work *next;
    struct local *local;
    unsigned resource;
    char name[PERMISSION_NAME_MOST + 1];
};

struct news {
    struct news *next;
    struct local_news what;
};

struct local {
    struct pages *pages;
    ay_space *space;
    int event;
    pthread_mutex_t mutex;
    unsigned threads;
    struct work *waiting, **waiting_end; /* for a thread */
    struct news *news, **news_end;
    ay_region *region[PERMISSIONS_MOST];
};

static void tell(struct local *local, struct local_news what)
{
    struct news *news = malloc(sizeof *news);
    if (!news)
        abort(); /* a permission that nobody gives back would stop the cluster: better to be buried */
    *news = (struct news){.what = what};
    pthread_mutex_lock(&local->mutex);
    *local->news_end = news;
    local->news_end = &news->next;
    pthread_mutex_unlock(&local->mutex);
    const uint64_t one = 1;
    (void)!write(local->event, &one, sizeof one);
}

static ay_region *region_of(struct local *local, unsigned resource, const char *name)
{
    if (!local->region[resource] &&
        ay_region_open(local->space, &(ay_spec){.name = name}, &local->region[resource]) < 0)
        return NULL;
    return local->region[resource];
}

/* Inside, alone. */
static struct local_news withdraw(struct local *local, unsigned resource, ay_region *region, bool death)
{
    struct local_news news = {.resource = resource, .death = death};
    news.number = ay_fence(region) / AY_PLACES_MOST;
    news.withdrawn = pages_withdraw(local->pages, resource);
    return news;
}

/* All places may be taken, or a wait may be refused: it is tried again until it succeeds. */
static void take_back(struct local *local, const struct work *work)
{
    for (;; usleep(RETRY_US)) {
        ay_region *region = region_of(local, work->resource, work->name);
        if (!region)
            continue;
        int result = ay_try(region);
        if (result == -EBUSY) {
            tell(local, (struct local_news){.resource = work->resource, .busy = true});
            result = ay_enter(region);
        }
        if (result < 0)
            continue;
        const struct local_news news = withdraw(local, work->resource, region, result == AY_AFTER_DEATH);
        ay_leave(region);
        tell(local, news);
        return;
    }
}

static struct work *next_work(struct local *local)
{
    pthread_mutex_lock(&local->mutex);
    struct work *work = local->waiting;
    if (!work) {
        local->threads--;
    } else {
        local->waiting = work->next;
        if (!local->waiting)
            local->waiting_end = &local->waiting;
    }
    pthread_mutex_unlock(&local->mutex);
    return work;
}

static void *work_on(void *arg)
{
    struct local *local = arg;
    for (struct work *work; (work = next_work(local));) {
        take_back(local, work);
        free(work);
    }
    return NULL;
}

static void start_thread(struct local *local)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        abort();
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_mutex_lock(&local->mutex);
    const bool may = local->threads < THREADS_MOST;
    local->threads += may;
    pthread_mutex_unlock(&local->mutex);
    if (may && pthread_create(&thread, &attributes, work_on, local) != 0) {
        pthread_mutex_lock(&local->mutex);
        const bool alone = --local->threads == 0;
        pthread_mutex_unlock(&local->mutex);
        if (alone) /* nobody would ever do the work */
            abort();
    }
    pthread_attr_destroy(&attributes);
}

void local_take_back(struct local *local, unsigned resource, const char *name)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        abort();
    work->local = local;
    work->resource = resource;
    snprintf(work->name, sizeof work->name, "%s", name);
    pthread_mutex_lock(&local->mutex);
    *local->waiting_end = work;
    local->waiting_end = &work->next;
    pthread_mutex_unlock(&local->mutex);
    start_thread(local);
}

bool local_try_take_back(struct local *local, unsigned resource, const char *name, struct local_news *news)
{
    ay_region *region = region_of(local, resource, name);
    const int result = region ? ay_try(region) : -EUSERS;
    if (result < 0)
        return false;
    *news = withdraw(local, resource, region, result == AY_AFTER_DEATH);
    ay_leave(region);
    return true;
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
static bool open_space(struct local *local, const struct directory *directory, char *trouble, size_t room)
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

struct local *local_open(const struct directory *directory, struct pages *pages, char *trouble, size_t room)
{
    struct local *local = calloc(1, sizeof *local);
    if (!local) {
        snprintf(trouble, room, "out of memory");
        return NULL;
    }
    local->pages = pages;
    local->waiting_end = &local->waiting;
    local->news_end = &local->news;
    pthread_mutex_init(&local->mutex, NULL);
    local->event = descriptor_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (local->event < 0)
        snprintf(trouble, room, "cannot make an eventfd: %s", strerror(errno));
    else if (open_space(local, directory, trouble, room))
        return local;
    if (local->event >= 0)
        close(local->event);
    ay_close(local->space);
    free(local);
    return NULL;
}
