# SPDX-License-Identifier: MIT
"""Links between the agents of three machines: cut, one way, half open, with strangers at their ports, without a key in common. Nobody is cut off for it,
and nobody waits for longer than a message by the ring takes."""
import json
import re
import signal
import subprocess
import sys
import unittest

from machines import AFTERYOU, PATIENCE, STATE, Cluster, make_half_open, skip_unless_possible, spoil_link, wait_until
from support import ClusterTest

PORT = 5447
# Run on a machine: many connections to a port, of which some say nothing, some nonsense, and some hang up at once.
CROWD = """
import os, socket, sys
crowd = []
for at in range(1000):
    one = socket.create_connection((sys.argv[1], int(sys.argv[2])))
    try:
        if at % 3 == 1:
            one.sendall(os.urandom(500))
    except OSError:
        pass
    if at % 3 != 2:
        crowd.append(one)
print("gathered", flush=True)
sys.stdin.read()
"""


class Links(ClusterTest):
    def links(self, asked=None, cluster=None):
        """{(machine, other): its link, as the machine says}"""
        shown = self.afteryou(asked or self.cluster.machines[2], "status", "--cluster", cluster or self.cluster.name, "--json")
        machines = json.loads(shown.stdout)["machines"] if shown.returncode == 0 else []
        return {(machine["machine"], peer["machine"]): peer for machine in machines for peer in machine["peers"]}

    def wait_for_links(self, down=()):
        """All are up but those."""
        def as_said():
            links = self.links()
            return links if len(links) == 6 and {pair for pair, link in links.items() if not link["up"]} == set(down) else None
        return wait_until(as_said, f"all links are up, but {down}")

    def setUp(self):
        super().setUp()
        self.logged = {machine.name: len(machine.log()) for machine in self.cluster.machines}
        self.wait_for_links()

    def lines(self, machine, event):
        """What its agent has logged in this test."""
        return [line for line in machine.log()[self.logged[machine.name]:].splitlines() if re.search(rf"event={event}\b", line)]

    def assert_nobody_was_cut_off(self):
        for machine in self.cluster.machines:
            for event in ("cut", "lost", "buried"):
                self.assertEqual(self.lines(machine, event), [], machine.name)

    def hand_over(self, times=6):
        """From machine to machine, all the way round."""
        fence = 0
        for at in range(times):
            fence = self.assert_enters(self.cluster.machines[at % 3], above=fence)

    def test_cut(self):
        a, b, _ = self.cluster.machines
        spoil_link(a, b, loss=1)
        self.hand_over()
        self.wait_for_links(down={("a", "b"), ("b", "a")})
        self.hand_over()
        self.assertGreater(self.links()["a", "b"]["relayed"], 0, "by the ring meanwhile")
        spoil_link(a, b)
        links = self.wait_for_links()
        self.assertGreater(links["a", "b"]["breaks"], 0)
        self.assert_nobody_was_cut_off()

    def test_cut_one_way(self):
        a, b, _ = self.cluster.machines
        a.spoil(b, loss=1)
        self.hand_over()
        self.wait_for_links(down={("a", "b"), ("b", "a")})
        self.hand_over()
        a.spoil(b)
        self.wait_for_links()
        self.assert_nobody_was_cut_off()

    def test_half_open(self):
        a, b, _ = self.cluster.machines
        for one, other in ((a, b), (b, a)):
            make_half_open(one, other)
            self.hand_over()
        self.wait_for_links()
        self.assert_nobody_was_cut_off()

    def test_strangers(self):
        """A line of log, and nothing else."""
        a, _, c = self.cluster.machines
        crowd = c.start(sys.executable, "-c", CROWD, a.address, str(PORT), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(crowd.process.stdout.readline(), "gathered\n")
        self.hand_over()
        self.assertEqual(len(self.lines(a, "link-refused")), 1)
        self.assertEqual(self.lines(a, "link-down"), [])
        a.agent.end()  # while they are there, its successor is linked
        a.start_agent()
        self.wait_for_links()
        crowd.end()

    def start_another_agent(self, machine, cluster, *words):
        """Its log is that of the cluster's name."""
        with open(machine.directory / f"{cluster}.log", "ab") as log:
            return machine.start(AFTERYOU, "agent", "--cluster", cluster, "--state", STATE, *self.cluster.agent_options, *words,
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def test_another_key(self):
        """It is one of the group, and not linked."""
        a, b, c = self.cluster.machines
        c.agent.end()
        c.run("sh", "-c", "umask 077; head -c 64 /dev/urandom > /run/other-key")
        agent = self.start_another_agent(c, self.cluster.name, "--key", "/run/other-key")
        self.hand_over()
        links = wait_until(lambda: self.links() if len(self.links()) == 6 else None, "the status of all")
        self.assertEqual({pair for pair, link in links.items() if link["up"]}, {("a", "b"), ("b", "a")})
        for machine in (a, b):
            wait_until(lambda m=machine: any("key" in line for line in self.lines(m, "link-failed")), "a word about the key")
        agent.end()
        c.start_agent()
        self.wait_for_links()
        self.assertEqual(self.lines(a, "cut") + self.lines(b, "cut"), [])

    def test_plain_links(self):
        """Of a second cluster on the same machines, at another port: the status says so."""
        agents = [self.start_another_agent(machine, "plain", "--plain-links", "--port", str(PORT + 1)) for machine in self.cluster.machines]
        a = self.cluster.machines[0]
        wait_until(lambda: sum(link["up"] for link in self.links(a, "plain").values()) == 6, "the links of the other cluster")
        shown = self.afteryou(a, "status", "--cluster", "plain")
        self.assertRegex(shown.stdout, r"(?m)^plain links of a: [bc] .*, [bc] ")
        wait_until(lambda: a.run(AFTERYOU, "run", "x", "--cluster", "plain", "-w", "5", "--", "true").returncode == 0, "entering there")
        for agent in agents:
            agent.end()

    def test_a_port_that_is_taken(self):
        """By an agent of another cluster: it says so, and goes on by the ring."""
        a = self.cluster.machines[0]
        agent = self.start_another_agent(a, "second")
        wait_until(lambda: "event=not-listening" in a.log("second"), "a line about the port")
        agent.end()

    def test_words_that_make_no_sense(self):
        a = self.cluster.machines[0]
        for words, says in ((("--key", "/nonexistent"), "/nonexistent"), (("--port", "0"), "--port"), (("--listen", "localhost"), "numeric")):
            shown = a.run(AFTERYOU, "agent", "--cluster", "wrong", "--state", "/run/wrong", *words)
            self.assertEqual(shown.returncode, 125, words)
            self.assertIn(says, shown.stderr)


class HostNames(ClusterTest):
    """corosync.conf has names instead of addresses."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(agent_options=cls.agent_options)
        cls.addClassCleanup(cls.cluster.close)
        for machine in cls.cluster.machines:
            configured, known = (machine.run("cat", path).stdout for path in ("/etc/corosync/corosync.conf", "/etc/hosts"))
            for other in cls.cluster.machines:
                configured = configured.replace(f"ring0_addr: {other.address}", f"ring0_addr: host-{other.name}")
                known += f"{other.address} host-{other.name}\n"
            cls.put(machine, "/etc/corosync/corosync.conf", configured)
            cls.put(machine, "/etc/hosts", known)
        cls.cluster.start()

    @staticmethod
    def put(machine, path, text):
        """This file stands there, on that machine alone."""
        file = machine.directory / path.replace("/", "-")
        file.write_text(text)
        done = machine.run("mount", "--bind", str(file), path)
        assert done.returncode == 0, done.stderr

    def test_looked_up(self):
        for machine in self.cluster.machines:
            self.assertIn("event=link-up", machine.log())
            self.assertNotIn("event=not-listening", machine.log())

    def test_the_server_of_names_is_gone(self):
        """The agent hears what it is told while it waits for it."""
        machine = self.cluster.machines[2]
        machine.agent.end()
        self.put(machine, "/etc/hosts", "")
        self.put(machine, "/etc/resolv.conf", "nameserver 10.99.0.99\n")
        before = len(machine.log())
        machine.start_agent()
        wait_until(lambda: "event=started" in machine.log()[before:], "the agent")
        machine.agent.kill(signal.SIGTERM)
        machine.agent.process.wait(PATIENCE)
        self.assertIn("event=ended", machine.log()[before:])
        self.assertNotIn("event=connected", machine.log()[before:])


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
