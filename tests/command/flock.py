# SPDX-License-Identifier: MIT
"""flock(1)'s words, unchanged: `afteryou flock`, a link named flock, and, where a command is given, `afteryou run`."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, wait_until

SHELL = "/bin/bash"


class FlockTest(CommandTest):
    def setUp(self):
        super().setUp()
        os.symlink(AFTERYOU, self.file("flock"))
        self.environment["AFTERYOU_DIR"] = str(self.shared_memory)  # the default space, of this test alone
        self.environment["XDG_RUNTIME_DIR"] = str(self.shared_memory)
        self.environment["PATH"] = f"{self.directory}:{os.environ['PATH']}"
        self.lock = str(self.file("lock file"))

    def call(self, *words, **keywords):
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=self.directory,
                              env=self.environment, **keywords)

    def flock(self, *words, **keywords):
        return self.call(AFTERYOU, "flock", *words, **keywords)

    def hold(self, *words, program=(AFTERYOU, "flock")):
        """Inside until its stdin ends."""
        self.file("inside").unlink(missing_ok=True)
        process = subprocess.Popen([*program, *words, "sh", "-c", "echo $$ > inside; cat > /dev/null"], stdin=subprocess.PIPE,
                                   text=True, cwd=self.directory, env=self.environment)
        self.addCleanup(self.finish, process)
        self.number_in("inside")
        return process

    def script(self, text):
        return self.call(SHELL, "-c", text.replace("FLOCK", f'"{AFTERYOU}" flock'))

    def await_waiting(self, count):
        def waiting():
            seen = json.loads(self.call(AFTERYOU, "status", "--json").stdout)["spaces"]
            return sum(place["state"] == "waiting" and place["names"][0].startswith(str(self.directory))
                       for space in seen for place in space["seen"]) == count
        wait_until(waiting, "the queue")


class SixCases(FlockTest):
    """The cases of util-linux's own test, with its words, and silent as it wants them: while another holds a shared lock."""

    def cases(self, *program):
        lock = str(self.file("lockfile"))
        holder = self.hold("--shared", lock, program=program)

        def attempt(*words, code):
            result = self.call(*program, *words, lock, "echo", "message")
            self.assertEqual((result.returncode, result.stdout, result.stderr), (code, "" if code else "message\n", ""), words)
        attempt("--nonblock", "--conflict-exit-code", "123", code=123)
        attempt("--no-fork", "--nonblock", "--conflict-exit-code", "123", code=123)
        attempt("--shared", code=0)
        attempt("--nonblock", "--exclusive", "--conflict-exit-code", "123", code=123)
        begun = time.monotonic()
        attempt("--timeout", "0.2", "--conflict-exit-code", "5", code=5)
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)
        waiter = subprocess.Popen([*program, "--timeout", str(PATIENCE), "--conflict-exit-code", "5", lock, "cat", "inside"],
                                  stdout=subprocess.PIPE, text=True, cwd=self.directory, env=self.environment)
        self.addCleanup(self.finish, waiter)
        self.await_waiting(1)
        holder.stdin.close()
        self.assertEqual((waiter.wait(PATIENCE), bool(waiter.stdout.read())), (0, True))

    def test_the_subcommand(self):
        self.cases(AFTERYOU, "flock")

    def test_a_link_of_that_name(self):
        self.cases("flock")

    def test_run(self):
        self.cases(AFTERYOU, "run")


class Words(FlockTest):
    def test_every_word_for_the_same(self):
        holder = self.hold("-s", self.lock)
        for words in (["-n"], ["--nb"], ["--nonblock"], ["--nonblocking"], ["-w", "0"], ["-w", "0.05"], ["--wait", "0.05"], ["--timeout=.05"],
                      ["-en"], ["-xn"], ["--exclusive", "-n"], ["-n", "-w", str(10 * PATIENCE)]):
            self.assertEqual(self.flock(*words, self.lock, "true").returncode, 1, words)
            self.assertEqual(self.flock(*words, "-E", "7", self.lock, "-c", "true").returncode, 7, words)
        for words in (["-s"], ["--shared"], ["-u"], ["--unlock"]):
            self.assertEqual(self.flock("-n", *words, self.lock, "true").returncode, 0, words)
        holder.stdin.close()
        holder.wait()
        for words in (["-o"], ["--close"], ["-F"], ["--no-fork"], ["--verbose"], ["-e"]):
            self.assertEqual(self.flock(*words, self.lock, "-c", "exit 3").returncode, 3, words)

    def test_bad_words(self):
        for code, words in ((64, []), (64, ["-n"]), (64, ["-Z", "f", "true"]), (64, ["-w", "soon", "f", "true"]), (64, ["-E", "256", "f", "true"]),
                            (64, ["f", "-c"]), (64, ["f", "-c", "true", "more"]), (64, ["-F", "-o", "f", "true"]), (64, ["no-number"]),
                            (65, ["77"]), (66, ["/no/such/directory/f", "true"]), (127, ["f", "/no/such/command"]),
                            (69, ["-F", "f", "/no/such/command"])):
            result = self.flock(*words)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (code, "", 1), (words, result.stderr))
            self.assertTrue(result.stderr.startswith("afteryou "), result.stderr)

    def test_help_and_version(self):
        self.assertIn("usage: afteryou flock", self.flock("--help").stdout)
        self.assertRegex(self.flock("-V").stdout, r"^afteryou \d")

    def test_files(self):
        """Made if it is not there; a directory; the script itself, which is being run; one with a path longer than a name."""
        self.assertEqual(self.flock("new", "test", "-e", "new").returncode, 0)
        self.assertEqual(self.flock(str(self.directory), "echo", "in").stdout, "in\n")
        script = self.file("script")
        script.write_text(f'#!/bin/sh\n[ "$LOCKED" = "$0" ] || exec env LOCKED="$0" "{AFTERYOU}" flock -en "$0" "$0" "$@"\necho "$1"\n')
        script.chmod(0o755)
        self.assertEqual(self.call(str(script), "itself").stdout, "itself\n")
        deep = self.directory / ("d" * 200) / ("e" * 200)
        deep.mkdir(parents=True)
        holder = self.hold(str(deep / "lock"))
        self.assertEqual(self.flock("-n", str(deep / "lock"), "true").returncode, 1)
        holder.stdin.close()

    def test_words_of_run_that_make_no_sense(self):
        result = self.afteryou("run", "-u", "x", "--", "true")
        self.assertEqual((result.returncode, "flock -u NUMBER" in result.stderr), (125, True))
        result = self.afteryou("run", "-n", "9")
        self.assertEqual((result.returncode, "'afteryou flock 9'" in result.stderr), (125, True))

    def test_a_command_that_is_not_there(self):
        """It is flock that complains."""
        result = self.afteryou("flock", str(self.file("lock")), "/nonexistent")
        self.assertEqual(result.returncode, 127)
        self.assertEqual(result.stderr, "afteryou flock: cannot run '/nonexistent': No such file or directory\n")

    def test_quiet(self):
        """For cron: nothing is said, the exit code tells; -v brings the words back."""
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        for words, said in ((["-q"], False), (["--quiet"], False), (["-E", "1"], False), (["-E", "1", "-v"], True), ([], True)):
            result = self.run_it("-n", *words, "--", "true")
            self.assertEqual((result.returncode, bool(result.stderr)), (1, said), words)


class Descriptors(FlockTest):
    def test_held_until_it_is_closed(self):
        result = self.script('''
            exec 9>lock; FLOCK 9 || exit 20
            FLOCK -n lock true && exit 21
            ( FLOCK -n 8 ) 8>lock && exit 22
            FLOCK -n 9 || exit 23          # it has it already
            exec 9>&-
            FLOCK -n lock true || exit 24
            ( FLOCK -n 8 || exit 1 ) 8>lock || exit 25''')
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_free_at_once(self):
        """Nothing of ours lingers: what is closed, or unlocked, can be had at once, without waiting."""
        result = self.script('''
            for i in 1 2 3 4 5 6 7 8 9 10; do
                ( FLOCK -n 9 || exit 1 ) 9>lock || exit 20
                FLOCK -n lock true || exit 21
                exec 9>lock; FLOCK -n 9 || exit 22; FLOCK -u 9 || exit 23; ( FLOCK -n 8 || exit 1 ) 8>lock || exit 24
            done''')
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_held_after_a_kill(self):
        """Of the shell; what it started keeps the file open, as with flock(1)."""
        shell = subprocess.Popen([SHELL, "-c", f'exec 9>lock; "{AFTERYOU}" flock 9; sleep 60 & echo $! > sleeper; wait'],
                                 cwd=self.directory, env=self.environment)
        self.addCleanup(self.finish, shell)
        sleeper = self.number_in("sleeper")
        shell.kill()
        shell.wait()
        self.assertEqual(self.flock("-n", "lock", "true").returncode, 1)
        os.kill(sleeper, signal.SIGKILL)
        self.assertEqual(self.flock("-w", str(PATIENCE), "lock", "true").returncode, 0)

    def test_shared_and_changed(self):
        result = self.script('''
            exec 8>lock 9>lock
            FLOCK -s 8 && FLOCK -s -n 9 || exit 20
            FLOCK -n 9 && exit 21                    # a reader is there
            FLOCK -u 8; FLOCK -x -n 9 || exit 22
            FLOCK -s -n 8 && exit 23
            FLOCK -s 9; FLOCK -s -n 8 || exit 24''')
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_changed_while_another_waits(self):
        """Two readers; one wants to write, and waits; the other then, too: neither waits for ever."""
        result = self.script(f'''
            exec 8>lock 9>lock
            FLOCK -s 8; FLOCK -s 9
            FLOCK -x -w {PATIENCE} 8 && FLOCK -u 8 & first=$!
            FLOCK -x -w {PATIENCE} 9 && FLOCK -u 9 || exit 20
            wait $first''')
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_timeout(self):
        self.hold(self.lock)
        begun = time.monotonic()
        result = self.script(f"exec 9>'{self.lock}'; FLOCK -w 0.2 -E 9 9")
        self.assertEqual((result.returncode, result.stderr), (9, ""))
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)

    def test_no_fork(self):
        """The command has our pid, and its open file keeps the lock."""
        process = subprocess.Popen([AFTERYOU, "flock", "-F", self.lock, "sh", "-c", "echo $$ > inside; exec sleep 60"],
                                   cwd=self.directory, env=self.environment)
        self.addCleanup(self.finish, process)
        self.assertEqual(self.number_in("inside"), process.pid)
        self.assertEqual(self.flock("-n", self.lock, "true").returncode, 1)
        process.kill()
        process.wait()
        self.assertEqual(self.flock("-n", self.lock, "true").returncode, 0)


@unittest.skipUnless(shutil.which("flock", path="/usr/bin:/bin"), "needs util-linux's flock")
class BesideFlock(FlockTest):
    """The two exclude each other: scripts can be moved one by one."""
    THEIRS = shutil.which("flock", path="/usr/bin:/bin")

    def test_ours_excludes_theirs(self):
        self.hold(self.lock)
        self.assertEqual(self.call(self.THEIRS, "-n", self.lock, "true").returncode, 1)

    def test_theirs_excludes_ours(self):
        holder = self.hold(self.lock, program=[self.THEIRS])
        self.assertEqual(self.flock("-n", self.lock, "true").returncode, 1)
        self.assertEqual(self.flock("-w", "0.1", self.lock, "true").returncode, 1)
        self.assertIn("flock(1)", self.flock("--verbose", "-n", self.lock, "true").stderr)
        self.assertEqual(self.flock("-F", "-w", "0.1", self.lock, "true").returncode, 1)
        self.assertEqual(self.script(f"exec 9<'{self.lock}'; FLOCK -n 9").returncode, 1)
        waiter = subprocess.Popen([AFTERYOU, "flock", self.lock, "echo", "through"], stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(self.finish, waiter)
        holder.stdin.close()
        self.assertEqual(waiter.communicate(timeout=PATIENCE)[0], "through\n")

    def test_a_signal_while_theirs_is_inside(self):
        """Who waits for it and is ended by a signal has not died inside: nothing was begun."""
        holder = self.hold(self.lock, program=[self.THEIRS])
        for words in ([self.lock, "true"], ["-F", self.lock, "true"]):
            waiter = subprocess.Popen([AFTERYOU, "flock", *words], env=self.environment)
            self.addCleanup(self.finish, waiter)
            wait_until(lambda: "inside" in self.call(AFTERYOU, "status", self.lock).stdout, "the next one")
            time.sleep(0.1)
            waiter.terminate()
            self.assertIn(waiter.wait(PATIENCE), (-signal.SIGTERM, 128 + signal.SIGTERM))
        holder.stdin.close()
        self.assertEqual(self.flock(self.lock, "-c", "echo $AFTERYOU_AFTER_DEATH").stdout, "0\n")


    def test_all_kinds_at_once(self):
        """Commands, descriptors, -F and flock(1), many at a time: never two inside, and nobody is lost."""
        self.file("counter").write_text("0\n")
        self.file("inside.sh").write_text('mkdir guard || echo two >> wrong\nread n < counter; echo $((n + 1)) > counter\nrmdir guard\n')
        kinds = ("FLOCK lock sh inside.sh", "( FLOCK 9; sh inside.sh ) 9>lock", "FLOCK -F lock sh inside.sh", f"{self.THEIRS} lock sh inside.sh")
        line = "; ".join(kind.replace("FLOCK", f'"{AFTERYOU}" flock') for kind in kinds)
        workers = [subprocess.Popen([SHELL, "-c", line], cwd=self.directory, env=self.environment) for _ in range(10)]
        for worker in workers:
            self.addCleanup(self.finish, worker)
        self.assertEqual([worker.wait(PATIENCE) for worker in workers], [0] * 10)
        self.assertEqual((self.file("counter").read_text(), self.file("wrong").exists()), ("40\n", False))


class Nested(FlockTest):
    def test_in_itself(self):
        """Refused without a word if it does not wait; else it says that it would never end. Shared in shared is together."""
        for words, code, says in ((["-n"], 1, ""), (["-w", "0.1"], 1, ""), ([], 125, "would never be obtained"), (["-s", "-n"], 1, "")):
            result = self.flock("lock", AFTERYOU, "flock", *words, "lock", "true")
            self.assertEqual((result.returncode, says in result.stderr, bool(result.stderr)), (code, True, bool(says)), words)
        self.assertEqual(self.flock("-s", "lock", AFTERYOU, "flock", "-s", "lock", "echo", "both").stdout, "both\n")


class Order(FlockTest):
    def test_first_come_first_served(self):
        """Commands and descriptors, in one queue."""
        holder = self.hold("lock")
        waiters = []
        for number in range(6):
            line = (f'exec 9>lock; "{AFTERYOU}" flock 9; echo {number} >> order' if number % 2
                    else f'"{AFTERYOU}" flock lock sh -c "echo {number} >> order"')
            waiters.append(subprocess.Popen([SHELL, "-c", line], cwd=self.directory, env=self.environment))
            self.addCleanup(self.finish, waiters[-1])
            self.await_waiting(number + 1)
        holder.stdin.close()
        for waiter in waiters:
            self.assertEqual(waiter.wait(PATIENCE), 0)
        self.assertEqual(self.file("order").read_text().split(), [str(number) for number in range(6)])

    def test_a_death_is_told_to_a_command(self):
        """One that takes a descriptor in between does not swallow it."""
        self.flock("lock", "-c", "kill -9 $$")
        self.assertEqual(self.script("exec 9>lock; FLOCK 9").returncode, 0)
        told = [self.flock("lock", "-c", "echo $AFTERYOU_AFTER_DEATH").stdout for _ in range(2)]
        self.assertEqual(told, ["1\n", "0\n"])


if __name__ == "__main__":
    unittest.main()
