# SPDX-License-Identifier: MIT
"""Each call of the library in a cluster: asking without waiting, cancelling, renaming, converting, entering again, being wanted."""
import errno
import json
import signal
import time
import unittest

from machines import skip_unless_possible, wait_until
from support import Caller, ClusterTest, Holder

AFTER_DEATH = 1
ASKED = -errno.EINPROGRESS


class Calls(ClusterTest):
    def held_elsewhere(self, *words):
        """One inside at the second machine, and a program at the first that has the region open twice."""
        holder = Holder(self.cluster.machines[1], self.region, *words)
        holder.entered()
        caller = Caller(self.cluster.machines[0])
        return holder, caller, caller.open(self.region), caller.open(self.region)

    def ask_until_decided(self, caller, region, *limit):
        result = caller.do("ask", region, *limit)
        return caller.decided(region)[0] if result == ASKED else result

    def test_free(self):
        caller = Caller(self.cluster.machines[0])
        region = caller.open(self.region)
        self.assertEqual(self.ask_until_decided(caller, region), 0)
        self.assertEqual(caller.do("valid", region), 1)
        self.assertEqual(caller.do("withdraw", region), -errno.EALREADY)
        self.assertEqual(caller.do("leave", region), 0)
        for _ in range(3):  # where the permission is, an ask is decided at once, and so is a call that waits
            self.assertEqual(caller.do("ask", region), 0)
            self.assertEqual(caller.do("leave", region), 0)
            self.assertEqual(caller.do("enter", region), 0)
            self.assertEqual(caller.do("leave", region), 0)

    def test_order_of_arrival(self):
        holder, caller, *first = self.held_elsewhere()
        asks = first + [caller.open(self.region) for _ in range(3)]
        for region in asks:
            self.assertEqual(caller.do("ask", region), ASKED)
        other = Caller(self.cluster.machines[0])  # another process of the machine, behind all of them
        last = other.open(self.region)
        self.assertEqual(other.do("ask", last), ASKED)
        fence, _ = holder.entered()
        holder.leave()
        for turn, region in enumerate(asks):
            result, above = caller.decided(region)
            self.assertEqual(result, 0)
            self.assertGreater(above, fence)
            fence = above
            self.assertEqual(caller.order(), asks[:turn + 1])
            self.assertEqual(caller.do("leave", region), 0)
        self.assertGreater(other.decided(last)[1], fence)

    def test_holder_elsewhere_killed(self):
        holder, caller, one, other = self.held_elsewhere()
        self.assertEqual((caller.do("ask", one), caller.do("ask", other)), (ASKED, ASKED))
        holder.kill()
        self.assertEqual(caller.decided(one)[0], AFTER_DEATH)
        self.assertEqual(caller.do("leave", one), 0)
        self.assertEqual(caller.decided(other)[0], 0, "one is told, once")
        self.assertEqual(caller.do("leave", other), 0)
        later = Holder(self.cluster.machines[2], self.region)
        later.entered()
        self.assertFalse(later.told_of_death(), "nor is another machine")

    def tell_late(self, region):
        """The agent hears that somebody was told of a death only when that one is about to leave. False: it was away for too long."""
        a, b, c = self.cluster.machines
        holder, caller = Holder(b, region), Caller(a)
        holder.entered()
        asked = caller.open(region)
        self.assertEqual(caller.do("ask", asked), ASKED)
        caller.program.kill(signal.SIGSTOP)
        holder.kill()

        def permitted():
            shown = self.afteryou(a, "status", "--cluster", self.cluster.name, "--json")
            return any(one["name"] == region for machine in json.loads(shown.stdout)["machines"] if machine["machine"] == "a"
                       for one in machine["permissions"])
        wait_until(permitted, "the permission is here")
        later = Holder(c, region)
        self.assert_stays_out(later, 0.2)
        a.agent.kill(signal.SIGSTOP)
        caller.program.resume()
        self.assertEqual(caller.decided(asked)[0], AFTER_DEATH)
        in_time = caller.do("valid", asked)
        left = caller.begin("leave", asked)
        a.agent.resume()
        self.assertEqual(left(), 0)
        self.assertFalse(later.told_of_death() and in_time, "one is told, once")
        return in_time

    def test_told_before_the_permission_is_passed_on(self):
        self.assertTrue(any(self.tell_late(f"{self.region}-{turn}") for turn in range(5)), "the machine is too busy to see anything")

    def test_holder_here_killed(self):
        holder = Holder(self.cluster.machines[0], self.region)
        holder.entered()
        caller = Caller(self.cluster.machines[0])
        region = caller.open(self.region)
        self.assertEqual(caller.do("ask", region), ASKED)
        holder.kill()
        self.assertEqual(caller.decided(region)[0], AFTER_DEATH)

    def test_asker_that_dies_inside_is_told_of(self):
        holder, caller, region, _ = self.held_elsewhere()
        self.assertEqual(caller.do("ask", region), ASKED)
        holder.leave()
        caller.decided(region)
        waiter = Holder(self.cluster.machines[2], self.region)
        self.assert_stays_out(waiter, 0.2)
        caller.kill()
        self.assertTrue(waiter.told_of_death())

    def test_asker_that_goes_is_as_one_who_has_left(self):
        for how in ("kill", "exec", "close", "withdraw"):
            holder, caller, region, _ = self.held_elsewhere()
            self.assertEqual(caller.do("ask", region), ASKED)
            behind = Holder(self.cluster.machines[0], self.region)
            self.assert_stays_out(behind, 0.1)
            if how == "kill":
                caller.kill()
            elif how == "exec":
                caller.say("exec")
            else:
                self.assertEqual(caller.do(how, region), 0)
            holder.leave()
            behind.entered()
            self.assertFalse(behind.told_of_death(), how)
            behind.leave()

    def test_withdrawn_ones_are_not_decided(self):
        holder, caller, one, other = self.held_elsewhere()
        self.assertEqual((caller.do("ask", one), caller.do("ask", other)), (ASKED, ASKED))
        self.assertEqual(caller.do("withdraw", one), 0)
        self.assertEqual(caller.do("withdraw", one), -errno.EPERM)
        holder.leave()
        self.assertEqual(caller.decided(other)[0], 0)
        self.assertEqual(caller.order(), [other])
        self.assertEqual(caller.do("withdraw", other), -errno.EALREADY)

    def test_deadline(self):
        holder, caller, one, other = self.held_elsewhere()
        self.assertEqual(caller.do("ask", one, 200), ASKED)
        self.assertEqual(caller.do("ask", other, 300), ASKED)  # in the queue of the machine
        self.assertEqual(caller.decided(one)[0], -errno.ETIMEDOUT)
        self.assertEqual(caller.decided(other)[0], -errno.ETIMEDOUT)
        self.assertEqual(self.ask_until_decided(caller, one, 0), -errno.ETIMEDOUT, "by the other machines' answer")
        holder.leave()
        self.assertEqual(self.ask_until_decided(caller, one), 0)
        self.assertEqual(caller.do("ask", other, 0), -errno.ETIMEDOUT)

    def test_more_than_the_machine_has(self):
        """Readers share; who asks to write makes way until the permission of all machines is there."""
        _, b, _ = self.cluster.machines
        here, caller = Holder(self.cluster.machines[0], self.region, "shared"), Caller(self.cluster.machines[0])
        here.entered()
        there = Holder(b, self.region, "shared")
        there.entered()
        writer, reader = caller.open(self.region), caller.open(self.region, "shared")
        self.assertEqual(caller.do("ask", writer), ASKED)
        here.leave()
        there.leave()
        self.assertEqual(caller.decided(writer)[0], 0)
        self.assertEqual(caller.do("ask", reader), ASKED)
        late = Holder(b, self.region, "shared")
        self.assert_stays_out(late, 0.2)
        self.assertEqual(caller.do("leave", writer), 0)
        self.assertEqual(caller.decided(reader)[0], 0)
        self.assertEqual(caller.do("leave", reader), 0)
        late.entered()

    def test_agent_is_gone(self):
        a = self.cluster.machines[0]
        holder, caller, one, other = self.held_elsewhere()
        self.assertEqual((caller.do("ask", one), caller.do("ask", other)), (ASKED, ASKED))
        a.agent.kill()
        self.assertEqual(caller.decided(one)[0], -errno.EHOSTDOWN)
        self.assertEqual(caller.do("withdraw", other), 0)
        self.assertEqual(caller.do("ask", other, 0), -errno.EHOSTDOWN)
        self.assertEqual(caller.do("ask", other), ASKED)
        a.start_agent()
        holder.leave()
        self.assertIn(caller.decided(other)[0], (0, AFTER_DEATH))  # the burial of the old agent may count as one

    def test_agent_is_stopped(self):
        """Nothing that does not wait is held up; and what was asked meanwhile is heard when it goes on."""
        a = self.cluster.machines[0]
        caller = Caller(a)
        asks = [caller.open(f"{self.region}-{number}") for number in range(40)]
        a.agent.kill(signal.SIGSTOP)
        for region in asks:  # more than its queue has room for
            self.assertEqual(caller.do("ask", region), ASKED)
        a.agent.resume()
        for region in asks:
            self.assertIn(caller.decided(region)[0], (0, AFTER_DEATH))
            self.assertEqual(caller.do("leave", region), 0)

    def test_waits_burn_little(self):
        """While nothing happens to what is asked for, whatever happens to other names."""
        holder, caller, region, _ = self.held_elsewhere()
        self.assertEqual(caller.do("ask", region), ASKED)
        time.sleep(0.3)  # the name comes to be known here
        before = caller.do("wakes")
        for number in range(10):
            self.cluster.machines[0].run_inside(f"{self.region}-{number}", "--", "true")
        time.sleep(4)
        self.assertLessEqual(caller.do("wakes") - before, 8)
        holder.leave()
        self.assertEqual(caller.decided(region)[0], 0)

    def test_misuse(self):
        holder, caller, one, _ = self.held_elsewhere()
        self.assertEqual(caller.do("withdraw", one), -errno.EPERM)
        self.assertEqual(caller.do("ask", one), ASKED)
        self.assertEqual(caller.do("ask", one), -errno.EALREADY)
        self.assertEqual(caller.do("enter", one), -errno.EDEADLK)
        self.assertEqual(caller.do("leave", one), -errno.EPERM)
        self.assertEqual(caller.do("fork", one), 0, "a child has none of its parent's asks")
        holder.leave()
        self.assertEqual(caller.decided(one)[0], 0)
        self.assertEqual(caller.do("ask", one), -errno.EDEADLK)

    def test_two_servers(self):
        """Each with many asks for the same names, on two machines: all are served."""
        names, rounds = 5, 4
        callers = [Caller(machine) for machine in self.cluster.machines[:2]]
        for caller in callers:
            for number in range(names * rounds):
                caller.open(f"{self.region}-{number % names}")
        for caller in callers:
            for region in range(names * rounds):
                if caller.do("ask", region) >= 0:
                    self.assertEqual(caller.do("leave", region), 0)
        left = [set(), set()]

        def go_on():
            for caller, done in zip(callers, left):
                for region in set(caller.order()) - done:
                    done.add(region)
                    self.assertEqual(caller.decided(region)[0], 0)
                    self.assertEqual(caller.do("leave", region), 0)
            return all(len(done) + caller.at_once == names * rounds for caller, done in zip(callers, left))
        wait_until(go_on, "all asks are decided")

    def test_cancelled(self):
        """Whoever waits for another machine: an ask, and a call that waits."""
        holder, caller, asked, _ = self.held_elsewhere()
        waiter, canceller = Caller(self.cluster.machines[0]), Caller(self.cluster.machines[0])
        pids = [one.do("pid") for one in (caller, waiter)]
        self.assertEqual(canceller.do("cancel", self.region, pids[0]), -errno.ESRCH)
        self.assertEqual(caller.do("ask", asked), ASKED)
        self.assertEqual(canceller.do("cancel", self.region, pids[0]), 1)
        self.assertEqual(caller.decided(asked)[0], -errno.ECANCELED)
        region = waiter.open(self.region)
        waiter.say("enter", region)
        wait_until(lambda: canceller.do("cancel", self.region, pids[1]) == 1, "the wait has begun, and is cancelled")
        wait_until(lambda: waiter.answers[-1][0] == "enter", "the wait has ended")
        self.assertEqual(int(waiter.answers[-1][1]), -errno.ECANCELED)
        holder.leave()
        self.assertEqual(waiter.do("enter", region), 0)
        self.assertEqual(canceller.do("cancel", self.region, pids[1]), -errno.EBUSY)

    def test_cancelled_at_slots(self):
        a, b, _ = self.cluster.machines
        holder, waiter, canceller = Caller(b), Caller(a), Caller(a)
        for _ in range(2):
            self.assertEqual(holder.do("enter", holder.open(self.region, "exclusive", "slots")), 0)
        region = waiter.open(self.region, "exclusive", "slots")
        pid = waiter.do("pid")
        waiter.say("enter", region)
        wait_until(lambda: canceller.do("cancel", self.region, pid) == 1, "the wait has begun, and is cancelled")
        wait_until(lambda: waiter.answers[-1][0] == "enter", "the wait has ended")
        self.assertEqual(int(waiter.answers[-1][1]), -errno.ECANCELED)
        self.assertEqual(waiter.do("ask", region), ASKED)
        self.assertEqual(waiter.do("withdraw", region), 0)

    def test_renamed(self):
        a, b, _ = self.cluster.machines
        names = [f"{self.region}-{number}" for number in range(3)]
        caller, holder = Caller(a), Holder(b, names[2])
        holder.entered()
        region = caller.open(names[0])
        for name in (*names[:2], *names[:2]):  # the second time the permission is here
            self.assertEqual(caller.do("rename", region, name), 0)
            self.assertEqual(caller.fence(), 0, "of no passage under this name")
            self.assertEqual(caller.do("enter", region), 0)
            self.assertGreater(caller.fence(), 0)
            self.assertEqual(caller.do("leave", region), 0)
        self.assertEqual(caller.do("enter", region), 0)
        self.assertEqual(caller.do("rename", region, names[0]), -errno.EBUSY)
        waiter, free = Holder(b, names[1]), Holder(b, names[0])
        free.entered()
        self.assert_stays_out(waiter, 0.2)
        fence = caller.fence()
        self.assertEqual(caller.do("leave", region), 0)
        self.assertGreater(waiter.entered()[0], fence)
        self.assertEqual(caller.do("rename", region, names[2]), 0)
        self.assertEqual(caller.do("ask", region), ASKED)
        self.assertEqual(caller.do("rename", region, names[0]), -errno.EBUSY)
        holder.kill()
        self.assertEqual(caller.decided(region)[0], AFTER_DEATH)

    def test_a_lock_per_record(self):
        """One place, and a name for each record; the other machine's record is waited for, and no other."""
        a, b, _ = self.cluster.machines
        one, other = Caller(a), Caller(b)
        mine, theirs = one.open("no record"), other.open("no record")
        for record in range(20):
            self.assertEqual(one.do("rename", mine, f"{self.region}-{record}"), 0)
            self.assertEqual(one.do("enter", mine), 0)
            self.assertEqual(other.do("rename", theirs, f"{self.region}-{record}"), 0)
            self.assertEqual(other.do("ask", theirs), ASKED)
            self.assertEqual(one.do("leave", mine), 0)
            self.assertEqual(other.decided(theirs)[0], 0)
            self.assertEqual(other.do("leave", theirs), 0)

    def test_converted(self):
        a, b, _ = self.cluster.machines
        one, other = Caller(a), Caller(a)
        mine, theirs = one.open(self.region), other.open(self.region)
        self.assertEqual(one.do("convert", mine, "shared", 0), -errno.EPERM)
        self.assertEqual(one.do("enter_as", mine, "shared", -1), 0)
        self.assertEqual(other.do("enter_as", theirs, "shared", -1), 0)
        waiter = Holder(b, self.region)
        self.assert_stays_out(waiter, 0.2)
        fence = one.fence()
        self.assertEqual(one.do("convert", mine, "exclusive", 100), -errno.ETIMEDOUT)
        one.say("convert", mine, "exclusive", -1)
        wait_until(lambda: other.do("wanted", theirs) == 2, "the agent waits, and the first is becoming stronger")
        self.assertEqual(other.do("convert", theirs, "exclusive", 0), -errno.EDEADLK)
        self.assertEqual(other.do("valid", theirs), 1)
        self.assertEqual(other.do("leave", theirs), 0)
        wait_until(lambda: one.answers[-1][:2] == ["convert", "0"], "nobody else is inside")
        self.assertGreater(one.fence(), fence)
        fence = one.fence()
        self.assertEqual(other.do("enter_as", theirs, "shared", 0), -errno.ETIMEDOUT)
        self.assertEqual(one.do("convert", mine, "shared", 0), 0)
        self.assertEqual(one.fence(), fence)
        self.assertEqual(other.do("enter_as", theirs, "shared", 0), -errno.ETIMEDOUT, "the agent waits before it")
        self.assertIsNone(waiter.find("entered"))
        self.assertEqual(one.do("leave", mine), 0)
        self.assertGreater(waiter.entered()[0], fence)

    def test_killed_while_it_converts(self):
        a = self.cluster.machines[0]
        one, other = Caller(a), Caller(a)
        mine, theirs = one.open(self.region), other.open(self.region)
        self.assertEqual((one.do("enter_as", mine, "shared", -1), other.do("enter_as", theirs, "shared", -1)), (0, 0))
        other.say("convert", theirs, "exclusive", -1)
        wait_until(lambda: one.do("wanted", mine) == 1, "the other is becoming stronger")
        self.assertEqual(one.do("convert", mine, "exclusive", 0), -errno.EDEADLK)
        other.kill()
        self.assertEqual(one.do("convert", mine, "exclusive", 20000), AFTER_DEATH)
        reader = one.open(self.region, "shared")
        self.assertEqual(one.do("enter_as", reader, "exclusive", 0), -errno.EINVAL)

    def test_entered_again(self):
        caller = Caller(self.cluster.machines[0])
        region, plain = caller.open(self.region, "exclusive", "reentrant"), caller.open(self.region + "-plain")
        self.assertEqual([caller.do("enter", region) for _ in range(2)] + [caller.do("ask", region)], [0, 0, 0])
        self.assertEqual([caller.do("enter", plain) for _ in range(2)], [0, -errno.EDEADLK])
        waiter = Holder(self.cluster.machines[1], self.region)
        for _ in range(2):
            self.assertEqual(caller.do("leave", region), 0)
        self.assert_stays_out(waiter, 0.2)
        self.assertEqual([caller.do("leave", region) for _ in range(2)], [0, -errno.EPERM])
        waiter.entered()

    def test_wanted(self):
        a, b, c = self.cluster.machines
        caller, other = Caller(a), Caller(a)
        region, theirs = caller.open(self.region), other.open(self.region)
        self.assertEqual(caller.do("enter", region), 0)
        self.assertEqual(caller.do("wanted", region), 0)
        waiters = [Holder(machine, self.region) for machine in (b, c)]
        wait_until(lambda: caller.do("wanted", region) == 1, "the other machines together count as one")
        self.assertEqual(other.do("ask", theirs), ASKED)
        self.assertEqual(caller.do("wanted", region), 2)
        self.assertEqual(caller.do("leave", region), 0)
        self.assertEqual(caller.do("wanted", region), 0)
        inside = wait_until(lambda: [one for one in waiters if one.find("entered")], "one of them")
        inside[0].leave()


if __name__ == "__main__":
    skip_unless_possible()
    unittest.main()
