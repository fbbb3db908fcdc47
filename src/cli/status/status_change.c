/* SPDX-License-Identifier: MIT */
/* What has changed between two looks, as JSON: docs/json.md. Of thousands of places a few change at
 * a time, and who follows them need not read all of them again. */
#include <stdlib.h>
#include <string.h>

#include "cli/status/status.h"
#include "cli/text.h"

/* The same spaces, in the same order: places are told apart by their numbers, which those of a
 * cluster's machines have not. */
static bool are_comparable(const struct status_view *before, const struct status_view *after)
{
    if (after->asked->cluster || before->count != after->count)
        return false;
    for (size_t at = 0; at < after->count; at++)
        if (strcmp(before->space[at].path, after->space[at].path) != 0 ||
            before->space[at].view.created_s != after->space[at].view.created_s ||
            before->space[at].view.places != after->space[at].view.places)
            return false;
    return true;
}

/* Who was in which place. An item that both looks have is taken out as soon as it is met. */
struct earlier {
    const struct sighting **item; /* by place; NULL: nobody */
    unsigned places;
};

static bool remember(const struct status_words *asked, const struct sightings *space,
                     struct earlier *earlier)
{
    *earlier = (struct earlier){.places = space->view.places,
                                .item = calloc(space->view.places + 1u, sizeof *earlier->item)};
    if (!earlier->item)
        return false;
    for (size_t at = 0; at < space->count; at++)
        if (space->item[at].seen.place < earlier->places && status_is_told(asked, &space->item[at]))
            earlier->item[space->item[at].seen.place] = &space->item[at];
    return true;
}

/* The same but for its number in the queue, which changes for all when one of them leaves. */
static bool is_moved_up(const struct sighting *before, const struct sighting *after)
{
    struct sighting there = *before;
    there.seen.order = after->seen.order;
    return status_same_place(&there, after);
}

/* The places that are not as they were; `earlier` keeps those that are gone, and those that only
 * moved up are left for print_orders(). */
static void print_changed(struct json *json, const struct status_words *asked,
                          const struct sightings *space, struct earlier *earlier)
{
    json_list(json, "seen");
    for (size_t at = 0; at < space->count; at++) {
        const struct sighting *item = &space->item[at];
        if (item->seen.place >= earlier->places || !status_is_told(asked, item))
            continue;
        const struct sighting **before = &earlier->item[item->seen.place];
        if (!*before || !is_moved_up(*before, item))
            status_print_place(json, item);
        else if ((*before)->seen.order != item->seen.order)
            continue;
        *before = NULL;
    }
    json_close(json);
}

static void print_orders(struct json *json, const struct status_words *asked,
                         const struct sightings *space, struct earlier *earlier)
{
    json_list(json, "orders");
    for (size_t at = 0; at < space->count; at++) {
        const struct sighting *item = &space->item[at];
        if (item->seen.place >= earlier->places || !status_is_told(asked, item) ||
            !earlier->item[item->seen.place])
            continue;
        earlier->item[item->seen.place] = NULL;
        json_list(json, NULL);
        json_number(json, NULL, item->seen.place);
        json_number(json, NULL, item->seen.order);
        json_close(json);
    }
    json_close(json);
}

static bool print_space(struct json *json, const struct status_words *asked,
                        const struct sightings *before, const struct sightings *after)
{
    struct earlier earlier;
    if (!remember(asked, before, &earlier))
        return false;
    json_object(json, NULL);
    status_describe_space(json, after);
    print_changed(json, asked, after, &earlier);
    print_orders(json, asked, after, &earlier);
    json_list(json, "gone");
    for (unsigned place = 0; place < earlier.places; place++)
        if (earlier.item[place])
            json_number(json, NULL, place);
    json_close(json);
    status_print_cycles(json, after);
    json_close(json);
    free(earlier.item);
    return true;
}

bool status_print_change(FILE *out, const struct status_view *before,
                         const struct status_view *after)
{
    struct json json = json_begin(out);
    bool done = are_comparable(before, after);
    if (!done)
        return false;
    status_begin_json(&json);
    json_list(&json, "spaces");
    for (size_t at = 0; done && at < after->count; at++)
        if (!status_same_space(&before->space[at], &after->space[at]))
            done = print_space(&json, after->asked, &before->space[at], &after->space[at]);
    json_close(&json);
    status_print_troubles(&json, after);
    json_close(&json);
    json_end(&json);
    return done;
}
