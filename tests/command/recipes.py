# SPDX-License-Identifier: MIT
"""Runs every shell block of docs/recipes.md, and compares with what the document says it prints."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import AFTERYOU, PATIENCE, ROOT

BLOCK = re.compile(r"^## (?P<title>.*?)$|^```sh\n(?P<script>.*?)^```\n(?:prints\n```\n(?P<output>.*?)^```\n)?", re.S | re.M)


def blocks():
    title = ""
    for match in BLOCK.finditer((ROOT / "docs/recipes.md").read_text()):
        if match["title"]:
            title = match["title"]
        else:
            yield title, match["script"], match["output"]


class Recipes(unittest.TestCase):
    def test_all(self):
        found = list(blocks())
        self.assertGreaterEqual(len(found), 10)
        for title, script, output in found:
            with self.subTest(title):
                self.run_block(script, output)

    def run_block(self, script, output):
        if "sqlite3" in script and not shutil.which("sqlite3"):
            self.skipTest("needs sqlite3")
        self.assertIsNotNone(output, "a recipe says what it prints")
        # In a mount namespace of its own, where /dev/shm is empty.
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory(dir="/dev/shm") as spaces:
            bin_directory = pathlib.Path(directory) / "bin"
            work = pathlib.Path(directory) / "work"
            bin_directory.mkdir()
            work.mkdir()
            (bin_directory / "afteryou").symlink_to(AFTERYOU)
            environment = {**os.environ, "PATH": f"{bin_directory}:{os.environ['PATH']}", "SHELL": "/bin/sh"}
            command = ["unshare", "-m", "sh", "-c", f'mount --bind {spaces} /dev/shm && exec sh -e "$@"', "sh"]
            if subprocess.run(command + ["-c", "true"], capture_output=True, check=False).returncode != 0:
                command = ["sh", "-e"]  # without the right to mount: in the user's own default space
            result = subprocess.run(command + ["-c", script], cwd=work, env=environment, text=True, check=False,
                                    capture_output=True, timeout=PATIENCE)
            self.assertEqual(result.stdout, output, result.stderr)
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
