# SPDX-License-Identifier: MIT
"""Many at once. The witness is outside the lock: plain files that lose an update, or overlap, if exclusion fails."""
import json
import subprocess
import time
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, wait_until

# Says when it is inside, and when it is about to leave, in one atomic append each.
JOURNAL = 'echo "in $$ $AFTERYOU_UNITS" >> journal; sleep {0}; echo "out $$ $AFTERYOU_UNITS" >> journal'


class Exclusion(CommandTest):
    def start_all(self, lines, at_once):
        """Starts them all, `at_once` at any time; the exit codes."""
        running, codes = [], []
        for words in lines:
            running.append(self.start(*words))
            while len(running) >= at_once:
                ended = [process for process in running if process.poll() is not None]
                codes += [process.returncode for process in ended]
                running = [process for process in running if process not in ended]
                time.sleep(0.001)
        return codes + [process.wait() for process in running]

    def test_no_increment_is_lost(self):
        self.file("count").write_text("0\n")
        line = ["-c", "read n < count; echo $((n + 1)) > count"]
        codes = self.start_all([line] * 1000, at_once=64)
        self.assertEqual(codes, [0] * 1000)
        self.assertEqual(self.number_in("count"), 1000)

    def waiting(self):
        seen = json.loads(self.afteryou("status", "--json", "-S", self.space).stdout)["spaces"][0]["seen"]
        return sum(place["state"] == "waiting" for place in seen)

    def test_order_of_arrival(self):
        """Each next one comes when the one before is seen in the queue; they leave in that order."""
        holder = self.start("-c", "echo $$ > inside; cat > /dev/null", stdin=subprocess.PIPE)
        self.number_in("inside")
        crowd = []
        for number in range(30):
            crowd.append(self.start("-c", f"echo {number} >> order"))
            wait_until(lambda: self.waiting() == number + 1, f"number {number} in the queue")
        holder.stdin.close()
        for process in crowd:
            self.assertEqual(process.wait(), 0)
        self.assertEqual(self.file("order").read_text().split(), [str(number) for number in range(30)])

    def journal(self):
        return [line.split(" ") for line in self.file("journal").read_text().splitlines()]

    def test_slots(self):
        """200 at once with 4 slots: never more than 4 inside, and 4 are reached."""
        codes = self.start_all([["-k", "4", "-c", JOURNAL.format(0.01)]] * 200, at_once=200)
        self.assertEqual(codes, [0] * 200)
        inside = most = 0
        for what, _, _ in self.journal():
            inside += 1 if what == "in" else -1
            most = max(most, inside)
        self.assertEqual((inside, most), (0, 4))

    def test_units(self):
        """100 at once take 2 of 8: no unit is ever with two."""
        codes = self.start_all([["--take", "2", "--of", "8", "-c", JOURNAL.format(0.01)]] * 100, at_once=100)
        self.assertEqual(codes, [0] * 100)
        held, most = set(), 0
        for what, _, units in self.journal():
            pair = {int(unit) for unit in units.split(",")}
            self.assertEqual(len(pair), 2)
            self.assertLess(max(pair), 8)
            if what == "in":
                self.assertFalse(held & pair, "a unit with two")
                held |= pair
            else:
                held -= pair
            most = max(most, len(held))
        self.assertFalse(held)
        self.assertGreater(most, 2)

    def test_readers_and_writers(self):
        """Writers see no reader, and readers no writer."""
        self.file("data").write_text("0 0\n")
        writer = ["-c", "read a b < data; echo $((a + 1)) > data; sleep 0.002; echo $((a + 1)) $((a + 1)) > data"]
        reader = ["-s", "-c", "read a b < data; [ \"$a\" = \"$b\" ]"]
        codes = self.start_all([writer, reader, reader, reader] * 25, at_once=50)
        self.assertEqual(codes, [0] * 100)
        self.assertEqual(self.file("data").read_text(), "25 25\n")

    def test_condition(self):
        """A bounded buffer of one: consumers wait for their item, producers for room. Each has two places, so some wait beside more
        rivals than they can watch at once (64)."""
        produce = ["--when", "[ ! -s item ]", "-c", "echo $$ > item"]
        consume = ["--when", "[ -s item ]", "-c", "cat item >> consumed; : > item"]
        self.assertEqual(self.start_all([consume, produce] * 20, at_once=40), [0] * 40)
        consumed = self.file("consumed").read_text().split()
        self.assertEqual((len(consumed), len(set(consumed))), (20, 20))

    def test_condition_made_true_by_a_stranger(self):
        """Who never enters makes it true; it is noticed all the same."""
        waiter = self.start("--when", "[ -e flag ]", "-c", "echo inside > result")
        time.sleep(0.3)
        self.assertIsNone(waiter.poll())
        self.assertTrue(self.is_free(), "one that waits for its condition is in nobody's way")
        self.file("flag").touch()
        self.assertEqual(waiter.wait(), 0)
        self.assertEqual(self.file("result").read_text(), "inside\n")

    def test_condition_refused_or_broken(self):
        result = self.run_it("-n", "--when", "false", "--", "true")
        self.assertEqual((result.returncode, "--when" in result.stderr), (1, True))
        result = self.run_it("-w", "0.2", "--when", "false", "--", "true")
        self.assertEqual(result.returncode, 1)
        result = self.run_it("--when", "/no/such/test", "--", "true")
        self.assertEqual((result.returncode, "--when" in result.stderr), (125, True))

    def test_condition_and_limit_after_a_rival_has_gone(self):
        """The limit of a wait for a condition, or for units, holds though somebody who waited beside it has given up, left, or been killed."""
        self.file("in").write_text("")
        units = ["--take", "1", "--of", "1"]
        holder = self.start(*units, "-c", "echo >> in; sleep 600", name="units")
        wait_until(lambda: self.file("in").read_text(), "the holder")
        for name, words in (("x", ["--when", "false"]), ("units", units)):
            with self.subTest(words=words):
                first = self.start(*words, "-w", "0.5", "--", "true", name=name)
                killed = self.start(*words, "-w", "600", "--", "true", name=name)
                last = self.start(*words, "-w", "1.5", "--", "true", name=name)
                time.sleep(0.3)
                self.finish(killed)
                self.assertEqual((first.wait(timeout=PATIENCE), last.wait(timeout=PATIENCE)), (1, 1))
        self.finish(holder)


if __name__ == "__main__":
    assert AFTERYOU
    unittest.main()
