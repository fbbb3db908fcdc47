# SPDX-License-Identifier: MIT
"""Mutants of the proofs for obligations.py: what must fail, and where."""

# title, proof, passage ("without PART": a part of the protocol is left out), what stands there instead, an obligation that fails
MUTANTS = [
    ("nobody waits for a chooser", "bakery", "without choosing", "", "look_and_pass: passed-chooser"),
    ("draws no greater number", "bakery", "number(a) := most(a) + 1", "number(a) := most(a)", "number: passed-queued"),
    ("draws before it has seen all", "bakery", "point(a) = DOORWAY\n         forall b: a != b => seen(a, b)",
     "point(a) = DOORWAY", "number: passed-queued"),
    ("does not say that it chooses", "bakery", "state(a) := CHOOSING\n", "state(a) := IDLE\n", "choosing: shown"),
    ("looks, and says later that it is queued", "bakery", "         state(a)  := QUEUED\n", "", "number: shown"),
    ("enters before it has passed all", "bakery", "forall b: a != b => past(a, b)\n    promises", "true\n    promises",
     "enter: inside"),
    ("equal numbers let each other pass", "bakery", "number(a) = number(b) and index(a) < index(b)",
     "number(a) = number(b)", "goal: exclusion"),
    ("who leaves forgets its number", "bakery", "forget queue(a)\n\nstep death",
     "forget queue(a)\n         number(a) := 0\n\nstep death",
     "epilogue: fence-kept"),
    ("conflict goes one way", "bakery", "where conflict(m, k) => conflict(k, m)\n", "", "goal: exclusion"),
    ("a wrong invariant: numbers differ", "bakery", "=> before(a, b)\n# Whoever chooses anew",
     "=> number(a) < number(b)\n# Whoever chooses anew", "turn: passed-queued"),
    ("a wrong invariant: nobody is awaited twice", "bakery", "awaits(a, b) and awaits(a, c) => b = c",
     "awaits(a, b) and awaits(c, b) => a = c", "look_and_wait: one-awaited"),
    ("a step that cannot happen", "bakery", "when point(a) = AWAITS_TURN and awaits(a, b)",
     "when point(a) = AWAITS_TURN and awaits(a, b) and past(a, b)", "turn: possible"),
    ("enters as soon as it has claimed", "courtesy", "without look", "", "decide: went-first"),
    ("passes who is on the express lane", "courtesy", "without choosing", "", "scan_and_pass: express-not-passed"),
    ("keeps its number when it enters", "courtesy", "without raise", "", "inside: promises fence"),
    ("claims though somebody goes first", "courtesy", "point(a) = SCAN and not blocked(a) and solid(a)",
     "point(a) = SCAN and solid(a)", "claim: express-not-passed"),
    ("claims while it may be passed", "courtesy", "point(a) = SCAN and not blocked(a) and solid(a)",
     "point(a) = SCAN and not blocked(a)", "claim: express-not-passed"),
    ("claims before it has scanned all", "courtesy", "and solid(a)\n         forall b: a != b => scanned(a, b)",
     "and solid(a)", "claim: express-not-passed"),
    ("awake, does not scan again", "courtesy", "then state(a) := QUEUED\n         forget scan(a)",
     "then state(a) := QUEUED", "awake: express-not-passed"),
    ("on the express lane, passes who is queued", "courtesy", "state(b) in {IDLE, HOLDING, ASIDE}",
     "state(b) in {IDLE, HOLDING, ASIDE, QUEUED}", "glance: express-not-passed"),
    ("on the express lane, passes another", "courtesy", "state(b) in {IDLE, HOLDING, ASIDE}",
     "state(b) in {IDLE, HOLDING, ASIDE, EXPRESS}", "glance: express-alone"),
    ("on the express lane, passes a sleeper that nobody may pass", "courtesy", "(state(b) = ASLEEP and bound > 0)",
     "state(b) = ASLEEP", "glance: express-not-passed"),
    ("takes a claimant that went in for another", "courtesy",
     "and (unchanged(a, b) or (watch_state(a, b) = CLAIMS and state(b) = INSIDE))", "and unchanged(a, b)",
     "inside: earlier-counts"),
    ("forgets for whom there was no room", "courtesy", "(not again(a) or lost(a, b)) and claiming(b)",
     "not again(a) and claiming(b)", "look: earlier-counts"),
    ("looks again before it has looked at all", "courtesy",
     "point(a) = LOOK\n         forall b: a != b => looked(a, b)\n    then again(a) := true",
     "point(a) = LOOK\n    then again(a) := true", "look_again: earlier-counts"),
    ("does not heed the numbers that it looks at", "courtesy", "found(a)                := found(a) or counts(a, b)\n"
     "         most(a)                 := most_with(a, b)\n",
     "found(a)                := found(a) or counts(a, b)\n", "look: fence-looked"),
    ("fences where modes change", "courtesy", "invariant fence-looked:\n    steady and", "invariant fence-looked:\n   ",
     "choosing: fence-looked"),
    ("a wrong invariant: who claims first is inside first", "courtesy", "went(a) and claims(b) and rivals(a, b) =>",
     "went(a) and claims(b) and a != b =>", "decide: went-first"),
]

# Left out without harm to what is proved: somebody may wait for ever, but nobody enters who should not.
SOUND = [
    ("waits on for one that died", "bakery", "without incarnation", "", None),
    ("who dies keeps its incarnation", "bakery", "incarnation(a) + 1", "incarnation(a)", None),
    ("waits on for one that died, in its scan", "courtesy", "without incarnation", "", None),
    ("two places have one index", "bakery", "where index(a) = index(b) => a = b\n", "", None),
]

# Invariants without which a proof stands too, each with the reason why it is there.
NOT_NEEDED = {}

# What `./dev test` tries.
QUICK = {"bakery", "enters as soon as it has claimed", "passes who is on the express lane", "keeps its number when it enters",
         "awake, does not scan again", "takes a claimant that went in for another",
         "nobody waits for a chooser", "equal numbers let each other pass",
         "who leaves forgets its number", "a wrong invariant: numbers differ"}
