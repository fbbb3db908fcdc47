# SPDX-License-Identifier: MIT
"""A second judge of traces, as simple as can be: docs/messages.md in Python, and nothing of src/audit.

The past of an event is a set of events, whole, a bit for each; every entry is compared with every earlier leaving. This is square in
the length of the trace, and worse. It says what the auditor must say.
"""
import json

from beside import BESIDE

EVENTS = {"request", "enter", "leave", "abandon", "send", "receive", "died", "lost", "joined", "end"}


def conflict(one, other):
    return other["mode"] not in BESIDE[one["mode"]]


def exclude(one, other):
    return conflict(one, other) and not (one["units"] and other["units"])


def has_company(section):
    return section["slots"] > 1 or bool(section["units"])


class Judge:
    """`found` is {property: line} in the end, of the first violation of each."""

    def __init__(self, lines, fair=False):
        self.fair, self.found, self.overtaken = fair, {}, 0
        self.down, self.past, self.own, self.sections, self.sent, self.left, self.fences = set(), {}, {}, {}, {}, [], []
        events = [json.loads(line) for line in lines]
        self.first = 1
        if "trace" in events[0]:
            self.fair |= events.pop(0).get("fair", False)
            self.first = 2
        self.messages = any(event["event"] == "send" for event in events)
        for index, event in enumerate(events):
            self.line, self.bit = index + self.first, 1 << index
            self.judge(event)

    def tell(self, name):
        self.found.setdefault(name, self.line)

    def judge(self, event):
        what, process = event["event"], (event.get("space"), event.get("process"))
        if what == "end":
            if event.get("rest") and self.sections:
                self.tell("Liveness")
        elif what == "died":
            self.gone(process)
        elif what == "joined":
            if any(key[0] == process for key in self.sections):
                self.tell("Run")
            self.down.discard(process)
            self.past[process] = self.own.setdefault(process, 0)
        elif process in self.down:
            self.tell("Run")
        elif what == "lost":
            self.gone(process)
        else:
            self.past.setdefault(process, 0)
            getattr(self, what)(event, process, (process, event.get("region", "")))
            self.past[process] |= self.bit
            self.own[process] = self.own.get(process, 0) | self.bit

    def gone(self, process):
        self.down.add(process)
        self.sections = {key: section for key, section in self.sections.items() if key[0] != process}
        self.left = [leaving for leaving in self.left if leaving["key"][0] != process]

    def send(self, event, process, _):
        if event["message"] in self.sent:
            self.tell("Run")
            return
        self.sent[event["message"]] = {"past": self.past[process] | self.bit, "copies": event.get("copies", 1),
                                       "to": (process[0], event["to"]) if "to" in event else None}

    def receive(self, event, process, _):
        message = self.sent.get(event["message"])
        if not message or message["to"] not in (None, process) or message["copies"] == 0:
            self.tell("Run")
            return
        message["copies"] -= 1
        self.past[process] |= message["past"]

    def request(self, event, process, key):
        if key in self.sections:
            self.tell("Run")
        self.sections[key] = {"key": key, "inside": False, "mode": event.get("mode", "exclusive"), "slots": event.get("slots", 1),
                              "units": set(), "bit": self.bit, "past": self.past[process]}

    def abandon(self, _, _process, key):
        if key not in self.sections or self.sections[key]["inside"]:
            self.tell("Run")
        else:
            del self.sections[key]

    def leave(self, _, process, key):
        if key not in self.sections or not self.sections[key]["inside"]:
            self.tell("Run")
            return
        section = self.sections.pop(key)
        if not has_company(section):
            self.left.append({**section, "bit": self.bit, "past": self.past[process]})

    def enter(self, event, process, key):
        mine = self.sections.get(key)
        if not mine or mine["inside"]:
            self.tell("Run")
            return
        if event.get("mode", mine["mode"]) != mine["mode"]:
            self.tell("Run")
        mine["slots"] = max(mine["slots"], event.get("slots", 1))
        mine["units"] = set(event["units"].split(",")) if "units" in event else set()
        here = [other for other in self.sections.values() if other["key"][1] == key[1] and other["key"][0][0] == process[0]]
        self.judge_inside(mine, [other for other in here if other["inside"]])
        for other in here:
            if other is not mine and not other["inside"] and conflict(mine, other) and mine["past"] & other["bit"]:
                self.overtaken += 1
                if self.fair:
                    self.tell("Fairness")
        if not has_company(mine):
            self.judge_left(mine, process)
            self.judge_fence(mine, event.get("fence"))
        mine["inside"] = True

    def judge_inside(self, mine, inside):
        for other in inside + [mine]:
            beside = [one for one in inside + [mine] if one is not other]
            if (other is mine or exclude(other, mine)) and sum(exclude(other, one) for one in beside) >= other["slots"]:
                self.tell("Safety")
            if other is not mine and other["units"] & mine["units"]:
                self.tell("Safety")

    def judge_left(self, mine, process):
        for leaving in self.left:
            if leaving["key"][1] == mine["key"][1] and leaving["key"][0][0] == process[0] and conflict(leaving, mine):
                if not self.messages:
                    self.past[process] |= leaving["past"] | leaving["bit"]
                elif not self.past[process] & leaving["bit"]:
                    self.tell("Safety")

    def judge_fence(self, mine, fence):
        if fence is None:
            return
        where = (mine["key"][0][0], mine["key"][1])
        if any(there == where and conflict(other, mine) and fence <= before for there, other, before in self.fences):
            self.tell("Fence")
        self.fences.append((where, mine, fence))
