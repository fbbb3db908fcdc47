/* SPDX-License-Identifier: MIT */
/* A program that was compiled against the header of release 0.1. It calls every function, and
 * relies on what a later library could break by accident. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "afteryou-0.1.h"

#define REQUIRE(fact)                                                                              \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #fact, ay_message());           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static char path[64];

static bool always(void *arg)
{
    return *(int *)arg == 1;
}

static bool never(void *arg)
{
    return *(int *)arg == 2;
}

static int count_inside(const ay_place *place, void *arg)
{
    if (place->state == AY_INSIDE) {
        REQUIRE(place->pid == getpid());
        REQUIRE(strcmp(place->names[0], "tape") == 0 && place->names[1] == NULL);
        REQUIRE(place->unit_count == 2 && place->take == 2 && place->of == 5);
        ++*(int *)arg;
    }
    return 0;
}

static void enter_in_every_way(ay_region *region, ay_region *rival)
{
    int one = 1;
    REQUIRE(ay_enter(region) == 0 && ay_fence(region) > 0 && ay_valid(region));
    REQUIRE(ay_try(rival) == -EBUSY);
    REQUIRE(ay_enter_for(rival, 1) == -ETIMEDOUT);
    REQUIRE(ay_enter_unless(rival, always, NULL, &one, -1) == -EINTR);
    REQUIRE(ay_leave(region) == 0 && ay_leave(region) == -EPERM);
    REQUIRE(ay_enter_when(region, always, &one, 1000) == 0 && ay_leave(region) == 0);
    REQUIRE(ay_enter_when(region, never, &one, 1) == -ETIMEDOUT);
    REQUIRE(ay_on_behalf(region, 0) == 0);
}

static void hold_and_be_seen(ay_region *region)
{
    unsigned units[5];
    int inside = 0;
    REQUIRE(ay_enter(region) == 0);
    REQUIRE(ay_units(region, units, 5) == 2 && units[0] < units[1] && units[1] < 5);
    const int copy = ay_share(region);
    REQUIRE(copy >= 0 && close(copy) == 0 && ay_unshare(region) == 0);
    REQUIRE(ay_lost(region) >= 0);
    ay_view view;
    memset(&view, 0xff, sizeof view);
    REQUIRE(ay_look(path, &view, count_inside, &inside) == 0 && inside == 1);
    REQUIRE(strcmp(view.path, path) == 0 && strcmp(view.protocol, "courtesy") == 0);
    REQUIRE(view.places == 64 && view.alive == 3 && view.mode == 0600 && view.retain == 0);
    /* What a later library tells here, it tells only to those who know of it. */
    for (size_t i = 0; i < sizeof view.reserved / sizeof *view.reserved; i++)
        REQUIRE(view.reserved[i] == 0);
    REQUIRE(ay_leave(region) == 0);
}

/* Of the last word: those before it may have become fields. */
static void reserved_words_are_refused(ay_space *space)
{
    const ay_options options = {.reserved = {[7] = 1}};
    const ay_spec spec = {.name = "other", .reserved = {[7] = 1}};
    ay_space *other;
    ay_region *region;
    REQUIRE(ay_open(path, &options, &other) == -EINVAL);
    REQUIRE(ay_region_open(space, &spec, &region) == -EINVAL);
}

int main(void)
{
    char found[64];
    snprintf(path, sizeof path, "/dev/shm/afteryou-test-abi-%d", getpid());
    const ay_options options = {.places = 64, .protocol = "courtesy", .precedence = AY_IN_ORDER};
    const char *const also[] = {"printer", NULL};
    const ay_spec spec = {.name = "disk", .also = also, .mode = AY_EXCLUSIVE};
    const ay_spec of_units = {.name = "tape", .take = 2, .of = 5};
    ay_space *space;
    ay_region *region, *rival, *tapes;
    REQUIRE(ay_path(path, found, sizeof found) == 0 && strcmp(found, path) == 0);
    REQUIRE(ay_open(path, &options, &space) == 0 && ay_grace(space) == 0);
    REQUIRE(ay_region_open(space, &spec, &region) == 0);
    REQUIRE(ay_region_open(space, &spec, &rival) == 0);
    REQUIRE(ay_region_open(space, &of_units, &tapes) == 0);
    enter_in_every_way(region, rival);
    hold_and_be_seen(tapes);
    reserved_words_are_refused(space);
    REQUIRE(ay_repair(space) == 0 && ay_remove(path) == -EBUSY && ay_message()[0] != '\0');
    ay_region_close(rival);
    ay_close(space);
    REQUIRE(ay_remove(path) == 0);
    return 0;
}
