# SPDX-License-Identifier: MIT
"""Conditions in a cluster: who waits for one enters once somebody has made it true, on whatever machine and whoever dies, is asked by nobody in vain, and
keeps nobody out meanwhile."""
import errno
import pathlib
import signal
import tempfile
import time
import unittest

from machines import PATIENCE, skip_unless_possible, wait_until
from support import CONFLICT, Caller, ClusterTest, Holder

AFTER_DEATH = 1
STILL = 1.5  # seconds in which nothing happens


class Waiter:
    """One that enters once a file is there."""

    def __init__(self, machine, region, file, *limit, mode="exclusive"):
        self.caller, self.file = Caller(machine), file
        self.region = self.caller.open(region, mode)
        self.pid = self.caller.do("pid")
        self.answers = len(self.caller.answers)
        self.caller.say("enter_when", self.region, file, *limit)
        wait_until(lambda: self.looks() > 0 or self.answered(), "its first look")

    def looks(self):
        counted = pathlib.Path(f"{self.file}.{self.pid}")
        return counted.stat().st_size if counted.exists() else 0

    def answered(self):
        return len(self.caller.answers) > self.answers

    def result(self):
        wait_until(self.answered, "its answer")
        return int(self.caller.answers[self.answers][1])

    def leave(self):
        assert self.caller.do("leave", self.region) == 0


class Conditions(ClusterTest):
    def setUp(self):
        super().setUp()
        self.a, self.b, self.c = self.cluster.machines
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def wait_for(self, machine, name, *limit):
        return Waiter(machine, self.region, self.directory / name, *limit)

    def make(self, machine, name):
        """The file, by somebody inside."""
        self.assertEqual(machine.run_inside(self.region, "--", "touch", self.directory / name).returncode, 0)

    @staticmethod
    def settle(waiter):
        """Until what others did before has been seen: it may be asked once for each of them."""
        def is_settled():
            before = waiter.looks()
            time.sleep(STILL / 4)
            return waiter.looks() == before
        wait_until(is_settled, "the end of its looks")

    def assert_still(self, *waiters):
        """Nobody is asked, and nobody enters, while nothing happens."""
        before = [waiter.looks() for waiter in waiters]
        time.sleep(STILL)
        self.assertEqual([waiter.looks() for waiter in waiters], before)
        self.assertEqual([waiter.answered() for waiter in waiters], [False] * len(waiters))

    def test_at_once(self):
        (self.directory / "here").touch()
        self.assertEqual(self.wait_for(self.a, "here").result(), 0)

    def test_made_true(self):
        """By one inside on another machine, or on its own; who wants in meanwhile gets in at once."""
        for turn, machine in enumerate((self.b, self.a)):
            waiter = self.wait_for(self.a, f"made-{turn}")
            for other in self.cluster.machines:
                self.assertEqual(other.run_inside(self.region, "-n", "--", "true").returncode, 0)
            wait_until(lambda: waiter.looks() >= 2, "that it is asked again")
            self.settle(waiter)
            self.assert_still(waiter)
            self.make(machine, f"made-{turn}")
            self.assertEqual(waiter.result(), 0)
            self.assertEqual(machine.run_inside(self.region, "-n", "--", "true").returncode, CONFLICT)
            waiter.leave()

    def test_different_things(self):
        """Who is asked in vain wakes nobody. Who goes in by its condition and makes another's true does."""
        first, second, third = [self.wait_for(machine, name) for machine, name in zip(self.cluster.machines, ("one", "two", "three"))]
        self.assert_still(first, second, third)
        self.make(self.c, "two")
        self.assertEqual(second.result(), 0)
        (self.directory / "three").touch()
        self.assertFalse(third.answered(), "somebody is inside")
        second.leave()
        self.assertEqual(third.result(), 0)
        third.leave()
        wait_until(lambda: first.looks() >= 3, "that it is asked after each of them")
        self.settle(first)
        self.assert_still(first)
        self.make(self.a, "one")
        self.assertEqual(first.result(), 0)

    def test_two_of_one_machine(self):
        first, second = self.wait_for(self.a, "one"), self.wait_for(self.a, "two")
        self.assert_still(first, second)
        self.make(self.b, "two")
        self.assertEqual(second.result(), 0)
        (self.directory / "one").touch()
        second.leave()
        self.assertEqual(first.result(), 0)

    def test_made_true_by_one_that_was_there(self):
        """Beside whom it was asked: who becomes stronger is as one who comes."""
        caller = Caller(self.a)
        region = caller.open(self.region)
        self.assertEqual(caller.do("enter_as", region, "concurrent-read", -1), 0)
        waiter = Waiter(self.a, self.region, self.directory / "made", mode="protected-write")
        self.assert_still(waiter)
        self.assertEqual(caller.do("convert", region, "exclusive", PATIENCE * 1000), 0)
        (self.directory / "made").touch()
        self.assertEqual(caller.do("leave", region), 0)
        self.assertEqual(waiter.result(), 0)

    def test_killed_inside(self):
        """It is asked when the one that died is gone, and told of the death, once; one that is asked in vain leaves that to the next."""
        never = self.wait_for(self.c, "never")
        waiter = self.wait_for(self.b, "there")
        holder = Holder(self.a, self.region)
        holder.entered()
        (self.directory / "there").touch()
        holder.kill()
        self.assertEqual(waiter.result(), AFTER_DEATH)
        waiter.leave()
        looks = never.looks()
        holder = Holder(self.a, self.region)
        self.assertFalse(holder.told_of_death(), "once")
        holder.kill()
        wait_until(lambda: never.looks() > looks, "that it is asked")
        self.assertTrue(Holder(self.b, self.region).told_of_death())

    def test_given_up(self):
        """In time, not at all, cancelled, killed: and the others go on."""
        self.assertEqual(self.wait_for(self.a, "never", 0).result(), -errno.ETIMEDOUT)
        self.assertEqual(self.wait_for(self.b, "never", 400).result(), -errno.ETIMEDOUT)
        waiter, killed, canceller = self.wait_for(self.a, "never"), self.wait_for(self.b, "never"), Caller(self.a)
        killed.caller.kill()
        wait_until(lambda: canceller.do("cancel", self.region, waiter.pid) == 1, "that it is cancelled")
        self.assertEqual(waiter.result(), -errno.ECANCELED)
        for machine in self.cluster.machines:
            shown = machine.run_inside(self.region, "-n", "-c", "echo $AFTERYOU_AFTER_DEATH")
            self.assertEqual((shown.returncode, shown.stdout), (0, "0\n"))

    def test_agents_die(self):
        """Its own, and that of who makes it true."""
        for turn, machine in enumerate((self.a, self.b)):
            waiter, other = self.wait_for(self.a, f"made-{turn}"), self.wait_for(self.b, f"other-{turn}")
            machine.agent.kill(signal.SIGKILL)
            machine.agent.process.wait(PATIENCE)
            machine.start_agent()
            self.make(self.b, f"made-{turn}")
            self.assertEqual(waiter.result(), 0)
            waiter.leave()
            self.make(self.c, f"other-{turn}")
            self.assertEqual(other.result(), 0)
            other.leave()

    def test_cut_off(self):
        """What was made true while it was cut off is found when it is back."""
        waiter = self.wait_for(self.a, "made")
        self.a.cut()
        try:
            self.make(self.b, "made")
            self.assertFalse(waiter.answered())
        finally:
            self.a.heal()
        self.assertEqual(waiter.result(), 0)

    def test_command(self):
        """`afteryou run --when`, and a file that is made by somebody outside."""
        for turn, by_one_inside in enumerate((True, False)):
            inbox = self.directory / f"inbox-{turn}"
            waiter = self.a.start_inside(self.region, "--when", f"[ -s {inbox} ]", "--", "cp", inbox, f"{inbox}.got")
            self.assertEqual(self.b.run_inside(self.region, "--", "true").returncode, 0)
            self.assertTrue(waiter.is_running())
            if by_one_inside:
                self.assertEqual(self.c.run_inside(self.region, "-c", f"echo letter > {inbox}").returncode, 0)
            else:
                inbox.write_text("letter\n")
            self.assertEqual(waiter.process.wait(PATIENCE), 0)
            self.assertEqual(pathlib.Path(f"{inbox}.got").read_text(), "letter\n")

    # ---- of several names ----

    def begin_several(self, call, name, *limit):
        """Waits, or asks: what tells its result; how often it was asked; its caller, and region."""
        caller, file = Caller(self.a), self.directory / name
        region = caller.open(f"{self.region}.2", "exclusive", f"also={self.region}.1")
        caller.pid = caller.do("pid")
        looks = pathlib.Path(f"{file}.{caller.pid}")
        answer = caller.begin(call, region, file, *limit)
        wait_until(looks.exists, "its first look")
        if call == "ask_when":
            answer()  # it is asked before ay_ask_when() returns

        def result():
            found = answer()
            return caller.decided(region)[0] if found == -errno.EINPROGRESS else found
        return result, lambda: looks.stat().st_size, caller, region

    def test_several_names(self):
        """Made true by one inside of any of them, on whatever machine. Meanwhile each is free for all, and nobody is asked in vain."""
        names = [f"{self.region}.{which}" for which in (1, 2)]
        for turn, (call, name, machine) in enumerate((call, name, machine) for call in ("enter_when", "ask_when") for name in names
                                                     for machine in (self.a, self.b)):
            with self.subTest(call=call, name=name, machine=machine.name):
                result, looks, caller, region = self.begin_several(call, f"made-{turn}")
                for other in self.cluster.machines:
                    for free in names:
                        self.assertEqual(other.run_inside(free, "-n", "--", "true").returncode, 0)
                time.sleep(0.5)
                before = looks()
                time.sleep(STILL)
                self.assertEqual(looks(), before, "nothing has happened")
                self.assertEqual(machine.run_inside(name, "--", "touch", self.directory / f"made-{turn}").returncode, 0)
                self.assertEqual(result(), 0)
                for taken in names:
                    self.assertEqual(self.c.run_inside(taken, "-n", "--", "true").returncode, CONFLICT)
                self.assertEqual(caller.do("leave", region), 0)

    def test_several_names_at_once(self):
        (self.directory / "there").touch()
        for call in ("enter_when", "ask_when"):
            result, _, caller, region = self.begin_several(call, "there")
            self.assertEqual(result(), 0)
            self.assertEqual(caller.do("leave", region), 0)

    def test_several_names_given_up(self):
        """In time, not at all, withdrawn, cancelled by any name, killed: and the others go on, told of no death."""
        canceller, names = Caller(self.a), [f"{self.region}.{which}" for which in (1, 2)]
        for call in ("enter_when", "ask_when"):
            self.assertEqual(self.begin_several(call, "never", 0)[0](), -errno.ETIMEDOUT)
            self.assertEqual(self.begin_several(call, "never", 700)[0](), -errno.ETIMEDOUT)
            for name in names:
                result, _, caller, _ = self.begin_several(call, "never")
                wait_until(lambda: canceller.do("cancel", name, caller.pid) == 1, "that it is cancelled")
                self.assertEqual(result(), -errno.ECANCELED)
            self.begin_several(call, "never")[2].kill()
        _, _, caller, region = self.begin_several("ask_when", "never")
        self.assertEqual(caller.do("withdraw", region), 0)
        for machine in self.cluster.machines:
            for name in names:
                shown = machine.run_inside(name, "-n", "-c", "echo $AFTERYOU_AFTER_DEATH")
                self.assertEqual((shown.returncode, shown.stdout), (0, "0\n"))

    def test_several_names_deaths(self):
        """It is asked when the one that died inside of one of them is gone, and told."""
        for call in ("enter_when", "ask_when"):
            for which in (1, 2):
                file = f"made-{call}-{which}"
                result, _, caller, region = self.begin_several(call, file)
                holder = Holder(self.b, f"{self.region}.{which}")
                self.assertFalse(holder.told_of_death())
                (self.directory / file).touch()
                holder.kill()
                self.assertEqual(result(), AFTER_DEATH)
                self.assertEqual(caller.do("leave", region), 0)

    def test_several_names_agents_die(self):
        for turn, (call, machine) in enumerate((call, machine) for call in ("enter_when", "ask_when") for machine in (self.a, self.b)):
            result, _, caller, region = self.begin_several(call, f"made-{turn}")
            machine.agent.kill(signal.SIGKILL)
            machine.agent.process.wait(PATIENCE)
            machine.start_agent()
            self.assertEqual(self.b.run_inside(f"{self.region}.1", "--", "touch", self.directory / f"made-{turn}").returncode, 0)
            self.assertEqual(result(), 0)
            self.assertEqual(caller.do("leave", region), 0)

    def test_several_names_cut_off(self):
        result, _, _, _ = self.begin_several("ask_when", "made")
        self.a.cut()
        try:
            self.assertEqual(self.b.run_inside(f"{self.region}.2", "--", "touch", self.directory / "made").returncode, 0)
        finally:
            self.a.heal()
        self.assertIn(result(), (0, AFTER_DEATH))  # a machine that is cut off has died, of the name that it had last

    def test_refused(self):
        caller = Caller(self.a)
        for words in (("exclusive", "slots"), ("exclusive", "take=1,2"), ("null", f"also={self.region}.other")):
            region = caller.open(self.region, *words)
            for call in ("enter_when", "ask_when"):
                self.assertEqual(caller.do(call, region, "never", 0), -errno.ENOTSUP)
            self.region += "."


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
