#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves what proofs/*.proof states, for every number of places, by Debian's solvers. docs/proofs.md tells what that means.

usage: prove.py [PROOF...] [--solver NAME] [--without PART] [--lacking INVARIANT] [--smt DIRECTORY]
       prove.py PROOF --c FILE      the same text as C, for the checker: a predicate for each invariant, a relation for each step

Exit status: 0 all is proved, 1 something is not, 77 no solver is installed, 125 a text is wrong.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

from prover import c_code, language, smt

PROOFS = pathlib.Path(__file__).resolve().parent.parent / "proofs"
SECONDS = 900
BATCH = 24  # obligations for one run of a solver
PROVED, FAILED, SKIPPED, WRONG = 0, 1, 77, 125


def read(name):
    path = PROOFS / f"{name}.proof"
    if not path.is_file():
        raise language.Wrong(f"there is no {path}")
    return language.read(name, path.read_text(encoding="utf-8"))


def batches_of(proof, only=None):
    asked = [one for one in smt.obligations(proof) if only is None or one.name == only]
    return [asked[at:at + BATCH] for at in range(0, len(asked), BATCH)]


def failing(proof, solver, left_out, batch):
    """The obligations of a batch that fail, each with what the solver says."""
    told = smt.answers(solver, proof, batch, left_out, SECONDS)
    return [(one, answer) for one, answer in zip(batch, told) if answer != one.expected]


def prove(proof, solver, left_out=(), only=None):
    """The obligations that fail, or that one of them if it does, and how many there are."""
    batches = batches_of(proof, only)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        told = list(pool.map(lambda batch: failing(proof, solver, left_out, batch), batches))
    return [one for batch in told for one in batch], sum(map(len, batches))


def is_proved(proof, solver):
    """The same, but it ends with the first that fails."""
    return not any(failing(proof, solver, (), batch) for batch in batches_of(proof))


def report(proof, solver, left_out, show):
    began = time.monotonic()
    failed, count = prove(proof, solver, left_out)
    told = f"{proof.name}: {count} obligations, {len(proof.steps)} steps, {len(proof.invariants)} invariants, " \
           f"{solver}, {time.monotonic() - began:.1f} s"
    goals = [name for name, _ in proof.goals] + [name for step in proof.steps for name, _ in step.promises]
    if not failed:
        print(f"{told}: PROVED for every number of places: {', '.join(dict.fromkeys(goals))}")
        return PROVED
    print(f"{told}: NOT proved")
    for obligation, answer in failed:
        print(f"  {obligation.name}: {'cannot happen' if obligation.expected == 'sat' else 'does not follow'} ({answer})")
    broken = [obligation for obligation, answer in failed if answer == "sat"]
    if broken and show:
        print(f"  A state in which {broken[0].name} does not follow:")
        for line in smt.counterexample(solver, proof, broken[0], left_out, SECONDS):
            print(f"    {line}")
    return FAILED


def write_smt(proof, directory, left_out):
    """A file for each obligation, for whoever wants to ask another solver."""
    for obligation in smt.obligations(proof):
        name = obligation.name.replace(": ", "-").replace(" ", "-")
        lines = list(smt.declarations(proof, left_out)) + list(smt.scripted(proof, obligation))
        path = directory / proof.name / f"{name}.smt2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"; {obligation.name}: expected {obligation.expected}\n" + "\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof", nargs="*", help="all of them, unless told")
    parser.add_argument("--solver", choices=smt.SOLVERS, action="append", help="z3 and cvc5, unless told")
    parser.add_argument("--without", action="append", default=[], help="a part of the protocol that is left out")
    parser.add_argument("--lacking", action="append", default=[], help="an invariant that is left out")
    parser.add_argument("--smt", type=pathlib.Path, help="write the obligations there, and prove nothing")
    parser.add_argument("--c", type=pathlib.Path, help="write the proof there as C, and prove nothing")
    asked = parser.parse_args()
    proofs = [read(name) for name in asked.proof or sorted(path.stem for path in PROOFS.glob("*.proof"))]
    left_out = [f"without_{name}" for name in asked.without]
    for proof in proofs:
        unknown = set(left_out) - set(proof.without) | set(asked.lacking) - {name for name, _ in proof.invariants}
        if unknown:
            raise language.Wrong(f"{proof.name}.proof knows no {', '.join(sorted(unknown))}")
        proof.invariants = [one for one in proof.invariants if one[0] not in asked.lacking]
    if asked.smt or asked.c:
        for proof in proofs:
            if asked.smt:
                write_smt(proof, asked.smt, left_out)
            else:
                asked.c.write_text(c_code.written(proof), encoding="utf-8")
        return PROVED
    solvers = [solver for solver in asked.solver or smt.SOLVERS if shutil.which(solver)]
    if not solvers:
        print("SKIP: neither z3 nor cvc5 is installed: apt install z3 cvc5")
        return SKIPPED
    return max(report(proof, solver, left_out, True) for proof in proofs for solver in solvers)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (language.Wrong, OSError, subprocess.TimeoutExpired) as error:
        print(f"prove: {error}", file=sys.stderr)
        sys.exit(WRONG)
