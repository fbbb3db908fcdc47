# SPDX-License-Identifier: MIT
"""Every option of every --help is in the manual; the pages and the completions can be read."""
import re
import shutil
import subprocess
import unittest

from support import AFTERYOU, ROOT

OWN = ("run", "flock", "status", "spaces")  # described in afteryou(1); the others have a page each, and a test of it
OPTION = re.compile(r"(?<![\w-])(--?[A-Za-z][a-z-]*)")


def options_of(command):
    shown = subprocess.run([AFTERYOU, command, "--help"], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        return None
    # The options are what a line of the list begins with.
    lists = [line for line in shown.stdout.splitlines() if re.match(r"\s+-", line)]
    found = set()
    for line in lists:
        found.update(OPTION.findall(re.split(r"\s{2,}", line.strip())[0]))
    return found


def manual(name):
    return (ROOT / "man" / name).read_text().replace("\\-", "-")


class Documents(unittest.TestCase):
    def assert_has(self, text, option, where):
        self.assertRegex(text, rf"(?<![\w-]){re.escape(option)}(?![\w-])", f"{option} is not in {where}")

    def test_manual(self):
        for command in OWN:
            options = options_of(command)
            self.assertGreater(len(options), 5, command)
            for option in options:
                self.assert_has(manual("afteryou.1"), option, "afteryou.1")

    def test_syntax(self):
        for words in (["bash", "-n", "completions/afteryou.bash"], ["zsh", "-n", "completions/_afteryou"],
                      ["fish", "--no-execute", "completions/afteryou.fish"],
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
