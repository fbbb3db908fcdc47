#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/results/performance.md of what the bench measured, and puts the README's figures in their places.

  performance.py --rows FILE... --instructions FILE    takes the bench's CSV files, and writes all of it (./dev bench --write)
  performance.py                                        the same from the rows kept in docs/results
  performance.py --check                                changes nothing; fails if a document differs from the rows kept in docs/results

The text around the figures is tools/performance.template.md: {{name}} stands for what is made here, and the reasons why a bar is
not met are kept there too, so that a new run does not lose them.
"""
import argparse
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT, README = ROOT / "docs/results/performance.md", ROOT / "README.md"
TEMPLATE = ROOT / "tools/performance.template.md"
ROWS, INSTRUCTIONS = ROOT / "docs/results/performance.csv", ROOT / "docs/results/performance-instructions.csv"

REFERENCE = "robust"
STRICT, BOUNDED, RETAINED = "courtesy", "courtesy-64", "courtesy-retain"
PLACES = (2, 8, 16, 64, 256)
SECTIONS = {0: "empty", 100: "100 ns", 1000: "1 µs", 10000: "10 µs"}


class Run:
    """The rows of a run, by case and peer."""

    def __init__(self, paths, instructions=None):
        self.machine, self.rows, self.order = {}, {}, []
        for path in paths:
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    self.add(row)
        self.instructions = []
        if instructions:
            with open(instructions, newline="", encoding="utf-8") as file:
                self.instructions = list(csv.DictReader(file))

    def add(self, row):
        if row["case"] == "machine":
            told = self.machine.setdefault(row["peer"], [])
            if row["note"] not in told:
                told.append(row["note"])
            return
        if row["case"] not in self.order:
            self.order.append(row["case"])
        self.rows[row["case"], row["peer"]] = row

    def number(self, case, peer, column):
        """None if it was not measured."""
        text = self.rows.get((case, peer), {}).get(column, "")
        return float(text) if text else None

    def trusted(self, case):
        """"yes", or why not; "" if it was not measured."""
        return next((row["trusted"] for (of, _), row in self.rows.items() if of == case), "")

    def peers(self, *cases):
        """Those that have any of these cases, in the order of the first that has most."""
        names = []
        for case in cases:
            names += [peer for of, peer in self.rows if of == case and peer not in names]
        return names


def time(ns):
    for unit, size in (("ns", 1), ("µs", 1e3), ("ms", 1e6)):
        if ns < 1e4 * size or unit == "ms":
            value = ns / size
            return f"{value:.1f} {unit}" if value < 100 else f"{value:.0f} {unit}"
    return ""


def plain(value, digits=0):
    return "" if value is None else "∞" if value == float("inf") else f"{value:,.{digits}f}"


def ratio(value):
    return "" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def table(heads, rows):
    """Markdown; the first column is text, the others are numbers."""
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def cell(run, case, peer):
    ns = run.number(case, peer, "median_ns")
    return f"{time(ns)} ({ratio(run.number(case, peer, 'ratio'))})" if ns else ""


def matrix(run, columns):
    """A row for each peer, and a column for each case: time and ratio. Peers that could not be measured are left out."""
    names = [peer for peer in run.peers(*columns) if any(run.number(case, peer, "median_ns") for case in columns)]
    rows = [[f"`{peer}`"] + [cell(run, case, peer) for case in columns] for peer in names]
    return table(["peer"] + list(columns.values()), rows)


def told_once(what, values):
    """Of a run in parts: the first load before, the last load after, and all of what else differs."""
    if what == "load before":
        return values[0]
    if what == "load after":
        return values[-1]
    return values[0] if len(values) == 1 else f"{values[0]} … {values[-1]}, in {len(values)} parts" if what == "when" else "; ".join(values)


def made_machine(run):
    return "\n".join(f"- {what}: {told_once(what, values)}" for what, values in run.machine.items())


def made_trust(run):
    noisy = {case: row["trusted"] for (case, _), row in run.rows.items() if row["trusted"] != "yes"}
    if not noisy:
        return "No case of this run was too noisy to trust."
    return "Too noisy to trust in this run:\n" + "\n".join(f"- `{case}`: {why}" for case, why in noisy.items())


def made_alone(run):
    return matrix(run, {f"alone-{places}": f"{places} places" for places in PLACES})


def made_contended(run, members):
    return matrix(run, {f"contended-{members}-{ns}": words for ns, words in SECTIONS.items()})


def made_details(run, case):
    rows = []
    for peer in run.peers(case):
        if run.number(case, peer, "median_ns") is None:
            continue
        number = lambda column: run.number(case, peer, column)  # noqa: E731
        rows.append([f"`{peer}`", time(number("median_ns")), ratio(number("ratio")), f"{100 * number('spread'):.0f} %",
                     plain(number("passages_per_second")), ratio(number("fairness")), plain(number("overtaken")),
                     plain(number("overtaken_in_queue")), time(number("cpu_ns"))])
    return table(["peer", "a passage", "ratio", "spread", "passages/s", "max/min", "overtaken", "in queue", "CPU each"], rows)


def bound_of(peer):
    """B of courtesy-B, 0 of courtesy; None of others."""
    found = re.fullmatch(r"courtesy(?:-(\d+))?", peer)
    return int(found.group(1) or 0) if found else None


def overtaken_most(run, peer):
    """The greatest number in the queue, of all cases."""
    found = [float(row["overtaken_in_queue"]) for (_, of), row in run.rows.items() if of == peer and row["overtaken_in_queue"]]
    return max(found) if found else None


def made_bound(run):
    cases = [f"contended-{members}-{ns}" for members in (2, 4, 8) for ns in (0, 1000)]
    rows = [[plain(bound_of(peer))] + [ratio(run.number(case, peer, "ratio")) for case in cases] + [plain(overtaken_most(run, peer))]
            for peer in run.peers(*cases) if bound_of(peer) is not None]
    heads = [f"{case.split('-')[1]} processes, {SECTIONS[int(case.split('-')[2])]}" for case in cases]
    return table(["B", *heads, "greatest overtaking in the queue, of all cases"], rows)


def made_readers(run):
    cases = [case for case in run.order if case.startswith("readers-")]
    parts = []
    for case in cases:
        members, writers, ns = case.split("-")[1:]
        parts.append(f"{members} processes, {writers} of them writing, {SECTIONS[int(ns)]} section:\n\n{made_details(run, case)}")
    return "\n\n".join(parts)


def made_slots(run):
    return "\n\n".join(made_details(run, case) for case in run.order if case.startswith("slots-"))


def made_kill(run):
    rows = []
    for peer in run.peers("kill-0", "kill-256"):
        row = [f"`{peer}`"]
        for case in ("kill-0", "kill-256"):
            known = run.number(case, peer, "median_ns") is not None
            row += [cell(run, case, peer), time(run.number(case, peer, "p99_ns")) if known else ""]
        if any(row[1:]):
            rows.append(row)
    return table(["peer", "small holder", "99 % below", "256 MB holder", "99 % below"], rows)


def made_startup(run):
    rows = [[f"`{peer}`", cell(run, "startup", peer), time(run.number("startup", peer, "p99_ns"))]
            for peer in run.peers("startup") if run.number("startup", peer, "median_ns")]
    return table(["command", "start to end", "99 % below"], rows)


def made_instructions(run):
    rows = [[f"`{row['peer']}`", f"{float(row['instructions']):,.0f}"] for row in run.instructions if row["instructions"]]
    return table(["peer", "instructions a passage"], rows)


class Bar:
    """One line of what is asked for. `value` gives the figure, or None if it was not measured; `case` is where it comes from."""

    def __init__(self, name, words, limit, case, value, most=True):
        self.name, self.words, self.limit, self.case, self.value, self.most = name, words, limit, case, value, most

    def met(self, run):
        value = self.value(run, self.case)
        return None if value is None else value <= self.limit if self.most else value >= self.limit

    def noisy(self, run):
        return self.case and run.trusted(self.case) not in ("yes", "")


def by_ratio(peer):
    return lambda run, case: run.number(case, peer, "ratio")


def by_other(other, peer):
    """How many times longer the other takes."""
    def value(run, case):
        theirs, ours = run.number(case, other, "median_ns"), run.number(case, peer, "median_ns")
        return theirs / ours if theirs and ours else None
    return value


def retained_worst(run, _case):
    found = [run.number(f"alone-{places}", RETAINED, "ratio") for places in PLACES]
    return None if None in found else max(found)


def overtaken_beyond(run, _case):
    """How far the greatest overtaking seen in the queue is above its bound, over all bounds and cases; at best negative or 0."""
    found = [overtaken_most(run, peer) - bound_of(peer) for peer in {peer for _, peer in run.rows}
             if bound_of(peer) is not None and overtaken_most(run, peer) is not None]
    return max(found) if found else None


BARS = [
    Bar("alone-2", "alone, 2 places open", 1.2, "alone-2", by_ratio(STRICT)),
    Bar("alone-16", "alone, 16 places open", 2, "alone-16", by_ratio(STRICT)),
    Bar("alone-64", "alone, 64 places open", 4, "alone-64", by_ratio(STRICT)),
    Bar("alone-retained", "alone, retained permission, the worst of 2 to 256 places", .5, None, retained_worst),
    Bar("bounded-2-empty", f"2 processes, empty section, bounded (`{BOUNDED}`)", 1.2, "contended-2-0", by_ratio(BOUNDED)),
    Bar("bounded-2-1us", f"2 processes, 1 µs inside, bounded (`{BOUNDED}`)", 1.2, "contended-2-1000", by_ratio(BOUNDED)),
    Bar("bounded-8-1us", f"8 processes, 1 µs inside, bounded (`{BOUNDED}`)", 1.5, "contended-8-1000", by_ratio(BOUNDED)),
    Bar("bound-holds", "greatest overtaking in the queue, less its bound: the worst of all bounds and cases", 0, None, overtaken_beyond),
    Bar("strict-2-empty", "2 processes, empty section, strict order", 4, "contended-2-0", by_ratio(STRICT)),
    Bar("strict-2-1us", "2 processes, 1 µs inside, strict order", 1.5, "contended-2-1000", by_ratio(STRICT)),
    Bar("strict-8-sysv", "8 processes, 1 µs inside, strict order: times faster than `sysv-undo`", 1.5, "contended-8-1000",
        by_other("sysv-undo", STRICT), most=False),
    Bar("strict-8-pi", "8 processes, 1 µs inside, strict order: times faster than `mutex-pi`", 1.5, "contended-8-1000",
        by_other("mutex-pi", STRICT), most=False),
    Bar("strict-8-sysv-empty", "the same with an empty section: than `sysv-undo`", 1.5, "contended-8-0",
        by_other("sysv-undo", STRICT), most=False),
    Bar("strict-8-pi-empty", "the same with an empty section: than `mutex-pi`", 1.5, "contended-8-0",
        by_other("mutex-pi", STRICT), most=False),
    Bar("kill", "kill -9 to next inside, small holder", 1.5, "kill-0", by_ratio(STRICT)),
    Bar("kill-large", "kill -9 to next inside, 256 MB holder", 1.5, "kill-256", by_ratio(STRICT)),
    Bar("kill-flock", "the same: times faster than `flock`", 20, "kill-256", by_other("flock", STRICT), most=False),
]


def made_bars(run, reasons):
    rows = []
    for bar in BARS:
        met, value = bar.met(run), bar.value(run, bar.case)
        reason = "" if met else reasons.get(bar.name, "not measured in this run" if met is None else "no reason is known yet")
        rows.append([bar.words, f"{'≤' if bar.most else '≥'} {bar.limit:g}", plain(value, 2) + (", noisy" if bar.noisy(run) else ""),
                     {True: "yes", False: "**no**", None: ""}[met], reason])
    lines = table(["bar", "asked", "found", "met", "why not"], rows)
    return lines.replace(" ---: |" * 4, " ---: | ---: | --- | --- |")


def fill(template, run):
    """The document, from the template."""
    reasons = {}

    def take_reasons(found):
        for line in found.group(1).strip().splitlines():
            name, colon, reason = line.partition(": ")
            if not colon or name not in {bar.name for bar in BARS}:
                raise SystemExit(f"{TEMPLATE.name}: '{name}' is no bar; a reason is a line 'bar: why'")
            reasons[name] = reason
        return ""

    template = re.sub(r"\{\{reasons\n(.*?)\}\}\n*", take_reasons, template, flags=re.S)
    makers = {"machine": made_machine, "trust": made_trust, "alone": made_alone,
              "readers": made_readers, "slots": made_slots, "kill": made_kill, "startup": made_startup,
              "instructions": made_instructions, "bound": made_bound, "bars": lambda run: made_bars(run, reasons)}
    for members in (2, 8):
        makers[f"contended-{members}"] = lambda run, members=members: made_contended(run, members)
        makers[f"details-{members}"] = lambda run, members=members: made_details(run, f"contended-{members}-1000")
    return re.sub(r"\{\{([\w-]+)\}\}", lambda found: makers[found.group(1)](run), template)


def figures(run):
    """What the README says of speed; what comes of a case that was too noisy says so."""
    alone = {places: run.number(f"alone-{places}", STRICT, "median_ns") for places in (2, 64)}
    noisy = lambda *cases: "" if all(run.trusted(case) == "yes" for case in cases) else " (on a machine too busy to trust it)"  # noqa: E731
    return {
        "alone": f"Alone, entering and leaving took {time(alone[2])} with 2 places open and {time(alone[64])} with 64, "
                 f"where a robust pthread mutex took {time(run.number('alone-2', REFERENCE, 'median_ns'))}{noisy('alone-2', 'alone-64')}",
        "contended": f"With 8 processes on {run.machine['processors'][0]} processors and 1 µs inside, a passage took "
                     f"{ratio(run.number('contended-8-1000', STRICT, 'ratio'))} times as long as under a robust mutex in strict order, and "
                     f"{ratio(run.number('contended-8-1000', BOUNDED, 'ratio'))} times with at most 64 overtakings{noisy('contended-8-1000')}",
        "startup": f"`afteryou run x -- true` took {ratio(run.number('startup', 'afteryou-run', 'ratio'))} times as long as "
                   f"`flock x true`{noisy('startup')}",
    }


def with_figures(readme, run):
    said = figures(run)
    for name in re.findall(r"<!-- figure: ([\w-]+) -->", readme):
        if name not in said:
            raise SystemExit(f"README.md: no figure is called '{name}'")
        readme = re.sub(rf"(<!-- figure: {name} -->).*?(<!-- end -->)", lambda found: found.group(1) + said[name] + found.group(2),
                        readme, flags=re.S)
    return readme


def keep_rows(paths):
    """One CSV of them all, in docs/results."""
    lines = []
    for path in paths:
        with open(path, newline="", encoding="utf-8") as file:
            found = list(csv.reader(file))
        lines += found if not lines else found[1:]
    with open(ROWS, "w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", metavar="FILE", nargs="+")
    parser.add_argument("--instructions", metavar="FILE")
    parser.add_argument("--check", action="store_true")
    words = parser.parse_args()
    if words.rows:
        keep_rows(words.rows)
    if words.instructions:
        INSTRUCTIONS.write_bytes(pathlib.Path(words.instructions).read_bytes())
    run = Run([ROWS], INSTRUCTIONS)
    readme = README.read_text(encoding="utf-8")
    made = {DOCUMENT: fill(TEMPLATE.read_text(encoding="utf-8"), run), README: with_figures(readme, run)}
    stale = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if words.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what tools/performance.py makes of docs/results/performance.csv: run it")
        return 1 if stale else 0
    for path in stale:
        path.write_text(made[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
