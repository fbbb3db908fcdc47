#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The playground's engine on this machine: what it opens, what it refuses, and that its search is `afteryou check`.

usage: engine.py PLAYGROUND AFTERYOU
"""
import json
import re
import subprocess
import sys

PLAYGROUND, AFTERYOU = sys.argv[1:3]


def ask(*lines):
    done = subprocess.run([PLAYGROUND], input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_knows_every_protocol_of_the_command():
    listed = subprocess.run([AFTERYOU, "check", "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    shown = [name for name in names if not re.match("link(-|$)", name)]  # what carries messages has no nodes to show
    assert list(ask("catalogue")[0][0]["protocols"]) == shown and shown != names
    assert "for the command line" in ask("open link")[1]


def test_every_protocol_opens_and_moves():
    for name, about in ask("catalogue")[0][0]["protocols"].items():
        words = f"{name} --units 1" if about.get("needs_units") else name
        begun = name.startswith(("fork-claim-2", "forks-ids"))  # the first process has begun, and never ends
        answers, said = ask(f"open {words}", "state 0", "make 0 As" if begun else "make 0 Ab", "state 1")
        assert None not in answers, f"{words}: {said}"
        if not about["messages"]:
            assert all(process["next"]["line"] > 0 for process in answers[1]["processes"]), f"{name}: a line for each"


def test_its_search_is_that_of_the_command():
    for words in ("pair", "bakery -n 2", "races-printed -n 2", "lamport -n 2 --requests 1"):
        ours = ask(f"check {words}")[0][0]
        theirs = json.loads(subprocess.run([AFTERYOU, "check", *words.split(), "--json"], capture_output=True, text=True, check=False).stdout)
        assert (ours["states"], ours["depth"]) == (theirs["states"], theirs["depth"]), words


def test_the_past_is_kept_and_another_move_cuts_it_off():
    answers, _ = ask("open pair", "make 0 Ab", "make 1 As", "make 2 As", "state 1", "make 1 Bb", "state 3", "state 2")
    assert answers[4]["processes"][0]["registers"][0]["value"] == "D", "the state of before"
    assert answers[6] is None, "it was cut off"
    assert answers[7]["processes"][1]["status"] == "doorway"


def test_nonsense_is_refused_and_harms_nothing():
    lines = ["state 0", "make 0 Ab", "open", "open nothing", "open pair -n 9", "open pair --help", "open pair " + "x " * 100,
             "open pair", "make 0 Zz", "make 0 A", "make 0 Ab999", "make 7 Ab", "make 0 Bs", "shows 0 nothing", "state 99", "what"]
    answers, said = ask(*lines, "make 0 Ab")
    expected = [line == "open pair" for line in lines] + [True]
    assert [answer is not None for answer in answers] == expected, said
    assert said.count("\n") == expected.count(False), "a line for each refusal"


def test_hints_come_from_where_one_is():
    answers, _ = ask("open bakery-without-choosing -n 2", "hint 0", "make 0 Ab", "hint 1", "open pair", "hint 0")
    assert answers[1]["left"] == 8 and answers[3]["left"] == 7
    assert answers[5]["left"] is None, "pair cannot be broken"


def main():
    failed = 0
    for name, test in globals().copy().items():
        if name.startswith("test_"):
            try:
                test()
                print(f"ok   {name[5:].replace('_', ' ')}")
            except AssertionError as error:
                failed += 1
                print(f"FAIL {name[5:].replace('_', ' ')}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
