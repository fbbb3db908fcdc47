# SPDX-License-Identifier: MIT
"""What others on the machine do to us, and what we must not do to them."""
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


if __name__ == "__main__":
    unittest.main()
