/* SPDX-License-Identifier: MIT */
/* Who is in the way, in words: for those who were refused, or wait. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/run/run.h"
#include "cli/text.h"

enum { NAMED_MOST = 3 };

struct holders {
    const struct run_words *asked;
    ay_state state; /* of those looked for */
    unsigned count;
    char *text;
    size_t room, length;
};

bool holders_is_asked_for(const struct run_words *asked, const char *name)
{
    if (strcmp(name, asked->spec.name) == 0)
        return true;
    for (const char *const *also = asked->also; *also; also++)
        if (strcmp(name, *also) == 0)
            return true;
    return false;
}

static bool is_in_the_way(const struct holders *holders, const ay_place *place)
{
    if (place->state != holders->state || !place->alive || place->pid == getpid())
        return false;
    for (const char *const *name = place->names; *name; name++)
        if (holders_is_asked_for(holders->asked, *name))
            return true;
    return false;
}

static int add_holder(const ay_place *place, void *arg)
{
    struct holders *holders = arg;
    if (!is_in_the_way(holders, place) || holders->count++ >= NAMED_MOST)
        return 0;
    char command[256], since[32], lasts[32], when[80] = "";
    text_command(place, command, sizeof command);
    if (place->since_ns) { /* else it did not look at a clock */
        text_moment(place->since_ns, since, sizeof since);
        text_duration(text_now() - place->since_ns, lasts, sizeof lasts);
        snprintf(when, sizeof when, " since %s, for %s", since, lasts);
    }
    const int length =
        snprintf(holders->text + holders->length, holders->room - holders->length,
                 "%spid %d (%s)%s%s", holders->count > 1 ? "; " : "", place->pid, command, when,
                 place->state == AY_INSIDE && place->conditional ? ", testing its condition" : "");
    if (length > 0 && (size_t)length < holders->room - holders->length)
        holders->length += (size_t)length;
    return 0;
}

static unsigned describe(const struct run_words *asked, ay_state state, const char *what,
                         char *text, size_t room)
{
    struct holders holders = {.asked = asked, .state = state, .text = text, .room = room};
    holders.length = (size_t)snprintf(text, room, "%s ", what);
    ay_look(asked->space, NULL, add_holder, &holders);
    if (holders.count > NAMED_MOST)
        snprintf(text + holders.length, room - holders.length, "; and %u more",
                 holders.count - NAMED_MOST);
    return holders.count;
}

void holders_describe(const struct run_words *asked, char *text, size_t room)
{
    if (describe(asked, AY_INSIDE, "inside is", text, room) > 0 ||
        describe(asked, AY_WAITING, "nobody is inside, before me waits", text, room) > 0)
        return;
    if (asked->cluster)
        snprintf(
            text, room,
            "nobody is inside on this machine; 'afteryou status --cluster %s' tells of the others",
            asked->cluster);
    else
        snprintf(text, room, "%s",
                 asked->when ? "nobody is inside, but the test of --when fails"
                             : "who was inside has just left");
}
