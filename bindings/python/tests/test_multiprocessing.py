# SPDX-License-Identifier: MIT
"""Tests of the locks for multiprocessing, between real processes. CPython's own run in tests/peers."""
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import tempfile
import threading
import time
import unittest

import afteryou
from afteryou.multiprocessing import BoundedSemaphore, Condition, Lock, RLock, Semaphore

PATIENCE = 60


def hold(lock, pipe):
    """Acquires, says so, and waits to be killed or told to release."""
    pipe.send(lock.acquire(timeout=PATIENCE))
    pipe.recv()
    lock.release()
    pipe.send("released")


def wait_on(condition, pipe):
    with condition:
        pipe.send("waits")
        pipe.send(condition.wait(PATIENCE))


def add(lock, total, times):
    for _ in range(times):
        with lock:
            total.value += 1


def take(semaphore, pipe):
    pipe.send(semaphore.acquire(timeout=PATIENCE))


class Locks(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-test-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        before = os.environ.get("AFTERYOU_DIR")
        os.environ["AFTERYOU_DIR"] = str(self.directory)
        self.addCleanup(os.environ.pop if before is None else os.environ.__setitem__, "AFTERYOU_DIR", before)

    def start(self, target, *words, method="fork"):
        """A child and our end of a pipe to it."""
        context = multiprocessing.get_context(method)
        ours, its = context.Pipe()
        child = context.Process(target=target, args=(*words, its), daemon=True)
        child.start()
        self.addCleanup(child.join)
        self.addCleanup(child.kill)
        self.addCleanup(ours.close)
        return child, ours

    def answer(self, pipe):
        self.assertTrue(pipe.poll(PATIENCE))
        return pipe.recv()

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)

    def waiting(self):
        return sum(place.alive and place.state == afteryou.State.WAITING
                   for place in afteryou.look("multiprocessing").seen)

    def test_killed_holder(self):
        """What it held is free, and the next one is told."""
        for kind in (Lock, RLock, BoundedSemaphore):
            for method in ("fork", "spawn"):
                with self.subTest(kind, method=method):
                    lock = kind()
                    child, pipe = self.start(hold, lock, method=method)
                    self.assertTrue(self.answer(pipe))
                    self.assertFalse(lock.acquire(block=False))
                    self.assertFalse(lock.acquire(timeout=0.01))
                    child.kill()
                    self.assertTrue(lock.acquire(timeout=PATIENCE))
                    self.assertTrue(lock.after_death)
                    lock.release()
                    self.assertTrue(lock.acquire())
                    self.assertFalse(lock.after_death)
                    lock.release()

    def test_exclusion(self):
        lock, total = Lock(), multiprocessing.Value("i", 0, lock=False)
        children = [multiprocessing.Process(target=add, args=(lock, total, 300)) for _ in range(4)]
        for child in children:
            child.start()
        for child in children:
            child.join(PATIENCE)
        self.assertEqual(total.value, 1200)

    def test_lock(self):
        lock = Lock()
        self.assertFalse(lock.locked())
        with lock:
            self.assertTrue(lock.locked())
            self.assertIn("<locked afteryou.multiprocessing.Lock", repr(lock))
            self.assertFalse(lock.acquire(False))
            self.assertFalse(lock.acquire(timeout=-5))
        with self.assertRaises(ValueError):
            lock.release()
        child, pipe = self.start(hold, lock)
        self.assertTrue(self.answer(pipe))
        with self.assertRaises(ValueError):
            lock.release()  # another process has it
        self.assertTrue(lock.locked())
        pipe.send("release")
        self.assertEqual(self.answer(pipe), "released")
        self.assertTrue(lock.acquire(timeout=PATIENCE))
        thread = threading.Thread(target=lock.release)  # another thread may
        thread.start()
        thread.join()
        self.assertTrue(lock.acquire(False))
        with self.assertRaises(afteryou.Deadlock):
            lock.acquire()
        lock.release()

    def test_pickled(self):
        """A lock is known by its name."""
        for lock in (Lock(), RLock(), BoundedSemaphore()):
            with self.subTest(lock):
                other = pickle.loads(pickle.dumps(lock))
                self.assertTrue(lock.acquire())
                self.assertFalse(other.acquire(timeout=0.01))
                lock.release()
                self.assertTrue(other.acquire(timeout=PATIENCE))

    def test_recursive_lock(self):
        lock = RLock()
        with lock, lock:
            self.assertTrue(lock.acquire(False))
            lock.release()
            found = []
            thread = threading.Thread(target=lambda: found.append(lock.acquire(False)))
            thread.start()
            thread.join()
            self.assertEqual(found, [False])
            child = os.fork()
            if child == 0:  # it owns nothing
                os._exit(1 if lock.acquire(False) or lock._is_owned() else 0)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        for error in (AssertionError, RuntimeError):  # of multiprocessing, and of threading
            with self.assertRaises(error):
                lock.release()

    def test_semaphore(self):
        """Anybody may release; and nobody's death adds to it."""
        for method in ("fork", "spawn"):
            with self.subTest(method):
                semaphore = Semaphore(0)
                child, pipe = self.start(take, semaphore, method=method)
                self.assertFalse(semaphore.acquire(timeout=0.01))
                semaphore.release()
                self.assertTrue(self.answer(pipe))
                child.join(PATIENCE)
                self.assertEqual(semaphore.get_value(), 0)
        semaphore.release(3)
        self.assertEqual((semaphore.get_value(), semaphore.acquire(), semaphore.get_value()), (3, True, 2))
        with self.assertRaises(ValueError):
            Semaphore(-1)

    def test_bounded_semaphore(self):
        semaphore = BoundedSemaphore(2)
        children = [self.start(hold, semaphore) for _ in range(2)]
        for _, pipe in children:
            self.assertTrue(self.answer(pipe))
        self.assertEqual((semaphore.get_value(), semaphore.acquire(False)), (0, False))
        children[0][0].kill()
        self.assertTrue(semaphore.acquire(timeout=PATIENCE))
        semaphore.release()
        with self.assertRaises(ValueError):
            semaphore.release()
        self.assertEqual(semaphore.get_value(), 1)
        thread = threading.Thread(target=semaphore.acquire)  # which ends; its process goes on
        thread.start()
        thread.join()
        self.assertEqual((semaphore.get_value(), semaphore.acquire(False)), (0, False))
        semaphore.release()
        self.assertTrue(semaphore.acquire(False))

    def test_taken_at_once(self):
        """Who does not wait gets one, if there is one: others that are just taking theirs are in nobody's way."""
        for kind in (Semaphore, BoundedSemaphore):
            with self.subTest(kind.__name__):
                semaphore, start, got = kind(8), threading.Barrier(8), []

                def work():
                    for _ in range(50):
                        start.wait(PATIENCE)
                        acquired = semaphore.acquire(False)
                        got.append(acquired)
                        start.wait(PATIENCE)
                        if acquired:
                            semaphore.release()

                threads = [threading.Thread(target=work) for _ in range(8)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual((len(got), got.count(False)), (400, 0))
                self.assertEqual(semaphore.get_value(), 8)

    def test_condition(self):
        for method in ("fork", "spawn"):
            for lock in (None, Lock()):
                with self.subTest(method=method, lock=lock):
                    condition = Condition(lock)
                    children = [self.start(wait_on, condition, method=method) for _ in range(2)]
                    for _, pipe in children:
                        self.assertEqual(self.answer(pipe), "waits")
                    with condition:  # so both have released it
                        condition.notify()
                    self.wait_for(lambda: children[0][1].poll() or children[1][1].poll())
                    with condition:
                        self.assertFalse(condition.wait(0.01))
                        condition.notify_all()
                    self.assertEqual([self.answer(pipe) for _, pipe in children], [True, True])
        with self.assertRaises(AssertionError):
            condition.notify()
        with self.assertRaises(RuntimeError):
            condition.wait()
        with self.assertRaises(TypeError):
            Condition(threading.Lock()).notify()  # which no other process sees

    def test_condition_with_a_killed_waiter(self):
        """It takes no notification with it, and notify() does not wait for it."""
        condition = Condition()
        dead, pipe = self.start(wait_on, condition)
        self.assertEqual(self.answer(pipe), "waits")
        with condition:
            _, other = self.start(wait_on, condition)
        self.assertEqual(self.answer(other), "waits")
        self.wait_for(lambda: self.waiting() == 2)
        dead.kill()
        dead.join()
        with condition:
            condition.notify()
        self.assertTrue(self.answer(other))
        with condition:
            condition.notify_all()

    def test_condition_wait_for(self):
        condition, ready = Condition(), []

        def make_ready():
            with condition:
                ready.append(1)
                condition.notify()

        thread = threading.Thread(target=make_ready)
        with condition:
            thread.start()
            self.assertEqual(condition.wait_for(lambda: ready, PATIENCE), [1])
            self.assertFalse(condition.wait_for(lambda: False, 0.01))
        thread.join()

    def interrupt_once_waiting(self):
        main = threading.get_ident()

        def interrupt():
            self.wait_for(lambda: self.waiting() == 1)
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        self.addCleanup(thread.join)

    def test_interrupted(self):
        """Ctrl-C ends the wait; nothing is held, nothing is lost."""
        for lock in (Lock(), RLock(), BoundedSemaphore()):
            with self.subTest(lock):
                child, pipe = self.start(hold, lock)
                self.assertTrue(self.answer(pipe))
                self.interrupt_once_waiting()
                with self.assertRaises(KeyboardInterrupt):
                    lock.acquire()
                self.wait_for(lambda: self.waiting() == 0)
                child.kill()
                self.assertTrue(lock.acquire(timeout=PATIENCE))
        semaphore = Semaphore(0)
        self.interrupt_once_waiting()
        with self.assertRaises(KeyboardInterrupt):
            semaphore.acquire()
        semaphore.release()
        self.assertEqual((semaphore.get_value(), semaphore.acquire(False)), (1, True))
        condition = Condition()
        with condition:
            self.interrupt_once_waiting()
            with self.assertRaises(KeyboardInterrupt):
                condition.wait()
            self.assertTrue(condition._lock._is_owned())
            condition.notify()  # nobody waits
        child, pipe = self.start(wait_on, condition)
        self.assertEqual(self.answer(pipe), "waits")
        with condition:
            condition.notify()
        self.assertTrue(self.answer(pipe))


if __name__ == "__main__":
    unittest.main()
