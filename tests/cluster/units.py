# SPDX-License-Identifier: MIT
"""Units and slots of a cluster: none is held twice whoever is killed, as many are held at once as there are, and they are back after the death of a
process, and of a machine."""
import errno
import os
import random
import re
import subprocess
import sys
import time
import unittest

from machines import skip_unless_possible, wait_until
from support import CONFLICT, ClusterTest, Holder

UNIT_HOLDER = os.environ["CLUSTER_UNIT_HOLDER"]
AFTER_DEATH = 1
OF = 4


class UnitHolder(Holder):
    """See unit_holder.c."""

    def __init__(self, machine, region, take, of, *rounds):
        self.killed = None
        self.program = machine.start(UNIT_HOLDER, f"cluster:{machine.cluster.name}", region, str(take), str(of), *map(str, rounds),
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self._begin_reading()

    def units(self):
        """Waits until it has some: which."""
        return [int(unit) for unit in self.wait_for("entered")[4:]]

    def told_of_death(self):
        return int(self.wait_for("entered")[3]) == AFTER_DEATH

    def kill(self):
        self.killed = time.monotonic_ns()
        super().kill()

    def passages(self):
        """[(units, fence, from, until)]; whoever was killed had them no longer than until then."""
        self.reader.join()
        found = []
        for line in self.lines:
            if line[0] == "entered":
                found.append(([int(unit) for unit in line[4:]], int(line[1]), int(line[2]), self.killed))
            elif line[0] == "leaves":
                *passage, _ = found.pop()
                found.append((*passage, int(line[1])))
        return found


class Units(ClusterTest):
    def hold(self, machine, take, of=OF):
        holder = UnitHolder(self.cluster.machines[machine], self.region, take, of)
        holder.entered()
        return holder

    def wait(self, machine, take, of=OF):
        waiter = UnitHolder(self.cluster.machines[machine], self.region, take, of)
        self.assert_stays_out(waiter, 0.3)
        return waiter

    def test_all_are_held_at_once(self):
        holders = [self.hold(0, 1), self.hold(1, 2), self.hold(2, 1)]
        self.assertEqual(sorted(unit for holder in holders for unit in holder.units()), list(range(OF)))
        waiter = self.wait(0, 1)
        holders[1].leave()
        self.assertLess(set(waiter.units()), set(holders[1].units()))
        self.assertFalse(waiter.told_of_death())

    def test_slots(self):
        holders = [self.hold(machine % 3, 0, 5) for machine in range(5)]
        waiter = self.wait(1, 0, 5)
        self.assertEqual([holder.units() for holder in holders], [[]] * 5, "slots have no numbers")
        holders[0].leave()
        waiter.entered()

    def test_back_after_a_kill(self):
        holder = self.hold(0, 3)
        waiter = self.wait(1, 2)
        holder.kill()
        waiter.entered()
        self.assertTrue(waiter.told_of_death(), "of one who had them before")
        third = self.hold(2, 2)
        self.assertEqual(sorted(waiter.units() + third.units()), list(range(OF)))

    def test_thread_ends_inside(self):
        """What it had is the next one's, on whatever machine, and not that of the next thread of its process."""
        first = UnitHolder(self.cluster.machines[0], self.region, 1, 1, "thread")
        first.wait_for("thread")
        other = self.hold(1, 1, 1)
        self.assertTrue(other.told_of_death())
        print("go on", file=first.program.process.stdin, flush=True, end="")
        self.assert_stays_out(first, 0.5)
        other.leave()
        self.assertGreater(first.entered()[0], other.entered()[0])
        self.assertEqual(first.units(), [0])
        self.assertFalse(first.told_of_death())

    def test_death_is_not_swallowed(self):
        """Who gets a unit after a death, but not enough of them in time, leaves it to the next one to be told."""
        for machine in range(2):
            self.region = f"swallowed {machine}"
            killed, holder = self.hold(0, 1, 2), self.hold(1, 1, 2)
            killed.kill()
            shown = self.cluster.machines[machine].run_inside(self.region, "-w", "1.5", "--take", "2", "--of", "2", "true")
            self.assertEqual(shown.returncode, CONFLICT)
            following = self.hold(2, 1, 2)
            self.assertEqual(following.units(), killed.units())
            self.assertTrue(following.told_of_death())
            following.leave()
            self.assertFalse(self.hold(0, 1, 2).told_of_death(), "once")
            holder.leave()

    def test_waiter_killed(self):
        holder = self.hold(0, OF)
        self.wait(1, 2).kill()
        waiter = self.wait(2, 1)
        holder.leave()
        waiter.entered()
        self.assertEqual(sorted(waiter.units() + self.hold(0, OF - 1).units()), list(range(OF)), "what the dead one had by then is back")

    def test_large_before_small(self):
        """Who waits for many keeps its turn: a small request that comes later does not take what is free."""
        holder = self.hold(0, 2)
        large = self.wait(1, OF)
        small = self.wait(2, 1)
        holder.leave()
        self.assertEqual(large.units(), list(range(OF)))
        self.assert_stays_out(small, 0.2)
        large.leave()
        small.entered()

    def test_machine_dies(self):
        holder = self.hold(2, 3)
        waiter = self.wait(0, OF)
        died = time.monotonic_ns()
        self.cluster.machines[2].power_off()
        try:
            self.assertGreater(waiter.entered()[1] - died, 1_000_000_000, "not before its burial")
            self.assertIsNone(holder.find("leaves"))
        finally:
            self.cluster.machines[2].power_on()
            self.cluster.machines[2].start_corosync()
            self.cluster.machines[2].start_agent()
            self.cluster.wait_for_members(3)

    def test_cut_off(self):
        """Who is cut off is told before another has its units."""
        holder = self.hold(2, 2)
        other = self.hold(1, 1)
        waiter = self.wait(0, 2)
        self.cluster.machines[2].cut()
        try:
            told = holder.lost()
            self.assertGreater(waiter.entered()[1], told)
            self.assertIsNone(other.find("lost"))
        finally:
            self.cluster.machines[2].heal()
            self.cluster.wait_for_members(3)

    def test_waiter_cut_off(self):
        """Who has its turn at the door, and some units, and is cut off, has neither afterwards."""
        holder = self.hold(1, 1, 2)
        waiter = self.wait(2, 2, 2)
        self.cluster.machines[2].cut()
        try:
            other = self.hold(0, 1, 2)
        finally:
            self.cluster.machines[2].heal()
            self.cluster.wait_for_members(3)
        holder.leave()
        self.assert_stays_out(waiter, 1.5)
        other.leave()
        self.assertEqual(waiter.units(), [0, 1])
        self.assertGreater(waiter.entered()[0], other.entered()[0])

    def test_agent_killed(self):
        """What is held outlives the agent of its machine, if there is another soon."""
        holder = self.hold(0, 2)
        machine = self.cluster.machines[0]
        machine.agent.kill()
        machine.agent.process.wait()
        machine.start_agent()
        self.cluster.wait_for_members(3)
        waiter = self.wait(1, 3)
        self.assertIsNone(holder.find("lost"))
        holder.leave()
        waiter.entered()

    def test_no_agent(self):
        """Who waits for units where no agent comes back is told so."""
        holder = self.hold(1, OF)
        waiter = self.wait(0, 1)
        machine = self.cluster.machines[0]
        machine.agent.kill()
        machine.agent.process.wait()
        try:
            self.assertEqual(int(waiter.wait_for("failed")[1]), errno.EHOSTDOWN)
        finally:
            machine.start_agent()
            self.cluster.wait_for_members(3)
        holder.leave()
        self.hold(0, OF)

    def test_command(self):
        machine = self.cluster.machines[0]
        shown = machine.run_inside(self.region, "--take", "2", "--of", str(OF), "-c", "echo $AFTERYOU_UNITS")
        self.assertEqual((shown.returncode, len(shown.stdout.replace(",", " ").split())), (0, 2), shown)
        holder = self.hold(1, 3)
        self.assertEqual(machine.run_inside(self.region, "-n", "--take", "2", "--of", str(OF), "true").returncode, CONFLICT)
        self.assertEqual(machine.run_inside(self.region, "-w", "0.3", "--take", "2", "--of", str(OF), "true").returncode, CONFLICT)
        self.assertEqual(machine.run_inside(self.region, "-n", "--take", "1", "--of", str(OF), "true").returncode, 0)
        shown = self.afteryou(self.cluster.machines[1], "status", "-S", f"cluster:{self.cluster.name}").stdout
        self.assertRegex(shown, rf"{self.region} +inside +takes 3 ")
        self.assertEqual(len(re.findall(rf"{self.region}, unit \d +inside", shown)), 3, shown)
        holder.leave()
        self.assertEqual(machine.run_inside(self.region, "-w", "10", "--take", str(OF), "--of", str(OF), "true").returncode, 0)

    def test_killed_guardian(self):
        """Its command is ended before its units are another's."""
        machine = self.cluster.machines[0]
        command = machine.start_inside(self.region, "--take", str(OF), "--of", str(OF), "-c", "echo in; exec sleep 1000", stdout=subprocess.PIPE, text=True)
        self.assertEqual(command.process.stdout.readline(), "in\n")
        waiter = self.wait(1, 1)
        command.kill()
        self.assertEqual(command.process.stdout.read(), "", "the command has ended")
        waiter.entered()

    def test_storm(self):
        """Processes on all machines take one to three units; some are killed. No unit is held twice."""
        random.seed(os.environ.get("SEED", "1"))
        holders, living = [], []
        end = time.monotonic() + 6
        while time.monotonic() < end:
            if len(living) < 6:
                machine = random.choice(self.cluster.machines)
                living.append(UnitHolder(machine, self.region, random.randint(1, 3), OF, 1000, random.randint(0, 8)))
                holders.append(living[-1])
            else:
                time.sleep(random.uniform(0, 0.15))
                living.pop(random.randrange(len(living))).kill()
        for holder in living:
            holder.kill()
        passages = sorted((since, until, unit, fence) for holder in holders for units, fence, since, until in holder.passages() for unit in units)
        free, fences = dict.fromkeys(range(OF), 0), dict.fromkeys(range(OF), 0)
        for since, until, unit, fence in passages:
            self.assertGreater(since, free[unit], f"unit {unit}")
            self.assertGreater(fence, fences[unit], f"unit {unit}")
            free[unit], fences[unit] = until, fence
        killed = sum(any(passage[-1] == holder.killed for passage in holder.passages()) for holder in holders)
        print(f"{len(passages)} units taken by {len(holders)} processes, of which {killed} were killed with some", file=sys.stderr)
        self.assertGreater(killed, 3)
        self.assertEqual(len(self.hold(0, OF).units()), OF, "all are back")


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
