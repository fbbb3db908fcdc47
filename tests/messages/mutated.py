#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The auditor and a second, simple judge (judge.py) agree on runs that were mutated at random.

  mutated.py AFTERYOU [TRACES [SEED]]

Runs are those of the simulator, and made up: with and without messages, with modes, slots, units, spaces, deaths and joinings. Then
records are left out, doubled, exchanged, given to others and changed.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from beside import BESIDE
from judge import Judge

AFTERYOU = os.path.abspath(sys.argv[1])
TRACES = int(sys.argv[2]) if len(sys.argv) > 2 else 300
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
MODES = list(BESIDE)
PROTOCOLS = ["lamport", "ricart-agrawala", "carvalho-roucairol", "token", "ricart-agrawala-ring", "token-circulating",
             "token-elected", "ricart-agrawala-unfair", "carvalho-roucairol-never-defers"]


def simulated(chance, path):
    protocol = chance.choice(PROTOCOLS)
    words = ["-n", str(chance.randint(2, 5)), "--passages", str(chance.randint(2, 14)), "--seed", str(chance.randint(1, 10**9))]
    if protocol in PROTOCOLS[:4]:
        words += chance.choice([[], ["--crash", "0.05"], ["--crash", "0.2"], ["--partition", "0.05"]])
        words += [] if protocol == "token" else chance.choice([[], ["--shared", "0.5"], ["--network", "links"]])
    subprocess.run([AFTERYOU, "simulate", protocol, *words, "--events", "400", "--trace", path], capture_output=True, check=False)
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class MadeUp:
    """Processes that ask, enter, leave, send, receive, die and join as chance has it."""

    def __init__(self, chance):
        self.chance, self.out, self.where, self.down, self.flying, self.sent, self.fence = chance, [], {}, set(), [], 0, 0
        spaces = chance.choice([[None], [None], ["a", "b"]])
        self.who = [(chance.choice(spaces), f"p{number}") for number in range(chance.randint(2, 6))]
        self.regions = chance.choice([["r"], ["r", "s"]])
        self.modes = chance.choice([["exclusive"], ["exclusive", "shared"], MODES])
        self.slots, self.units = chance.choice([1, 1, 1, 2, 3]), chance.random() < .2
        self.messages, self.care = chance.random() < .6, chance.random()
        if chance.random() < .6:
            self.out.append({"trace": "afteryou", "version": 1, "fair": chance.random() < .5})
        for _ in range(chance.randint(5, 80)):
            self.step(chance.choice(self.who), chance.choice(self.regions))
        if chance.random() < .5:
            self.out.append({"at": 1, "event": "end", "rest": chance.random() < .5})

    def say(self, who, event, **members):
        self.out.append({"at": 1, "process": who[1], "event": event, **({"space": who[0]} if who[0] else {}), **members})

    def step(self, who, region):
        chance, key = self.chance, (who, region)
        if who in self.down:
            self.say(who, "joined")
            self.down.discard(who)
        elif chance.random() < .03:
            self.say(who, chance.choice(["died", "died", "lost"]))
            self.down.add(who)
            self.where = {other: how for other, how in self.where.items() if other[0] != who}
        elif chance.random() < .02 and not any(other[0] == who for other in self.where):
            self.say(who, "joined")
        elif self.messages and chance.random() < .5:
            self.send_or_receive(who)
        elif key not in self.where:
            self.where[key] = [chance.choice(self.modes), False]
            self.say(who, "request", region=region, mode=self.where[key][0], **self.slots_maybe())
        elif self.where[key][1]:
            self.say(who, "leave", region=region)
            del self.where[key]
        elif chance.random() < .1:
            self.say(who, "abandon", region=region)
            del self.where[key]
        elif chance.random() > self.care or not self.is_taken(key):
            self.enter(who, region, self.where[key])

    def slots_maybe(self):
        return {"slots": self.slots} if self.slots > 1 else {}

    def is_taken(self, key):
        return any(inside and other[1] == key[1] and mode not in BESIDE[self.where[key][0]]
                   for other, (mode, inside) in self.where.items())

    def enter(self, who, region, how):
        how[1] = True
        self.fence += self.chance.random() < .95
        units = ",".join(sorted(self.chance.sample("0123", self.chance.randint(1, 2))))
        self.say(who, "enter", region=region, fence=self.fence, **({"units": units} if self.units else {}))

    def send_or_receive(self, who):
        if self.flying and self.chance.random() < .6:
            message, to = self.flying.pop(self.chance.randrange(len(self.flying)))
            to = to or self.chance.choice(self.who)
            if to not in self.down:
                self.say(to, "receive", message=message)
            return
        self.sent += 1
        copies = self.chance.choice([1, 1, 1, 2, 3])
        mates = [other for other in self.who if other[0] == who[0]]
        to = self.chance.choice(mates) if copies == 1 and self.chance.random() < .5 else None
        self.say(who, "send", message=self.sent, copies=copies, **({"to": to[1]} if to else {}))
        self.flying += [(self.sent, to)] * copies


def change(chance, lines, at):
    """One member of one record, or the record itself."""
    one, names = lines[at], sorted({line["process"] for line in lines if "process" in line}) + ["new"]
    messages = [line["message"] for line in lines if "message" in line] + [2**64 - 2]
    other = {"process": lambda: chance.choice(names), "message": lambda: chance.choice(messages),
             "region": lambda: chance.choice("rq"), "mode": lambda: chance.choice(MODES), "to": lambda: chance.choice(names),
             "copies": lambda: chance.randint(0, 3), "fence": lambda: max(0, one["fence"] + chance.choice([-2, -1, 1, 1000])),
             "slots": lambda: chance.randint(1, 3), "units": lambda: chance.choice(["0", "0,1", "2", "1,3"]),
             "space": lambda: "z", "rest": lambda: True, "fair": lambda: True}
    if one.get("event") in ("request", "enter", "leave", "abandon") and chance.random() < .2:
        one["event"] = chance.choice(["request", "enter", "leave", "abandon"])
        return
    may_be = {"enter": ["units", "slots", "mode"], "request": ["slots", "mode"], "send": ["to", "copies"]}.get(one.get("event"), [])
    if "process" in one:
        may_be = may_be + ["space"]
    member = chance.choice([name for name in one if name in other] + may_be or ["at"])
    one[member] = other[member]() if member in other else 1


def mutated(chance, lines):
    lines = [dict(line) for line in lines]
    for _ in range(chance.choice([0, 1, 1, 1, 2, 2, 3, 5])):
        if len(lines) < 4:
            break
        first = 1 if "trace" in lines[0] else 0
        last = len(lines) - (lines[-1].get("event") == "end")
        at, other = chance.randrange(first, last), chance.randrange(first, last)
        kind = chance.randrange(6)
        if kind == 0 and last - first > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(other, dict(lines[at]))
        elif kind == 2:
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 3:
            names = sorted({line["process"] for line in lines if "process" in line})
            lines.insert(at, {"at": 1, "process": chance.choice(names), "event": chance.choice(["died", "lost", "joined"])})
        else:
            change(chance, lines, chance.randrange(len(lines)))
    return [json.dumps(line) for line in lines]


def audited(lines, path, fair):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    done = subprocess.run([AFTERYOU, "audit", path, "--json", *(["--fair"] if fair else [])], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{done.returncode}: {done.stderr}\n" + "\n".join(lines))
    answer = json.loads(done.stdout)
    return {one["property"]: one["line"] for one in answer["violations"]}, answer["overtaken"]


def alike(mine, theirs):
    """Both say the same; of Liveness the line may be that of any who waits. After what is no run, they need not agree."""
    end = min(mine.get("Run", 10**9), theirs.get("Run", 10**9))
    for name in ("Run", "Safety", "Fence", "Fairness"):
        one, other = mine.get(name, 10**9), theirs.get(name, 10**9)
        if one != other and (name == "Run" or min(one, other) < end):
            return False
    return end < 10**9 or ("Liveness" in mine) == ("Liveness" in theirs)


def main():
    count = violated = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.jsonl")
        while count < TRACES:
            chance = random.Random(SEED * 10**9 + count)
            run = simulated(chance, path) if count % 9 == 0 else MadeUp(chance).out
            for _ in range(3):
                lines, fair, count = mutated(chance, run), chance.random() < .3, count + 1
                if not any(json.loads(line).get("event", "end") != "end" for line in lines):
                    continue
                judge, (theirs, overtaken) = Judge(lines, fair), audited(lines, path, fair)
                violated += bool(theirs)
                if not alike(judge.found, theirs) or ("Run" not in theirs and judge.overtaken != overtaken):
                    print("\n".join(lines))
                    raise SystemExit(f"the judge: {judge.found}, {judge.overtaken}; the auditor: {theirs}, {overtaken}"
                                     f"{'; --fair' if fair else ''}")
    print(f"{count} traces, {violated} of them violated: the auditor and the judge agree")


main()
