# SPDX-License-Identifier: MIT
"""Whichever guard ends, of whatever, the region is held until what it protects is gone; and every tree ends."""
import os
import resource
import signal
import subprocess
import sys
import unittest

from support import AFTERYOU, CommandTest, children_of, guards_of, is_running, parent_of, wait_until

# A command that leaves a child, and a daemon in a session of its own; their pids are in files.
TREE = """
    setsid sh -c 'echo $$ > {0}daemon; exec sleep 1000' &
    sh -c 'echo $$ > {0}child; exec sleep 1000' &
    echo $$ > {0}command
    wait
"""
NAMES = ("command", "child", "daemon")
FATAL = [signal.SIGPIPE, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP,
         signal.SIGSYS, signal.SIGXFSZ, signal.SIGXCPU, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1,
         signal.SIGVTALRM]


class Guards(CommandTest):
    def pids(self, prefix=""):
        return [self.number_in(prefix + name) for name in NAMES]

    def forget(self, prefix=""):
        for name in NAMES:
            self.file(prefix + name).unlink()

    def who_runs_inside(self, pids, name="x"):
        """Enters, and says which of them run while it is inside."""
        line = "".join(f"grep -qs '^State:.[^ZX]' /proc/{pid}/status && echo {pid}\n" for pid in pids)
        result = self.run_it("-w", "50", "-c", line + "echo inside", name=name)
        self.assertEqual(result.returncode, 0, result.stderr)
        *running, last = result.stdout.split()
        self.assertEqual(last, "inside")
        return [int(pid) for pid in running]

    def assert_protected(self, pids, name="x"):
        self.assertEqual(self.who_runs_inside(pids, name), [], "they run, and another is inside")

    def end(self, pids):
        for pid in pids:
            if is_running(pid):
                os.kill(pid, signal.SIGKILL)

    def test_fatal_signals(self):
        """To the guardian, the deputy, the wrapper: the command gets it, and what runs on is protected."""
        for number in FATAL:
            for which in ("wrapper", "guardian", *["deputy"] * (number == signal.SIGSEGV)):
                process = self.start("-c", TREE.format(""), stderr=subprocess.DEVNULL)
                pids = self.pids()
                guardian, deputy = guards_of(process.pid)
                os.kill({"wrapper": process.pid, "guardian": guardian, "deputy": deputy}[which], number)
                self.assertEqual(process.wait(), 128 + number)
                self.assertFalse(self.is_free(), f"{number.name} to the {which}")
                self.end(pids)
                self.assert_protected(pids)
                self.forget()

    def test_a_pipe_that_nobody_reads(self):
        """`run -v … 2>&1 | head -1` with a command that ignores SIGPIPE goes on, protected."""
        process = self.start("-v", "-c", "trap '' PIPE; echo begun; " + TREE.format(""), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        pids = self.pids()
        process.stdout.readline()
        process.stdout.close()
        os.kill(pids[0], signal.SIGKILL)
        self.assertEqual(process.wait(), 128 + signal.SIGKILL)
        self.assertFalse(self.is_free())
        self.end(pids)
        self.assert_protected(pids)

    def test_a_guard_killed_again_and_again(self):
        """Alone, or together with the wrapper: at no moment is the next one in while something runs."""
        for times in range(24):
            process = self.start("-c", TREE.format(""), stderr=subprocess.DEVNULL)
            pids = self.pids()
            guards = guards_of(process.pid)
            victims = [guards[times % 2], *[process.pid] * (times % 4 > 1)]
            for pid in victims if times % 8 > 3 else reversed(victims):
                os.kill(pid, signal.SIGKILL)
            self.assert_protected(pids)
            process.wait()
            self.forget()

    def test_a_guard_killed_after_the_command(self):
        """The command has ended, its daemon has not: one guard alone suffices."""
        for which in range(2):
            result = self.run_it("-c", "setsid sh -c 'echo $$ > daemon; exec sleep 1000' > /dev/null 2>&1 &")
            self.assertEqual(result.returncode, 0)
            daemon = self.number_in("daemon")
            deputy = parent_of(daemon)
            self.assertFalse(self.is_free())
            os.kill((parent_of(deputy), deputy)[which], signal.SIGKILL)
            self.assert_protected([daemon])
            self.assertFalse(is_running(daemon))
            self.file("daemon").unlink()

    def test_both_guards_killed(self):
        """Whoever waits, and whoever tries, notices by itself: nobody is told."""
        for how in (["-w", "50"], ["-n"]):
            # A session of its own: when the guardian is gone, the deputy's group is orphaned, and the kernel hangs it
            # up if one of it is stopped.
            process = self.start("-c", TREE.format(""), stderr=subprocess.DEVNULL, start_new_session=True)
            pids = self.pids()
            guards = guards_of(process.pid)
            for pid in guards:
                os.kill(pid, signal.SIGSTOP)  # so that neither hears of the other's death
            wait_until(lambda: all(self.is_stopped(pid) for pid in guards))
            for pid in reversed(guards):
                os.kill(pid, signal.SIGKILL)
            process.wait()
            result = self.run_it(*how, "-c", "echo $AFTERYOU_AFTER_DEATH")
            self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)
            self.end(pids)
            self.forget()

    @staticmethod
    def is_stopped(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"

    def start_nested(self):
        inner = subprocess.list2cmdline(self.words("inner"))
        script = f"{inner} -c '{TREE.format('inner-')}' & echo $! > inner; wait"
        script = script.replace("setsid sh -c 'echo $$ > inner-daemon; exec sleep 1000'", "setsid ./daemon.sh")
        script = script.replace("sh -c 'echo $$ > inner-child; exec sleep 1000'", "./child.sh")
        for name in ("daemon", "child"):
            path = self.file(name + ".sh")
            path.write_text(f"#!/bin/sh\necho $$ > inner-{name}\nexec sleep 1000\n")
            path.chmod(0o755)
        process = self.start("-c", script, name="outer", stderr=subprocess.DEVNULL)
        return process, self.number_in("inner"), self.pids("inner-")

    def test_nested(self):
        """The end of the outer one ends the inner: whose region is free when its own processes are gone, not before."""
        for times in range(12):
            process, inner, pids = self.start_nested()
            victims = (process.pid, *guards_of(process.pid))
            os.kill(victims[times % 3], signal.SIGKILL)
            self.assert_protected(pids, "inner")
            self.assert_protected([inner, *pids], "outer")
            process.wait()
            self.forget("inner-")
            self.file("inner").unlink()

    def test_nested_whose_command_has_ended(self):
        """An inner guardian that stays for a daemon, without its wrapper, is told too."""
        inner = subprocess.list2cmdline(self.words("inner"))
        self.file("daemon.sh").write_text("#!/bin/sh\necho $$ > daemon\nexec sleep 1000\n")
        self.file("daemon.sh").chmod(0o755)
        script = f"{inner} -c 'setsid ./daemon.sh > /dev/null 2>&1 &'; echo $$ > outer; sleep 1000"
        process = self.start("-c", script, name="outer", stderr=subprocess.DEVNULL)
        pids = [self.number_in("outer"), self.number_in("daemon")]
        self.assertFalse(self.is_free("inner"))
        process.send_signal(signal.SIGKILL)
        self.assert_protected(pids[1:], "inner")
        self.assert_protected(pids, "outer")

    def marked(self, mark):
        """Processes that have this word in their command line, zombies excluded."""
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as line:
                    if mark.encode() in line.read() and is_running(entry):
                        found.append(int(entry))
            except OSError:
                pass
        return found

    def test_many_daemons(self):
        """500 in sessions of their own: all are gone when the next one is in."""
        script = """
import os, sys, time
for number in range(500):
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
open("ready", "w").write("1\\n")
time.sleep(1000)
"""
        mark = f"mark-{os.getpid()}-many"
        process = self.start("--", sys.executable, "-c", script, mark)
        self.number_in("ready")
        self.assertEqual(len([pid for pid in self.marked(mark) if pid != process.pid]) >= 501, True)
        process.send_signal(signal.SIGKILL)
        self.assert_protected([])
        self.assertEqual(self.marked(mark), [])

    def test_those_who_fork_and_exit(self):
        """Eight that never stand still: fork, exit, and on in the child. The tree ends all the same."""
        script = """
import os, signal, sys
for number in range(8):
    if os.fork() == 0:
        break
else:
    open("ready", "w").write("1\\n")
    signal.pause()
while True:
    if os.fork():
        os._exit(0)
"""
        mark = f"mark-{os.getpid()}-chain"
        process = self.start("--", sys.executable, "-c", script, mark)
        self.number_in("ready")
        process.send_signal(signal.SIGKILL)
        self.assert_protected([])
        self.assertEqual(self.marked(mark), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs a user whose processes can be limited")
    def test_those_who_multiply(self):
        """60 processes, the most that their user may have, all of which try to have children."""
        os.chmod(self.directory, 0o777)
        os.chmod(self.shared_memory, 0o777)
        script = """
import os, signal
if os.fork() == 0:
    while True:
        try:
            os.fork()
        except OSError:
            pass
open("ready", "w").write("1\\n")
signal.pause()
"""

        def become_a_user():
            os.setgid(65534)
            os.setuid(65534)
            resource.setrlimit(resource.RLIMIT_NPROC, (60, 60))
        mark = f"mark-{os.getpid()}-bomb"
        process = self.start("--", "/usr/bin/env", "python3", "-c", script, mark, preexec_fn=become_a_user)
        self.number_in("ready")
        process.send_signal(signal.SIGKILL)
        self.assert_protected([])
        self.assertEqual(self.marked(mark), [])

    def test_children_of_the_shell_before(self):
        """`exec afteryou run …`: those that were there before are not ours to end."""
        run = subprocess.list2cmdline(self.words("x"))
        for line in ("-c 'echo $$ > inside; sleep 1000'", "--when 'echo $$ > inside; sleep 1000' -- true"):
            shell = subprocess.Popen(["sh", "-c", f"sleep 1000 & echo $! > before; exec {run} {line}"], cwd=self.directory,
                                     env=self.environment, stderr=subprocess.DEVNULL)
            self.addCleanup(self.finish, shell)
            inside, before = self.number_in("inside"), self.number_in("before")
            guardian = [child for child in children_of(shell.pid) if child != before][0]
            os.kill(guardian, signal.SIGKILL)
            shell.wait()
            wait_until(lambda: not is_running(inside), "the end of what ran")
            self.assertTrue(is_running(before))
            os.kill(before, signal.SIGKILL)
            for name in ("inside", "before"):
                self.file(name).unlink()

    def test_who_only_has_the_name_of_a_guard(self):
        """It is killed like any other."""
        script = ("import ctypes, signal, time\n"
                  "ctypes.CDLL(None).prctl(15, b'afteryou-guard', 0, 0, 0)\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
                  "print(__import__('os').getpid(), file=open('ready', 'w'))\n"
                  "time.sleep(1000)\n")
        process = self.start("--", sys.executable, "-c", script)
        pid = self.number_in("ready")
        process.send_signal(signal.SIGKILL)
        self.assert_protected([pid])


if __name__ == "__main__":
    assert AFTERYOU
    unittest.main()
