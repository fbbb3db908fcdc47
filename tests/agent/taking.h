/* SPDX-License-Identifier: MIT */
/* What tests of taking back share: a small space with the agent's side of it, and users. */
#ifndef AFTERYOU_TESTS_AGENT_TAKING_H
#define AFTERYOU_TESTS_AGENT_TAKING_H

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "afteryou.h"
#include "agent/host/local.h"
#include "common/clusters.h"

enum { WAIT_MS = 60000, PLACES = 4096 };

static char directory[] = "/dev/shm/afteryou-test-XXXXXX", space_path[PATH_MAX];
static struct directory own;
static struct pages pages;
static struct local *local;

static inline void open_all(void)
{
    char trouble[PATH_MAX + 256];
    const struct pages_options options = {
        .cluster = "c", .protocol = "token", .lease = 1000000, .grace = 2000000};
    setenv(CLUSTERS_ENVIRONMENT, directory, 1);
    assert_int_equal(directory_open(&own, "c", 0600, (gid_t)-1, trouble, sizeof trouble), 0);
    assert_int_equal(pages_open(&pages, &own, &options, trouble, sizeof trouble), 0);
    assert_true(pages_grow(&pages, 4096) == 4096);
    /* a small one, made before the agent would: so that a test can fill it */
    ay_space *space;
    assert_true(cluster_path("c", "space", space_path, sizeof space_path));
    assert_int_equal(ay_open(space_path, &(ay_options){.places = PLACES}, &space), 0);
    ay_close(space);
    local = local_open(&own, &pages, trouble, sizeof trouble);
    assert_non_null(local);
}

static inline int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/dev/shm/afteryou-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    char command[96];
    local_close(local);
    local = NULL;
    pages_close(&pages);
    directory_close(&own);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static inline void name_of(unsigned index, char *name)
{
    snprintf(name, 32, "name-%u", index);
}

static inline void begin_to_take_back(unsigned index)
{
    char name[32];
    name_of(index, name);
    if (index >= atomic_load(&pages.map->count))
        pages_name(&pages, index, name, strlen(name));
    pages_grant(&pages, index, PERMISSION_EXCLUSIVE, 0, 1, 0);
    local_take_back(local, index, name, PERMISSION_EXCLUSIVE);
}

/* As the agent's loop does. */
static inline struct local_news next_news(void)
{
    struct local_news news;
    for (;;) {
        const int64_t again_ms = local_tick(local) / 1000000;
        if (local_next(local, &news))
            return news;
        struct pollfd fd = {.fd = local_fd(local), .events = POLLIN};
        const int wait_ms = again_ms < WAIT_MS ? (int)again_ms + 1 : WAIT_MS;
        assert_true(poll(&fd, 1, wait_ms) == 1 || wait_ms < WAIT_MS);
        while (local_dispatch(local))
            continue;
    }
}

/* Whatever else comes in between. */
static inline struct local_news until(unsigned index, int kind)
{
    struct local_news news;
    do
        news = next_news();
    while (news.resource != index || (int)news.kind != kind);
    return news;
}

/* A process with `count` open regions, entered or not, from this name on; it lasts until it is
 * killed. */
static inline pid_t start_user(unsigned first, unsigned count, bool enters)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        ay_space *space;
        if (ay_open(space_path, NULL, &space) < 0)
            _exit(1);
        for (unsigned index = first; index < first + count; index++) {
            ay_region *region;
            char name[32];
            name_of(index, name);
            if (ay_region_open(space, &(ay_spec){.name = name}, &region) < 0) {
                if (!enters)
                    break; /* no room for more: that is what is wanted */
                _exit(1);
            }
            if (enters && ay_enter(region) < 0)
                _exit(1);
        }
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static inline void end_user(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
