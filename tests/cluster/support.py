# SPDX-License-Identifier: MIT
"""What the tests of the cluster share: one cluster for the tests of a file, and holders that tell what happens to them."""
import os
import subprocess
import threading
import time
import unittest

from machines import AFTERYOU, PATIENCE, Cluster, wait_until

HOLDER, CALLER = os.environ["CLUSTER_HOLDER"], os.environ["CLUSTER_CALLER"]
CONFLICT, LOST = 1, 123  # exit codes of `afteryou run`


class Holder:
    """A program inside a region, or on its way: see holder.c. Times are CLOCK_MONOTONIC, which all machines share."""

    def __init__(self, machine, region, *words):
        self.program = machine.start(HOLDER, f"cluster:{machine.cluster.name}", region, *words,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = []
        self._begin_reading()

    def _begin_reading(self):
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.program.process.stdout:
            self.lines.append(line.split())

    def find(self, word):
        return next((line for line in self.lines if line[0] == word), None)

    def wait_for(self, word):
        """The line that begins so. A holder that failed never says it."""
        def told():
            failed = self.find("failed")
            if failed and word != "failed":
                raise AssertionError(f"waiting for '{word}': {' '.join(failed)}")
            return self.find(word)
        return wait_until(told, f"'{word}'")

    def entered(self):
        """Waits until it is inside: its fence, and when."""
        _, fence, when, *_ = self.wait_for("entered")
        return int(fence), int(when)

    def told_of_death(self):
        return "after-death" in self.wait_for("entered")

    def lost(self):
        """Waits until it is told of its loss: when."""
        _, when, valid = self.wait_for("lost")
        assert valid == "invalid", "ay_valid() agrees with ay_lost()"
        return int(when)

    def is_inside(self):
        return bool(self.find("entered") and not self.find("left"))

    def leave(self):
        self.program.process.stdin.close()
        self.wait_for("left")

    def kill(self):
        self.program.kill()
        self.program.process.wait(PATIENCE)


class Caller:
    """A program that makes one call of the library after the other: see caller.c."""

    def __init__(self, machine):
        self.program = machine.start(CALLER, f"cluster:{machine.cluster.name}", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers, self.told, self.seen = [], [], {}
        self.at_once = 0  # asks that were
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.program.process.stdout:
            (self.told if line.startswith("decided ") else self.answers).append(line.split())

    def say(self, *words):
        print(*words, file=self.program.process.stdin, flush=True)

    def do(self, *words):
        """What the call returns."""
        return self.begin(*words)()

    def begin(self, *words):
        """Makes the call: what waits until it returns."""
        asked = len(self.answers)
        self.say(*words)
        return lambda: self._end(asked, words)

    def _end(self, asked, words):
        wait_until(lambda: len(self.answers) > asked, f"the answer to {words}")
        word, result, *_ = self.answers[asked]
        assert word == words[0], self.answers[asked]
        self.at_once += word == "ask" and int(result) >= 0
        return int(result)

    def open(self, *words):
        region = self.do("open", *words)
        assert region >= 0, self.answers[-1]
        return region

    def fence(self):
        """Of the region that the last call was about."""
        return int(self.answers[-1][2])

    def order(self):
        """The regions that were decided, in order."""
        return [int(region) for _, region, *_ in self.told]

    def decided(self, region):
        """Waits until the next ask of this region is decided: the result, and the fence."""
        seen = self.seen.get(region, 0)
        line = wait_until(lambda: [line for line in self.told if int(line[1]) == region][seen:], f"region {region} is decided")[0]
        self.seen[region] = seen + 1
        return int(line[2]), int(line[3])

    def kill(self):
        self.program.kill()
        self.program.process.wait(PATIENCE)


class ClusterTest(unittest.TestCase):
    cluster = None
    agent_options = ("--lease", "2", "--grace", "3")

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(agent_options=cls.agent_options)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()

    def setUp(self):
        self.region = self.id().rsplit(".", 1)[-1]  # one of its own for every test

    def tearDown(self):
        for process in list(self.cluster.processes):
            if process not in [service for machine in self.cluster.machines for service in (machine.corosync, machine.agent)]:
                process.end()
                self.cluster.processes.remove(process)

    def run(self, result=None):
        faults = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > faults:
            self.show_logs()
        return result

    def show_logs(self):
        for machine in self.cluster.machines:
            for name in ("corosync", "agent"):
                print(f"---- {machine.name}: {name}\n" + "\n".join(machine.log(name).splitlines()[-60:]), flush=True)

    def afteryou(self, machine, *words, **keywords):
        return machine.run(AFTERYOU, *words, **keywords)

    def held_and_wanted(self, *words):
        """One inside at the first machine, and one that waits at the second."""
        holder = Holder(self.cluster.machines[0], self.region, *words)
        holder.entered()
        waiter = Holder(self.cluster.machines[1], self.region)
        self.assert_stays_out(waiter, 0.2)
        return holder, waiter

    def assert_enters(self, machine, above=0):
        """A command can be inside there, with a greater fence than that; the fence."""
        def enters():
            shown = machine.run_inside(self.region, "-w", "10", "-c", "echo $AFTERYOU_FENCE")
            return int(shown.stdout) if shown.returncode == 0 else None
        fence = wait_until(enters, f"entering at {machine.name}")
        self.assertGreater(fence, above)
        return fence

    def assert_stays_out(self, holder, seconds):
        """Not proof, but a chance to be found wrong."""
        time.sleep(seconds)
        self.assertIsNone(holder.find("entered"))
