#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What must be proved is proved, and what is false is not: mutants of the protocols, wrong invariants, invariants left out.

usage: obligations.py SOURCE_ROOT [--all]

A mutant is the text of a proof with one passage replaced; named beside it is an obligation that must fail, by a state that the solver
shows. A mutant whose passage is no longer in the text is a failure: it must be written anew. Without --all only some are tried.
"""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "tools"))
import prove  # noqa: E402
from prover import language, smt  # noqa: E402

from mutants import MUTANTS, NOT_NEEDED, QUICK, SOUND  # noqa: E402

SKIPPED = 77


def failures_of(proof, solver, left_out=(), only=None):
    """Names of the obligations that fail, each with the solver's answer."""
    return {one.name: answer for one, answer in prove.prove(proof, solver, left_out, only)[0]}


def text_of(name):
    return (prove.PROOFS / f"{name}.proof").read_text(encoding="utf-8")


def judge_mutant(solver, mutant):
    """None, or what is wrong."""
    title, name, passage, instead, expected = mutant
    text = text_of(name)
    if passage.startswith("without "):
        failed = failures_of(language.read(name, text), solver, [passage.replace(" ", "_")], expected)
    else:
        if passage not in text:
            return f"{name}, {title}: its passage is no longer in the proof"
        failed = failures_of(language.read(name, text.replace(passage, instead)), solver, (), expected)
    if any(answer == "unknown" for answer in failed.values()):
        return f"{name}, {title}: the solver does not know"
    if expected is None:
        return f"{name}, {title}: no longer proved: {sorted(failed)}" if failed else None
    if expected not in failed:
        return f"{name}, {title}: {expected} does not fail"
    return None


def judge_needed(solver, name, invariant):
    """Without one of its invariants the proof must fail, or the invariant is not needed."""
    proof = language.read(name, text_of(name))
    proof.invariants = [one for one in proof.invariants if one[0] != invariant]
    return f"{name}: it is proved without {invariant} too" if prove.is_proved(proof, solver) else None


def judge_errors():
    """A text that is wrong is told so: where, and what."""
    text = text_of("bakery")
    for passage, instead, complaint in (
            ("point(a) = QUEUE\n", "point(a) = QUEUES\n", "QUEUES is not declared"),
            ("most(a)  := number(a)", "most(a)  := fence(a, m)", "asks the ghost fence"),
            ("seen(a, b) := true", "seen(a) := true", "seen takes 2 arguments"),
            ("not seen(b, a) or", "not number(b) or", "is a number, not a truth"),
            ("goal exclusion:", "goul exclusion:", "what is 'goul'")):
        assert passage in text, passage
        try:
            language.read("bakery", text.replace(passage, instead))
            yield f"{instead!r} is read"
        except language.Wrong as wrong:
            if complaint not in str(wrong) or not re.match(r"bakery\.proof:\d+: ", str(wrong)):
                yield f"{instead!r}: told {wrong}"


def main():
    everything = "--all" in sys.argv
    wrong = list(judge_errors())
    solver = next((name for name in smt.SOLVERS if shutil.which(name)), None)
    if not solver:
        print("\n".join(wrong) or "SKIP: neither z3 nor cvc5 is installed: apt install z3 cvc5")
        return 1 if wrong else SKIPPED
    for name in sorted(path.stem for path in prove.PROOFS.glob("*.proof")):
        if not everything and name not in QUICK:
            continue
        failed = failures_of(language.read(name, text_of(name)), solver)
        print(f"{name}: {'NOT proved' if failed else 'proved'}")
        wrong += [f"{name}: {obligation}: {answer}" for obligation, answer in failed.items()]
    tried = [mutant for mutant in MUTANTS + SOUND if everything or mutant[0] in QUICK]
    for mutant in tried:
        found = judge_mutant(solver, mutant)
        told = f"fails at {mutant[4]}" if mutant[4] else "still proved"
        print(f"{mutant[1]}, {mutant[0]}: {'WRONG' if found else told}")
        wrong += [found] if found else []
    for path in sorted(prove.PROOFS.glob("*.proof")) if everything else []:
        for invariant, _ in language.read(path.stem, path.read_text(encoding="utf-8")).invariants:
            needed = (path.stem, invariant) not in NOT_NEEDED
            found = judge_needed(solver, path.stem, invariant)
            if bool(found) == needed:
                wrong.append(found or f"{path.stem}: {invariant} is needed after all: take it off NOT_NEEDED")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
