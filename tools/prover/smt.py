# SPDX-License-Identifier: MIT
"""Obligations of a proof, as SMT-LIB without quantifiers, and solvers to discharge them.

An obligation is a set of universal sentences (axioms, invariants, a step's conditions) and one that must follow: its negation names
a few places. No function of a proof yields a place, and those that yield a mode take places; so a contradiction, if there is one,
shows in the instances for the places and modes that are named (Herbrand). The instances are quantifier-free and decidable: "unsat"
proves the obligation for every number of places, "sat" is a counterexample with as many places as are named.
"""
import itertools
import re
import subprocess

from prover.language import mentions, rebuilt, substituted

SOLVERS = {"z3": ["z3", "-smt2", "-in"], "cvc5": ["cvc5", "--lang=smt2", "--incremental", "--produce-models", "-"]}
SORTS = {"place": "Place", "mode": "Mode", "number": "Int", "truth": "Bool"}
WORDS = {"!=": "distinct", "<=>": "="}


class Obligation:
    """`given` holds; `conclusion` must follow, or, if there is none, `given` must be possible."""

    def __init__(self, name, given, constants, conclusion=None):
        self.name, self.given, self.constants, self.conclusion = name, given, constants, conclusion

    @property
    def expected(self):
        return "sat" if self.conclusion is None else "unsat"


def printed(proof, formula):
    kind = formula[0]
    if kind == "number":
        return str(formula[1])
    if kind == "truth":
        return "true" if formula[1] else "false"
    if kind == "name":
        return formula[1]
    if kind == "if":
        return f"(ite {' '.join(printed(proof, part) for part in formula[1:])})"
    word = WORDS.get(formula[1], formula[1]) if kind == "op" else symbol(proof, formula[1])
    return f"({word} {' '.join(printed(proof, part) for part in formula[2])})"


def symbol(proof, name):
    """A variable may be called as a type is."""
    return f"{name}." if name in proof.variables else name


def sort(name):
    return SORTS.get(name) or name.capitalize()


def after(proof, formula, assignments):
    """The formula as it reads in the state that the assignments make."""
    formula = rebuilt(formula, lambda part: after(proof, part, assignments))
    if formula[0] != "call":
        return formula
    value = formula
    for name, arguments, assigned in assignments:
        if name != formula[1]:
            continue
        same, meaning = [], {}
        for found, wanted in zip(formula[2], arguments):
            if wanted and wanted[0] == "name" and wanted[1] in proof.any:
                meaning[wanted[1]] = found  # for every value, by that name
            elif wanted:
                same.append(("op", "=", (found, wanted)))
        assigned = substituted(assigned, meaning)
        condition = same[0] if len(same) == 1 else ("op", "and", tuple(same))
        value = ("if", condition, assigned, value) if same else assigned
    return value


def terms(proof, kind, constants):
    """All that an instance may speak of."""
    found = [("name", name) for name, of in constants if of == kind]
    found += [("name", name) for name, (types, result) in proof.givens.items() if not types and result == kind]
    for name, variable in proof.variables.items():
        if variable.result == kind and kind == "mode":
            found += [("call", name, (place,)) for place in terms(proof, "place", constants)]
    return found


def instances(proof, formula, constants):
    while formula[0] == "forall":
        formula = formula[2]
    names = proof.free(formula)
    for chosen in itertools.product(*(terms(proof, proof.any[name], constants) for name in names)):
        yield substituted(formula, dict(zip(names, chosen)))


def follows(proof, name, given, constants, formula, assignments=()):
    """That the formula holds, of whatever places, once the assignments are made."""
    spoken_of = proof.free(formula)
    constants = constants + [(f"any_{variable}", proof.any[variable]) for variable in spoken_of]
    formula = substituted(formula, {variable: ("name", f"any_{variable}") for variable in spoken_of})
    return Obligation(name, given, constants, after(proof, formula, assignments))


def obligations(proof):
    """All that is to be shown. The parameters of a step keep their names, in capitals; of whom its invariants speak is any_a."""
    axioms, invariants = proof.axioms, [formula for _, formula in proof.invariants]
    yield Obligation("initially: possible", axioms + proof.initially, [("any_a", "place")])
    for name, formula in proof.invariants:
        yield follows(proof, f"initially: {name}", axioms + proof.initially, [], formula)
    for step in proof.steps:
        meaning = {name: ("name", name.upper()) for name, _ in step.parameters}
        constants = [(name.upper(), kind) for name, kind in step.parameters]
        given = axioms + invariants + [substituted(formula, meaning) for formula in step.when]
        assignments = [(name, tuple(part and substituted(part, meaning) for part in arguments), substituted(value, meaning))
                       for name, arguments, value in step.then]
        yield Obligation(f"{step.name}: possible", given, constants)
        for name, formula in step.promises:
            yield follows(proof, f"{step.name}: promises {name}", given, constants, substituted(formula, meaning))
        for name, formula in proof.invariants:
            if mentions(formula) & {assigned for assigned, _, _ in assignments}:  # else it holds as it held
                yield follows(proof, f"{step.name}: {name}", given, constants, formula, assignments)
    for name, formula in proof.goals:
        yield follows(proof, f"goal: {name}", axioms + invariants, [], formula)


def declarations(proof, left_out):
    yield "(set-option :produce-models true)"
    yield "(set-logic ALL)"
    yield "(declare-sort Place 0)"
    yield "(declare-sort Mode 0)"
    for name, values in proof.types.items():
        if values:
            yield f"(declare-datatypes (({sort(name)} 0)) (({' '.join(f'({value})' for value in values)})))"
    for name, (types, result) in proof.givens.items():
        yield f"(declare-fun {name} ({' '.join(map(sort, types))}) {sort(result)})"
    for name, variable in proof.variables.items():
        yield f"(declare-fun {symbol(proof, name)} ({' '.join(map(sort, variable.types))}) {sort(variable.result)})"
    for name in proof.without:
        yield f"(define-fun {name} () Bool {'true' if name in left_out else 'false'})"


def scripted(proof, obligation, ask=""):
    yield "(push 1)"
    for name, kind in obligation.constants:
        yield f"(declare-const {name} {sort(kind)})"
    for formula in obligation.given:
        for instance in instances(proof, formula, obligation.constants):
            yield f"(assert {printed(proof, instance)})"
    if obligation.conclusion is not None:
        yield f"(assert (not {printed(proof, obligation.conclusion)}))"
    yield "(check-sat)"
    if ask:
        yield ask
    yield "(pop 1)"


def solve(solver, lines, seconds):
    """What the solver says to each check-sat. Raises OSError or subprocess.TimeoutExpired."""
    run = subprocess.run(SOLVERS[solver], input="\n".join(lines), capture_output=True, text=True, timeout=seconds, check=False)
    complaints = run.stderr.splitlines() + [line for line in run.stdout.splitlines() if line.startswith("(error")]
    if complaints:
        raise OSError(f"{solver}: {complaints[0]}")
    return run.stdout


def answers(solver, proof, asked, left_out, seconds):
    lines = list(declarations(proof, left_out))
    for obligation in asked:
        lines += scripted(proof, obligation)
    found = solve(solver, lines, seconds).split()
    assert len(found) == len(asked), found
    return found


def counterexample(solver, proof, obligation, left_out, seconds):
    """The state, for people, in which an obligation fails: a line for each place."""
    told = []
    places = [name for name, kind in obligation.constants if kind == "place"]
    for name, variable in proof.variables.items():
        for chosen in itertools.product(*(terms(proof, kind, obligation.constants) for kind in variable.types)):
            told.append(printed(proof, ("call", name, chosen)))
    lines = list(declarations(proof, left_out))
    lines += scripted(proof, obligation, f"(get-value ({' '.join(told + places)}))")
    values = re.findall(r"\(((?:\([^()]*(?:\([^()]*\)[^()]*)*\)|[\w.]+)) ((?:\([^()]*\))|[^\s()]+)\)",
                        solve(solver, lines, seconds).partition("\n")[2])
    dull = {"false", "0"} | {kinds[0] for kinds in proof.types.values() if kinds}  # as at first
    return [f"{term} = {value}" for term, value in values if value not in dull]
