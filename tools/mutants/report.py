# SPDX-License-Identifier: MIT
"""What a run over the mutants found, in figures."""
import collections
import re

import judge

# Why a survivor may survive. `unfound` admits that something is missing: a row, or a property.
KINDS = ("equivalent", "speed only", "unseen", "unfound")

Judged = collections.namedtuple("Judged", "name line verdict")


class Figures:
    """The counts of one file, or of several."""

    def __init__(self, judged, listed):
        self.made = len(judged)
        self.left = sum(one.verdict is None for one in judged)
        known = [one for one in judged if one.verdict]
        self.no_program = sum(one.verdict.what == judge.NO_PROGRAM for one in known)
        self.same = sum(one.verdict.what == judge.SAME for one in known)
        once, self.twins = [], 0
        codes = set()
        for one in known:
            if one.verdict.what in (judge.NO_PROGRAM, judge.SAME):
                continue
            if one.verdict.code and one.verdict.code in codes:
                self.twins += 1
                continue
            codes.add(one.verdict.code)
            once.append(one)
        self.counted = len(once)
        self.killed = sum(one.verdict.what == judge.KILLED for one in once)
        self.by_limit = sum(one.verdict.found in (judge.ENDLESS, judge.ENORMOUS) for one in once)
        kinds = collections.Counter(listed.get(one.name, "new") for one in once if one.verdict.what != judge.KILLED)
        self.kinds = {kind: kinds[kind] for kind in (*KINDS, "new")}

    def share(self):
        """Killed, of those that are neither equivalent nor a question of speed."""
        of = self.counted - self.kinds["equivalent"] - self.kinds["speed only"]
        return 100 * self.killed / of if of else 100


def line(file, judged, listed):
    figures = Figures(judged, listed)
    kinds = ", ".join(f"{count} {kind}" for kind, count in figures.kinds.items() if count)
    return f"{file}: {figures.made} made, {figures.no_program} do not compile, {figures.same} are the same code," \
        f" {figures.twins} like another; {figures.counted} counted, {figures.killed} killed" \
        f"{' (' + str(figures.by_limit) + ' by a limit)' if figures.by_limit else ''}{'; ' + kinds if kinds else ''}:" \
        f" {figures.share():.1f} %{f'; {figures.left} NOT JUDGED' if figures.left else ''}"


COLUMNS = ("made", "no program", "same", "twins", "counted", "killed", "limit", "equivalent", "speed", "unseen", "unfound")
IN_TABLE = re.compile(r"\| (\S+\.[ch])(?: \((\d+) not judged\))? \|((?: \d+ \|)+) [\d.]+ % \|")


def counts(figures):
    """A line of the table: how many were not judged, and what stands in its columns."""
    kinds = figures.kinds
    return figures.left, [figures.made, figures.no_program, figures.same, figures.twins, figures.counted, figures.killed, figures.by_limit,
                          kinds["equivalent"], kinds["speed only"], kinds["unseen"], kinds["unfound"] + kinds["new"]]


def read_table(text):
    """Of each file in a table that was written before, its line as counts()."""
    return {file: (int(left or 0), [int(cell) for cell in cells.split("|")[:-1]]) for file, left, cells in IN_TABLE.findall(text)}


def in_table(name, left, cells):
    of = dict(zip(COLUMNS, cells))
    judged = of["counted"] - of["equivalent"] - of["speed"]
    return f"| {name}{f' ({left} not judged)' if left else ''} | {' | '.join(map(str, cells))} |" \
        f" {100 * of['killed'] / judged if judged else 100:.1f} % |"


def table(lines, slow):
    """The table for docs/results, of lines by file."""
    out = ["# Mutants of the protocols", "",
           "Made by `./dev mutants` with the repository's own checker: every statement, clause, order and comparison of the file changed, one",
           "at a time, and each mutant judged by the rows of `tools/guarantees.py` that must hold of its protocol"
           + (f", the slow ones too if they end within {slow} s." if slow else ", but for the slow ones."),
           "A run over some of the files leaves the lines of the others as they were, by the rows of that time.",
           "",
           "- *no program*: does not compile. *same*: compiles to the code that ships; what differs is dead there, or a note to the search.",
           "  *twins*: compiles to the code of another mutant. These are not counted.",
           f"- *limit*: of those killed, those whose search grew beyond {judge.FAR} times the unchanged one.",
           "- Survivors stand in `tools/mutants/survivors.txt`, each with its reason. *equivalent*: behaves as what ships does. *speed*: costs or saves",
           "  something, and promises the same. *unseen*: changes only what the search does not run. *unfound*: ought to be killed, and is not.",
           "- *share*: killed, of those counted that are neither equivalent nor a question of speed.", "",
           f"| file of `src/protocols` | {' | '.join(COLUMNS)} | share |",
           "|---|" + "---:|" * (len(COLUMNS) + 1)]
    judged = [file for file in judge.FILES if file in lines]
    out += [in_table(file, *lines[file]) for file in judged]
    out.append(in_table("all", sum(lines[file][0] for file in judged), [sum(cells) for cells in zip(*(lines[file][1] for file in judged))]))
    unjudged = [file for file in judge.FILES if file not in lines]
    if unjudged:
        out += ["", "Not judged:", "", *(f"- `{file}`" for file in unjudged)]
    return "\n".join(out) + "\n"


def write(path, groups, listed, slow):
    """The table, with these files judged anew."""
    lines = read_table(path.read_text(encoding="utf-8")) if path.exists() else {}
    lines.update({file: counts(Figures(judged, listed)) for file, judged in groups.items()})
    path.write_text(table(lines, slow), encoding="utf-8")
