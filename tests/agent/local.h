/* SPDX-License-Identifier: MIT */
/* What tests of a local process share: pages and a socket, with the test in place of the agent, and
 * a region of this process. */
#ifndef AFTERYOU_TESTS_AGENT_LOCAL_H
#define AFTERYOU_TESTS_AGENT_LOCAL_H

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "afteryou.h"
#include "agent/host/pages.h"
#include "common/clock.h"
#include "common/clusters.h"

enum { LEASE_MS = 60000, WAIT_MS = 20000 };
#define MS INT64_C(1000000)

static struct directory own;
static struct pages pages;
static int agent_socket = -1;
static char directory[] = "/dev/shm/afteryou-test-XXXXXX";
static ay_space *space;
static ay_region *region;

static inline int64_t boot_ns(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

static inline void listen_for_demands(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(cluster_path("c", "socket", address.sun_path, sizeof address.sun_path));
    unlink(address.sun_path);
    agent_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(agent_socket, (struct sockaddr *)&address, sizeof address), 0);
}

/* The next demand, and the index of its name. */
static inline struct demand next_demand(unsigned *index)
{
    struct demand demand;
    struct pollfd fd = {.fd = agent_socket, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
    assert_int_equal(recv(agent_socket, &demand, sizeof demand, 0), sizeof demand);
    assert_int_equal(demand.magic, DEMAND_MAGIC);
    const struct permission *found = permissions_find(pages.map, demand.name, demand.length);
    *index = found ? (unsigned)(found - pages.map->permission) : atomic_load(&pages.map->count);
    if (!found)
        pages_name(&pages, *index, demand.name, demand.length);
    return demand;
}

static inline void forget_demands(void)
{
    char bytes[sizeof(struct demand)];
    while (recv(agent_socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

static inline int set_up(void **state)
{
    (void)state;
    char path[PATH_MAX], trouble[PATH_MAX + 256];
    struct stat status;
    const struct pages_options options = {
        .cluster = "c", .protocol = "token", .lease = LEASE_MS * MS, .grace = 2 * LEASE_MS * MS};
    strcpy(directory, "/dev/shm/afteryou-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    setenv(CLUSTERS_ENVIRONMENT, directory, 1);
    assert_int_equal(ay_open("cluster:c", NULL, &space), -ENOENT);
    assert_int_equal(directory_open(&own, "c", 0600, (gid_t)-1, trouble, sizeof trouble), 0);
    assert_int_equal(pages_open(&pages, &own, &options, trouble, sizeof trouble), 0);
    assert_true(cluster_path("c", "space", path, sizeof path));
    assert_int_equal(ay_open("cluster:c", NULL, &space), -EPROTONOSUPPORT); /* not announced yet */
    assert_int_equal(ay_open(path, NULL, &space), 0);
    ay_close(space);
    assert_int_equal(stat(path, &status), 0);
    pages_bind_space(&pages, status.st_dev, status.st_ino);
    pages_announce(&pages);
    listen_for_demands();
    pages_lease(&pages, boot_ns() + LEASE_MS * MS);
    assert_int_equal(ay_open("cluster:c", NULL, &space), 0);
    assert_int_equal(ay_region_open(space, &(ay_spec){.name = "thing"}, &region), 0);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    static const char *const files[] = {"space", "agent", "socket", ""};
    char path[PATH_MAX];
    ay_close(space);
    pages_close(&pages);
    directory_close(&own);
    close(agent_socket);
    for (size_t at = 0; at < sizeof files / sizeof *files; at++)
        if (cluster_path("c", files[at], path, sizeof path) &&
            (*files[at] ? unlink(path) : rmdir(path)) != 0)
            perror(path);
    return rmdir(directory);
}

/* The agent answers in a thread of its own, for the one that enters must live for as long as it is
 * inside. */
static inline pthread_t begin_to_answer(void *(*answer)(void *), void *arg)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, answer, arg), 0);
    return thread;
}

static inline void *grant(void *base)
{
    unsigned index;
    assert_int_equal(next_demand(&index).kind, DEMAND_PERMISSION);
    pages_grant(&pages, index, PERMISSION_EXCLUSIVE, 0, *(uint64_t *)base, 0);
    return NULL;
}

static inline void enter_by_grant(uint64_t base)
{
    const pthread_t agent = begin_to_answer(grant, &base);
    assert_int_equal(ay_enter_for(region, WAIT_MS), 0);
    pthread_join(agent, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
