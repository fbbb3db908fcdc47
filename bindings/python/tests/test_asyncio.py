# SPDX-License-Identifier: MIT
"""Tests of regions in coroutines, between real processes."""
import asyncio
import gc
import os
import signal
import threading
import time
import unittest

import afteryou
from in_a_space import InASpace

PATIENCE = 60


class Coroutines(InASpace, unittest.IsolatedAsyncioTestCase):
    def holder(self, name="x"):
        """A child that is inside until it is killed."""
        return self.in_child(lambda space: space.region(name).enter())

    def mine(self, state):
        return sum(place.pid == os.getpid() and place.state == state for place in afteryou.look(self.name).seen)

    async def until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            await asyncio.sleep(0.005)

    async def test_async_with(self):
        region = self.space.region("x")
        async with region as entered:
            self.assertIs(entered, region)
            self.assertTrue(region.inside)
            self.assertGreater(region.fence, 0)
        self.assertFalse(region.inside)

    async def test_the_loop_goes_on(self):
        """While one asks; and no thread waits for it."""
        pid = self.holder()
        region = self.space.region("x")
        before = threading.active_count()
        task = asyncio.create_task(region.ask())
        await self.until(lambda: self.mine(afteryou.State.WAITING) == 1)
        self.assertEqual(threading.active_count(), before)
        self.assertFalse(task.done())
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(await asyncio.wait_for(task, PATIENCE))
        self.assertTrue(region.inside and region.after_death)
        region.leave()

    async def test_order_of_arrival(self):
        """Of tasks, as of all who wait."""
        pid, served = self.holder(), []

        async def work(number):
            async with self.space.region("x"):
                served.append(number)
                await asyncio.sleep(0)

        tasks = []
        for number in range(50):
            tasks.append(asyncio.create_task(work(number)))
            await self.until(lambda number=number: self.mine(afteryou.State.WAITING) == number + 1)
        os.kill(pid, signal.SIGKILL)
        await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE)
        self.assertEqual(served, list(range(50)))

    async def test_cancelled(self):
        """The ask is given up; the next one in the queue goes on."""
        pid = self.holder()
        first, second = self.space.region("x"), self.space.region("x")
        tasks = [asyncio.create_task(region.ask()) for region in (first, second)]
        await self.until(lambda: self.mine(afteryou.State.WAITING) == 2)
        tasks[0].cancel()
        with self.assertRaises(asyncio.CancelledError):
            await tasks[0]
        self.assertEqual((first.inside, self.mine(afteryou.State.WAITING)), (False, 1))
        os.kill(pid, signal.SIGKILL)
        await asyncio.wait_for(tasks[1], PATIENCE)
        second.leave()
        await asyncio.wait_for(first.ask(), PATIENCE)  # it can be asked for again
        first.leave()

    async def test_cancelled_at_any_moment(self):
        """Before, while and after it is decided: outside at the end."""
        holder, region = self.space.region("x"), self.space.region("x")
        for steps in range(200):
            await holder.ask()
            task = asyncio.create_task(region.ask())
            for at in range(steps % 8):
                if at == steps // 8 % 8:
                    holder.leave()
                await asyncio.sleep(0)
            if holder.inside:
                holder.leave()
            task.cancel()
            try:
                await task
                region.leave()
            except asyncio.CancelledError:
                self.assertFalse(region.inside)
        await asyncio.wait_for(holder.ask(), PATIENCE)
        holder.leave()
        self.assertEqual(self.mine(afteryou.State.WAITING) + self.mine(afteryou.State.INSIDE), 0)

    async def test_timeout_and_condition(self):
        self.holder("held")
        with self.assertRaises(afteryou.Timeout):
            await self.space.region("held").ask(timeout=0.02)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.space.region("held").ask(), 0.02)
        items, region = [], self.space.region("x")
        task = asyncio.create_task(region.ask(when=lambda: bool(items)))
        await asyncio.sleep(0.02)
        self.assertFalse(task.done())
        async with self.space.region("x"):
            items.append(1)
        await asyncio.wait_for(task, PATIENCE)
        region.leave()
        with self.assertRaises(ZeroDivisionError):
            await region.ask(when=lambda: 1 // 0 > 0)
        self.assertFalse(region.inside)

    async def test_wanted(self):
        """By another process, by a task of this one; each time, and again once the one that waited has gone."""
        mine = self.space.region("x", tell_wanted=True)
        async with mine:
            for _ in range(3):
                task = asyncio.create_task(mine.until_wanted())
                await asyncio.sleep(0.02)
                self.assertFalse(task.done())
                rival = asyncio.create_task(self.space.region("x").ask())
                self.assertEqual(await asyncio.wait_for(task, PATIENCE), 1)
                self.assertEqual(await mine.until_wanted(), 1)  # still
                rival.cancel()
                await asyncio.wait([rival])
            pid = os.fork()
            if pid == 0:
                try:
                    afteryou.Space(self.name).region("x").enter()
                finally:
                    os._exit(0)
            self.addCleanup(self.end, pid)
            self.assertEqual(await asyncio.wait_for(mine.until_wanted(), PATIENCE), 1)

    async def test_wanted_gives_way(self):
        """Two that lead by turns: each gives way as soon as the other wants it."""
        terms = []

        async def lead(name, times):
            region = self.space.region("office", tell_wanted=True)
            for _ in range(times):
                async with region:
                    terms.append(name)
                    await region.until_wanted()

        last = asyncio.create_task(asyncio.sleep(PATIENCE))
        tasks = [asyncio.create_task(lead(name, 20)) for name in "ab"]
        await asyncio.wait([*tasks, last], return_when=asyncio.FIRST_COMPLETED)
        last.cancel()
        self.assertGreaterEqual(len(terms), 39)
        self.assertTrue(all(before != after for before, after in zip(terms, terms[1:])))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    async def test_wanted_misuse(self):
        plain, mine = self.space.region("x"), self.space.region("x", tell_wanted=True)
        with self.assertRaises(ValueError):
            await mine.until_wanted()  # not inside
        async with plain:
            with self.assertRaises(ValueError):
                await plain.until_wanted()  # nobody tells it
        await mine.ask()
        task = asyncio.create_task(mine.until_wanted())
        await asyncio.sleep(0)
        mine.close()
        with self.assertRaises(ValueError):
            await asyncio.wait_for(task, PATIENCE)
        bakery = afteryou.Space(self.name + "-bakery", protocol="bakery")
        with self.assertRaises(afteryou.NotSupported):
            bakery.region("x", tell_wanted=True)
        bakery.close()

    async def test_misuse(self):
        self.holder()
        region = self.space.region("x")
        task = asyncio.create_task(region.ask())
        await asyncio.sleep(0)
        with self.assertRaises(afteryou.Error):
            await region.ask()  # asked for already
        region.close()
        with self.assertRaises(ValueError):
            await asyncio.wait_for(task, PATIENCE)
        with self.assertRaises(ValueError):
            await region.ask()
        other = afteryou.Space(self.name)
        task = asyncio.create_task(other.region("x").ask())
        await self.until(lambda: self.mine(afteryou.State.WAITING) == 1)
        other.close()
        with self.assertRaises(ValueError):
            await asyncio.wait_for(task, PATIENCE)
        entered = self.space.region("y")
        async with entered:
            with self.assertRaises(afteryou.Deadlock):
                await entered.ask()

    async def test_two_loops(self):
        """Of two threads, in one space: each is told of its own."""
        pid, found = self.holder(), []

        async def work():
            async with self.space.region("x") as region:
                found.append(region.fence)

        threads = [threading.Thread(target=asyncio.run, args=(work(),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        mine = asyncio.create_task(work())
        await self.until(lambda: self.mine(afteryou.State.WAITING) == 3)
        os.kill(pid, signal.SIGKILL)
        await asyncio.wait_for(mine, PATIENCE)
        for thread in threads:
            await asyncio.to_thread(thread.join)
        self.assertEqual(len(set(found)), 3)

    async def test_nothing_is_kept(self):
        """A space that was asked in is closed when it is dropped."""
        async with afteryou.Space(self.name).region("y"):
            pass
        gc.collect()
        self.assertEqual(afteryou.look(self.name).alive, 0)


if __name__ == "__main__":
    unittest.main()
