# SPDX-License-Identifier: MIT
"""CPython's tests of locks, run against afteryou.multiprocessing: cpython.py DIRECTORY locks|fork|spawn

lock_tests.py is of threading's locks, whose acquire() has other words. What _test_multiprocessing.py has of locks is taken as it
is. An Event and a Barrier are the standard ones, on our Condition."""
import importlib
import multiprocessing
import multiprocessing.synchronize
import pathlib
import sys
import threading
import types
import unittest

import afteryou.multiprocessing as ours
import test
import told


class Context:
    """What the standard Event and Barrier make their locks by."""
    Lock, RLock, Semaphore, BoundedSemaphore = ours.Lock, ours.RLock, ours.Semaphore, ours.BoundedSemaphore

    @staticmethod
    def Condition(lock=None):
        return Condition(lock)


class Condition(ours.Condition):
    """Shows what CPython's tests look at: nobody sleeps, and nobody was granted what he did not take."""

    def _word(self, at):
        return types.SimpleNamespace(get_value=lambda: self._words[at])

    _sleeping_count = property(lambda self: self._word(self._sleeping))
    _woken_count = types.SimpleNamespace(get_value=lambda: 0)
    _wait_semaphore = property(lambda self: self._word(self._grants))


def Event():
    return multiprocessing.synchronize.Event(ctx=Context())


def Barrier(parties, action=None, timeout=None):
    return multiprocessing.synchronize.Barrier(parties, action, timeout, ctx=Context())


class EventOfThreads(threading.Event):
    __qualname__ = "Event"

    def __init__(self):
        super().__init__()
        self._cond = ours.Condition(ours.Lock())


class BarrierOfThreads(threading.Barrier):
    __qualname__ = "Barrier"

    def __init__(self, *words, **keywords):
        super().__init__(*words, **keywords)
        self._cond = ours.Condition(ours.Lock())


class WordsOfThreading:
    """acquire(blocking=True, timeout=-1), as threading.Lock has it."""

    def acquire(self, blocking=True, timeout=-1):
        if not blocking and timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        if timeout < 0 and timeout != -1:
            raise ValueError("timeout value must be a non-negative number")
        if timeout > threading.TIMEOUT_MAX:
            raise OverflowError("timeout value is too large")
        return super().acquire(blocking, None if timeout == -1 else timeout)


class Lock(WordsOfThreading, ours.Lock):
    pass


class RLock(WordsOfThreading, ours.RLock):
    pass


class ConditionAsRLock(WordsOfThreading, ours.Condition):
    pass


class WordsOfSemaphore:
    """acquire(blocking=True, timeout=None), as threading.Semaphore has it."""

    def acquire(self, blocking=True, timeout=None):
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        return super().acquire(blocking, timeout)


class Semaphore(WordsOfSemaphore, ours.Semaphore):
    pass


class BoundedSemaphore(WordsOfSemaphore, ours.BoundedSemaphore):
    pass


def locks():
    theirs = importlib.import_module("test.lock_tests")
    for name, base, attribute, kind in (
            ("LockTests", theirs.LockTests, "locktype", Lock),
            ("RLockTests", theirs.RLockTests, "locktype", RLock),
            ("EventTests", theirs.EventTests, "eventtype", EventOfThreads),
            ("ConditionTests", theirs.ConditionTests, "condtype", ours.Condition),
            ("ConditionAsRLockTests", theirs.RLockTests, "locktype", ConditionAsRLock),
            ("SemaphoreTests", theirs.SemaphoreTests, "semtype", Semaphore),
            ("BoundedSemaphoreTests", theirs.BoundedSemaphoreTests, "semtype", BoundedSemaphore),
            ("BarrierTests", theirs.BarrierTests, "barriertype", BarrierOfThreads)):
        yield type(name, (base,), {attribute: staticmethod(kind)})


def processes(method):
    theirs = importlib.import_module("test._test_multiprocessing")
    found = {"__name__": __name__}
    theirs.install_tests_in_module_dict(found, method)
    if __name__ == "__main__":
        found["setUpModule"]()
        unittest.addModuleCleanup(found["tearDownModule"])
    kinds = {"Lock": ours.Lock, "RLock": ours.RLock, "Semaphore": ours.Semaphore, "BoundedSemaphore": ours.BoundedSemaphore,
             "Condition": Condition, "Event": Event, "Barrier": Barrier}
    for name in ("Lock", "Semaphore", "Condition", "Event", "Barrier"):
        kind = found[f"WithProcessesTest{name}"]
        for attribute, value in kinds.items():
            setattr(kind, attribute, staticmethod(value))
        globals()[kind.__name__] = kind  # a spawned child finds it here
        yield kind


# A spawned child imports this, and looks for the classes.
test.__path__.insert(0, str(pathlib.Path(sys.argv[1], "cpython/test")))
classes = list(locks() if sys.argv[2] == "locks" else processes(sys.argv[2]))
if __name__ == "__main__":
    told.run(*classes)
    unittest.doModuleCleanups()
