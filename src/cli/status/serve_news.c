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
 * at once, and a twentieth at most. A cluster's look takes a message to each machine. */
enum {
    LOOK_NS = 100000000,
    LOOK_AT_ONCE_NS = 150000000,
    LOOK_CLUSTER_NS = 250000000,
    LOOK_SHARE = 120,
    LOOK_SHARE_DEAR = 20,
    /* the search for removed spaces goes through the descriptors of all processes */
    REMOVED_SHARE = 2000
};
static const int64_t look_most_ns = 2000000000, removed_least_ns = 5000000000,
                     removed_most_ns = 60000000000;

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

static struct bulletin *bulletin_make(const struct newsroom *room)
{
    struct bulletin *news = calloc(1, sizeof *news);
    FILE *out = news ? open_memstream(&news->text, &news->length) : NULL;
    if (!out) {
        free(news);
        return NULL;
    }
    if (room->is_seen) {
        fputs("data: ", out);
        status_print_json(out, &room->seen);
    } else {
        struct json json = json_begin(out);
        fputs("event: trouble\ndata: ", out);
        json_object(&json, NULL);
        json_text(&json, "error", room->trouble);
        json_close(&json);
        json_end(&json);
    }
    fputc('\n', out);
    news->holders = 1;
    if (fclose(out) == 0)
        return news;
    bulletin_release(news);
    return NULL;
}

static int64_t within(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Those that were found last, or found anew when it is time. */
static void look_for_removed(struct newsroom *room, struct status_view *view)
{
    const int64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now < room->removed_ns && room->is_seen) {
        status_copy_removed(view, &room->seen);
        return;
    }
    const int64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    status_look_for_removed(view);
    const int64_t cost = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    room->removed_ns = now + within(cost * REMOVED_SHARE, removed_least_ns, removed_most_ns);
}

/* Takes what was seen in the place of what was seen before; whether they differ. */
static bool compare_and_keep(struct newsroom *room, struct status_view *view)
{
    const bool differs = !room->is_seen || !status_same(&room->seen, view);
    if (room->is_seen)
        status_drop(&room->seen);
    room->seen = *view;
    room->is_seen = true;
    return differs;
}

static bool look(struct newsroom *room)
{
    struct status_view view;
    char trouble[sizeof room->trouble];
    if (status_look(room->asked, &view, trouble, sizeof trouble) == 0) {
        look_for_removed(room, &view);
        return compare_and_keep(room, &view);
    }
    const bool differs = room->is_seen || strcmp(trouble, room->trouble) != 0;
    if (room->is_seen)
        status_drop(&room->seen);
    room->is_seen = false;
    strcpy(room->trouble, trouble);
    return differs;
}

static int64_t time_between_looks(int64_t cost, bool cluster)
{
    const int64_t cheap =
        cluster ? LOOK_CLUSTER_NS : within(cost * LOOK_SHARE, LOOK_NS, LOOK_AT_ONCE_NS);
    return within(cost * LOOK_SHARE_DEAR, cheap, look_most_ns);
}

bool newsroom_look(struct newsroom *room, bool anyway)
{
    /* A cluster's look mostly waits for others: they bear the cost. */
    const clockid_t clock = room->asked->cluster ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    const int64_t before = clock_ns(clock);
    bool done = true;
    if (look(room) || anyway || !room->latest) {
        struct bulletin *news = bulletin_make(room);
        done = news != NULL;
        if (news) {
            news->number = ++room->number;
            bulletin_release(room->latest);
            room->latest = news;
        }
    }
    room->next_ns = clock_ns(CLOCK_MONOTONIC) +
                    time_between_looks(clock_ns(clock) - before, room->asked->cluster != NULL);
    return done;
}

void newsroom_close(struct newsroom *room)
{
    if (room->is_seen)
        status_drop(&room->seen);
    bulletin_release(room->latest);
    *room = (struct newsroom){0};
}
