# SPDX-License-Identifier: MIT
"""The bench of all peers works: its rows are well formed, it cleans up. No figure is judged."""
import csv
import math
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

BENCH = os.environ["BENCH_PEERS"]
COLUMNS = ("case,peer,samples,median_ns,low_ns,high_ns,p99_ns,ratio,spread,passages_per_second,fairness,overtaken,overtaken_in_queue,"
           "cpu_ns,trusted,note").split(",")
PEERS = ["robust", "mutex", "sysv-undo", "flock", "courtesy", "courtesy-64"]


def run(*words, **more):
    return subprocess.run([BENCH, *words], capture_output=True, text=True, timeout=300, check=False, **more)


def left_behind():
    return {name for name in os.listdir("/dev/shm") if name.startswith("afteryou-bench-")}


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.csv = pathlib.Path(cls.folder.name, "rows.csv")
        cls.done = run("--quick", "--case", "alone-2,contended-2-0,readers-2,slots,kill-0,startup", "--peer", ",".join(PEERS),
                       "--csv", cls.csv)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_ends_well(self):
        self.assertEqual((self.done.returncode, self.done.stderr), (0, ""))
        self.assertIn("ratio: to the first row", self.done.stdout)

    def test_rows(self):
        rows = rows_of(self.csv)
        self.assertEqual(list(rows[0]), COLUMNS)
        found = {case: [row["peer"] for row in rows if row["case"] == case] for case in dict.fromkeys(row["case"] for row in rows)}
        self.assertEqual(found.pop("machine"), ["processor", "processors", "kernel", "libc", "compiler", "when", "load before",
                                                "load after", "used by others", "stolen"])
        self.assertEqual(found, {
            "alone-2": PEERS, "contended-2-0": PEERS, "readers-2-0-0": ["robust", "flock", "courtesy", "courtesy-64"],
            "slots-8-2-1000": ["robust", "sysv-undo", "courtesy", "courtesy-64"],
            "slots-64-8-rest": ["robust", "sysv-undo", "courtesy", "courtesy-64"],
            "kill-0": ["robust", "sysv-undo", "flock", "courtesy", "courtesy-64"],
            "startup": ["flock(1)", "afteryou-run"]})

    def test_numbers(self):
        for row in rows_of(self.csv):
            if row["case"] == "machine":
                self.assertTrue(row["note"], row)
                continue
            self.assertEqual(row["note"], "", row)
            low, median, high = (float(row[name]) for name in ("low_ns", "median_ns", "high_ns"))
            self.assertTrue(0 < low <= median <= high <= float(row["p99_ns"]), row)
            self.assertGreater(float(row["ratio"]), 0, row)
            self.assertRegex(row["trusted"], "^(yes|noisy: .+)$")
            contended = row["case"].startswith(("contended", "readers", "slots"))
            self.assertEqual(bool(row["fairness"] and row["cpu_ns"] and row["passages_per_second"]), contended, row)
            self.assertEqual(bool(row["overtaken"]), row["case"].startswith("contended"), row)
            if row["overtaken_in_queue"]:
                self.assertTrue(row["peer"].startswith("courtesy"), row)
                self.assertLessEqual(float(row["overtaken_in_queue"]), float(row["peer"].partition("-")[2] or 0), row)
            if row["peer"] in ("robust", "flock(1)"):
                self.assertTrue(math.isclose(float(row["ratio"]), 1), row)

    def test_words_refused(self):
        for words, said in ((["--case", "nothing"], "there is no case 'nothing'"), (["--peer", "robust,nobody"], "there is no peer 'nobody'"),
                            (["--window", "0"], "a number from 1"), (["more"], "unexpected word 'more'"),
                            (["--passages", "robust"], "PEER:N")):
            done = run(*words)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn(said, done.stderr)

    def test_what_cannot_be_measured_is_said(self):
        done = run("--quick", "--case", "startup", "--afteryou", "/nonexistent/afteryou")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "afteryou-run +/nonexistent/afteryou: No such file")

    def test_two_inside_are_noticed(self):
        done = run("--quick", "--window", "200", "--case", "contended-8-10000", "--peer", "semaphore",
                   env=os.environ | {"LD_PRELOAD": os.environ["LETS_ALL_IN"]})
        self.assertRegex(done.stdout, r"semaphore +exclusion broken: \d+ passages, of which \d+ were counted inside")

    def test_passages(self):
        self.assertEqual(run("--passages", "courtesy:1000").returncode, 0)

    def test_cleans_up(self):
        before = left_behind()
        for number in (signal.SIGTERM, signal.SIGINT):
            with subprocess.Popen([BENCH, "--case", "contended-2-0", "--peer", "flock", "--window", "100000"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as bench:
                for _ in range(600):
                    if left_behind() - before:
                        break
                    time.sleep(.05)
                self.assertTrue(left_behind() - before)
                bench.send_signal(number)
                bench.wait(60)
            self.assertEqual(left_behind(), before)

    def test_cleans_up_when_nobody_reads(self):
        before = left_behind()
        with subprocess.Popen([BENCH, "--quick", "--case", "contended-2", "--peer", "flock"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as bench:
            bench.stdout.close()
            bench.wait(60)
        self.assertEqual(left_behind(), before)


if __name__ == "__main__":
    unittest.main()
