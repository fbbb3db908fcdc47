# SPDX-License-Identifier: MIT
"""Tests of spaces and regions in Python, between real processes."""
import atexit
import doctest
import gc
import os
import pathlib
import shutil
import signal
import tempfile
import threading
import time
import types
import unittest

import afteryou
import afteryou.filelock
import afteryou.multiprocessing
from in_a_space import InASpace


class Binding(InASpace, unittest.TestCase):
    def test_with(self):
        region = self.space.region("x")
        with region as entered:
            self.assertIs(entered, region)
            self.assertTrue(region.inside)
            first = region.fence
        self.assertFalse(region.inside)
        with region:
            self.assertGreater(region.fence, first)

    def test_excludes_and_names_errors(self):
        self.in_child(lambda space: space.region("x").enter())
        region = self.space.region("x")
        with self.assertRaises(afteryou.Busy):
            region.try_enter()
        with self.assertRaises(TimeoutError):
            region.enter(timeout=0.01)
        with self.assertRaises(afteryou.Disagreement):
            self.space.region("x", slots=3)
        with self.assertRaises(afteryou.Busy):
            afteryou.remove(self.name)
        with self.assertRaises(OSError):
            self.space.region("")
        with self.assertRaises(ValueError):
            self.space.region("a\0b")
        with self.assertRaises(FileNotFoundError):
            afteryou.look(self.name + "-none")

    def test_after_death(self):
        pid = self.in_child(lambda space: space.region("x").enter())
        os.kill(pid, signal.SIGKILL)
        region = self.space.region("x")
        self.assertTrue(region.enter(timeout=60))
        self.assertTrue(region.after_death)
        region.leave()
        self.assertFalse(region.enter())

    def test_words_of_threading(self):
        self.in_child(lambda space: space.region("x").enter())
        region, free = self.space.region("x"), self.space.region("y")
        self.assertIs(region.acquire(blocking=False), False)
        self.assertIs(region.acquire(timeout=0.01), False)
        self.assertIs(free.acquire(), True)
        self.assertTrue(free.locked())
        free.release()
        self.assertFalse(free.locked())
        with self.assertRaises(ValueError):
            free.acquire(blocking=False, timeout=1)

    def test_reentrant_and_wanted(self):
        region = self.space.region("x", reentrant=True)
        with region:
            with region:
                self.assertTrue(region.inside)
            self.assertTrue(region.inside)
            self.assertEqual(region.wanted, 0)
            thread = threading.Thread(target=lambda: self.space.region("x").acquire(timeout=60))
            thread.start()
            self.wait_for(lambda: region.wanted == 1)
        self.assertFalse(region.inside)
        self.assertEqual(region.wanted, 0)
        thread.join()

    def test_convert(self):
        """Down at once; up when nobody conflicts; not beyond what the region is."""
        region, reader = self.space.region("x"), self.space.region("x", mode=afteryou.Mode.SHARED)
        with region:
            self.assertFalse(reader.acquire(blocking=False))
            region.convert(afteryou.Mode.SHARED)
            self.assertTrue(reader.acquire(blocking=False))
            with self.assertRaises(afteryou.Timeout):
                region.convert(afteryou.Mode.EXCLUSIVE, timeout=0.01)
            with self.assertRaises(afteryou.Disagreement):
                reader.convert(afteryou.Mode.EXCLUSIVE)
            reader.leave()
            region.convert(afteryou.Mode.EXCLUSIVE)
            self.assertFalse(reader.acquire(blocking=False))
        with self.assertRaises(PermissionError):
            region.convert(afteryou.Mode.SHARED)

    def test_interrupted_conversion(self):
        """Ctrl-C ends it; inside in the old mode."""
        def share(space):
            space.region("x", mode=afteryou.Mode.SHARED).enter()

        region = self.space.region("x")
        with region:
            region.convert(afteryou.Mode.SHARED)
            self.in_child(share)
            self.interrupt_soon(signal.SIGINT)
            with self.assertRaises(KeyboardInterrupt):
                region.convert(afteryou.Mode.EXCLUSIVE)
            self.assertTrue(region.inside)

    def test_held_by_the_process(self):
        """A thread that ends inside has died inside; unless the region is shared."""
        for shared in (False, True):
            region = self.space.region("x")

            def enter(region=region, shared=shared):
                region.enter()
                if shared:
                    os.close(region.share())

            thread = threading.Thread(target=enter)
            thread.start()
            thread.join()
            other = self.space.region("x")
            self.assertIs(other.acquire(timeout=0.05 if shared else 60), not shared)
            (region if shared else other).leave()
        region.unshare()
        self.assertFalse(other.enter())

    def test_shared_slots_units_also(self):
        readers = [self.space.region("r", mode=afteryou.Mode.SHARED) for _ in range(2)]
        for reader in readers:
            reader.try_enter()
        slots = [self.space.region("s", slots=2) for _ in range(3)]
        slots[0].try_enter()
        slots[1].try_enter()
        with self.assertRaises(afteryou.Busy):
            slots[2].try_enter()
        units = [self.space.region("u", take=2, of=5) for _ in range(2)]
        held = []
        for region in units:
            region.try_enter()
            held += region.units
        self.assertEqual(sorted(held), [0, 1, 2, 3])
        both = self.space.region("a", also=["b"])
        both.try_enter()
        with self.assertRaises(afteryou.Busy):
            self.space.region("b").try_enter()

    def test_when(self):
        items = []
        region, other = self.space.region("x"), self.space.region("x")

        def produce():
            time.sleep(0.05)
            with other:
                items.append(1)

        thread = threading.Thread(target=produce)
        thread.start()
        region.enter(when=lambda: bool(items), timeout=60)
        self.assertEqual(items, [1])
        region.leave()
        thread.join()
        with self.assertRaises(ZeroDivisionError):
            region.enter(when=lambda: 1 // 0 > 0)
        self.assertFalse(region.inside)
        region.try_enter()

    def test_crowd_of_conditions(self):
        """Producers and consumers of one item, with a condition that takes its time: nobody keeps the others from entering."""
        item = pathlib.Path(self.name + "-item")

        def passage(there, act):
            def when():
                time.sleep(0.002)
                return item.exists() == there
            region = afteryou.Space(self.name).region("x")
            region.enter(when=when, timeout=60)
            act()
            region.leave()

        children = []
        for _ in range(12):
            for there, act in ((True, item.unlink), (False, item.touch)):
                pid = os.fork()
                if pid == 0:
                    try:
                        passage(there, act)
                        os._exit(0)
                    finally:
                        os._exit(1)
                children.append(pid)
        self.assertEqual([os.waitpid(pid, 0)[1] for pid in children], [0] * 24)
        self.assertFalse(item.exists())

    def test_deadlock(self):
        region = self.space.region("x")
        region.enter()
        with self.assertRaises(afteryou.Deadlock):
            self.space.region("x").enter()

    def test_child_owns_nothing(self):
        region = self.space.region("x")
        region.enter()
        pid = os.fork()
        if pid == 0:
            try:
                region.leave()
            except PermissionError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertTrue(region.inside)

    def test_look(self):
        pid = self.in_child(lambda space: space.region("x", also=["y"]).enter())
        view = afteryou.look(self.name)
        self.assertEqual((view.protocol, view.alive, os.path.basename(view.path)), ("courtesy", 1, "space"))
        place = view.seen[0]
        self.assertEqual((place.pid, place.state, place.names), (pid, afteryou.State.INSIDE, ("x", "y")))
        self.assertEqual(afteryou.path("abc"), f"/dev/shm/afteryou-{os.geteuid()}/abc")

    def test_numbers_that_do_not_fit(self):
        with self.assertRaises(afteryou.Disagreement):
            afteryou.Space(self.name, places=2**32 + 2)
        with afteryou.Space(self.name) as space:
            for words in ({"slots": 2**32 + 1}, {"take": 1, "of": 2**40}, {"priority": 2**33}):
                with self.subTest(words), self.assertRaises(afteryou.Disagreement):
                    space.region("x", **words)
            region = space.region("x")
            self.assertFalse(region.enter(timeout=float("inf")))
            region.leave()
            for timeout in (-1, float("nan"), -float("inf")):
                with self.subTest(timeout), self.assertRaises(ValueError):
                    region.enter(timeout=timeout)

    def test_options_repair_close(self):
        with self.assertRaises(afteryou.Disagreement):
            afteryou.Space(self.name, protocol="bakery")
        self.assertEqual(self.space.repair(), 0)
        region = self.space.region("x")
        self.space.close()
        with self.assertRaises(ValueError):
            region.enter()
        region.close()
        afteryou.remove(self.name)


    def interrupt_soon(self, number, times=1):
        """Sends this process a signal, once the main thread waits."""
        def send():
            for _ in range(times):
                time.sleep(0.1)
                os.kill(os.getpid(), number)
        thread = threading.Thread(target=send)
        thread.start()
        self.addCleanup(thread.join)

    def test_interrupted_wait(self):
        """Ctrl-C ends the wait while the other is still inside, and nothing is held."""
        self.in_child(lambda space: space.region("x").enter())
        region = self.space.region("x")
        for way in (region.__enter__, region.enter, lambda: region.enter(timeout=100),
                    lambda: region.enter(when=lambda: True)):
            self.interrupt_soon(signal.SIGINT)
            with self.assertRaises(KeyboardInterrupt):
                way()
            self.assertFalse(region.inside)
            place = [place for place in afteryou.look(self.name).seen if place.pid == os.getpid()][0]
            self.assertEqual(place.state, afteryou.State.IDLE)
        with self.assertRaises(PermissionError):
            region.leave()

    def test_interrupted_at_any_moment(self):
        """Wherever a handler raises, `inside` is the truth; and it is False if the block was not reached."""
        region, other = self.space.region("x"), self.space.region("x")

        class Ring(Exception):
            pass

        armed = []

        def ring(*_):
            if armed:
                armed.clear()
                raise Ring

        previous = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, previous)
        before = 0
        for times in range(3000):
            reached = False
            try:
                armed.append(True)
                signal.setitimer(signal.ITIMER_REAL, 0.000005 + times % 100 * 0.000001)
                with region:
                    reached = True
                armed.clear()
            except Ring:
                before += not reached
            if region.inside:
                self.assertTrue(reached)
                region.leave()
            other.try_enter()
            other.leave()
        self.assertGreater(before, 0)

    def test_interrupted_condition(self):
        """Wherever a handler raises while a condition is asked, the wait ends with that."""
        class Ring(Exception):
            pass

        def ring(*_):
            raise Ring

        region = self.space.region("x")
        previous = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, previous)
        for times in range(2000):
            with self.assertRaises(Ring):
                signal.setitimer(signal.ITIMER_REAL, 0.000005 + times % 100 * 0.000001)
                region.enter(timeout=20, when=lambda: False)
            self.assertFalse(region.inside)

    def test_interrupted_look(self):
        """Wherever a handler raises, all is seen, or that is raised."""
        class Ring(Exception):
            pass

        def ring(*_):
            raise Ring

        regions = [self.space.region(f"x{number}") for number in range(50)]
        previous = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, previous)
        for times in range(500):
            with self.assertRaises(Ring):
                signal.setitimer(signal.ITIMER_REAL, 0.00001 + times * 0.000002)
                while True:
                    seen = afteryou.look(self.name).seen
                    if len(seen) != len(regions):
                        signal.setitimer(signal.ITIMER_REAL, 0)
                        self.fail(f"{len(seen)} of {len(regions)} places were seen")

    def test_handler_that_returns_keeps_the_place(self):
        """A signal that raises nothing does not cost the place in the queue."""
        handled = []
        previous = signal.signal(signal.SIGUSR1, lambda *_: handled.append(1))
        self.addCleanup(signal.signal, signal.SIGUSR1, previous)
        holder = self.in_child(lambda space: space.region("x").enter())
        read, write = os.pipe()

        def act():
            """The one behind waits; then the signals; then the holder dies."""
            self.wait_for(lambda: self.waiting() == 1)
            behind = os.fork()
            if behind == 0:
                try:
                    region = afteryou.Space(self.name).region("x")
                    region.enter()
                    os.write(write, str(region.fence).encode())
                finally:
                    os._exit(0)
            self.addCleanup(self.end, behind)
            self.wait_for(lambda: self.waiting() == 2)
            for _ in range(5):
                os.kill(os.getpid(), signal.SIGUSR1)
                time.sleep(0.02)
            os.kill(holder, signal.SIGKILL)

        region = self.space.region("x")
        thread = threading.Thread(target=act)
        thread.start()
        region.enter()
        thread.join()
        self.assertTrue(handled)
        mine = region.fence
        region.leave()
        self.assertLess(mine, int(os.read(read, 100)))
        os.close(read)
        os.close(write)

    def waiting(self):
        return sum(place.state == afteryou.State.WAITING for place in afteryou.look(self.name).seen)

    def wait_for(self, condition):
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)

    def test_dropped_regions_are_closed(self):
        for _ in range(2100):
            self.space.region("x")
        for _ in range(20):
            afteryou.Space(self.name).region("y")
        gc.collect()
        self.assertEqual(afteryou.look(self.name).alive, 0)

    def test_dropped_inside_is_kept(self):
        """Somebody relies on it, though nobody can leave any more."""
        afteryou.Space(self.name).region("x").enter()
        gc.collect()
        with self.assertRaises(afteryou.Busy):
            self.space.region("x").try_enter()


def load_tests(loader, tests, _):
    """Every docstring is a test, in a space of its own."""
    directory = tempfile.mkdtemp(prefix="afteryou-test-", dir="/dev/shm")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)

    def set_up(test):
        os.environ["AFTERYOU_DIR"] = directory  # for those that use the default space
        os.chdir(directory)
        test.globs["Space"] = lambda: afteryou.Space(directory + "/space")
        if test.name == "afteryou":
            test.globs["afteryou"] = types.SimpleNamespace(**{**vars(afteryou), "Space": test.globs["Space"]})

    for module in (afteryou, afteryou._space, afteryou.filelock, afteryou.multiprocessing):
        found = doctest.DocTestSuite(module, setUp=set_up, tearDown=lambda _: os.environ.pop("AFTERYOU_DIR"),
                                     optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        assert found.countTestCases() > 0, module
        tests.addTests(found)
    return tests


if __name__ == "__main__":
    unittest.main()
