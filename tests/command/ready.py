# SPDX-License-Identifier: MIT
"""Who is next in the queue has its deputy ready: it starts the command when its turn comes, and leaves nothing behind if that never does."""
import json
import os
import signal
import subprocess
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, children_of, is_running, state_of, wait_until


def guard_below(pid, states="S"):
    """A child by the name of a guard: usually one that sleeps until it is rung for."""
    for child in children_of(pid):
        try:
            with open(f"/proc/{child}/comm", encoding="ascii", errors="replace") as name:
                if name.read() == "afteryou-guard\n" and state_of(child) in states:
                    return child
        except OSError:
            pass
    return None


def guards_ready(wrapper, states="S"):
    """The guardian and the deputy of a run that is next; the wrapper may have another child, for a moment."""
    for child in children_of(wrapper):
        deputy = guard_below(child, states)
        if deputy:
            return child, deputy
    return None


class Ready(CommandTest):
    def begin(self, *options, **keywords):
        """One inside, and one that is next: the holder, the waiter, its guardian and its deputy."""
        holder = self.start("-c", "echo $$ > inside; echo $AFTERYOU_FENCE > first; read line", stdin=subprocess.PIPE)
        self.number_in("inside")
        waiter = self.start(*options, "-c", "echo $PPID $AFTERYOU_FENCE $AFTERYOU_AFTER_DEATH $AFTERYOU_GUARDIANS",
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)
        return holder, waiter, *wait_until(lambda: guards_ready(waiter.pid), "the deputy")

    def end(self, holder):
        holder.stdin.write("\n")
        holder.stdin.close()
        self.assertEqual(holder.wait(PATIENCE), 0)

    def told(self, waiter):
        words, complaint = waiter.communicate(timeout=PATIENCE)
        self.assertEqual(waiter.returncode, 0, complaint)
        return words.split()

    def one_waits(self):
        seen = json.loads(self.afteryou("status", "--json", "-S", self.space).stdout)["spaces"][0]["seen"]
        return sum(place["state"] == "waiting" for place in seen) == 1

    def assert_gone(self, *pids):
        wait_until(lambda: not any(is_running(pid) for pid in pids), "the end of the guards")

    def test_its_turn_comes(self):
        holder, waiter, guardian, deputy = self.begin()
        self.assertNotEqual(os.getpgid(deputy), os.getpgid(waiter.pid), "what is sent to the job reaches it")
        self.end(holder)
        parent, fence, after_death, guardians = self.told(waiter)
        self.assertEqual((int(parent), after_death, guardians), (deputy, "0", str(guardian)))
        self.assertGreater(int(fence), self.number_in("first"))

    def test_after_a_death(self):
        holder, waiter, _, deputy = self.begin()
        os.kill(self.number_in("inside"), signal.SIGKILL)
        self.assertEqual(holder.wait(PATIENCE), 128 + signal.SIGKILL)
        self.assertEqual([self.told(waiter)[which] for which in (0, 2)], [str(deputy), "1"])

    def test_it_was_killed(self):
        """Another is started."""
        holder, waiter, _, deputy = self.begin()
        os.kill(deputy, signal.SIGKILL)
        wait_until(lambda: not is_running(deputy))
        self.end(holder)
        self.assertNotEqual(int(self.told(waiter)[0]), deputy)

    def test_the_guardian_is_killed(self):
        """In the queue: nobody is told of a death, for nobody was inside."""
        holder, waiter, guardian, deputy = self.begin()
        os.kill(guardian, signal.SIGKILL)
        self.assertEqual(waiter.wait(PATIENCE), 128 + signal.SIGKILL)
        self.assertIn("no command was run", waiter.stderr.read())
        self.assert_gone(guardian, deputy)
        self.end(holder)
        self.assertEqual(self.run_it("-c", "echo $AFTERYOU_AFTER_DEATH").stdout, "0\n")

    def test_the_wrapper_is_killed(self):
        holder, waiter, guardian, deputy = self.begin()
        waiter.kill()
        self.assert_gone(guardian, deputy)
        self.end(holder)
        self.assertEqual(self.run_it("-c", "echo $AFTERYOU_AFTER_DEATH").stdout, "0\n")

    def test_it_gives_up(self):
        """For its time is over, or it is told to, alone or with its group."""
        ends = ((["-w", "1"], lambda waiter: None, 1), ([], lambda waiter: waiter.terminate(), -signal.SIGTERM),
                ([], lambda waiter: os.killpg(waiter.pid, signal.SIGINT), -signal.SIGINT))
        for options, end, code in ends:
            holder, waiter, guardian, deputy = self.begin(*options, start_new_session=True)
            end(waiter)
            words, _ = waiter.communicate(timeout=PATIENCE)
            self.assertEqual((waiter.returncode % 256, words), (128 - code if code < 0 else code, ""))
            self.assert_gone(guardian, deputy)
            self.end(holder)
            self.file("inside").unlink()

    def test_stopped_and_continued(self):
        """In the queue, with its job: the command does not hear of it."""
        holder, waiter, guardian, deputy = self.begin(start_new_session=True)
        os.killpg(waiter.pid, signal.SIGTSTP)
        os.killpg(waiter.pid, signal.SIGCONT)
        os.kill(guardian, signal.SIGCONT)
        self.end(holder)
        self.assertEqual(int(self.told(waiter)[0]), deputy)

    def test_its_child_is_killed(self):
        """Before it was executed: another is made, and the command runs."""
        holder, waiter, _, deputy = self.begin()
        child = wait_until(lambda: children_of(deputy), "its child")[0]
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: not is_running(child))
        self.end(holder)
        self.assertEqual([self.told(waiter)[which] for which in (0, 2)], [str(deputy), "0"])

    def test_it_is_killed_young(self):
        """Its child, which could not say yet that it dies with it, ends by itself."""
        holder = self.start("-c", "echo $$ > inside; read line", stdin=subprocess.PIPE)
        self.number_in("inside")
        waiter = self.start_slowly("prctl:delay_enter=500000:when=1", "--", "true")
        _, deputy = wait_until(lambda: guards_ready(waiter.pid, "SRtD"), "the deputy")
        child = wait_until(lambda: children_of(deputy), "its child")[0]
        os.kill(deputy, signal.SIGKILL)
        wait_until(lambda: not is_running(child), "the end of its child")
        self.end(holder)

    def test_it_is_stopped(self):
        """The command begins without it, and may have ended when it goes on: it is heard of then."""
        for line in ("echo $AFTERYOU_FENCE > begun; read line", "echo $AFTERYOU_FENCE > begun"):
            holder = self.start("-c", "echo $$ > inside; echo $AFTERYOU_FENCE > first; read line", stdin=subprocess.PIPE)
            self.number_in("inside")
            waiter = self.start("-c", line, stdin=subprocess.PIPE)
            _, deputy = wait_until(lambda: guards_ready(waiter.pid), "the deputy")
            os.kill(deputy, signal.SIGSTOP)
            self.end(holder)
            self.assertGreater(self.number_in("begun"), self.number_in("first"))
            self.assertEqual(self.run_it("-n", "--", "true").returncode, 1, "it is held while the deputy is stopped")
            os.kill(deputy, signal.SIGCONT)
            self.end(waiter)
            for name in ("inside", "begun"):
                self.file(name).unlink()

    def test_to_the_group_before_the_command(self):
        """When the deputy is in it, and the command is not: it reaches the command."""
        holder = self.start("-c", "echo $$ > inside; read line", stdin=subprocess.PIPE)
        self.number_in("inside")
        waiter = self.start_slowly("setpgid:delay_enter=700000", "--", "sleep", "1000")
        _, deputy = wait_until(lambda: guards_ready(waiter.pid), "the deputy")
        wait_until(lambda: children_of(deputy), "its child")
        self.end(holder)
        wait_until(lambda: os.getpgid(deputy) == waiter.pid, "the deputy in the group")
        child = children_of(deputy)[0]
        self.assertNotEqual(os.getpgid(child), waiter.pid)
        os.killpg(waiter.pid, signal.SIGTERM)
        self.assertEqual(waiter.wait(PATIENCE), 128 + signal.SIGTERM)

    def test_without_proc(self):
        """Its child cannot see which signals wait for it: so it looks itself, and lets the child go."""
        holder = self.start("-c", "echo $$ > inside; echo $AFTERYOU_FENCE > first; read line", stdin=subprocess.PIPE)
        self.number_in("inside")
        words = self.words("x", "-c", "echo $AFTERYOU_FENCE; exit 7")
        waiter = subprocess.Popen(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", *words], text=True,
                                  cwd=self.directory, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.finish, waiter)
        wait_until(lambda: waiter.poll() is not None or guards_ready(waiter.pid), "the deputy")
        self.end(holder)
        fence, complaint = waiter.communicate(timeout=PATIENCE)
        if "unshare" in complaint or "mount:" in complaint:
            self.skipTest("needs the right to mount")
        self.assertEqual((waiter.returncode, complaint), (7, ""))
        self.assertGreater(int(fence), self.number_in("first"))

    def test_units_wait_for_none(self):
        """Which they are is known inside: the command is told, and its deputy comes late."""
        holder = self.start("--take", "1", "--of", "1", "-c", "echo $$ > inside; read line", stdin=subprocess.PIPE)
        self.number_in("inside")
        waiter = self.start("--take", "1", "--of", "1", "-c", "echo $AFTERYOU_UNITS", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(self.one_waits, "the queue")
        self.assertIsNone(guards_ready(waiter.pid, "SRtD"))
        self.end(holder)
        self.assertEqual(self.told(waiter), ["0"])


if __name__ == "__main__":
    assert AFTERYOU
    unittest.main()
