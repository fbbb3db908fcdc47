/* SPDX-License-Identifier: MIT */
/* Links between agents: their figures, the files and addresses that they need, and their
 * descriptors. */
#include "pair.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_figures(void **state)
{
    (void)state;
    struct link_figures figures;
    link_both(secured());
    assert_true(send_text(&a, &b, "one"));
    UNTIL(b.packets == 1);
    UNTIL(links_figures(a.links, 2, &figures) && figures.round_trip > 0);
    assert_true(figures.up && figures.dialled);
    assert_int_equal(figures.packets_out, 1);
    assert_int_equal(figures.packets_in, 0);
    UNTIL(links_figures(b.links, 1, &figures) && figures.round_trip > 0);
    assert_true(figures.up && !figures.dialled);
    assert_int_equal(figures.packets_in, 1);
    assert_false(links_figures(a.links, 7, &figures));
    assert_true(links_are_secured(a.links));
    close_both();
}

static void refuses(const char *key, const char *listen, const char *says)
{
    char trouble[256] = "";
    const struct links_options options = {.cluster = "c", .key_file = key, .listen = listen};
    assert_null(links_open(&options, &(struct links_events){0}, trouble, sizeof trouble));
    if (!strstr(trouble, says))
        fail_msg("'%s' does not say '%s'", trouble, says);
}

static void test_what_cannot_be_opened(void **state)
{
    (void)state;
    char readable[128], brief[128], trouble[256];
    refuses("/nonexistent", NULL, "No such file");
    refuses(key_path, "localhost", "no numeric address");
    refuses(key_path, "0.0.0.0", "name one");
    refuses(key_path, "::", "name one");
    snprintf(readable, sizeof readable, "%s", key_path);
    assert_int_equal(chmod(readable, 0640), 0);
    refuses(readable, NULL, "chmod 600");
    assert_int_equal(chmod(readable, 0600), 0);
    snprintf(brief, sizeof brief, "%s.brief", key_path);
    const int fd = open(brief, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "too short", 9), 9);
    close(fd);
    refuses(brief, NULL, "32 to 4096 bytes");
    unlink(brief);
    end_open(&a, "a", 1, 100);
    struct links_options options = *secured();
    options.port = end_port(&a);
    assert_null(links_open(&options, &(struct links_events){0}, trouble, sizeof trouble));
    assert_non_null(strstr(trouble, "in use"));
    end_close(&a);
}

/* Where to listen may be known late, and taken by another: it is had as soon as that has gone. */
static void test_listening_later(void **state)
{
    (void)state;
    struct link_endpoint where;
    struct links_options later = *secured();
    later.listen = "";
    end_open(&b, "b", 2, 200);
    links_endpoint(b.links, &where);
    end_open_as(&a, "a", 1, 100, &later);
    links_listen(a.links, &where);
    UNTIL(a.lines == 1);
    assert_non_null(strstr(a.line, "not-listening at=127.0.0.1:"));
    end_close(&b);
    end_open_as(&b, "b", 2, 200, &later);
    introduce(&b, &a);
    UNTIL(a.ups == 1 && b.ups == 1);
    where.port = where.port < UINT16_MAX ? where.port + 1 : 1024; /* links that are up stay so */
    links_listen(a.links, &where);
    assert_int_equal(end_port(&a), where.port);
    run_for(50);
    assert_int_equal(a.downs + b.downs, 0);
    close_both();
}

enum { DESCRIPTORS_MOST = 1024 };

/* Which ones are open: those that were not `before` are closed by exec. */
static unsigned see_descriptors(bool open_now[DESCRIPTORS_MOST], const bool *before)
{
    unsigned count = 0;
    for (int fd = 0; fd < DESCRIPTORS_MOST; fd++) {
        const int flags = fcntl(fd, F_GETFD);
        open_now[fd] = flags >= 0;
        count += open_now[fd];
        if (open_now[fd] && before && !before[fd])
            assert_true(flags & FD_CLOEXEC);
    }
    return count;
}

static void test_descriptors(void **state)
{
    (void)state;
    bool before[DESCRIPTORS_MOST], now[DESCRIPTORS_MOST];
    const unsigned count = see_descriptors(before, NULL);
    link_both(secured());
    assert_true(see_descriptors(now, before) > count);
    close_both();
    assert_int_equal(see_descriptors(now, before), count);
}

/* In a process that was started without 0, 1 and 2. */
static void test_never_a_standard_one(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        for (int fd = 0; fd <= 2; fd++)
            close(fd);
        link_both(secured());
        for (int fd = 0; fd <= 2; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                _exit(1);
        _exit(a.ups == 1 && b.ups == 1 ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_what_cannot_be_opened),
        cmocka_unit_test(test_listening_later),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_never_a_standard_one),
    };
    return cmocka_run_group_tests_name("links between agents", tests, make_keys, remove_keys);
}
