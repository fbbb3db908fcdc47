# SPDX-License-Identifier: MIT
"""What others on the machine do to us, and what we must not do to them."""
import json
import os
import subprocess
import unittest

from support import AFTERYOU, CommandTest


class Neighbours(CommandTest):
    def shell(self, script):
        return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=60,
                              env={**self.environment, "A": AFTERYOU, "S": self.space})

    def test_closed_standard_files(self):
        """Whichever of 0, 1 and 2 is closed, no message reaches the space."""
        for closed in ("2>&-", "1>&-", "0<&-", "0<&- 1>&- 2>&-", "1>&- 2>&-"):
            with self.subTest(closed=closed):
                result = self.shell(f"""
                    "$A" run x -S "$S" -- sleep .5 & sleep .2
                    "$A" run x -S "$S" -n -- true {closed}; echo $?
                    "$A" status -S "$S" {closed}
                    "$A" spaces show "$S" {closed}
                    wait
                    "$A" run y -S "$S" -- echo in
                """)
                self.assertEqual(result.stdout.splitlines()[-1], "in", result.stderr)
                self.assertEqual(result.stdout.splitlines()[0], "1")

    def test_command_finds_something_open(self):
        """Where a standard file was closed, the command has /dev/null, and no file of ours."""
        result = self.shell('"$A" run x -S "$S" -- sh -c "echo lost >&2; readlink /proc/self/fd/2" 2>&-')
        self.assertEqual(result.stdout, "/dev/null\n")


    def test_space_removed_while_in_use(self):
        """Those who hold the old file are shown, beside those of the new one."""
        self.start("--", "sh", "-c", "echo $$ > pid; exec sleep 100")
        self.number_in("pid")
        before = json.loads(self.afteryou("status", "-S", self.space, "--json").stdout)
        self.assertEqual(before["removed"], [])
        os.unlink(self.space)
        gone = self.afteryou("status", "-S", self.space)
        self.assertEqual(gone.returncode, 125)
        self.assertIn("removed while in use", gone.stdout)
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        after = json.loads(self.afteryou("status", "-S", self.space, "--json").stdout)
        self.assertTrue(after["removed"])
        self.assertEqual({use["path"] for use in after["removed"]}, {self.space})
        words = self.afteryou("status", "-S", self.space).stdout
        for use in after["removed"]:
            self.assertIn(f"pid {use['pid']} still has the file that was {self.space}", words)


if __name__ == "__main__":
    unittest.main()
