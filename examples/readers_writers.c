/* SPDX-License-Identifier: MIT */
/* Readers and a writer: readers are inside together, the writer alone; in order of arrival, so
 * neither starves. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <afteryou.h>

struct page {
    int left, right; /* equal, whenever a reader looks */
    _Atomic int together, most;
};

static ay_region *open_region(const char *name, ay_mode mode)
{
    ay_space *space;
    ay_region *region;
    if (ay_open(name, NULL, &space) != 0 ||
        ay_region_open(space, &(ay_spec){.name = "page", .mode = mode}, &region) != 0) {
        fprintf(stderr, "%s\n", ay_message());
        exit(1);
    }
    return region;
}

static void read_often(const char *name, struct page *page)
{
    ay_region *region = open_region(name, AY_SHARED);
    for (int times = 0; times < 200; times++) {
        ay_enter(region);
        const int now = atomic_fetch_add(&page->together, 1) + 1;
        if (now > atomic_load(&page->most))
            atomic_store(&page->most, now);
        if (page->left != page->right)
            exit(1);
        usleep(100);
        atomic_fetch_sub(&page->together, 1);
        ay_leave(region);
    }
    exit(0);
}

static void write_often(const char *name, struct page *page)
{
    ay_region *region = open_region(name, AY_EXCLUSIVE);
    for (int times = 0; times < 100; times++) {
        ay_enter(region);
        page->left++;
        usleep(50);
        page->right++;
        ay_leave(region);
    }
    exit(0);
}

int main(int count, char **words)
{
    const char *name = count > 1 ? words[1] : "example-readers-writers";
    struct page *page =
        mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int child = 0; child < 4; child++)
        if (fork() == 0)
            read_often(name, page);
    if (fork() == 0)
        write_often(name, page);
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    printf("%d written, up to %d readers together\n", page->right, atomic_load(&page->most));
    ay_remove(name);
    return failed || page->right != 100;
}
