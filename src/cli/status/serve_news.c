/* SPDX-License-Identifier: MIT */
/* `afteryou status --serve`: looks, finds out whether something has changed, and words it: the JSON
 * of `status --json`, as an event of a stream. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/status/serve.h"
#include "cli/text.h"
#include "common/clock.h"

/* How long after a look the next one comes: nothing tells an observer of a change, so that it must
 * look. Looking takes less than a hundredth of a processor, as long as what happens is still told
 * at once, and a tenth at most. A cluster's look takes a message to each machine. */
enum {
    LOOK_NS = 100000000,
    LOOK_AT_ONCE_NS = 120000000,
    LOOK_CLUSTER_NS = 250000000,
    LOOK_SHARE = 120,
    LOOK_SHARE_DEAR = 10,
    /* the search for removed spaces goes through the descriptors of all processes */
    REMOVED_SHARE = 2000
};
static const int64_t look_most_ns = 2000000000, stale_ns = 1000000000,
                     removed_least_ns = 5000000000, removed_most_ns = 60000000000;

struct bulletin *bulletin_hold(struct bulletin *news)
{
    if (news)
        news->holders++;
    return news;
}

void bulletin_release(struct bulletin *news)
{
    if (news && --news->holders == 0) {
        free(news->text);
        free(news);
    }
}

/* What words it: all that was seen, or what has changed since `before`. False: it cannot. */
static bool word(FILE *out, const struct newsroom *room, const struct status_view *before)
{
    if (before) {
        fputs("event: change\ndata: ", out);
        return status_print_change(out, before, &room->seen);
    }
    if (room->is_seen) {
        fputs("data: ", out);
        status_print_json(out, &room->seen);
        return true;
    }
    struct json json = json_begin(out);
    fputs("event: trouble\ndata: ", out);
    json_object(&json, NULL);
    json_text(&json, "error", room->trouble);
    json_close(&json);
    json_end(&json);
    return true;
}

static struct bulletin *bulletin_make(const struct newsroom *room, const struct status_view *before)
{
    struct bulletin *news = calloc(1, sizeof *news);
    FILE *out = news ? open_memstream(&news->text, &news->length) : NULL;
    if (!out) {
        free(news);
        return NULL;
    }
    news->holders = 1;
    news->number = room->number;
    const bool worded = word(out, room, before);
    fputc('\n', out);
    if (fclose(out) == 0 && worded)
        return news;
    bulletin_release(news);
    return NULL;
}

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Those that were found last, or found anew when it is time, or when a space has gone: somebody may
 * be in it still. */
static void look_for_removed(struct newsroom *room, struct status_view *view)
{
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now < room->removed_ns && room->is_seen && view->count >= room->seen.count) {
        status_copy_removed(view, &room->seen);
        return;
    }
    const int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    status_look_for_removed(view);
    const int64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    room->removed_ns = now + within(cost * REMOVED_SHARE, removed_least_ns, removed_most_ns);
}

/* From now on something else is told. */
static void turn_page(struct newsroom *room, struct bulletin *change)
{
    bulletin_release(room->whole);
    bulletin_release(room->change);
    room->whole = NULL;
    room->change = change;
}

/* Takes what was seen in the place of what was seen before. */
static void keep(struct newsroom *room, struct status_view *view)
{
    struct status_view before = room->seen;
    const bool was_seen = room->is_seen, differs = !was_seen || !status_same(&before, view);
    room->seen = *view;
    room->is_seen = true;
    if (differs) {
        room->number++;
        turn_page(room, was_seen ? bulletin_make(room, &before) : NULL);
    }
    if (was_seen)
        status_drop(&before);
}

static void look(struct newsroom *room)
{
    struct status_view view;
    char trouble[sizeof room->trouble];
    if (status_look(room->asked, &view, trouble, sizeof trouble) == 0) {
        look_for_removed(room, &view);
        keep(room, &view);
        return;
    }
    if (room->is_seen || strcmp(trouble, room->trouble) != 0 || room->number == 0) {
        room->number++;
        turn_page(room, NULL);
    }
    if (room->is_seen)
        status_drop(&room->seen);
    room->is_seen = false;
    strcpy(room->trouble, trouble);
}

static int64_t time_between_looks(int64_t cost, bool cluster)
{
    const int64_t cheap =
        cluster ? LOOK_CLUSTER_NS : within(cost * LOOK_SHARE, LOOK_NS, LOOK_AT_ONCE_NS);
    return within(cost * LOOK_SHARE_DEAR, cheap, look_most_ns);
}

void newsroom_look(struct newsroom *room)
{
    /* A cluster's look mostly waits for others: they bear the cost. */
    const clockid_t clock = room->asked->cluster ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const int64_t before = clock_ns(clock);
    look(room);
    room->next_ns = clock_ns(CLOCK_MONOTONIC) +
                    time_between_looks(clock_ns(clock) - before, room->asked->cluster != NULL);
}

struct bulletin *newsroom_news(struct newsroom *room, uint64_t heard, bool changes)
{
    if (heard == room->number)
        return NULL;
    /* Nobody has looked for long: who comes now waits for the next look, which is due. */
    if (heard == 0 && clock_ns(CLOCK_MONOTONIC) > room->next_ns + stale_ns)
        return NULL;
    if (changes && room->change && heard + 1 == room->number)
        return room->change;
    /* One that hears the first of it also hears what time it is: all is worded anew. */
    if (heard == 0) {
        bulletin_release(room->whole);
        room->whole = NULL;
    }
    if (!room->whole)
        room->whole = bulletin_make(room, NULL);
    return room->whole;
}

void newsroom_close(struct newsroom *room)
{
    if (room->is_seen)
        status_drop(&room->seen);
    turn_page(room, NULL);
    *room = (struct newsroom){0};
}
