# SPDX-License-Identifier: MIT
"""Tests of FileLock and SoftFileLock, between real processes. Those of the package filelock itself run in tests/peers."""
import fcntl
import gc
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import afteryou
from afteryou.filelock import FileLock, SoftFileLock, Timeout

PATIENCE = 60


class FileLocks(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-test-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        before = os.environ.get("AFTERYOU_DIR")
        os.environ["AFTERYOU_DIR"] = str(self.directory)
        self.addCleanup(os.environ.pop if before is None else os.environ.__setitem__, "AFTERYOU_DIR", before)
        self.path = self.directory / "lock"

    def holder(self, kind="FileLock"):
        """A process that holds the lock until it is killed."""
        program = (f"from afteryou.filelock import {kind}\nimport signal, sys\n"
                   f"lock = {kind}(sys.argv[1])\nlock.acquire()\nprint('in', flush=True)\nsignal.pause()")
        child = subprocess.Popen([sys.executable, "-c", program, str(self.path)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "in\n")
        return child

    def waiting(self):
        return [place.pid for place in afteryou.look().seen if place.state == afteryou.State.WAITING]

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)

    def test_counts(self):
        lock = FileLock(self.path)
        self.assertEqual((lock.lock_file, lock.is_locked, lock.lock_counter), (str(self.path), False, 0))
        with lock as first, lock.acquire() as second:
            self.assertIs(first, second)
            self.assertEqual((lock.is_locked, lock.lock_counter), (True, 2))
        self.assertEqual((lock.is_locked, lock.lock_counter), (False, 0))
        self.assertTrue(self.path.exists())
        lock.acquire()
        lock.acquire()
        lock.release(force=True)
        self.assertFalse(lock.is_locked)
        lock.release()  # as in filelock: nothing to release is no error

    def test_killed_holder(self):
        """Excludes; and a kill -9 leaves nothing behind."""
        for kind in (FileLock, SoftFileLock):
            with self.subTest(kind):
                child = self.holder(kind.__name__)
                lock = kind(self.path)
                with self.assertRaises(Timeout) as caught:
                    lock.acquire(timeout=0.05)
                self.assertEqual(caught.exception.lock_file, str(self.path))
                with self.assertRaises(TimeoutError):
                    lock.acquire(blocking=False)
                child.kill()
                with lock.acquire(timeout=PATIENCE):
                    self.assertTrue(self.path.exists())

    def test_order_of_arrival(self):
        """Whoever waits first is next: here two that wait for a third."""
        holder, got = FileLock(self.path), []

        def wait(number):
            with FileLock(self.path):
                got.append(number)

        holder.acquire()
        threads = [threading.Thread(target=wait, args=(number,)) for number in range(5)]
        for number, thread in enumerate(threads, 1):
            thread.start()
            self.wait_for(lambda number=number: len(self.waiting()) == number)
        holder.release()
        for thread in threads:
            thread.join()
        self.assertEqual(got, list(range(5)))

    def test_strangers(self):
        """flock(2) by somebody who knows nothing of afteryou excludes, and is excluded."""
        lock = FileLock(self.path)
        with open(self.path, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with self.assertRaises(Timeout):
                lock.acquire(timeout=0.05, poll_interval=0.01)
            releaser = threading.Timer(0.05, fcntl.flock, (file, fcntl.LOCK_UN))
            releaser.start()
            with lock.acquire(timeout=PATIENCE, poll_interval=0.01):
                with self.assertRaises(BlockingIOError):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            releaser.join()

    def test_a_forked_child_holds_nothing(self):
        """Its copy of the descriptor does not keep the lock when the parent is killed."""
        program = ("from afteryou.filelock import FileLock\nimport os, signal, sys\n"
                   "lock = FileLock(sys.argv[1])\nlock.acquire()\n"
                   "child = os.fork()\n"
                   "if child == 0:\n"
                   "    print(lock.is_locked, lock.lock_counter, os.getpid(), flush=True)\n"
                   "signal.pause()")
        parent = subprocess.Popen([sys.executable, "-c", program, str(self.path)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(parent.stdout.close)
        locked, counter, child = parent.stdout.readline().split()
        self.addCleanup(os.kill, int(child), signal.SIGKILL)
        self.assertEqual((locked, counter), ("False", "0"))
        with self.assertRaises(Timeout):
            FileLock(self.path).acquire(timeout=0.05)
        parent.kill()
        parent.wait()
        FileLock(self.path).acquire(timeout=PATIENCE)

    def test_threads(self):
        """Threads that share the object exclude each other; unless they hold it together."""
        for thread_local in (True, False):
            with self.subTest(thread_local=thread_local):
                lock, found = FileLock(self.path, thread_local=thread_local), []

                def try_it(lock=lock, found=found):
                    found.append(lock.is_locked)
                    try:
                        lock.acquire(blocking=False)
                        found.append("in")
                        lock.release()
                    except Timeout:
                        found.append("out")

                with lock:
                    thread = threading.Thread(target=try_it)
                    thread.start()
                    thread.join()
                self.assertEqual(found, [False, "out"] if thread_local else [True, "in"])
                self.assertFalse(lock.is_locked)

    def test_dropped(self):
        """A lock that nobody can release any more is released."""
        lock = FileLock(self.path)
        lock.acquire()
        del lock
        gc.collect()
        FileLock(self.path).acquire(blocking=False)

    def test_interrupted(self):
        """Ctrl-C ends the wait, and nothing is held."""
        child = self.holder()
        lock = FileLock(self.path)
        main = threading.get_ident()

        def interrupt():
            self.wait_for(lambda: os.getpid() in self.waiting())
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            lock.acquire()
        thread.join()
        self.assertEqual((lock.is_locked, lock.lock_counter, self.waiting()), (False, 0, []))
        child.kill()
        with lock.acquire(timeout=PATIENCE):
            self.assertTrue(lock.is_locked)

    def test_file(self):
        """Made with its mode, whatever the umask; not touched if it is there; soft ones are removed."""
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        with FileLock(self.path, mode=0o664):
            self.assertEqual(self.path.stat().st_mode & 0o777, 0o664)
        self.path.write_text("kept")
        self.path.chmod(0o600)
        with FileLock(self.path, mode=0o664):
            self.assertEqual((self.path.stat().st_mode & 0o777, self.path.read_text()), (0o600, "kept"))
        with SoftFileLock(self.path):
            self.assertTrue(self.path.exists())
        self.assertFalse(self.path.exists())
        for bad, error in (("", FileNotFoundError), (self.directory, IsADirectoryError), ("a\0b", ValueError),
                           (self.directory / "none" / "lock", FileNotFoundError)):
            with self.subTest(bad), self.assertRaises(error):
                FileLock(bad).acquire()

    def test_soft_locks_exclude(self):
        """Though the file is removed and made anew all the time."""
        inside, most, locks = [], [], [SoftFileLock(self.path) for _ in range(4)]

        def work(lock):
            for _ in range(50):
                with lock:
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()

        threads = [threading.Thread(target=work, args=(lock,)) for lock in locks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(most), max(most)), (200, 1))

    def test_long_path(self):
        """One that is no name of a region is known by its inode."""
        folder = self.directory / ("d" * 200)
        folder.mkdir()
        path = folder / ("f" * 200)
        with FileLock(path):
            with self.assertRaises(Timeout):
                FileLock(path).acquire(timeout=0.01)

    def test_region(self):
        """It has the path for its name, in the default space, as that of `afteryou flock`."""
        with FileLock(self.path):
            inside = [place for place in afteryou.look().seen if place.state == afteryou.State.INSIDE]
            self.assertEqual([place.names for place in inside], [(str(self.path),)])


if __name__ == "__main__":
    unittest.main()
