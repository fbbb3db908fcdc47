# SPDX-License-Identifier: MIT
"""Cuts and heals: the minority's holder is told before anybody enters on the other side, nobody enters in the minority, and fences order the two.

CUTS is how many (3 unless told); SEED replays a run."""
import os
import random
import unittest

from machines import skip_unless_possible, wait_until
from support import ClusterTest, Holder

CUTS = int(os.environ.get("CUTS", "3"))
SEED = int(os.environ.get("SEED", str(random.randrange(10**6))))


class Partitions(ClusterTest):
    def cut_and_heal(self, turn, alone, others):
        """One cut, with a holder in the minority that ignores its loss."""
        region = f"cut-{turn}"
        ignorant = Holder(alone, region, "ignore")
        fence, _ = ignorant.entered()
        waiters = [Holder(machine, region) for machine in others]
        self.assert_stays_out(waiters[0], 0.2)
        alone.cut()
        try:
            told = ignorant.lost()
            first = wait_until(lambda: next((one for one in waiters if one.find("entered")), None), "one of the majority")
            later, entered = first.entered()
            self.assertGreater(entered, told, "told before the other could enter")
            self.assertTrue(ignorant.is_inside(), "it ignores its loss; only its fence tells")
            self.assertGreater(later, fence)
            # Nobody enters in the minority: neither what it had, nor anything new.
            stranded = [Holder(alone, region), Holder(alone, f"new-{turn}")]
            first.leave()
            second = waiters[1] if first is waiters[0] else waiters[0]
            self.assertGreater(second.entered()[0], later)
            second.leave()
            for one in stranded:
                self.assert_stays_out(one, 0.5)
        finally:
            alone.heal()
        ignorant.leave()
        last = second.entered()[0]
        self.assertGreater(stranded[0].entered()[0], last)
        stranded[1].entered()
        for one in stranded:
            one.leave()
        self.region = region
        for machine in others:
            last = self.assert_enters(machine, above=last)

    def test_cuts(self):
        print(f"SEED={SEED} CUTS={CUTS}")
        chance = random.Random(SEED)
        for turn in range(CUTS):
            alone, *others = chance.sample(self.cluster.machines, 3)
            with self.subTest(turn=turn, alone=alone.name):
                self.cut_and_heal(turn, alone, others)

    def test_no_majority_anywhere(self):
        """All three alone: nobody enters, everybody is told; healed, all enter again."""
        holder = Holder(self.cluster.machines[0], self.region, "ignore")
        fence, _ = holder.entered()
        for machine in self.cluster.machines:
            machine.cut()
        try:
            holder.lost()
            stranded = [Holder(machine, self.region) for machine in self.cluster.machines]
            self.assert_stays_out(stranded[0], 4)
            for one in stranded:
                self.assertIsNone(one.find("entered"))
        finally:
            for machine in self.cluster.machines:
                machine.heal()
        holder.leave()
        seen = set()
        while len(seen) < 3:
            inside = wait_until(lambda: next((one for one in stranded if one not in seen and one.find("entered")), None), "the next")
            self.assertGreater(inside.entered()[0], fence)
            fence = inside.entered()[0]
            seen.add(inside)
            inside.leave()


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
