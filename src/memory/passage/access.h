/* SPDX-License-Identifier: MIT */
/* Where tests step in: before every access to shared memory. They are compiled with the library's
 * own sources, and say what happens there: a process is killed, or another one goes on. Nothing
 * otherwise. */
#ifndef AFTERYOU_MEMORY_PASSAGE_ACCESS_H
#define AFTERYOU_MEMORY_PASSAGE_ACCESS_H

#ifdef MEMORY_ACCESS_POINTS
void ay__access_point(const char *file); /* of the test */
#define access_point() ay__access_point(__FILE__)
/* Rounds of waiting awake, and of calling a keeper: one is like the other. */
enum { SPINS_MOST = 2, ROUNDS_AWAKE = 2, CALLS_MOST = 2 };
#else
#define access_point() ((void)0)
enum { SPINS_MOST = 200, ROUNDS_AWAKE = 20, CALLS_MOST = 50 };
#endif

#endif
