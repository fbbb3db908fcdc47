/* SPDX-License-Identifier: MIT */
/* Whether the file of a space still has a name: whoever enters a file that was removed meets nobody
 * there who came later.
 *
 * To ask is fstat(2), and too dear for every passage. So a passage asks once it is inside, unless
 * its thread has been on a processor without a break since it last asked; likewise before its
 * condition is asked for, and when a sleeper looks up by itself: those who would make the condition
 * true, or wake it, may be in the new file. That a break was the kernel tells: it
 * clears a pointer in the thread's memory (rseq_cs, of rseq(2)) whenever it takes the thread off
 * its processor, or delivers a signal. The express lane asks now and then all the same, for a
 * thread that nothing ever disturbs. Without rseq(2) (an old glibc or kernel) every passage asks.
 */
#ifndef AFTERYOU_MEMORY_FILE_NAMED_H
#define AFTERYOU_MEMORY_FILE_NAMED_H

#include "memory/passage/region.h"

/* What the pointer points to. Hidden, so that its address is at hand. */
extern const struct undisturbed ay__undisturbed __attribute__((visibility("hidden")));
/* Of this thread: grows when it asks after a break. */
extern _Thread_local uint64_t ay__breaks
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Where the pointer of this thread is; where there is none, a word that never is it. */
volatile uint64_t *ay__named_pointer(void);

/* -ESTALE, with a message, or 0. Asks the kernel. */
int ay__named_ask(struct registers *at);

/* 0: nothing has happened since this region's last passage asked. The passer is this
 * thread's. */
__attribute__((always_inline)) static inline uint64_t named_disturbed(const struct registers *at)
{
    return (*at->passer.undisturbed ^ (uintptr_t)&ay__undisturbed) |
           (at->passer.breaks ^ ay__breaks);
}

#endif
