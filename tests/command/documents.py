# SPDX-License-Identifier: MIT
"""The manual and the completions can be read."""
import os
import shutil
import subprocess
import unittest

from support import ROOT

COMPLETIONS = os.environ["COMPLETIONS"]


class Documents(unittest.TestCase):
    def test_syntax(self):
        for words in (["bash", "-n", f"{COMPLETIONS}/afteryou"], ["zsh", "-n", f"{COMPLETIONS}/_afteryou"],
                      ["fish", "--no-execute", f"{COMPLETIONS}/afteryou.fish"],
                      ["mandoc", "-Tlint", "-Werror", "man/afteryou.1"]):
            if shutil.which(words[0]):
                shown = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
                self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)

    def test_pages_render(self):
        if not shutil.which("man"):
            self.skipTest("needs man")
        shown = subprocess.run(["man", "--warnings", "-l", "man/afteryou.1"], cwd=ROOT, capture_output=True, text=True,
                               check=False, env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
