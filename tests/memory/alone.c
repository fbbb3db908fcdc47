/* SPDX-License-Identifier: MIT */
/* What alone.sh traces: passages, alone, between two marks that strace shows. */
#include "harness.h"

int main(void)
{
    begin_test("alone");
    ay_space *space = open_space(NULL);
    ay_region *region = open_region(space, (ay_spec){.name = "x"}),
              *other = open_region(space, (ay_spec){.name = "x"});
    CHECK_EQUAL(ay_enter(other), 0); /* the first time is another: threads are made known */
    CHECK_EQUAL(ay_leave(other), 0);
    CHECK_EQUAL(ay_enter(region), 0);
    CHECK_EQUAL(ay_leave(region), 0);
    (void)!write(2, "begin\n", 6);
    for (int times = 0; times < 1000; times++) {
        CHECK_EQUAL(ay_enter(region), 0);
        CHECK_EQUAL(ay_leave(region), 0);
    }
    (void)!write(2, "end\n", 4);
    ay_close(space);
    return 0;
}
