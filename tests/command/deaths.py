# SPDX-License-Identifier: MIT
"""Death of the wrapper, the guardian, the command; and commands that leave others running."""
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, children_of, guards_of, is_running, parent_of, wait_until

AFTER_DEATH = "echo $AFTERYOU_AFTER_DEATH"


class Deaths(CommandTest):
    def start_tree(self, *options):
        """A command with a child, a grandchild in the background, and a daemon: their pids, by name."""
        script = """
            setsid sh -c 'echo $$ > daemon; exec sleep 1000' &
            sh -c 'sleep 1000 & echo $! > grandchild; wait' &
            echo $! > child
            echo $$ > command
            wait
        """
        process = self.start(*options, "--", "sh", "-c", script)
        return process, {name: self.number_in(name) for name in ("command", "child", "grandchild", "daemon")}

    def forget_tree(self):
        for name in ("command", "child", "grandchild", "daemon"):
            self.file(name).unlink()

    def assert_all_gone(self, pids):
        for name, pid in pids.items():
            wait_until(lambda pid=pid: not is_running(pid), f"the end of {name}")

    def next_one_in(self):
        """Waits for its turn; what it was told."""
        result = self.run_it("-w", "50", "-c", AFTER_DEATH)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def test_wrapper_killed(self):
        """All that it started die with it, and only then is the next one in, which is told."""
        process, pids = self.start_tree()
        self.assertFalse(self.is_free())
        process.send_signal(signal.SIGKILL)
        self.assertEqual(self.next_one_in(), "1")
        for name, pid in pids.items():
            self.assertFalse(is_running(pid), f"{name} runs on, unprotected")
        self.assertEqual(self.next_one_in(), "0")

    def test_wrapper_and_command_killed(self):
        process, pids = self.start_tree()
        # on a busy machine the guards may have ended the command before kill(1) comes to it
        subprocess.run(["kill", "-9", str(process.pid), str(pids["command"])], stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(self.next_one_in(), "1")
        for name, pid in pids.items():
            self.assertFalse(is_running(pid), f"{name} runs on, unprotected")

    def test_guard_killed(self):
        """The other one ends everything, and only then is the next one in."""
        for which in range(2):
            process, pids = self.start_tree()
            guards = guards_of(process.pid)
            self.assertEqual(parent_of(pids["command"]), guards[1])
            os.kill(guards[which], signal.SIGKILL)
            self.assertEqual(self.next_one_in(), "1")
            for name, pid in pids.items():
                self.assertFalse(is_running(pid), f"{name} runs on, unprotected")
            self.assertEqual(process.wait(), 128 + signal.SIGKILL)
            self.forget_tree()

    def test_told_beside_a_condition(self):
        """Who only looks whether a condition holds by now acts on no death: the next one in is told, whoever it is."""
        def looks():
            return len(self.file("looks").read_text()) if self.file("looks").exists() else 0

        waiter = self.start("--when", "echo >> looks; [ -e flag ] && [ ! -e seen ] && touch seen", "--", "true")
        wait_until(looks, "that it is asked")
        process, _ = self.start_tree()
        before = looks()
        process.send_signal(signal.SIGKILL)
        wait_until(lambda: looks() > before, "that it is asked after the death")
        self.file("flag").touch()
        wait_until(self.file("seen").exists, "that it holds, as seen from outside")
        before = looks()
        wait_until(lambda: looks() > before, "that it is asked inside")
        self.assertEqual(self.next_one_in(), "1")
        self.assertEqual(self.next_one_in(), "0")
        self.finish(waiter)

    def test_stopped_before_it_is_executed(self):
        """The command is there but stands still, not yet executed: the wrapper's death ends it all the same."""
        process = self.start_slowly("setpgid:delay_exit=700000", "--", "sleep", "1000")
        deputy = guards_of(process.pid)[1]
        command = wait_until(lambda: children_of(deputy), "the command")[0]
        os.kill(command, signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(self.next_one_in(), "1")
        self.assertFalse(is_running(command))

    def test_command_killed(self):
        """What it left running is waited for; then the next one in is told of the death."""
        process, pids = self.start_tree()
        os.kill(pids["command"], signal.SIGKILL)
        self.assertEqual(process.wait(), 128 + signal.SIGKILL)
        self.assertFalse(self.is_free(), "its children still run")
        for name in ("child", "grandchild"):
            os.kill(pids[name], signal.SIGKILL)
        self.assertFalse(self.is_free(), "the daemon still runs")
        os.kill(pids["daemon"], signal.SIGKILL)
        self.assertEqual(self.next_one_in(), "1")
        self.assertEqual(self.next_one_in(), "0")

    def test_daemon(self):
        """Forks twice, leaves the session, closes every descriptor: the region is held for it; `run` returns."""
        script = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        pid = os.getpid()
        with open(sys.argv[1], "w") as out:
            out.write(f"{pid}\\n")
        os.closerange(0, 1024)
        time.sleep(1000)
    os._exit(0)
os.wait()
"""
        result = self.run_it("-v", "--", sys.executable, "-c", script, str(self.file("daemon")))
        self.assertEqual(result.returncode, 0)
        self.assertIn("held until what it left running", result.stderr)
        daemon = self.number_in("daemon")
        self.assertTrue(is_running(daemon))
        self.assertFalse(self.is_free())
        os.kill(daemon, signal.SIGKILL)
        self.assertEqual(self.next_one_in(), "0")

    def test_close(self):
        """With -o the region is left as soon as the command has ended."""
        self.assertEqual(self.run_it("-o", "-c", "sleep 1000 > /dev/null 2>&1 & echo $! > left").returncode, 0)
        left = self.number_in("left")
        self.assertTrue(self.is_free())
        self.assertTrue(is_running(left))
        os.kill(left, signal.SIGKILL)

    def test_signal_to_those_left(self):
        """Who ends the guardian ends what it still waits for."""
        self.assertEqual(self.run_it("-c", "sleep 1000 > /dev/null 2>&1 & echo $! > left").returncode, 0)
        left = self.number_in("left")
        deputy = parent_of(left)
        os.kill(parent_of(deputy), signal.SIGTERM)
        self.assert_all_gone({"left": left})
        self.next_one_in()

    def test_waiter_killed(self):
        """One in the queue, killed, is in nobody's way."""
        holder = self.start("-c", "echo $$ > inside; exec sleep 1000")
        command = self.number_in("inside")
        waiters = [self.start("--", "true") for _ in range(3)]
        time.sleep(0.2)
        waiters[0].send_signal(signal.SIGKILL)
        waiters[1].send_signal(signal.SIGTERM)
        self.assertEqual(waiters[1].wait(), 128 + signal.SIGTERM)
        os.kill(command, signal.SIGTERM)
        self.assertEqual(waiters[2].wait(), 0)
        self.assertEqual(holder.wait(), 128 + signal.SIGTERM)

    def test_signals_pass(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT, signal.SIGALRM,
                       signal.SIGWINCH, signal.SIGTSTP, signal.SIGRTMIN + 3):
            script = ("import os, signal, sys, time\n"
                      f"signal.signal({int(number)}, lambda n, f: os._exit(77))\n"
                      "print(os.getpid(), file=open('ready', 'w'))\n"
                      "while True:  # a signal just before a sleep is noticed after it\n"
                      "    time.sleep(0.05)\n")
            process = self.start("--", sys.executable, "-c", script, stderr=subprocess.DEVNULL)
            self.number_in("ready")
            process.send_signal(number)
            self.assertEqual(process.wait(), 77, number)
            self.file("ready").unlink()

    def test_storm(self):
        """200 times: SIGKILL to the wrapper at a random moment. Never two inside, never stuck."""
        script = f"""
            mkdir inside || {{ echo two >> overlaps; exit 1; }}
            sleep 0.00$(($$ % 9)) & wait
            rmdir inside
        """
        # A command that dies leaves the directory: the next one, which is told, clears it.
        line = "[ $AFTERYOU_AFTER_DEATH = 1 ] && rm -rf inside;" + script
        chance = random.Random(4)
        running = []
        for _ in range(200):
            while len(running) < 4:
                running.append(self.start("-c", line, stderr=subprocess.DEVNULL))
            time.sleep(chance.random() * 0.02)
            running.pop(chance.randrange(len(running))).send_signal(signal.SIGKILL)
        for process in running:
            process.wait()
        self.assertFalse(self.file("overlaps").exists(), "two inside at once")
        self.assertEqual(self.run_it("-w", "50", "--", "true").returncode, 0)


class Words(CommandTest):
    """What is said of a guard's death is true."""

    def test_guardian_in_the_queue(self):
        holder = self.start("-c", "echo $$ > inside; cat > /dev/null", stdin=subprocess.PIPE)
        self.number_in("inside")
        waiter = self.start("--", "touch", "ran", stderr=subprocess.PIPE)
        os.kill(wait_until(lambda: children_of(waiter.pid), "the guardian")[0], signal.SIGKILL)
        self.assertIn("it was in the queue, and no command was run", waiter.communicate(timeout=PATIENCE)[1])
        self.assertFalse(self.file("ran").exists())
        holder.stdin.close()
        self.assertEqual(holder.wait(PATIENCE), 0)

    def test_guards_inside(self):
        for guard in 0, 1:
            process = self.start("-c", "echo $$ > inside; sleep 1000", stderr=subprocess.PIPE)
            command = self.number_in("inside")
            os.kill(guards_of(process.pid)[guard], signal.SIGKILL)
            self.assertIn("the command is being ended", process.communicate(timeout=PATIENCE)[1])
            wait_until(lambda: not is_running(command), "the end of the command")
            self.file("inside").unlink()


if __name__ == "__main__":
    assert AFTERYOU
    unittest.main()
