# SPDX-License-Identifier: MIT
"""Who waits in a cluster while the world stands still: it is not woken but once a lease, to see whether that was renewed, and says nothing to its agent."""
import errno
import pathlib
import time
import unittest

from machines import PATIENCE, skip_unless_possible, wait_until
from support import Caller, ClusterTest

LEASE = 12  # seconds: who waits looks up as often
SETTLED, STILL = 5, 10  # seconds until it has asked its agent often enough, and then
OF = 3  # units


def count_switches(caller):
    """How often threads of it have gone to sleep."""
    total = 0
    for status in pathlib.Path(f"/proc/{caller.program.pid}/task").glob("*/status"):
        lines = dict(line.split(":", 1) for line in status.read_text(encoding="ascii", errors="replace").splitlines() if ":" in line)
        total += int(lines["voluntary_ctxt_switches"])
    return total


class Still(ClusterTest):
    agent_options = ("--lease", str(LEASE), "--grace", str(LEASE + 2))

    def hold(self, name, *words):
        caller = Caller(self.cluster.machines[0])
        self.assertEqual(caller.do("enter", caller.open(name, "exclusive", *words)), 0)
        return caller

    def wait(self, call, name, *words):
        """What waits for the machine that holds it, and its region."""
        caller = Caller(self.cluster.machines[1])
        region = caller.open(name, "exclusive", *words)
        return caller, region, caller.begin(call, region)

    def test_nobody_is_woken(self):
        plain, asked, several, units = (f"{self.region}.{kind}" for kind in ("plain", "asked", "several", "units"))
        holders = [self.hold(plain), self.hold(asked), self.hold(several), self.hold(units, f"take={OF},{OF}")]
        of_units, of_several = (f"take=2,{OF}",), (f"also={several}.first",)
        # sleeps in so long: of one thread; of a helper, and by the descriptor; the last one waits for the one before it, on its machine
        waiters = [(3, self.wait("enter", plain)), (6, self.wait("ask", asked)), (6, self.wait("ask", several, *of_several)),
                   (14, self.wait("enter", units, *of_units)), (16, self.wait("ask", units, *of_units))]
        time.sleep(SETTLED)
        before = [count_switches(caller) for _, (caller, *_) in waiters]
        time.sleep(STILL)
        found = [count_switches(caller) - count for (_, (caller, *_)), count in zip(waiters, before)]
        print("sleeps:", found)
        for (limit, _), count in zip(waiters, found):
            self.assertLessEqual(count, limit, found)
        for holder in holders:  # and each is still there
            self.assertEqual(holder.do("leave", 0), 0)
        for caller, region, answer in (waiter for _, waiter in waiters):
            result = answer()
            self.assertEqual(caller.decided(region)[0] if result == -errno.EINPROGRESS else result, 0)
            self.assertEqual(caller.do("leave", region), 0)

    def test_the_end_of_an_agent_is_noticed(self):
        """Long after it was asked: it is not there when its lease has run out."""
        self.hold(self.region)
        caller, _, answer = self.wait("enter", self.region)
        machine = self.cluster.machines[1]
        time.sleep(SETTLED)
        machine.agent.kill()
        self.assertEqual(answer(), -errno.EHOSTDOWN)
        machine.start_agent()
        wait_until(lambda: machine.run_inside("ready", "-w", "5", "--", "true").returncode == 0, "the agent", 2 * PATIENCE)
        caller.kill()


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
