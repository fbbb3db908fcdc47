# SPDX-License-Identifier: MIT
"""Signals reach the command, once; what was stopped goes on; a test of --when leaves nothing behind."""
import os
import pty
import signal
import subprocess
import sys
import time
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, guards_of, is_running, state_of, wait_until

# Writes down every SIGTERM that it gets, and ends when the file `enough` is there.
COUNTER = """
import os, signal, time
count = 0
def note(number, frame):
    global count
    count += 1
signal.signal(signal.SIGTERM, note)
print(os.getpid(), file=open('ready', 'w'))
while not os.path.exists('enough'):
    time.sleep(0.01)
print(count, file=open('count', 'w'))
"""


class Signals(CommandTest):
    def count_of_terms(self, send, **keywords):
        for name in ("ready", "count", "enough"):
            self.file(name).unlink(missing_ok=True)
        process = self.start("--", sys.executable, "-c", COUNTER, **keywords)
        self.number_in("ready")
        send(process)
        time.sleep(1.5)  # longer than the deputy waits for the wrapper
        self.file("enough").touch()
        self.assertEqual(process.wait(), 0)
        return self.number_in("count")

    def test_once(self):
        """To the wrapper, to the guardian, to the deputy, to the whole group: the command gets it once."""
        ways = {
            "wrapper": lambda process: process.terminate(),
            "guardian": lambda process: os.kill(guards_of(process.pid)[0], signal.SIGTERM),
            "deputy": lambda process: os.kill(guards_of(process.pid)[1], signal.SIGTERM),
            "group": lambda process: os.killpg(process.pid, signal.SIGTERM),
        }
        for name, send in ways.items():
            self.assertEqual(self.count_of_terms(send, start_new_session=True), 1, name)
        self.assertEqual(self.count_of_terms(ways["group"], process_group=0), 1, "a group within the session")

    def test_group_and_wrapper(self):
        """One to the group, and later one to the wrapper, are two."""
        def send(process):
            os.killpg(process.pid, signal.SIGTERM)
            time.sleep(0.3)
            process.terminate()
        self.assertEqual(self.count_of_terms(send, start_new_session=True), 2)

    def test_those_that_queue(self):
        """Of real-time signals, none is lost on the way."""
        script = ("import os, signal\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN + 3])\n"
                  "print(os.getpid(), file=open('ready', 'w'))\n"
                  "for _ in range(20):\n"
                  "    signal.sigwaitinfo([signal.SIGRTMIN + 3])\n")
        process = self.start("--", sys.executable, "-c", script)
        self.number_in("ready")
        for _ in range(20):
            process.send_signal(signal.SIGRTMIN + 3)
        self.assertEqual(process.wait(), 0)

    def test_guardian_stopped_and_continued(self):
        """Whatever it was stopped with, and wherever: the wrapper goes on with it."""
        holder = self.start("-c", "echo $$ > inside; cat > /dev/null", stdin=subprocess.PIPE)
        self.number_in("inside")
        waiter = self.start("--", "true")
        in_the_queue = wait_until(lambda: self.guardian_in_the_queue(waiter.pid), "the guardian")
        for wrapper, guardian in ((holder.pid, guards_of(holder.pid)[0]), (waiter.pid, in_the_queue)):
            for number in (signal.SIGSTOP, signal.SIGTSTP):
                os.kill(guardian, number)
                if guardian == in_the_queue or number == signal.SIGSTOP:
                    wait_until(lambda: state_of(guardian) == "T", "the guardian's stop")
                time.sleep(0.1)
                os.kill(guardian, signal.SIGCONT)
                wait_until(lambda: state_of(guardian) != "T", "the guardian's going on")
                wait_until(lambda: state_of(wrapper) != "T", "the wrapper's going on")
        holder.stdin.close()
        self.assertEqual((holder.wait(), waiter.wait()), (0, 0))

    def test_before_the_command(self):
        """To the group, when the deputy is there and the command is not: it reaches the command, once."""
        process = self.start_slowly("fork,vfork,clone,clone3:delay_enter=400000", "--", "sleep", "1000")
        deputy = guards_of(process.pid)[1]
        wait_until(lambda: os.getpgid(deputy) == process.pid, "the deputy in the group")
        os.killpg(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 128 + signal.SIGTERM)

    def start_job(self):
        """As a shell does, in a group of its own: the wrapper and the pid of the command."""
        process = self.start("-c", "echo $$ > inside; exec sleep 1000", process_group=0)
        return process, self.number_in("inside")

    def test_continued_before_the_wrapper_heard_of_the_stop(self):
        """What was stopped and continued as a group goes on: it is not stopped once more when the deputy has waited enough."""
        process, command = self.start_job()
        process.send_signal(signal.SIGSTOP)  # so it cannot pass on what it gets
        os.killpg(process.pid, signal.SIGTSTP)
        wait_until(lambda: state_of(command) == "T", "the command's stop")
        os.killpg(process.pid, signal.SIGCONT)
        wait_until(lambda: state_of(command) != "T", "the command's going on")
        time.sleep(1.5)  # longer than the deputy waits for the wrapper
        self.assertEqual((state_of(command), state_of(process.pid)), ("S", "S"))

    def test_stopped_again_at_once(self):
        """Whoever continued the job finds it stopped again, and it stays so."""
        process, command = self.start_job()
        os.killpg(process.pid, signal.SIGTSTP)
        for _ in range(20):
            wait_until(lambda: state_of(process.pid) == "T", "the wrapper's stop")
            os.killpg(process.pid, signal.SIGCONT)
            os.kill(command, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T", "the wrapper's stop")
        time.sleep(1.5)  # longer than the deputy waits for the wrapper
        self.assertEqual((state_of(command), state_of(process.pid)), ("T", "T"))

    def test_ended_while_stopped(self):
        """The wrapper was stopped with its command: it goes on when that has ended, and when a guard has, and tells how."""
        for which, number in (("command", signal.SIGKILL), ("command", signal.SIGTERM), ("guardian", signal.SIGKILL),
                              ("deputy", signal.SIGKILL)):
            process = self.start("-c", "echo $$ > inside; exec sleep 1000", stderr=subprocess.DEVNULL)
            guardian, deputy = guards_of(process.pid)
            command = self.number_in("inside")
            os.kill(command, signal.SIGSTOP)
            wait_until(lambda: state_of(process.pid) == "T", "the wrapper's stop")
            os.kill({"command": command, "guardian": guardian, "deputy": deputy}[which], number)
            if number != signal.SIGKILL:
                os.kill(command, signal.SIGCONT)
            self.assertEqual(process.wait(PATIENCE), 128 + number, which)
            self.file("inside").unlink()

    @staticmethod
    def guardian_in_the_queue(wrapper):
        path = f"/proc/{wrapper}/task/{wrapper}/children"
        with open(path, encoding="ascii") as children:
            words = children.read().split()
        return int(words[0]) if words else None


class Hangup(CommandTest):
    def start_as_leader(self, *rest):
        """On a terminal of its own, whose session it leads: its pid and the terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execve(AFTERYOU, self.words("x", *rest), self.environment)
        return pid, terminal

    def test_inside(self):
        """The terminal goes away: the command is told, and may end as it likes."""
        pid, terminal = self.start_as_leader("-c", "trap 'echo 1 > told; exit 5' HUP; echo $$ > inside\n"
                                             "while :; do sleep 0.05; done")
        self.number_in("inside")
        os.close(terminal)
        self.number_in("told")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)
        wait_until(self.is_free, "a free region")

    def test_without_a_trap(self):
        pid, terminal = self.start_as_leader("-c", "echo $$ > inside; sleep 1000")
        command = self.number_in("inside")
        os.close(terminal)
        os.waitpid(pid, 0)
        wait_until(lambda: not is_running(command), "the end of the command")
        self.assertEqual(self.run_it("-w", "50", "--", "true").returncode, 0)

    def test_in_the_queue(self):
        holder = self.start("-c", "echo $$ > inside; cat > /dev/null", stdin=subprocess.PIPE)
        self.number_in("inside")
        pid, terminal = self.start_as_leader("--", "true")
        os.read(terminal, 1)  # it shows the queue
        os.close(terminal)
        os.waitpid(pid, 0)
        holder.stdin.close()
        self.assertEqual(holder.wait(), 0)


class Tests(CommandTest):
    def test_longer_than_the_wait(self):
        """-w bounds the test too, and what it has started."""
        result = self.run_it("-w", "0.5", "--when", "sleep 1000 & echo $! > child; wait", "--", "true")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("the test of --when had not answered yet, and was ended", result.stderr)
        self.assertFalse(is_running(self.number_in("child")))

    def test_without_a_wait(self):
        """-n bounds it as well; and one that fails is told apart."""
        result = self.run_it("-n", "--when", "sleep 1000", "--", "true")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("the test of --when had not answered yet, and was ended", result.stderr)
        for code in 1, 2, 124:
            result = self.run_it("-n", "--when", f"exit {code}", "--", "true")
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("nobody is inside, but the test of --when fails", result.stderr)

    def test_ended(self):
        """SIGTERM, SIGKILL, in the middle of a test: nothing of it is left."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            process = self.start("--when", "sleep 1000 & echo $! > child; wait", "--", "true")
            child = self.number_in("child")
            process.send_signal(number)
            process.wait()
            wait_until(lambda: not is_running(child), "the end of the test's child")
            self.file("child").unlink()

    def test_a_child_of_a_passed_test(self):
        """It ends with its test, and holds nothing."""
        result = self.run_it("--when", "sleep 1000 & echo $! > child; true", "--", "true")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse(is_running(self.number_in("child")))
        self.assertTrue(self.is_free())


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Namespace(CommandTest):
    """A new PID namespace, in which /proc is still the old one's."""

    def test_wrapper_killed(self):
        run = subprocess.list2cmdline(self.words("x"))
        mark = f"1000.{os.getpid()}"
        script = f"""
            {run} -c 'setsid sleep {mark} & echo 1 > ready; sleep {mark}' &
            while ! [ -s ready ]; do sleep 0.05; done
            kill -9 $!
            {run} -w 50 -c 'pgrep -f "^sleep {mark}" > left'
            echo 1 > done
        """
        process = subprocess.Popen(["unshare", "--pid", "--fork", "sh", "-c", script], cwd=self.directory,
                                   env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.number_in("done")
        self.assertEqual(self.file("left").read_text(), "", "they run, and another is inside")

    def test_group(self):
        """The leader of the job's group is outside: what the group is sent still reaches the command once."""
        words = self.words("x", "--", sys.executable, "-c", COUNTER)
        process = subprocess.Popen(["unshare", "--pid", "--fork", "sh", "-c", '"$@"; exit', "sh", *words], cwd=self.directory,
                                   env=self.environment, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.number_in("ready")
        os.killpg(process.pid, signal.SIGTERM)
        time.sleep(1.5)  # longer than the deputy waits for the wrapper
        self.file("enough").touch()
        self.assertEqual(self.number_in("count"), 1)

    def test_terminal(self):
        """The command is in the foreground, and can read."""
        run = subprocess.list2cmdline(self.words("x"))
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execvpe("unshare", ["unshare", "--pid", "--fork", "sh", "-c",
                                   f"{run} -c 'echo ready; read word; echo got $word > result'; exit"], self.environment)
        self.addCleanup(os.close, terminal)
        while b"ready" not in os.read(terminal, 4096):
            pass
        os.write(terminal, b"it\n")
        wait_until(lambda: self.file("result").exists() and self.file("result").read_text() == "got it\n", "the word")
        os.waitpid(pid, 0)


class Descriptors(CommandTest):
    def test_closed_ones(self):
        """What was closed is closed in the command: it notices."""
        script = "for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] && open=$open$fd; done; echo \"$open\" > open"
        for closed, left in (("<&-", "12"), (">&-", "02"), ("2>&-", "01"), ("<&- >&- 2>&-", "")):
            words = self.words("x", "--", "sh", "-c", script)
            subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", *words], cwd=self.directory, check=True,
                           env=self.environment, timeout=PATIENCE)
            self.assertEqual(self.file("open").read_text(), left + "\n", closed)


class Limits(CommandTest):
    def test_file_size(self):
        """A space larger than `ulimit -f`: a word about it."""
        words = subprocess.list2cmdline(self.words("x", "--", "true"))
        result = subprocess.run(["sh", "-c", f"ulimit -f 1; exec {words}"], capture_output=True, text=True, check=False,
                                env=self.environment)
        self.assertEqual(result.returncode, 125)
        self.assertRegex(result.stderr, r"^afteryou run: .*File too large.*ulimit -f.*\n$")


if __name__ == "__main__":
    unittest.main()
