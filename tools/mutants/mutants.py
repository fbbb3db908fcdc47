#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants of the protocols that ship: every statement, clause, order and comparison of src/protocols changed, one at a time.

usage: mutants.py [--file NAME]... [--sample N] [--budget MINUTES] [--slow SECONDS] [--longest SECONDS] [--write FILE]
       mutants.py --quick        a test: mutants that must be killed, a survivor that must be noticed, a list that must be true
       mutants.py --list         the mutants, without judging them

Each mutant is built into a checker, and the rows of tools/guarantees.py that must hold of its protocol are put to it, the fastest
first, until one fails: the mutant is killed. One that survives them all must stand in survivors.txt with its reason, or the run
fails; so does a line of that list whose mutant is killed or gone. Verdicts are kept in build/mutants: a run that was ended
goes on where it stood, and a second one is quick, as long as checker, rows and text are the same.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import shlex
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import judge  # noqa: E402
import mutator  # noqa: E402
import report  # noqa: E402

SURVIVORS = pathlib.Path(__file__).resolve().parent / "survivors.txt"


def identity(file, mutant):
    """How a mutant is named in the list of survivors."""
    return f"{file} {mutant.name}"


def read_survivors(text):
    """Of each mutant listed, its kind and reason. Names stand at the margin, one or more above the indented reason of them all."""
    listed, names, complete = {}, [], True
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            names = [] if complete else names
            complete = False
            names.append(line.strip())
            continue
        if not complete:
            kind, colon, reason = line.strip().partition(":")
            if kind not in report.KINDS or not colon or not reason.strip():
                raise SystemExit(f"{SURVIVORS.name}:{number}: a reason begins with {', '.join(report.KINDS)} and a colon")
            for name in names:
                if name in listed:
                    raise SystemExit(f"{SURVIVORS.name}:{number}: listed twice: {name}")
                listed[name] = kind
            complete = True
    if not complete:
        raise SystemExit(f"{SURVIVORS.name}: no reason is given for {names[-1]}")
    return listed


class Cache:
    """Verdicts of earlier runs, one a line. A later line goes before an earlier one."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.path, self.kept, self.hints, self.lock = folder / "verdicts", {}, {}, threading.Lock()
        self.checkers = {kind: judge.checker_hash(kind) for kind in judge.KINDS}
        self.tests = {kind: judge.tests_hash(kind) for kind in judge.KINDS}
        self.trusted = {*self.checkers.values(), *(checker + self.tests[kind] for kind, checker in self.checkers.items())}
        self.measured, self.meanings = {}, {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self.take(json.loads(line))

    def take(self, entry):
        if "measured" in entry:
            if entry["checker"] in self.trusted:
                self.measured[entry["measured"]] = entry["cost"]
            return
        if entry["checker"] in self.trusted:
            self.kept[entry["mutant"]] = entry
        if entry["row"]:
            self.hints[entry["mutant"]] = entry["row"]

    def write(self, file, entry):
        by_a_test = entry.get("row", entry.get("measured", "")).startswith("test ")
        entry["checker"] = self.checkers[judge.kind_of(file)] + (self.tests[judge.kind_of(file)] if by_a_test else "")
        with self.lock, self.path.open("a") as out:
            self.take(entry)
            out.write(json.dumps(entry) + "\n")

    def key(self, file, mutant):
        """The text, comments and layout left out, and what is changed in it."""
        if file not in self.meanings:
            self.meanings[file] = mutator.meaning((judge.PROTOCOLS / file).read_text())
        return hashlib.sha256(f"{self.meanings[file]}\n{identity(file, mutant)}".encode()).hexdigest()[:24]


class Judgement:
    """The mutants of one file, judged: by what is kept, or else by a judge, who is called when he is first needed."""

    def __init__(self, file, cache, words, compiler, listed):
        self.file, self.cache, self.words, self.compiler, self.listed = file, cache, words, compiler, listed
        self.called, self.lock = None, threading.Lock()

    def judge(self):
        with self.lock:
            if not self.called:
                known = dict(self.cache.measured)
                self.called = judge.Judge(self.file, self.words.build.resolve(), self.compiler, self.cache.measured, self.words.slow,
                                          self.words.longest)
                for row, cost in sorted(self.cache.measured.items()):
                    if known.get(row) != cost:
                        self.cache.write(self.file, {"measured": row, "cost": cost})
            return self.called

    def is_excused(self, mutant):
        """It is listed, and nobody expects it to be killed: all but the swift rows would be put to it in vain."""
        return self.listed.get(identity(self.file, mutant)) in ("equivalent", "speed only")

    def rows(self, excused):
        """The rows that a survivor has to survive."""
        if any(not row.quick and judge.words_of(row) not in self.cache.measured for row in judge.rows_for(self.file)):
            self.judge()  # to find out which of the slow ones are fast enough
        return {judge.words_of(row) for row in judge.rows_for(self.file) if
                judge.is_put(row, self.cache.measured, self.words.slow, min(self.words.longest, judge.SWIFT if excused else float("inf")))}

    def verdict(self, mutant, in_time):
        """What is known of it, or what is found out now; None: there was no time for it."""
        key = self.cache.key(self.file, mutant)
        known, survived = self.cache.kept.get(key), ()
        if known:
            old = judge.Verdict(known["what"], known["code"], known["row"], known["found"])
            if old.what != judge.SURVIVES or self.rows(self.is_excused(mutant)) <= set(known["survived"]):
                return old
            survived = known["survived"]
        if not in_time:
            return None
        excused = self.is_excused(mutant)
        new = self.judge().judge(mutant, self.cache.hints.get(key, ""), survived, excused)
        self.cache.write(self.file, {"mutant": key, **new._asdict(),
                                     "survived": sorted(self.rows(excused) | set(survived)) if new.what == judge.SURVIVES else []})
        return new


def chosen(mutants, sample):
    """Every so many-th of them."""
    return mutants if not sample or sample >= len(mutants) else [mutants[at * len(mutants) // sample] for at in range(sample)]


def judge_file(file, words, cache, compiler, ends, listed):
    """The verdict on each of its mutants, as report.Judged."""
    mutants = chosen(mutator.mutants_of((judge.PROTOCOLS / file).read_text()), words.sample)
    judgement = Judgement(file, cache, words, compiler, listed)

    def one(mutant):
        name = identity(file, mutant)
        verdict = judgement.verdict(mutant, time.monotonic() < ends)
        if verdict and (words.verbose or verdict.what in (judge.SURVIVES, judge.UNSEEN)):
            note = listed.get(name, "NOT LISTED") if verdict.what != judge.KILLED else f"{verdict.found}, by {verdict.row}"
            print(f"{verdict.what}: line {mutant.line}: {name}: {note}", flush=True)
        return report.Judged(name, mutant.line, verdict)

    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        return list(pool.map(one, mutants))


def all_names():
    return {identity(file, mutant) for file in judge.FILES for mutant in mutator.mutants_of((judge.PROTOCOLS / file).read_text())}


def untrue(listed):
    """What is wrong with the lists, without judging anything."""
    for path in sorted(judge.PROTOCOLS.rglob("*.[ch]")):
        name = str(path.relative_to(judge.PROTOCOLS))
        if name not in judge.FILES and name not in judge.LEFT_OUT:
            yield f"src/protocols/{name}: say in tools/mutants/judge.py which rows judge it, or why none does"
    for name in sorted(set(listed) - all_names()):
        yield f"{SURVIVORS.name}: there is no such mutant any more: {name}"


def complaints(groups, listed):
    """Why the run fails: survivors without a reason, and reasons without a survivor."""
    for judged in (one for found in groups.values() for one in found if one.verdict):
        if judged.verdict.what in (judge.SURVIVES, judge.UNSEEN) and judged.name not in listed:
            yield f"a new survivor, without a reason in {SURVIVORS.name}: {judged.name}"
        if judged.verdict.what == judge.KILLED and judged.name in listed:
            yield f"{SURVIVORS.name} lists what is killed by `{judged.verdict.row}`: {judged.name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", action="append", metavar="NAME", help="below src/protocols; more than once for several")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants of each file")
    parser.add_argument("--budget", type=float, metavar="MINUTES", help="ends then, and says what was not judged")
    parser.add_argument("--slow", type=int, default=2, metavar="SECONDS", help="the slow rows too, if they end within so long (default: 2)")
    parser.add_argument("--longest", type=float, default=float("inf"), metavar="SECONDS",
                        help="a first pass, by rows that take no longer: what survives is put to the others in a later run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=judge.ROOT / "build")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--write", metavar="FILE", help="the table of the run")
    parser.add_argument("--verbose", action="store_true", help="say of each mutant what became of it")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    words = parser.parse_args()
    files = words.file or list(judge.FILES)
    for file in files:
        if file not in judge.FILES:
            parser.error(f"{file}: not one of {', '.join(judge.FILES)}")
    listed = read_survivors(SURVIVORS.read_text())
    if words.list:
        for file in files:
            for mutant in mutator.mutants_of((judge.PROTOCOLS / file).read_text()):
                print(f"{mutant.line}: {identity(file, mutant)}")
        return 0
    failed = list(untrue(listed))
    if words.quick:
        import quick  # beside this file
        failed += quick.failures(words.build.resolve(), shlex.split(words.compiler), listed)
    else:
        ends = time.monotonic() + 60 * words.budget if words.budget is not None else float("inf")
        cache = Cache(words.build / "mutants")
        groups = collections.OrderedDict()
        for file in files:
            groups[file] = judge_file(file, words, cache, shlex.split(words.compiler), ends, listed)
            print(report.line(file, groups[file], listed), flush=True)
        failed += complaints(groups, listed)
        if words.write:
            report.write(pathlib.Path(words.write), groups, listed, words.slow)
    for why in failed:
        print(f"FAIL  {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
