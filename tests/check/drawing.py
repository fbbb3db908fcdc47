#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check --svg: bands, values at their stores, arrows from the store that a fetch read; no two texts collide, and nothing is cut off.

usage: drawing.py AFTERYOU [unittest arguments]
"""
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

AFTERYOU = sys.argv.pop(1)
SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"title": 15, "small": 10, "small value": 10, "number": 9}  # of letters, by class; the others have 12
LETTER = 0.62  # of a size is how wide a letter is, more or less
RADIUS = 10
# Counterexamples of every kind: safety, a cycle, deaths, store buffers, safe bits, weak memory, several registers, malfunction, halts.
RUNS = ["races-printed -n 2", "races-printed -n 3", "bakery-without-choosing -n 2", "region-printed", "courtesy-without-look -n 2 --overtake 3",
        "fork-forgetful", "bakery-safe-hasty -n 2", "bakery-without-incarnation -n 2", "courtesy-retain-without-barrier -n 2 --tso --passages 2",
        "courtesy-without-raise -n 2 --fences --tso", "firmware-bakery-unfenced --memory-model c11", "network-undeferred -n 2",
        "courtesy-without-withdrawal -n 2 --overtake 3", "races-copies-forgetful",
        "bakery-recovering --errors waiting", "bakery-split-mode --modes shared"]


def picture(words):
    """The drawing that a command makes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.svg")
        done = subprocess.run([AFTERYOU, "check", *words.split(), "--svg", path], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 1:
            raise AssertionError(f"check {words}: exit {done.returncode}: {done.stdout}{done.stderr}")
        return Drawing(xml.etree.ElementTree.parse(path).getroot())


class Drawing:
    def __init__(self, root):
        self.root = root
        self.width, self.height = (float(root.get(name)) for name in ("width", "height"))

    def shapes(self, tag, *classes):
        return [each for each in self.root.iter(SVG + tag) if each.get("class") in classes]

    def texts(self, *classes):
        return [each for each in self.root.iter(SVG + "text") if not classes or each.get("class") in classes]

    def marks(self):
        """Of each move, by its number: its kind, and its middle."""
        found = {}
        shapes = [(each.get("class"), float(each.get("x")) + RADIUS, float(each.get("y")) + RADIUS) for each in self.shapes("rect", "store")
                  if each.get("width") == f"{2 * RADIUS:.1f}"]
        shapes += [(each.get("class"), float(each.get("cx")), float(each.get("cy"))) for each in self.shapes("circle", "fetch", "act", "dead")
                   if each.get("r") == f"{RADIUS:.1f}"]
        for number in self.texts("number"):
            x, y = float(number.get("x")), float(number.get("y")) - 3
            kind, = [kind for kind, *middle in shapes if math.dist(middle, (x, y)) < 1]
            found[int(number.text)] = (kind, x, y)
        return found

    def notes(self):
        """What the moves did, by their numbers: who, and the words; without what follows from it."""
        lines = (re.match(r"(\d+)   P(\d+)   (.*)", each.text) for each in self.texts("small"))
        return {int(line[1]): (int(line[2]), re.sub(r", (and is inside|not seeing).*| \(it flickers\)", "", line[3])) for line in lines if line}

    def arrows(self):
        """From which move to which."""
        marks = self.marks()

        def nearest(x, y):
            return min(marks, key=lambda number: abs(math.dist(marks[number][1:], (x, y)) - RADIUS - 1))
        return [(nearest(float(each.get("x1")), float(each.get("y1"))), nearest(float(each.get("x2")), float(each.get("y2"))))
                for each in self.shapes("line", "message")]

    def below(self, number):
        """What is written below a move, or None."""
        _, x, y = self.marks()[number]
        found = [each.text for each in self.texts("small value")
                 if abs(float(each.get("x")) - x) < 1 and 12 < float(each.get("y")) - y < 30]
        return found[0] if found else None

    def box(self, text):
        """Left, top, right, bottom."""
        size = SIZES.get(text.get("class"), 12)
        width, x, y = LETTER * size * len(text.text), float(text.get("x")), float(text.get("y"))
        left = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor")]
        return left, y - 0.75 * size, left + width, y + 0.2 * size


class Drawn(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.drawings = {words: picture(words) for words in RUNS}

    def test_every_move_has_its_mark(self):
        for words, drawing in self.drawings.items():
            notes, marks = drawing.notes(), drawing.marks()
            self.assertEqual(set(marks), set(notes), words)
            for number, (_, told) in notes.items():
                wanted = ("dead" if told.startswith("dies") else "store" if re.search(r"\b(stores|begins to write)\b", told)
                          else "fetch" if re.search(r"\b(fetches|reads bit)\b", told) else "act")
                self.assertEqual(marks[number][0], wanted, f"{words}: {number}, {told}")

    def test_a_store_shows_its_value(self):
        for words, drawing in self.drawings.items():
            for number, (_, told) in drawing.notes().items():
                stored = re.search(r"(?:stores|begins to write bit) (\S+) := (.*)", told)
                if stored:
                    self.assertIn(drawing.below(number), (stored[2], f"{stored[1]} = {stored[2]}"), f"{words}: {number}, {told}")

    def test_an_arrow_leads_from_the_store_that_was_read(self):
        for words, drawing in self.drawings.items():
            notes, arrows = drawing.notes(), drawing.arrows()
            self.assertEqual(len({to for _, to in arrows}), len(arrows), f"{words}: a fetch reads one store")
            for source, to in arrows:
                self.assertLess(source, to, words)
                self.assertNotEqual(notes[source][0], notes[to][0], f"{words}: of another process")
                fetched = re.search(r"(?:fetches|reads bit) (\S+) = (.*)", notes[to][1])
                stored = re.search(r"(\S+) := (.*)", notes[source][1])
                if stored:
                    self.assertEqual(fetched.groups(), stored.groups(), f"{words}: {source} to {to}")
                else:
                    self.assertRegex(notes[source][1], "dies|falls quiet|right", f"{words}: {source} to {to}")

    def test_no_arrow_is_missing(self):
        """Of what is fetched from another process, after that one has stored it last."""
        drawing = self.drawings["races-printed -n 2"]
        notes, arrows = drawing.notes(), dict(map(reversed, drawing.arrows()))
        last = {}
        for number, (who, told) in sorted(notes.items()):
            fetched, stored = re.search(r"fetches (\S+) =", told), re.search(r"stores (\S+) :=", told)
            if fetched and fetched[1] != f"S{who}":
                self.assertEqual(arrows.get(number), last.get(fetched[1]), told)
            if stored:
                last[stored[1]] = number
        self.assertEqual(len(arrows), 5)

    def test_bands(self):
        """Two are inside at the end, and waited before."""
        drawing = self.drawings["races-printed -n 2"]

        def spans(kind):
            boxes = [each for each in drawing.shapes("rect", kind) if float(each.get("height")) > 2 * RADIUS]
            return [(float(each.get("y")), float(each.get("x")), float(each.get("x")) + float(each.get("width"))) for each in boxes]
        inside, waits = spans("inside"), spans("wait")
        end = max(right for *_, right in inside)
        self.assertEqual(len([right for *_, right in inside if right == end]), 2, "two at once")
        for y, left, _ in inside:
            self.assertTrue(any(abs(right - left) < 0.2 for other, _, right in waits if other == y), "each waited just before")

    def test_the_dead_have_a_band(self):
        drawing = self.drawings["bakery-without-incarnation -n 2"]
        deaths = [number for number, (_, told) in drawing.notes().items() if told.startswith("dies")]
        bands = [each for each in drawing.shapes("rect", "gone") if float(each.get("height")) > 2 * RADIUS]
        self.assertEqual(len(bands), len(deaths))

    def test_a_cycle_is_shown(self):
        self.assertIn("again and again", [each.text for each in self.drawings["bakery-split-mode --modes shared"].texts("wrong")])

    def test_nothing_collides_and_nothing_is_cut_off(self):
        for words, drawing in self.drawings.items():
            boxes = [(drawing.box(each), each.text) for each in drawing.texts()]
            for (left, top, right, bottom), text in boxes:
                self.assertTrue(0 <= left and 0 <= top and right <= drawing.width and bottom <= drawing.height, f"{words}: {text!r} is cut off")
            for at, (one, text) in enumerate(boxes):
                for other, beside in boxes[:at]:
                    apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
                    self.assertTrue(apart, f"{words}: {text!r} collides with {beside!r}")


if __name__ == "__main__":
    unittest.main()
