/* SPDX-License-Identifier: MIT */
/* Where a process may be killed by the test of that name: before every access to shared memory.
 * Nothing otherwise. */
#ifndef AFTERYOU_MEMORY_PASSAGE_ACCESS_H
#define AFTERYOU_MEMORY_PASSAGE_ACCESS_H

#ifdef MEMORY_KILL_AT_ACCESS
extern long ay__kill_at; /* SIGKILL at this access from now; 0: at none */
void ay__access_point(void);
#define access_point() ay__access_point()
#else
#define access_point() ((void)0)
#endif

#endif
