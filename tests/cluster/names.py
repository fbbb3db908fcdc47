# SPDX-License-Identifier: MIT
"""Names that come and go: those that nobody uses are forgotten, with fences that grow and deaths that are told all the same."""
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

from machines import skip_unless_possible, wait_until
from support import ClusterTest, Holder

MANY = os.environ["CLUSTER_MANY"]


def metric(machine, name):
    """A number of the agent's own; None while there is no agent."""
    shown = machine.run("curl", "-s", "--unix-socket", f"/run/afteryou/{machine.cluster.name}/metrics", "http://localhost/metrics")
    found = re.search(rf"^afteryou_agent_{name}\{{.*\}} (\d+)$", shown.stdout, re.MULTILINE)
    return int(found[1]) if found else None


def known_names(machine):
    return metric(machine, "resources")


def anonymous_memory(machine):
    """Of the agent, in bytes."""
    agent = machine.agent.pid
    with open(f"/proc/{agent}/smaps_rollup", encoding="ascii") as rollup:
        return 1024 * int(re.search(r"^Anonymous: +(\d+) kB", rollup.read(), re.MULTILINE)[1])


class Names(ClusterTest):
    def wait_until_forgotten(self):
        for machine in self.cluster.machines:
            wait_until(lambda m=machine: known_names(m) == 0, f"{machine.name} forgets all names")

    def start_many(self, count, *words, prefix=None):
        """On every machine a process that enters so many names, one after the other."""
        return [machine.start(MANY, f"cluster:{self.cluster.name}", f"{prefix or self.region}-{machine.name}", str(count), *words,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for machine in self.cluster.machines]

    def wait_for_many(self, processes):
        fences = []
        for each in processes:
            each.process.stdin.close()
            said = each.process.stdout.read()
            self.assertRegex(said, r"done \d+ \d+\n$")
            fences += [int(number) for number in said.split()[-2:]]
        return fences

    def open_at_once(self, count, **how):
        """So many on each machine, and all agents know all of them."""
        processes = self.start_many(count, "open", **how)
        for each in processes:
            self.assertEqual(each.process.stdout.readline(), "open\n")
        for machine in self.cluster.machines:
            wait_until(lambda m=machine: known_names(m) == len(processes) * count, f"{machine.name} knows all names")
        return processes

    def test_names_come_and_go(self):
        """Each is forgotten when it is closed: where as many were open at once before, others take no memory."""
        self.wait_for_many(self.open_at_once(1500, prefix="first"))
        self.wait_until_forgotten()
        before = [anonymous_memory(machine) for machine in self.cluster.machines]
        view = metric(self.cluster.machines[0], "view")
        self.wait_for_many(self.start_many(1500))
        self.wait_until_forgotten()
        for machine, was in zip(self.cluster.machines, before):
            self.assertLess(anonymous_memory(machine) - was, 4500 * 100, f"4,500 names leave no trace at {machine.name}")
        self.assertEqual(metric(self.cluster.machines[0], "view"), view, "names are no changes of the group")

    def test_open_at_once(self):
        """What is open is kept, also while it is not used; and costs less than a kilobyte at each agent."""
        before = [anonymous_memory(machine) for machine in self.cluster.machines]
        processes = self.open_at_once(1000)
        for machine, was in zip(self.cluster.machines, before):
            self.assertLess(anonymous_memory(machine) - was, 3000 * 1024)
        self.wait_for_many(processes)
        self.wait_until_forgotten()

    def test_fences_grow(self):
        """Over a name that is forgotten and comes back, an agent that is killed, and one that is started again."""
        fence = 0
        for machine in self.cluster.machines * 2:
            fence = self.assert_enters(machine, above=fence)
            self.wait_until_forgotten()
        for machine in self.cluster.machines[:2]:
            fence = self.assert_enters(machine, above=fence)
            machine.agent.kill()
            machine.agent.end()
            machine.start_agent()
            fence = self.assert_enters(self.cluster.machines[2], above=fence)
            self.wait_until_forgotten()

    def test_killed_while_it_has_it_open(self):
        """A process that is killed closes nothing: the agent finds it out."""
        processes = self.start_many(20, "open")
        for each in processes:
            self.assertEqual(each.process.stdout.readline(), "open\n")
            each.kill()
        self.wait_until_forgotten()

    def test_killed_while_it_waits(self):
        """What its agent is given when nobody wants it any more is not kept."""
        a, b, _ = self.cluster.machines
        inside = Holder(a, self.region)
        inside.entered()
        before = metric(b, "demands_total")
        waiter = Holder(b, self.region)
        wait_until(lambda: metric(b, "demands_total") > before, "it asks")
        time.sleep(1)
        waiter.kill()
        time.sleep(3)  # the agent looks, and finds it wanted
        inside.leave()
        self.wait_until_forgotten()

    def test_a_death_is_told(self):
        """However long after: the name is kept until somebody has been told."""
        a, b, c = self.cluster.machines
        dead = Holder(a, self.region)
        fence, _ = dead.entered()
        dead.kill()
        wait_until(lambda: known_names(b) == 1, "the agents keep it")
        self.start_many(10, prefix="other")
        later = Holder(c, self.region)
        self.assertGreater(later.entered()[0], fence)
        self.assertTrue(later.told_of_death())
        later.leave()
        self.wait_until_forgotten()
        self.assert_enters(b, above=fence)


if __name__ == "__main__":
    skip_unless_possible()
    if not shutil.which("curl"):
        print("needs curl, to ask agents what they know")
        sys.exit(77)
    unittest.main()
