# SPDX-License-Identifier: MIT
"""Mutants of the proofs for obligations.py: what must fail, and where."""

# title, proof, passage ("without PART": a part of the protocol is left out), what stands there instead, an obligation that fails
MUTANTS = [
    ("nobody waits for a chooser", "bakery", "without choosing", "", "look_and_pass: passed-chooser"),
    ("draws no greater number", "bakery", "number(a)  := most(a) + 1", "number(a)  := most(a)", "number: passed-queued"),
    ("draws before it has seen all", "bakery", "point(a) = DOORWAY\n         forall b: a != b => seen(a, b)",
     "point(a) = DOORWAY", "number: passed-queued"),
    ("does not say that it chooses", "bakery", "state(a) := CHOOSING\n", "state(a) := IDLE\n", "choosing: shown"),
    ("looks, and says later that it is queued", "bakery", "         state(a)   := QUEUED\n", "", "number: shown"),
    ("enters before it has passed all", "bakery", "forall b: a != b => past(a, b)\n    promises", "true\n    promises",
     "enter: inside"),
    ("equal numbers let each other pass", "bakery", "number(a) = number(b) and index(a) < index(b)",
     "number(a) = number(b)", "goal: exclusion"),
    ("who leaves forgets its number", "bakery", "    then point(a)             := OUTSIDE\n         state(a)             := IDLE\n",
     "    then point(a)             := OUTSIDE\n         state(a)             := IDLE\n         number(a) := 0\n",
     "epilogue: fence-kept"),
    ("conflict goes one way", "bakery", "where conflict(m, k) => conflict(k, m)\n", "", "goal: exclusion"),
    ("a wrong invariant: numbers differ", "bakery", "=> before(a, b)\n# Whoever chooses anew",
     "=> number(a) < number(b)\n# Whoever chooses anew", "turn: passed-queued"),
    ("a wrong invariant: nobody is awaited twice", "bakery", "awaits(a, b) and awaits(a, c) => b = c",
     "awaits(a, b) and awaits(c, b) => a = c", "look_and_wait: one-awaited"),
    ("a step that cannot happen", "bakery", "when point(a) = AWAITS_TURN and awaits(a, b)",
     "when point(a) = AWAITS_TURN and awaits(a, b) and past(a, b)", "turn: possible"),
]

# Left out without harm to what is proved: somebody may wait for ever, but nobody enters who should not.
SOUND = [
    ("waits on for one that died", "bakery", "without incarnation", "", None),
    ("who dies keeps its incarnation", "bakery", "incarnation(a) + 1", "incarnation(a)", None),
    ("two places have one index", "bakery", "where index(a) = index(b) => a = b\n", "", None),
]

# Invariants without which a proof stands too, each with the reason why it is there.
NOT_NEEDED = {}

# What `./dev test` tries.
QUICK = {"bakery", "nobody waits for a chooser", "equal numbers let each other pass",
         "who leaves forgets its number", "a wrong invariant: numbers differ"}
