#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions a passage, alone, of every peer: counted by callgrind, so the same in every run on the same machine.

usage: instructions.py BENCH-PEERS [--peer NAME,...] [--passages N] [--csv FILE]

Instructions of the program only: what the kernel does for a peer that calls it is not in them.
"""
import argparse
import csv
import re
import subprocess
import sys
import tempfile


def names(bench):
    listed = subprocess.run([bench, "--list"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.split("peers:\n")[1].splitlines()]


def collected(bench, peer, passages):
    """What N passages cost, with the same start before them; or None and why."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes", "--toggle-collect=*loops_passages",
                              f"--callgrind-out-file={folder}/%p", bench, "--passages", f"{peer}:{passages}"],
                             capture_output=True, text=True, check=False, timeout=600)
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if line.startswith("bench: ")]
        return None, lines[0][len(f"bench: {peer}: "):] if lines else run.stderr[-200:]
    return max(int(found) for found in re.findall(r"Collected : (\d+)", run.stderr)), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("--peer", help="names with commas")
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--csv", metavar="FILE")
    words = parser.parse_args()
    chosen = words.peer.split(",") if words.peer else names(words.bench)
    rows = []
    print(f"{'peer':18} {'instructions a passage':>22}")
    for peer in chosen:
        some, why = collected(words.bench, peer, words.passages)
        more, _ = collected(words.bench, peer, 2 * words.passages) if some else (None, "")
        each = (more - some) / words.passages if some else None
        rows.append((peer, each, why))
        print(f"{peer:18} {each:22.1f}" if some else f"{peer:18} {why}", flush=True)
    if words.csv:
        with open(words.csv, "w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["peer", "instructions", "note"])
            writer.writerows((peer, "" if each is None else f"{each:.1f}", why) for peer, each, why in rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
