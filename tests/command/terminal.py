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

from support import AFTERYOU, PATIENCE, CommandTest


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

    def test_watch(self):
        """Follows a resize, and gives the screen back."""
        self.start("-c", "echo $$ > inside; sleep 60")
        self.number_in("inside")
        watch = self.terminal(AFTERYOU, "status", "--watch", "-S", self.space)
        watch.resize(24, 200)
        watch.await_text("\x1b\\[\\?1049h.*afteryou run -S")
        watch.resize(6, 20)
        frame = watch.await_text("\x1b\\[H\x1b\\[2J([^\x1b]*\r\nSPACE[^\x1b]*)\x1b").group(1)
        while max(map(len, frame.split("\r\n"))) > 20:
            frame = watch.await_text("\x1b\\[H\x1b\\[2J([^\x1b]*\r\nSPACE[^\x1b]*)\x1b").group(1)
        watch.type("\x03")
        watch.await_text("\x1b\\[\\?25h\x1b\\[\\?1049l")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(watch.pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
