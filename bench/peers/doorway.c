/* SPDX-License-Identifier: MIT */
/* Whether a member has passed the doorway of `courtesy`: its place's word, read from the space's
 * file. */
#include "doorway.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/passage/words.h"
#include "protocols/registers/courtesy/courtesy_word.h"

/* In the meeting's room: the place of each member, plus one. */
struct shown {
    _Atomic unsigned place[PLACES_OPEN_MOST];
};

_Static_assert(sizeof(struct shown) <= PEER_ROOM, "it has room");

static const char *mapped; /* the file, in this process */

static int map_file(struct meeting *meeting)
{
    const int descriptor = open(meeting->file, O_RDONLY | O_CLOEXEC);
    struct stat state;
    if (descriptor < 0 || fstat(descriptor, &state) != 0)
        return peer_fail(meeting, -errno, "%s: %s", meeting->file, strerror(errno));
    void *at = mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (at == MAP_FAILED)
        return peer_fail(meeting, -errno, "mmap %s: %s", meeting->file, strerror(errno));
    mapped = at;
    return 0;
}

int doorway_show(struct member *member)
{
    struct shown *shown = (struct shown *)member->meeting->room;
    const int result = mapped ? 0 : map_file(member->meeting);
    atomic_store(&shown->place[member->self], ((const ay_region *)member->lock)->at.fixed.self + 1);
    return result;
}

bool doorway_passed(const struct member *self, unsigned other)
{
    const struct shown *shown = (const struct shown *)self->meeting->room;
    const unsigned place = atomic_load_explicit(&shown->place[other], memory_order_relaxed);
    if (place == 0)
        return false;
    const struct hot *hot =
        (const struct hot *)(mapped +
                             hot_offset(((const struct header *)mapped)->granule, place - 1));
    switch (courtesy_state(atomic_load(&hot->word))) {
    case COURTESY_QUEUED:
    case COURTESY_ASLEEP:
    case COURTESY_CLAIMS:
        return true;
    default:
        return false;
    }
}
