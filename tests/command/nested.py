# SPDX-License-Identifier: MIT
"""A run within another: not one that waits for itself, and no cycle of waiting."""
import json
import os
import subprocess
import unittest

from support import AFTERYOU, CommandTest, wait_until


class Nested(CommandTest):
    def inner(self, *words, name="x"):
        return subprocess.list2cmdline(self.words(name, *words))

    def run_within(self, outer, inner, **keywords):
        """Both of the name x, unless said otherwise."""
        return self.run_it(*outer, "-c", self.inner(*inner, **keywords))

    def test_the_same_name(self):
        """It says so at once, with the code for what was asked."""
        for words, code in ((["--", "true"], 125), (["-n", "--", "true"], 1), (["-w", "1000", "--", "true"], 1)):
            result = self.run_within([], words)
            self.assertEqual(result.returncode, code, words)
            self.assertRegex(result.stderr, r"^afteryou run: 'x' .*obtained: inside is pid [0-9]+ \(.*afteryou run .*\), which "
                             r"waits for this command to end\n$")
        result = self.run_within([], ["-E", "7", "-n", "--", "true"])
        self.assertEqual((result.returncode, result.stderr), (7, ""))

    def test_modes(self):
        """Two that are shared go together; a writer within a reader does not, nor a reader within a writer."""
        self.assertEqual(self.run_within(["-s"], ["-s", "--", "true"]).returncode, 0)
        self.assertEqual(self.run_within(["-s"], ["--", "true"]).returncode, 125)
        self.assertEqual(self.run_within([], ["-s", "--", "true"]).returncode, 125)
        self.assertEqual(self.run_within(["-k", "2"], ["-k", "2", "--", "true"]).returncode, 0)
        self.assertEqual(self.run_within(["--take", "1", "--of", "2"], ["--take", "1", "--of", "2", "--", "true"]).returncode, 0)

    def test_three_deep_and_also(self):
        middle = self.inner("-c", self.inner("--", "true").replace("'", "'\\''"), name="y")
        self.assertEqual(self.run_it("-c", middle).returncode, 125)
        self.assertEqual(self.run_within([], ["--also", "x", "--", "true"], name="z").returncode, 125)
        self.assertEqual(self.run_within([], ["--", "true"], name="y").returncode, 0)

    def test_a_hint_that_is_not_true(self):
        """A stranger's pid in the environment, or words that are none: it waits, like everybody."""
        holder = self.start("-c", "echo $$ > inside; cat > /dev/null", stdin=subprocess.PIPE)
        self.number_in("inside")
        guardian = self.look()["seen"][0]["pid"]
        for hint in (str(guardian), "1", "x,,-5,99999999999999999999", f"{os.getpid()},{guardian}"):
            self.environment["AFTERYOU_GUARDIANS"] = hint
            result = self.run_it("-w", "0.1", "--", "true")
            self.assertEqual(result.returncode, 1)
            self.assertIn("not obtained within 0.1 s", result.stderr)
        holder.stdin.close()
        self.assertEqual(holder.wait(), 0)

    def crossing(self, first, second, *limit):
        """Inside the first, once another is inside the second, it wants the second."""
        return (f"echo 1 > {first}-inside; while ! [ -s {second}-inside ]; do sleep 0.01; done; "
                + self.inner(*limit, "--", "true", name=second))

    def test_cycle(self):
        """a then b, against b then a: one of the inner ones is told, and the other gets on."""
        processes = []
        for first, second in (("a", "b"), ("b", "a")):
            processes.append(self.start("-c", self.crossing(first, second), name=first, stderr=subprocess.PIPE))
        codes = sorted(process.wait() for process in processes)
        self.assertEqual(codes, [0, 125])
        told = "".join(process.stderr.read() for process in processes)
        self.assertRegex(told, r"^afteryou run: [ab]: to wait here would never end")

    def test_cycle_is_shown(self):
        """Whose wait has an end yields last: meanwhile status tells of it."""
        self.assertEqual(self.run_it("--", "true").returncode, 0)  # so that there is a space
        for _ in range(20):  # on a busy machine it may be over before it is seen
            processes = [self.start("-c", self.crossing(*names, "-w", "1000"), name=names[0], stderr=subprocess.DEVNULL)
                         for names in (("a", "b"), ("b", "a"))]
            while any(process.poll() is None for process in processes):
                cycles = self.look()["cycles"]
                if cycles:
                    self.assertEqual([type(place) for place in cycles[0]], [int, int])
                    return
            for name in ("a-inside", "b-inside"):
                self.file(name).unlink()
        self.fail("a cycle was never seen")

    def look(self):
        return json.loads(self.afteryou("status", "--json", "-S", self.space).stdout)["spaces"][0]

    def test_a_reader_within_a_reader_behind_a_writer(self):
        """In order of arrival the writer goes first, and waits for the outer reader: a cycle too."""
        line = f"echo $$ > inside; while ! [ -e go ]; do sleep 0.01; done; {self.inner('-s', '--', 'true')}"
        outer = self.start("-s", "-c", line, stderr=subprocess.DEVNULL)
        self.number_in("inside")
        writer = self.start("--", "true")

        wait_until(lambda: any(place["state"] == "waiting" for place in self.look()["seen"]), "the writer in the queue")
        self.file("go").touch()
        self.assertEqual(outer.wait(), 125)
        self.assertEqual(writer.wait(), 0)


if __name__ == "__main__":
    assert AFTERYOU
    unittest.main()
