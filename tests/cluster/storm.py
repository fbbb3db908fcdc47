# SPDX-License-Identifier: MIT
"""Passages from three machines while holders and agents are killed at random. A book outside the lock tells whether two were ever inside at once, an
increment was lost, or a fence did not grow.

PASSAGES is how many (2000 unless told); SEED replays the choices."""
import mmap
import os
import random
import struct
import time
import unittest

from machines import skip_unless_possible, wait_until
from support import ClusterTest

WITNESS = os.environ["CLUSTER_WITNESS"]
PASSAGES = int(os.environ.get("PASSAGES", "2000"))
SEED = int(os.environ.get("SEED", str(random.randrange(10**6))))
WITNESSES = 2  # a machine
SLOTS = 4096
STALL = 60  # seconds without a single passage: somebody is stuck


class Book:
    """The layout of witness.c's `struct book`."""
    FIELDS = ("counter", "owner", "overlaps", "lost_increments", "deaths_inside", "invalid", "failures", "reserved")

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.truncate(8 * (len(self.FIELDS) + 2 * SLOTS + 2 * (PASSAGES + SLOTS)))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def word(self, at):
        return struct.unpack_from("=Q", self.map, 8 * at)[0]

    def __getattr__(self, name):
        return self.word(self.FIELDS.index(name))

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
        self.chance = random.Random(SEED)
        self.book = Book(self.cluster.directory / "book")
        self.witnesses = {}  # by slot: those that run
        self.place = []  # by slot: the machine
        self.kills = self.agent_kills = 0

    @property
    def slots(self):
        return len(self.place)

    def start_witness(self, machine):
        slot = self.slots
        self.place.append(machine)
        with open(machine.directory / "witness.log", "ab") as log:
            self.witnesses[slot] = (machine, machine.start(WITNESS, f"cluster:{self.cluster.name}", "witness", str(self.book.path),
                                                           str(slot), str(PASSAGES), stdout=log, stderr=log))

    def kill_holder(self):
        owner = self.book.owner
        slot = owner - 1 if owner and owner - 1 in self.witnesses else self.chance.choice(list(self.witnesses))
        machine, witness = self.witnesses[slot]
        if not witness.is_running():
            return
        del self.witnesses[slot]
        self.book.say_killed(slot)
        witness.kill()
        self.kills += 1
        self.start_witness(machine)
        witness.process.wait()

    def kill_agent(self):
        machine = self.chance.choice(self.cluster.machines)
        machine.agent.end()
        self.agent_kills += 1
        time.sleep(self.chance.uniform(0, 0.5))
        machine.start_agent()

    def rage(self):
        moved, when = self.book.counter, time.monotonic()
        last_agent_kill = time.monotonic()
        while self.book.counter < PASSAGES:
            time.sleep(self.chance.uniform(0.01, 0.1))
            if self.slots < SLOTS - 1:
                self.kill_holder()
            if time.monotonic() - last_agent_kill > 1:
                self.kill_agent()
                last_agent_kill = time.monotonic()
            if self.book.counter != moved:
                moved, when = self.book.counter, time.monotonic()
            self.assertLess(time.monotonic() - when, STALL, f"nobody has passed since; {moved} passages")

    def test_storm(self):
        print(f"SEED={SEED} PASSAGES={PASSAGES}")
        for machine in self.cluster.machines:
            for _ in range(WITNESSES):
                self.start_witness(machine)
        self.rage()
        for machine, witness in self.witnesses.values():
            wait_until(lambda w=witness: not w.is_running(), f"the end of a witness at {machine.name}")
            self.assertEqual(witness.process.returncode, 0, machine.name)
        book, records = self.book, self.book.records()
        print(f"{book.counter} passages, {self.kills} witnesses killed, {book.deaths_inside} of them inside, {self.agent_kills} agents killed, "
              f"{book.failures} refusals, {book.invalid} lost while inside")
        self.assertEqual((book.overlaps, book.lost_increments), (0, 0))
        self.assertGreaterEqual(len(records), PASSAGES)
        fences = [fence for _, fence in records]
        self.assertTrue(all(fences), "every increment has its record")
        for at in range(1, len(fences)):
            self.assertGreater(fences[at], fences[at - 1], f"passage {at}")
        for slot in range(self.slots):
            written = sum(1 for who, _ in records if who == slot)
            # One that was killed may have written a record, and died before it counted itself.
            self.assertIn(written - book.made(slot), (0, 1) if book.killed(slot) else (0,), f"slot {slot}")
        for machine in self.cluster.machines:
            passed = sum(book.made(slot) for slot in range(self.slots) if self.place[slot] is machine)
            self.assertGreater(passed, 0, machine.name)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
