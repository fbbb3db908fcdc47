# SPDX-License-Identifier: MIT
"""What a holder is told, and when the others enter, if an agent, a Corosync or a machine dies or stops. Never two inside but for one that was told before."""
import signal
import subprocess
import unittest

from machines import AFTERYOU, STATE, skip_unless_possible, wait_until
from support import LOST, ClusterTest, Holder


class Failures(ClusterTest):
    def assert_taken_over(self, holder, waiter):
        """The holder is told, then the waiter enters, with a greater fence."""
        fence, _ = holder.entered()
        told = holder.lost()
        later, entered = waiter.entered()
        self.assertGreater(entered, told, "told before the other can enter")
        self.assertGreater(later, fence)
        return later

    def test_agent_killed_and_back_at_once(self):
        a, b, _ = self.cluster.machines
        holder = Holder(a, self.region)
        fence, _ = holder.entered()
        a.agent.end()
        a.start_agent()
        waiter = Holder(b, self.region)
        self.assert_stays_out(waiter, 1)
        if holder.find("lost"):
            self.assertGreater(waiter.entered()[1], holder.lost())
        else:
            self.assertIsNone(waiter.find("entered"), "the agent that came back stands for the holder that it found")
            holder.leave()
        self.assertGreater(waiter.entered()[0], fence)
        waiter.leave()
        self.assert_enters(a, above=waiter.entered()[0])

    def test_agent_killed_for_good(self):
        a = self.cluster.machines[0]
        holder, waiter = self.held_and_wanted()
        a.agent.end()
        fence = self.assert_taken_over(holder, waiter)
        waiter.leave()
        a.start_agent()
        self.assert_enters(a, above=fence)

    def test_agent_comes_back_with_other_pages(self):
        """It does not know who is inside: nobody enters before these have lost the region."""
        a = self.cluster.machines[0]
        holder, waiter = self.held_and_wanted()
        a.agent.end()
        a.start_agent(clusters="/run/elsewhere")
        fence = self.assert_taken_over(holder, waiter)
        waiter.leave()
        a.agent.end()
        a.start_agent()
        self.assert_enters(a, above=fence)

    def test_agent_comes_back_to_no_pages(self):
        a = self.cluster.machines[0]
        holder, waiter = self.held_and_wanted()
        a.agent.end()
        a.run("rm", "-r", f"/run/afteryou/{self.cluster.name}")
        a.start_agent()
        fence = self.assert_taken_over(holder, waiter)
        waiter.leave()
        self.assert_enters(a, above=fence)

    def test_agent_killed_without_holders(self):
        a, b, c = self.cluster.machines
        fence = self.assert_enters(a)
        a.agent.end()
        fence = self.assert_enters(b, above=fence)
        fence = self.assert_enters(c, above=fence)
        a.start_agent()
        self.assert_enters(a, above=fence)

    def test_agent_stopped(self):
        a = self.cluster.machines[0]
        holder, waiter = self.held_and_wanted()
        a.agent.kill(signal.SIGSTOP)
        fence = self.assert_taken_over(holder, waiter)
        a.agent.resume()
        waiter.leave()
        self.assert_enters(a, above=fence)

    def test_corosync_killed(self):
        a, _, c = self.cluster.machines
        holder, waiter = self.held_and_wanted()
        a.corosync.end()
        fence = self.assert_taken_over(holder, waiter)
        waiter.leave()
        fence = self.assert_enters(c, above=fence)
        a.start_corosync()
        self.restart_agent_if_it_ended(a)
        self.assert_enters(a, above=fence)

    def test_corosync_stopped(self):
        a, _, c = self.cluster.machines
        holder, waiter = self.held_and_wanted()
        a.corosync.kill(signal.SIGSTOP)
        fence = self.assert_taken_over(holder, waiter)
        a.corosync.resume()
        waiter.leave()
        fence = self.assert_enters(c, above=fence)
        self.restart_agent_if_it_ended(a)
        self.assert_enters(a, above=fence)

    def restart_agent_if_it_ended(self, machine):
        """As systemd does; an agent may as well wait for Corosync by itself."""
        if not machine.agent.is_running():
            machine.start_agent()

    def test_machine_dies(self):
        a, _, c = self.cluster.machines
        holder, waiter = self.held_and_wanted()
        a.power_off()
        later, _ = waiter.entered()
        self.assertGreater(later, holder.entered()[0])
        waiter.leave()
        fence = self.assert_enters(c, above=later)
        a.power_on()
        a.start_corosync()
        a.start_agent()
        self.assert_enters(a, above=fence)

    def test_command_is_ended_when_its_region_is_lost(self):
        a, b, _ = self.cluster.machines
        mark = self.cluster.directory / "inside"
        stubborn = "trap '' TERM; touch $0; while :; do sleep 1000; done"
        running = a.start_inside(self.region, "--", "sh", "-c", stubborn, str(mark))
        wait_until(mark.exists, "the command inside")
        waiter = Holder(b, self.region)
        a.cut()
        try:
            self.assertEqual(running.process.wait(60), LOST)
            waiter.entered()
        finally:
            a.heal()
        waiter.leave()
        self.assert_enters(a)

    def test_command_has_its_grace_when_the_machine_is_back_at_once(self):
        """Corosync stands still until the others count it as gone, then goes on: the loss is found out at the very moment at which the machine joins again."""
        a, b, _ = self.cluster.machines
        begun, last = self.cluster.directory / "begun", self.cluster.directory / "last"
        cleans_up = f"trap 'while :; do date +%s%N >>{last}; done' TERM; touch {begun}; while :; do sleep 0.01; done"
        running = a.start_inside(self.region, "--", "sh", "-c", cleans_up)
        wait_until(begun.exists, "the command inside")
        waiter = b.start_inside(self.region, "-c", "date +%s%N", stdout=subprocess.PIPE, text=True)
        gone = b.log().count("event=gone")
        a.corosync.kill(signal.SIGSTOP)
        wait_until(lambda: b.log().count("event=gone") > gone, "the others to notice")
        a.corosync.resume()
        self.assertEqual(running.process.wait(60), LOST)
        entered = int(waiter.process.communicate(timeout=60)[0])
        self.assertGreater(entered, max(int(line) for line in last.read_text().split()), "the command that was ended has come to its end before")
        self.assert_enters(a)

    def test_machine_paused(self):
        """As a virtual machine is: nobody there can be told in time. The others enter, and the fence of the paused one is the lower."""
        a = self.cluster.machines[0]
        holder, waiter = self.held_and_wanted()
        everything = (holder.program, a.agent, a.corosync)
        for process in everything:
            process.kill(signal.SIGSTOP)
        fence, entered = waiter.entered()
        self.assertGreater(fence, holder.entered()[0])
        self.assertIsNone(holder.find("lost"))
        for process in everything:
            process.resume()
        self.assertGreater(holder.lost(), entered, "told as soon as it goes on")
        waiter.leave()
        self.restart_agent_if_it_ended(a)
        self.assert_enters(a, above=fence)

    def test_an_agent_that_disagrees_is_refused(self):
        a, b, c = self.cluster.machines
        c.agent.end()
        for words in (("--lease", "2.5", "--grace", "4"), (*self.agent_options, "--protocol", "token")):
            shown = c.run(AFTERYOU, "agent", "--cluster", self.cluster.name, "--state", STATE, *words)
            self.assertEqual(shown.returncode, 125, shown.stderr)
            self.assertRegex(shown.stderr, "lease|protocol")
        fence = max(self.assert_enters(a), self.assert_enters(b))
        c.start_agent()
        self.assert_enters(c, above=fence)

    def test_told_of_a_death_when_the_group_begins_anew(self):
        """All are cut off from each other, and somebody dies inside meanwhile: the first who enters in the new group is told, and no other."""
        holder = Holder(self.cluster.machines[0], self.region, "ignore")
        holder.entered()
        for machine in self.cluster.machines:
            machine.cut()
        holder.lost()
        holder.kill()
        for machine in self.cluster.machines:
            machine.heal()
        told = []
        for machine in reversed(self.cluster.machines):  # the one on which it happened comes last
            entrant = Holder(machine, self.region)
            told.append(entrant.told_of_death())
            entrant.leave()
        self.assertEqual(told, [True, False, False])

    def test_the_files_with_the_view_are_lost(self):
        """On all machines, and all agents are killed: the pages know as well how far fences had come."""
        fence = max(self.assert_enters(machine) for machine in self.cluster.machines)
        for machine in self.cluster.machines:
            machine.agent.end()
            machine.run("sh", "-c", f"rm {STATE}/*")
        for machine in self.cluster.machines:
            machine.start_agent()
        for machine in self.cluster.machines:
            fence = self.assert_enters(machine, above=fence)

    def test_everything_is_restarted(self):
        fence = max(self.assert_enters(machine) for machine in self.cluster.machines)
        for machine in self.cluster.machines:
            machine.power_off()
        for machine in self.cluster.machines:
            machine.power_on()
        self.cluster.start_corosyncs()
        self.cluster.start_agents()
        for machine in self.cluster.machines:
            fence = self.assert_enters(machine, above=fence)


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
