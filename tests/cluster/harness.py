# SPDX-License-Identifier: MIT
"""The machines of the other tests are what they are taken for: three Corosyncs that agree, a cut that cuts, and nothing left."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from machines import Cluster, make_half_open, skip_unless_possible, spoil_link, wait_until

ECHO = """
import socket
server = socket.create_server(('', 7))
print('ready', flush=True)
while True:
    caller = server.accept()[0]
    while caller.recv(1):
        caller.sendall(b'x')
"""
COUNT = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
    heard.bind(('', 9))
    print('ready', flush=True)
    count = 0
    while heard.recv(8) != b'end':
        count += 1
print(count)
"""
SAY = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as said:
    for at in range(200):
        said.sendto(b'x', (sys.argv[1], 9))
"""
END = SAY.replace("b'x'", "b'end'")
CALL = """
import socket, sys
with socket.create_connection((sys.argv[1], 7), timeout=float(sys.argv[2])) as link:
    while True:
        link.sendall(b'x')
        print(link.recv(1), flush=True)
        sys.stdin.readline() or sys.exit()
"""


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


def start_echoes(cluster):
    for machine in cluster.machines:
        echo = machine.start(sys.executable, "-c", ECHO, stdout=subprocess.PIPE, text=True)
        assert echo.process.stdout.readline() == "ready\n"


def reaches(one, other, seconds=0.5):
    """Whether a TCP connection can be made and used."""
    return one.run(sys.executable, "-c", CALL, other.address, str(seconds), stdin=subprocess.DEVNULL).returncode == 0


def heard_of_200(one, other):
    """How many of 200 datagrams come through."""
    count = other.start(sys.executable, "-c", COUNT, stdout=subprocess.PIPE, text=True)
    assert count.process.stdout.readline() == "ready\n"
    for script in (SAY, END):
        one.run(sys.executable, "-c", script, other.address)
    return int(count.process.stdout.readline())


def established(machine):
    shown = machine.run("ss", "--no-header", "--tcp", "state", "established", "sport", "= :7")
    return len(shown.stdout.splitlines())


class Harness(unittest.TestCase):
    def test_links_cut_singly(self):
        with Cluster() as cluster:
            a, b, c = cluster.machines
            start_echoes(cluster)
            self.assertTrue(reaches(a, b, 20) and reaches(b, a, 20))
            spoil_link(a, b, loss=1)
            self.assertFalse(reaches(a, b) or reaches(b, a))
            self.assertTrue(reaches(a, c, 20) and reaches(c, b, 20))
            spoil_link(a, b)
            self.assertTrue(reaches(a, b, 20))
            a.spoil(b, loss=1)
            self.assertFalse(reaches(a, b) or reaches(b, a), "one way is enough")
            a.spoil(b, rate="1kbit")
            start = time.monotonic()
            self.assertEqual(a.run(sys.executable, "-c", CALL, b.address, "60", input="\n" * 6).returncode, 0)
            self.assertGreater(time.monotonic() - start, 1, "seven packets of 50 bytes, but for the first few")
            a.spoil(b)
            a.spoil(None, loss=0.5)
            self.assertTrue(50 < heard_of_200(a, b) < 150, "half of it")
            a.spoil(None, loss=1)
            self.assertFalse(reaches(a, c))
            a.spoil(None)
            self.assertEqual(heard_of_200(a, b), 200)

    def test_a_half_open_link(self):
        with Cluster("ab") as cluster:
            a, b = cluster.machines
            start_echoes(cluster)
            call = a.start(sys.executable, "-c", CALL, b.address, "20", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.assertEqual(call.process.stdout.readline(), "b'x'\n")
            self.assertEqual(established(b), 1)
            make_half_open(a, b)
            self.assertEqual(established(b), 1, "it was not told")
            call.process.stdin.write("again\n")
            call.process.stdin.close()
            self.assertNotEqual(call.process.wait(60), 0, "the other knows")

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
