#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`afteryou check` as its users meet it: what it prints, what it exits with, what it says to bad input."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

AFTERYOU = sys.argv.pop(1)


def check(*words, **more):
    return subprocess.run([AFTERYOU, "check", *words], capture_output=True, text=True, timeout=300, **more)


class Answers(unittest.TestCase):
    def test_what_holds_exits_0(self):
        done = check("pair")
        self.assertEqual(done.returncode, 0)
        self.assertIn("exclusion    holds", done.stdout)
        self.assertIn("at most 2 times from the first public step, 1 from the queue", done.stdout)
        self.assertTrue(done.stdout.strip().endswith("exhausted"))

    def test_what_is_broken_exits_1_and_shows_the_shortest_run(self):
        done = check("bakery-without-choosing", "-n", "2")
        self.assertEqual(done.returncode, 1)
        steps = [line.split() for line in done.stdout.splitlines() if line[:6].strip().isdigit()]
        self.assertEqual([int(step[0]) for step in steps], list(range(1, 9)))
        self.assertEqual(done.stdout.count("and is inside"), 2)

    def test_a_limit_exits_2_and_claims_nothing(self):
        done = check("races", "-n", "3", "--states", "1000")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exclusion    not decided", done.stdout)
        self.assertIn("NOT exhausted: --states was reached", done.stdout)

    def test_an_overflowing_number_is_reported(self):
        done = check("bakery-torn", "--passages", "8")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a number outgrew its field", done.stdout)

    def test_a_store_buffer_that_runs_full_is_reported(self):
        done = check("courtesy-retain", "-n", "2", "--tso")
        self.assertEqual(done.returncode, 2)
        self.assertIn("exclusion    not decided", done.stdout)
        self.assertIn("NOT exhausted: a store buffer, or the network, had no room for one more", done.stdout)
        done = check("courtesy-retain", "-n", "2", "--alive", "0", "--tso", "--no-deaths", "--random", "100")
        self.assertEqual(done.returncode, 2)
        self.assertIn("some runs were cut short: a store buffer was full", done.stdout)

    def test_json_says_the_same(self):
        answer = json.loads(check("clock-without-ok", "-n", "2", "--json").stdout)
        self.assertEqual(answer["schema"], 1)
        self.assertEqual(answer["properties"]["exclusion"]["answer"], "holds")
        self.assertEqual(answer["properties"]["overtaking"]["answer"], "broken")
        self.assertIsNone(answer["overtaken"]["from_active"])
        self.assertLess(answer["properties"]["overtaking"]["repeats_from"], len(answer["properties"]["overtaking"]["run"]))

    def test_what_is_never_reached_exits_1_whatever_else_is_asked(self):
        done = check("bakery-without-sharing", "-n", "2", "--property", "exclusion")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exclusion    holds", done.stdout)
        self.assertIn("reached      BROKEN: never: two share\n", done.stdout)
        done = check("ricart-agrawala-deaf", "--json")
        self.assertEqual(done.returncode, 1)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["broken"], answer["steps"], answer["exhausted"]), ("reached", 0, True))
        self.assertEqual((answer["reached"], answer["never_reached"]),
                         ([], ["node 0 enters (exclusive)", "node 1 enters (exclusive)"]))
        self.assertEqual(answer["properties"]["progress"]["answer"], "holds")

    def test_a_bound_on_overtaking_is_refuted_by_the_shortest_run(self):
        """Rivest and Pratt's linear waiting: not once, but twice."""
        done = check("pair", "--property", "overtaking", "--overtaken", "1", "--json")
        self.assertEqual(done.returncode, 1)
        finding = json.loads(done.stdout)["properties"]["overtaking"]
        self.assertEqual(finding["answer"], "broken")
        self.assertEqual(len(finding["run"]), 14)
        # By the end one has been inside twice since the other's first store, and that one has not.
        told = check("pair", "--property", "overtaking", "--overtaken", "1").stdout
        run = [line.split(None, 2)[1:] for line in told.splitlines() if line[:6].strip().isdigit()]
        first = next(at for at, (who, did) in enumerate(run) if who == "P0" and "stores S0 :=" in did)
        self.assertEqual([who for who, did in run[first:] if "is inside" in did], ["P1", "P1"])
        self.assertEqual(check("pair", "--property", "overtaking", "--overtaken", "2").returncode, 0)
        self.assertEqual(check("races", "-n", "3", "--property", "overtaking", "--overtaken", "3").returncode, 1)

    def test_what_was_reached_is_listed(self):
        self.assertIn("reached      holds: P0 enters, P0 enters (shared), P1 enters, P1 enters (shared), two share\n",
                      check("bakery", "-n", "2").stdout)
        self.assertIn("shared beside concurrent-read", check("ricart-agrawala", "--requests", "1", "--modes", "shared,concurrent-read").stdout)

    def test_a_counterexample_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.svg")
            self.assertEqual(check("races-printed", "-n", "2", "--svg", path).returncode, 1)
            texts = [node.text for node in xml.etree.ElementTree.parse(path).iter() if node.tag.endswith("text")]
        self.assertIn("P0", texts)
        self.assertIn("exclusion", texts)
        self.assertTrue(any(text and "and is inside" in text for text in texts))

    def test_words_and_options_stand_in_any_order(self):
        """The value of an option may be the name of a protocol, of the other kind even."""
        with tempfile.TemporaryDirectory() as folder:
            for words in (["races-printed", "-n", "2", "--svg", "token"], ["--svg", "token", "races-printed", "-n", "2"],
                          ["-n", "2", "races-printed", "--svg=token"], ["--svg", "pair", "lamport-no-acknowledgement"]):
                self.assertEqual(check(*words, cwd=folder).returncode, 1, words)
            self.assertEqual(sorted(os.listdir(folder)), ["pair", "token"])
            done = check("pair", "--svg", "token", cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, "afteryou check: nothing is broken, so token was not drawn\n"))

    def test_a_seed_is_a_run(self):
        words = ("bakery-without-choosing", "-n", "3", "--random", "1000")
        found = check(*words)
        self.assertEqual(found.returncode, 1)
        seed = found.stdout.split("with seed ")[1].split()[0]
        again = check("bakery-without-choosing", "-n", "3", "--random", "1", "--seed", seed)
        self.assertEqual([line for line in found.stdout.splitlines() if " P" in line],
                         [line for line in again.stdout.splitlines() if " P" in line])

    def test_pct_finds_it_too(self):
        self.assertEqual(check("races-printed", "-n", "3", "--random", "20000", "--pct", "4", "--steps", "200").returncode, 1)


class Power(unittest.TestCase):
    """Other ways to search: the answer is the same."""
    ROWS = ["bakery -n 2", "bakery -n 3 --modes exclusive", "bakery -n 2 --passages 2 --no-reduction", "courtesy -n 2 --aborts",
            "courtesy -n 2 --tso --modes both", "pair --memory-model c11 --passages 2", "clock -n 2", "fork -n 2", "races-printed -n 2",
            "bakery-circle-3 -n 3", "bakery-without-choosing -n 2", "region -n 2 --malfunction", "bakery-torn --passages 8",
            "races -n 3 --states 5000", "network", "token -n 3 --requests 1", "lamport -n 2 --requests 0",
            "carvalho-roucairol-never-defers -n 3", "token-regenerated-twice -n 3 --requests 1 --crashes 1"]

    def answer(self, *words):
        done = check(*words, "--json")
        self.assertIn(done.returncode, (0, 1, 2), done.stderr)
        answer = json.loads(done.stdout)
        for machines in ("seconds", "bytes"):
            answer.pop(machines, None)
        return done.returncode, answer

    def test_a_compact_search_finds_the_same(self):
        for row in self.ROWS:
            with self.subTest(row):
                words = [*row.split(), "--property", "exclusion"]
                self.assertEqual(self.answer(*words), self.answer(*words, "--compact"))

    def test_helpers_change_nothing(self):
        """Not even the order of the states: so runs and bounds are the same, too."""
        for row in self.ROWS:
            with self.subTest(row):
                words = row.split()
                self.assertEqual(self.answer(*words), self.answer(*words, "--threads", "3"))
                words += ["--property", "exclusion", "--compact"]
                self.assertEqual(self.answer(*words), self.answer(*words, "--threads", "2"))

    def test_a_compact_search_judges_what_states_show(self):
        done = check("pair", "--compact")
        self.assertEqual(done.returncode, 125)
        self.assertIn("--compact keeps the states, and not where they lead", done.stderr)
        self.assertEqual(check("lamport", "--requests", "1", "--compact", "--property", "lemma-1,lemma-2").returncode, 0)

    def test_with_places_taken_for_one_another_the_same_holds(self):
        for row in ("bakery -n 3 --modes exclusive", "courtesy -n 3 --passages 1 --no-express", "courtesy -n 2 --tso --overtake 2",
                    "courtesy-retain -n 2", "bakery-without-choosing -n 2", "courtesy-without-look -n 2 --overtake 3"):
            with self.subTest(row):
                words = [*row.split(), "--property", "exclusion"]
                (status, plain), (again, symmetric) = self.answer(*words), self.answer(*words, "--symmetry", "--compact")
                self.assertEqual(status, again)
                self.assertEqual(plain["properties"], symmetric["properties"])
                if status == 0:
                    self.assertLess(symmetric["states"], plain["states"])
                self.assertEqual((again, symmetric), self.answer(*words, "--symmetry", "--threads", "2"))

    def test_places_are_not_taken_for_one_another_where_they_differ(self):
        for words, said in (("bakery", "--symmetry lets places change"), ("pair --property exclusion", "--symmetry works with bakery and courtesy"),
                            ("courtesy --property exclusion -l 2", "takes --symmetry without -l"),
                            ("bakery --property exclusion -n 6", "which takes up to 5"),
                            ("lamport --property exclusion", "--symmetry does not go with it")):
            with self.subTest(words):
                done = check(*words.split(), "--symmetry")
                self.assertEqual(done.returncode, 125)
                self.assertIn(said, done.stderr)


class WeakMemory(unittest.TestCase):
    def test_the_bound_is_told_with_the_verdict(self):
        self.assertIn("pair: n = 2, 3 passages each, deaths after any step, C11 memory\n", check("pair", "--memory-model", "c11").stdout)
        self.assertIn("C11 memory, a lag of 2 stores at most\n", check("pair", "--memory-model", "c11", "--lag", "2").stdout)

    def test_a_run_tells_what_a_fetch_did_not_see(self):
        done = check("pair", "--memory-model", "c11", "--no-fence", "B")
        self.assertEqual(done.returncode, 1)
        self.assertIn("P1  C: fetches S0 = D, not seeing S0 := 0\n", done.stdout)
        self.assertIn("and is inside: a race with what was done there before\n", done.stdout)
        self.assertNotIn("B: fence", done.stdout)

    def test_a_relaxed_death_is_a_race_though_nobody_else_is_inside(self):
        done = check("bakery", "-n", "2", "--modes", "exclusive", "--memory-model", "c11", "--passages", "1", "--relax", "death")
        self.assertIn("exclusion    BROKEN (race)", done.stdout)
        self.assertIn("dies inside\n", done.stdout)

    def test_raised_views_change_no_answer(self):
        for words in (["pair"], ["bakery", "-n", "2", "--modes", "exclusive"], ["races", "-n", "2"]):
            words += ["--memory-model", "c11", "--passages", "1", "--json"]
            few, all = (json.loads(check(*words, *more).stdout) for more in ([], ["--no-reduction"]))
            self.assertEqual(few["properties"], all["properties"])
            self.assertLess(few["states"], all["states"])

    def test_tso_has_two_names(self):
        one, other = (json.loads(check("pair", *words, "--json").stdout) for words in (["--tso"], ["--memory-model", "tso"]))
        self.assertEqual((one["states"], one["moves"]), (other["states"], other["moves"]))


class Names(unittest.TestCase):
    def test_the_reduction_does_not_change_the_answers(self):
        words = ["courtesy", "-n", "2", "--rename", "1", "--no-deaths", "--fences", "--json"]
        few, all = (json.loads(check(*words, *more).stdout) for more in ([], ["--no-reduction"]))
        self.assertEqual(few["properties"], all["properties"])
        self.assertLess(few["states"], all["states"])

    def test_a_run_tells_what_names_are_looked_at(self):
        done = check("courtesy-rename-without-count", "-n", "2", "--rename", "1", "--no-deaths", "--property", "exclusion")
        self.assertEqual(done.returncode, 1)
        self.assertIn("renamed up to 1 times, 1 passages each", done.stdout)
        for does in ("takes the name b; give_up: stores that nobody lives at place 0", "tag: fetches the tag of place 0: b",
                     "gathered: looks whether nobody has come to the name of place 0: nobody"):
            self.assertIn(does, done.stdout)


class BadInput(unittest.TestCase):
    def refuses(self, says, *words, **more):
        done = check(*words, **more)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_each_gets_one_clear_line(self):
        self.refuses("which protocol?")
        self.refuses("there is no protocol 'nonsense'", "nonsense")
        self.refuses("-n takes a whole number from 1 to 8, not '0'", "pair", "-n", "0")
        self.refuses("--places takes a whole number from 1 to 8, not '1000'", "pair", "--places", "1000")
        self.refuses("pair takes 2 places, not 3", "pair", "-n", "3")
        self.refuses("there is no option --nonsense", "pair", "--nonsense")
        self.refuses("-n wants a value", "pair", "-n")
        self.refuses("has no conditions", "pair", "--units", "1")
        self.refuses("takes --lost-stores only with --tso", "pair", "--lost-stores")
        self.refuses("has one slot", "bakery", "-l", "2")
        self.refuses("--units and --precedence go one at a time", "region", "--units", "1", "--precedence", "priority")
        self.refuses("--memory takes a size of 16M or more", "pair", "--memory", "1M")
        self.refuses("--property takes exclusion, progress, lockout, reliability, order, overtaking, quiet, giving-up, able, precedence, doorway, admission, recovery, reached, fence, ", "pair", "--property", "nonsense")
        self.refuses("pair takes --pct only with --random RUNS", "pair", "--pct", "2")
        self.refuses("--memory-model takes sc, tso or c11, not 'arm'", "pair", "--memory-model", "arm")
        self.refuses("takes --no-fence, --relax and --lag with --memory-model c11 only", "pair", "--no-fence", "B")
        self.refuses("has no access labelled 'Z'", "pair", "--memory-model", "c11", "--passages", "1", "--no-fence", "Z")
        self.refuses("is not of atomic words alone", "forks", "-n", "2", "--memory-model", "c11")
        self.refuses("has registers with two writers", "courtesy-retain", "-n", "2", "--memory-model", "c11")
        self.refuses("does not keep its mode in its word", "courtesy", "-n", "2", "--modes", "both", "--memory-model", "c11")
        self.refuses("is judged for exclusion, reached, progress", "courtesy", "-n", "2", "--memory-model", "c11", "--property", "quiet")

    def test_names(self):
        self.refuses("knows no names; --rename works with courtesy", "bakery", "--rename", "1")
        self.refuses("knows no names; --rename works with courtesy", "courtesy-brief", "--rename", "1")
        self.refuses("gives its right back before its place passes on: leave --strangers out", "courtesy-retain", "-n", "2", "--strangers")
        self.refuses("is renamed by itself", "courtesy", "-n", "2", "--rename", "1", "--units", "1")
        self.refuses("has names with --rename only", "courtesy", "-n", "2", "--alike")

    def test_what_is_for_the_other_kind_of_protocol(self):
        self.refuses("pair is a protocol of registers: --requests does not go with it", "pair", "--requests", "2")
        self.refuses("--modes takes exclusive, shared or both", "bakery", "--modes", "null")
        self.refuses("one protocol at a time", "pair", "token")

    def test_no_memory_left(self):
        little = 150 << 20
        self.refuses("no memory left", "races", "-n", "4",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (little, little)))

    def test_a_drawing_that_cannot_be_written(self):
        done = check("races-printed", "-n", "2", "--svg", "/nonexistent/run.svg")
        self.assertEqual(done.returncode, 125)
        self.assertIn("/nonexistent/run.svg: No such file or directory", done.stderr)


class Drawings(unittest.TestCase):
    def test_all_text_is_on_the_page(self):
        """Letters are 0.7 of their size wide in the middle if they are bold, else 0.62: DejaVu Sans's."""
        widths = {"title": 15 * 0.7, "wrong": 12 * 0.7, "small": 10 * 0.62}
        for words in (["courtesy-without-raise", "-n", "3", "--tso", "--fences", "--aborts", "--overtake", "2"], ["bakery-without-choosing", "-n", "2"],
                      ["lamport-no-acknowledgement"], ["link-takes-gaps", "--requests", "2"]):
            with tempfile.TemporaryDirectory() as directory:
                path = os.path.join(directory, "run.svg")
                self.assertEqual(check(*words, "--svg", path).returncode, 1, words)
                page = xml.etree.ElementTree.parse(path).getroot()
            name = "{http://www.w3.org/2000/svg}"
            texts = page.findall(f"{name}text")
            self.assertGreater(len(texts), 5)
            for text in texts:
                length = widths.get(text.get("class"), 12 * 0.62) * len(text.text)
                before = {"start": 0, "middle": length / 2, "end": length}[text.get("text-anchor")]
                left = float(text.get("x")) - before
                self.assertGreaterEqual(left, 0, (words, text.text))
                self.assertLessEqual(left + length, float(page.get("width")), (words, text.text))
                self.assertLessEqual(float(text.get("y")), float(page.get("height")), (words, text.text))

    def test_a_link_has_two_ends_and_an_arrow_for_each_packet_that_came(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "run.svg")
            self.assertEqual(check("link-takes-duplicates", "--svg", path).returncode, 1)
            page = xml.etree.ElementTree.parse(path).getroot()
        name = "{http://www.w3.org/2000/svg}"
        texts = [text.text for text in page.findall(f"{name}text")]
        self.assertIn("end 1", texts)
        self.assertIn("delivery: a message is taken twice", texts)
        self.assertEqual(sum(line.get("marker-end") is not None for line in page.findall(f"{name}line")), 2, "one by each way")


if __name__ == "__main__":
    unittest.main()
