#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast the checker searches, and beside it SPIN on the same protocol, in the same run, by turns.

usage: run.py [--rounds N] [--afteryou COMMAND]
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BAKERY = ["check", "bakery", "-n", "3", "--property", "exclusion", "--json"]
LIMITED = ["--modes", "exclusive", "--passages", "2"]
SPIN_FLAGS = {
    "SPIN, every step": ["-DNOREDUCE"],
    "SPIN, partial order": [],
    "SPIN, parts kept once": ["-DNOREDUCE", "-DCOLLAPSE"],
}


def measure(words):
    """Runs a command; what it printed, and the processor's seconds it took: a loaded machine changes these least."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(words, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = out.read()
    if process.returncode:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}:\n{printed}")
    return printed, usage.ru_utime + usage.ru_stime


def run_ours(command, words):
    printed, seconds = measure([command, *BAKERY, *words])
    answer = json.loads(printed)
    assert answer["exhausted"] and answer["properties"]["exclusion"]["answer"] == "holds"
    return {"states": answer["states"], "moves": answer["moves"], "seconds": seconds, "bytes": answer["bytes"]}


def build_spin(directory, flags):
    """SPIN's own checker for the model: compiled C, as SPIN is meant to be used."""
    os.makedirs(directory)
    subprocess.run(["spin", "-a", os.path.join(HERE, "bakery.pml")], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["gcc", "-O2", "-w", "-DSAFETY", *flags, "-o", "pan", "pan.c"], cwd=directory, check=True)
    return os.path.join(directory, "pan")


def run_spin(pan):
    # -E: processes that have no passages left are no error; -w21: room for the two million states there could be.
    printed, seconds = measure([pan, "-E", "-m10000", "-w21"])
    if "errors: 0" not in printed:
        sys.exit(f"SPIN found an error:\n{printed}")

    def number(pattern):
        return float(re.search(pattern, printed).group(1))

    return {"states": int(number(r"(\d+) states, stored")), "moves": int(number(r"(\d+) transitions")),
            "seconds": seconds, "bytes": number(r"([\d.]+)\s+total actual memory usage") * 2**20}


def machine():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} processors, load {load:.1f} when it began"


def row(name, runs):
    seconds = statistics.median(run["seconds"] for run in runs)
    spread = max(run["seconds"] for run in runs) - min(run["seconds"] for run in runs)
    best = min(run["seconds"] for run in runs)
    first = runs[0]
    print(f"{name:37}{first['states']:>11,}{first['moves']:>13,}{seconds:>9.2f} s ±{spread / 2:<5.2f}"
          f"{first['states'] / seconds / 1e6:>8.2f}{first['states'] / best / 1e6:>7.2f}"
          f"{first['moves'] / seconds / 1e6:>9.2f}{first['bytes'] / first['states']:>9.0f}")
    return first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--afteryou", default=os.path.join(ROOT, "build", "afteryou"))
    asked = parser.parse_args()
    ours = {
        "afteryou": LIMITED,
        "afteryou --symmetry --compact": [*LIMITED, "--symmetry", "--compact"],
        "afteryou --no-reduction": [*LIMITED, "--no-reduction"],
        "afteryou --no-reduction --compact": [*LIMITED, "--no-reduction", "--compact"],
    }
    alone = {
        "bakery -n 3, exclusive": ["--modes", "exclusive"],
        "bakery -n 3, readers and writers": [],
    }
    begun = machine()
    with tempfile.TemporaryDirectory() as directory:
        pans = {name: build_spin(os.path.join(directory, str(at)), flags)
                for at, (name, flags) in enumerate(SPIN_FLAGS.items())}
        runs = {name: [] for name in [*ours, *pans, *alone]}
        for _ in range(asked.rounds):
            for name, words in {**ours, **alone}.items():
                runs[name].append(run_ours(asked.afteryou, words))
            for name, pan in pans.items():
                runs[name].append(run_spin(pan))
    print(f"{begun}; medians of {asked.rounds} rounds by turns; seconds of the processor\n")
    print(f"{'':37}{'states':>11}{'moves':>13}{'time':>17}{'M st/s':>10}{'best':>7}{'M mv/s':>9}{'B/state':>9}")
    print("bakery, 3 places, exclusive, 2 passages each, deaths:")
    found = {name: row("  " + name, runs[name]) for name in [*ours, *pans]}
    print("any number of passages, deaths:")
    for name in alone:
        row("  " + name, runs[name])
    # The two were written apart: their counts of states are a test of each other.
    unreduced, spin = found["afteryou --no-reduction"]["states"], found["SPIN, every step"]["states"]
    if spin != unreduced + 1:
        sys.exit(f"the counts differ: {unreduced} states and the one before SPIN's init make {unreduced + 1}, not {spin}")
    print(f"\nThe counts agree: {unreduced:,} states, and for SPIN the one before its processes run.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
