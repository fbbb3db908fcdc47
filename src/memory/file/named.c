/* SPDX-License-Identifier: MIT */
/* Asking whether the file of a space still has a name, and being told by the kernel when it is time
 * to. */
#include "memory/file/named.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

static volatile uint64_t no_pointer; /* 0, for ever */

#ifdef RSEQ_SIG
/* A critical section of no instructions, so no thread is ever in it: the kernel clears a pointer to
 * it, and does no more. It looks at what stands before the address to go to, though nobody will. */
static const struct {
    uint32_t signature, address;
} abort_at = {.signature = RSEQ_SIG};

const struct undisturbed {
    struct rseq_cs section;
} ay__undisturbed = {
    {.start_ip = (uintptr_t)&abort_at.address, .abort_ip = (uintptr_t)&abort_at.address}};

volatile uint64_t *ay__named_pointer(void)
{
    if (__rseq_size == 0)
        return &no_pointer;
    struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    return (volatile uint64_t *)&area->rseq_cs;
}
#else
const struct undisturbed {
    char nothing;
} ay__undisturbed;

volatile uint64_t *ay__named_pointer(void)
{
    return &no_pointer;
}
#endif

_Thread_local uint64_t ay__breaks = 1; /* 0 is for regions that have not asked */

int ay__named_ask(struct registers *at)
{
    AY__UNCANCELLED;
    const ay_space *space = at->fixed.space;
    struct stat status;
    /* First this: what happens while it asks counts as a break. */
    if (at->passer.undisturbed != &no_pointer &&
        *at->passer.undisturbed != (uintptr_t)&ay__undisturbed) {
        ay__breaks++;
        *at->passer.undisturbed = (uintptr_t)&ay__undisturbed;
    }
    at->passer.breaks = ay__breaks;
    if (fstat(space->fd, &status) != 0 || status.st_dev != space->file.device ||
        status.st_ino != space->file.inode)
        return 0; /* the program closed the descriptor: it cannot be told (ay__file_again) */
    if (status.st_nlink > 0)
        return 0;
    at->passer.breaks = 0; /* the next one asks, too */
    return ay__fail(
        -ESTALE,
        "the space %s was removed: who opens it now enters another file, and does not meet those "
        "in this "
        "one; close the space, and open it again",
        space->path);
}
