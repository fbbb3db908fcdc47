# SPDX-License-Identifier: MIT
"""Real JSON outputs, and docs/json.md: each states the fields that the other has."""
import json
import os
import signal
import subprocess
import unittest
import urllib.request

from fields import differences, stated
from support import AFTERYOU, PATIENCE, ROOT, CommandTest, wait_until

MODES = ("exclusive", "shared", "protected-write", "concurrent-write", "concurrent-read", "null")


class Outputs(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment["AFTERYOU_DIR"] = str(self.shared_memory)

    def output(self, *words, codes=(0,)):
        """The objects, one a line."""
        result = self.afteryou(*words)
        self.assertIn(result.returncode, codes, result)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def assert_agree(self, section, outputs, without=None):
        """`without`: what no output here has."""
        found = [line for line in differences(section, outputs) if not (without and without in line and line.endswith("is in no output"))]
        self.assertEqual("\n".join(found), "")

    def hold(self, name, *words):
        self.start(*words, "-c", f"echo $$ > in-{name}; sleep 60", name=name)
        self.number_in(f"in-{name}")

    def test_all_outputs_are_here(self):
        tested = (ROOT / "tests/command/outputs.py").read_text() + (ROOT / "tests/cluster/basics.py").read_text()
        for section in stated():
            self.assertIn(f'"{section}"', tested)

    def test_status(self):
        self.hold("units", "--take", "2", "--of", "3")
        self.hold("region")
        self.start("--", "true", name="region")
        self.hold("a", "-S", str(self.shared_memory / "gone"))
        self.shared_memory.joinpath("gone").unlink()
        self.shared_memory.joinpath("none").write_text("no space")

        def look():
            shown = self.output("status", "--json")
            states = [place["state"] for space in shown[0]["spaces"] for place in space["seen"]]
            return shown if states.count("waiting") == 1 and shown[0]["removed"] else None
        shown = wait_until(look, "one that waits")
        self.assert_agree("afteryou status --json", shown, without="cycles[]")  # one who waits in a circle is told: nested.py has one

    def test_changes(self):
        """One holds, three wait in a queue: the first of them leaves it."""
        self.hold("a", "-S", str(self.shared_memory / "gone"))
        self.hold("region")
        waiting = [self.start("--", "true", name="region") for _ in range(3)]
        self.shared_memory.joinpath("none").write_text("no space")
        wait_until(lambda: sum(place["state"] == "waiting" for shown in self.output("status", "--json") for space in shown["spaces"]
                               for place in space["seen"]) == 3, "three that wait")
        server = subprocess.Popen([AFTERYOU, "status", "--serve", "127.0.0.1:0"], env=self.environment, stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        with urllib.request.urlopen(server.stdout.readline().strip() + "events?changes=1", timeout=PATIENCE) as stream:
            changes = []
            while not any(space["orders"] for change in changes for space in change["spaces"]):
                line = stream.readline()
                if line == b"event: change\n":
                    changes.append(json.loads(stream.readline().removeprefix(b"data: ")))
                elif line.startswith(b"data: "):
                    first = min((place for space in json.loads(line[6:])["spaces"] for place in space["seen"] if place["order"]),
                                key=lambda place: place["order"])
                    os.kill(first["pid"], signal.SIGKILL)
        self.assertTrue(any(space["gone"] for change in changes for space in change["spaces"]))
        self.assert_agree("afteryou status --serve: /events?changes=1", changes, without="[]")  # what is in a list is not in every change
        for process in waiting:
            process.kill()

    def test_spaces(self):
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        self.assert_agree("afteryou spaces --json", self.output("spaces", "--json"))
        self.assert_agree("afteryou spaces show SPACE --json", self.output("spaces", "show", self.space, "--json"))

    def test_check(self):
        runs = [["pair"], ["races-printed", "-n", "2"], ["clock-without-ok", "-n", "2"], ["races", "--states", "1000"], ["token"], ["token", "--crashes", "1"],
                ["carvalho-roucairol", "-n", "2", "--requests", "1", "--links", "--deaths", "1"],
                ["carvalho-roucairol", "-n", "2", "--requests", "1", "--units", "2", "--take", "2"], ["link"], ["lamport-no-acknowledgement"], ["ricart-agrawala-deaf"], ["region", "--property", "doorway,admission"], ["bakery-without-choosing", "--random", "1000"], ["bakery", "--random", "10"]]
        self.assert_agree("afteryou check --json", [one for words in runs for one in self.output("check", *words, "--json", codes=(0, 1, 2))])

    def test_simulate(self):
        broken = ["token-established-early", "-n", "3", "--events", "2000", "--crash", "0.05", "--slow", "0.2", "--section", "exp:2ms", "--think", "exp:1ms",
                  "--seeds", "60"]
        runs = [["token", "--passages", "100"], ["lamport", "--passages", "10", "--crash", "1", "--events", "5000"], broken]
        self.assert_agree("afteryou simulate --json", [one for words in runs for one in self.output("simulate", *words, "--json", codes=(0, 1))])
        self.assert_agree("afteryou simulate --table --json", self.output("simulate", "--table", "-n", "3", "--json"))

    def simulated(self, *words):
        path = str(self.file("simulated"))
        self.assertIn(self.afteryou("simulate", *words, "--trace", path).returncode, (0, 1))
        return path

    def test_audit(self):
        traces = [self.simulated("token", "--passages", "20"), self.simulated("ricart-agrawala-unfair", "-n", "3", "--passages", "3000")]
        self.assert_agree("afteryou audit --json", [one for path in traces for one in self.output("audit", path, "--fair", "--json", codes=(0, 1))])

    def test_traces(self):
        """Of a simulation, and of processes that share memory: slots, units."""
        with open(self.simulated("token", "-n", "3", "--passages", "50"), encoding="utf-8") as file:
            lines = file.readlines()
        trace = self.environment["AFTERYOU_TRACE"] = str(self.file("trace"))
        for words in (["-k", "2"], ["--take", "2", "--of", "3"]):
            self.assertEqual(self.run_it(*words, "--", "true", name="of" + words[0]).returncode, 0)
        with open(trace, encoding="utf-8") as file:
            lines += file.readlines()
        self.assert_agree("A trace", [json.loads(line) for line in lines])

    def test_modes_have_one_name(self):
        """What -m takes, a trace says, status shows and audit reads."""
        trace = self.environment["AFTERYOU_TRACE"] = str(self.file("trace"))
        for mode in MODES:
            self.hold(mode, "-m", mode)
        shown = self.output("status", "-S", self.space, "--json")[0]["spaces"][0]["seen"]
        with open(trace, encoding="utf-8") as file:
            entered = [json.loads(line) for line in file if '"enter"' in line]
        for mode in MODES:
            self.assertIn((mode, mode), [(line["region"], line["mode"]) for line in entered])
            self.assertIn(([mode], mode), [(place["names"], place["mode"]) for place in shown])
        self.assertEqual(self.output("audit", trace, "--json")[0]["entries"], len(MODES))

    def test_options(self):
        options = self.output("--options")
        self.assert_agree("afteryou --options", options)
        for command in options[0]["commands"]:
            words = [word for option in command["options"] for word in option["words"]]
            self.assertEqual(sorted(words), sorted(set(words)), command["name"])
        lists = {(command["name"], word): option["list"] for command in options[0]["commands"] for option in command["options"] for word in option["words"]}
        self.assertEqual(lists["run", "--mode"], list(MODES))
        for protocol in lists["spaces", "--protocol"]:
            space = str(self.shared_memory / protocol)
            self.assertEqual(self.afteryou("spaces", "create", space, "--protocol", protocol).returncode, 0, protocol)
            self.assertEqual(self.output("spaces", "show", space, "--json")[0]["space"]["protocol"], protocol)
        told = self.afteryou("spaces", "create", self.space, "--protocol", "hope").stderr
        self.assertEqual(set(told.strip().partition("there are ")[2].split(", ")), set(lists["run", "--protocol"]), told)
        self.assertEqual(lists["run", "--protocol"], lists["spaces", "--protocol"])
        for precedence in lists["spaces", "--precedence"]:
            space = str(self.shared_memory / precedence)
            self.assertEqual(self.afteryou("spaces", "create", space, "--precedence", precedence).returncode, 0, precedence)
            self.assertEqual(self.output("spaces", "show", space, "--json")[0]["space"]["precedence"], precedence)


class Hostile(CommandTest):
    def test_any_name_is_valid_utf_8(self):
        """Every byte but NUL, and the slash of a path."""
        name = bytes(byte for byte in range(1, 256) if byte != ord("/"))[:250]
        self.start("-c", "echo $$ > inside; sleep 60", name=os.fsdecode(name))
        self.number_in("inside")
        shown = self.afteryou("status", "-S", self.space, "--json").stdout
        self.assertTrue(shown.isprintable() or shown.rstrip("\n").isprintable())
        self.assertEqual(json.loads(shown)["spaces"][0]["seen"][0]["names"][0], name.decode(errors="replace"))


if __name__ == "__main__":
    unittest.main()
