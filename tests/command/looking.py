# SPDX-License-Identifier: MIT
"""`status` and `spaces`: what they show, and that looking disturbs nobody."""
import ctypes
import errno
import hashlib
import json
import os
import pathlib
import pwd
import signal
import struct
import subprocess
import unittest

from support import AFTERYOU, CommandTest, wait_until

FUTEX_WAITV = 449


def refuse_waitv():
    """In the child: a seccomp filter answers futex_waitv with EPERM, as older profiles of containers do."""
    pr_set_seccomp, pr_set_no_new_privs, filter_mode = 22, 38, 2
    load, equal, give = 0x20, 0x15, 0x06
    answer, allow = 0x00050000 | errno.EPERM, 0x7FFF0000
    steps = [(load, 0, 0, 0), (equal, 0, 1, FUTEX_WAITV), (give, 0, 0, answer), (give, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(pr_set_no_new_privs, 1, 0, 0, 0) or libc.prctl(pr_set_seccomp, filter_mode, program):
        raise OSError(ctypes.get_errno(), "no seccomp filter")


class Status(CommandTest):
    def status(self, *words):
        result = self.afteryou("status", "-S", self.space, *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def seen(self):
        shown = json.loads(self.status("--json"))
        self.assertEqual(shown["schema"], 1)
        return shown["spaces"][0]

    def states(self):
        return sorted(place["state"] for place in self.seen()["seen"])

    def test_table_and_json(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        for number in range(2):
            self.start("-s", "--", "true")
            wait_until(lambda: self.states().count("waiting") == number + 1)
        lines = self.status().splitlines()
        self.assertEqual(lines[0].split(), ["SPACE", "REGION", "STATE", "MODE", "PID", "USER", "SINCE", "FOR", "FENCE", "COMMAND"])
        self.assertIn(" inside ", lines[1])
        self.assertIn("waits, 1", lines[2])
        self.assertIn("waits, 2", lines[3])
        self.assertIn(pwd.getpwuid(os.geteuid()).pw_name, lines[1])
        inside, first, second = self.seen()["seen"]
        self.assertEqual([inside["state"], first["order"], second["order"]], ["inside", 1, 2])
        self.assertEqual(first["waits_for"], inside["place"])
        self.assertEqual((inside["mode"], first["mode"], inside["names"]), ("exclusive", "shared", ["x"]))
        self.assertGreater(inside["fence"], 0)
        self.assertNotIn("\x1b", "\n".join(lines))

    def test_only_some(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        self.assertEqual(len(self.status("x").splitlines()), 2)
        self.assertEqual(len(self.afteryou("status", "-S", self.space, "y").stdout.splitlines()), 1)

    def test_how_this_machine_waits(self):
        self.run_it("--", "true")
        self.assertIn("waits: by futex_waitv(2)\nasks: told by who leaves, by datagrams of unix(7)\n", self.status("-v"))
        self.assertNotIn("waits:", self.status())
        refused = subprocess.run([AFTERYOU, "status", "-v", "-S", self.space], preexec_fn=refuse_waitv,
                                 capture_output=True, text=True, check=True)
        self.assertIn("waits: on one word at a time", refused.stdout)
        self.assertIn(os.strerror(errno.EPERM), refused.stdout)

    def test_dead_inside(self):
        self.run_it("-c", "kill -9 $$")
        self.assertIn("died inside", self.status())
        self.assertEqual(self.states(), ["died-inside"])
        self.run_it("--", "true")
        self.assertEqual(self.states(), [])

    def test_who_tests(self):
        """While a test of --when keeps others out, `status` and who is refused name the one who runs it."""
        self.start("--when", "echo $PPID > tests; sleep 1000", "--", "true")
        self.number_in("tests")
        place, = [place for place in self.seen()["seen"] if place["state"] != "idle"]
        self.assertEqual((place["state"], place["conditional"]), ("inside", True))
        self.assertTrue(place["command"].startswith("afteryou run "), place["command"])
        self.assertIsNotNone(place["since"])
        self.assertRegex(self.status(), f" inside, tests +exclusive +{place['pid']} ")
        refused = self.run_it("-n", "--", "true")
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, f"inside is pid {place['pid']} .* since .*, testing its condition")

    def test_test_that_failed(self):
        """Who waits for its condition keeps nobody out."""
        self.start("--when", "echo $PPID > tests; false", "--", "true")
        self.number_in("tests")
        wait_until(lambda: "waiting" in self.states())
        self.assertTrue(self.is_free())

    def test_reads_only(self):
        """The file is the same, byte for byte, after any looking."""
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        def digest():
            return hashlib.sha256(pathlib.Path(self.space).read_bytes()[:1 << 20]).hexdigest()
        before = digest()
        self.status()
        self.status("--json")
        self.afteryou("spaces", "show", self.space)
        self.assertEqual(digest(), before)

    def test_hostile_names(self):
        """What could upset a terminal, or JSON, comes out harmless."""
        name = 'a"\\\x1b[31m\xff\n'.encode("latin-1")
        process = subprocess.Popen([AFTERYOU, "run", "-S", self.space, name, "-c", "echo $$ > inside; sleep 60"],
                                   cwd=self.directory, env=self.environment)
        self.addCleanup(self.finish, process)
        self.number_in("inside")
        table = subprocess.run([AFTERYOU, "status", "-S", self.space], capture_output=True, check=True).stdout
        self.assertNotIn(b"\x1b", table)
        self.assertEqual(table.count(b"\n"), 2)
        self.assertEqual(self.seen()["seen"][0]["names"], ['a"\\\x1b[31m\ufffd\n'])

    def test_missing(self):
        result = self.afteryou("status", "-S", self.space)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (125, 1))
        self.assertEqual(self.afteryou("status", "--bogus").returncode, 125)

    def test_watch_without_a_terminal(self):
        """A line of JSON a second, until a signal."""
        self.run_it("--", "true")
        watch = subprocess.Popen([AFTERYOU, "status", "--json", "--watch", "-S", self.space], stdout=subprocess.PIPE, text=True)
        for _ in range(2):
            self.assertEqual(json.loads(watch.stdout.readline())["schema"], 1)
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(), 0)
        watch.stdout.close()


class Unreadable(CommandTest):
    """What lies among the spaces of the user and cannot be read is told; the others are shown."""

    def setUp(self):
        super().setUp()
        self.environment["AFTERYOU_DIR"] = str(self.shared_memory)
        self.assertEqual(self.afteryou("spaces", "create", "good").returncode, 0)

    def make_bad_ones(self):
        space = (self.shared_memory / "good").read_bytes()
        version = bytearray(space)
        version[8] ^= 0x40
        (self.shared_memory / "a-version").write_bytes(version)
        (self.shared_memory / "b-junk").write_text("junk")
        os.mkfifo(self.shared_memory / "c-fifo")
        (self.shared_memory / "d-directory").mkdir()
        (self.shared_memory / "e-link").symlink_to("nowhere")
        for name in "a-version", "b-junk":
            (self.shared_memory / name).chmod(0o600)
        return ["a-version", "b-junk", "c-fifo", "d-directory", "e-link"]

    def test_table(self):
        bad = self.make_bad_ones()
        shown = self.afteryou("status")
        lines = shown.stderr.splitlines()
        self.assertEqual((shown.returncode, len(lines)), (0, len(bad)), shown.stderr)
        for line, name in zip(lines, bad):
            self.assertRegex(line, f"^afteryou status: .*{name}")

    def test_json(self):
        self.assertEqual(json.loads(self.afteryou("status", "--json").stdout)["unreadable"], [])
        bad = self.make_bad_ones()
        shown = json.loads(self.afteryou("status", "--json").stdout)
        self.assertEqual([space["name"] for space in shown["spaces"]], ["good"])
        self.assertEqual([one["name"] for one in shown["unreadable"]], bad)
        for one in shown["unreadable"]:
            self.assertIn(one["name"], one["error"])

    def test_a_name(self):
        """Who may be in a space that cannot be read is not said to be nowhere."""
        self.assertEqual(self.afteryou("status", "x").returncode, 1)
        self.make_bad_ones()
        shown = self.afteryou("status", "x")
        self.assertEqual(shown.returncode, 125)
        self.assertNotIn("nobody is inside", shown.stderr)
        self.assertIn("nobody has 'x' open in the spaces that can be read, and some cannot be read", shown.stderr)


class Cycle(CommandTest):
    def test_cycle_through_commands(self):
        """x holds and waits for y, y holds and waits for x: by nested runs nobody but a person can see it; both are shown."""
        script = f"echo $$ > {{0}}; sleep 0.5; exec {AFTERYOU} run -S {self.space} -w 20 {{1}} -- true"
        self.start("-c", script.format("a", "y"), name="x")
        self.start("-c", script.format("b", "x"), name="y")
        self.number_in("a")
        self.number_in("b")
        def waiting():
            shown = json.loads(self.afteryou("status", "--json", "-S", self.space).stdout)
            return sum(place["state"] == "waiting" for place in shown["spaces"][0]["seen"]) == 2
        wait_until(waiting)
        table = self.afteryou("status", "-S", self.space).stdout
        self.assertEqual((table.count(" inside "), table.count("waits, 1")), (2, 2))


class Spaces(CommandTest):
    def spaces(self, *words, code=0):
        result = self.afteryou("spaces", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1 if code else 0, result.stderr)
        return result.stdout if code == 0 else result.stderr

    def test_create_show_remove(self):
        self.spaces("create", self.space, "--places", "64", "--precedence", "writers-first", "--mode", "0660", "--overtake", "3")
        shown = json.loads(self.spaces("show", self.space, "--json"))
        self.assertEqual(shown["schema"], 1)
        self.assertEqual({key: shown["space"][key] for key in ("places", "precedence", "mode", "overtake", "protocol")},
                         {"places": 64, "precedence": "writers-first", "mode": "0660", "overtake": 3, "protocol": "courtesy"})
        self.assertIn("writers-first", self.spaces("show", self.space))
        self.assertIn("64 places", self.spaces("create", self.space, "--places", "65", code=125))
        self.spaces("remove", self.space)
        self.assertFalse(os.path.exists(self.space))
        self.spaces("show", self.space, code=125)

    def test_remove_refuses(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        self.assertRegex(self.spaces("remove", self.space, code=125), r"in use.*pid \d+")
        self.assertTrue(os.path.exists(self.space))

    def test_repair(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        self.assertIn("nothing was done", self.spaces("repair", self.space))
        copy = self.space + "-copy"
        subprocess.run(["cp", "--sparse=always", self.space, copy], check=True)
        self.assertIn("1 place said to be alive", self.spaces("repair", copy))
        self.assertIn("nothing was done", self.spaces("repair", copy))

    def test_list(self):
        self.environment["AFTERYOU_DIR"] = str(self.shared_memory)  # what others have there is not this test's
        name = f"test-{os.getpid()}"
        self.spaces("create", name)
        self.assertIn(name, self.spaces())
        self.assertIn(name, [space["name"] for space in json.loads(self.spaces("list", "--json"))["spaces"]])

    def test_mistakes(self):
        self.spaces("create", code=125)
        self.spaces("create", "", code=125)
        self.spaces("destroy", "x", code=125)
        self.spaces("create", self.space, "--places", "0", code=125)
        self.spaces("create", self.space, "--precedence", "mine", code=125)
        self.spaces("create", self.space, "--mode", "9", code=125)
        self.spaces("show", "a", "b", code=125)
        self.spaces("list", "--places", "3", code=125)
        self.spaces("--bogus", code=125)
        self.spaces("remove", self.space, code=125)
        self.spaces("repair", self.space, code=125)


if __name__ == "__main__":
    unittest.main()
