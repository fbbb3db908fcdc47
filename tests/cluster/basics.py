# SPDX-License-Identifier: MIT
"""Regions of three machines while all is well: exclusion, order, modes, fences, deaths of processes, status."""
import json
import re
import subprocess
import unittest

from fields import differences
from machines import AFTERYOU, skip_unless_possible, wait_until
from support import CONFLICT, ClusterTest, Holder


class Basics(ClusterTest):
    def test_three_machines_in_turn(self):
        before = 0
        for turn in range(3):
            for machine in self.cluster.machines:
                shown = machine.run_inside(self.region, "-c", "echo $(hostname) $AFTERYOU_FENCE")
                self.assertEqual(shown.returncode, 0, shown.stderr)
                host, fence = shown.stdout.split()
                self.assertEqual(host, machine.name)
                self.assertGreater(int(fence), before, f"turn {turn}")
                before = int(fence)

    def test_one_at_a_time(self):
        a, b, c = self.cluster.machines
        first = Holder(a, self.region)
        fence, _ = first.entered()
        self.assertFalse(first.told_of_death())
        for other in (b, c):
            self.assertEqual(other.run_inside(self.region, "-n", "--", "true").returncode, CONFLICT)
            self.assertEqual(other.run_inside(self.region, "-w", "0.3", "--", "true").returncode, CONFLICT)
        second, third = Holder(b, self.region), Holder(c, self.region)
        self.assert_stays_out(second, 0.3)
        self.assertIsNone(third.find("entered"))
        self.assertTrue(first.is_inside())
        first.leave()
        inside = wait_until(lambda: [one for one in (second, third) if one.find("entered")], "the next")
        self.assertEqual(len(inside), 1)
        last = third if inside[0] is second else second
        self.assertGreater(inside[0].entered()[0], fence)
        self.assertIsNone(last.find("entered"))
        inside[0].leave()
        self.assertGreater(last.entered()[0], inside[0].entered()[0])
        last.leave()

    def test_regions_are_independent(self):
        a, b, _ = self.cluster.machines
        one, other = Holder(a, self.region + "-1"), Holder(b, self.region + "-2")
        one.entered()
        other.entered()
        self.assertTrue(one.is_inside() and other.is_inside())

    def test_shared(self):
        a, b, c = self.cluster.machines
        readers = [Holder(a, self.region, "shared"), Holder(b, self.region, "shared")]
        for reader in readers:
            reader.entered()
        writer = Holder(c, self.region)
        self.assert_stays_out(writer, 0.3)
        readers[0].leave()
        self.assert_stays_out(writer, 0.3)
        readers[1].leave()
        fence, _ = writer.entered()
        self.assertGreater(fence, max(int(reader.find("entered")[1]) for reader in readers))
        late = Holder(a, self.region, "shared")
        self.assert_stays_out(late, 0.3)
        writer.leave()
        self.assertGreater(late.entered()[0], fence)

    def test_two_of_one_machine(self):
        a, b, _ = self.cluster.machines
        first, second, elsewhere = Holder(a, self.region), None, None
        fence, _ = first.entered()
        second = Holder(a, self.region)
        elsewhere = Holder(b, self.region)
        self.assert_stays_out(second, 0.3)
        self.assertIsNone(elsewhere.find("entered"))
        first.leave()
        for one in (second, elsewhere):
            wait_until(lambda: second.is_inside() or elsewhere.is_inside(), "the next")
            self.assertFalse(second.is_inside() and elsewhere.is_inside())
            inside = second if second.is_inside() else elsewhere
            self.assertGreater(inside.entered()[0], fence, one)
            fence = inside.entered()[0]
            inside.leave()

    def test_told_that_it_is_wanted(self):
        """By another machine, whose agent's wait is one like any other's."""
        a, b, _ = self.cluster.machines
        holder = Holder(a, self.region, "tell")
        holder.entered()
        self.assertIsNone(holder.find("wanted"))
        waiter = Holder(b, self.region)
        self.assertEqual(holder.wait_for("wanted")[1], "1")
        holder.leave()
        waiter.entered()

    def test_holder_killed(self):
        holder, waiter = self.held_and_wanted()
        holder.kill()
        self.assertGreater(waiter.entered()[0], holder.entered()[0])
        self.assertTrue(waiter.told_of_death(), "somebody died inside, on another machine")
        waiter.leave()
        later = Holder(self.cluster.machines[2], self.region)
        later.entered()
        self.assertFalse(later.told_of_death(), "one is told, once")

    def test_waiter_killed(self):
        _, b, c = self.cluster.machines
        holder, waiter = self.held_and_wanted()
        other = Holder(c, self.region)
        self.assert_stays_out(other, 0.2)
        waiter.kill()
        holder.leave()
        other.entered()
        other.leave()
        self.assert_enters(b)

    def test_command_killed(self):
        a, b, _ = self.cluster.machines
        running = a.start_inside(self.region, "--", "sleep", "1000")
        waiter = Holder(b, self.region)
        self.assert_stays_out(waiter, 0.3)
        running.kill()
        waiter.entered()

    def test_status_of_all_machines(self):
        c = self.cluster.machines[2]
        holder, _ = self.held_and_wanted()
        fence, _ = holder.entered()

        def both():
            shown = self.afteryou(c, "status", "--cluster", self.cluster.name)
            lines = [line for line in shown.stdout.splitlines() if self.region in line]
            return lines if any("inside" in line for line in lines) and any("wait" in line for line in lines) else None
        lines = wait_until(both, "holder and waiter in the status of a third machine")
        self.assertTrue(any("inside" in line and str(fence) in line for line in lines), lines)
        shown = self.afteryou(c, "status", "--cluster", self.cluster.name, "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn(self.region, json.dumps(json.loads(shown.stdout)))
        ours = [line for line in differences("afteryou status --cluster NAME --json", [json.loads(shown.stdout)]) if "units[] is in no" not in line]
        self.assertEqual(ours, [])  # a cluster has no units
        machines = json.loads(shown.stdout)["machines"]
        self.assertTrue(all(machine["lease_seconds"] > 0 for machine in machines), machines)
        permitted = [machine["machine"] for machine in machines if {"name": self.region, "mode": "exclusive"} in machine["permissions"]]
        inside = [machine["machine"] for machine in machines for place in machine["seen"]
                  if place["state"] == "inside" and place["names"] == [self.region]]
        self.assertEqual(permitted, inside, "where somebody is inside, and nowhere else")

    def test_refused(self):
        a = self.cluster.machines[0]
        shown = self.afteryou(a, "run", "x", "--cluster", "no-such", "--", "true")
        self.assertEqual(shown.returncode, 125)
        self.assertIn("no-such", shown.stderr)
        for words in (("-k", "257"), ("--priority", "1"), ("--when", "true", "-k", "2")):
            shown = a.run_inside(self.region + "-refused", *words, "--", "true")
            self.assertEqual(shown.returncode, 125, words)
            self.assertIn("cluster", shown.stderr)

    def test_metrics(self):
        a = self.cluster.machines[0]
        shown = a.run("curl", "-s", "--unix-socket", f"/run/afteryou/{self.cluster.name}/metrics", "http://localhost/metrics")
        if shown.returncode == 127:
            self.skipTest("needs curl")
        self.assertRegex(shown.stdout, r"(?m)^# TYPE afteryou_\w+ (counter|gauge)$")
        self.assertRegex(shown.stdout, r"(?m)^afteryou_\w*quor\w*(\{.*\})? 1$")
        self.assertRegex(shown.stdout, r"(?m)^afteryou_agent_links\{.*\} 2$")

    def test_each_machine_is_linked_with_the_others(self):
        a = self.cluster.machines[0]

        def linked():
            shown = self.afteryou(a, "status", "--cluster", self.cluster.name, "--json")
            machines = json.loads(shown.stdout)["machines"]
            return machines if all(peer["up"] and peer["round_trip_seconds"] for machine in machines for peer in machine["peers"]) else None
        machines = wait_until(linked, "all links are up, and measured")
        self.assertEqual({machine["machine"]: sorted(peer["machine"] for peer in machine["peers"]) for machine in machines},
                         {"a": ["b", "c"], "b": ["a", "c"], "c": ["a", "b"]})
        self.assertEqual({machine["links"] for machine in machines}, {"secured"})
        shown = self.afteryou(a, "status", "--cluster", self.cluster.name)
        links = re.search(r"(?m)^links of a: (\w) [0-9.]+ ms.*, (\w) [0-9.]+ ms", shown.stdout)
        self.assertTrue(links, shown.stdout)
        self.assertEqual(set(links.groups()), {"b", "c"})  # in the order in which they have joined

    def test_a_directory_of_another_user_is_refused(self):
        a = self.cluster.machines[0]
        a.run("sh", "-c", "mkdir /dev/shm/theirs && chown 4711 /dev/shm/theirs")
        theirs = ("env", "AFTERYOU_CLUSTERS=/dev/shm/theirs")
        shown = a.run(*theirs, AFTERYOU, "agent", "--cluster", self.cluster.name, *self.cluster.agent_options, "--state", "/run/other")
        self.assertEqual(shown.returncode, 125)
        self.assertIn("/dev/shm/theirs belongs to user 4711", shown.stderr)
        for words in (("run", "x", "--cluster", self.cluster.name, "--", "true"), ("status", "--cluster", self.cluster.name)):
            shown = a.run(*theirs, AFTERYOU, *words)
            self.assertEqual(shown.returncode, 125, shown.stderr)
            self.assertIn("/dev/shm/theirs belongs to user 4711", shown.stderr)

    def test_a_second_agent_is_refused(self):
        a = self.cluster.machines[0]
        shown = self.afteryou(a, "agent", "--cluster", self.cluster.name, *self.cluster.agent_options, "--state", "/run/other",
                              stdin=subprocess.DEVNULL)
        self.assertEqual(shown.returncode, 125)
        self.assertTrue(a.agent.is_running())
        self.assert_enters(a)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
