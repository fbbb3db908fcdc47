#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/expansion.md's listings: show.py > docs/results/expansion.md, with gcc and binutils of Debian on x86-64."""
import subprocess
import sys

import listing

HEAD = """# What a protocol becomes

A protocol of `src/protocols` is written once, over the words of `registers.h`. For the checker it stops before every
access; for an engine that runs it is plain inline C. This page shows that nothing is left of the language then: the
passages of `pair` and `bakery`, expanded over a plain array of atomic words (`tests/expansion/expanded.c`), beside the
same locks written by hand with C11 atomics (`tests/expansion/by_hand.c`).

`tests/expansion/show.py > docs/results/expansion.md` writes this page; `tests/expansion/test_expansion.py`, part of
`./dev test`, fails if the expansion has more accesses to shared words than the hand-written lock, or more instructions
({margins}). Compiled with {compiler}, -O2; padding is left out.
"""


def table(functions):
    rows = ["| passage | count | expanded | by hand |", "| --- | --- | ---: | ---: |"]
    for passage, (expanded, by_hand) in functions.items():
        rows += [f"| {passage} | {what} | {count(expanded)} | {count(by_hand)} |" for what, count in listing.COUNTS]
    return "\n".join(rows)


def beside(expanded, by_hand):
    width = max(len(line) for line in expanded) + 3
    length = max(len(expanded), len(by_hand))
    left, right = (lines + [""] * (length - len(lines)) for lines in (expanded, by_hand))
    return "\n".join(f"{a:{width}}{b}".rstrip() for a, b in zip(["expanded", *left], ["by hand", *right]))


def main():
    why = listing.missing()
    if why:
        print(why, file=sys.stderr)
        return 1
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    print(HEAD.format(compiler=compiler, margins="none more for `pair`; for `bakery` a margin of six, for the reason "
                                                 "that the test states"))
    functions = listing.both()
    print(table(functions))
    for passage, (expanded, by_hand) in functions.items():
        print(f"\n## {passage}\n\n```\n{beside(expanded, by_hand)}\n```")
    return 0


if __name__ == "__main__":
    sys.exit(main())
