/* SPDX-License-Identifier: MIT */
/* The side of a local process: permissions, losses, deaths and demands, with the test in place of
 * the agent. */
#include <fcntl.h>
#include <sys/wait.h>

#include "agent/host/local.h"
#include "local.h"

static void test_granted_and_kept(void **state)
{
    (void)state;
    enter_by_grant(1000);
    uint64_t before = ay_fence(region);
    assert_true(before >= 1000);
    assert_true(ay_valid(region));
    assert_int_equal(ay_leave(region), 0);
    assert_false(ay_valid(region));
    forget_demands();
    for (unsigned times = 1; times <= 5; times++) { /* again, without a word to the agent */
        assert_int_equal(ay_try(region), 0);
        assert_true(ay_fence(region) > before);
        before = ay_fence(region);
        assert_int_equal(ay_leave(region), 0);
    }
    assert_true(recv(agent_socket, &(char){0}, 1, MSG_DONTWAIT) < 0);
}

static void test_try_hears_that_it_is_busy(void **state)
{
    (void)state;
    unsigned index;
    pages_name(&pages, 0, "thing", 5);
    pid_t child = fork(); /* the agent is another process: it answers while we try */
    if (child == 0) {
        next_demand(&index);
        pages_busy(&pages, index);
        _exit(0);
    }
    assert_int_equal(ay_try(region), -EBUSY);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(ay_enter_for(region, 20), -ETIMEDOUT);
}

static void test_no_agent(void **state)
{
    (void)state;
    close(agent_socket);
    assert_int_equal(ay_try(region), -EHOSTDOWN);
    assert_non_null(strstr(ay_message(), "afteryou agent"));
    listen_for_demands();
}

/* The socket by which this process speaks to the agent; -1: there is none. */
static int find_mouth(void)
{
    struct sockaddr_un agent, peer;
    assert_true(cluster_path("c", "socket", agent.sun_path, sizeof agent.sun_path));
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++) {
        socklen_t length = sizeof peer;
        memset(&peer, 0, sizeof peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &length) == 0 && peer.sun_family == AF_UNIX &&
            strcmp(peer.sun_path, agent.sun_path) == 0)
            return fd;
    }
    return -1;
}

static void ask_anew(uint64_t base)
{
    pages_withdraw(&pages, 0);
    forget_demands();
    enter_by_grant(base);
    ay_leave(region);
}

/* One socket is kept. Another agent has another; and the program may close it, and have its number
 * for something else. */
static void test_what_is_said_reaches_the_agent(void **state)
{
    (void)state;
    int pipes[2];
    char byte;
    enter_by_grant(1);
    ay_leave(region);
    const int mouth = find_mouth();
    assert_true(mouth >= 0);
    ask_anew(1000);
    assert_int_equal(find_mouth(), mouth);
    close(agent_socket);
    listen_for_demands();
    ask_anew(2000);
    assert_int_equal(find_mouth(), mouth);
    assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
    assert_int_equal(dup2(pipes[1], mouth), mouth);
    ask_anew(3000);
    assert_true(find_mouth() != mouth);
    assert_true(read(pipes[0], &byte, 1) < 0);
    assert_int_equal(fcntl(mouth, F_GETFD), 0);
    close(pipes[0]);
    close(pipes[1]);
    ay_close(space);
    assert_int_equal(fcntl(mouth, F_GETFD), 0); /* it is the program's */
    close(mouth);
    assert_int_equal(ay_open("cluster:c", NULL, &space), 0);
}

static void *enter_soon(void *arg)
{
    *(int *)arg = ay_enter_for(region, 200);
    if (*(int *)arg >= 0)
        ay_leave(region);
    return NULL;
}

/* The agent's queue is full when the demand is to be sent: it waits for room, and comes in time.
 * Tried until the machine is quiet enough. */
static void test_a_full_queue(void **state)
{
    (void)state;
    int result = -1;
    pages_name(&pages, 0, "thing", 5);
    for (unsigned tries = 0; tries < 50 && result < 0; tries++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        pthread_t thread;
        const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(cluster_path("c", "socket", address.sun_path, sizeof address.sun_path));
        while (sendto(fd, "", 1, 0, (struct sockaddr *)&address, sizeof address) == 1)
            continue;
        assert_int_equal(errno, EAGAIN);
        assert_int_equal(pthread_create(&thread, NULL, enter_soon, &result), 0);
        usleep(20000);
        struct demand demand = {0};
        struct pollfd room = {.fd = agent_socket, .events = POLLIN};
        while (demand.magic != DEMAND_MAGIC && poll(&room, 1, 150) == 1)
            (void)!recv(agent_socket, &demand, sizeof demand, 0);
        if (demand.magic == DEMAND_MAGIC)
            pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 1, 0);
        pthread_join(thread, NULL);
        close(fd);
        if (result < 0)
            pages_withdraw(&pages, 0);
    }
    assert_int_equal(result, 0);
}

/* The agent takes a name away, for it is of no group, and gives its entry to another: who had found
 * it there is not let in by that one's permission. */
static void *grant_to_another_first(void *arg)
{
    unsigned index;
    assert_int_equal(next_demand(&index).kind, DEMAND_PERMISSION); /* adds the name anew */
    assert_int_equal(index, 1);
    pages_withdraw(&pages, 0);
    pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 1, 0);
    pages_grant(&pages, 1, PERMISSION_EXCLUSIVE, 0, 500, 0);
    return arg;
}

static void test_a_name_is_taken_away(void **state)
{
    (void)state;
    enter_by_grant(1);
    ay_leave(region);
    pages_withdraw(&pages, 0);
    pages_name(&pages, 0, "other", 5);
    pages_grant(&pages, 0, PERMISSION_SHARED, 0, 1, 0); /* too weak, too, if it were meant */
    forget_demands();
    const pthread_t agent = begin_to_answer(grant_to_another_first, NULL);
    assert_int_equal(ay_enter_for(region, WAIT_MS), 0);
    pthread_join(agent, NULL);
    assert_true(ay_fence(region) >= 500);
    ay_leave(region);
}

static void *refuse(void *arg)
{
    unsigned index;
    next_demand(&index);
    pages_name(&pages, index, "", 0);
    pages_full(&pages, true);
    return arg;
}

static void test_no_room_for_a_name(void **state)
{
    (void)state;
    const pthread_t agent = begin_to_answer(refuse, NULL); /* while it waits */
    assert_int_equal(ay_enter_for(region, WAIT_MS), -ENOSPC);
    pthread_join(agent, NULL);
    assert_int_equal(ay_try(region), -ENOSPC);
    pages_full(&pages, false);
    enter_by_grant(1);
    ay_leave(region);
}

static void test_lost_by_withdrawal(void **state)
{
    (void)state;
    struct pollfd lost = {.fd = ay_lost(region), .events = POLLIN};
    assert_true(lost.fd >= 0);
    assert_int_equal(ay_lost(region), lost.fd);
    enter_by_grant(1);
    assert_int_equal(poll(&lost, 1, 0), 0);
    pages_lose(&pages, 0, 0);
    assert_int_equal(poll(&lost, 1, WAIT_MS), 1);
    assert_false(ay_valid(region));
    /* another grant does not bring it back */
    pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 50, 0);
    assert_false(ay_valid(region));
    assert_int_equal(ay_leave(region), 0);
    assert_int_equal(ay_enter(region), 0); /* the next passage begins anew */
    assert_true(ay_valid(region));
    assert_int_equal(poll(&lost, 1, 0), 0);
    ay_leave(region);
}

static void test_lost_by_the_clock(void **state)
{
    (void)state;
    struct pollfd lost = {.fd = ay_lost(region), .events = POLLIN};
    enter_by_grant(1);
    pages_lease(&pages, boot_ns() + 50 * MS); /* nobody renews it */
    assert_int_equal(poll(&lost, 1, WAIT_MS), 1);
    assert_false(ay_valid(region));
    assert_int_equal(ay_leave(region), 0);
    assert_int_equal(ay_enter_for(region, 50), -ETIMEDOUT); /* the old permission is of no use */
    pages_lease(&pages, boot_ns() + LEASE_MS * MS);
    assert_int_equal(ay_enter_for(region, WAIT_MS), 0);
    ay_leave(region);
}

/* As the agent's loop does. */
static struct local_news next_news(struct local *local)
{
    for (struct local_news news;;) {
        const int64_t again_ms = local_tick(local) / 1000000;
        const int wait_ms = again_ms < WAIT_MS ? (int)again_ms + 1 : WAIT_MS;
        if (local_next(local, &news))
            return news;
        struct pollfd fd = {.fd = local_fd(local), .events = POLLIN};
        assert_true(poll(&fd, 1, wait_ms) == 1 || wait_ms < WAIT_MS);
        while (local_dispatch(local))
            continue;
    }
}

static void *take_back_and_grant_more(void *local)
{
    unsigned index;
    struct local_news news;
    assert_int_equal(next_demand(&index).kind, DEMAND_MORE);
    local_take_back(local, 0, "thing", PERMISSION_EXCLUSIVE);
    do
        news = next_news(local);
    while (news.kind == LOCAL_BUSY);
    assert_true(news.withdrawn);
    pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 100, 0);
    return NULL;
}

/* A reader's permission is too weak for a writer: it lets the agent in, which takes it back, and
 * comes again. */
static void test_too_weak_a_permission(void **state)
{
    (void)state;
    char trouble[PATH_MAX + 256];
    pages_name(&pages, 0, "thing", 5);
    pages_grant(&pages, 0, PERMISSION_SHARED, 0, 7, 0);
    struct local *local = local_open(&own, &pages, trouble, sizeof trouble);
    assert_non_null(local);
    const pthread_t agent = begin_to_answer(take_back_and_grant_more, local);
    assert_int_equal(ay_enter_for(region, WAIT_MS), 0);
    pthread_join(agent, NULL);
    assert_true(ay_fence(region) >= 100);
    local_take_back(local, 0, "thing",
                    PERMISSION_EXCLUSIVE); /* somebody is inside: it says so, and waits */
    assert_int_equal(next_news(local).kind, LOCAL_BUSY);
    assert_true(ay_valid(region));
    ay_leave(region);
    struct local_news what = next_news(local);
    assert_true(what.kind == LOCAL_TAKEN_BACK && what.withdrawn);
    /* there is nothing left to take */
    assert_false(local_try_take_back(local, 0, "thing", &what) && what.withdrawn);
    local_close(local);
}

static void test_what_a_cluster_has_not(void **state)
{
    (void)state;
    ay_region *other;
    assert_int_equal(ay_region_open(space, &(ay_spec){.name = "a", .slots = 257}, &other),
                     -ENOTSUP);
    assert_int_equal(ay_region_open(space, &(ay_spec){.name = "a", .take = 1, .of = 257}, &other),
                     -ENOTSUP);
    assert_int_equal(ay_enter_when(region, NULL, NULL, 0), -ENOTSUP);
    ay_space *local;
    assert_int_equal(ay_open("cluster:c", &(ay_options){.retain = 1}, &local), -ENOTSUP);
    assert_true(ay_grace(space) > 0);
    ay_region *plain;
    char path[PATH_MAX];
    assert_true(cluster_path("c", "space", path, sizeof path));
    assert_int_equal(ay_open(path, NULL, &local), 0);
    assert_int_equal(ay_grace(local), 0);
    assert_int_equal(ay_region_open(local, &(ay_spec){.name = "plain"}, &plain), 0);
    struct pollfd lost = {.fd = ay_lost(plain), .events = POLLIN};
    assert_int_equal(ay_enter(plain), 0);
    assert_true(ay_valid(plain));
    assert_int_equal(poll(&lost, 1, 0), 0);
    ay_close(local);
}

static void test_child_owns_nothing(void **state)
{
    (void)state;
    int status;
    enter_by_grant(1);
    assert_true(find_mouth() >= 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(ay_valid(region) || ay_lost(region) != -EPERM || ay_leave(region) != -EPERM ||
              find_mouth() >= 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(ay_valid(region));
    assert_true(find_mouth() >= 0);
    ay_leave(region);
}

/* Somebody removes the space, or the pages: who comes later is not let into what the agent does not
 * use, and an agent that comes later knows that its pages are not the ones in which its predecessor
 * granted. */
static void test_removed_files(void **state)
{
    (void)state;
    char path[PATH_MAX], trouble[PATH_MAX + 256];
    ay_space *other;
    const struct pages_options options = {
        .cluster = "c", .protocol = "token", .lease = LEASE_MS * MS, .grace = 2 * LEASE_MS * MS};
    const uint64_t identity = pages.map->identity;
    struct local *local;
    enter_by_grant(1);
    pages_close(&pages);
    /* a successor */
    assert_int_equal(pages_open(&pages, &own, &options, trouble, sizeof trouble), 0);
    assert_false(pages.fresh);
    assert_true(pages.map->identity == identity);
    assert_true(ay_valid(region));
    assert_true(cluster_path("c", "space", path, sizeof path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(ay_open("cluster:c", NULL, &other), -ESTALE);
    local = local_open(&own, &pages, trouble, sizeof trouble);
    assert_non_null(local);
    assert_true(pages.fresh);
    assert_true(pages.map->identity != identity);
    assert_false(ay_valid(region)); /* nobody answers for it */
    ay_leave(region);
    pages_grant(&pages, 0, PERMISSION_EXCLUSIVE, 0, 100, 0); /* not for who is in the old space */
    assert_int_equal(ay_enter(region), -ESTALE);
    assert_int_equal(ay_open("cluster:c", NULL, &other), 0);
    ay_region *there;
    assert_int_equal(ay_region_open(other, &(ay_spec){.name = "thing"}, &there), 0);
    assert_int_equal(ay_enter(there), 0);
    ay_leave(there);
    pages_close(&pages);
    assert_true(cluster_path("c", "agent", path, sizeof path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pages_open(&pages, &own, &options, trouble, sizeof trouble), 0);
    assert_true(pages.fresh);
    forget_demands();
    assert_int_equal(pages_withdraw(&pages, 0), false);
    ay_region_close(there);
    assert_int_equal(ay_region_open(other, &(ay_spec){.name = "another"}, &there), 0);
    assert_int_equal(ay_enter(there), -ESTALE);
    ay_close(other);
    local_close(local);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_granted_and_kept),
        TEST(test_try_hears_that_it_is_busy),
        TEST(test_no_agent),
        TEST(test_what_is_said_reaches_the_agent),
        TEST(test_lost_by_withdrawal),
        TEST(test_lost_by_the_clock),
        TEST(test_too_weak_a_permission),
        TEST(test_what_a_cluster_has_not),
        TEST(test_child_owns_nothing),
        TEST(test_removed_files),
        TEST(test_a_full_queue),
        TEST(test_a_name_is_taken_away),
        TEST(test_no_room_for_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
