#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""afteryou audit: accepts correct runs, rejects doctored ones naming the line, and tells what is no trace at all."""
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

AFTERYOU = os.path.abspath(sys.argv.pop(1))
RECORDED = os.path.abspath(sys.argv.pop(1))


def afteryou(*words):
    return subprocess.run([AFTERYOU, *words], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})


def simulated(protocol, *words):
    """The lines of a small run."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        run = afteryou("simulate", protocol, "--trace", file.name, *words)
        assert run.returncode == 0, run.stdout + run.stderr
        with open(file.name, encoding="utf-8") as lines:
            return lines.read().splitlines()


def audited(lines, *words, raw=None):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
        file.write(raw if raw is not None else "".join(line + "\n" for line in lines))
    try:
        return afteryou("audit", file.name, *words)
    finally:
        os.unlink(file.name)


def find(lines, start=0, **wanted):
    """The index of the first line from start that has these members."""
    for index in range(start, len(lines)):
        event = json.loads(lines[index])
        if all(event.get(key) == value for key, value in wanted.items()):
            return index
    raise AssertionError(f"no line with {wanted}")


def event(process, what, **members):
    return json.dumps({"at": 1, "process": process, "event": what, **members})


# What a memory engine writes: no messages; enter and leave are recorded from inside.
SHARED_MEMORY = """\
{"at":1,"process":"71","event":"request","region":"db","mode":"exclusive"}
{"at":2,"process":"72","event":"request","region":"db","mode":"exclusive"}
{"at":3,"process":"71","event":"enter","region":"db","mode":"exclusive","fence":1}
{"at":4,"process":"71","event":"leave","region":"db","mode":"exclusive"}
{"at":5,"process":"72","event":"enter","region":"db","mode":"exclusive","fence":2}
{"at":6,"process":"73","event":"request","region":"db","mode":"shared"}
{"at":7,"process":"73","event":"abandon","region":"db","mode":"shared"}
{"at":8,"process":"72","event":"died"}
{"at":9,"process":"71","event":"request","region":"db","mode":"shared"}
{"at":10,"process":"71","event":"enter","region":"db","mode":"shared","fence":3}
{"at":11,"process":"73","event":"request","region":"db","mode":"shared"}
{"at":12,"process":"73","event":"enter","region":"db","mode":"shared","fence":3}
{"at":13,"process":"73","event":"leave","region":"db","mode":"shared"}
{"at":14,"process":"71","event":"leave","region":"db","mode":"shared"}
""".splitlines()


class Accepts(unittest.TestCase):
    def test_all_four_protocols(self):
        for protocol in ["lamport", "ricart-agrawala", "carvalho-roucairol", "token"]:
            with self.subTest(protocol):
                answer = audited(simulated(protocol, "-n", "5", "--passages", "500"))
                self.assertEqual(answer.returncode, 0, answer.stdout)
                self.assertIn("Safety    holds", answer.stdout)
                self.assertIn("Liveness  holds", answer.stdout)

    def test_runs_with_crashes_joinings_and_partitions(self):
        for protocol in ["lamport", "ricart-agrawala", "carvalho-roucairol", "token"]:
            for seed in range(1, 6):
                with self.subTest(protocol, seed=seed):
                    answer = audited(simulated(protocol, "-n", "5", "--passages", "400", "--crash", "0.005", "--slow", "0.1",
                                               "--partition", "0.002", "--seed", str(seed)))
                    self.assertEqual(answer.returncode, 0, answer.stdout)

    def within(self, megabytes, lines):
        """What the auditor says of these lines, with no more memory than this."""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(line + "\n" for line in lines)
            file.flush()
            most = megabytes << 20
            done = subprocess.run([AFTERYOU, "audit", file.name], capture_output=True, text=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_very_many_processes_of_which_few_enter_need_little_memory(self):
        lines = simulated("ricart-agrawala", "-n", "10000", "--passages", "3")
        self.assertIn("10000 processes, 3 entries", self.within(100, lines))

    def test_very_many_processes_that_all_enter_need_little_memory(self):
        """A token from one to the next; all waiting at once in shared memory; and each in a region of its own."""
        names = [f"p{number}" for number in range(10000)]
        token = [line for number, p in enumerate(names) for line in
                 ([event(p, "receive", message=number - 1)] if number else []) +
                 [event(p, "request"), event(p, "enter"), event(p, "leave"), event(p, "send", message=number)]]
        memory = [event(p, "request") for p in names] + [event(p, what) for p in names for what in ("enter", "leave")]
        apart = [event(p, what, region=p) for p in names for what in ("request", "enter", "leave")]
        for lines in token, memory, apart:
            self.assertIn("10000 processes, 10000 entries", self.within(60, lines))

    def test_very_many_that_wait_and_hear_of_each_other_need_little_memory(self):
        """Everybody waits, and in each round hears from one: of 2, 4, 8, … others."""
        names = [f"p{number}" for number in range(4096)]
        lines, message = [event(p, "request") for p in names], 0
        for distance in [1 << exponent for exponent in range(12)]:
            lines += [event(p, "send", message=message + number) for number, p in enumerate(names)]
            lines += [event(names[number - distance], "receive", message=message + number) for number in range(len(names))]
            message += len(names)
        self.assertIn("4096 processes, 0 entries", self.within(60, lines))

    def test_readers_together(self):
        for protocol in ["lamport", "ricart-agrawala", "carvalho-roucairol"]:
            with self.subTest(protocol):
                answer = audited(simulated(protocol, "--passages", "500", "--shared", "0.7"))
                self.assertEqual(answer.returncode, 0, answer.stdout)

    def test_shared_memory(self):
        answer = audited(SHARED_MEMORY)
        self.assertEqual(answer.returncode, 0, answer.stdout)
        self.assertIn("not judged: the trace does not say that all came to rest (0 requests open)", answer.stdout)

    def test_what_it_does_not_know_is_passed_over(self):
        others = {f"other{number}": [{"of": number}, -1.5e-3, None] for number in range(100)}
        self.assertEqual(audited([event("p", what, **others) for what in ("request", "enter", "leave")]).returncode, 0)

    def test_a_real_run_of_the_memory_engine(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            trace = os.path.join(folder, "trace.jsonl")
            subprocess.run([RECORDED, trace, os.path.join(folder, "space")], check=True)
            with open(trace, encoding="utf-8") as file:
                lines = file.read().splitlines()
            answer = audited(lines, "--json")
            self.assertEqual(answer.returncode, 0, answer.stdout)
            self.assertEqual(json.loads(answer.stdout)["entries"], 3 * 100 + 51)
            # The same run, with one writer's leaving struck out.
            leave = find(lines, event="leave", mode="exclusive")
            lines.pop(leave)
            self.assertEqual(audited(lines).returncode, 1)

    def test_slots_units_and_two_spaces_of_a_real_run(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            trace = os.path.join(folder, "trace.jsonl")
            environment = {**os.environ, "AFTERYOU_TRACE": trace}
            wishes = [["-k", "2"], ["--take", "2", "--of", "4"], []]
            runs = [subprocess.Popen([AFTERYOU, "run", f"r{number}", "-S", os.path.join(folder, space), *words,
                                      "--", "sleep", "0.01"], env=environment)
                    for space in "ab" for number, words in enumerate(wishes) for _ in range(5)]
            self.assertEqual([run.wait(60) for run in runs], [0] * len(runs))
            with open(trace, encoding="utf-8") as file:
                lines = file.read().splitlines()
        answer = audited(lines, "--json")
        self.assertEqual(answer.returncode, 0, answer.stdout)
        self.assertEqual(json.loads(answer.stdout)["entries"], len(runs))
        for region, members in ("r0", {"slots": 2}), ("r1", {"mode": "exclusive"}), ("r2", {"mode": "exclusive"}):
            with self.subTest(region):  # without any leaving there, one too many is inside in the end
                kept = [line for line in lines
                        if not (json.loads(line)["region"] == region and json.loads(line)["event"] == "leave")]
                find(kept, region=region, event="enter", **members)
                self.assertEqual(audited(kept).returncode, 1)

    def test_conversions_of_a_real_run(self):
        """Who becomes stronger or weaker leaves one mode and enters in another, after the deaths that it was told of."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            trace = os.path.join(folder, "trace.jsonl")
            subprocess.run([RECORDED, os.path.join(folder, "space")], check=True, env={**os.environ, "AFTERYOU_TRACE": trace})
            with open(trace, encoding="utf-8") as file:
                lines = file.read().splitlines()
        answer = audited(lines, "--json")
        self.assertEqual(answer.returncode, 0, answer.stdout)
        stronger = find(lines, event="enter", mode="exclusive")
        self.assertIn("fence", json.loads(lines[stronger]))
        weaker = find(lines, stronger, event="enter", mode="shared", process=json.loads(lines[stronger])["process"])
        self.assertNotIn("fence", json.loads(lines[weaker]))  # it keeps the one it had
        find(lines, event="died")

    def test_fairness_is_judged_only_where_it_is_claimed(self):
        lines = simulated("token", "-n", "5", "--passages", "500")
        self.assertIn("Fairness  not claimed", audited(lines).stdout)
        answer = audited(lines, "--fair")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("happened before its own", answer.stdout)


class Rejects(unittest.TestCase):
    """Each doctored run is rejected by the property it breaks, and the line is named."""

    def rejected(self, lines, property_name, line, *words):
        answer = audited(lines, "--json", *words)
        self.assertEqual(answer.returncode, 1, answer.stdout + answer.stderr)
        findings = {finding["property"]: finding for finding in json.loads(answer.stdout)["violations"]}
        self.assertIn(property_name, findings)
        self.assertEqual(findings[property_name]["line"], line, findings)
        return findings[property_name]

    def setUp(self):
        self.lines = simulated("ricart-agrawala", "-n", "3", "--passages", "60", "--think", "1us")

    def test_overlapping_sections(self):
        leave = find(self.lines, event="leave")
        enter = find(self.lines, leave, event="enter")
        self.lines.insert(leave, self.lines.pop(enter))  # the next enters before it leaves
        finding = self.rejected(self.lines, "Safety", leave + 1)
        self.assertEqual(finding["other_line"], find(self.lines, event="enter") + 1)

    def test_a_lost_release(self):
        leave = find(self.lines, event="leave")
        who = json.loads(self.lines.pop(leave))["process"]
        again = find(self.lines, leave, event="request", process=who)
        self.rejected(self.lines, "Run", again + 1)

    def test_a_last_release_lost(self):
        last = max(index for index, line in enumerate(self.lines) if '"leave"' in line)
        self.lines.pop(last)
        enter = max(index for index, line in enumerate(self.lines) if '"enter"' in line)
        self.rejected(self.lines, "Liveness", enter + 1)

    def test_a_request_that_is_never_granted(self):
        end = find(self.lines, event="end")
        self.lines.insert(end, '{"at":9,"process":"n0","event":"request","region":"r","mode":"exclusive"}')
        self.rejected(self.lines, "Liveness", end + 1)

    def test_fairness_inverted(self):
        answer = None
        for seed in range(1, 20):
            lines = simulated("ricart-agrawala-unfair", "-n", "5", "--passages", "3000", "--seed", str(seed))
            answer = audited(lines)
            if answer.returncode:
                break
        self.assertEqual(answer.returncode, 1)
        self.assertRegex(answer.stdout, r"Fairness  line \d+: n\d enters before n\d, whose request \(line \d+\) happened before")

    def test_a_receive_before_its_send(self):
        send = find(self.lines, event="send")
        receive = find(self.lines, event="receive", message=json.loads(self.lines[send])["message"])
        self.lines.insert(send, self.lines.pop(receive))
        self.rejected(self.lines, "Run", send + 1)

    def test_a_message_received_twice(self):
        send = find(self.lines, event="send", kind="REPLY")
        receive = find(self.lines, event="receive", message=json.loads(self.lines[send])["message"])
        self.lines.insert(receive + 1, self.lines[receive])
        self.rejected(self.lines, "Run", receive + 2)

    def test_a_reply_that_nobody_sent(self):
        """Without its messages an entry is ordered after nothing, whatever the clock on the wall said."""
        for kind in ["REPLY", "REQUEST"]:
            ids = {json.loads(line)["message"] for line in self.lines if f'"kind":"{kind}"' in line}
            self.lines = [line for line in self.lines if json.loads(line).get("message") not in ids]
        self.lines.insert(1, '{"at":0,"process":"n0","event":"send","message":999999,"copies":0}')
        enters = [index for index, line in enumerate(self.lines) if '"enter"' in line]
        first = json.loads(self.lines[enters[0]])["process"]
        other = next(index for index in enters if json.loads(self.lines[index])["process"] != first)
        finding = self.rejected(self.lines, "Safety", other + 1)
        self.assertIn("nothing orders this after", finding["words"])

    def test_a_fence_that_falls_back(self):
        enters = [index for index, line in enumerate(self.lines) if '"enter"' in line]
        event = json.loads(self.lines[enters[5]])
        event["fence"] = json.loads(self.lines[enters[4]])["fence"]
        self.lines[enters[5]] = json.dumps(event)
        self.rejected(self.lines, "Fence", enters[5] + 1)

    def test_an_entry_without_a_request(self):
        self.lines.pop(find(self.lines, event="request"))
        self.rejected(self.lines, "Run", find(self.lines, event="enter") + 1)

    def test_life_after_death(self):
        leave = find(self.lines, event="leave")
        who = json.loads(self.lines[leave])["process"]
        self.lines.insert(leave + 1, json.dumps({"at": 0, "process": who, "event": "died"}))
        self.rejected(self.lines, "Run", find(self.lines, leave + 2, process=who) + 1)

    def test_two_writers_in_shared_memory(self):
        lines = SHARED_MEMORY[:3] + [SHARED_MEMORY[4]]
        self.rejected(lines, "Safety", 4)

    def test_a_reader_beside_a_writer(self):
        lines = SHARED_MEMORY[:7] + SHARED_MEMORY[8:]  # the writer did not die
        self.rejected(lines, "Safety", 9)

    def test_a_deadlock(self):
        """A run that came to rest with somebody waiting says so, and is no good run."""
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
            run = afteryou("simulate", "carvalho-roucairol-no-ask-again", "-n", "3", "--trace", file.name)
            self.assertEqual(run.returncode, 1, run.stdout)
            answer = afteryou("audit", file.name)
        self.assertEqual(answer.returncode, 1)
        self.assertRegex(answer.stdout, r"Liveness  line \d+: n\d requests, and never enters")

    def test_an_entry_after_one_that_died_inside(self):
        """p leaves, r hears of it, enters and dies; q hears of nothing, and enters."""
        lines = [event("p", "request"), event("p", "enter"), event("p", "leave"),
                 event("p", "send", message=1, to="r"), event("r", "receive", message=1),
                 event("r", "request"), event("r", "enter"), event("r", "died"),
                 event("q", "request"), event("q", "enter")]
        self.rejected(lines, "Safety", 10)
        heard = lines[:8] + [event("p", "send", message=2, to="q"), event("q", "receive", message=2)] + lines[8:]
        self.assertEqual(audited(heard).returncode, 0)

    def test_an_entry_after_one_that_left_and_died(self):
        """So too if r has left before it died: of r nobody need hear, but of p."""
        lines = [event("p", "request"), event("p", "enter"), event("p", "leave"),
                 event("p", "send", message=1, to="r"), event("r", "receive", message=1),
                 event("r", "request"), event("r", "enter"), event("r", "leave"), event("r", "died"),
                 event("q", "request"), event("q", "enter")]
        self.rejected(lines, "Safety", 11)
        heard = lines[:9] + [event("p", "send", message=2, to="q"), event("q", "receive", message=2)] + lines[9:]
        self.assertEqual(audited(heard).returncode, 0)

    def test_a_mode_that_was_not_requested(self):
        self.rejected([event("p", "request", mode="shared"), event("p", "enter", mode="exclusive")], "Run", 2)

    def test_a_letter_for_somebody_else(self):
        self.rejected([event("p", "send", message=1, to="q"), event("r", "receive", message=1)], "Run", 2)

    def test_life_after_being_put_out(self):
        self.rejected([event("p", "request"), event("p", "lost"), event("p", "request")], "Run", 3)
        joined = [event("p", "request"), event("p", "lost"), event("p", "joined"), event("p", "request")]
        self.assertEqual(audited(joined).returncode, 0)

    def test_joining_from_inside(self):
        self.rejected([event("p", "request"), event("p", "enter"), event("p", "joined")], "Run", 3)

    PASSAGE = ("request", "enter", "leave")

    def test_one_that_was_up_joins_and_its_leavings_stand(self):
        first, second = [event("p", what) for what in self.PASSAGE], [event("q", what) for what in self.PASSAGE]
        letter = [event("p", "send", message=1), event("q", "receive", message=1)]
        self.assertEqual(audited(first + letter + [event("p", "joined")] + second).returncode, 0)
        unheard = [event("r", "send", message=2), event("s", "receive", message=2)]
        self.rejected(unheard + first + [event("p", "joined")] + second, "Safety", 8)

    def test_one_that_was_up_joins_and_remembers_nothing(self):
        heard = [event("p", what) for what in self.PASSAGE] + [event("p", "send", message=1), event("q", "receive", message=1)]
        entry = [event("q", "request"), event("q", "enter")]
        self.assertEqual(audited(heard + entry).returncode, 0)
        self.rejected(heard + [event("q", "joined")] + entry, "Safety", 8)

    def test_a_death_may_be_told_twice(self):
        answer = audited([event("p", "request"), event("p", "died"), event("p", "died")])
        self.assertEqual(answer.returncode, 0, answer.stdout)

    def test_one_more_than_there_are_slots(self):
        lines = [event(who, what, slots=2) for who in "pq" for what in ("request", "enter")]
        self.assertEqual(audited(lines).returncode, 0)
        lines += [event("r", "request", slots=2), event("r", "enter", slots=2)]
        self.rejected(lines, "Safety", 6)

    def test_a_unit_held_twice(self):
        lines = [event("p", "request"), event("p", "enter", units="0,3"), event("q", "request")]
        self.assertEqual(audited(lines + [event("q", "enter", units="1,2")]).returncode, 0)
        finding = self.rejected(lines + [event("q", "enter", units="2,3")], "Safety", 4)
        self.assertIn("unit 3", finding["words"])

    def test_a_unit_held_twice_by_those_who_share(self):
        lines = [event(p, "request", mode="shared") for p in "pq"] + [event(p, "enter", units="3") for p in "pq"]
        self.rejected(lines, "Safety", 4)

    def test_an_entry_with_units_beside_one_that_excludes_all(self):
        self.rejected([event(p, "request") for p in "pq"] + [event("p", "enter"), event("q", "enter", units="3")], "Safety", 4)

    def test_slots_on_which_two_do_not_agree(self):
        """Whoever is inside counts as many as it was promised."""
        lines = [event("p", "request"), event("p", "enter"), event("q", "request", slots=2), event("q", "enter", slots=2)]
        self.rejected(lines, "Safety", 4)

    def test_two_spaces_have_nothing_in_common(self):
        lines = [event("1/0/1", what, space=space) for space in ("/a", "/b") for what in ("request", "enter")]
        self.assertEqual(audited(lines).returncode, 0)
        self.rejected([line.replace("/b", "/a").replace("1/0/1", f"{at // 2}") for at, line in enumerate(lines)],
                      "Safety", 4)

    def test_names_may_have_colons(self):
        """Process c of space a:b is not process b:c of space a, nor a:b:c of none."""
        names = [{"space": "a:b", "process": "c"}, {"space": "a", "process": "b:c"}, {"process": "a:b:c"}]
        lines = [event(what=what, region=f"r{at}", **name) for at, name in enumerate(names) for what in ("request", "enter")]
        lines += [event(what="died", **names[0]), event(what="leave", region="r1", **names[1]),
                  event(what="leave", region="r2", **names[2])]
        answer = audited(lines)
        self.assertEqual(answer.returncode, 0, answer.stdout)

    def test_a_fence_of_zero_is_a_fence(self):
        passages = [event(who, what, **({"fence": 0} if what == "enter" else {}))
                    for who in "pq" for what in ("request", "enter", "leave")]
        self.rejected(passages, "Fence", 5)

    def test_who_shares_slots_is_not_ordered_by_messages(self):
        lines = [event("p", "request"), event("p", "enter"), event("p", "leave"), event("p", "send", message=1),
                 event("q", "request", slots=2), event("q", "enter", slots=2)]
        self.assertEqual(audited(lines).returncode, 0)
        self.rejected([line.replace('"slots": 2', '"slots": 1') for line in lines], "Safety", 6)

    def test_a_detector_that_was_wrong(self):
        lines = simulated("token", "-n", "5", "--passages", "3000", "--partition", "0.003", "--detector", "wrong")
        self.assertEqual(audited(lines).returncode, 1)


class NoTrace(unittest.TestCase):
    """What is no trace gets one clear line, and 125."""

    def refused(self, raw, words):
        answer = audited(None, raw=raw)
        self.assertEqual(answer.returncode, 125)
        self.assertEqual(answer.stdout, "")
        self.assertEqual(len(answer.stderr.splitlines()), 1)
        self.assertIn(words, answer.stderr)

    def test_empty(self):
        self.refused("", "the file is empty")

    def test_header_only(self):
        self.refused('{"trace":"afteryou","version":1}\n', "the trace has no events")

    def test_truncated(self):
        raw = "".join(line + "\n" for line in SHARED_MEMORY)
        self.refused(raw[:-20], "line 14 is no line of a trace: the file ends in the middle of it: it was cut short")

    def test_garbage(self):
        self.refused("\x7fELF garbage\n", "line 1 is no line of a trace: it does not begin with '{'")
        self.refused(SHARED_MEMORY[0] + "\n{\"at\":12,\n", "line 2 is no line of a trace")
        self.refused('{"at":"soon","process":"a","event":"enter"}\n', 'its "at" is no whole number')
        self.refused('{"process":"a","event":"enter"}\n', '"at", in nanoseconds, is missing')
        self.refused('{"at":1,"process":"a","event":"dances"}\n', '"event" is none that this auditor knows')
        self.refused('{"at":1,"process":"a","event":"enter","mode":"loud"}\n', '"mode" is none of the six')
        self.refused('{"at":1,"event":"enter"}\n', 'it has no "process"')
        self.refused('{"at":99999999999999999999999,"process":"a","event":"enter"}\n', 'its "at" is no whole number')
        self.refused('{"at":1,"process":"a","event":"enter","fence":1.5}\n', 'its "fence" is no whole number')
        self.refused('{"at":1,"process":"a","event":"enter","fence":01}\n', "a value is none of JSON's")
        self.refused('{"at":1,"process":"a","event":"send","message":1,"copies":4294967296}\n', '"copies" are more than')
        self.refused('{"at":1,"process":"a\\q","event":"enter"}\n', "a value is none of JSON's")
        self.refused('{"at":1,"process":"a\\ud800","event":"enter"}\n', "a value is none of JSON's")
        self.refused('{"trace":"afteryou","version":2}\n', "its version is not 1")
        self.refused('{"trace":"somebody","version":1}\n', "the header of something else")
        self.refused(SHARED_MEMORY[0] + '\n{"trace":"afteryou","version":1}\n', "stands in the first line, or nowhere")
        self.refused(SHARED_MEMORY[0] + '\n{"event":"end"}\n' + SHARED_MEMORY[1] + "\n", 'it stands after the "end"')
        self.refused('{"at":1,"process":"a\0b","event":"enter"}\n', "zero byte")

    def test_bytes_that_are_no_text(self):
        for name in [b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\x01"]:
            with self.subTest(name), tempfile.NamedTemporaryFile() as file:
                file.write(b'{"at":1,"process":"' + name + b'","event":"request"}\n')
                file.flush()
                answer = afteryou("audit", file.name)
                self.assertEqual(answer.returncode, 125)
                self.assertIn("no UTF-8", answer.stderr)

    def test_a_line_without_end(self):
        answer = afteryou("audit", "/dev/zero")
        self.assertIn("zero byte", answer.stderr)
        self.refused("x" * (1 << 20) + "x", "longer than a megabyte")

    def test_no_file(self):
        answer = afteryou("audit", "/nonexistent/trace")
        self.assertEqual(answer.returncode, 125)
        self.assertIn("cannot read /nonexistent/trace: No such file", answer.stderr)
        self.assertEqual(afteryou("audit").returncode, 125)
        self.assertEqual(afteryou("audit", "--bogus", "x").returncode, 125)


class Shows(unittest.TestCase):
    """Names are somebody else's text: they reach neither the terminal nor a drawing as anything but text."""

    def test_what_others_wrote_is_only_text(self):
        names = ["\x1b[2Jq", "a\nb", "\u202eq", "é" * 200]
        for name in names:
            lines = [event("p", "request"), event("p", "enter"), event(name, "request"), event(name, "enter")]
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                svg = os.path.join(folder, "run.svg")
                answer = audited(lines, "--svg", svg)
                self.assertEqual(answer.returncode, 1)
                self.assertNotIn("\x1b", answer.stdout)
                self.assertNotIn("\u202e", answer.stdout)
                self.assertRegex(answer.stdout, r"(?m)^  Safety    line 4: .* enters")
                xml.dom.minidom.parse(svg)
                self.assertEqual(len(json.loads(audited(lines, "--json").stdout)["violations"]), 1)


class Draws(unittest.TestCase):
    def test_the_violation_is_marked(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "run.svg")
            lines = SHARED_MEMORY[:3] + [SHARED_MEMORY[4].replace('"72"', '"a<b"').replace("72", "a<b")]
            lines.insert(1, SHARED_MEMORY[1].replace('"72"', '"a<b"'))
            answer = audited(lines, "--svg", svg)
            self.assertEqual(answer.returncode, 1)
            drawing = xml.dom.minidom.parse(svg)
            classes = [node.getAttribute("class") for node in drawing.getElementsByTagName("circle")]
            self.assertEqual(classes.count("mark"), 2)
            texts = [node.firstChild.data for node in drawing.getElementsByTagName("text") if node.firstChild]
            self.assertIn("a<b", texts)
            self.assertTrue(any("is inside, since line" in text for text in texts))

    def test_messages_are_arrows(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "run.svg")
            self.assertEqual(audited(simulated("lamport", "-n", "3", "--passages", "10"), "--svg", svg).returncode, 0)
            drawing = xml.dom.minidom.parse(svg)
            arrows = [line for line in drawing.getElementsByTagName("line") if line.getAttribute("class") == "message"]
            self.assertGreater(len(arrows), 5)


class Page(unittest.TestCase):
    def test_the_page_has_the_run_in_it_as_text(self):
        hostile = "</script><script>alert(1)</script>"
        lines = [event("p", "request", region=hostile), event("p", "enter", region=hostile, fence=1), event("p", "died")]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.html")
            answer = audited(lines, "--html", path)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            with open(path, encoding="utf-8") as file:
                page = file.read()
        self.assertNotIn(hostile, page)
        run = json.loads(page.partition('id="run">')[2].partition("</script>")[0])
        self.assertEqual(run["regions"], [hostile])
        self.assertEqual([each["event"] for each in run["events"]], ["request", "enter", "died"])
        self.assertFalse("https:" in page or "http://" in page.replace("http://www.w3.org/2000/svg", ""), "nothing is fetched")

    def test_a_page_that_cannot_be_written(self):
        answer = audited(simulated("lamport", "-n", "2"), "--html", "/nowhere/run.html")
        self.assertEqual((answer.returncode, answer.stderr), (125, "afteryou audit: cannot write /nowhere/run.html: No such file or directory\n"))
        answer = audited(simulated("lamport", "-n", "2"), "--html", "/dev/full")
        self.assertEqual((answer.returncode, answer.stderr), (125, "afteryou audit: cannot write /dev/full: No space left on device\n"))


if __name__ == "__main__":
    unittest.main()
