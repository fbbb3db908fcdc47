# SPDX-License-Identifier: MIT
"""Several resources of a cluster at once: all or none, without deadlock, whoever names them in which order; and nothing stays behind of one that gives
up, dies or is cut off."""
import errno
import random
import signal
import threading
import unittest

from machines import PATIENCE, skip_unless_possible, wait_until
from support import CONFLICT, Caller, ClusterTest, Holder

PASSAGES = 25  # of each machine, in test_in_whatever_order


class Several(ClusterTest):
    def setUp(self):
        super().setUp()
        self.first, self.second, self.third = (f"{self.region}.{which}" for which in (1, 2, 3))  # in the order in which they are entered
        self.a, self.b, self.c = self.cluster.machines

    def tries(self, machine, *names):
        """Whether it gets in at once."""
        also = [word for name in names[1:] for word in ("--also", name)]
        shown = machine.run_inside(names[0], "-n", *also, "--", "true")
        self.assertIn(shown.returncode, (0, CONFLICT), shown.stderr)
        return shown.returncode == 0

    def hold(self, machine, name, *words):
        holder = Holder(machine, name, *words)
        holder.entered()
        return holder

    def wait(self, machine, name, *words):
        waiter = Holder(machine, name, *words)
        self.assert_stays_out(waiter, 0.3)
        return waiter

    def test_all_of_them(self):
        """Whoever wants one of them waits, on whatever machine, and enters when it is left."""
        holder = self.hold(self.a, self.third, f"also={self.first}", f"also={self.second}")
        waiters = [self.wait(machine, name) for machine, name in ((self.b, self.first), (self.c, self.second), (self.a, self.third))]
        holder.leave()
        for waiter in waiters:
            waiter.entered()
            self.assertFalse(waiter.told_of_death())

    def test_in_whatever_order(self):
        """Passages of all machines over names in every order end, and never two that have a name in common are inside at once."""
        names = [self.first, self.second, self.third, f"{self.region}.4"]
        inside, book, faults = [], threading.Lock(), []

        def pass_often(caller, chance):
            regions = {}
            for _ in range(PASSAGES):
                mine = tuple(chance.sample(names, chance.randint(1, 3)))
                if mine not in regions:
                    regions[mine] = caller.open(mine[0], "exclusive", "also=" + ",".join(mine[1:]))
                result = caller.do("enter", regions[mine])
                with book:
                    if result != 0 or any(set(mine) & set(other) for other in inside):
                        faults.append((mine, result, list(inside)))
                    inside.append(mine)
                with book:
                    inside.remove(mine)
                caller.do("leave", regions[mine])

        threads = [threading.Thread(target=pass_often, args=(Caller(machine), random.Random(seed)))
                   for seed, machine in enumerate(2 * self.cluster.machines)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])
        self.assertEqual([self.tries(machine, *names) for machine in self.cluster.machines], [True] * 3, "all ended well")

    def test_given_up(self):
        """It keeps nothing of what it had by then: -n, a limit, a signal, a kill. One that was killed in the queue has died inside of none."""
        holder = self.hold(self.b, self.second)
        self.assertFalse(self.tries(self.a, self.first, self.second))
        self.assertTrue(self.tries(self.c, self.first))
        shown = self.a.run_inside(self.first, "-w", "0.5", "--also", self.second, "--", "true")
        self.assertEqual(shown.returncode, CONFLICT)
        self.assertTrue(self.tries(self.c, self.first))
        waiter = self.a.start_inside(self.first, "--also", self.second, "--", "true")
        wait_until(lambda: not self.tries(self.c, self.first), "that it has the first")
        waiter.kill(signal.SIGTERM)
        self.assertEqual(waiter.process.wait(PATIENCE), 128 + signal.SIGTERM)
        self.assertTrue(self.tries(self.c, self.first))
        killed = Holder(self.a, self.second, f"also={self.first}")
        wait_until(lambda: not self.tries(self.c, self.first), "that it has the first")
        killed.kill()
        self.assertFalse(self.hold(self.c, self.first).told_of_death())
        self.assertTrue(holder.is_inside())

    def test_killed_inside(self):
        """Who enters any of them next is told: of each name one, whether alone or together with others."""
        holder = self.hold(self.a, self.first, f"also={self.second}")
        alone = self.wait(self.b, self.second)
        holder.kill()
        self.assertTrue(alone.told_of_death())
        alone.leave()
        both = self.hold(self.c, self.second, f"also={self.first}")
        self.assertTrue(both.told_of_death(), "of the other name")
        both.leave()
        self.assertFalse(self.hold(self.a, self.first, f"also={self.second}").told_of_death(), "once")

    def test_death_is_not_swallowed(self):
        """Who gets one after a death, but not the others in time, leaves it to the next one to be told."""
        for machine in (self.a, self.b):
            with self.subTest(machine=machine.name):
                killed, holder = self.hold(self.a, self.first), self.hold(self.c, self.second)
                killed.kill()
                shown = machine.run_inside(self.second, "-w", "1", "--also", self.first, "--", "true")
                self.assertEqual(shown.returncode, CONFLICT)
                following = self.hold(self.c, self.first)
                self.assertTrue(following.told_of_death())
                following.leave()
                last = self.hold(machine, self.first)
                self.assertFalse(last.told_of_death(), "once")
                for one in (last, holder):
                    one.leave()

    def test_death_is_not_lost_with_who_was_told(self):
        """Who gets one after a death, and is killed while it waits for the others, leaves that to be told."""
        killed, holder = self.hold(self.b, self.first), self.hold(self.c, self.second)
        waiter = self.wait(self.a, self.second, f"also={self.first}")
        killed.kill()
        self.assert_stays_out(waiter, 1)  # it has the first by then
        waiter.kill()
        following = self.hold(self.c, self.first)
        self.assertTrue(following.told_of_death())
        following.leave()
        self.assertFalse(self.hold(self.b, self.first).told_of_death(), "once")
        self.assertTrue(holder.is_inside())

    def test_lost(self):
        """Cut off, it is told of its loss before others have any of them; and one that waited for the rest begins anew, with greater fences."""
        holder = self.hold(self.a, self.third, f"also={self.first}")
        blocker = self.hold(self.b, self.second)
        stranded = self.wait(self.a, self.region, f"also={self.second}")  # it has the name that only it wants
        others = [self.wait(self.b, self.first), self.wait(self.c, self.third)]
        self.a.cut()
        try:
            told = holder.lost()
            for one in others:
                self.assertGreater(one.entered()[1], told)
            blocker.leave()
            usurper = self.hold(self.b, self.second + "x", f"also={self.region}")
            self.assert_stays_out(stranded, 0.3)
        finally:
            self.a.heal()
        for one in others:
            one.leave()
        self.assert_stays_out(stranded, 0.3)
        usurper.leave()
        self.assertGreater(stranded.entered()[0], 0)
        self.assertTrue(self.tries(self.b, self.first, self.third))

    def test_calls(self):
        """What a region of several resources can do besides."""
        one, other = Caller(self.a), Caller(self.b)
        both = one.open(self.second, "exclusive", f"also={self.first}")
        alone = [other.open(name, "shared") for name in (self.first, self.second)]
        self.assertEqual(one.do("rename", both, "another"), -errno.ENOTSUP)
        self.assertEqual(one.do("enter", both), 0)
        fence = one.fence()
        self.assertEqual(one.do("enter", both), -errno.EDEADLK)
        self.assertEqual(one.do("valid", both), 1)
        self.assertEqual(other.do("ask", alone[1]), -errno.EINPROGRESS)
        wait_until(lambda: one.do("wanted", both) == 1, "that it is wanted")
        self.assertEqual(other.do("enter", alone[0], 300), -errno.ETIMEDOUT)
        wait_until(lambda: one.do("wanted", both) == 2, "that each of them is")
        # weaker: those beside it come in; and back again, as far as that goes
        self.assertEqual(one.do("convert", both, "shared", 0), 0)
        self.assertEqual(other.decided(alone[1])[0], 0)
        self.assertEqual(other.do("enter", alone[0], -1), 0)
        self.assertEqual(one.do("convert", both, "exclusive", 100), -errno.EDEADLK, "another machine is beside it")
        self.assertEqual(one.do("valid", both), 1)
        for region in alone:
            self.assertEqual(other.do("leave", region), 0)
        self.assertEqual(one.do("leave", both), 0)
        self.assertEqual(one.do("enter_as", both, "shared", -1), 0)
        self.assertGreater(one.fence(), fence)
        self.assertTrue(self.tries_shared(self.c, self.first))
        self.assertEqual(one.do("leave", both), 0)
        self.assertEqual(one.do("close", both), 0)
        self.assertTrue(self.tries(self.c, self.first, self.second))

    def tries_shared(self, machine, name):
        return machine.run_inside(name, "-n", "-s", "--", "true").returncode == 0

    def test_cancelled(self):
        """By the name that it waits at, and by one that it has by then."""
        holder = self.hold(self.b, self.second)
        for name in (self.first, self.second):
            waiter, canceller = Caller(self.a), Caller(self.a)
            both = waiter.open(self.second, "exclusive", f"also={self.first}")
            pid = waiter.do("pid")
            waiter.say("enter", both)
            wait_until(lambda: canceller.do("cancel", name, pid) == 1, "that it is cancelled")
            wait_until(lambda: waiter.answers[-1][0] == "enter", "its answer")
            self.assertEqual(int(waiter.answers[-1][1]), -errno.ECANCELED, waiter.answers[-1])
            self.assertTrue(self.tries(self.c, self.first))
        self.assertTrue(holder.is_inside())

    def test_cycle_of_one_machine(self):
        """One who is inside the second and wants the first, which another has that waits for the second: that is found, as on one machine."""
        one, other = Caller(self.a), Caller(self.a)
        second, first = one.open(self.second), one.open(self.first)
        both = other.open(self.second, "exclusive", f"also={self.first}")
        self.assertEqual(one.do("enter", second), 0)
        other.say("enter", both)
        wait_until(lambda: not self.tries(self.c, self.first), "that it has the first")
        self.assertEqual(one.do("enter", first), -errno.EDEADLK)
        self.assertEqual(one.do("leave", second), 0)
        wait_until(lambda: other.answers[-1][0] == "enter", "its answer")
        self.assertEqual(int(other.answers[-1][1]), 0)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
