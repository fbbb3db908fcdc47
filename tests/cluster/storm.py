# SPDX-License-Identifier: MIT
"""Passages from three machines while everything is killed, stopped and cut at random. A book outside the lock tells whether two were ever inside at once,
an increment was lost, or a fence did not grow.

PASSAGES is how many with holders and agents killed (2000 unless told), FAULTS how many of all kinds after that (6 unless told), LINK_FAULTS how many of links
between two machines (5 unless told); SEED replays the choices."""
import mmap
import os
import random
import signal
import struct
import time
import unittest

from machines import make_half_open, skip_unless_possible, spoil_link, wait_until
from support import ClusterTest

WITNESS = os.environ["CLUSTER_WITNESS"]
PASSAGES = int(os.environ.get("PASSAGES", "2000"))
FAULTS = int(os.environ.get("FAULTS", "6"))
LINK_FAULTS = int(os.environ.get("LINK_FAULTS", "5"))
SEED = int(os.environ.get("SEED", str(random.randrange(10**6))))
WITNESSES = 2  # a machine
SLOTS = 4096
ROOM = 10**6  # records; the file is sparse
STALL = 60  # seconds without a single passage: somebody is stuck


class Book:
    """The layout of witness.c's `struct book`."""
    FIELDS = ("counter", "owner", "overlaps", "lost_increments", "deaths_inside", "invalid", "failures", "stop")

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(8 * (len(self.FIELDS) + 2 * SLOTS + 2 * (ROOM + SLOTS)))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def word(self, at):
        return struct.unpack_from("=Q", self.map, 8 * at)[0]

    def __getattr__(self, name):
        return self.word(self.FIELDS.index(name))

    def say_stop(self):
        struct.pack_into("=Q", self.map, 8 * self.FIELDS.index("stop"), 1)

    def say_killed(self, slot):
        struct.pack_into("=Q", self.map, 8 * (len(self.FIELDS) + slot), 1)

    def killed(self, slot):
        return self.word(len(self.FIELDS) + slot)

    def made(self, slot):
        return self.word(len(self.FIELDS) + SLOTS + slot)

    def records(self):
        start = len(self.FIELDS) + 2 * SLOTS
        return [(self.word(start + 2 * at), self.word(start + 2 * at + 1)) for at in range(self.counter)]


class Storm(ClusterTest):
    def setUp(self):
        super().setUp()
        print(f"SEED={SEED}")
        self.chance = random.Random(SEED)
        self.book = Book(self.cluster.directory / self.region)
        self.witnesses = {}  # by slot: those that run
        self.place = []  # by slot: the machine
        self.kills = self.agent_kills = 0
        self.target = ROOM  # passages
        self.moved = self.when = 0

    def start_witnesses(self):
        for machine in self.cluster.machines:
            for _ in range(WITNESSES):
                self.start_witness(machine)

    def start_witness(self, machine):
        slot = len(self.place)
        self.place.append(machine)
        with open(machine.directory / "witness.log", "ab") as log:
            self.witnesses[slot] = (machine, machine.start(WITNESS, f"cluster:{self.cluster.name}", self.region, str(self.book.path),
                                                           str(slot), str(self.target), stdout=log, stderr=log))

    def forget_witness(self, slot):
        """It is about to be killed."""
        self.book.say_killed(slot)
        self.kills += 1
        return self.witnesses.pop(slot)

    def kill_holder(self):
        owner = self.book.owner
        slot = owner - 1 if owner and owner - 1 in self.witnesses else self.chance.choice(list(self.witnesses))
        if len(self.place) == SLOTS or not self.witnesses[slot][1].is_running():
            return
        machine, witness = self.forget_witness(slot)
        witness.kill()
        self.start_witness(machine)
        witness.process.wait()

    def kill_agent(self, seconds):
        machine = self.chance.choice(self.cluster.machines)
        machine.agent.end()
        self.agent_kills += 1
        time.sleep(seconds)
        machine.start_agent()

    def stop_agent(self, seconds):
        machine = self.chance.choice(self.cluster.machines)
        machine.agent.kill(signal.SIGSTOP)
        time.sleep(seconds)
        machine.agent.resume()

    def kill_corosync(self, seconds):
        machine = self.chance.choice(self.cluster.machines)
        machine.corosync.end()
        time.sleep(seconds)
        machine.start_corosync()

    def stop_corosync(self, seconds):
        machine = self.chance.choice(self.cluster.machines)
        machine.corosync.kill(signal.SIGSTOP)
        time.sleep(seconds)
        machine.corosync.resume()

    def cut(self, seconds):
        machine = self.chance.choice(self.cluster.machines)
        machine.cut()
        time.sleep(seconds)
        machine.heal()

    def power_off(self, seconds):
        machine = self.chance.choice(self.cluster.machines)
        for slot in [slot for slot in self.witnesses if self.place[slot] is machine]:
            self.forget_witness(slot)
        machine.power_off()
        time.sleep(seconds)
        machine.power_on()
        machine.start_corosync()
        machine.start_agent()
        wait_until(lambda: machine.run_inside("ready", "-w", "5", "--", "true").returncode == 0, f"the agent of {machine.name}")
        for _ in range(WITNESSES):
            self.start_witness(machine)

    def two(self):
        return self.chance.sample(self.cluster.machines, 2)

    def cut_link(self, seconds):
        one, other = self.two()
        spoil_link(one, other, loss=1)
        time.sleep(seconds)
        spoil_link(one, other)

    def cut_link_one_way(self, seconds):
        one, other = self.two()
        one.spoil(other, loss=1)
        time.sleep(seconds)
        one.spoil(other)

    def slow_link(self, seconds):
        one, other = self.two()
        spoil_link(one, other, loss=0.05, rate="16kbit")
        time.sleep(seconds)
        spoil_link(one, other)

    def flap_link(self, seconds):
        one, other = self.two()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            spoil_link(one, other, loss=1)
            one.drop_connections(other)
            time.sleep(self.chance.uniform(0, 0.2))
            spoil_link(one, other)
            time.sleep(self.chance.uniform(0, 0.2))

    def half_open_link(self, seconds):
        make_half_open(*self.two())
        time.sleep(seconds)

    def assert_moves(self):
        if self.book.counter != self.moved:
            self.moved, self.when = self.book.counter, time.monotonic()
        self.assertLess(time.monotonic() - self.when, STALL, f"nobody has passed since; {self.moved} passages")

    def judge(self):
        for machine, witness in self.witnesses.values():
            wait_until(lambda w=witness: not w.is_running(), f"the end of a witness at {machine.name}")
            self.assertEqual(witness.process.returncode, 0, machine.name)
        book, records = self.book, self.book.records()
        print(f"{book.counter} passages, {self.kills} witnesses killed, {book.deaths_inside} of them inside, {self.agent_kills} agents killed, "
              f"{book.failures} refusals, {book.invalid} lost while inside")
        self.assertEqual((book.overlaps, book.lost_increments), (0, 0))
        fences = [fence for _, fence in records]
        self.assertTrue(all(fences), "every increment has its record")
        for at in range(1, len(fences)):
            self.assertGreater(fences[at], fences[at - 1], f"passage {at}")
        for slot in range(len(self.place)):
            written = sum(1 for who, _ in records if who == slot)
            # One that was killed may have written a record, and died before it counted itself.
            self.assertIn(written - book.made(slot), (0, 1) if book.killed(slot) else (0,), f"slot {slot}")
        for machine in self.cluster.machines:
            passed = sum(book.made(slot) for slot in range(len(self.place)) if self.place[slot] is machine)
            self.assertGreater(passed, 0, machine.name)

    def rage(self, passages):
        """Holders and agents are killed; agents come back at once."""
        self.target = passages
        self.start_witnesses()
        last_agent_kill = self.when = time.monotonic()
        while self.book.counter < passages:
            time.sleep(self.chance.uniform(0.01, 0.1))
            self.kill_holder()
            if time.monotonic() - last_agent_kill > 1:
                self.kill_agent(self.chance.uniform(0, 0.5))
                last_agent_kill = time.monotonic()
            self.assert_moves()
        self.judge()
        self.assertGreaterEqual(self.book.counter, passages)


class Default(Storm):
    def test_kills(self):
        self.rage(PASSAGES)

    def suffer(self, kinds, count):
        """All kinds in turn, shorter and longer than the lease; passages go on after each."""
        self.start_witnesses()
        self.when = time.monotonic()
        for turn in range(count):
            fault = kinds[turn % len(kinds)]
            seconds = self.chance.choice((0.3, 1, 4))
            print(f"{fault.__name__} {seconds} s, after {self.book.counter} passages", flush=True)
            fault(seconds)
            for machine in self.cluster.machines:
                if not machine.agent.is_running():
                    machine.start_agent()
            before = self.book.counter
            self.when = time.monotonic()
            while self.book.counter < before + 50:
                time.sleep(0.1)
                self.assert_moves()
            self.kill_holder()
        self.book.say_stop()
        self.judge()

    def test_faults(self):
        self.suffer([self.cut, self.stop_agent, self.kill_corosync, self.stop_corosync, self.kill_agent, self.power_off], FAULTS)

    def test_faults_of_links(self):
        """Of two machines, which the third and Corosync still reach: nobody is cut off by that."""
        self.suffer([self.cut_link, self.half_open_link, self.cut_link_one_way, self.flap_link, self.slow_link], LINK_FAULTS)


class Lamport(Storm):
    agent_options = (*Storm.agent_options, "--protocol", "lamport")

    def test_kills(self):
        self.rage(PASSAGES // 4)


class RicartAgrawala(Storm):
    agent_options = (*Storm.agent_options, "--protocol", "ricart-agrawala")

    def test_kills(self):
        self.rage(PASSAGES // 4)


class Token(Storm):
    agent_options = (*Storm.agent_options, "--protocol", "token")

    def test_kills(self):
        self.rage(PASSAGES // 4)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
