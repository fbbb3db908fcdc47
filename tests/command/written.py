# SPDX-License-Identifier: MIT
"""Output that cannot be written is told, whatever the subcommand, and named if it has a name."""
import errno
import os
import subprocess
import unittest

from support import AFTERYOU, PATIENCE, CommandTest

FULL = os.strerror(errno.ENOSPC)
CLOSED = os.strerror(errno.EBADF)


class Written(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment["AFTERYOU_DIR"] = str(self.shared_memory)
        self.trace = str(self.file("trace"))
        self.assertEqual(self.afteryou("simulate", "token", "--passages", "5", "--trace", self.trace).returncode, 0)
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        commands = ("run", "flock", "status", "spaces", "agent", "check", "simulate", "audit", "cluster")
        self.printing = [["--help"], ["--version"], ["--options"], *([command, "--help"] for command in commands), *([command, "--version"] for command in commands),
                         ["status"], ["status", "--json"], ["status", "--watch"], ["status", "--watch", "--json"], ["status", "-v"], ["spaces"], ["spaces", "--json"],
                         ["spaces", "show", "space"], ["spaces", "show", "space", "--json"], ["spaces", "repair", "space"],
                         ["check", "--list"], ["check", "pair"], ["check", "pair", "--json"], ["check", "lamport", "--requests", "1"],
                         ["check", "bakery", "--random", "3"], ["simulate", "--list"], ["simulate", "--table", "-n", "2"],
                         ["simulate", "lamport", "--passages", "5"], ["simulate", "lamport", "--passages", "5", "--json"],
                         ["simulate", "--sweep", "2", "--passages", "5"], ["audit", self.trace], ["audit", self.trace, "--json"]]

    def assert_told(self, line, why):
        """By one word in the shell `line`, in which "$@" is the command."""
        for words in self.printing:
            result = subprocess.run(["sh", "-c", line, "sh", AFTERYOU, *words], capture_output=True, text=True, check=False,
                                    timeout=PATIENCE, env=self.environment)
            own = "" if words[0].startswith("-") else " " + words[0]
            self.assertEqual((result.returncode, result.stderr), (125, f"afteryou{own}: cannot write to standard output: {why}\n"), words)

    def test_full(self):
        self.assert_told('exec "$@" >/dev/full', FULL)

    def test_closed(self):
        self.assert_told('exec "$@" >&-', CLOSED)

    def test_all_closed_is_no_file_of_ours(self):
        """What is opened next is not 0, 1 or 2; and who has nothing to print has lost nothing."""
        line = 'exec "$@" <&- >&- 2>&-'
        for words, code in ((["status"], 125), (["run", "x", "--", "true"], 0), (["spaces", "create", "other"], 0)):
            result = subprocess.run(["sh", "-c", line, "sh", AFTERYOU, *words], check=False, timeout=PATIENCE, env=self.environment)
            self.assertEqual(result.returncode, code, words)

    def test_named_files(self):
        for words, about in ((["simulate", "lamport", "--trace", "/dev/full"], "cannot write the trace /dev/full"),
                             (["simulate", "--sweep", "2,3", "--passages", "5", "--svg", "/dev/full"], "cannot write /dev/full"),
                             (["simulate", "--sweep", "2,3", "--passages", "5", "--csv", "/dev/full"], "cannot write /dev/full"),
                             (["audit", self.trace, "--svg", "/dev/full"], "cannot write /dev/full"),
                             (["check", "bakery-without-choosing", "--svg", "/dev/full"], "cannot write /dev/full")):
            result = self.afteryou(*words)
            self.assertEqual((result.returncode, result.stderr), (125, f"afteryou {words[0]}: {about}: {FULL}\n"))


if __name__ == "__main__":
    unittest.main()
