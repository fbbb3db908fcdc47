# SPDX-License-Identifier: MIT
"""What others wrote (names, command lines) is shown as text: it does not control the terminal. Lines stay whole."""
import json
import os
import subprocess
import unittest

from support import AFTERYOU, PATIENCE, CommandTest

# C0, DEL, C1 in UTF-8, C1 as a byte, an overlong form, a cut character, a surrogate, a mark that turns the direction.
HOSTILE = b"a\x1b]0;owned\x07\x1b[2J\n\r\x7f\xc2\x9b2J\x9b2J\xc0\x9b\xe2\x82|\xed\xa0\x80\xe2\x80\xaez\xc3\xa9"


class Printable(CommandTest):
    def setUp(self):
        super().setUp()
        self.hold(self.space, HOSTILE)

    def hold(self, space, *words):
        """Inside, under a hostile name and with a command line that begins so, too: a space keeps its first bytes."""
        line = [HOSTILE, "run", "-S", space, *words, "-c", "echo $$ > inside; exec sleep 60"]
        self.addCleanup(self.finish, subprocess.Popen(line, executable=AFTERYOU, cwd=self.directory))
        self.number_in("inside")

    def said(self, *words, code, **keywords):
        result = subprocess.run([AFTERYOU, *words], capture_output=True, check=False, timeout=PATIENCE, cwd=self.directory, **keywords)
        self.assertEqual(result.returncode, code, result)
        shown = result.stdout + result.stderr
        self.assertIn(b"]0;owned", shown)
        text = shown.decode()  # it is UTF-8
        self.assertEqual([], [character for character in text if (ord(character) < 32 and character != "\n") or
                              127 <= ord(character) < 160 or character == "\u202e"])
        return text

    def test_who_is_inside(self):
        self.assertIn("zé", self.said("run", "-S", self.space, HOSTILE, "-n", "--", "true", code=1))

    def test_status(self):
        table = self.said("status", "-S", self.space, code=0)
        self.assertEqual(len(table.splitlines()), 2)
        self.assertIn("\\u009b", self.said("status", "-S", self.space, "--json", code=0))
        self.said("status", "-S", self.space, HOSTILE + b"?", code=1)

    def test_removal_of_a_space_in_use(self):
        self.said("spaces", "remove", self.space, code=125)

    def test_disagreement(self):
        self.said("run", "-S", self.space, HOSTILE, "-k", "2", "--", "true", code=125)
        self.said("run", "-S", self.space, HOSTILE, "--protocol", "bakery", "--", "true", code=125)
        self.said("spaces", "create", self.space, "--places", "5", code=125)

    def test_one_resource_a_space(self):
        other = self.space + "-of-one"
        self.file("inside").unlink()
        self.hold(other, HOSTILE, "--protocol", "pair")
        self.said("run", "-S", other, "else", "--", "true", code=125)

    def test_own_words(self):
        self.said("run", "-S", self.space, "x", "-k", HOSTILE, "--", "true", code=125)
        self.said("run", "-v", "-S", self.space, HOSTILE + b"2", "--", "true", code=0)
        self.said("run", "-S", self.space, "x", "--", HOSTILE, code=127)
        self.said(HOSTILE, code=125)
        self.said("spaces", "show", os.fsencode(self.space) + HOSTILE.replace(b"/", b""), code=125)


class Trace(CommandTest):
    def test_words_of_a_recorded_run(self):
        name = "a\u001b[2J\u009b2J"
        lines = [{"trace": "afteryou", "version": 1, "source": name, "protocol": name, "fair": False},
                 {"at": 1, "process": name, "event": "request", "region": name, "mode": "exclusive"},
                 {"at": 2, "process": name, "event": "enter", "region": name}, {"at": 3, "process": "b", "event": "request", "region": name},
                 {"at": 4, "process": "b", "event": "enter", "region": name}]
        self.file("trace").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
        result = self.afteryou("audit", str(self.file("trace")))
        self.assertIn("a?[2J?2J", result.stdout + result.stderr)
        self.assertEqual([], [one for one in result.stdout + result.stderr if ord(one) < 32 and one != "\n" or 127 <= ord(one) < 160])


class Lines(CommandTest):
    def test_lines_of_many_do_not_mix(self):
        """Twenty are refused at the same time, into one pipe."""
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        line = f'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "{AFTERYOU}" run -S "{self.space}" x -n -- true & done; wait'
        shown = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE).stderr
        self.assertEqual(len(shown.splitlines()), 20)
        for one in shown.splitlines():
            self.assertRegex(one, r"^afteryou run: 'x' not obtained: inside is pid \d+ \(.*\) since .*")

    def test_a_line_is_one_write(self):
        if subprocess.run(["strace", "-V"], capture_output=True, check=False).returncode != 0:
            self.skipTest("needs strace")
        shown = subprocess.run(["strace", "-f", "-e", "trace=write", "-e", "signal=none", "-o", str(self.file("trace")), AFTERYOU, "run", "x", "-k", "none"],
                               capture_output=True, check=False, timeout=PATIENCE)
        if shown.returncode != 125:
            self.skipTest("strace may not trace here")
        self.assertEqual(self.file("trace").read_text().count("write(2,"), 1)


class Unseen(CommandTest):
    def test_status_of_a_name_that_nobody_uses(self):
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        for words in ([], ["--json"]):
            result = self.afteryou("status", "-S", self.space, "nosuch", *words)
            self.assertEqual((result.returncode, result.stderr), (1, "afteryou status: nobody has 'nosuch' open: nobody is inside, nobody waits\n"))
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        self.assertEqual(self.afteryou("status", "-S", self.space, "x").returncode, 0)
        both = self.afteryou("status", "-S", self.space, "x", "nosuch")
        self.assertEqual((both.returncode, both.stdout.count("inside")), (1, 1))


if __name__ == "__main__":
    unittest.main()
