/* SPDX-License-Identifier: MIT */
/* Room for what a region knows of others: as much as it has met, and not as there are places. Of
 * ten thousand regions of a process that know a hundred others each, at places far apart, each
 * would touch a hundred pages otherwise.
 *
 * Whoever meets somebody is in the middle of a passage, and cannot fail for want of memory. So when
 * a region is opened, addresses are reserved for all that it may ever meet, and no memory. What is
 * small comes from malloc(3), or from there if that has none; what is large, from there. No child
 * has that, nor uses it: a copy of what is known of a crowd would cost a page for every hundred.
 *
 * One thread at a time touches it, who passes or asks for those who wait; and nobody else's word
 * depends on where it lies: who is a rival, and since when, is rivals.c's affair. What is known of
 * many may be handed on to another region, with the addresses where it lies: ask/knowledge.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/passage/region.h"

/* Tests are built with less, too. */
#ifndef SMALL_MOST
#define SMALL_MOST (16 * 1024)
#endif

enum { LIST_FIRST = 16 };

/* With so many each place has a slot of its own: more are never needed. */
static size_t slots_most(unsigned places)
{
    size_t slots = FEW_SLOTS;
    while (slots < places)
        slots *= 2;
    return slots;
}

/* Of slots there are always twice as many as before: those of one size lie behind all that are
 * smaller. */
static size_t slots_size(unsigned places)
{
    return 2 * slots_most(places) * sizeof(struct acquaintance);
}

static size_t reserve_size(unsigned places)
{
    return slots_size(places) + places * (sizeof(struct stretch) + sizeof(unsigned));
}

char *ay__acquaintances_reserve(unsigned places)
{
    const size_t size = reserve_size(places);
    char *reserve = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED)
        return NULL;
    madvise(reserve, size, MADV_NOHUGEPAGE); /* or each region of a crowd would have 2 MB of it */
    if (madvise(reserve, size, MADV_DONTFORK) == 0)
        return reserve;
    const int error = errno;
    munmap(reserve, size);
    errno = error;
    return NULL;
}

void ay__acquaintances_unreserve(char *reserve, unsigned places)
{
    munmap(reserve, reserve_size(places));
}

/* Nobody is known. */
static void begin_anew(struct rivals *rivals)
{
    memset(rivals->few_met, 0, sizeof rivals->few_met);
    rivals->met = (struct acquaintances){.slot = rivals->few_met, .mask = FEW_SLOTS - 1};
    rivals->runs = rivals->few;
    rivals->company = rivals->few_company;
    rivals->run_count = rivals->company_count = 0;
    rivals->run_room = rivals->company_room = RIVALS_FEW;
    rivals->gathered = rivals->counted = NEVER_GATHERED;
}

int ay__acquaintances_begin(struct rivals *rivals, unsigned places)
{
    rivals->reserve = ay__acquaintances_reserve(places);
    if (!rivals->reserve)
        return ay__fail(-errno, "cannot make room for what a region knows of others: %s",
                        strerror(errno));
    begin_anew(rivals);
    return 0;
}

/* ---- who was met ---- */

/* Who does not have its first slot goes on by an odd number of them, which leads to all; and those
 * who share the first one part there. */
struct acquaintance *ay__acquaintance_find(const struct acquaintances *met, unsigned place)
{
    const unsigned mask = met->mask, step = 2 * (place / (mask + 1)) + 1;
    unsigned slot = place & mask;
    while (met->slot[slot].whence != 0 && met->slot[slot].whence != place + 1)
        slot = (slot + step) & mask;
    return &met->slot[slot];
}

static size_t size_of(const struct acquaintances *met)
{
    return ((size_t)met->mask + 1) * sizeof *met->slot;
}

static struct acquaintance *reserved(const struct rivals *rivals, const struct acquaintances *met)
{
    return (struct acquaintance *)(void *)(rivals->reserve + size_of(met));
}

/* Where pages are too large for it, they are kept. */
static void give_slots_back(const struct rivals *rivals, const struct acquaintances *met)
{
    if (met->slot == reserved(rivals, met))
        madvise(met->slot, size_of(met), MADV_DONTNEED);
    else if (met->slot != rivals->few_met)
        free(met->slot);
}

static void widen(struct rivals *rivals)
{
    AY__DEFERRED; /* malloc's, and the table's */
    const struct acquaintances before = rivals->met;
    struct acquaintances *met = &rivals->met;
    met->mask = 2 * before.mask + 1;
    met->slot = size_of(met) <= SMALL_MOST ? calloc(1, size_of(met)) : NULL;
    if (!met->slot) {
        met->slot = reserved(rivals, met);
        memset(met->slot, 0, size_of(met)); /* locked memory is not given back, and had others */
    }
    for (unsigned which = 0; which <= before.mask; which++)
        if (before.slot[which].whence != 0)
            *ay__acquaintance_find(met, before.slot[which].whence - 1) = before.slot[which];
    give_slots_back(rivals, &before);
}

struct acquaintance *ay__acquaintance_make(struct registers *at, unsigned place)
{
    struct acquaintances *met = &at->rivals.met;
    const size_t slots = (size_t)met->mask + 1;
    if (met->count >= slots / 8 * 7 && slots < slots_most(at->fixed.places))
        widen(&at->rivals);
    struct acquaintance *other = ay__acquaintance_find(met, place);
    other->whence = (place + 1) & 0x1ffff;
    met->count++;
    return other;
}

/* ---- who is a rival, or in company ---- */

/* A list of `room` things, in `few` or from malloc(3), gets more room: at last, for all. */
static void *longer(void *list, const void *few, void *all, unsigned *room, size_t size)
{
    const unsigned more = *room < LIST_FIRST ? LIST_FIRST : 2 * *room;
    AY__DEFERRED;
    void *small = more * size <= SMALL_MOST ? malloc(more * size) : NULL;
    void *grown = small ? small : all;
    memcpy(grown, list, *room * size);
    if (list != few)
        free(list);
    *room = small ? more : UINT_MAX;
    return grown;
}

static void *all_runs(const struct registers *at)
{
    return at->rivals.reserve + slots_size(at->fixed.places);
}

static void *all_company(const struct registers *at)
{
    return (struct stretch *)all_runs(at) + at->fixed.places;
}

void ay__rivals_make_room(struct registers *at)
{
    struct rivals *rivals = &at->rivals;
    if (rivals->run_count == rivals->run_room)
        rivals->runs = longer(rivals->runs, rivals->few, all_runs(at), &rivals->run_room,
                              sizeof *rivals->runs);
    if (rivals->company_count == rivals->company_room)
        rivals->company = longer(rivals->company, rivals->few_company, all_company(at),
                                 &rivals->company_room, sizeof *rivals->company);
}

static void free_lists(const struct rivals *rivals)
{
    if (rivals->runs != rivals->few && rivals->run_room != UINT_MAX)
        free(rivals->runs);
    if (rivals->company != rivals->few_company && rivals->company_room != UINT_MAX)
        free(rivals->company);
}

/* Not by a child: the fork may have come in the middle of a change, and it loses 48 KB at most. */
void ay__acquaintances_end(struct rivals *rivals, unsigned places)
{
    if (!rivals->reserve)
        return;
    if (rivals->met.slot != reserved(rivals, &rivals->met))
        give_slots_back(rivals, &rivals->met);
    free_lists(rivals);
    ay__acquaintances_unreserve(rivals->reserve, places);
}

/* ---- handed on ---- */

bool ay__acquaintances_are_many(const struct rivals *rivals)
{
    return rivals->met.slot == reserved(rivals, &rivals->met);
}

void ay__acquaintances_forget(struct rivals *rivals, unsigned places)
{
    AY__DEFERRED;
    if (!ay__acquaintances_are_many(rivals))
        give_slots_back(rivals, &rivals->met);
    free_lists(rivals);
    madvise(rivals->reserve, reserve_size(places), MADV_DONTNEED);
    begin_anew(rivals);
}

void ay__knowledge_forget(struct knowledge *knowledge, unsigned places)
{
    madvise(knowledge->reserve, reserve_size(places), MADV_DONTNEED);
    knowledge->met = (struct acquaintances){0};
}

/* The lists name all but who gives them: they are gathered anew. */
void ay__acquaintances_give(struct rivals *rivals, struct knowledge *to)
{
    AY__DEFERRED;
    assert_required(ay__acquaintances_are_many(rivals) && !to->met.slot);
    const struct knowledge given = {.reserve = rivals->reserve,
                                    .met = rivals->met,
                                    .floor = rivals->floor,
                                    .told = rivals->told};
    free_lists(rivals);
    rivals->reserve = to->reserve;
    begin_anew(rivals);
    *to = given;
}

void ay__acquaintances_take(struct rivals *rivals, struct knowledge *from)
{
    AY__DEFERRED;
    assert_required(!ay__acquaintances_are_many(rivals) && from->met.slot);
    const struct knowledge taken = *from;
    *from = (struct knowledge){.reserve = rivals->reserve};
    give_slots_back(rivals, &rivals->met);
    free_lists(rivals);
    rivals->reserve = taken.reserve;
    begin_anew(rivals);
    rivals->met = taken.met;
    rivals->taken = true;
    if (taken.floor > rivals->floor)
        rivals->floor = taken.floor;
    rivals->told |= taken.told;
}
