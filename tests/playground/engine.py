#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The playground's engine on this machine: what it opens, what it refuses, and that its search is `afteryou check`.

usage: engine.py PLAYGROUND AFTERYOU
"""
import json
import subprocess
import sys

PLAYGROUND, AFTERYOU = sys.argv[1:3]


def ask(*lines):
    done = subprocess.run([PLAYGROUND], input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_knows_every_protocol_of_the_command():
    listed = subprocess.run([AFTERYOU, "check", "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines()]
    assert list(ask("catalogue")[0][0]["protocols"]) == names and "link" in names


def test_every_protocol_opens_and_moves():
    for name, about in ask("catalogue")[0][0]["protocols"].items():
        opened, _ = ask(f"open {name}", f"open {name} --units 1", f"open {name} --rename 1")  # some are nothing without
        words = name + (" --rename 1" if not opened[0] and opened[2] else "" if opened[0] else " --units 1")
        begun = name.startswith(("fork-claim-2", "forks-ids"))  # the first process has begun, and never ends
        answers, said = ask(f"open {words}", "state 0", "make 0 As" if begun else "make 0 Ab", "state 1")
        assert None not in answers, f"{words}: {said}"
        if about["kind"] == "registers":
            assert all(process["next"]["line"] > 0 for process in answers[1]["processes"]), f"{name}: a line for each"


def test_its_search_is_that_of_the_command():
    for words in ("pair", "bakery -n 2", "races-printed -n 2", "lamport -n 2 --requests 1", "link", "link-no-detour", "forks-ids -n 2 --no-deaths",
                  "pair --victim 1 --property lockout", "region -n 2 --property doorway,admission --interval 9", "bakery -n 2 --overtaken 1",
                  "lamport -n 2 --requests 1 --property fence"):
        ours = ask(f"check {words}")[0][0]
        theirs = json.loads(subprocess.run([AFTERYOU, "check", *words.split(), "--json"], capture_output=True, text=True, check=False).stdout)
        assert (ours["states"], ours["depth"]) == (theirs["states"], theirs["depth"]), words
        broken = {name for name, found in ours["properties"].items() if found["answer"] == "broken"}
        if "properties" in theirs:
            assert broken == {name for name, found in theirs["properties"].items() if found["answer"] == "broken"}, words
            assert set(ours["properties"]) == set(theirs["properties"]), words
        else:
            assert bool(broken) == ("broken" in theirs), words


def test_a_link_is_shown_with_all_that_is_on_its_way():
    answers, _ = ask("open link", "make 0 Ab", "make 1 Af6", "make 2 Bf8", "make 3 Af12", "make 4 As2", "state 5")
    assert None not in answers, answers
    state = answers[-1]
    assert [(packet["name"], packet["number"], packet["from"], packet["to"]) for packet in state["flying"]] == [
        ("connection 0", 1, 0, [1]), ("ledger", 1, 0, [1])], state["flying"]
    assert [packet["move"] for packet in state["flying"]] == [
        move["move"] for move in sorted(state["processes"][1]["moves"], key=lambda each: each["move"]) if "receives 1" in move["text"]]
    assert state["connections"] == [{"made": True, "accepted": True, "open": [0, 1]}, {"made": False, "accepted": False, "open": []}]
    words = {word["name"]: word["value"] for word in state["processes"][0]["registers"]}
    assert (words["said"], words["acknowledged"], words["sent directly"], words["sent by ledger"]) == ("1", "0", "1", "1"), words


def test_who_waits_for_nothing_is_seen_and_nobody_does_where_it_ships():
    """What must be reached: readers inside together, a second slot that is used."""
    for broken, ships in (("bakery-without-sharing -n 2", "bakery -n 2"), ("courtesy-without-slots -n 2 -l 2", "courtesy -n 2 -l 2"),
                          ("ricart-agrawala-alone -n 2 --modes exclusive,shared", "ricart-agrawala -n 2 --modes exclusive,shared")):
        found, _ = ask(f"open {broken}", "hint 0 reached")
        assert found[1]["left"], broken
        none, _ = ask(f"open {ships}", "hint 0 reached")
        assert none[1] == {"too_far": False, "left": None}, f"{ships}: all its states were looked at"


def test_only_the_victim_counts():
    """The others of forks-ids never end their passages: that they go round is no lockout."""
    lines = ["open forks-ids -n 2 --no-deaths"]
    lines += [line for index in range(60) for line in (f"make {index} As", f"shows {index + 1} lockout")]
    answers, _ = ask(*lines)
    assert not any(answer.get("shows") for answer in answers if answer)


def test_the_past_is_kept_and_another_move_cuts_it_off():
    answers, _ = ask("open pair", "make 0 Ab", "make 1 As", "make 2 As", "state 1", "make 1 Bb", "state 3", "state 2")
    assert answers[4]["processes"][0]["registers"][0]["value"] == "D", "the state of before"
    assert answers[6] is None, "it was cut off"
    assert answers[7]["processes"][1]["status"] == "doorway"


def test_nonsense_is_refused_and_harms_nothing():
    lines = ["state 0", "make 0 Ab", "open", "open nothing", "open pair -n 9", "open pair --help", "open pair " + "x " * 100,
             "open pair", "make 0 Zz", "make 0 A", "make 0 Ab999", "make 7 Ab", "make 0 Bs", "shows 0 nothing", "hint 0 nothing", "hint 0 quiet", "state 99", "what"]
    answers, said = ask(*lines, "make 0 Ab")
    expected = [line == "open pair" for line in lines] + [True]
    assert [answer is not None for answer in answers] == expected, said
    assert said.count("\n") == expected.count(False), "a line for each refusal"


def test_hints_come_from_where_one_is():
    answers, _ = ask("open bakery-without-choosing -n 2", "hint 0 exclusion", "make 0 Ab", "hint 1 exclusion", "open pair", "hint 0 exclusion")
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
