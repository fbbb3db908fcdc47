# SPDX-License-Identifier: MIT
"""A plugin of pytest: filelock's and fasteners' tests find ours in place of their own."""
import errno
import sys
import types
import weakref

import afteryou
from afteryou import filelock as ours
from afteryou._process import region_in

try:
    from fasteners import process_lock
except ImportError:  # filelock's tests do without
    process_lock = None


class WindowsFileLock(ours.FileLock):
    """Only for its name to be imported."""

    def acquire(self, *_, **__):
        raise NotImplementedError

    _release = acquire


sys.modules["filelock"] = types.SimpleNamespace(WindowsFileLock=WindowsFileLock, **{name: getattr(ours, name) for name in ours.__all__})

held = weakref.WeakKeyDictionary()  # by the open file, which is what fasteners locks


def replace_fasteners():
    """Its classes stay, with what they tell and how they try again; what takes and gives back is ours."""

    class InterProcessLock(process_lock._InterProcessLock):
        @staticmethod
        def _trylock(lockfile):
            lock = held.setdefault(lockfile, ours.FileLock(lockfile.name))
            try:
                lock.acquire(blocking=False)
            except ours.Timeout:
                raise BlockingIOError(errno.EAGAIN, "held by another") from None

        @staticmethod
        def _unlock(lockfile):
            held[lockfile].release(force=True)

    class InterProcessReaderWriterLock(process_lock._InterProcessReaderWriterLock):
        """It waits in the queue: no trying again."""

        def _acquire(self, blocking=True, delay=0, max_delay=0, timeout=None, exclusive=True):
            self._do_open()
            mode = afteryou.Mode.EXCLUSIVE if exclusive else afteryou.Mode.SHARED
            region = held[self.lockfile] = region_in(afteryou.path(), str(self.path), mode=mode)
            return region.acquire(blocking, -1 if timeout is None else timeout)

        @staticmethod
        def _unlock(lockfile):
            held.pop(lockfile).close()

        @staticmethod
        def _get_handle(path):
            return open(path, "a+", encoding="utf-8")

        @staticmethod
        def _close_handle(lockfile):
            lockfile.close()

    process_lock.InterProcessLock = InterProcessLock
    process_lock.InterProcessReaderWriterLock = InterProcessReaderWriterLock


if process_lock:
    replace_fasteners()
