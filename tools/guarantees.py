#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the checker must find: the list of protocols, configurations and verdicts.

  guarantees.py --quick             checks the rows that take seconds (a test)
  guarantees.py --write FILE        checks all rows, and writes the table (./dev guarantees)

A row fails if the verdict is not the one stated, in either direction: a shipped protocol that breaks, or a broken one that passes.
"""
import argparse
import concurrent.futures
import functools
import json
import subprocess
import sys
import time

HOLDS = "holds"


class Row:
    """One run of the checker. `found` is HOLDS, or the property that must be found broken; `messages`, the fewest and the most that a
    passage takes."""

    def __init__(self, words, found=HOLDS, quick=True, note="", overtaken=None, messages=None):
        self.words, self.found, self.quick, self.note, self.overtaken = words.split(), found, quick, note, overtaken
        self.messages = messages


SLOW = False

ROWS = [
    ("Rivest & Pratt 1977", [
        Row("pair", overtaken=(2, 1)),
        Row("pair --aborts --tso", overtaken=(2, 1)),
        Row("races -n 2"),
        Row("races -n 3"),
        Row("races -n 3 --aborts --tso"),
        Row("races -n 3 --tso --lost-stores", note="a death that overtakes the buffer"),
        Row("races -n 4", quick=SLOW),
        Row("races -n 3 --property overtaking", "overtaking", note="not promised: `clock` mends it"),
        Row("clock -n 2", overtaken=(2, 1)),
        Row("clock -n 2 --tso", overtaken=(2, 1)),
        Row("clock -n 2 --tso --lost-stores", overtaken=(2, 1)),
        Row("clock -n 2 --padding 3", overtaken=(2, 1)),
        Row("clock -n 2 --padding 5", overtaken=(2, 1)),
        Row("clock -n 3 --passages 1 --no-deaths", note="the greatest of two clocks"),
        Row("clock -n 3 --memory 6G", quick=SLOW, overtaken=(2, 1)),
        Row("clock-unpadded -n 7 --alive 0,1,2 --property exclusion,progress,lockout,reliability", quick=SLOW),
        Row("clock-unpadded -n 7 --alive 2,4,6 --property exclusion,progress,lockout,reliability", quick=SLOW),
        Row("clock-unpadded -n 5 --alive 0,1,2 --property overtaking", "overtaking", quick=SLOW,
            note="linear waiting is false without padding"),
        Row("clock-unpadded -n 5 --alive 0,4 --property exclusion,progress,reliability", note="M = 5 suffices"),
        Row("clock-unpadded -n 2", "exclusion", note="M = 2"),
        Row("clock-unpadded -n 3", "exclusion", quick=SLOW, note="M = 3"),
        Row("clock -n 2 --padding 2", "exclusion", note="M = 4 breaks the window"),
        Row("races-copies -n 3", note="a copy of S for each of the others"),
        Row("races-copies-forgetful -n 2", "exclusion"),
        Row("pair --halts 1", "progress", note="failure mode 1"),
        Row("pair --halts 1 --timeouts right", note="failure mode 1, timed out"),
        Row("clock -n 2 --halts 1 --timeouts right"),
        Row("pair --halts 1 --timeouts wrong", "exclusion", note="one that is slow is timed out"),
        Row("pair --malfunction --property reliability", "reliability", note="failure mode 2"),
        Row("pair-once", "exclusion", note="one fetch instead of two"),
        Row("pair-once-shy", "progress", note="one fetch instead of two"),
        Row("races-printed -n 2", "exclusion", note="figure 4 as printed"),
        Row("clock-without-step-1 -n 2", "reliability"),
        Row("clock-without-step-2 -n 2", "exclusion", note="lemma 4.1"),
        Row("clock-without-step-3 -n 2", "exclusion", note="lemma 4.5"),
        Row("clock-without-step-5 -n 2", "exclusion", note="lemma 4.2"),
        Row("clock-without-regard -n 2", "exclusion", note="lemma 4.3"),
        Row("clock-without-ok -n 2", "overtaking"),
        Row("clock-without-keep -n 3 --property exclusion --memory 6G", "exclusion", quick=SLOW, note="lemma 4.2"),
        Row("clock-without-maximum -n 3 --property exclusion --memory 6G", "exclusion", quick=SLOW, note="lemma 4.2"),
    ]),
    ("Lamport 1976", [
        Row("bakery -n 2"),
        Row("bakery -n 2 --aborts --tso"),
        Row("bakery -n 3 --modes exclusive"),
        Row("bakery -n 3", quick=SLOW),
        Row("bakery -n 2 --modes exclusive --fences"),
        Row("bakery -n 2 --modes exclusive --fences --tso"),
        Row("bakery -n 2 --tso --lost-stores", note="a death that overtakes the buffer"),
        Row("bakery -n 3 --modes exclusive --fences", quick=SLOW),
        Row("bakery -n 2 --modes shared --halts 1", note="a reader that stands still is in no reader's way"),
        Row("bakery -n 2 --no-reduction --passages 2", note="numbers and incarnations as they are"),
        Row("bakery-bounded", note="numbers 1 < 2 < 3 < 1"),
        Row("bakery-bounded --malfunction"),
        Row("bakery-words --passages 3"),
        Row("bakery-words --passages 3 --malfunction"),
        Row("bakery-words -n 3 --passages 1 --malfunction", quick=SLOW),
        Row("bakery-torn --passages 3", note="rules I1 and I2"),
        Row("bakery-torn -n 3 --passages 2 --no-deaths --property exclusion", quick=SLOW),
        Row("bakery-torn-write --passages 3", note="writing in the other order does no harm that was found"),
        Row("bakery-torn-read -n 3 --passages 2 --no-deaths --property exclusion", "exclusion", note="the bound, without I1"),
        Row("bakery-torn-forgotten -n 2 --passages 2 --no-deaths --property exclusion", "exclusion",
            note="the bound, without I2"),
        Row("bakery -n 3 --modes exclusive --property doorway,admission", note="D0 (a) and D4: 5 rounds of 4 steps"),
        Row("bakery -n 3 --rivals 0-1,1-2 --no-reduction --passages 1 --modes exclusive", note="Con(i): only rivals are read"),
        Row("bakery-safe --passages 3", note="footnote 1: safe bits"),
        Row("bakery-safe-hasty --passages 1", "exclusion"),
        Row("bakery-repairing --errors anywhere", quick=SLOW, note="footnote 4: transient errors"),
        Row("bakery-repairing --errors waiting"),
        Row("bakery-recovering --errors waiting", "progress", note="footnote 4 to the letter: choosing stays wrong"),
        Row("bakery-fragile --errors waiting", "progress"),
        Row("bakery-relapsing --errors waiting", "recovery"),
        Row("bakery-split-mode --modes shared", "lockout", note="footnote 5: the mode in two words"),
        Row("bakery-circle-3 -n 3", "exclusion", note="bounded numbers, for more than two"),
        Row("bakery-circle-5 -n 3", "exclusion"),
        Row("bakery-circle-7 -n 3", "exclusion"),
        Row("bakery-circle-9 -n 3", "exclusion"),
        Row("bakery-without-choosing -n 2", "exclusion"),
        Row("bakery-without-incarnation -n 2", "reliability", note="as the paper has it"),
        Row("bakery-without-sharing -n 2", "reached", note="readers are never inside together"),
    ]),
    ("Lamport 1976, the general algorithm", [
        Row("region"),
        Row("region --aborts --tso"),
        Row("region --malfunction", note="a failed process's words read as anything for a while"),
        Row("region --precedence writers-first"),
        Row("region --precedence priority"),
        Row("region --units 1 --aborts", note="the allocation problem"),
        Row("region --units 2", note="acquires of one and of two"),
        Row("region --units 1 --tso"),
        Row("region --units 2 --aborts --tso"),
        Row("region --precedence writers-first --aborts --tso"),
        Row("region --precedence priority --aborts --tso"),
        Row("region --property doorway,admission", note="D0 (a) and D4: 12 rounds of 3 steps"),
        Row("region --property quiet,giving-up", note="it naps between two looks, and heeds who gives up"),
        Row("region --units 2 --property quiet,giving-up"),
        Row("region --precedence writers-first --property quiet,giving-up"),
        Row("region --units 2 --needs 2 --banker", note="units one after another, by a banker"),
        Row("region --units 2 --needs 2", "progress", note="without the banker"),
        Row("region --tso --lost-stores", note="a death that overtakes the buffer"),
        Row("region --no-reduction --passages 2", note="numbers as they are"),
        Row("region --no-reduction --passages 3 --no-deaths", note="likewise"),
        Row("region -n 3 --passages 1 --modes exclusive"),
        Row("region -n 3", quick=SLOW),
        Row("region -n 3 --precedence writers-first", quick=SLOW),
        Row("region -n 3 --units 1 --memory 5G", quick=SLOW),
        Row("region-printed", "exclusion", note="D3 is false without choosing"),
        Row("region-without-pair --precedence writers-first", "exclusion"),
        Row("region-stale-mode", "lockout"),
        Row("region-keep-precede", "progress"),
        Row("region-in-order --units 1", "progress", note="a release behind the acquire that waits for it"),
        Row("region-in-order --precedence priority", "precedence"),
        Row("region-in-order --precedence writers-first", "precedence"),
        Row("region --property reliability", "reliability", note="not promised: D4 (b)"),
    ]),
    ("Lamport 1976, between computers", [
        Row("network"),
        Row("network --aborts"),
        Row("network -n 3 --property exclusion,progress,lockout,reliability,order,overtaking,quiet", quick=SLOW),
        Row("network -n 3 --property giving-up", "giving-up", quick=SLOW,
            note="not promised: one that dies again and again rouses it each time; no engine runs it"),
        Row("network-parallel", note="a parallel wait"),
        Row("network-parallel-late-reset", "progress", note="a lost wake-up"),
        Row("network-undeferred", "exclusion"),
        Row("network-no-urgent", "progress"),
        Row("network-silent", "progress", note="nobody is awakened"),
        Row("network-late-reset", "progress", note="a lost wake-up"),
        Row("network-hasty", "progress", note="a lost wake-up"),
    ]),
    ("Dolev, Gafni & Shavit 1988", [
        Row("forks -n 2"),
        Row("forks -n 2 --no-deaths"),
        Row("forks -n 2 --aborts"),
        Row("forks -n 3 -l 2 --no-deaths --stopped 1:853", note="one stopped in the middle of an offer"),
        Row("forks -n 3 -l 2 --no-deaths --stopped 1:239 --late", note="one stopped, the others already waiting"),
        Row("forks -n 4 -l 3 --no-deaths --stopped 1:10032,2:13 --late", note="two stopped"),
        Row("fork -n 2", note="the fork alone: P1 to P5"),
        Row("fork", quick=SLOW, note="and one that only reads it"),
        Row("fork-forgetful", "exclusion", note="P3b is false as printed"),
        Row("fork-swapped", "exclusion", note="P4"),
        Row("fork-one-copy", "exclusion", note="P4, without construction 3"),
        Row("fork-claim-2 -n 2 --no-deaths", note="who always takes gets the fork"),
        Row("fork-claim-2-greedy -n 2 --no-deaths", "lockout"),
        Row("forks-oracle -n 2 --no-deaths --halts 1 --property exclusion", note="construction 5"),
        Row("forks-oracle -n 3 -l 2 --no-deaths --stopped 1:853 --property exclusion"),
        Row("forks-oracle -n 3 -l 2 --no-deaths --property exclusion", quick=SLOW),
        Row("forks-oracle-hasty -n 2 --no-deaths --property exclusion", "exclusion"),
        Row("forks-static -n 3 -l 2 --no-deaths --stopped 1:239 --late --victim 2", note="construction 6: the highest id"),
        Row("forks-static -n 3 -l 2 --no-deaths --stopped 1:239 --late --victim 0", "lockout", note="and a lower one"),
        Row("forks-ids -n 3 --no-deaths", note="construction 7"),
        Row("forks-ids-meek -n 3 --no-deaths", "lockout", quick=SLOW),
        Row("forks-swapped -n 2", "exclusion", note="a fork's w read before its f"),
        Row("forks-printed -n 3 -l 2 --no-deaths --stopped 1:0", "lockout", note="construction 8 as printed"),
        Row("forks-redirect-idle -n 3 -l 2 --no-deaths --stopped 1:0", "lockout"),
        Row("forks-read-twice -n 4 -l 3 --no-deaths --stopped 1:10032,2:13 --late", "lockout",
            note="an arrow between two that stopped reads otherwise each time"),
        Row("forks-forgetful -n 3 -l 2 --no-deaths --stopped 1:853", "lockout"),
        Row("forks-forget-at-leave -n 3 -l 2 --no-deaths --stopped 1:853", "lockout"),
        Row("forks-without-range -n 3 -l 2 --no-deaths --stopped 1:239 --late", "progress", note="figure 3 of the paper"),
    ]),
    ("Ours", [
        Row("courtesy -n 2", overtaken=(2, 1)),
        Row("courtesy -n 2 --aborts", overtaken=(2, 1)),
        Row("courtesy -n 2 --aborts --tso", overtaken=(2, 1)),
        Row("courtesy -n 2 --modes both --aborts", overtaken=(2, 1)),
        Row("courtesy -n 2 --units 1"),
        Row("courtesy -n 2 --units 1 --tso"),
        Row("courtesy -n 2 --units 2", note="acquires of one and of two"),
        Row("courtesy-units -n 2 --units 1"),
        Row("courtesy-units -n 2 --units 2"),
        Row("courtesy-units -n 2 --units 1 --aborts --tso"),
        Row("courtesy -n 2 --overtake 1 --aborts --tso", overtaken=(2, 1)),
        Row("courtesy -n 2 --overtake 2", overtaken=(2, 2)),
        Row("courtesy -n 2 --overtake 4", overtaken=(4, 4)),
        Row("courtesy-brief -n 2", note="with the brief looks that an engine makes first, at words alone"),
        Row("courtesy-brief -n 2 --aborts --tso", overtaken=(2, 1)),
        Row("courtesy-brief -n 2 --modes both"),
        Row("courtesy-brief -n 2 --overtake 2 --aborts", overtaken=(2, 2)),
        Row("courtesy-brief -n 2 --fences --aborts --tso"),
        Row("courtesy-brief -n 2 --units 1"),
        Row("courtesy-brief -n 2 --no-reduction --passages 2", note="numbers and incarnations as they are"),
        Row("courtesy-brief-without-quiet -n 2", "exclusion", note="the express look takes whoever is about for quiet"),
        Row("courtesy -n 2 --units 1 --strangers", note="a rival's place passes to a stranger"),
        Row("courtesy -n 2 --units 1 --watch 0", note="more rivals than one can watch"),
        Row("courtesy-units -n 2 --units 1 --watch 0 --passages 2", note="more rivals than one can watch"),
        Row("courtesy -n 2 --overtake 2 --watch 0", note="likewise"),
        Row("courtesy -n 2 -l 2 --watch 0", note="likewise"),
        Row("courtesy -n 2 -l 2 --units 1 --watch 0 --passages 1", note="likewise"),
        Row("courtesy -n 2 --convert --watch 0", note="likewise"),
        Row("courtesy -n 2 --strangers", note="a rival's place passes to a stranger"),
        Row("courtesy -n 2 --strangers --aborts --tso", note="likewise"),
        Row("courtesy -n 2 --strangers --overtake 2", note="likewise"),
        Row("courtesy -n 2 -l 2 --strangers", note="likewise"),
        Row("courtesy-units -n 2 --units 1 --strangers --passages 1", note="likewise"),
        Row("courtesy -n 2 --modes shared --halts 1", note="a reader that stands still is in no reader's way"),
        Row("courtesy -n 2 -l 2 --halts 1", note="one stands still, inside or in the queue"),
        Row("courtesy -n 2 -l 2 --aborts --tso"),
        Row("courtesy -n 2 -l 2 --units 1 --passages 2"),
        Row("courtesy -n 2 --fences --aborts"),
        Row("courtesy -n 2 --fences --aborts --tso"),
        Row("courtesy -n 2 --fences --units 1 --tso"),
        Row("courtesy -n 2 --tso --lost-stores", note="a death that overtakes the buffer: stronger than the kernel's"),
        Row("courtesy -n 2 -l 2 --tso --lost-stores"),
        Row("courtesy-units -n 2 --units 1 --tso --lost-stores"),
        Row("courtesy -n 2 --fences --tso --lost-stores", "exclusion", note="fences need the kernel's order: stored, then marked dead"),
        Row("courtesy -n 2 --fences --overtake 2", overtaken=(2, 2)),
        Row("courtesy -n 3 --fences --no-deaths --passages 1", note="a fence above those of two others"),
        Row("courtesy -n 2 --fences --units 1"),
        Row("courtesy -n 2 --precedence writers-first --modes both"),
        Row("courtesy -n 2 --precedence priority --aborts --tso"),
        Row("courtesy -n 2 --precedence writers-first --modes both --overtake 2"),
        Row("courtesy -n 2 --precedence priority --overtake 2 --aborts"),
        Row("courtesy -n 2 --no-reduction --passages 2 --aborts", note="numbers and incarnations as they are"),
        Row("courtesy -n 2 -l 2 --no-reduction --passages 2", note="likewise"),
        Row("courtesy -n 2 --units 1 --no-reduction --passages 1", note="likewise"),
        Row("courtesy -n 3 --no-express", quick=SLOW),
        Row("courtesy -n 3 --no-express --property exclusion --compact --symmetry", quick=SLOW, note="places taken for one another"),
        Row("courtesy -n 4 --passages 1 --property exclusion --compact --symmetry", quick=SLOW, note="likewise"),
        Row("courtesy-without-look -n 2 --overtake 3 --property exclusion --symmetry", "exclusion"),
        Row("courtesy -n 3 --memory 6G", quick=SLOW),
        Row("courtesy -n 3 --overtake 1 --no-express --memory 6G", quick=SLOW),
        Row("courtesy -n 3 -l 2 --aborts --passages 1"),
        Row("courtesy -n 3 -l 2 --no-deaths --halts 1 --passages 1", note="one stands still, inside or in the queue"),
        Row("courtesy -n 3 -l 2 --no-deaths --aborts --tso", quick=SLOW),
        Row("courtesy -n 3 --aborts --tso --passages 1"),
        Row("courtesy -n 3 --overtake 2 --no-deaths --passages 1"),
        Row("courtesy -n 3 --modes both --no-express --no-deaths --passages 1", quick=SLOW),
        Row("courtesy -n 3 --precedence priority --no-express --no-deaths --passages 1", quick=SLOW),
        Row("courtesy -n 3 -l 2 --tso --passages 1"),
        Row("courtesy -n 3 --no-express --tso", quick=SLOW),
        Row("courtesy -n 3 --tso --property exclusion", quick=SLOW),
        Row("courtesy-without-look -n 2 --overtake 3", "exclusion"),
        Row("courtesy-without-step-back -n 2 --overtake 3", "progress"),
        Row("courtesy-without-withdrawal -n 2 --overtake 3", "progress", note="a wake-up is lost"),
        Row("courtesy-without-bound -n 2 --overtake 2", "overtaking"),
        Row("courtesy-without-choosing -n 2", "exclusion"),
        Row("courtesy-without-choosing -n 2 --no-express", "overtaking"),
        Row("courtesy-without-incarnation -n 2", "reliability"),
        Row("courtesy-without-raise -n 2 --fences", "exclusion", note="fences must grow"),
        Row("courtesy-without-raise -n 2 --fences --tso", "exclusion"),
        Row("courtesy-without-sweep -n 2 --units 1 --strangers", "quiet", note="a watched place that is no rival any more"),
        Row("courtesy-without-heed -n 2 --units 1", "giving-up"),
        Row("courtesy-without-heed -n 2 --precedence writers-first --modes both", "giving-up"),
        Row("courtesy-units-without-sights -n 2 --units 1 --watch 0 --passages 2", "progress",
            note="a unit given back is not seen"),
        Row("courtesy-units-without-listening -n 2 --units 1 --watch 0 --passages 2 --no-deaths", "progress",
            note="roused just before it slept"),
        Row("courtesy-without-patience -n 2 -l 2", "quiet", note="claims, steps back, claims"),
        Row("courtesy-without-later -n 3 -l 2 --no-deaths", "exclusion", note="who is inside with a later ticket takes none"),
        Row("courtesy-without-recount -n 3 -l 2 --units 1 --no-deaths --property exclusion", "exclusion", quick=SLOW),
        Row("courtesy-without-rouse -n 2 -l 2 --units 1 --passages 2", "progress"),
        Row("courtesy-without-rousing -n 2 --units 1", "able", note="one aside is not told of a unit given back"),
        Row("courtesy-without-precedence -n 2 --precedence priority", "precedence"),
        Row("courtesy-without-precedence -n 2 --precedence writers-first --modes both", "precedence"),
        Row("courtesy-without-slots -n 2 -l 2", "reached", note="the second slot is never used"),
        Row("courtesy -n 2 --convert", note="who is inside changes its mode, up and down"),
        Row("courtesy -n 2 --convert --aborts --tso", overtaken=(2, 1)),
        Row("courtesy -n 2 --convert --overtake 2", overtaken=(2, 2)),
        Row("courtesy -n 2 --convert --overtake 1 --aborts --tso"),
        Row("courtesy -n 2 --convert --tso --lost-stores"),
        Row("courtesy -n 2 --convert --modes exclusive,shared,protected-write --aborts --tso", note="three modes, of which two share"),
        Row("courtesy -n 2 --convert --fences --passages 1", note="an upgrade gets a fence above all before that exclude it"),
        Row("courtesy -n 2 --convert --fences --no-deaths --passages 2", note="likewise"),
        Row("courtesy -n 2 --convert --no-reduction --passages 2", quick=SLOW, note="numbers and incarnations as they are"),
        Row("courtesy -n 3 --convert --no-deaths --passages 1", quick=SLOW),
        Row("courtesy -n 3 --convert --passages 1 --property exclusion --compact", quick=SLOW),
        Row("courtesy-convert-without-store -n 2 --convert", "exclusion", note="looks, and then says that it upgrades"),
        Row("courtesy-convert-without-express -n 2 --convert", "exclusion"),
        Row("courtesy-convert-without-stronger -n 2 --convert", "exclusion", note="the mode that it wants is not in its word"),
        Row("courtesy-convert-without-way -n 2 --convert", "exclusion", note="a claimant keeps its claim"),
        Row("courtesy-convert-without-refusal -n 2 --convert", "progress", note="two that upgrade wait for each other"),
        Row("courtesy-convert-without-call -n 2 --convert", "progress", note="a claimant sleeps on"),
        Row("courtesy-convert-without-turn -n 2 --convert", "lockout", note="comes in beside readers, upgrades, and so again"),
        Row("courtesy -n 2 --rename 1", note="places take another name, or die and are claimed by any"),
        Row("courtesy -n 2 --rename 1 --fences --aborts --tso"),
        Row("courtesy -n 2 --rename 1 --alike --fences --aborts", note="both names have one tag, and one count"),
        Row("courtesy -n 2 --rename 1 --passages 2 --no-deaths --fences"),
        Row("courtesy -n 2 --rename 2 --no-deaths --fences", note="to the other name, and back"),
        Row("courtesy -n 2 --rename 2 --fences --aborts --tso", quick=SLOW),
        Row("courtesy-rename-without-behind -n 2 --rename 1", "progress", note="waits for a passage of another name"),
        Row("courtesy-rename-without-before -n 2 --rename 1", "exclusion", note="one that came while it gathered is missed"),
        Row("courtesy-rename-without-below -n 2 --rename 1 --fences", "exclusion", note="a fence twice"),
        Row("courtesy-rename-without-life -n 2 --rename 1", "progress", note="who knew it takes it for a rival"),
        Row("courtesy-rename-without-number -n 2 --rename 1 --fences", "exclusion", note="a fence twice"),
        Row("courtesy-rename-without-tag -n 2 --rename 1", "exclusion", note="it has been counted, and is not found"),
        Row("courtesy-rename-without-count -n 2 --rename 1", "exclusion", note="those of its new name do not look at it"),
        Row("courtesy-rename-without-anew -n 2 --rename 2 --passages 2 --no-deaths", "exclusion",
            note="takes one for a stranger, as it was by the old name"),
        Row("courtesy-asks -n 2", note="asked for: it is linked, looks, rests; a helper stirs it, and the program goes on"),
        Row("courtesy-asks -n 2 --aborts --tso", note="giving up: withdrawn"),
        Row("courtesy-asks -n 2 --modes both --aborts"),
        Row("courtesy-asks -n 2 --overtake 2 --aborts", overtaken=(2, 2)),
        Row("courtesy-asks -n 2 -l 2 --aborts --tso"),
        Row("courtesy-asks -n 2 --fences --aborts --tso"),
        Row("courtesy-asks -n 3 --passages 1 --no-express"),
        Row("courtesy-asks-hinted -n 2 --aborts --tso", note="who leaves makes the descriptor readable, or wakes the helper"),
        Row("courtesy-asks-hinted -n 2 --modes both --aborts"),
        Row("courtesy-asks-hinted -n 3 --passages 1 --no-express"),
        Row("courtesy-asks-hints-alone -n 2", "progress", note="a hint is refused, and no helper woken"),
        Row("courtesy-asks-linking-late -n 2", "progress", note="looks before it is watched for: a wake-up is lost"),
        Row("courtesy-asks-draining-late -n 2", "progress", note="reads the descriptor after it has looked: a wake-up is lost"),
        Row("courtesy-retain -n 2 --aborts"),
        Row("courtesy-retain -n 2 --modes shared", note="a reader leaves another reader's right alone"),
        Row("courtesy-retain -n 2 --modes both --no-deaths --passages 2", note="no right serves in another mode"),
        Row("courtesy-retain -n 2 --modes both --passages 2 --property exclusion,progress,quiet,giving-up",
            note="lockout and reliability are not judged: here a rival makes the keeper's steps, and may chase right after right; "
                 "an engine's looks again"),
        Row("courtesy-retain -n 2 --aborts --tso --passages 3", note="without end the owner's stores would fill any buffer"),
        Row("courtesy-retain -n 2 --fences --tso --passages 3"),
        Row("courtesy-retain -n 2 --fences"),
        Row("courtesy-retain -n 3 --no-express --passages 1"),
        Row("courtesy-retain -n 3 --passages 1 --aborts --tso", quick=SLOW),
        Row("courtesy-retain -n 3 --passages 1 --overtake 2", quick=SLOW),
        Row("courtesy-retain-brief -n 2 --aborts", note="with brief looks at words alone"),
        Row("courtesy-retain-brief -n 2 --modes shared"),
        Row("courtesy-retain-brief -n 2 --fences --tso --passages 3"),
        Row("courtesy-retain -n 2 --fences --overtake 2"),
        Row("courtesy-retain -n 2 --fences --overtake 3"),
        Row("courtesy-retain -n 2 --fences --overtake 4", quick=SLOW),
        Row("courtesy-retain -n 2 --no-reduction --passages 3 --tso", quick=SLOW),
        Row("courtesy-retain-without-recall -n 2", "exclusion"),
        Row("courtesy-retain-without-barrier -n 2 --tso --passages 2", "exclusion", note="membarrier, in the place of the owner's fence"),
        Row("courtesy-retain-without-retained -n 2 --fences --overtake 3", "exclusion", note="a fence twice"),
    ]),
    ("Weak memory: C11, with deaths", [
        Row("pair --memory-model c11"),
        Row("pair --memory-model c11 --passages 4", quick=SLOW),
        Row("pair --memory-model c11 --lag 4", note="passages without bound"),
        Row("pair --memory-model c11 --lag 8", quick=SLOW, note="passages without bound"),
        Row("pair --memory-model c11 --passages 2 --aborts"),
        Row("pair --memory-model c11 --passages 2 --no-fence B", "exclusion"),
        Row("pair --memory-model c11 --passages 2 --no-fence D", "exclusion"),
        Row("pair --memory-model c11 --passages 2 --no-fence F", "exclusion"),
        Row("pair --memory-model c11 --passages 2 --no-fence death", "exclusion", note="the kernel's barrier"),
        Row("pair --memory-model c11 --passages 2 --relax death", "exclusion", note="the kernel's store"),
        Row("pair --memory-model c11 --passages 2 --relax E", "exclusion"),
        Row("pair --memory-model c11 --passages 2 --relax F", "exclusion"),
        Row("races -n 2 --memory-model c11 --passages 2"),
        Row("races -n 2 --memory-model c11 --lag 4", note="passages without bound"),
        Row("races -n 2 --memory-model c11 --passages 2 --no-fence B", "exclusion"),
        Row("races -n 2 --memory-model c11 --passages 2 --no-fence D", "exclusion"),
        Row("races -n 2 --memory-model c11 --passages 2 --no-fence F", "exclusion"),
        Row("races -n 2 --memory-model c11 --passages 2 --no-fence death", "exclusion"),
        Row("clock -n 2 --memory-model c11 --passages 1"),
        Row("clock -n 2 --memory-model c11 --lag 2", quick=SLOW, note="passages without bound"),
        Row("clock -n 2 --memory-model c11 --lag 3 --passages 2 --no-fence B", "exclusion", quick=SLOW),
        Row("clock -n 2 --memory-model c11 --lag 3 --passages 2 --no-fence step_3", "exclusion", quick=SLOW),
        Row("clock -n 2 --memory-model c11 --lag 3 --passages 2 --no-fence step_6", "exclusion"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2"),
        Row("bakery -n 2 --memory-model c11 --passages 2", quick=SLOW),
        Row("bakery -n 2 --modes exclusive --memory-model c11", quick=SLOW),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --no-fence choosing", "exclusion"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --no-fence number", "exclusion"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --no-fence death",
            note="the kernel's barrier is not needed here"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --relax death", "exclusion", note="a race"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --relax choosing", "exclusion", note="a race"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --relax look", "exclusion", note="a race"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --relax chosen", "exclusion", note="a race"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --relax turn", "exclusion", note="a race"),
        Row("bakery -n 2 --modes exclusive --memory-model c11 --passages 2 --relax epilogue", "exclusion", note="a race"),
        Row("bakery -n 3 --modes exclusive --memory-model c11 --passages 1 --property exclusion", quick=SLOW),
        Row("region -n 2 --modes exclusive --memory-model c11 --passages 1 --lag 4"),
        Row("region -n 2 --modes exclusive --memory-model c11 --passages 2 --lag 4", quick=SLOW),
        Row("region -n 2 --modes exclusive --memory-model c11 --passages 1 --lag 4 --no-fence mode", "exclusion"),
        Row("region -n 2 --modes exclusive --memory-model c11 --passages 1 --lag 4 --no-fence number", "exclusion"),
        Row("region -n 2 --precedence writers-first --memory-model c11 --passages 2 --lag 4 --no-fence pair_choosing "
            "--property exclusion", "exclusion", quick=SLOW),
        Row("region -n 2 --precedence writers-first --memory-model c11 --passages 2 --lag 4 --no-fence pair_number "
            "--property exclusion", "exclusion", quick=SLOW),
        Row("courtesy -n 2 --memory-model c11 --passages 1"),
        Row("courtesy -n 2 --memory-model c11 --passages 1 --overtake 2 --aborts"),
        Row("courtesy -n 2 --memory-model c11 --passages 2", quick=SLOW),
        Row("courtesy -n 2 --memory-model c11 --passages 1 -l 2"),
        Row("courtesy -n 3 --no-express --memory-model c11 --passages 1 --property exclusion --compact", quick=SLOW),
        Row("courtesy -n 3 --no-deaths --memory-model c11 --passages 1 --property exclusion --compact", quick=SLOW),
        Row("courtesy -n 3 --memory-model c11 --passages 1 --property exclusion --compact", quick=SLOW),
        Row("courtesy-units -n 2 --units 1 --memory-model c11 --passages 1"),
        Row("courtesy -n 2 --memory-model c11 --passages 1 --no-fence choosing", "order"),
        Row("courtesy -n 2 --memory-model c11 --passages 1 --no-fence queued", "order"),
        Row("courtesy -n 2 --memory-model c11 --passages 1 --no-fence express", "exclusion"),
        Row("courtesy -n 2 --memory-model c11 --passages 1 --no-fence epilogue", "progress", note="a wake-up is lost"),
        Row("courtesy -n 2 --memory-model c11 --passages 1 --no-fence death", "progress", note="a death wakes, and is not seen"),
        Row("courtesy-units -n 2 --units 1 --memory-model c11 --passages 1 --no-fence give_back", "progress",
            note="a unit given back is not seen"),
        Row("courtesy -n 2 --memory-model c11 --passages 2 --overtake 3 --no-fence claim", "exclusion", quick=SLOW),
        Row("firmware-bakery --no-deaths --memory-model c11", note="ARM Trusted Firmware's, mended in 2018"),
        Row("firmware-bakery -n 3 --no-deaths --memory-model c11 --passages 1"),
        Row("firmware-bakery --no-deaths --memory-model c11 --no-fence acquired", "exclusion", note="a race"),
        Row("firmware-bakery --no-deaths --memory-model c11 --no-fence releases", "exclusion", note="a race"),
        Row("firmware-bakery-unfenced --no-deaths --memory-model c11", "exclusion", note="as it was until 2018"),
    ]),
    ("By messages: Lamport 1978, Ricart & Agrawala 1981, Carvalho & Roucairol 1983, the token", [
        Row("lamport -n 2 --requests 0"),
        Row("lamport -n 3 --requests 1"),
        Row("lamport -n 2 --crashes 1 --joins 1"),
        Row("lamport -n 2 --requests 1 --crashes 2 --joins 2", note="one that has not asked yet is left alone"),
        Row("lamport -n 2 --modes exclusive,shared", note="readers are inside together"),
        Row("lamport -n 2 --modes exclusive,shared --crashes 1 --joins 1"),
        Row("lamport -n 3 --requests 1 --crashes 1 --joins 1", quick=SLOW),
        Row("ricart-agrawala -n 3 --requests 0"),
        Row("ricart-agrawala -n 4 --requests 0 --network agreed", quick=SLOW),
        Row("ricart-agrawala -n 2 --requests 1 --crashes 2 --joins 2"),
        Row("ricart-agrawala -n 3 --requests 1 --crashes 1"),
        Row("ricart-agrawala -n 3 --requests 1 --crashes 1 --joins 1", quick=SLOW),
        Row("ricart-agrawala -n 3 --requests 1 --crashes 2 --joins 2", quick=SLOW),
        Row("ricart-agrawala -n 2 --modes exclusive,shared --crashes 1 --joins 1"),
        Row("carvalho-roucairol -n 3", messages=(0, 4)),
        Row("carvalho-roucairol -n 2 --modes exclusive,shared --crashes 1 --joins 1"),
        Row("carvalho-roucairol -n 2 --modes exclusive,shared,protected-write,concurrent-write,concurrent-read,null", messages=(0, 2)),
        Row("carvalho-roucairol -n 3 --requests 1 --modes exclusive,shared", note="two that wait, of which neither minds the other"),
        Row("carvalho-roucairol -n 2 --requests 1 --crashes 2 --joins 2", note="one that has not asked yet is left alone"),
        Row("carvalho-roucairol -n 3 --crashes 1 --joins 1", quick=SLOW),
        Row("carvalho-roucairol -n 3 --requests 1 --crashes 2 --joins 2", quick=SLOW),
        Row("token -n 3", messages=(0, 3)),
        Row("token -n 3 --requests 1 --crashes 1"),
        Row("token -n 3 --requests 1 --crashes 1 --joins 1"),
        Row("token -n 4 --requests 1", quick=SLOW, messages=(0, 4)),
        Row("token -n 3 --crashes 1 --joins 1", quick=SLOW),
        Row("token -n 3 --requests 1 --crashes 2 --joins 2", quick=SLOW),
        Row("token -n 3 --requests 1 --crashes 3 --joins 2", quick=SLOW),
        Row("token -n 2 --crashes 1 --joins 1"),
        Row("token -n 2 --requests 1 --crashes 2 --joins 2", note="one that comes back twice"),
        Row("token -n 2 --crashes 2 --joins 2", note="likewise"),
        Row("token -n 2 --crashes 1 --joins 1 --property agreement"),
        Row("token -n 3 --requests 1 --crashes 1 --property agreement"),
        Row("token -n 3 --requests 1 --crashes 1 --joins 1 --property agreement"),
        Row("token -n 3 --requests 1 --crashes 2 --joins 2 --property agreement", "agreement", quick=SLOW,
            note="a newcomer takes one that came back for the holder, until the next TOKEN"),
        Row("carvalho-roucairol -n 2 --crashes 1 --joins 1", note="whoever is lost has died, or is cut off and told"),
        Row("lamport-ddclock -n 3 --requests 1", note="the clock ticks at every event"),
        Row("ricart-agrawala-ring -n 3", note="node by node"),
        Row("ricart-agrawala-ring -n 4 --requests 1"),
        Row("token-circulating -n 3"),
        Row("token-elected -n 3 --requests 1", note="the token is made by one pass"),
        Row("token-elected -n 3", quick=SLOW),
        Row("carvalho-roucairol -n 3 --property request-order", "request-order", note="claimed in the authors' response"),
        Row("carvalho-roucairol -n 3 --property received-order", note="what is true of it"),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 1 --joins 1 --property received-order"),
        Row("carvalho-roucairol -n 2 --modes exclusive,shared,concurrent-read --property received-order"),
        Row("carvalho-roucairol-never-defers -n 3 --property received-order", "received-order"),
        Row("token -n 3 --property received-order", "received-order", note="the token goes round, whoever asked first"),
        Row("lamport -n 3 --requests 1 --property fact-1", "fact-1", note="a step of Garg's proof"),
        Row("lamport -n 2 --requests 1 --network reordered", "exclusion", note="the paper asks for channels that keep order"),
        Row("lamport-no-acknowledgement -n 2 --requests 1", "exclusion"),
        Row("lamport-out-of-turn -n 2", "exclusion"),
        Row("lamport-newcomer-not-told -n 2 --crashes 1 --joins 1", "exclusion"),
        Row("lamport-waits-for-the-dead -n 2 --requests 1 --crashes 1", "deadlock"),
        Row("ricart-agrawala-published -n 2 --crashes 2 --joins 2", "exclusion", note="as published"),
        Row("ricart-agrawala-no-inside-test -n 3 --requests 1 --crashes 2 --joins 2", "exclusion", quick=SLOW),
        Row("ricart-agrawala-own-number-unheard -n 3", "fairness"),
        Row("ricart-agrawala-bare-reply -n 3", "fairness"),
        Row("ricart-agrawala-unfair -n 3", "fairness"),
        Row("ricart-agrawala-ring-never-keeps -n 3", "fairness"),
        Row("ricart-agrawala-ring-unfair -n 3", "fairness"),
        Row("ricart-agrawala-never-defers -n 2 --requests 1", "fairness"),
        Row("ricart-agrawala-waits-for-the-dead -n 2 --requests 1 --crashes 1", "deadlock"),
        Row("ricart-agrawala-no-incarnations -n 3 --crashes 1 --joins 1", "fairness", quick=SLOW),
        Row("ricart-agrawala-fence-without-view -n 2 --requests 1 --crashes 1", "fence"),
        Row("ricart-agrawala-deaf -n 3", "reached", note="nobody ever asks, so nothing else can break"),
        Row("ricart-agrawala-alone -n 2 --modes exclusive,shared", "reached", note="readers are never inside together"),
        Row("carvalho-roucairol-no-ask-again -n 3", "deadlock"),
        Row("carvalho-roucairol-never-defers -n 3", "exclusion"),
        Row("carvalho-roucairol-divisible -n 2", "exclusion"),
        Row("carvalho-roucairol-preset-newcomer -n 2 --crashes 1 --joins 1", "exclusion"),
        Row("carvalho-roucairol-preset-newcomer -n 2 --crashes 1 --joins 1 --property permissions", "permissions"),
        Row("carvalho-roucairol-nobodys-permission -n 3 --requests 1 --crashes 1 --joins 1", "deadlock"),
        Row("carvalho-roucairol-no-incarnations -n 3 --crashes 1 --joins 1", "exclusion", quick=SLOW),
        Row("carvalho-roucairol-fence-without-view -n 2 --requests 1 --crashes 1", "fence"),
        Row("carvalho-roucairol-cut-untold -n 2 --requests 1 --crashes 1", "cut", note="a node that is cut off says nothing to its user"),
        Row("token-regenerated-twice -n 3 --requests 1 --crashes 1", "exclusion"),
        Row("token-regenerated-twice -n 3 --requests 1 --crashes 1 --property agreement", "agreement"),
        Row("token-not-taken-back -n 3 --requests 1 --crashes 1", "deadlock"),
        Row("token-established-early -n 3 --requests 1 --crashes 2 --joins 1", "deadlock"),
        Row("token-fence-without-view -n 2 --requests 1 --crashes 1", "fence"),
        Row("token-circulating-hasty -n 2", "exclusion"),
        Row("token-elected-twice -n 3", "exclusion"),
        Row("carvalho-roucairol-no-inside-test -n 2 --requests 1", "exclusion"),
        Row("carvalho-roucairol-fence-not-carried -n 2 --requests 1", "fence"),
        Row("lamport-fence-not-carried -n 2", "fence"),
    ]),
    ("By messages, over links beside a ledger of the changes", [
        Row("carvalho-roucairol --links -n 2 --crashes 2 --joins 2"),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 1 --joins 1", note="each installs the changes at its own moment"),
        Row("carvalho-roucairol --links -n 2 --crashes 1 --joins 1 --network reordered", note="links need not keep their order"),
        Row("carvalho-roucairol --links -n 2 --modes exclusive,shared --crashes 1 --joins 1"),
        Row("carvalho-roucairol --links -n 2 --convert --modes exclusive,protected-write,concurrent-read --crashes 1 --joins 1",
            note="a stronger or a weaker mode while inside"),
        Row("carvalho-roucairol -n 2 --convert --modes exclusive,shared,concurrent-write,concurrent-read"),
        Row("carvalho-roucairol -n 3 --requests 1 --convert --modes exclusive,protected-write,concurrent-read", quick=SLOW),
        Row("carvalho-roucairol --links -n 2 --convert --modes exclusive,shared,concurrent-read --deaths 1",
            note="a user dies that waits for a stronger mode"),
        Row("carvalho-roucairol --links -n 2 --convert --modes exclusive,shared,concurrent-read --crashes 1 --joins 1 --deaths 1", quick=SLOW),
        Row("carvalho-roucairol-mode-not-kept -n 2 --convert --modes exclusive,protected-write,concurrent-read", "exclusion"),
        Row("carvalho-roucairol-later-let-in -n 2 --convert --modes exclusive,protected-write,concurrent-read", "exclusion"),
        Row("carvalho-roucairol-nobody-let-in -n 2 --convert --modes exclusive,protected-write,concurrent-read", "deadlock"),
        Row("carvalho-roucairol --links -n 2 --precedence priority --modes exclusive,shared", note="who waits may be urged on, in another mode"),
        Row("carvalho-roucairol --links -n 2 --precedence priority --crashes 1 --joins 1"),
        Row("carvalho-roucairol --links -n 2 --precedence priority --modes exclusive,shared --requests 1 --crashes 1 --joins 1 --deaths 1"),
        Row("carvalho-roucairol --links -n 2 --precedence priority --requests 1 --convert --modes exclusive,protected-write,concurrent-read --crashes 1 --joins 1"),
        Row("carvalho-roucairol --links -n 3 --precedence priority --requests 1", quick=SLOW),
        Row("carvalho-roucairol --links -n 2 --precedence priority --modes exclusive,shared,concurrent-write,concurrent-read", quick=SLOW),
        Row("carvalho-roucairol --links -n 2 --precedence priority --convert --modes exclusive,protected-write,concurrent-read", quick=SLOW),
        Row("carvalho-roucairol --links -n 2 --precedence priority --network reordered --property exclusion", "exclusion",
            note="with ranks, links must keep their order"),
        Row("carvalho-roucairol-rank-not-first --links -n 2", "precedence"),
        Row("carvalho-roucairol-urge-not-said --links -n 2", "deadlock"),
        Row("carvalho-roucairol-urge-answered --links -n 2 --property exclusion", "exclusion"),
        Row("carvalho-roucairol-urge-not-awaited --links -n 2 --modes exclusive,shared", "deadlock"),
        Row("carvalho-roucairol-bare-reply --links -n 2 --modes exclusive,shared", "exclusion"),
        Row("carvalho-roucairol-ranks-not-kept --links -n 2 --convert --modes exclusive,protected-write,concurrent-read --property exclusion,deadlock",
            "exclusion"),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 1 --joins 1 --network reordered", quick=SLOW),
        Row("carvalho-roucairol --links -n 3 --crashes 1 --joins 1", quick=SLOW),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 2 --joins 2", quick=SLOW),
        Row("ricart-agrawala --links -n 2 --crashes 2 --joins 2"),
        Row("ricart-agrawala --links -n 2 --modes exclusive,shared --crashes 1 --joins 1"),
        Row("ricart-agrawala --links -n 3 --requests 1 --crashes 1 --joins 1", quick=SLOW),
        Row("ricart-agrawala --links -n 3 --requests 1 --crashes 2 --joins 1", quick=SLOW),
        Row("lamport --links -n 2 --crashes 1 --joins 1"),
        Row("lamport --links -n 2 --modes exclusive,shared --crashes 1 --joins 1"),
        Row("lamport --links -n 3 --requests 1 --crashes 1", quick=SLOW),
        Row("lamport-links-unwelcomed --links -n 2 --crashes 1 --joins 1 --property exclusion,fence,deadlock",
            note="what WELCOME does not buy"),
        Row("ricart-agrawala-links-unwelcomed --links -n 3 --requests 1 --crashes 1 --joins 1 --property exclusion,fence,deadlock",
            quick=SLOW, note="what WELCOME does not buy"),
        Row("lamport-links-unwelcomed --links -n 3 --requests 1 --crashes 1 --joins 1", "fairness", quick=SLOW),
        Row("ricart-agrawala-links-unwelcomed --links -n 3 --requests 1 --crashes 1 --joins 1", "fairness"),
        Row("carvalho-roucairol-links-not-held --links -n 2 --requests 1 --crashes 1 --joins 1", "deadlock"),
        Row("carvalho-roucairol-links-not-closed --links -n 3 --requests 1 --crashes 1", "exclusion"),
        Row("carvalho-roucairol-links-buried-early --links -n 2 --requests 1 --crashes 1 --property exclusion", "exclusion"),
        Row("carvalho-roucairol-no-incarnations --links -n 3 --crashes 1 --joins 1 --property exclusion", "exclusion"),
        Row("carvalho-roucairol-nobodys-permission --links -n 3 --requests 1 --crashes 1 --joins 1", "deadlock"),
        Row("carvalho-roucairol-preset-newcomer --links -n 2 --requests 1 --crashes 1 --joins 1", "exclusion"),
        Row("carvalho-roucairol-fence-without-view --links -n 2 --requests 1 --crashes 1", "fence"),
        Row("carvalho-roucairol-fence-not-carried --links -n 2 --requests 1", "fence"),
        Row("carvalho-roucairol-no-inside-test --links -n 2 --requests 1", "exclusion"),
        Row("carvalho-roucairol-no-ask-again --links -n 3", "deadlock"),
        Row("ricart-agrawala-waits-for-the-dead --links -n 2 --requests 1 --crashes 1", "deadlock"),
        Row("ricart-agrawala-links-newcomer-not-asked --links -n 3 --requests 1 --crashes 1 --joins 1 --property exclusion", "exclusion"),
        Row("lamport-newcomer-not-told --links -n 2 --crashes 1 --joins 1", "exclusion"),
        Row("lamport-links-not-lowest --links -n 2 --crashes 1 --joins 1 --property exclusion", "exclusion"),
        Row("lamport-fence-not-carried --links -n 2", "fence"),
        Row("lamport --links -n 2 --requests 1 --network reordered", "exclusion", note="Lamport's algorithm needs their order"),
    ]),
    ("Over links, who is told of deaths inside", [
        Row("carvalho-roucairol --links -n 2 --crashes 2 --joins 2 --deaths 2", note="users, nodes, cuts, farewells"),
        Row("carvalho-roucairol --links -n 2 --crashes 1 --joins 1 --deaths 1 --modes exclusive,shared"),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 1 --deaths 1"),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 1 --joins 1 --deaths 1", quick=SLOW),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 2 --joins 1 --deaths 1", quick=SLOW),
        Row("carvalho-roucairol --links -n 3 --requests 1 --crashes 1 --joins 1 --deaths 1 --modes exclusive,shared", quick=SLOW),
        Row("carvalho-roucairol-links-buried-well -n 2 --crashes 1 --deaths 1", "told"),
        Row("carvalho-roucairol-links-death-not-carried -n 2 --deaths 1", "told"),
        Row("carvalho-roucairol-links-told-not-carried -n 2 --deaths 1", "told", note="told twice"),
        Row("carvalho-roucairol-links-no-last-words -n 2 --crashes 1 --deaths 1", "told"),
        Row("carvalho-roucairol-links-hasty-farewell -n 2 --crashes 2 --joins 1 --deaths 1", "told"),
        Row("carvalho-roucairol-links-told-by-grant -n 2 --deaths 1", "told"),
        Row("carvalho-roucairol-links-told-in-company -n 2 --deaths 1 --modes exclusive,shared", "told"),
        Row("carvalho-roucairol-links-view-not-installed -n 3 --requests 1 --crashes 1 --joins 1 --deaths 1 --property told", "told"),
    ]),
    ("Over links, units that are held beyond a passage", [
        Row("carvalho-roucairol --units 1 -n 2 --crashes 2 --joins 2", note="crashes, cuts, agents that are followed by others"),
        Row("carvalho-roucairol --units 2 --take 2 -n 2 --crashes 1 --joins 1", note="a large request beside small ones"),
        Row("carvalho-roucairol --units 2 --take 2 -n 3 --requests 1"),
        Row("carvalho-roucairol --units 1 -n 3 --requests 1 --crashes 1 --joins 1", quick=SLOW),
        Row("carvalho-roucairol --units 2 --take 2 -n 3 --requests 1 --crashes 1 --joins 1", quick=SLOW),
        Row("carvalho-roucairol-units-bare-reply --units 1 -n 2", "units"),
        Row("carvalho-roucairol-units-bare-changed --units 1 -n 2", "progress", note="one looks again and again, and sees what it saw"),
        Row("carvalho-roucairol-units-no-version --units 1 -n 2", "deadlock"),
        Row("carvalho-roucairol-units-late-watch --units 1 -n 2", "deadlock"),
        Row("carvalho-roucairol-units-silent-burial --units 1 -n 2 --crashes 1", "deadlock"),
        Row("carvalho-roucairol-units-old-copies --units 1 -n 2 --crashes 1 --joins 1", "deadlock"),
        Row("carvalho-roucairol-units-unannounced --units 1 -n 2 --crashes 1 --joins 1", "units"),
        Row("carvalho-roucairol-units-give-way --units 2 --take 2 -n 3 --requests 2", "turn", note="small requests pass a large one"),
        Row("carvalho-roucairol --units 1 -n 2 --network reordered", "units", note="units need the links' order"),
    ]),
    ("The link itself: messages in order, each once, over connections that fail", [
        Row("link", note="breaks, half-open, one way only, two at once; a detour through the ledger"),
        Row("link --connections 3"),
        Row("link --requests 2 --connections 1"),
        Row("link-no-resend", note="the ledger brings what a new connection does not"),
        Row("link-takes-duplicates", "delivery"),
        Row("link-takes-gaps --requests 2", "delivery"),
        Row("link-trusts-the-kernel", "progress"),
        Row("link-no-detour", "progress"),
        Row("link-never-doubts", "progress"),
        Row("link-answers-once", "progress"),
    ]),
]


def run(afteryou, row):
    """The verdict as the checker's JSON, with the exit status beside it."""
    began = time.monotonic()
    done = subprocess.run([afteryou, "check", *row.words, "--json"], capture_output=True, text=True)
    if done.returncode == 125:
        raise SystemExit(f"afteryou check {' '.join(row.words)}: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    answer["status"] = done.returncode
    answer.setdefault("seconds", time.monotonic() - began)
    return of_messages(answer) if "nodes" in answer else answer


def of_messages(answer):
    """The answer on a message protocol, in the words of one on registers."""
    judged = {name: {"answer": "holds"} for name in ("safety", "progress", "lockout", "reached")}
    if "broken" in answer:
        judged = {answer["broken"].partition(":")[0]: {"answer": "broken", "run": [None] * answer["steps"]}}
    elif "fewest_messages" in answer:
        answer["messages"] = answer["fewest_messages"], answer["greatest_messages"]
    return answer | {"properties": judged, "end": "all states" if answer["exhausted"] else "a limit was met"}


def broken(answer):
    return [name for name, finding in answer["properties"].items() if finding["answer"] == "broken"]


def complaint(row, answer):
    """None, or why the row fails."""
    if row.found == HOLDS:
        if answer["status"] != 0 or not answer["exhausted"]:
            return f"must hold; exit {answer['status']}, broken: {broken(answer) or 'nothing'}, {answer['end']}"
    elif answer["status"] != 1 or row.found not in broken(answer):
        return f"must be refuted by {row.found}; exit {answer['status']}, broken: {broken(answer) or 'nothing'}, {answer['end']}"
    if row.overtaken:
        seen = answer["overtaken"]["from_active"], answer["overtaken"]["from_queue"]
        if seen != row.overtaken:
            return f"overtaken {seen} times, not {row.overtaken}"
    if row.messages and answer["messages"] != row.messages:
        return "{} … {} messages a passage, not {} … {}".format(*answer["messages"], *row.messages)
    return None


def refuted(row, answer):
    """What was never reached has no run that shows it."""
    run = answer["properties"][row.found].get("run")
    return f"refuted: {row.found}" + (f", in {len(run)} steps" if run else "")


def table(out, groups):
    out.write("# What was checked\n\nMade by `./dev guarantees` with the repository's own checker; every row is a command that anyone can"
              " run.\nA row that must be refuted and is not fails the run, like one that must hold and does not.\n"
              "Deaths after any step are in every row on registers that does not say otherwise; a row on messages says how many crash and come back.\n"
              "*Safety* of messages is exclusion, growing fences, fairness where it is promised, no deadlock, and the permissions of Carvalho–Roucairol.\n")
    for title, rows in groups:
        out.write(f"\n## {title}\n\n| `afteryou check` … | verdict | states | depth | s | MB | |\n|---|---|---:|---:|---:|---:|---|\n")
        for row, answer in rows:
            verdict = "holds: " + ", ".join(answer["properties"]) if row.found == HOLDS else refuted(row, answer)
            note = row.note
            if "overtaken" in answer:
                bounds = ["no bound" if bound is None else str(bound) for bound in answer["overtaken"].values()]
                note += ("; " if note else "") + f"overtaken ≤ {bounds[0]} ({bounds[1]} from the queue)"
            if "messages" in answer:
                note += ("; " if note else "") + "{} … {} messages a passage".format(*answer["messages"])
            megabytes = answer["bytes"] >> 20 if "bytes" in answer else ""
            out.write(f"| `{' '.join(row.words)}` | {verdict} | {answer['states']:,} | {answer['depth']} |"
                      f" {answer['seconds']:.1f} | {megabytes} | {note} |\n")


def without_a_row(afteryou):
    """What the checker lists and no row checks."""
    listed = subprocess.run([afteryou, "check", "--list"], capture_output=True, text=True, check=True).stdout
    return sorted({line.split()[0] for line in listed.splitlines() if line} - {row.words[0] for _, rows in ROWS for row in rows})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--afteryou", default="build/afteryou")
    parser.add_argument("--quick", action="store_true", help="only the rows that take seconds")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many searches at once; a slow one may take 6 GB")
    parser.add_argument("--write", metavar="FILE")
    words = parser.parse_args()
    groups = []
    jobs = concurrent.futures.ThreadPoolExecutor(words.jobs)
    missing = without_a_row(words.afteryou)
    failed = len(missing)
    for name in missing:
        print(f"FAIL  {name}: afteryou check --list names it, and no row checks it")
    for title, rows in ROWS:
        done, asked = [], [row for row in rows if row.quick or not words.quick]
        for row, answer in zip(asked, jobs.map(functools.partial(run, words.afteryou), asked)):
            wrong = complaint(row, answer)
            failed += wrong is not None
            print(f"{'FAIL' if wrong else 'ok'}  {' '.join(row.words)}: {wrong or row.found}, {answer['states']} states,"
                  f" {answer['seconds']:.1f} s", flush=True)
            done.append((row, answer))
        groups.append((title, done))
    if words.write and not failed:
        with open(words.write, "w", encoding="utf-8") as out:
            table(out, groups)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
