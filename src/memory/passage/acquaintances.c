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
 * depends on where it lies: who is a rival, and since when, is rivals.c's affair. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/passage/region.h"

enum { SMALL_MOST = 16 * 1024, LIST_FIRST = 16 };

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

int ay__acquaintances_begin(struct rivals *rivals, unsigned places)
{
    const size_t size = reserve_size(places);
    char *reserve = mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserve == MAP_FAILED || madvise(reserve, size, MADV_DONTFORK) != 0) {
        const int error = errno;
        if (reserve != MAP_FAILED)
            munmap(reserve, size);
        return ay__fail(-error, "cannot make room for what a region knows of others: %s",
                        strerror(error));
    }
    rivals->reserve = reserve;
    rivals->met = (struct acquaintances){.slot = rivals->few_met, .mask = FEW_SLOTS - 1};
    rivals->runs = rivals->few;
    rivals->company = rivals->few_company;
    rivals->run_room = rivals->company_room = RIVALS_FEW;
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
    if (!met->slot)
        met->slot = reserved(rivals, met); /* zeros, too */
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

/* Not by a child: the fork may have come in the middle of a change, and it loses 48 KB at most. */
void ay__acquaintances_end(struct rivals *rivals, unsigned places)
{
    if (!rivals->reserve)
        return;
    if (rivals->met.slot != reserved(rivals, &rivals->met))
        give_slots_back(rivals, &rivals->met);
    if (rivals->runs != rivals->few && rivals->run_room != UINT_MAX)
        free(rivals->runs);
    if (rivals->company != rivals->few_company && rivals->company_room != UINT_MAX)
        free(rivals->company);
    munmap(rivals->reserve, reserve_size(places));
}
