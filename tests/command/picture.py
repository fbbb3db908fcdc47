# SPDX-License-Identifier: MIT
"""The README's moving picture can be made anew: the run that it shows happens, and it is a drawing."""
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from support import AFTERYOU, PATIENCE, ROOT

SVG = "{http://www.w3.org/2000/svg}"


class Picture(unittest.TestCase):
    def test_of_a_real_run(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, "queue.svg")
            result = subprocess.run([sys.executable, ROOT / "tools/moving_picture.py", AFTERYOU, "--to", file], text=True,
                                    check=False, capture_output=True, timeout=PATIENCE)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.look_at(xml.etree.ElementTree.parse(file).getroot())

    def test_in_the_tree(self):
        self.look_at(xml.etree.ElementTree.parse(ROOT / "docs/results/queue.svg").getroot())

    def look_at(self, picture):
        words = [text.text for text in picture.iter(SVG + "text")]
        for word in ("./a.sh", "./b.sh", "./c.sh", "./d.sh"):
            self.assertIn(word, words)
        self.assertTrue(any("AFTERYOU_AFTER_DEATH=1" in text for text in words), words)
        self.assertEqual(list(picture.iter(SVG + "script")), [])


if __name__ == "__main__":
    unittest.main()
