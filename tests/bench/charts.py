#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every chart of docs/results can be drawn from the CSV files there, shows its rows, and follows the reader's light or dark."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"


def draw(source, to):
    return subprocess.run([sys.executable, "-B", ROOT / "tools/charts.py", "--from", source, "--to", to], capture_output=True, text=True, check=True)


class Charts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        draw(RESULTS, cls.folder.name)
        cls.drawn = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(cls.folder.name).glob("*.svg")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def words(self, name):
        root = xml.etree.ElementTree.fromstring(self.drawn[name])
        return {"".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")}

    def test_all_are_kept(self):
        self.assertEqual({name for name in self.drawn if not (RESULTS / name).exists()}, set())

    def test_rows_are_named(self):
        for name in ("performance-contended.svg", "performance-overtaking.svg"):
            self.assertLessEqual({"robust", "courtesy", "courtesy-64", "flock", "bakery"}, self.words(name))
        self.assertLessEqual({"lamport", "ricart-agrawala", "carvalho-roucairol", "token"}, self.words("messages.svg"))

    def test_light_and_dark(self):
        for text in self.drawn.values():
            self.assertIn("prefers-color-scheme: dark", text)

    def test_no_rows_no_chart(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(draw(empty, empty).stdout, "")


if __name__ == "__main__":
    if not importlib.util.find_spec("matplotlib"):
        print("skipped: no matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
