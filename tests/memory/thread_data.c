/* SPDX-License-Identifier: MIT */
/* A program with much thread-local data: every thread's stack has to hold a copy, the library's own
 * threads' too. Built with 100 KB and with 1 MB. */
#include <pthread.h>

#include "harness.h"

static _Thread_local volatile char data[THREAD_DATA];

int main(void)
{
    begin_test("thread-data");
    data[THREAD_DATA - 1] = 1;
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    ay_close(space);
    CHECK_EQUAL(data[THREAD_DATA - 1], 1);
    return 0;
}
