# SPDX-License-Identifier: MIT
"""`afteryou cluster try`: it comes up, can be played with, and leaves nothing, however it ends."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from machines import AFTERYOU, PATIENCE, die_with_parent, skip_unless_possible, wait_until


class Trial(unittest.TestCase):
    def setUp(self):
        self.parent = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-trial-"))
        self.addCleanup(shutil.rmtree, self.parent, ignore_errors=True)
        self.directory = self.parent / "trial"

    def command(self, *words, **keywords):
        return subprocess.run([AFTERYOU, "cluster", "try", "--directory", self.directory, *words], capture_output=True, text=True,
                              check=False, timeout=PATIENCE, **keywords)

    def start(self):
        keeper = subprocess.Popen([AFTERYOU, "cluster", "try", "--directory", self.directory], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, preexec_fn=die_with_parent)
        self.addCleanup(keeper.stdout.close)
        self.addCleanup(keeper.wait)
        self.addCleanup(keeper.kill)
        said = ""
        while "Ctrl-C" not in said:
            line = keeper.stdout.readline()
            self.assertTrue(line, f"it ended early: {said}")
            said += line
        return keeper

    def processes(self):
        """The pids, here, of the machines' first processes."""
        return [int((self.directory / name / "first").read_text()) for name in "abc"]

    def assert_gone(self, processes):
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in processes), "the end of the machines")
        self.assertNotIn(str(self.directory), pathlib.Path("/proc/self/mountinfo").read_text())

    def test_play(self):
        keeper = self.start()
        processes = self.processes()
        for name in "abc":
            shown = self.command("exec", name, "--", "afteryou", "run", "x", "--cluster", "try", "-c", "hostname; exit 7")
            self.assertEqual((shown.stdout, shown.returncode), (name + "\n", 7), shown.stderr)
        self.assertEqual(self.command("exec", "a", "sh", "-c", "kill -9 $$").returncode, 137)
        self.assertEqual(self.command("exec", "a", "--", "no-such-command").returncode, 127)
        self.assertIn("no machine 'd'", self.command("exec", "d", "--", "true").stderr)
        self.assertEqual(self.command("cut", "b").returncode, 0)
        wait_until(lambda: "No" in self.quorate("b"), "b alone")
        self.assertEqual(self.command("heal", "b").returncode, 0)
        wait_until(lambda: "Yes" in self.quorate("b"), "b among the others")
        self.assertEqual(self.command("off", "b").returncode, 0)
        self.assertNotEqual(self.command("exec", "b", "--", "true").returncode, 0)
        self.assertEqual(self.command("on", "b").returncode, 0)
        wait_until(lambda: "Yes" in self.quorate("b"), "b among the others again")
        processes += self.processes()
        refused = self.command()
        self.assertEqual(refused.returncode, 125)
        self.assertIn("runs in", refused.stderr)
        self.assertEqual(self.command("--down").returncode, 0)
        self.assertEqual(keeper.wait(PATIENCE), 0)
        self.assertFalse(self.directory.exists())
        self.assert_gone(processes)

    def quorate(self, name):
        shown = self.command("exec", name, "--", "corosync-quorumtool", "-s").stdout
        return next((line.split()[1] for line in shown.splitlines() if line.startswith("Quorate:")), "")

    def test_interrupted(self):
        keeper = self.start()
        processes = self.processes()
        keeper.send_signal(signal.SIGINT)
        self.assertEqual(keeper.wait(PATIENCE), 0)
        self.assertFalse(self.directory.exists())
        self.assert_gone(processes)

    def test_killed(self):
        keeper = self.start()
        processes = self.processes()
        keeper.kill()
        keeper.wait()
        self.assert_gone(processes)
        self.assertIn("no trial runs", self.command("exec", "a", "--", "true").stderr)
        self.assertEqual(self.command("--down").returncode, 0)
        self.assertFalse(self.directory.exists())

    def test_a_directory_with_other_files_is_refused_and_kept(self):
        self.directory.mkdir()
        (self.directory / "mine").write_text("precious")
        shown = self.command()
        self.assertEqual(shown.returncode, 125)
        self.assertIn("no trial's", shown.stderr)
        self.command("--down")
        self.assertEqual((self.directory / "mine").read_text(), "precious")


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
