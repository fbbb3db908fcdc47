# SPDX-License-Identifier: MIT
"""Runs every shell block of docs/recipes.md, the blocks of the bindings' pages, and the README's lines in each language, and compares
with what the document says they print."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import AFTERYOU, PATIENCE, ROOT

BLOCK = re.compile(r"^## (?P<title>.*?)$|^```(?P<language>sh|python|cpp|c)\n(?P<script>.*?)^```\n(?:prints\n```\n(?P<output>.*?)^```\n)?",
                   re.S | re.M)
BUILD = pathlib.Path(AFTERYOU).parent
# What a block is given to, as the arguments of a shell that has them as its first.
COMMANDS = {
    "sh": 'exec sh -e -c "$1"',
    "python": 'exec python3 -c "$1"',
    "c": f'printf %s "$1" | cc -x c -I "{ROOT}/include" - -o program -L "{BUILD}" -lafteryou -Wl,-rpath,"{BUILD}" && exec ./program',
    "cpp": f'printf %s "$1" | c++ -x c++ -std=c++20 -I "{ROOT}/bindings/cpp" -I "{ROOT}/include" - -o program -L "{BUILD}" -lafteryou -pthread '
           f'-Wl,-rpath,"{BUILD}" && exec ./program',
}


def blocks(document):
    title = ""
    for match in BLOCK.finditer((ROOT / document).read_text()):
        if match["title"]:
            title = match["title"]
        else:
            yield title, match["language"], match["script"], match["output"]


class Documents(unittest.TestCase):
    def test_recipes(self):
        found = list(blocks("docs/recipes.md"))
        self.assertGreaterEqual(len(found), 10)
        for title, language, script, output in found:
            with self.subTest(title):
                self.run_block(language, script, output)

    def test_bindings(self):
        """The pages of Python and C++."""
        for document, least in (("docs/python.md", 4), ("docs/cpp.md", 3)):
            found = list(blocks(document))
            self.assertGreaterEqual(len(found), least)
            for title, language, script, output in found:
                with self.subTest(document, title=title):
                    self.run_block(language, script, output)

    def test_readme(self):
        found = list(blocks("README.md"))
        self.assertEqual([language for _, language, _, _ in found], ["sh", "python", "c"])
        for _, language, script, output in found:
            with self.subTest(language):
                self.run_block(language, script, output)

    def run_block(self, language, script, output):
        for word, needed in (("sqlite3", "sqlite3"), ("afteryou.hpp", "c++")):
            if word in script and not shutil.which(needed):
                self.skipTest(f"needs {needed}")
        self.assertIsNotNone(output, "a block says what it prints")
        # In a mount namespace of its own, where /dev/shm is empty.
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory(dir="/dev/shm") as spaces:
            bin_directory = pathlib.Path(directory) / "bin"
            work = pathlib.Path(directory) / "work"
            bin_directory.mkdir()
            work.mkdir()
            (bin_directory / "afteryou").symlink_to(AFTERYOU)
            environment = {**os.environ, "PATH": f"{bin_directory}:{os.environ['PATH']}", "SHELL": "/bin/sh",
                           "PYTHONPATH": str(ROOT / "bindings/python"), "LIBAFTERYOU": str(BUILD / "libafteryou.so")}
            command = ["unshare", "-m", "sh", "-c", f'mount --bind {spaces} /dev/shm && exec "$@"', "sh"]
            if subprocess.run(command + ["true"], capture_output=True, check=False).returncode != 0:
                command = []  # without the right to mount: in the user's own default space
            result = subprocess.run(command + ["sh", "-c", COMMANDS[language], "sh", script], cwd=work, env=environment, text=True,
                                    check=False, capture_output=True, timeout=PATIENCE)
            self.assertEqual(result.stdout, output, result.stderr)
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
