# SPDX-License-Identifier: MIT
"""The six modes on three machines: who may be inside beside whom, whatever the permission was kept for before."""
import unittest

from beside import BESIDE
from machines import skip_unless_possible
from support import CONFLICT, ClusterTest, Holder


class Modes(ClusterTest):
    def tries(self, machine, mode, region=None):
        """Whether it gets in at once."""
        done = machine.run_inside(region or self.region, "-n", "-m", mode, "--", "true")
        self.assertIn(done.returncode, (0, CONFLICT), done.stderr)
        return done.returncode == 0

    def test_every_two_modes(self):
        """On one machine and on two; the machine of the first has had it exclusively before, and keeps that permission."""
        a, b, _ = self.cluster.machines
        for mode, beside in BESIDE.items():
            regions = {other: f"{mode} {other}" for other in BESIDE}
            for region in regions.values():
                self.assertEqual(a.run_inside(region, "--", "true").returncode, 0)
            holders = {other: Holder(a, region, mode) for other, region in regions.items()}
            for other, holder in holders.items():
                holder.entered()
                for machine in (b, a):
                    self.assertEqual(self.tries(machine, other, regions[other]), other in beside, f"{mode} on a, {other} on {machine.name}")
                self.assertTrue(holder.is_inside())
                self.assertIsNone(holder.find("lost"))
                holder.leave()

    def test_a_stronger_mode_beside_a_weaker_one(self):
        """The permission is raised while somebody is inside by it; one that excludes all waits for all of them, and is above their fences."""
        a, b, c = self.cluster.machines
        readers = [Holder(machine, self.region, "concurrent-read") for machine in (a, b)]
        for reader in readers:
            reader.entered()
        writer = Holder(a, self.region, "protected-write")
        writer.entered()
        self.assertFalse(self.tries(b, "protected-write"))
        self.assertFalse(self.tries(a, "shared"))
        self.assertTrue(self.tries(c, "concurrent-read"))
        alone = Holder(c, self.region)
        self.assert_stays_out(alone, 0.3)
        writer.leave()
        readers[0].leave()
        self.assert_stays_out(alone, 0.3)
        readers[1].leave()
        fences = [one.entered()[0] for one in (*readers, writer)]
        self.assertGreater(alone.entered()[0], max(fences))
        self.assertFalse(alone.told_of_death())

    def test_one_who_waits_beside_one_inside(self):
        """A mode that was asked for beside a reader is had, although that reader leaves and others want all of it meanwhile."""
        a, b, c = self.cluster.machines
        reader = Holder(a, self.region, "concurrent-read")
        reader.entered()
        holder = Holder(b, self.region, "protected-write")
        holder.entered()
        alone = Holder(c, self.region)
        self.assert_stays_out(alone, 0.2)
        waiter = Holder(a, self.region, "shared")
        self.assert_stays_out(waiter, 0.2)
        reader.leave()
        holder.leave()
        for one in (alone, waiter):
            one.wait_for("entered")
            one.leave()

    def test_a_death_inside_beside_another(self):
        """A writer is killed beside a reader: the next writer elsewhere is told, and does not wait for the reader."""
        a, b, _ = self.cluster.machines
        reader = Holder(a, self.region, "concurrent-read")
        reader.entered()
        writer = Holder(a, self.region, "protected-write")
        writer.entered()
        waiter = Holder(b, self.region, "protected-write")
        self.assert_stays_out(waiter, 0.2)
        writer.kill()
        self.assertTrue(waiter.told_of_death())
        self.assertGreater(waiter.entered()[0], writer.entered()[0])
        self.assertTrue(reader.is_inside())
        self.assertIsNone(reader.find("lost"))


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
