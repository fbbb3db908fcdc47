# SPDX-License-Identifier: MIT
"""Asks of a cluster's regions that are more than one name in its turn: with a condition, slots, units, several names. Each is decided as a call that waits
would be; and nothing stays behind of one that is withdrawn, is late, dies or is cut off."""
import errno
import pathlib
import random
import signal
import tempfile
import threading
import time
import unittest

from machines import PATIENCE, skip_unless_possible, wait_until
from support import CONFLICT, Caller, ClusterTest, Holder

AFTER_DEATH, ASKED = 1, -errno.EINPROGRESS
CUT_OFF = (0, AFTER_DEATH)  # who enters after a machine was cut off may be told of a death: that one's, if it was the last to use a name
OF = 3  # units
ROUNDS = 40  # of each of those who ask, in the storm


class Asks(ClusterTest):
    def setUp(self):
        super().setUp()
        self.a, self.b, self.c = self.cluster.machines
        self.first, self.second = f"{self.region}.1", f"{self.region}.2"  # in the order in which they are entered
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def open_several(self, caller):
        return caller.open(self.second, "exclusive", f"also={self.first}")

    def open_units(self, caller, take=2):
        return caller.open(self.region, "exclusive", f"take={take},{OF}")

    def ask_until_decided(self, caller, *words):
        result = caller.do(*words)
        return caller.decided(words[1])[0] if result == ASKED else result

    def hold(self, machine, name, *words):
        holder = Holder(machine, name, *words)
        holder.entered()
        return holder

    def tries(self, machine, name):
        shown = machine.run_inside(name, "-n", "-c", "echo $AFTERYOU_AFTER_DEATH")
        self.assertIn(shown.returncode, (0, CONFLICT), shown.stderr)
        return shown.stdout.strip() if shown.returncode == 0 else None

    def take(self, machine, count):
        """Whether there are so many units at once; and whether it is told of a death."""
        shown = machine.run_inside(self.region, "-n", "--take", str(count), "--of", str(OF), "-c", "echo $AFTERYOU_AFTER_DEATH")
        return shown.stdout.strip() if shown.returncode == 0 else None

    def assert_undecided(self, caller, seconds=0.5):
        told = len(caller.told)
        time.sleep(seconds)
        self.assertEqual(len(caller.told), told)

    # ---- several names ----

    def test_several(self):
        """Inside of all, or of none; on whatever machine the others are."""
        holder, caller = self.hold(self.b, self.second), Caller(self.a)
        both = self.open_several(caller)
        self.assertEqual(caller.do("ask", both), ASKED)
        wait_until(lambda: self.tries(self.c, self.first) is None, "that it has the first")
        self.assert_undecided(caller)
        self.assertEqual(caller.do("ask", both), -errno.EALREADY)
        self.assertEqual(caller.do("enter", both), -errno.EDEADLK)
        holder.leave()
        result, fence = caller.decided(both)
        self.assertEqual((result, caller.do("valid", both)), (0, 1))
        self.assertEqual([self.tries(self.c, name) for name in (self.first, self.second)], [None, None])
        self.assertEqual(caller.do("withdraw", both), -errno.EALREADY)
        self.assertEqual(caller.do("convert", both, "shared", 0), 0)
        self.assertEqual(caller.do("leave", both), 0)
        self.assertEqual([self.tries(self.c, name) for name in (self.first, self.second)], ["0", "0"])
        self.assertEqual(self.ask_until_decided(caller, "ask", both), 0)
        self.assertEqual(caller.do("leave", both), 0)
        self.assertEqual(caller.do("enter", both), 0, "and waited for, after that")
        self.assertGreater(caller.fence(), fence)
        self.assertEqual(caller.do("leave", both), 0)

    def test_several_in_queues_of_one_machine(self):
        """Two askers of one process, and one that waits, all of one machine: one after the other."""
        caller, other = Caller(self.a), Caller(self.a)
        regions, waited = [self.open_several(caller) for _ in range(2)], self.open_several(other)
        self.assertEqual(self.ask_until_decided(caller, "ask", regions[0]), 0)
        self.assertEqual(caller.do("ask", regions[1]), ASKED)
        entered = other.begin("enter", waited)
        self.assert_undecided(caller)
        self.assertEqual(caller.do("leave", regions[0]), 0)
        self.assertEqual(caller.decided(regions[1])[0], 0)
        self.assertEqual(caller.do("leave", regions[1]), 0)
        self.assertEqual(entered(), 0)

    def test_several_given_up(self):
        """Withdrawn, late, not waited for, cancelled by a name that it has and by one that it has not, closed, killed: it keeps nothing."""
        holder, canceller = self.hold(self.b, self.second), Caller(self.a)

        def ask():
            caller = Caller(self.a)
            both = self.open_several(caller)
            self.assertEqual(caller.do("ask", both), ASKED)
            return caller, both

        def cancel(name):
            caller, both = ask()
            pid = caller.do("pid")
            wait_until(lambda: self.tries(self.c, self.first) is None, "that it has the first")
            wait_until(lambda: canceller.do("cancel", name, pid) == 1, "that it is cancelled")
            self.assertEqual(caller.decided(both)[0], -errno.ECANCELED)

        def withdraw(call):
            caller, both = ask()
            wait_until(lambda: self.tries(self.c, self.first) is None, "that it has the first")
            self.assertEqual(caller.do(call, both), 0)
            self.assert_undecided(caller)

        def kill():
            caller, _ = ask()
            wait_until(lambda: self.tries(self.c, self.first) is None, "that it has the first")
            caller.kill()

        def be_late(limit):
            caller = Caller(self.a)
            both = self.open_several(caller)
            self.assertEqual(self.ask_until_decided(caller, "ask", both, limit), -errno.ETIMEDOUT)
            self.assertEqual(caller.do("ask", both), ASKED, "again")
            self.assertEqual(caller.do("withdraw", both), 0)

        for way, *words in ((withdraw, "withdraw"), (withdraw, "close"), (be_late, 300), (be_late, 0), (cancel, self.first), (cancel, self.second), (kill,)):
            with self.subTest(way=way.__name__, words=words):
                way(*words)
                self.assertEqual(wait_until(lambda: self.tries(self.c, self.first), "that the first is free"), "0")
        self.assertTrue(holder.is_inside())

    def test_several_deaths(self):
        """Told of any of them, once; and left to the next by who is withdrawn after it was told."""
        caller = Caller(self.a)
        both, killed, holder = self.open_several(caller), self.hold(self.b, self.first), self.hold(self.c, self.second)
        self.assertEqual(caller.do("ask", both), ASKED)
        killed.kill()
        self.assert_undecided(caller, 1)  # it has the first by then
        self.assertEqual(caller.do("withdraw", both), 0)
        self.assertEqual(wait_until(lambda: self.tries(self.c, self.first), "that the first is free"), "1")
        killed = self.hold(self.b, self.first)
        self.assertEqual(caller.do("ask", both), ASKED)
        killed.kill()
        self.assert_undecided(caller, 1)
        holder.leave()
        self.assertEqual(caller.decided(both)[0], AFTER_DEATH)
        caller.kill()  # inside of both
        self.assertEqual([self.tries(self.c, name) for name in (self.first, self.second)], ["1", "1"])
        self.assertEqual([self.tries(self.b, name) for name in (self.first, self.second)], ["0", "0"])

    def test_several_cut_off(self):
        """What it had was lost: it begins anew, and is decided when it is back."""
        holder, caller = self.hold(self.b, self.second), Caller(self.a)
        both = self.open_several(caller)
        self.assertEqual(caller.do("ask_by_thread", both), ASKED)
        wait_until(lambda: self.tries(self.c, self.first) is None, "that it has the first")
        self.a.cut()
        try:
            usurper = self.hold(self.c, self.first)
            holder.leave()
        finally:
            self.a.heal()
        self.assert_undecided(caller)
        usurper.leave()
        self.assertIn(caller.decided(both)[0], CUT_OFF)
        self.assertEqual(caller.do("valid", both), 1)
        self.assertIsNone(self.tries(self.b, self.first))
        self.assertEqual(caller.do("end_thread"), 0)
        self.assertEqual(wait_until(lambda: self.tries(self.b, self.first), "that it died inside"), "1")

    def test_lost_inside(self):
        """What was entered by an ask is lost as any is, and others are inside then, though it does not leave."""
        for kind, opened, free in (("several", self.open_several, lambda: self.tries(self.c, self.first)),
                                   ("units", self.open_units, lambda: self.take(self.c, 2))):
            with self.subTest(kind=kind):
                caller = Caller(self.a)
                region = opened(caller)
                self.assertEqual(self.ask_until_decided(caller, "ask", region), 0)
                self.a.cut()
                try:
                    wait_until(lambda: caller.do("valid", region) == 0, "that it is lost")
                finally:
                    self.a.heal()
                wait_until(free, "that others are inside")
                self.assertEqual(caller.do("valid", region), 0)
                self.assertEqual(caller.do("leave", region), 0)
                self.assertIn(self.ask_until_decided(caller, "ask", region), CUT_OFF)
                self.assertEqual((caller.do("valid", region), caller.do("leave", region)), (1, 0))

    # ---- slots and units ----

    def test_units(self):
        """As many as it takes; who asks for more than there are waits, and those behind it wait for it."""
        caller, other = Caller(self.a), Caller(self.b)
        two, again, one = self.open_units(caller), self.open_units(caller), self.open_units(other, 1)
        self.assertEqual(self.ask_until_decided(caller, "ask", two), 0)
        self.assertEqual((caller.do("units", two), caller.do("valid", two)), (2, 1))
        self.assertEqual(caller.do("ask", again), ASKED)
        self.assert_undecided(caller)
        self.assertEqual(other.do("ask", one), ASKED)  # there is one, but somebody has its turn
        self.assert_undecided(other)
        self.assertEqual(caller.do("leave", two), 0)
        self.assertEqual(caller.decided(again)[0], 0)
        self.assertEqual(other.decided(one)[0], 0)
        self.assertEqual(self.take(self.c, 1), None)
        self.assertEqual((caller.do("leave", again), other.do("leave", one)), (0, 0))
        self.assertEqual(self.take(self.c, OF), "0")
        self.assertEqual(caller.do("enter", two), 0, "and waited for, after that")
        self.assertEqual(caller.do("leave", two), 0)

    def test_slots(self):
        callers = [Caller(machine) for machine in self.cluster.machines]
        regions = [caller.open(self.region, "exclusive", "slots") for caller in callers]
        for caller, region in list(zip(callers, regions))[:2]:
            self.assertEqual(self.ask_until_decided(caller, "ask", region), 0)
        self.assertEqual(callers[2].do("ask", regions[2]), ASKED)
        self.assert_undecided(callers[2])
        callers[0].kill()
        self.assertEqual(callers[2].decided(regions[2])[0], AFTER_DEATH)

    def test_units_given_up(self):
        """Withdrawn, late, not waited for, cancelled, closed, killed: it keeps none."""
        holder, canceller = Caller(self.b), Caller(self.a)
        held = self.open_units(holder)
        self.assertEqual(holder.do("enter", held), 0)
        for way in ("withdraw", "close", "late", "at-once", "cancel", "kill"):
            with self.subTest(way=way):
                caller = Caller(self.a)
                region = self.open_units(caller)
                if way in ("late", "at-once"):
                    result = self.ask_until_decided(caller, "ask", region, 400 if way == "late" else 0)
                    self.assertEqual(result, -errno.ETIMEDOUT)
                else:
                    self.assertEqual(caller.do("ask", region), ASKED)
                    wait_until(lambda: self.take(self.c, 1) is None, "that it has its turn")
                    pid = caller.do("pid")
                if way in ("withdraw", "close"):
                    self.assertEqual(caller.do(way, region), 0)
                    self.assert_undecided(caller)
                if way == "cancel":
                    wait_until(lambda: canceller.do("cancel", self.region, pid) == 1, "that it is cancelled")
                    self.assertEqual(caller.decided(region)[0], -errno.ECANCELED)
                if way == "kill":
                    caller.kill()
                self.assertIsNotNone(wait_until(lambda: self.take(self.c, 1), "that the third is free"))
        self.assertEqual(holder.do("leave", held), 0)

    def test_units_cut_off(self):
        holder, caller = Caller(self.b), Caller(self.a)
        held, region = self.open_units(holder), self.open_units(caller)
        self.assertEqual(holder.do("enter", held), 0)
        self.assertEqual(caller.do("ask", region), ASKED)
        wait_until(lambda: self.take(self.c, 1) is None, "that it has its turn")
        self.a.cut()
        try:
            wait_until(lambda: self.take(self.c, 1), "that its turn and what it had are lost")
            self.assertEqual(holder.do("leave", held), 0)
        finally:
            self.a.heal()
        self.assertIn(caller.decided(region)[0], CUT_OFF)
        self.assertEqual((caller.do("valid", region), caller.do("units", region)), (1, 2))
        self.assertIsNone(self.take(self.c, 2))

    def test_life_of_the_asker(self):
        """Another thread goes on with what one has asked for. It is that one's: it holds for as long as that one lives, and no longer."""
        for kind, opened, free in (("several", self.open_several, lambda: self.tries(self.c, self.first)),
                                   ("units", self.open_units, lambda: self.take(self.c, 2))):
            with self.subTest(kind=kind):
                blocker, caller = Caller(self.b), Caller(self.a)
                held, region = opened(blocker), opened(caller)
                self.assertEqual(blocker.do("enter", held), 0)
                self.assertEqual(caller.do("ask_by_thread", region), ASKED)
                self.assertEqual(blocker.do("leave", held), 0)
                self.assertEqual(caller.decided(region)[0], 0)
                self.assertIsNone(free())
                self.assertEqual(caller.do("end_thread"), 0)
                self.assertEqual(wait_until(free, "that it died inside"), "1")

    def test_units_left_by_another_thread(self):
        """One asks, and another goes on, finds all units at hand, and leaves."""
        caller = Caller(self.a)
        region = self.open_units(caller)
        self.assertEqual(self.ask_until_decided(caller, "ask", region), 0)
        self.assertEqual(caller.do("leave", region), 0)
        for _ in range(2):
            holder = self.hold(self.b, self.region)  # at the door, and has no unit
            self.assertEqual(caller.do("ask_by_thread", region), ASKED)
            holder.leave()
            self.assertEqual(caller.decided(region)[0], 0)
            self.assertEqual(caller.do("leave", region), 0)
            self.assertEqual(caller.do("end_thread"), 0)
        self.assertEqual(self.take(self.c, OF), "0")

    # ---- conditions ----

    def make(self, machine, name):
        self.assertEqual(machine.run_inside(self.region, "--", "touch", self.directory / name).returncode, 0)

    def test_condition(self):
        """Decided once somebody has made it true, on whatever machine; keeps nobody out meanwhile, and is not asked in vain."""
        for turn, machine in enumerate((self.b, self.a)):
            caller, file = Caller(self.a), self.directory / f"made-{turn}"
            region, looks = caller.open(self.region), pathlib.Path(f"{file}.{caller.do('pid')}")
            self.assertEqual(caller.do("ask_when", region, file), ASKED)
            wait_until(looks.exists, "its first look")
            for other in self.cluster.machines:
                self.assertEqual(self.tries(other, self.region), "0")
            self.assert_undecided(caller)
            before = looks.stat().st_size
            self.assert_undecided(caller, 1.5)
            self.assertEqual(looks.stat().st_size, before, "nothing has happened")
            self.make(machine, file.name)
            self.assertEqual(caller.decided(region)[0], 0)
            self.assertIsNone(self.tries(self.c, self.region))
            self.assertEqual(caller.do("leave", region), 0)

    def test_condition_true_at_once(self):
        (self.directory / "there").touch()
        caller = Caller(self.a)
        self.assertEqual(self.ask_until_decided(caller, "ask_when", caller.open(self.region), self.directory / "there"), 0)

    def test_conditions_of_one_thread(self):
        """It waits for many things at once, and for each as long as it likes."""
        caller = Caller(self.a)
        regions = {name: caller.open(self.region) for name in ("one", "two", "three")}
        for name, region in regions.items():
            self.assertEqual(caller.do("ask_when", region, self.directory / name, *([1000] if name == "three" else [])), ASKED)
        self.make(self.b, "two")
        self.assertEqual(caller.decided(regions["two"])[0], 0)
        self.assertEqual(caller.do("leave", regions["two"]), 0)
        self.assertEqual(caller.decided(regions["three"])[0], -errno.ETIMEDOUT)
        self.assertEqual(caller.do("withdraw", regions["one"]), 0)
        self.assertEqual(self.tries(self.c, self.region), "0")
        self.assertEqual(self.ask_until_decided(caller, "ask_when", regions["one"], self.directory / "one", 0), -errno.ETIMEDOUT)

    def test_renamed(self):
        """What is asked for keeps its name: though it is outside, while it sleeps on its condition."""
        caller, file = Caller(self.a), self.directory / "made"
        region, looks = caller.open(self.region), pathlib.Path(f"{file}.{caller.do('pid')}")
        self.assertEqual(caller.do("ask_when", region, file), ASKED)
        wait_until(looks.exists, "its first look")
        self.assertEqual(self.tries(self.b, self.region), "0")
        self.assertEqual(caller.do("rename", region, f"{self.region}.other"), -errno.EBUSY)
        self.make(self.b, "made")
        self.assertEqual(caller.decided(region)[0], 0)
        self.assertEqual(caller.do("leave", region), 0)
        self.assertEqual(caller.do("rename", region, f"{self.region}.other"), 0)
        self.assertEqual(self.ask_until_decided(caller, "ask", region), 0)

    def test_several_conditional_cancelled(self):
        """By any of its names: while it sleeps on its condition, and when it has been woken and waits for the first of them; a thread that waits, too."""
        canceller = Caller(self.a)
        for call, name, woken in ((call, name, woken) for call in ("ask_when", "enter_when") for name in (self.first, self.second) for woken in (False, True)):
            with self.subTest(call=call, name=name, woken=woken):
                caller, file = Caller(self.a), self.directory / f"never-{call}-{name}-{woken}"
                both, pid = self.open_several(caller), caller.do("pid")
                looks, ended = pathlib.Path(f"{file}.{pid}"), caller.begin(call, both, file)
                wait_until(looks.exists, "its first look")
                for other in (self.first, self.second):
                    wait_until(lambda: self.tries(self.b, other), "that it is asleep")  # pylint: disable=cell-var-from-loop
                holder = self.hold(self.b, self.first) if woken else None
                self.assert_undecided(caller)
                cancelled = canceller.do("cancel", name, pid)
                if holder:
                    holder.leave()
                self.assertEqual(cancelled, 1)
                result = ended()
                self.assertEqual(caller.decided(both)[0] if result == ASKED else result, -errno.ECANCELED)

    def test_condition_killed(self):
        """The one inside: it is asked then, and told of the death. The one that asked: nobody is told."""
        caller, never = Caller(self.a), Caller(self.c)
        region = caller.open(self.region)
        self.assertEqual(caller.do("ask_when", region, self.directory / "made"), ASKED)
        self.assertEqual(never.do("ask_when", never.open(self.region), self.directory / "never"), ASKED)
        self.assertEqual(self.tries(self.b, self.region), "0")
        never.kill()
        holder = Holder(self.b, self.region)
        self.assertFalse(holder.told_of_death())
        (self.directory / "made").touch()
        holder.kill()
        self.assertEqual(caller.decided(region)[0], AFTER_DEATH)

    def test_condition_agents_die(self):
        for turn, machine in enumerate((self.a, self.b)):
            caller = Caller(self.a)
            region = caller.open(self.region)
            self.assertEqual(caller.do("ask_when", region, self.directory / f"made-{turn}"), ASKED)
            machine.agent.kill(signal.SIGKILL)
            machine.agent.process.wait(PATIENCE)
            machine.start_agent()
            self.make(self.b, f"made-{turn}")
            self.assertEqual(caller.decided(region)[0], 0)
            self.assertEqual(caller.do("leave", region), 0)

    # ---- all of it at once ----

    def test_storm(self):
        """Askers of all kinds are killed, withdraw and leave while agents are killed and come back: never two that conflict are inside at once, and nothing is
        left over at the end."""
        names, book, inside, faults, units = [f"{self.region}.{which}" for which in range(4)], threading.Lock(), {}, [], f"{self.region}.units"
        stop = threading.Event()

        def conflicts(mine):
            others = list(inside.values())
            if isinstance(mine, int):
                return mine + sum(other for other in others if isinstance(other, int)) > OF
            return any(set(mine) & set(other) for other in others if not isinstance(other, int))

        def ask_often(machine, seed):
            try:
                ask_and_leave(machine, seed)
            except Exception as fault:  # pylint: disable=broad-except
                faults.append((seed, repr(fault)))

        def ask_and_leave(machine, seed):
            chance, caller, regions = random.Random(seed), Caller(machine), {}
            for turn in range(ROUNDS):
                mine = chance.randint(1, 2) if chance.random() < 0.4 else tuple(chance.sample(names, chance.randint(1, 3)))
                if mine not in regions:
                    regions[mine] = caller.open(units, "exclusive", f"take={mine},{OF}") if isinstance(mine, int) else \
                        caller.open(mine[0], "exclusive", "also=" + ",".join(mine[1:]))
                region, fate = regions[mine], chance.random()
                result = caller.do("ask", region)
                if result == ASKED and fate < 0.1:
                    time.sleep(chance.random() / 50)
                    withdrawn = caller.do("withdraw", region)
                    if withdrawn == 0:
                        continue
                    result = caller.decided(region)[0]
                elif result == ASKED and fate < 0.2:
                    time.sleep(chance.random() / 50)
                    caller.kill()
                    caller, regions = Caller(machine), {}
                    continue
                elif result == ASKED:
                    result = caller.decided(region)[0]
                with book:
                    if result not in (0, AFTER_DEATH) or conflicts(mine):
                        faults.append((seed, turn, mine, result, dict(inside)))
                    inside[seed] = mine
                with book:  # it is out of the book before it is out
                    del inside[seed]
                if fate > 0.9:
                    caller.kill()
                    caller, regions = Caller(machine), {}
                else:
                    caller.do("leave", region)

        def kill_agents():
            chance = random.Random(1)
            while not stop.wait(2):
                machine = chance.choice(self.cluster.machines)
                machine.agent.kill(signal.SIGKILL)
                machine.agent.process.wait(PATIENCE)
                machine.start_agent()

        threads = [threading.Thread(target=ask_often, args=(machine, seed)) for seed, machine in enumerate(2 * self.cluster.machines)]
        killer = threading.Thread(target=kill_agents)
        for thread in threads + [killer]:
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        killer.join()
        self.assertEqual(faults, [])
        for name in names:
            self.assertIsNotNone(wait_until(lambda: self.tries(self.c, name), f"that {name} is free"))
        self.region = units
        self.assertIsNotNone(wait_until(lambda: self.take(self.a, OF), "that all units are free"))


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
