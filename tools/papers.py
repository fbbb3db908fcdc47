#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The claims of the five papers, each with the commands that show it or refute it (tools/claims has the list).

  papers.py --quick --compare FILE  runs the commands that take seconds, and compares what the table prints with what is run
                                (a test)
  papers.py --write FILE        runs all of them, and writes the table (./dev guarantees)

A command fails if its answer is not the one stated, in either direction.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

from claims import carvalho_roucairol, dolev_gafni_shavit, garg, lamport, rivest_pratt
from claims.claim import HOLDS

PAPERS = [rivest_pratt.PAPER, lamport.PAPER, dolev_gafni_shavit.PAPER, carvalho_roucairol.PAPER, garg.PAPER]


class Runner:
    """Runs each command once: several claims may share it. With a folder, answers of the same program are kept there."""

    def __init__(self, afteryou, folder=None):
        self.afteryou, self.folder, self.answers = os.path.abspath(afteryou), folder, {}
        program = hashlib.sha256()
        for path in (self.afteryou, self.afteryou + "-tools"):  # the checker is in the second
            if os.path.exists(path):
                with open(path, "rb") as file:
                    program.update(file.read())
        self.program = program.hexdigest()

    def kept(self, command):
        name = hashlib.sha256(f"{self.program} {command}".encode()).hexdigest()
        return os.path.join(self.folder, name + ".json")

    def run(self, command):
        if command not in self.answers:
            self.answers[command] = self.recall(command) or self.make(command)
        return self.answers[command]

    def recall(self, command):
        if self.folder and os.path.exists(self.kept(command)):
            with open(self.kept(command), encoding="utf-8") as file:
                return json.load(file)
        return None

    def make(self, command):
        """A command with a semicolon is one for the shell, and its last word is afteryou's."""
        if ";" in command:
            with tempfile.TemporaryDirectory() as where:
                path = os.path.dirname(self.afteryou) + os.pathsep + os.environ["PATH"]
                done = subprocess.run(["sh", "-c", command + " --json"], cwd=where, capture_output=True, text=True,
                                      env={**os.environ, "PATH": path})
            return {"status": done.returncode, "answer": json.loads(done.stdout.splitlines()[-1])}
        with tempfile.TemporaryDirectory() as where:
            for line in command.split(" && "):
                done = subprocess.run([self.afteryou, *line.split(), "--json"], cwd=where, capture_output=True, text=True)
                if done.returncode not in (0, 1, 2):
                    raise SystemExit(f"afteryou {line}: {done.stderr.strip()}")
        lines = [json.loads(text) for text in done.stdout.splitlines()]
        answer = {"status": done.returncode, "answer": lines[0] if len(lines) == 1 else lines}
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            with open(self.kept(command), "w", encoding="utf-8") as file:
                json.dump(answer, file)
        return answer


def broken(answer):
    """What was found broken: {name: steps}, whoever was asked."""
    if not isinstance(answer, dict):
        return {}
    if "properties" in answer:
        found = {}
        for name, finding in answer["properties"].items():
            if finding["answer"] == "broken":
                found[name] = found[finding.get("broken", name).split(":")[0]] = len(finding.get("run", []))
        return found
    if "broken" in answer:
        return {answer["broken"].split(":")[0]: answer["steps"]}
    if "violations" in answer:
        return {one["property"]: None for one in answer["violations"]}
    return {} if answer.get("verdict", HOLDS) == HOLDS else {answer["verdict"]: None}


def figure(answer, path):
    for name in path.split("."):
        answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    return answer


def complaint(show, done):
    """None, or why the command fails."""
    answer, found = done["answer"], broken(done["answer"])
    if show.found == HOLDS and (done["status"] != 0 or (isinstance(answer, dict) and not answer.get("exhausted", True))):
        return f"must hold; exit {done['status']}, broken: {', '.join(found) or 'nothing'}"
    if show.found != HOLDS and (done["status"] != 1 or show.found not in found):
        return f"must be refuted by {show.found}; exit {done['status']}, broken: {', '.join(found) or 'nothing'}"
    if show.steps is not None and found[show.found] != show.steps:
        return f"{found[show.found]} steps, not {show.steps}"
    for path, value in show.figures.items():
        if figure(answer, path) != value:
            return f"{path} is {figure(answer, path)}, not {value}"
    return None


def drawing_of(show):
    return f"results/papers-{show.drawing}.svg"


def draw(runner, folder, show):
    """The counterexample as it is told, drawn again by the command itself."""
    path = os.path.join(os.path.abspath(folder), drawing_of(show))
    lines = [line.split() for line in show.command.split(" && ")]
    lines[-1] += ["--svg", path] + (["--length", "1000"] if lines[-1][0] == "audit" else [])
    with tempfile.TemporaryDirectory() as where:
        for words in lines:
            subprocess.run([runner.afteryou, *words], cwd=where, capture_output=True, check=False)
    if not os.path.exists(path):
        raise SystemExit(f"afteryou {show.command} --svg {path} has drawn nothing")


def verdict(show, done):
    answer = done["answer"]
    drawn = f" ([drawn]({drawing_of(show)}))" if show.drawing else ""
    if show.found != HOLDS:
        steps = broken(answer)[show.found]
        return f"refuted: {show.found}" + (f", in {steps} steps" if steps is not None else "") + drawn
    words = "holds"
    if isinstance(answer, dict) and "states" in answer:
        words += f" ({answer['states']:,} states)"
    elif isinstance(answer, dict) and "events" in answer:
        words += f" ({answer['events']:,} events)"
    if show.figures:
        words += "; " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in show.figures.items())
    return words + drawn


def count(papers):
    claims = [claim for paper in papers for claim in paper.claims]
    return sum(bool(claim.shows) for claim in claims), len(claims)


def shown_as(command):
    """As a reader types it; a line for the shell as it is, its bars escaped for the table."""
    words = command if ";" in command else "afteryou " + command.replace(" && ", " && afteryou ")
    return words.replace("|", "\\|")


def cells(paper):
    """Of each claim of a paper the cells of its row that no answer changes, in their places; None: one that it does."""
    for number, claim in enumerate(paper.claims, 1):
        commands = "<br>".join(f"`{shown_as(show.command)}`" for show in claim.shows)
        yield [f"{paper.key}{number}", claim.where, claim.words, commands or "–",
               None if claim.shows else "on paper: " + claim.paper, claim.ours]


def differences(text, folder):
    """What the table in the text says otherwise than the list; drawings that are not there."""
    rows = {row[0]: row for row in ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                                    for line in text.splitlines() if line.startswith("| "))}
    for paper in PAPERS:
        for wanted in cells(paper):
            row = rows.get(wanted[0], [])
            if len(row) != len(wanted) or any(cell not in (None, found) for cell, found in zip(wanted, row)):
                yield f"{wanted[0]} is not as in tools/claims: {' | '.join(row)}"
    for show in (show for paper in PAPERS for claim in paper.claims for show in claim.shows if show.drawing):
        if not os.path.exists(os.path.join(folder, drawing_of(show))):
            yield f"{drawing_of(show)} is missing"


def table(out, runner, papers):
    shown, total = count(papers)
    out.write("# The papers, claim by claim\n\nMade by `./dev guarantees`: every command below was run, and its answer compared"
              " with the one stated here (`tools/claims/`).\nA claim is in the paper's words, or as near to them as a cell"
              f" allows. Of {total} claims {shown} have a command;\nthe others say why they have none.\n")
    for paper in papers:
        shown, total = count([paper])
        out.write(f"\n## {paper.title}\n\n{shown} of {total} claims have a command.\n\n"
                  "| | where | claim | command | verdict | what we changed, and why |\n|---|---|---|---|---|---|\n")
        for claim, row in zip(paper.claims, cells(paper)):
            row[4] = row[4] or "<br>".join(verdict(show, runner.run(show.command)) for show in claim.shows)
            out.write(f"| {' | '.join(row)} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--afteryou", default="build/afteryou")
    parser.add_argument("--quick", action="store_true", help="only the commands that take seconds")
    parser.add_argument("--keep", metavar="FOLDER", help="keep answers here, and do not ask the same program twice")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--compare", metavar="FILE", help="the table, which must print what is run")
    words = parser.parse_args()
    runner, failed = Runner(words.afteryou, words.keep), 0
    for paper in PAPERS:
        for number, claim in enumerate(paper.claims, 1):
            for show in claim.shows:
                if words.quick and not show.quick:
                    continue
                wrong = complaint(show, runner.run(show.command))
                failed += wrong is not None
                print(f"{'FAIL' if wrong else 'ok'}  {paper.key}{number}  {show.command}: {wrong or show.found}", flush=True)
    shown, total = count(PAPERS)
    print(f"{shown} of {total} claims have a command")
    if words.compare:
        with open(words.compare, encoding="utf-8") as file:
            for wrong in differences(file.read(), os.path.dirname(os.path.abspath(words.compare))):
                failed += 1
                print(f"FAIL  {words.compare}: {wrong}")
    if words.write and not failed:
        for show in (show for paper in PAPERS for claim in paper.claims for show in claim.shows if show.drawing):
            draw(runner, os.path.dirname(words.write), show)
        with open(words.write, "w", encoding="utf-8") as out:
            table(out, runner, PAPERS)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
