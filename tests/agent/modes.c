/* SPDX-License-Identifier: MIT */
/* Permissions in six modes, over links: as much is taken back as is in the way of another machine,
 * and more is asked for beside those who are inside already. */
#include "scene.h"

static bool enters_too(unsigned machine, unsigned mode)
{
    world_want_too(&world, machine, mode);
    for (unsigned step = 0; step < 2000 && !world_holds_too(&world, machine); step++)
        world_step(&world);
    return world_holds_too(&world, machine);
}

/* Every two modes, where the first machine keeps the permission for all of them. */
static void test_every_two_modes(void **state)
{
    (void)state;
    for (unsigned mode = 1; mode < PERMISSION_MODES; mode++)
        for (unsigned other = 1; other < PERMISSION_MODES; other++) {
            begin(3);
            assert_true(enters(0, PERMISSION_EXCLUSIVE));
            world_leave(&world, 0);
            assert_true(enters(0, mode));
            world_want(&world, 1, other);
            world_run(&world, SECONDS(2));
            assert_true(world_holds(&world, 0));
            assert_int_equal(world_holds(&world, 1),
                             !modes_conflict(permission_turned(mode), permission_turned(other)));
            world_leave(&world, 0);
            whose = 1;
            assert_true(world_until(&world, is_inside, SECONDS(20)));
            end();
        }
}

/* The reader is inside throughout, by one passage. */
static void test_raised_and_lowered_beside_a_reader(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_CONCURRENT_READ));
    const uint64_t era = world.machine[0].process[0].era;
    for (unsigned round = 0; round < 5; round++) {
        assert_true(enters_too(0, PERMISSION_PROTECTED_WRITE));
        world_leave_too(&world, 0);
        assert_true(enters_too(0, PERMISSION_SHARED));
        assert_true(enters(1, PERMISSION_CONCURRENT_READ));
        world_leave_too(&world, 0);
        world_leave(&world, 1);
        assert_true(enters(1, PERMISSION_PROTECTED_WRITE));
        world_leave(&world, 1);
        assert_true(world_holds(&world, 0));
        assert_int_equal(world.machine[0].process[0].era, era);
    }
    world_want(&world, 2, PERMISSION_EXCLUSIVE);
    world_run(&world, SECONDS(2));
    assert_false(world_holds(&world, 2));
    world_leave(&world, 0);
    whose = 2;
    assert_true(world_until(&world, is_inside, SECONDS(20)));
    end();
}

/* One asks for more beside a reader, and another for all of it: both get it. */
static void test_more_is_wanted_and_all_is_wanted(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 2; first++) {
        begin(3);
        assert_true(enters(0, PERMISSION_CONCURRENT_READ));
        assert_true(enters(1, PERMISSION_PROTECTED_WRITE));
        if (first == 0)
            world_want_too(&world, 0, PERMISSION_SHARED);
        world_run(&world, SECONDS(1));
        world_want(&world, 2, PERMISSION_EXCLUSIVE);
        world_run(&world, SECONDS(1));
        world_want_too(&world, 0, PERMISSION_SHARED);
        world_run(&world, SECONDS(1));
        world_leave(&world, 1);
        world_run(&world, SECONDS(1));
        assert_false(world_holds(&world, 2));
        world_leave(&world, 0);
        for (unsigned step = 0; step < 2000; step++) {
            world_step(&world);
            if (world_holds_too(&world, 0))
                world_leave_too(&world, 0);
        }
        assert_true(world_holds(&world, 2));
        world_leave(&world, 2);
        assert_true(enters_too(0, PERMISSION_SHARED));
        end();
    }
}

/* An agent that comes after it finds what is left of the permission, and gives back all of it. */
static void test_killed_while_more_is_wanted(void **state)
{
    (void)state;
    begin(3);
    assert_true(enters(0, PERMISSION_CONCURRENT_READ));
    assert_true(enters(1, PERMISSION_PROTECTED_WRITE));
    world_want_too(&world, 0, PERMISSION_PROTECTED_WRITE);
    world_run(&world, SECONDS(1));
    world_kill(&world, 0);
    world_start(&world, 0);
    world_run(&world, SECONDS(1));
    assert_true(world_holds(&world, 0));
    world_leave(&world, 1);
    world_leave(&world, 0);
    assert_true(enters_too(0, PERMISSION_PROTECTED_WRITE));
    world_leave_too(&world, 0);
    assert_true(enters(2, PERMISSION_EXCLUSIVE));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_two_modes),
        cmocka_unit_test(test_raised_and_lowered_beside_a_reader),
        cmocka_unit_test(test_more_is_wanted_and_all_is_wanted),
        cmocka_unit_test(test_killed_while_more_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
