/* SPDX-License-Identifier: MIT */
/* Whom an agent and its clients trust: what another user made or could change is neither touched
 * nor believed. Needs root, to be others. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "afteryou.h"
#include "agent/host/directory.h"
#include "agent/host/pages.h"
#include "common/clusters.h"

enum { STRANGER = 4711, NOBODY = 4712, SKIPPED = 77 };

/* sticky and open to all, as /dev/shm is */
static char sandbox[] = "/dev/shm/afteryou-trust-XXXXXX";
static char clusters[64], secret[64], trouble[PATH_MAX + 256];

static int set_up(void **state)
{
    (void)state;
    strcpy(sandbox, "/dev/shm/afteryou-trust-XXXXXX");
    assert_non_null(mkdtemp(sandbox));
    assert_int_equal(chmod(sandbox, 01777), 0);
    snprintf(clusters, sizeof clusters, "%s/clusters", sandbox);
    snprintf(secret, sizeof secret, "%s/secret", sandbox);
    setenv(CLUSTERS_ENVIRONMENT, clusters, 1);
    assert_int_equal(mkdir(secret, 0700), 0);
    char path[96];
    snprintf(path, sizeof path, "%s/file", secret);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", sandbox);
    return system(command);
}

/* What `act` returns, to a child that is this user. */
static int as(uid_t user, int (*act)(void))
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(user) != 0 || setuid(user) != 0)
            _exit(99);
        _exit(act());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int opens_directory(unsigned mode, gid_t group, struct directory *own)
{
    return directory_open(own, "c", mode, group, trouble, sizeof trouble);
}

/* An agent with the directory and the pages of "c", and nothing behind them. 0 or an errno. */
static int be_an_agent(void)
{
    struct directory own;
    struct pages pages;
    ay_space *space;
    char path[PATH_MAX];
    const struct pages_options options = {
        .cluster = "c", .protocol = "token", .lease = 1000000, .grace = 2000000};
    int error = opens_directory(0666, (gid_t)-1, &own);
    if (error || (error = pages_open(&pages, &own, &options, trouble, sizeof trouble)) != 0)
        return -error;
    struct stat status;
    cluster_path("c", "space", path, sizeof path);
    error = ay_open(path, &(ay_options){.mode = 0666}, &space);
    if (!error && stat(path, &status) == 0)
        pages_bind_space(&pages, status.st_dev, status.st_ino);
    pages_announce(&pages);
    return -error;
}

static int be_a_client(void)
{
    ay_space *space;
    return -ay_open("cluster:c", NULL, &space);
}

static int make_clusters(void)
{
    return mkdir(clusters, 0755) == 0 && chmod(clusters, 0777) == 0 ? 0 : errno;
}

static int link_clusters_to_secret(void)
{
    return symlink(secret, clusters) == 0 ? 0 : errno;
}

static int link_cluster_to_secret(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/c", clusters);
    return make_clusters() == 0 && symlink(secret, path) == 0 ? 0 : errno;
}

static mode_t mode_of(const char *path)
{
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

static void assert_secret_is_safe(void)
{
    char path[96];
    struct stat status;
    snprintf(path, sizeof path, "%s/file", secret);
    assert_int_equal(mode_of(secret), 0700);
    assert_int_equal(mode_of(path), 0600);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_gid, 0);
}

static void test_an_agents_clients(void **state)
{
    (void)state;
    assert_int_equal(be_an_agent(), 0);
    assert_int_equal(be_a_client(), 0);
    assert_int_equal(as(STRANGER, be_a_client), 0); /* root's agent is believed by all */
}

static void test_a_false_agent_is_not_believed(void **state)
{
    (void)state;
    assert_int_equal(as(STRANGER, be_an_agent), 0);
    assert_int_equal(as(STRANGER, be_a_client), 0); /* one's own is */
    assert_int_equal(as(NOBODY, be_a_client), EACCES);
    assert_int_equal(be_a_client(), EACCES);
    assert_non_null(strstr(ay_message(), "4711"));
}

/* Pages of another user's in a directory of root's. */
static void test_pages_of_another_are_not_believed(void **state)
{
    (void)state;
    char path[PATH_MAX];
    assert_int_equal(be_an_agent(), 0);
    assert_true(cluster_path("c", "agent", path, sizeof path));
    assert_int_equal(chown(path, STRANGER, STRANGER), 0);
    assert_int_equal(be_a_client(), EACCES);
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(be_a_client(), EACCES);
    assert_int_equal(chmod(path, 0644), 0);
    assert_int_equal(be_a_client(), 0);
    assert_true(cluster_path("c", "space", path, sizeof path));
    assert_int_equal(chown(path, STRANGER, STRANGER), 0);
    assert_int_equal(be_a_client(), EACCES);
}

static void test_a_directory_of_another_is_left_alone(void **state)
{
    (void)state;
    struct directory own;
    assert_int_equal(as(STRANGER, make_clusters), 0);
    assert_int_equal(opens_directory(0666, STRANGER, &own), -EACCES);
    assert_non_null(strstr(trouble, clusters));
    assert_int_equal(mode_of(clusters), 0777);
    char path[96];
    snprintf(path, sizeof path, "%s/c", clusters);
    assert_int_equal(access(path, F_OK), -1);
}

static void test_links_are_not_followed(void **state)
{
    (void)state;
    struct directory own;
    assert_int_equal(as(STRANGER, link_clusters_to_secret), 0);
    assert_true(opens_directory(0666, STRANGER, &own) < 0);
    assert_secret_is_safe();
    assert_int_equal(unlink(clusters), 0);
    assert_int_equal(as(STRANGER, link_cluster_to_secret), 0);
    assert_true(opens_directory(0666, STRANGER, &own) < 0);
    assert_secret_is_safe();
    assert_int_equal(chown(clusters, 0, 0), 0); /* even if the directory were root's meanwhile */
    assert_int_equal(chmod(clusters, 0755), 0);
    assert_true(opens_directory(0666, STRANGER, &own) < 0);
    assert_secret_is_safe();
}

/* Somebody could write in the cluster's directory once, and has left links and files of his own. */
static void test_what_lies_in_the_directory_is_not_trusted(void **state)
{
    (void)state;
    static const char *const names[] = {"agent", "space"};
    struct directory own;
    char path[PATH_MAX], target[96];
    snprintf(target, sizeof target, "%s/file", secret);
    assert_int_equal(opens_directory(0600, (gid_t)-1, &own), 0);
    for (unsigned at = 0; at < 2; at++) {
        assert_true(cluster_path("c", names[at], path, sizeof path));
        assert_int_equal(symlink(target, path), 0);
        assert_true(directory_file(&own, names[at], O_RDWR, 0666, trouble, sizeof trouble) < 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(link(target, path), 0); /* a second name of it is no better */
        assert_int_equal(directory_file(&own, names[at], O_RDWR, 0666, trouble, sizeof trouble),
                         -EPERM);
        assert_int_equal(unlink(path), 0);
        close(open(path, O_WRONLY | O_CREAT, 0600));
        assert_int_equal(chown(path, STRANGER, STRANGER), 0);
        assert_int_equal(directory_file(&own, names[at], O_RDWR, 0666, trouble, sizeof trouble),
                         -EPERM);
        assert_int_equal(mode_of(path), 0600);
        assert_int_equal(unlink(path), 0);
    }
    assert_secret_is_safe();
    directory_close(&own);
}

static void test_sockets(void **state)
{
    (void)state;
    struct directory own;
    struct stat status;
    char path[PATH_MAX];
    umask(0077);
    assert_int_equal(opens_directory(0660, STRANGER, &own), 0);
    assert_int_equal(mode_of(own.path), 0750);
    assert_int_equal(mode_of(clusters), 0755);     /* whatever the mask */
    for (unsigned times = 0; times < 2; times++) { /* the second takes the place of the first */
        const int fd = directory_socket(&own, "socket", SOCK_DGRAM, trouble, sizeof trouble);
        assert_true(fd >= 0);
        assert_true(cluster_path("c", "socket", path, sizeof path));
        assert_int_equal(mode_of(path), 0660);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_gid, STRANGER);
        close(fd);
    }
    umask(0022);
    assert_int_equal(unlink(path), 0);
    snprintf(trouble, sizeof trouble, "%s/file", secret);
    assert_int_equal(symlink(trouble, path), 0);
    assert_int_equal(directory_socket(&own, "socket", SOCK_DGRAM, trouble, sizeof trouble), -1);
    /* sticky: nobody can replace what is root's */
    snprintf(path, sizeof path, "%s/elsewhere", sandbox);
    const int elsewhere = directory_socket_at(&own, path, SOCK_STREAM, trouble, sizeof trouble);
    assert_true(elsewhere >= 0);
    close(elsewhere);
    assert_int_equal(rmdir(own.path), -1);
    setenv(CLUSTERS_ENVIRONMENT, "/dev/shm", 1); /* others may add to it */
    struct directory other;
    assert_int_equal(opens_directory(0600, (gid_t)-1, &other), -EACCES);
    setenv(CLUSTERS_ENVIRONMENT, clusters, 1);
    assert_secret_is_safe();
    directory_close(&own);
}

static void test_no_socket_where_others_could_replace_it(void **state)
{
    (void)state;
    struct directory own;
    char path[PATH_MAX];
    assert_int_equal(opens_directory(0660, STRANGER, &own), 0);
    assert_int_equal(rmdir(own.path), 0);
    assert_int_equal(rmdir(clusters), 0);
    assert_int_equal(as(STRANGER, make_clusters), 0);
    snprintf(path, sizeof path, "%s/metrics", clusters);
    assert_int_equal(directory_socket_at(&own, path, SOCK_STREAM, trouble, sizeof trouble), -1);
    assert_int_equal(access(path, F_OK), -1);
    directory_close(&own);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_agents_clients),
        TEST(test_a_false_agent_is_not_believed),
        TEST(test_pages_of_another_are_not_believed),
        TEST(test_a_directory_of_another_is_left_alone),
        TEST(test_links_are_not_followed),
        TEST(test_what_lies_in_the_directory_is_not_trusted),
        TEST(test_sockets),
        TEST(test_no_socket_where_others_could_replace_it),
    };
    if (geteuid() != 0) {
        puts("SKIP: needs root, to be other users");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
