# SPDX-License-Identifier: MIT
"""The machines of the other tests are what they are taken for: three Corosyncs that agree, a cut that cuts, and nothing left."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from machines import Cluster, skip_unless_possible, wait_until


def processes_of(first):
    """The pids of this machine that live in the PID namespace of that process."""
    namespace = os.readlink(f"/proc/{first}/ns/pid")
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/ns/pid") == namespace:
                found.append(int(entry))
        except OSError:
            pass
    return found


class Harness(unittest.TestCase):
    def test_corosync(self):
        with Cluster() as cluster:
            a, b, c = cluster.machines
            cluster.start_corosyncs()
            a.cut()
            wait_until(lambda: a.members() == (1, False), "a alone, without a majority")
            cluster.wait_for_members(2, [b, c])
            a.heal()
            cluster.wait_for_members(3)
            b.corosync.kill()
            cluster.wait_for_members(2, [a, c])
            b.corosync.end()
            b.start_corosync()
            cluster.wait_for_members(3)
            c.power_off()
            cluster.wait_for_members(2, [a, b])
            c.power_on()
            c.start_corosync()
            cluster.wait_for_members(3)
            directory = cluster.directory
        self.assertFalse(directory.exists())

    def test_nothing_is_left_when_the_test_is_killed(self):
        script = ("import sys; sys.path.insert(0, sys.argv[1])\n"
                  "from machines import Cluster\n"
                  "cluster = Cluster('ab'); cluster.machines[0].start_corosync()\n"
                  "print(cluster.directory, *(m.first for m in cluster.machines), flush=True); sys.stdin.read()")
        with subprocess.Popen([sys.executable, "-c", script, os.path.dirname(os.path.abspath(__file__))],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as test:
            directory, *firsts = test.stdout.readline().split()
            inside = [pid for first in firsts for pid in processes_of(first)]
            self.assertGreaterEqual(len(inside), 3)
            test.send_signal(signal.SIGKILL)
            test.wait()
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in inside), "the end of all processes")
        self.assertTrue(directory.startswith(tempfile.gettempdir()))
        subprocess.run(["rm", "-r", "--", pathlib.Path(directory)], check=True)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
