/* SPDX-License-Identifier: MIT */
/* A cache that its readers refresh: whoever finds it stale becomes its writer, without leaving, and
 * a reader again once it is fresh. Of two that want to, the second leaves, and finds it refreshed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

enum { READERS = 4, READINGS = 200, LASTS = 10 };

struct cache {
    int left, right; /* equal, whenever a reader looks */
    int uses;        /* at most LASTS, then it is stale; each reading counts one */
    int refreshed;
};

static int check(int result)
{
    if (result < 0 && result != -EDEADLK) {
        fprintf(stderr, "%s\n", ay_message());
        exit(1);
    }
    return result;
}

/* Inside, shared. False: somebody else is about to refresh it, once this one has left. */
static int refresh(ay_region *region, struct cache *cache)
{
    if (check(ay_convert(region, AY_EXCLUSIVE, -1)) == -EDEADLK)
        return 0;
    cache->left++;
    usleep(50);
    cache->right++;
    cache->refreshed++;
    __atomic_store_n(&cache->uses, 0, __ATOMIC_RELAXED);
    check(
        ay_convert(region, AY_SHARED, -1)); /* never waits, and nobody else was exclusive between */
    return 1;
}

static void read_often(const char *name, struct cache *cache)
{
    ay_space *space;
    ay_region *region;
    check(ay_open(name, NULL, &space));
    check(ay_region_open(space, &(ay_spec){.name = "cache"}, &region)); /* the strongest mode */
    for (int readings = 0; readings < READINGS;) {
        check(ay_enter_as(region, AY_SHARED, -1));
        if (__atomic_load_n(&cache->uses, __ATOMIC_RELAXED) < LASTS || refresh(region, cache)) {
            if (cache->left != cache->right)
                exit(1);
            __atomic_add_fetch(&cache->uses, 1, __ATOMIC_RELAXED);
            readings++;
        }
        ay_leave(region);
    }
    exit(0);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "cache";
    struct cache *cache =
        mmap(NULL, sizeof *cache, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cache == MAP_FAILED)
        return 1;
    for (int reader = 0; reader < READERS; reader++)
        if (fork() == 0)
            read_often(name, cache);
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%d readings, refreshed %d times\n", READERS * READINGS, cache->refreshed);
    ay_remove(name);
    return failed != 0 || cache->refreshed < READERS * READINGS / (LASTS + READERS) - 1;
}
