/* SPDX-License-Identifier: MIT */
/* Mappings of a space that may be written: a process's own places, for as long as it has them; and
 * for a moment, those of others; likewise the header and the tags (the pen), which who has many
 * places keeps.
 *
 * Own places are mapped where they would lie if all of the file were (the arena): so those next to
 * each other are one mapping to the kernel, which allows a process some 65,000, and a page of hot
 * lines that several of them share is mapped once.
 *
 *   nodes | hot lines | cold granules | granules of registers
 *
 * A node lies as far before its hot lines as every other (the kernel's futex_offset), whatever its
 * space.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/assert.h"
#include "memory/memory.h"

enum { PEN_KEPT = 16 }; /* who has so many places is about to claim more */

/* The machine's page in which that offset of the file lies; the smallest granule fits into it. */
static bool map_page(const ay_space *space, char *at, size_t offset)
{
    return mmap(at, ay__process.page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, space->fd,
                (off_t)begin_of(ay__process.page, offset)) != MAP_FAILED &&
           madvise(at, ay__process.page, MADV_DONTFORK) == 0;
}

/* It can store there no more. If the kernel has no memory for that, it just does not. */
static void hide_page(char *at)
{
    const size_t page = ay__process.page;
    if (mmap(at, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
        MAP_FAILED)
        madvise(at, page, MADV_DONTFORK);
}

int ay__map_place(const ay_space *space, unsigned place, struct claim *claim)
{
    const size_t page = ay__process.page, granule = space->granule,
                 hot = hot_offset(granule, place);
    char *pages = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return ay__fail(-errno, "cannot map a place: %s", strerror(errno));
    if (!map_page(space, pages, hot) ||
        !map_page(space, pages + page, cold_offset(granule, space->places, place))) {
        const int error = errno;
        munmap(pages, 2 * page);
        return ay__fail(-error, "cannot map a place: %s", strerror(error));
    }
    *claim = (struct claim){.pages = pages,
                            .hot = (struct hot *)(pages + hot % page),
                            .cold = (struct cold *)(pages + page),
                            .place = place};
    return 0;
}

void ay__unmap_place(struct claim *claim)
{
    munmap(claim->pages, 2 * ay__process.page);
    *claim = (struct claim){.place = claim->place};
}

struct header *ay__map_header(const ay_space *space)
{
    void *page = mmap(NULL, ay__process.page, PROT_READ | PROT_WRITE, MAP_SHARED, space->fd, 0);
    if (page != MAP_FAILED)
        return page;
    ay__fail(-errno, "cannot map the header: %s", strerror(errno));
    return NULL;
}

static size_t tags_size(const ay_space *space)
{
    return space->size - space->tags_at;
}

int ay__pen_take(ay_space *space)
{
    if (space->pen.header)
        return 0;
    struct pen pen = {.header = ay__map_header(space)};
    if (!pen.header)
        return -ENOMEM;
    void *tags = mmap(NULL, tags_size(space), PROT_READ | PROT_WRITE, MAP_SHARED, space->fd,
                      (off_t)space->tags_at);
    const bool mapped = tags != MAP_FAILED;
    if (!mapped || madvise(tags, tags_size(space), MADV_DONTFORK) != 0 ||
        madvise(pen.header, ay__process.page, MADV_DONTFORK) != 0) {
        const int error = errno;
        munmap(pen.header, ay__process.page);
        if (mapped)
            munmap(tags, tags_size(space));
        return ay__fail(-error, "cannot map the tags of the places: %s", strerror(error));
    }
    pen.tags = tags;
    space->pen = pen;
    return 0;
}

static void unmap_pen(ay_space *space)
{
    if (space->pen.header) {
        munmap(space->pen.header, ay__process.page);
        munmap(space->pen.tags, tags_size(space));
    }
    space->pen = (struct pen){0};
}

void ay__pen_lay_down(ay_space *space)
{
    if (space->arena.places < PEN_KEPT && !space->arena.keeps_pen)
        unmap_pen(space);
}

static size_t arena_size(const ay_space *space)
{
    return 2 * NODE_DISTANCE + (space->granules - 1) * (size_t)space->places * ay__process.page;
}

/* Reserves addresses, and no memory. Returns an errno. */
static int make_arena(ay_space *space)
{
    const size_t size = arena_size(space);
    struct arena arena = {.users = calloc(NODE_DISTANCE / ay__process.page, sizeof *arena.users),
                          .mine = calloc(space->places / 8 + 1, 1)};
    char *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!arena.users || !arena.mine || at == MAP_FAILED || madvise(at, size, MADV_DONTFORK) != 0 ||
        mprotect(at, NODE_DISTANCE, PROT_READ | PROT_WRITE) != 0) {
        const int error = arena.users && arena.mine ? errno : ENOMEM;
        free(arena.users);
        free(arena.mine);
        if (at != MAP_FAILED)
            munmap(at, size);
        return error;
    }
    madvise(at, NODE_DISTANCE, MADV_NOHUGEPAGE); /* a node touches 4 KB of it, and clears no 2 MB */
    arena.nodes = at;
    space->arena = arena;
    return 0;
}

/* If it cannot be had now, the first place tries again, and says why. */
void ay__arena_prepare(ay_space *space)
{
    assert_required(ay__mutex_is_held() && !space->arena.nodes);
    make_arena(space);
    /* at whose lives it looks: all pages at once, and none that nobody has allocated */
    const unsigned used = ay__used(space), walked = used < WALKED ? used : WALKED;
    madvise((void *)(uintptr_t)space->base,
            begin_of(ay__process.page, hot_offset(space->granule, walked)), MADV_POPULATE_READ);
}

void ay__arena_end(ay_space *space, bool mapped)
{
    if (mapped) {
        unmap_pen(space);
        if (space->arena.nodes)
            munmap(space->arena.nodes, arena_size(space));
    }
    free(space->arena.users);
    free(space->arena.mine);
    space->arena = (struct arena){0};
}

bool ay__arena_has(const ay_space *space, unsigned place)
{
    return space->arena.mine && space->arena.mine[place / 8] >> place % 8 & 1;
}

static char *hot_page(const ay_space *space, unsigned place)
{
    return space->arena.nodes + NODE_DISTANCE +
           begin_of(ay__process.page, hot_offset(space->granule, place));
}

static unsigned short *users_of(const ay_space *space, unsigned place)
{
    return &space->arena.users[hot_offset(space->granule, place) / ay__process.page];
}

static void leave_hot(ay_space *space, unsigned place)
{
    if (--*users_of(space, place) == 0)
        hide_page(hot_page(space, place));
}

int ay__arena_map(ay_space *space, struct claim *claim)
{
    assert_required(ay__mutex_is_held() && claim->place < space->places);
    const unsigned place = claim->place;
    const size_t page = ay__process.page, granule = space->granule,
                 hot = hot_offset(granule, place);
    const int error = space->arena.nodes ? 0 : make_arena(space);
    if (error)
        return ay__fail(-error, "cannot make room for places: %s", strerror(error));
    char *cold = space->arena.nodes + 2 * NODE_DISTANCE + place * page,
         *registers = cold + (size_t)space->places * page;
    const bool has_registers = space->granules > 2;
    unsigned short *users = users_of(space, place);
    if (*users == 0 && !map_page(space, hot_page(space, place), hot))
        return ay__fail(-errno, "cannot map a place: %s", strerror(errno));
    (*users)++;
    if (!map_page(space, cold, cold_offset(granule, space->places, place)) ||
        (has_registers &&
         !map_page(space, registers, registers_offset(granule, space->places, place)))) {
        const int why = errno;
        leave_hot(space, place);
        return ay__fail(-why, "cannot map a place: %s", strerror(why));
    }
    claim->node = space->arena.nodes + hot;
    claim->hot = (struct hot *)(claim->node + NODE_DISTANCE);
    claim->cold = (struct cold *)cold;
    claim->registers = has_registers ? (struct registers_page *)registers : NULL;
    space->arena.places++;
    space->arena.mine[place / 8] |= (unsigned char)(1u << place % 8);
    return 0;
}

void ay__arena_unmap(ay_space *space, struct claim *claim)
{
    const unsigned place = claim->place;
    leave_hot(space, place);
    hide_page((char *)claim->cold);
    if (claim->registers)
        hide_page((char *)claim->registers);
    space->arena.places--;
    space->arena.mine[place / 8] &= (unsigned char)~(1u << place % 8);
    claim->node = NULL;
    claim->hot = NULL;
    claim->cold = NULL;
    claim->registers = NULL;
}
