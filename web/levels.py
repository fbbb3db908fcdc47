#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The solutions of the playground's levels, as the checker finds them.

usage: levels.py --engine PROGRAM --check     replay all that are kept: each must break its promise at its last move, not before
       levels.py --engine PROGRAM --solve     find those that are missing or no longer right (--all: every one), and keep them
       levels.py --engine PROGRAM --prove     search anew for each that is said to be a shortest one: none is shorter

PROGRAM is build/afteryou-playground. The search goes breadth first: for exclusion, progress and reached its run is a shortest
one. --prove takes minutes, and 2 GB.
"""
import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = os.path.join(HERE, "texts", "levels.json")
SOLUTIONS = os.path.join(HERE, "texts", "solutions.json")
SHORTEST = ("exclusion", "progress", "reached")


class Engine:
    def __init__(self, program):
        self.program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.program.stdin.write(line + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())

    def first_showing(self, level, moves):
        """After how many moves the promise is seen to be broken; None if never."""
        if self.ask(f"open {level['words']}") is None:
            return None
        for index, move in enumerate(moves):
            if self.ask(f"make {index} {move}") is None:
                return None
            if self.ask(f"shows {index + 1} {level['property']}")["shows"]:
                return index + 1
        return None


def run_to_refusal(engine, level):
    """What must be reached is shown to be broken by one that waits for nothing, or was not heard. The shortest way, hint by hint."""
    engine.ask(f"open {level['words']}")
    moves = []
    for begin in [move["move"] for process in engine.ask("state 0")["processes"] for move in process["moves"] if move["move"][1] == "b"]:
        engine.ask(f"make 0 {begin}")
        if engine.ask("shows 1 reached")["shows"]:
            return [begin]
    while (hint := engine.ask(f"hint {len(moves)} reached"))["left"]:
        moves.append(hint["move"])
        engine.ask(f"make {len(moves) - 1} {moves[-1]}")
    return moves


def solve(engine, level):
    found = engine.ask(f"check {level['words']}")["properties"][level["property"]]
    if found["answer"] != "broken":
        sys.exit(f"levels.py: {level['words']}: {level['property']} is {found['answer']}")
    if level["property"] == "reached":
        found["run"] = run_to_refusal(engine, level)
    length = engine.first_showing(level, found["run"])
    if length is None:
        sys.exit(f"levels.py: {level['words']}: its run does not show that {level['property']} is broken")
    solution = {"moves": found["run"][:length]}
    broken = engine.ask(f"state {length}").get("broken")
    if broken:
        solution["breaks"] = broken.split(":")[0]
    if level["property"] in SHORTEST:
        solution["shortest"] = True
    if "loop" in found and length == len(found["run"]):
        solution["loop"] = found["loop"]
    return solution


def left_out(engine, levels):
    """Broken protocols that are no levels."""
    catalogue = engine.ask("catalogue")["protocols"]
    broken = {name for name, about in catalogue.items() if about.get("refutes") or about.get("left_out")}
    return sorted(broken - {level["words"].split()[0] for level in levels})


def prove(engine, levels, solutions):
    """How many of those said to be shortest are not."""
    wrong = 0
    for level in levels:
        kept = solutions[level["words"]]
        if not kept.get("shortest"):
            continue
        found = len(solve(engine, level)["moves"])
        print(f"{found:4} {level['words']}", flush=True)
        if found != len(kept["moves"]):
            wrong += 1
            print(f"{level['words']}: {len(kept['moves'])} moves are kept, and the search finds {found}: ./dev playground levels")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--solve", action="store_true")
    parser.add_argument("--prove", action="store_true")
    parser.add_argument("--all", action="store_true")
    words = parser.parse_args()
    with open(LEVELS, encoding="utf-8") as file:
        levels = [level for level in json.load(file) if not level.get("unbreakable")]
    solutions = {}
    if os.path.exists(SOLUTIONS):
        with open(SOLUTIONS, encoding="utf-8") as file:
            solutions = json.load(file)
    engine, failed = Engine(words.engine), 0
    def is_kept(level):
        moves = solutions.get(level["words"], {}).get("moves", [])
        return len(moves) > 0 and engine.first_showing(level, moves) == len(moves)

    def keep():
        kept = {level["words"]: solutions[level["words"]] for level in levels if level["words"] in solutions}
        with open(SOLUTIONS, "w", encoding="utf-8") as file:
            file.write("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in kept.items()) + "\n}\n")

    for level in levels if words.solve else []:
        if words.all or not is_kept(level):
            solutions[level["words"]] = solve(engine, level)
            print(f"{len(solutions[level['words']]['moves']):4} {level['words']}", flush=True)
            keep()  # a search may take minutes, and the next one may fail
    if words.solve:
        keep()
    for level in levels if words.check else []:
        if not is_kept(level):
            failed += 1
            print(f"{level['words']}: what is kept does not break it any more, or too early: ./dev playground levels")
    if words.check:
        missing = left_out(engine, levels)
        for name in missing:
            print(f"{name} is broken, and no level: tell its story in web/texts/levels.json, then ./dev playground levels")
        failed += len(missing)
        print(f"{len(levels)} levels, {failed} wrong")
    if words.prove:
        failed += prove(engine, levels, solutions)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
