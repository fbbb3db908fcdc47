# SPDX-License-Identifier: MIT
"""Lock, RLock, Semaphore, BoundedSemaphore and Condition in place of those of the standard multiprocessing: no killed
process keeps what it held, and those who wait are served in order of arrival.

    >>> from afteryou.multiprocessing import Lock
    >>> lock = Lock()
    >>> with lock:
    ...     lock.acquire(block=False)
    False

They go to children as the standard ones do: by fork, or as arguments of a Process. `afteryou status -S multiprocessing`
shows who holds them, and who waits.

What differs: a lock is released by the process that acquired it, and by none other (ValueError). A thread that ends
has released its locks. A wait that would never end, because a thread waits for itself or in a circle, raises
afteryou.Deadlock, unless it has a timeout. The permits of a BoundedSemaphore come back when their process dies; those
of a Semaphore belong to nobody, as it may be released by another process than the one that acquired it.
"""
from __future__ import annotations

import os
import secrets
import sys
import threading
import weakref
from multiprocessing import heap
from types import TracebackType
from typing import Any, Callable, Optional, Union

from . import _look
from ._process import deadline_of, entered, left_until, region_in
from ._space import Region

__all__ = ["BoundedSemaphore", "Condition", "Lock", "RLock", "Semaphore"]

_SPACE = "multiprocessing"
_MOMENT = 1.0  # seconds that who does not wait for its turn waits for others that are not inside yet, at most


class NotOwned(AssertionError, RuntimeError):
    """Another thread has it, or none."""


class _Regions:
    """The regions of one resource in this process: one for each passage, so that threads wait in the queue, too."""

    def __init__(self, kind: str, by_process: bool = False, **spec: Any) -> None:
        self._space = _look.path(_SPACE)  # for a child that has another idea of where spaces are
        self._name = f"{kind} {os.getpid()} {secrets.token_hex(8)}"
        self._by_process = by_process  # it is held until the process ends, though the thread has ended
        self._spec = spec
        self._begin()

    def _begin(self) -> None:
        self._idle: list[Region] = []
        self.inside: list[Region] = []
        _all.add(self)

    def enter(self, deadline: Optional[float], when: Optional[Callable[[], bool]] = None) -> Optional[Region]:
        """None: not in time. Whatever is raised, and whenever: then nothing is held."""
        region: Optional[Region] = None
        try:
            region = self._idle.pop() if self._idle else region_in(self._space, self._name, **self._spec)
            if entered(region, deadline, when):
                if self._by_process and threading.get_ident() != threading.main_thread().ident:
                    os.close(region.share())
                self.inside.append(region)
                return region
            self._idle.append(region)
            return None
        except BaseException:
            if region is not None:
                self._drop(region)
            raise

    def leave(self, region: Optional[Region] = None) -> None:
        """That one, or any; outside at the end."""
        try:
            region = region or self.inside[-1]
            self.inside.remove(region)
        except (IndexError, ValueError):
            raise ValueError("semaphore or lock released too many times") from None
        try:
            region.leave()
            if self._by_process:
                region.unshare()
            self._idle.append(region)
        except BaseException as error:
            self._drop(region)
            if not isinstance(error, PermissionError):  # the thread that entered has ended, and so has left
                raise

    def _drop(self, region: Region) -> None:
        if region in self.inside:
            self.inside.remove(region)
        region.close()

    def count_inside(self) -> int:
        """Of all processes."""
        try:
            seen = _look.look(self._space).seen
        except FileNotFoundError:  # none has entered yet
            return 0
        return sum(place.alive and place.state == _look.State.INSIDE and self._name in place.names for place in seen)

    def __getstate__(self) -> tuple[str, str, bool, dict[str, Any]]:
        return self._space, self._name, self._by_process, self._spec

    def __setstate__(self, state: tuple[str, str, bool, dict[str, Any]]) -> None:
        self._space, self._name, self._by_process, self._spec = state
        self._begin()


_all: weakref.WeakSet[_Regions] = weakref.WeakSet()


def _child_holds_nothing() -> None:
    for regions in list(_all):
        regions._begin()


os.register_at_fork(after_in_child=_child_holds_nothing)


class _Words:
    """A few 64-bit words that processes share. Whoever is inside the region that goes with them may write."""

    def __init__(self, *values: int) -> None:
        self._wrapper = heap.BufferWrapper(8 * len(values))
        self._words = self._wrapper.create_memoryview().cast("q")
        for at, value in enumerate(values):
            self._words[at] = value

    def __getitem__(self, at: int) -> int:
        return self._words[at]

    def __setitem__(self, at: int, value: int) -> None:
        self._words[at] = value

    def __getstate__(self) -> heap.BufferWrapper:
        return self._wrapper

    def __setstate__(self, wrapper: heap.BufferWrapper) -> None:
        self._wrapper = wrapper
        self._words = wrapper.create_memoryview().cast("q")


class _Acquired:
    """What can be acquired and released, and used with `with`."""

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        """Whether it was acquired: at once, unless `block`; in so many seconds; None is for ever."""
        raise NotImplementedError

    def release(self) -> None:
        """Gives it back."""
        raise NotImplementedError

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()


def _deadline(block: bool, timeout: Optional[float]) -> Optional[float]:
    return deadline_of(timeout if block else 0)


def _repr(lock: object, locked: bool) -> str:
    kind = type(lock)
    return f"<{'locked' if locked else 'unlocked'} {kind.__module__}.{kind.__qualname__} object at {id(lock):#x}>"


class Lock(_Acquired):
    """In place of multiprocessing.Lock. Any thread of the process that acquired it may release it."""

    def __init__(self, *, ctx: Any = None) -> None:
        self._regions = _Regions("lock")
        self.after_death = False  # somebody died with it before it was last acquired here

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        region = self._regions.enter(_deadline(block, timeout))
        if region is not None:
            self.after_death = region.after_death
        return region is not None

    def release(self) -> None:
        self._regions.leave()

    def locked(self) -> bool:
        """Whether any process has it."""
        return bool(self._regions.inside) or self._regions.count_inside() > 0

    def __repr__(self) -> str:
        return _repr(self, self.locked())

    def _is_owned(self) -> bool:
        return bool(self._regions.inside)

    def _release_save(self) -> int:
        self.release()
        return 1

    def _acquire_restore(self, count: int) -> None:
        self.acquire()


class RLock(_Acquired):
    """In place of multiprocessing.RLock. The thread that has it may acquire it again."""

    def __init__(self, *, ctx: Any = None) -> None:
        self._regions = _Regions("rlock")
        self.after_death = False  # somebody died with it before it was last acquired here
        self._begin()

    def _begin(self) -> None:
        self._owner: Optional[tuple[int, Region]] = None  # the thread, and by which region; set once inside
        self._count = 0

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        if self._is_owned():
            self._count += 1
            return True
        region: Optional[Region] = None
        try:
            region = self._regions.enter(_deadline(block, timeout))
            if region is None:
                return False
            self.after_death = region.after_death
            self._count = 1
            self._owner = threading.get_ident(), region
            return True
        except BaseException:
            if region is not None and not self._is_owned():
                self._regions.leave(region)
            raise

    def release(self) -> None:
        if not self._is_owned():
            raise NotOwned("attempt to release recursive lock not owned by thread")
        if self._count == 1:
            self._release_save()
        else:
            self._count -= 1

    def locked(self) -> bool:
        """Whether any process has it."""
        return bool(self._regions.inside) or self._regions.count_inside() > 0

    def __repr__(self) -> str:
        return _repr(self, self.locked())

    def _is_owned(self) -> bool:
        owner = self._owner  # in a child it is the parent's, and no region of ours
        return owner is not None and owner[0] == threading.get_ident() and owner[1] in self._regions.inside

    def _release_save(self) -> int:
        if not self._is_owned():
            raise NotOwned("cannot release un-acquired lock")
        count, self._count = self._count, 0
        owner, self._owner = self._owner, None
        assert owner is not None
        self._regions.leave(owner[1])
        return count

    def _acquire_restore(self, count: int) -> None:
        self.acquire()
        self._count = count

    def __getstate__(self) -> _Regions:
        return self._regions

    def __setstate__(self, regions: _Regions) -> None:
        self._regions = regions
        self.after_death = False
        self._begin()


class Semaphore(_Acquired):
    """In place of multiprocessing.Semaphore: a number that release() adds to, and that acquire() takes from."""

    def __init__(self, value: int = 1, *, ctx: Any = None) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._gate = _Regions("semaphore")
        self._words = _Words(value)

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        deadline = _deadline(block, timeout)
        if left_until(deadline) != 0:
            return self._take(deadline, lambda: self._words[0] > 0)
        # whoever else is at the gate is there for a moment, unless it is stopped
        return self._words[0] > 0 and self._take(deadline_of(_MOMENT), None)

    def _take(self, deadline: Optional[float], when: Optional[Callable[[], bool]]) -> bool:
        region, taken = None, False
        try:
            region = self._gate.enter(deadline, when)
            if region is None:
                return False
            if self._words[0] > 0:
                self._words[0] -= 1
                taken = True
            self._gate.leave(region)
            return taken
        except BaseException:
            if region in self._gate.inside:
                self._gate.leave(region)
            if taken:
                self.release()
            raise

    def release(self, n: int = 1) -> None:
        """Adds one, or so many."""
        if n < 1:
            raise ValueError("n must be one or more")
        region = self._gate.enter(None)
        try:
            self._words[0] += n
        finally:
            self._gate.leave(region)

    def get_value(self) -> int:
        """The number, now."""
        return self._words[0]

    def __repr__(self) -> str:
        kind = type(self)
        return f"<{kind.__module__}.{kind.__qualname__} at {id(self):#x}: value={self.get_value()}>"


class BoundedSemaphore(_Acquired):
    """In place of multiprocessing.BoundedSemaphore: so many at once. What a process holds comes back when it dies."""

    def __init__(self, value: int = 1, *, ctx: Any = None) -> None:
        if value < 1:
            raise ValueError("semaphore initial value must be >= 1: one of 0 could never be acquired")
        self._value = value
        self._regions = _Regions("bounded semaphore", by_process=True, take=1, of=value)
        self.after_death = False  # somebody died with it before it was last acquired here

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        deadline = _deadline(block, timeout)
        moment = deadline_of(_MOMENT if left_until(deadline) == 0 else 0)
        region = self._regions.enter(deadline)
        # there is one to be had: somebody who was just choosing was in the way for a moment, unless it is stopped
        while region is None and left_until(moment) != 0 and self.get_value() > 0:
            region = self._regions.enter(deadline)
        if region is not None:
            self.after_death = region.after_death
        return region is not None

    def release(self, n: int = 1) -> None:
        """Gives one back that this process holds, or so many."""
        if n < 1:
            raise ValueError("n must be one or more")
        if n > len(self._regions.inside):
            raise ValueError("semaphore or lock released too many times")
        for _ in range(n):
            self._regions.leave()

    def get_value(self) -> int:
        """How many are free, now."""
        return self._value - self._regions.count_inside()

    def __repr__(self) -> str:
        kind = type(self)
        return f"<{kind.__module__}.{kind.__qualname__} at {id(self):#x}: value={self.get_value()}/{self._value}>"


class Condition(_Acquired):
    """In place of multiprocessing.Condition. A waiter that is killed takes no notification with it; but later a waiter
    may wake up once too often for it: ask again what was waited for, as wait_for() does."""

    # The words: whoever waits takes a ticket. A grant is for any waiter whose ticket is below the horizon, in order of
    # arrival. The dead are not counted off: so `sleeping` is never less than those who sleep.
    _next, _horizon, _sleeping, _grants = range(4)

    def __init__(self, lock: Union[Lock, RLock, None] = None, *, ctx: Any = None) -> None:
        self._lock = RLock() if lock is None else lock
        self._gate = _Regions("condition")
        self._words = _Words(0, 0, 0, 0)

    def acquire(self, block: bool = True, timeout: Optional[float] = None) -> bool:
        return self._lock.acquire(block) if timeout is None else self._lock.acquire(block, timeout)

    def release(self) -> None:
        self._lock.release()

    def _is_owned(self) -> bool:
        if not isinstance(self._lock, (Lock, RLock)):
            raise TypeError("a Condition waits and notifies with a Lock or RLock of afteryou.multiprocessing")
        return self._lock._is_owned()

    def _release_save(self) -> int:
        return self._lock._release_save()

    def _acquire_restore(self, count: int) -> None:
        self._lock._acquire_restore(count)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({self._lock!r}, {self._words[self._sleeping]})>"

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Releases the lock, waits for a notification, acquires the lock again. False: there was none in time."""
        if not self._is_owned():
            raise NotOwned("must acquire() condition before using wait()")
        deadline = deadline_of(timeout)
        ticket = self._change(self._sleep)
        count = self._lock._release_save()
        asleep = True
        try:
            region = self._gate.enter(deadline, lambda: self._is_granted(ticket)) or self._gate.enter(None)
            notified = self._wake_up(ticket)
            asleep = False
            self._gate.leave(region)
            return notified
        finally:
            if asleep:
                self._change(self._give_up)  # it was interrupted
            self._lock._acquire_restore(count)

    def wait_for(self, predicate: Callable[[], Any], timeout: Optional[float] = None) -> Any:
        """Until predicate() is true; what it returned last."""
        deadline = deadline_of(timeout)
        result = predicate()
        while not result and left_until(deadline) != 0:
            self.wait(left_until(deadline))
            result = predicate()
        return result

    def notify(self, n: int = 1) -> None:
        """Wakes so many of those who wait."""
        if not self._is_owned():
            raise NotOwned("lock is not owned")
        self._change(lambda: self._grant(n, self._words[self._next]))

    def notify_all(self) -> None:
        """Wakes all who wait."""
        self.notify(sys.maxsize)

    def _change(self, act: Callable[[], Any]) -> Any:
        """act() inside the gate."""
        region = self._gate.enter(None)
        try:
            return act()
        finally:
            self._gate.leave(region)

    def _sleep(self) -> int:
        ticket = self._words[self._next]
        self._words[self._next] = ticket + 1
        self._words[self._sleeping] += 1
        return ticket

    def _is_granted(self, ticket: int) -> bool:
        return self._words[self._grants] > 0 and ticket < self._words[self._horizon]

    def _wake_up(self, ticket: int) -> bool:
        granted = self._is_granted(ticket)
        self._words[self._grants] -= granted
        self._words[self._sleeping] -= 1
        return granted

    def _give_up(self) -> None:
        self._words[self._sleeping] -= 1
        self._grant(0, self._words[self._horizon])

    def _grant(self, n: int, horizon: int) -> None:
        self._words[self._grants] = min(self._words[self._grants] + n, self._words[self._sleeping])
        self._words[self._horizon] = horizon
