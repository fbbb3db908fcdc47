# SPDX-License-Identifier: MIT
"""Words in, exit codes out: every option of `run`, and one clear line for every mistake."""
import os
import signal
import subprocess
import unittest

from support import AFTERYOU, CommandTest


class ExitCodes(CommandTest):
    def test_the_commands_own(self):
        for code in (0, 1, 7, 124, 255):
            self.assertEqual(self.run_it("--", "sh", "-c", f"exit {code}").returncode, code)

    def test_signal(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            self.assertEqual(self.run_it("--", "sh", "-c", f"kill -{int(number)} $$").returncode, 128 + number)

    def test_not_run(self):
        self.assertEqual(self.run_it("--", "/etc/passwd").returncode, 126)
        self.assertEqual(self.run_it("--", "/no/such/command").returncode, 127)
        self.assertTrue(self.is_free())

    def test_not_obtained(self):
        self.start("--", "sleep", "60")
        self.number_of_holder()
        self.assertEqual(self.run_it("-n", "--", "true").returncode, 1)
        self.assertEqual(self.run_it("-n", "-E", "42", "--", "true").returncode, 42)
        self.assertEqual(self.run_it("-w", "0.1", "--", "true").returncode, 1)
        self.assertEqual(self.run_it("-w", "0.1", "-E", "0", "--", "true").returncode, 0)
        self.assertEqual(self.run_it("-w", "0", "--", "true").returncode, 1)

    def number_of_holder(self):
        while self.is_free():
            pass

    def test_refusal_names_the_holder(self):
        self.start("--", "sleep", "60")
        self.number_of_holder()
        for words in (["-n"], ["-w", "0.1"]):
            said = self.run_it(*words, "--", "true").stderr
            self.assertRegex(said, r"^afteryou run: 'x' not obtained.*: inside is pid \d+ \(afteryou run -S .*\) since "
                                   r"[-\d ]*\d\d:\d\d:\d\d, for \d+")
            self.assertEqual(said.count("\n"), 1)


class Words(CommandTest):
    def complains(self, *words, code=125, about):
        result = self.afteryou("run", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(about, result.stderr)

    def test_bad_input(self):
        self.complains(about="no name")
        self.complains("x", about="no command")
        self.complains("x", "--", about="no command")
        self.complains("", "--", "true", about="empty")
        self.complains("n" * 256, "--", "true", about="256 bytes")
        self.complains("x", "--also", "", "--", "true", about="empty")
        self.complains("x", "-k", "0", "--", "true", about="-k")
        self.complains("x", "-k", "4097", "--", "true", about="-k")
        self.complains("x", "-k", "two", "--", "true", about="'two'")
        self.complains("x", "--take", "9", "--of", "8", "--", "true", about="--take 9")
        self.complains("x", "--take", "0", "--of", "8", "--", "true", about="--take")
        self.complains("x", "--take", "2", "--", "true", about="go together")
        self.complains("x", "-k", "2", "--take", "2", "--of", "3", "--", "true", about="exclude")
        self.complains("x", "-m", "sideways", "--", "true", about="-m takes exclusive, shared, protected-write, concurrent-write, concurrent-read or null, not 'sideways'")
        self.complains("x", "-n", "-w", "3", "--", "true", about="-n and -w")
        self.complains("x", "-w", "soon", "--", "true", about="'soon'")
        self.complains("x", "-w", "-1", "--", "true", about="'-1'")
        self.complains("x", "-w", "nan", "--", "true", about="'nan'")
        self.complains("x", "-w", "1e30", "--", "true", about="-w takes seconds from 0 to 2147483, as in 2.5, not '1e30'")
        self.complains("x", "-E", "256", "--", "true", about="-E")
        self.complains("x", "--priority", "high", "--", "true", about="'high'")
        self.complains("x", "--bogus", "--", "true", about="--bogus")
        self.complains("x", "-Z", "--", "true", about="-Z")
        self.complains("x", "-w", about="-w wants a value: SECONDS")
        self.complains("x", "--time", about="--time wants a value: SECONDS")
        self.complains("x", "--nb", "-Zx", "--", "true", about="no option -Z;")
        self.complains("x", "--mode=EX", "-Zx", "--", "true", about="no option -Z;")
        self.complains("x", "--nonblock=3", "--", "true", about="--nonblock takes no value, but got '3'")
        self.complains("x", "--c", "y", "--", "true", about="--c may be any of --conflict-exit-code, --command, --close, --cluster: write it in full")
        self.complains("x", "-c", "true", "true", about="both -c")
        self.complains("x", "--cluster", "no-such", "--", "true", about="no agent of cluster 'no-such' has run on this machine")
        self.complains("x", "--cluster", "no-such", "--", "true", about="start one: afteryou agent --cluster no-such\n")
        self.complains("x", "--cluster", "a/b", "--", "true", about="no name of a cluster")
        for words in (("-k", "2"), ("--take", "1", "--of", "2"), ("--also", "y"), ("--when", "true"), ("--priority", "1")):
            self.complains("x", "--cluster", "c", *words, "--", "true", about="cluster")
        self.complains("x", "--protocol", "hope", "-S", self.space, "--", "true", about="'hope'")
        self.complains("x", *["--also", "y"] * 7, "--", "true", about="6 times")

    def test_bad_spaces(self):
        self.complains("x", "-S", "/no/such/directory/space", "--", "true", about="/no/such/directory")
        self.complains("x", "-S", "s" * 256, "--", "true", about="255 bytes")
        self.complains("x", "-S", str(self.directory), "--", "true", about=str(self.directory))
        self.file("foreign").write_bytes(b"no space at all" * 1000)
        self.complains("x", "-S", str(self.file("foreign")), "--", "true", about="foreign")

        self.complains("x", "-S", "", "--", "true", about="-S: the name of a space is empty")

    def test_directory_of_spaces(self):
        """One that `run` refuses is refused in the same words by who only looks, and nobody makes it."""
        shared, file, missing = self.file("shared"), self.file("file"), self.file("missing")
        shared.mkdir()
        shared.chmod(0o777)
        file.write_text("")
        for directory, why in (("relative", "AFTERYOU_DIR must be an absolute path, not 'relative'"),
                               (shared, f"{shared} may be written to by others (mode 777)"),
                               (file, f"{file} is not a directory"),
                               (file / "below", f"cannot make {file}/below: Not a directory"),
                               (missing / "below", f"cannot make {missing}/below: No such file or directory")):
            self.environment["AFTERYOU_DIR"] = str(directory)
            refusals = set()
            for words in (["run", "x", "--", "true"], ["status"], ["status", "-S", "x"], ["spaces"], ["spaces", "--json"], ["spaces", "show", "x"],
                          ["spaces", "remove", "x"], ["spaces", "create", "x"]):
                result = self.afteryou(*words, cwd=self.directory)
                self.assertEqual((result.returncode, result.stderr.count("\n")), (125, 1), (words, result))
                refusals.add(result.stderr.partition(": ")[2])
            self.assertEqual(len(refusals), 1, refusals)
            self.assertIn(why, refusals.pop())
        for end in ("", "/"):
            self.environment["AFTERYOU_DIR"] = str(missing) + end
            self.assertEqual(self.afteryou("status").returncode, 0)
            self.assertEqual(self.afteryou("spaces").stderr, "afteryou spaces: there is no space yet\n")
        self.assertFalse(missing.exists())

    def test_no_proc(self):
        """In a mount namespace of its own /proc is empty: a new space cannot be made, and that says why."""
        line = f'mount -t tmpfs none /proc && exec "{AFTERYOU}" run -S "{self.space}" x -- true'
        result = subprocess.run(["unshare", "-m", "sh", "-c", line], capture_output=True, text=True, check=False)
        if "unshare" in result.stderr or "mount:" in result.stderr:
            self.skipTest("needs the right to mount")
        self.assertEqual(result.returncode, 125)
        self.assertRegex(result.stderr, f"^afteryou run: cannot make {self.space}: .*: mount /proc\n$")

    def test_read_only_tmpfs(self):
        """In a mount namespace of its own /dev/shm is read-only."""
        line = f'mount -t tmpfs -o ro none /dev/shm && exec "{AFTERYOU}" run x -- true'
        result = subprocess.run(["unshare", "-m", "sh", "-c", line], capture_output=True, text=True, check=False)
        if "unshare" in result.stderr or "mount:" in result.stderr:
            self.skipTest("needs the right to mount")
        self.assertEqual(result.returncode, 125)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertIn("Read-only file system", result.stderr)

    def test_unwritable_space(self):
        self.assertEqual(self.run_it("--", "true").returncode, 0)
        os.chmod(self.shared_memory, 0o755)
        if os.geteuid() != 0:
            os.chmod(self.space, 0o400)
            self.complains("x", "-S", self.space, "--", "true", about="ermission denied")
            return
        os.chmod(self.space, 0o644)
        line = [AFTERYOU, "run", "-S", self.space, "x", "--", "true"]
        if subprocess.run(["setpriv", "--reuid=65534", AFTERYOU, "--version"], capture_output=True).returncode != 0:
            self.skipTest("another user cannot reach the program")
        result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", *line], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (125, 1), result.stderr)
        self.assertIn("ermission denied", result.stderr)

    def test_words_that_stand_alone(self):
        for words, about in ((["check", "--list", "extra"], "--list stands alone: leave out 'extra'"), (["check", "--list", "--json"], "leave out --json"),
                             (["check", "--json", "--list"], "leave out --json"), (["simulate", "--list", "lamport"], "leave out 'lamport'"),
                             (["simulate", "--list", "--json"], "leave out --json"), (["check", "forks", "--late"], "--late only with --stopped"),
                             (["check", "courtesy", "--late"], "--late only with --stopped"), (["status", "-S", ""], "-S: the name of a space is empty")):
            result = self.afteryou(*words)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (125, "", 1), words)
            self.assertIn(about, result.stderr)

    def test_help_and_version(self):
        for words in ([], ["run"], ["run", "x"], ["flock"], ["status"], ["spaces"], ["agent"], ["agent", "--cluster", "c"], ["cluster"],
                      ["cluster", "try"], ["check"], ["check", "token"], ["simulate"], ["simulate", "token"], ["audit"]):
            result = self.afteryou(*words, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("usage: afteryou", result.stdout)
            result = self.afteryou(*words, "--version")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"^afteryou \d+\.\d+\.\d+\n$")


class Options(CommandTest):
    def test_places_of_words(self):
        """Options before and after the name, with and without '--'; the command's own options stay its own."""
        for words in (["-n", "x", "echo", "-n", "a"], ["x", "-n", "echo", "-n", "a"], ["x", "-n", "--", "echo", "-n", "a"]):
            result = self.afteryou("run", "-S", self.space, *words)
            self.assertEqual((result.stdout, result.returncode), ("a", 0), words)

    def test_shell_line(self):
        result = self.run_it("-c", "echo $((6 * 7)); exit 3")
        self.assertEqual((result.stdout, result.returncode), ("42\n", 3))

    def test_streams_are_the_commands_own(self):
        result = self.run_it("--", "sh", "-c", "cat; echo err >&2", input="in\n")
        self.assertEqual((result.stdout, result.stderr), ("in\n", "err\n"))

    def test_verbose(self):
        result = self.run_it("-v", "--take", "1", "--of", "2", "--", "true")
        self.assertRegex(result.stderr, r"afteryou run: x: inside after [\d.]+ s, fence \d+, units 0\n"
                                        r"afteryou run: x: left after [\d.]+ s, exit code 0\n")

    def test_environment(self):
        line = "echo $AFTERYOU_FENCE $AFTERYOU_AFTER_DEATH ${AFTERYOU_UNITS-none}"
        first = self.run_it("-c", line).stdout.split()
        second = self.run_it("-c", line).stdout.split()
        self.assertGreater(int(second[0]), int(first[0]))
        self.assertEqual(first[1:], ["0", "none"])
        self.environment["AFTERYOU_UNITS"] = "left over"
        self.assertEqual(self.run_it("-c", line).stdout.split()[1:], ["0", "none"])
        self.assertEqual(self.run_it("--take", "3", "--of", "5", "-c", line, name="u").stdout.split()[1:], ["0", "0,1,2"])

    def test_signals_ignored_by_the_caller_stay_ignored(self):
        line = ["--", "sh", "-c", "kill -HUP $$; echo alive"]
        self.assertEqual(self.run_it(*line, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)).stdout, "alive\n")
        self.assertEqual(self.run_it(*line).returncode, 128 + signal.SIGHUP)

    def test_children_ignored_by_the_caller(self):
        result = self.run_it("--", "sh", "-c", "exit 5", preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 5)

    def test_modes(self):
        """Readers together; a writer alone; concurrent writers together."""
        self.start("-s", "-c", "echo $$ > reader; sleep 60")
        self.number_in("reader")
        self.assertTrue(self.is_free("x", "-s"))
        self.assertTrue(self.is_free("x", "-m", "CR"))
        self.assertTrue(self.is_free("x", "-m", "null"))
        for mode in ("exclusive", "protected-write", "concurrent-write"):
            self.assertFalse(self.is_free("x", "-m", mode), mode)

    def test_also(self):
        self.start("--also", "y", "-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        self.assertFalse(self.is_free("y"))
        self.assertFalse(self.is_free("z", "--also", "y"))
        self.assertTrue(self.is_free("z"))

    def test_priority(self):
        self.assertEqual(self.run_it("--priority", "5", "--", "true").returncode, 0)
        self.assertEqual(self.afteryou("spaces", "create", self.space + "2").returncode, 0)
        result = self.afteryou("run", "-S", self.space + "2", "--priority", "5", "x", "--", "true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("precedence", result.stderr)

    def test_protocol(self):
        self.assertEqual(self.run_it("--protocol", "bakery", "--", "true").returncode, 0)
        self.assertEqual(self.run_it("--protocol", "courtesy", "--", "true").returncode, 125)

    def test_disagreement(self):
        self.start("-k", "2", "-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        result = self.run_it("-k", "3", "--", "true")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (125, 1))
        self.assertRegex(result.stderr, r"'x' has 2 slots for pid \d+ \(.*\), not 3: all who use it must agree")


if __name__ == "__main__":
    unittest.main()
