# SPDX-License-Identifier: MIT
"""One claim of a paper, and the commands that show it."""

HOLDS = "holds"


class Show:
    """A command of afteryou, several with " && " between; the last one's answer is judged.

    `found` is HOLDS, or the property that must be found broken. `figures` are paths into the answer's JSON, with the values
    that must stand there. A command that takes more than a second or two is not `quick`: ./dev guarantees alone runs it.
    `drawing`: the counterexample, or the run that is audited, is drawn in a file of that name.
    """

    def __init__(self, command, found=HOLDS, quick=True, steps=None, figures=None, drawing=None):
        self.command, self.found, self.quick, self.steps, self.figures = command, found, quick, steps, figures or {}
        self.drawing = drawing


class Claim:
    """`where` in the paper, `words` as near to the paper's as a cell allows, `ours`: what we changed, and why.

    Without a command, `paper` says why there is none. Of a claim that is "False …" a run that refutes it is drawn.
    """

    def __init__(self, where, words, *shows, ours="", paper=""):
        assert bool(shows) != bool(paper), f"{words}: a command, or the reason why there is none"
        assert not ours.startswith("False") or any(show.drawing for show in shows), f"{words}: false, and no run is drawn"
        self.where, self.words, self.shows, self.ours, self.paper = where, words, shows, ours, paper


class Paper:
    def __init__(self, key, title, claims):
        self.key, self.title, self.claims = key, title, claims
