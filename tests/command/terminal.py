# SPDX-License-Identifier: MIT
"""On a terminal: Ctrl-C, Ctrl-Z and fg under an interactive shell; the queue shown live; the watched screen."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, is_running, parent_of, wait_until


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, words, directory, environment):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.chdir(directory)
            os.execvpe(words[0], words, environment)
        self.text = ""

    def type(self, text):
        os.write(self.file, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def await_text(self, pattern):
        """Until what was shown since the last match matches; the match."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(pattern, self.text, re.S)
            if found:
                self.text = self.text[found.end():]
                return found
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.file, 65536).decode(errors="replace")
                except OSError:
                    break
        raise AssertionError(f"no {pattern!r} in {self.text!r}")

    def close(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.file)
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass


class OnATerminal(CommandTest):
    def terminal(self, *words):
        terminal = Terminal(list(words), self.directory, {**self.environment, "TERM": "xterm", "PS1": "$ "})
        self.addCleanup(terminal.close)
        return terminal

    def shell(self):
        shell = self.terminal("bash", "--norc", "--noprofile", "-i")
        shell.type(f"alias run='{AFTERYOU} run -S {self.space}'; bind 'set enable-bracketed-paste off'; echo rea''dy\n")
        shell.await_text("[\r\n]ready")
        return shell

    def test_interrupt(self):
        """Ctrl-C reaches the command once, and the wrapper ends with its code."""
        shell = self.shell()
        shell.type("run x -- sh -c 'trap \"echo got; exit 9\" INT; echo be''gun; while :; do sleep 0.05; done'; echo code=$?\n")
        shell.await_text("[\r\n]begun")
        shell.type("\x03")
        found = shell.await_text("code=([0-9]+)\r")
        self.assertEqual(found.group(1), "9")

    def test_interrupt_in_the_queue(self):
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        shell = self.shell()
        shell.type("run x -- true; echo code=$?\n")
        shell.await_text("number 1 in the queue")
        shell.type("\x03")
        shell.await_text("code=130\r")

    def test_stop_and_continue(self):
        """Ctrl-Z gives the shell back while the region stays held; fg goes on."""
        shell = self.shell()
        shell.type("run x -- sh -c 'echo be''gun; read line; echo \"got $line\"'\n")
        shell.await_text("[\r\n]begun")
        shell.type("\x1a")
        shell.await_text("Stopped")
        self.assertFalse(self.is_free())
        shell.type("fg\n")
        time.sleep(0.2)
        shell.type("word\n")
        shell.await_text("[\r\n]got word")
        shell.type("echo code=$?\n")
        shell.await_text("code=0\r")
        self.assertTrue(self.is_free())

    def test_the_shell_dies_while_the_job_is_stopped(self):
        """Nobody is left who could continue it: the kernel tells it, as any other job, and the region is free."""
        shell = self.shell()
        # One process: dash starts others by vfork(), and who waits for a vfork() cannot be stopped, job or not.
        shell.type("run x -- sh -c 'echo $$ > inside; echo be''gun; exec cat'\n")
        shell.await_text("[\r\n]begun")
        shell.type("\x1a")
        shell.await_text("Stopped")
        command = self.number_in("inside")
        wrapper = parent_of(parent_of(parent_of(command)))
        os.kill(shell.pid, signal.SIGKILL)
        for pid in (command, wrapper):
            wait_until(lambda pid=pid: not is_running(pid), "the end of the job")
        wait_until(self.is_free, "a free region")

    def test_a_shell_inside(self):
        """An interactive shell as the command has job control of its own, and can suspend itself."""
        shell = self.shell()
        shell.type("run x -- bash --norc --noprofile -i\n")
        shell.type("bind 'set enable-bracketed-paste off'; echo in''side\n")
        shell.await_text("[\r\n]inside")
        shell.type("sleep 100\n")
        time.sleep(0.3)
        shell.type("\x1a")
        shell.await_text("Stopped")
        shell.type("kill %1; suspend\n")
        shell.await_text("Stopped.*run x|Stopped")
        shell.type("echo out''side\n")
        shell.await_text("[\r\n]outside")
        shell.type("fg\n")
        shell.type("exit 5\n")
        time.sleep(0.2)
        shell.type("echo code=$?\n")
        shell.await_text("code=5\r")

    def test_the_queue_is_shown(self):
        holder = self.start("-c", "echo $$ > inside; cat > /dev/null", stdin=subprocess.PIPE)
        self.number_in("inside")
        first = self.start("--", "true")
        time.sleep(0.2)
        waiter = self.terminal(*self.words("x", "--", "sh", "-c", "echo my turn"))
        waiter.await_text(r"afteryou: 'x': number 2 in the queue, for .*; inside is pid ")
        holder.stdin.close()
        first.wait()
        waiter.await_text("\r\x1b\\[Kmy turn")

    def watch(self, rows, columns):
        watch = self.terminal(AFTERYOU, "status", "--watch", "-S", self.space)
        watch.resize(rows, columns)
        watch.await_text("\x1b\\[\\?1049h")
        return watch

    @staticmethod
    def frame(watch, is_it):
        """The lines of the first screen for which is_it() holds, without colours."""
        end = time.monotonic() + PATIENCE
        while True:
            shown = watch.await_text("\x1b\\[H\x1b\\[2J(.*?)\x1b\\[\\?25l").group(1)
            lines = re.sub("\x1b\\[\\d*m", "", shown).split("\r\n")
            if is_it(lines):
                return lines
            assert time.monotonic() < end, lines

    def end_of(self, watch, code=0):
        """It gave the screen back, and the terminal as it was."""
        watch.await_text("\x1b\\[\\?25h\x1b\\[\\?1049l")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(watch.pid, 0)[1]), code)
        local = termios.tcgetattr(watch.file)[3]
        self.assertEqual(local & (termios.ICANON | termios.ECHO), termios.ICANON | termios.ECHO)

    def test_watch(self):
        """Follows a resize; a narrow screen does without what is dispensable."""
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        watch = self.watch(24, 200)
        wide = self.frame(watch, lambda lines: len(lines) > 3)
        self.assertEqual(wide[2].split(), ["SPACE", "REGION", "STATE", "MODE", "PID", "USER", "SINCE", "FOR", "FENCE", "COMMAND"])
        self.assertIn("afteryou run -S", wide[3])
        watch.resize(6, 40)
        narrow = self.frame(watch, lambda lines: len(lines) > 3 and max(map(len, lines)) <= 40)
        self.assertEqual(narrow[2].split()[:2] + narrow[2].split()[-1:], ["REGION", "STATE", "COMMAND"])
        self.assertRegex(narrow[3], r"^x +inside .*afteryou")
        watch.resize(3, 8)
        self.frame(watch, lambda lines: len(lines) == 2 and max(map(len, lines)) <= 8 and lines[0].startswith("REGION"))
        watch.type("\x03")
        self.end_of(watch)

    def test_watch_keys(self):
        """q ends; arrows move, within the table; s sorts."""
        for number in range(9):
            self.start("-c", f"echo $$ > inside{number}; sleep 60", name=f"region{number}")
            self.number_in(f"inside{number}")
        watch = self.watch(8, 100)  # five lines below the titles

        def first(lines):
            return lines[3].split()[1] if len(lines) > 3 and lines[2].startswith("SPACE") else None
        self.frame(watch, lambda lines: first(lines) == "region0" and len(lines) == 8)
        for keys, then in (("\x1b[B", "region1"), ("\x1b[B\x1bOB", "region3"), ("\x1b[A", "region2"), ("\x1b[B" * 20, "region4"), ("\x1b[H", "region0"),
                           (" ", "region4"), ("\x1b[5~", "region0"), ("G", "region4"), ("k" * 30, "region0")):
            watch.type(keys)
            self.frame(watch, lambda lines, then=then: first(lines) == then)
        for key, order in (("s", "since"), ("s", "pid"), ("\x1b[C", "user"), ("\x1b[D", "pid")):
            watch.type(key)
            lines = self.frame(watch, lambda lines, order=order: f"by {order} " in lines[0])
        pids = [int(line.split()[4]) for line in lines[3:]]
        self.assertEqual((pids, len(pids)), (sorted(pids), 5))
        watch.type("q")
        self.end_of(watch)

    def test_watch_filter(self):
        """/ and some words show only the rows that have them all; Enter keeps them, Esc shows all again."""
        for name in ("apple", "banana", "cherry"):
            self.start("-c", f"echo $$ > inside-{name}; sleep 60", name=name)
            self.number_in(f"inside-{name}")
        watch = self.watch(12, 120)

        def regions(lines):
            return [line.split()[1] for line in lines[3:]] if len(lines) > 2 and lines[2].startswith("SPACE") else None

        def shows(title, *expected):
            return self.frame(watch, lambda lines: re.search(title, lines[0]) and regions(lines) == list(expected))
        shows(r"/: filter", "apple", "banana", "cherry")
        watch.type("/")
        shows(r"^filter: _  \(Enter: keep it, Esc: show all\)", "apple", "banana", "cherry")
        watch.type("ANAN q?")  # letters are letters while it is typed: nothing ends; nor is there such a word in any row
        self.frame(watch, lambda lines: lines[0].startswith("filter: ANAN q?_") and "nothing fits the filter" in lines[3])
        watch.type("\x7f\x7f\x7f\x1b[3~\x1b[A")  # rubbed out; keys that send sequences are no letters
        shows(r"^filter: ANAN_", "banana")
        watch.type(" inside\r")
        shows(r"by region  filter: ANAN inside  \(Esc: show all", "banana")
        watch.type("s\x1b[3~")  # keys are keys again; one that it does not know leaves the filter alone
        shows(r"by since  filter: ANAN inside ", "banana")
        watch.type("/\x15é\x7fpple")
        shows(r"^filter: pple_", "apple")
        watch.type("\x1b")
        shows(r"by since  \(q: end", "apple", "banana", "cherry")
        watch.type("/cherry\n")
        shows(r"filter: cherry  ", "cherry")
        watch.type("\x1b")
        shows(r"\(q: end", "apple", "banana", "cherry")
        watch.resize(3, 40)
        watch.type("/ban")
        self.frame(watch, lambda lines: lines[0].startswith("filter: ban_") and lines[1].startswith("REGION"))
        watch.type("\x03")
        self.end_of(watch)

    def test_sort(self):
        for name in ("b", "a"):
            self.start("-c", f"echo $$ > inside-{name}; sleep 60", name=name)
            self.number_in(f"inside-{name}")
        for order, expected in (("region", ["a", "b"]), ("since", ["b", "a"])):
            shown = self.afteryou("status", "-S", self.space, "--sort", order).stdout
            self.assertEqual([line.split()[1] for line in shown.splitlines()[1:]], expected, order)
        self.assertEqual(self.afteryou("status", "--sort", "sideways").returncode, 125)

    def test_watch_under_a_shell(self):
        """Ctrl-Z gives the screen and the terminal to the shell; fg takes them again."""
        shell = self.shell()
        shell.type(f"{AFTERYOU} status --watch -S {self.space}x; echo code=$?\n")
        shell.await_text("\x1b\\[\\?1049h.*\x1b\\[2J")
        shell.type("\x1a")
        shell.await_text("\x1b\\[\\?1049l.*Stopped")
        shell.type("echo ec''ho\n")
        shell.await_text("[\r\n]echo")
        shell.type("fg\n")
        shell.await_text("\x1b\\[\\?1049h.*\x1b\\[2J")
        shell.type("q")
        shell.await_text("\x1b\\[\\?1049l")
        shell.type("echo ag''ain\n")
        shell.await_text("[\r\n]again")


if __name__ == "__main__":
    unittest.main()
