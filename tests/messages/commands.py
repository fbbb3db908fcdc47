#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""afteryou simulate, and afteryou check of message protocols, as a user meets them."""
import csv
import io
import json
import os
import pty
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

AFTERYOU = os.path.abspath(sys.argv.pop(1))
PROTOCOLS = ["lamport", "ricart-agrawala", "carvalho-roucairol", "token"]


def afteryou(*words):
    return subprocess.run([AFTERYOU, *words], capture_output=True, text=True)


class Simulate(unittest.TestCase):
    def test_a_report_in_words(self):
        answer = afteryou("simulate", "ricart-agrawala", "-n", "4", "--passages", "200")
        self.assertEqual(answer.returncode, 0)
        self.assertEqual(answer.stderr, "")  # no progress bar where there is no terminal
        self.assertNotIn("\033", answer.stdout)
        self.assertIn("ricart-agrawala, 4 nodes, seed 1: holds", answer.stdout)
        self.assertIn("messages   6.00 a passage, from 6 to 6 (REQUEST 3.00, REPLY 3.00)", answer.stdout)

    def test_a_report_as_json(self):
        for protocol in PROTOCOLS:
            report = json.loads(afteryou("simulate", protocol, "--passages", "300", "--json").stdout)
            self.assertEqual((report["verdict"], report["passages"]), ("holds", 300))
            self.assertLessEqual(report["waiting_round_trips"]["p50"], report["waiting_round_trips"]["p99"])
            self.assertLess(report["waiting_round_trips"]["mean"], report["waiting_round_trips"]["most"])
            self.assertEqual(sum(report["messages"].values()),
                             round(report["messages_per_passage"]["mean"] * report["passages"]))

    def test_a_run_that_never_comes_to_rest_is_cut_short(self):
        answer = afteryou("simulate", "lamport", "-n", "5", "--passages", "10", "--crash", "1", "--events", "5000")
        self.assertEqual(answer.returncode, 0)
        self.assertIn("cut short after 5000 events", answer.stdout)
        report = json.loads(afteryou("simulate", "lamport", "-n", "5", "--passages", "10", "--crash", "1", "--json").stdout)
        self.assertTrue(report["cut_short"])

    def test_time_that_runs_over_is_an_error(self):
        answer = afteryou("simulate", "token", "--think", "999999999s")
        self.assertEqual(answer.returncode, 125)
        self.assertIn("simulated time ran over", answer.stderr)

    def test_a_violation_can_be_replayed_by_its_seed(self):
        words = ["simulate", "token-established-early", "-n", "3", "--events", "2000", "--crash", "0.05", "--slow", "0.2",
                 "--section", "exp:2ms", "--think", "exp:1ms", "--json"]
        found = afteryou(*words, "--seeds", "60")
        self.assertEqual(found.returncode, 1)
        report = json.loads(found.stdout)
        again = afteryou(*words, "--seed", str(report["seed"]))
        self.assertEqual(again.returncode, 1)
        self.assertEqual(json.loads(again.stdout)["violation"], report["violation"])

    def test_what_is_lost_is_sent_again_and_who_stands_still_goes_on(self):
        for protocol in ("lamport", "ricart-agrawala", "carvalho-roucairol", "token"):
            for words in (["--loss", "0.2"], ["--pause", "0.02"], ["--loss", "0.1", "--pause", "0.01", "--crash", "0.002"]):
                with self.subTest(protocol=protocol, words=words):
                    done = afteryou("simulate", protocol, "-n", "5", "--passages", "500", "--seeds", "4", *words, "--json")
                    self.assertEqual(done.returncode, 0, done.stdout)
                    faults = json.loads(done.stdout)["faults"]
                    self.assertEqual(faults["resent"] > 0, "--loss" in words)
                    self.assertEqual(faults["pauses"] > 0, "--pause" in words)

    def test_a_run_with_loss_and_pauses_is_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.jsonl")
            afteryou("simulate", "lamport", "-n", "4", "--passages", "300", "--loss", "0.2", "--pause", "0.05", "--trace", path)
            done = afteryou("audit", path)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_message_that_arrives_twice_breaks_the_circulating_token(self):
        done = afteryou("simulate", "token-circulating", "-n", "3", "--duplicate", "0.1", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["verdict"]), (1, "exclusion violated"))

    def test_one_responds_when_it_has_waited_and_been_inside(self):
        answer = json.loads(afteryou("simulate", "token", "-n", "3", "--passages", "100", "--delay", "1ms", "--section", "4ms", "--json").stdout)
        self.assertAlmostEqual(answer["response_round_trips"]["mean"], answer["waiting_round_trips"]["mean"] + 2, places=3)

    def test_a_hot_node_pays_no_messages(self):
        report = json.loads(afteryou("simulate", "carvalho-roucairol", "-n", "50", "--hot", "0.99", "--think", "exp:10s",
                                     "--passages", "3000", "--json").stdout)
        self.assertLess(report["messages_per_passage"]["mean"], 3)
        self.assertEqual(report["messages_per_passage"]["fewest"], 0)

    def test_a_share_of_the_requests_holds_under_load(self):
        """Node 0 waits as long as the others do, and makes half of the requests all the same."""
        for protocol in PROTOCOLS:
            with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
                afteryou("simulate", protocol, "-n", "5", "--hot", "0.5", "--think", "exp:100us", "--passages", "2000",
                         "--trace", file.name)
                with open(file.name, encoding="utf-8") as lines:
                    requests = [json.loads(line)["process"] for line in lines if '"request"' in line]
            self.assertEqual(len(requests), 2000)
            self.assertTrue(980 <= requests.count("n0") <= 1020, f"{protocol}: {requests.count('n0')} of 2000")

    def test_table_one(self):
        rows = [json.loads(line) for line in afteryou("simulate", "--table", "-n", "3,10", "--json").stdout.splitlines()]
        self.assertEqual(len(rows), 8)
        differs = [(row["nodes"], row["protocol"], note + 1) for row in rows for note, entry in enumerate(row["notes"])
                   if not entry["agrees"]]
        self.assertEqual(differs, [(3, "carvalho-roucairol", 4), (10, "carvalho-roucairol", 4)])
        text = afteryou("simulate", "--table", "-n", "3").stdout
        self.assertIn("1.50 ((N-1)/2) *", text)
        self.assertIn("* carvalho-roucairol, note 4: N/2, not (N-1)/2", text)

    def test_a_sweep(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "sweep.svg")
            answer = afteryou("simulate", "--sweep", "2-4,10", "--passages", "200", "--svg", svg)
            self.assertEqual(answer.returncode, 0)
            rows = list(csv.DictReader(io.StringIO(answer.stdout)))
            self.assertEqual(len(rows), 16)
            for row in rows:
                if row["protocol"] == "lamport":
                    self.assertEqual(float(row["messages_per_passage"]), 3 * (int(row["nodes"]) - 1))
            self.assertEqual(len(xml.dom.minidom.parse(svg).getElementsByTagName("polyline")), 4)

    def test_all_messages_lost_is_refused(self):
        done = afteryou("simulate", "token", "--loss", "1")
        self.assertEqual(done.returncode, 125)
        self.assertIn("--loss takes a share of 0.99 or less", done.stderr)

    def test_very_many_nodes_need_little_memory(self):
        """What 10^5 nodes may take, 16 GB, grows with the square of their number."""
        nodes = 30000
        most = int(16e9 * (nodes / 1e5) ** 2)
        for protocol in [*PROTOCOLS, "token-elected", "token-circulating"]:
            with self.subTest(protocol):
                done = subprocess.run([AFTERYOU, "simulate", protocol, "-n", str(nodes), "--passages", "3", "--json"],
                                      capture_output=True, text=True,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual((report["verdict"], report["passages"]), ("holds", 3))

    def test_what_makes_no_sense_is_refused(self):
        for words, complaint in [
            ([], "which protocol?"),
            (["paxos"], "there is no protocol 'paxos'"),
            (["token", "lamport"], "one protocol at a time: leave out 'lamport'"),
            (["token", "-n", "1"], "-n takes numbers of nodes from 2 to 1048576, as in 5 or 2-10,20,50, not '1'"),
            (["token", "--delay", "5"], "--delay takes a time, as in 5us, exp:5us (the mean) or 2us-8us, not '5'"),
            (["token", "--crash", "2"], "--crash takes a number from 0 to 1, not '2'"),
            (["token", "--bogus"], "there is no option --bogus"),
            (["token", "--crash", "0.1", "--network", "any"], "need --network agreed"),
            (["token", "--network", "links"], "links are for lamport, ricart-agrawala and carvalho-roucairol"),
            (["lamport", "--network", "links", "--duplicate", "0.1"], "pass over what comes twice"),
            (["lamport-links-not-lowest", "--network", "agreed"], "broken over links only"),
            (["carvalho-roucairol-links-no-last-words"], "'afteryou check carvalho-roucairol-links-no-last-words'"),
            (["token", "--shared", "0.5"], "exclusive mode only"),
            (["token", "--hot", "1"], "--hot takes a share below 1"),
            (["token", "--hot", "0.5", "--skew", "1"], "choose one"),
            (["token", "--svg", "x"], "belong to --sweep"),
            (["token", "--trace", "/nonexistent/t"], "cannot write the trace /nonexistent/t"),
            (["token", "--trace", "t", "--seeds", "2"], "one --seed"),
            (["--table", "-n", "1000"], "at most 200 nodes"),
        ]:
            with self.subTest(" ".join(words)):
                answer = afteryou("simulate", *words)
                self.assertEqual(answer.returncode, 125)
                self.assertEqual(len(answer.stderr.splitlines()), 1)
                self.assertIn(complaint, answer.stderr)

    def test_a_terminal_gets_a_bar_and_colours_unless_it_wants_none(self):
        def on_terminal(**environment):
            ours, theirs = pty.openpty()
            run = subprocess.Popen([AFTERYOU, "simulate", "token", "--passages", "30000"], stdout=theirs, stderr=theirs,
                                   env={**os.environ, **environment})
            os.close(theirs)
            text = b""
            try:
                while chunk := os.read(ours, 65536):
                    text += chunk
            except OSError:  # the other end is closed
                pass
            os.close(ours)
            self.assertEqual(run.wait(), 0)
            return text.decode()
        os.environ.pop("NO_COLOR", None)
        colourful, plain = on_terminal(), on_terminal(NO_COLOR="1")
        self.assertIn("simulate [#", colourful)
        self.assertIn("\033[32mholds", colourful)
        self.assertIn("seed 1: holds", plain)

    def test_a_full_disk_is_told(self):
        answer = afteryou("simulate", "token", "--trace", "/dev/full")
        self.assertEqual(answer.returncode, 125)
        self.assertIn("No space left on device", answer.stderr)


class Table(unittest.TestCase):
    def test_the_longest_wait_of_note_4_can_be_looked_at(self):
        """From the first request after the quiescent state until anybody enters: N/2 round trips of 2 ms."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "run.jsonl")
            answer = afteryou("simulate", "carvalho-roucairol", "--table", "-n", "5", "--trace", trace)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            with open(trace, encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
            self.assertEqual(afteryou("audit", trace).returncode, 0)
        asked = [one["at"] for one in events if one.get("event") == "request"][5]
        entered = [one["at"] for one in events if one.get("event") == "enter"][5]
        self.assertAlmostEqual((entered - asked) / 2e6, 5 / 2, places=4)

    def test_a_trace_is_of_one_run(self):
        for words in ["--table", "-n", "3"], ["carvalho-roucairol", "--table", "-n", "3,5"]:
            answer = afteryou("simulate", *words, "--trace", "/dev/null")
            self.assertEqual(answer.returncode, 125)
            self.assertIn("name a protocol and one -n", answer.stderr)


class Drawn(unittest.TestCase):
    """The drawings of docs/messages.md are what its commands draw."""
    RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "results")

    def compare(self, name, path):
        with open(os.path.join(self.RESULTS, name), encoding="utf-8") as kept, open(path, encoding="utf-8") as made:
            self.assertEqual(kept.read(), made.read(), f"make docs/results/{name} anew")

    def test_of_the_checker(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "check.svg")
            afteryou("check", "carvalho-roucairol-never-defers", "-n", "3", "--svg", path)
            self.compare("messages-check.svg", path)

    def test_of_the_auditor(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, path = os.path.join(folder, "run.jsonl"), os.path.join(folder, "audit.svg")
            afteryou("simulate", "ricart-agrawala-unfair", "-n", "3", "--passages", "3000", "--trace", trace)
            afteryou("audit", trace, "--svg", path, "--length", "24")
            self.compare("messages-violation.svg", path)


class Check(unittest.TestCase):
    def test_the_shipped_protocols_hold(self):
        for protocol in PROTOCOLS:
            answer = afteryou("check", protocol, "--json")
            self.assertEqual(answer.returncode, 0, answer.stdout)
            report = json.loads(answer.stdout)
            self.assertEqual((report["safety"], report["progress"], report["exhausted"]), ("holds", "holds", True))

    def test_a_broken_variant_is_shown_step_by_step(self):
        answer = afteryou("check", "carvalho-roucairol-preset-newcomer", "--crashes", "1", "--joins", "1")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("exclusion: two whose modes conflict are inside, in 7 steps:", answer.stdout)
        self.assertIn("node 1 joins anew", answer.stdout)

    def test_one_property_alone_is_judged(self):
        report = json.loads(afteryou("check", "lamport", "-n", "3", "--requests", "1", "--property", "fact-1", "--json").stdout)
        self.assertTrue(report["broken"].startswith("fact-1"))
        for words, complaint in [(["token", "--property", "lemma-1"], "are about lamport"),
                                 (["lamport", "--property", "fairness,request-order"], "one at a time"),
                                 (["lamport", "--requests", "0", "--property", "fence"], "not judged"),
                                 (["token-elected", "--crashes", "1"], "nobody comes or goes"),
                                 (["token", "--joins", "1"], "1 cannot come back if 0 crash"),
                                 (["token", "--property", "order"], "exclusion, progress, lockout and reached"),
                                 (["pair", "--property", "fairness"], "judged of message protocols"),
                                 (["token", "--property", "bogus"], "--property takes")]:
            answer = afteryou("check", *words)
            self.assertEqual(answer.returncode, 125, words)
            self.assertIn(complaint, answer.stderr)

    def test_a_limit_is_told(self):
        self.assertEqual(afteryou("check", "lamport", "-n", "3", "--states", "1000").returncode, 2)

    def test_what_makes_no_sense_is_refused(self):
        for words, complaint in [
            (["token", "-n", "9"], "-n takes a whole number from 1 to 8, not '9'"),
            (["token", "-n", "5"], "token takes 2 to 4 nodes here, not 5"),
            (["token", "--crashes", "1", "--network", "fifo"], ""),
            (["token", "--modes", "shared"], ""),
            (["link", "--crashes", "1"], "link is what carries messages: --crashes does not go with it"),
            (["link", "-n", "3"], "a link has 2 ends, not 3"),
            (["link", "--requests", "9"], "says 1 to 3 messages here, not 9"),
            (["link", "--property", "fence"], "neither modes nor properties"),
            (["lamport", "--links", "--deaths", "1"], "deaths of users are for carvalho-roucairol, over links"),
            (["carvalho-roucairol", "--property", "told"], "say --links"),
            (["lamport", "--connections", "1"], "--connections does not go with it"),
            (["token", "--links"], "links are for lamport, ricart-agrawala and carvalho-roucairol"),
            (["lamport", "--links", "--network", "agreed"], "messages are fifo or reordered"),
            (["token", "--tso"], "token is a protocol of messages: --tso does not go with it"),
            (["token", "--bogus"], "there is no option --bogus; 'afteryou check --help' lists them")]:
            answer = afteryou("check", *words)
            self.assertEqual(answer.returncode, 125, words)
            self.assertEqual(len(answer.stderr.splitlines()), 1)
            self.assertIn(complaint, answer.stderr)


if __name__ == "__main__":
    unittest.main()
