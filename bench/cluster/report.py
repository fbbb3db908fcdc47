#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the bench of the cluster measured: in words, as rows (docs/results/cluster.csv), and as documents made of these.

usage: report.py      makes docs/results/cluster.md and the README's table of the rows that are kept
"""
import csv
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS, DOCUMENT, README = ROOT / "docs/results/cluster.csv", ROOT / "docs/results/cluster.md", ROOT / "README.md"
BEGIN, END = "<!-- the cluster, measured -->", "<!-- end of the cluster -->"
PEERS = ("one machine", "redis", "etcd", "relay")
COLUMNS = ("case", "what", "count", "p25", "p50", "p75", "p99", "worst")
PARTS = {"agent": "wake-up of the agent", "taking": "taking back", "link": "from agent to agent", "waiter": "wake-up of the waiter"}
KILLS = {"nothing is lost": "kill -9", "0.5 % of all packets are lost": "kill -9, 0.5 % lost",
         "2 of 64 units, all others held, 8 machines": "kill -9, 2 of 64 units"}
# (case, what) / (case, what); and of each case, the cluster beside other ways of its messages
RATIOS = (
    (("passage", "cluster"), ("passage", "one machine")),
    (("passage", "redis"), ("passage", "cluster")),
    (("passage", "etcd"), ("passage", "cluster")),
    (("hand-over after 120 ms", "etcd"), ("hand-over after 120 ms", "cluster")),
    (("hand-over after 120 ms", "cluster"), ("hand-over after 120 ms", "relay")),
    (("hand-over", "cluster"), ("hand-over", "relay")),
    (("kill -9, 0.5 % lost", "cluster"), ("kill -9", "cluster")),
)


def in_words(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


class Rows:
    """The figures of a run, by case and by what was measured. All but those "a second" are nanoseconds."""

    def __init__(self, machine, quiet):
        self.machine, self.quiet, self.rows = machine, quiet, {}

    def add(self, case, what, values):
        ordered = sorted(values)
        low, middle, high = statistics.quantiles(ordered, n=4) if len(ordered) > 1 else ordered * 3
        self.rows[case, what] = {"case": case, "what": what, "count": len(ordered), "p25": low, "p50": middle, "p75": high,
                                 "p99": ordered[min(len(ordered) - 1, round(0.99 * len(ordered)))], "worst": ordered[-1]}
        print(f"  {case + ': ' + what:44} {self.words(case, what, 'p50'):>10}   (p99 {self.words(case, what, 'p99')}, "
              f"worst {self.words(case, what, 'worst')}, of {len(ordered)})", flush=True)

    def figure(self, case, what, column="p50"):
        """None if it was not measured."""
        row = self.rows.get((case, what))
        return row and float(row[column])

    def words(self, case, what, column="p50"):
        figure = self.figure(case, what, column)
        if figure is None:
            return ""
        return f"{figure:,.0f}" if case.endswith("a second") else in_words(figure)

    def ratio(self, above, below):
        above, below = self.figure(*above), self.figure(*below)
        return above / below if above and below else None

    def ratios(self):
        """Pairs of words and a ratio, of what was measured."""
        planes = [((case, what), (case, "cluster")) for case, what in self.rows if what not in ("cluster", *PEERS) and case.split(", ")[-1] not in PARTS]
        planes = [pair[::-1] if pair[0][0].endswith("a second") else pair for pair in planes]
        return [(f"{above[0]}: {above[1]} / {'' if above[0] == below[0] else below[0] + ': '}{below[1]}", self.ratio(above, below))
                for above, below in (*RATIOS, *planes) if self.ratio(above, below)]

    def tell_ratios(self):
        for words, ratio in self.ratios():
            print(f"  {words}: {ratio:,.2f}")

    def sizes(self):
        return sorted(int(case.split()[1]) for case, what in self.rows if case.endswith(" machines") and what == "cluster")

    def save(self):
        with open(ROWS, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(COLUMNS)
            out.writerow(["machine", self.machine, "quiet" if self.quiet else "busy", *[""] * 5])
            for row in self.rows.values():
                out.writerow([row[column] if column in COLUMNS[:3] else f"{row[column]:.1f}" for column in COLUMNS])

    @staticmethod
    def load():
        rows = Rows("", True)
        with open(ROWS, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["case"] == "machine":
                    rows.machine, rows.quiet = row["what"], row["count"] == "quiet"
                else:
                    rows.rows[row["case"], row["what"]] = {key: float(value) if key not in COLUMNS[:2] else value for key, value in row.items()}
        return rows


def table(head, lines):
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---"] * len(head), *lines)) + "\n"


def ways(rows, case):
    """What was measured of a case: the cluster, other ways of its messages, the relay."""
    found = [what for of, what in rows.rows if of == case]
    return [what for what in found if what != "relay"] + ["relay"] * ("relay" in found)


def named(what):
    return {"cluster": "afteryou", "relay": "the bare relay"}.get(what, f"by the {what}")


def parts_table(rows, case):
    found = ways(rows, case)
    lines = [[words, *("" if (part, what) == ("taking", "relay") else rows.words(f"{case}, {part}", what) for what in found)] for part, words in PARTS.items()]
    lines += [[f"the whole, {column}", *(rows.words(case, what, column) for what in found)] for column in ("p50", "p99", "worst")]
    return table(["", *map(named, found)], lines)


def sizes_table(rows):
    cases = {size: f"hand-over, {size} machines" for size in rows.sizes()}
    found = ways(rows, next(iter(cases.values()), ""))
    lines = [[str(size), *(rows.words(case, what, column) for what in found for column in ("p50", "p99"))] for size, case in cases.items()]
    return table(["machines", *(f"{named(what)}, {column}" for what in found for column in ("p50", "p99"))], lines)


def kills_table(rows):
    lines = [[words + ("" if what == "cluster" else f", by the {what}"), *(rows.words(case, what, column) for column in ("p50", "p99", "worst")),
              f"{rows.figure(case, what, 'count'):.0f}"] for words, case in KILLS.items() for what in ways(rows, case)]
    return table(["", "p50", "p99", "worst", "of"], lines)


def ratios_table(rows):
    return table(["", "of the medians"], [[words, f"{ratio:,.2f}"] for words, ratio in rows.ratios()])


def document(rows):
    doubt = "" if rows.quiet else ", **too busy to trust it**"
    many = "\n".join(f"{rows.words('100 names, a second', what)} hand-overs a second, all names together{'' if what == 'cluster' else f', by the {what}'}."
                     for what in ways(rows, "100 names, a second"))
    return f"""# The cluster, measured

Made by `./dev bench cluster --write` of one run: machines of namespaces on one computer ({rows.machine}{doubt}). All figures of this page are of that run,
and are kept in [cluster.csv](cluster.csv).

## A hand-over, and what it is made of
From the release here until the next is inside there, three machines, 10 ms inside. The bare relay does nothing but that: a process writes to an eventfd, its
agent sends 32 bytes over TCP, the other agent wakes a process by a futex; on the same machines, through the same cables. Each row is a median by itself.

{parts_table(rows, "hand-over")}
- *Wake-up of the agent*: from the release until one of its threads goes on.
- *Taking back*: until the permission is withdrawn.
- *From agent to agent*: the step of the protocol, the message, its way, and the other's step, until the permission is granted there.
- *Wake-up of the waiter*: until its process is inside.

## With more machines
![a hand-over and its parts, by the number of machines](cluster.svg)

{sizes_table(rows)}
## kill -9 of the holder, until the next is inside elsewhere
{kills_table(rows)}
What the first of these is made of; until its agent wakes up, the killed process ends.

{parts_table(rows, "kill -9")}
## 100 names that three machines want at once
{many}

## Ratios
{ratios_table(rows)}"""


def readme_table(rows):
    doubt = "" if rows.quiet else ", on a machine too busy to trust it"
    lines = [["enter and leave where the permission is",
              f"{rows.words('passage', 'cluster')} (a region of one machine: {rows.words('passage', 'one machine')})", rows.words("passage", "redis"),
              rows.words("passage", "etcd")],
             ["from the release here to the next inside there", rows.words("hand-over after 120 ms", "cluster"), "", rows.words("hand-over after 120 ms", "etcd")],
             ["from kill -9 of the holder to the next inside elsewhere", rows.words("kill -9", "cluster"), "its expiry", "its lease"]]
    return (f"Medians of one run (`./dev bench cluster --write`, three machines of namespaces and three etcds on {rows.machine}{doubt}); what a hand-over is made "
            f"of is in [cluster.md](docs/results/cluster.md):\n\n"
            + table(["", "afteryou, three machines", "Redis, one server", "etcd, three nodes"], lines))


def make_documents(rows):
    DOCUMENT.write_text(document(rows), encoding="utf-8")
    before, rest = README.read_text(encoding="utf-8").split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n{readme_table(rows)}{END}{rest.split(END)[1]}", encoding="utf-8")


def write(rows):
    """The chart is drawn by the script that draws all of them, with Debian's own Python, which knows Debian's modules."""
    rows.save()
    make_documents(Rows.load())  # as report.py will make them again
    subprocess.run(["/usr/bin/python3", ROOT / "tools/charts.py"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    make_documents(Rows.load())
