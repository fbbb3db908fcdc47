/* SPDX-License-Identifier: MIT */
/* Looking on: what an observer sees, as the space goes through a passage, a queue and a death. */
#include "harness.h"

struct seen {
    char text[2000];
};

/* One line a place: "0 inside x,y exclusive for -1 order 0 units 0 1". */
static int note(const ay_place *place, void *into)
{
    static const char *const states[] = {"idle", "waiting", "inside", "dead inside"};
    struct seen *seen = into;
    size_t at = strlen(seen->text);
    at += (size_t)snprintf(seen->text + at, sizeof seen->text - at, "%u %s%s ", place->place,
                           states[place->state], place->alive ? "" : " (gone)");
    for (const char *const *name = place->names; *name; name++)
        at += (size_t)snprintf(seen->text + at, sizeof seen->text - at, "%s,", *name);
    at += (size_t)snprintf(seen->text + at, sizeof seen->text - at, " for %d order %d units",
                           place->waits_for, (int)place->order);
    for (size_t unit = 0; unit < place->unit_count; unit++)
        at += (size_t)snprintf(seen->text + at, sizeof seen->text - at, " %u", place->units[unit]);
    snprintf(seen->text + at, sizeof seen->text - at, "\n");
    CHECK(place->pid > 0 && place->start_time > 0 && place->pid_namespace > 0 &&
          place->uid == geteuid());
    CHECK(strstr(place->command, "look"));
    return 0;
}

static void expect(const char *expected)
{
    struct seen seen = {""};
    ay_view view;
    CHECK_EQUAL(ay_look(test_space, &view, note, &seen), 0);
    if (strcmp(seen.text, expected) != 0)
        FAIL("seen:\n%snot:\n%s", seen.text, expected);
    CHECK(strcmp(view.path, test_space) == 0 && strcmp(view.protocol, "courtesy") == 0);
    CHECK_EQUAL(view.places, AY_PLACES_MOST);
    CHECK_EQUAL(view.mode, 0600);
    CHECK_EQUAL(view.retain, 0);
    for (size_t at = 0; at < sizeof view.reserved / sizeof *view.reserved; at++)
        CHECK_EQUAL(view.reserved[at], 0);
}

static int stop_at_once(const ay_place *place, void *unused)
{
    (void)place;
    (void)unused;
    return 7;
}

static pid_t start_waiting(unsigned waiting)
{
    const pid_t pid = spawn();
    if (pid == 0) {
        ay_region *region = open_region(open_space(NULL), (ay_spec){.name = "x"});
        CHECK(ay_enter(region) >= 0);
        for (;;)
            pause();
    }
    struct seen seen;
    unsigned count;
    do {
        count = 0;
        seen.text[0] = '\0';
        CHECK_EQUAL(ay_look(test_space, NULL, note, &seen), 0);
        for (const char *at = seen.text; (at = strstr(at, "waiting")); at++)
            count++;
    } while (count != waiting);
    return pid;
}

static int note_since(const ay_place *place, void *since)
{
    if (place->state == AY_INSIDE)
        *(int64_t *)since = place->since_ns;
    return 0;
}

/* Since when somebody is inside is known, but of who went in by the express lane: it does not look
 * at a clock. */
static void test_since(void)
{
    unlink(test_space);
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    int64_t since = -1;
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_look(test_space, NULL, note_since, &since), 0);
    CHECK(since > 0 && since <= now_ms() * 1000000 + 1000000);
    CHECK_EQUAL(ay_leave(region), 0);
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_look(test_space, NULL, note_since, &since), 0);
    CHECK_EQUAL(since, 0);
    ay_close(space);
}

int main(void)
{
    static const char *const also[] = {"y", NULL};
    begin_test("look");
    CHECK_EQUAL(ay_look(test_space, NULL, NULL, NULL), -ENOENT);
    ay_space *space = open_space(NULL);
    expect("");
    ay_region *a = open_region(space, (ay_spec){.name = "x", .also = also});
    ay_region *b = open_region(space, (ay_spec){.name = "u", .take = 2, .of = 3});
    CHECK_EQUAL(ay_look(test_space, NULL, stop_at_once, NULL), 7);
    expect("0 idle x,y, for -1 order 0 units\n1 idle u, for -1 order 0 units\n");
    CHECK_EQUAL(ay_enter(a), 0);
    CHECK_EQUAL(ay_enter(b), 0);
    expect("0 inside x,y, for -1 order 0 units\n1 inside u, for -1 order 0 units 0 1\n");
    CHECK_EQUAL(ay_leave(b), 0);
    const pid_t first = start_waiting(1), second = start_waiting(2);
    expect("0 inside x,y, for -1 order 0 units\n1 idle u, for -1 order 0 units\n"
           "2 waiting x, for 0 order 1 units\n3 waiting x, for 2 order 2 units\n");
    kill_and_reap(second);
    CHECK_EQUAL(ay_leave(a), 0);
    struct seen seen;
    do {
        seen.text[0] = '\0';
        CHECK_EQUAL(ay_look(test_space, NULL, note, &seen), 0);
    } while (!strstr(seen.text, "2 inside"));
    kill_and_reap(first);
    expect("0 idle x,y, for -1 order 0 units\n1 idle u, for -1 order 0 units\n"
           "2 dead inside (gone) x, for -1 order 0 units\n3 idle (gone) x, for -1 order 0 units\n");
    CHECK_EQUAL(ay_enter(a), AY_AFTER_DEATH);
    expect("0 inside x,y, for -1 order 0 units\n1 idle u, for -1 order 0 units\n"
           "2 idle (gone) x, for -1 order 0 units\n3 idle (gone) x, for -1 order 0 units\n");
    ay_close(space);
    test_since();
    return 0;
}
