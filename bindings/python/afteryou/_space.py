# SPDX-License-Identifier: MIT
"""Spaces, and the regions in them."""
from __future__ import annotations

import ctypes
import enum
import errno
import math
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Iterable, Optional

from ._asks import Asks
from ._errors import Busy, Disagreement, Timeout, check
from ._library import Options, Spec, When, condition, library


class Mode(enum.IntEnum):
    """Which of them may be inside at once: see afteryou.h."""
    EXCLUSIVE = 0
    SHARED = 1
    PROTECTED_WRITE = 2
    CONCURRENT_WRITE = 3
    CONCURRENT_READ = 4
    NULL = 5


class Precedence(enum.IntEnum):
    """Who goes first of those that wait."""
    IN_ORDER = 0
    WRITERS_FIRST = 1
    READERS_FIRST = 2
    BY_PRIORITY = 3


def name_in_bytes(text: Optional[str]) -> Optional[bytes]:
    """A name as C takes it."""
    if text is None:
        return None
    encoded = os.fsencode(text)
    if b"\0" in encoded:
        raise Disagreement(errno.EINVAL, "a name holds a NUL byte")
    return encoded


def _milliseconds(timeout: Optional[float]) -> int:
    if timeout is None:
        return -1
    if not timeout >= 0:
        raise ValueError("a timeout is a number, and not negative")
    if timeout == float("inf"):
        return -1
    return min(2**31 - 1, math.ceil(timeout * 1000))


def _within(**numbers: int) -> None:
    """C would cut what does not fit into 32 bits, and take another number."""
    for name, number in numbers.items():
        if not -2**31 <= number < 2**31:
            raise Disagreement(errno.EINVAL, f"{name}={number}: that is more than any space has")


class _Handle:
    """Of a space; None once it is closed, and with it the regions in it."""

    def __init__(self, value: ctypes.c_void_p) -> None:
        self.value: Optional[ctypes.c_void_p] = value


def _close_region(handle: ctypes.c_void_p, space: _Handle) -> None:
    if space.value is not None:
        library.ay_region_close(handle)


def _close_space(space: _Handle) -> None:
    handle, space.value = space.value, None
    if handle is not None:
        library.ay_close(handle)


_HEARD = 200  # milliseconds within which a signal is heard that cannot end a wait
_inside: set[Region] = set()  # whoever is inside is not dropped
os.register_at_fork(after_in_child=_inside.clear)  # the child owns nothing


class Region:
    """A named resource in a mode; entered with `with`, or enter() and leave(). Made by Space.region().

    >>> with Space() as space:
    ...     region = space.region("x")
    ...     region.enter(timeout=1)
    ...     region.inside, region.valid
    ...     region.leave()
    False
    (True, True)
    """

    def __init__(self, handle: ctypes.c_void_p, space: Space, of: int, tells: bool) -> None:
        self._handle: Optional[ctypes.c_void_p] = handle
        self._space = space  # outlives its regions
        self._of = of
        self._tells = tells
        self._times = 0  # how often it was entered, and not left: more than once only if it is reentrant
        self.after_death = False  # of the present passage: somebody died inside before it
        self._close = weakref.finalize(self, _close_region, handle, space._handle)
        self._close.atexit = False  # who ends inside has died inside

    def _open_handle(self) -> ctypes.c_void_p:
        if self._handle is None or self._space.closed:
            raise ValueError("the region is closed")
        return self._handle

    def _entered(self, result: int) -> bool:
        died = check(result) == 1
        self.after_death = died or (self.inside and self.after_death)  # of the passage, not of this call
        self._times = self._times + 1 if self.inside else 1
        _inside.add(self)
        return self.after_death

    def _abandon(self) -> None:
        """Something was raised in the middle of it, perhaps by a signal's handler just after: outside at the end."""
        if self._handle is not None and not self._space.closed:
            while library.ay_leave(self._handle) == 0:  # EPERM once it is outside
                pass
        _inside.discard(self)

    def enter(self, timeout: Optional[float] = None, when: Optional[Callable[[], bool]] = None) -> bool:
        """Waits for its turn (at most `timeout` seconds), and until when() is true. True: somebody died inside.

        >>> region = Space().region("x")
        >>> region.enter(timeout=10, when=lambda: True)
        False
        >>> region.enter()
        Traceback (most recent call last):
        afteryou.Deadlock: [Errno 35] this region is already entered
        >>> region.leave()
        """
        handle, milliseconds = self._open_handle(), _milliseconds(timeout)
        raised: list[BaseException] = []
        # Handlers run in the main thread alone.
        handled = threading.get_ident() == threading.main_thread().ident
        interrupted = condition(lambda: False, raised) if handled else When(0)
        asked = condition(when, raised) if when else When(0)
        was_inside = self.inside
        try:
            result = library.ay_enter_unless(handle, interrupted, asked, None, milliseconds)
            if raised:
                raise raised[0]
            return self._entered(result)
        except BaseException:
            if not was_inside:
                self._abandon()
            raise

    def try_enter(self) -> bool:
        """Without waiting: Busy. True: somebody died inside."""
        handle, was_inside = self._open_handle(), self.inside
        try:
            return self._entered(library.ay_try(handle))
        except BaseException:
            if not was_inside:
                self._abandon()
            raise

    def leave(self) -> None:
        """Never waits. Outside at the end, even if a signal's handler raises; a reentrant one, if it was left as often
        as entered."""
        handle = self._open_handle()
        try:
            check(library.ay_leave(handle))
            self._times -= 1
            if self._times <= 0:
                _inside.discard(self)
        except BaseException:
            self._abandon()
            raise

    def convert(self, mode: Mode, timeout: Optional[float] = None) -> bool:
        """Changes the mode of the present passage, to any that the region's own includes. To one that excludes less: at
        once. To another: waits, inside in the old mode, until nobody who conflicts is inside; True: somebody died inside.
        Timeout, or Deadlock if another is becoming stronger already: it keeps the mode that it has. Ctrl-C is heard within
        a fifth of a second; whoever becomes stronger in the main thread stands aside for a moment as often.

        >>> with Space().region("x") as region:
        ...     region.convert(Mode.SHARED)
        ...     with Space().region("x", mode=Mode.SHARED) as reader:
        ...         region.inside, reader.inside
        False
        (True, True)
        """
        handle, milliseconds = self._open_handle(), _milliseconds(timeout)
        if threading.get_ident() != threading.main_thread().ident:
            return check(library.ay_convert(handle, int(mode), milliseconds)) == 1
        while True:
            now = _HEARD if milliseconds < 0 else min(_HEARD, milliseconds)
            result = library.ay_convert(handle, int(mode), now)
            milliseconds -= now if milliseconds > 0 else 0
            if result != -errno.ETIMEDOUT or milliseconds == 0:
                return check(result) == 1

    async def ask(self, timeout: Optional[float] = None, when: Optional[Callable[[], bool]] = None) -> bool:
        """As enter(), in a coroutine: the loop goes on meanwhile, and no thread waits. A task that is cancelled gives the
        ask up. `async with region` asks, and leaves at the end.

        >>> async def work():
        ...     async with Space().region("x") as region:
        ...         return region.inside
        >>> import asyncio
        >>> asyncio.run(work())
        True
        """
        handle, milliseconds = self._open_handle(), _milliseconds(timeout)
        return self._entered(await self._space._asks.enter(self, handle, milliseconds, when))

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Enters, in the words of threading.Lock: whether it is inside. A negative timeout is for ever. For one thread
        at a time, as all of a region: threads that share one object want afteryou.multiprocessing.Lock.

        >>> region, other = Space().region("x"), Space().region("x")
        >>> region.acquire()
        True
        >>> other.acquire(blocking=False)
        False
        >>> region.release()
        """
        if not blocking and timeout >= 0:
            raise ValueError("can't specify a timeout for a non-blocking call")
        try:
            if blocking:
                self.enter(None if timeout < 0 else timeout)
            else:
                self.try_enter()
        except (Busy, Timeout):
            return False
        return True

    def release(self) -> None:
        """Leaves, in the words of threading.Lock."""
        self.leave()

    def locked(self) -> bool:
        """Whether this object is inside; whether somebody else is tells look()."""
        return self.inside

    @property
    def inside(self) -> bool:
        """Whether it is entered."""
        return self in _inside

    def rename(self, name: str) -> None:
        """Outside: the same place for another resource, at a small part of what closing and opening costs.

        >>> with Space() as space:
        ...     region = space.region("record 1")
        ...     region.rename("record 2")
        """
        check(library.ay_region_rename(self._open_handle(), name_in_bytes(name)))

    @property
    def fence(self) -> int:
        """Grows with every passage that conflicts."""
        return int(library.ay_fence(self._open_handle()))

    @property
    def units(self) -> tuple[int, ...]:
        """Those held while inside, ascending."""
        room = (ctypes.c_uint * max(self._of, 1))()
        count = library.ay_units(self._open_handle(), room, len(room))
        return tuple(room[:count])

    @property
    def wanted(self) -> int:
        """How many wait now for what it holds: a leader, a cache or a batch job may give way."""
        return int(library.ay_wanted(self._open_handle()))

    async def until_wanted(self) -> int:
        """Inside, and opened with tell_wanted: waits until somebody waits for what it holds, and says how many do. No
        thread waits for that, and nothing is polled.

        >>> async def lead():
        ...     async with Space().region("office", tell_wanted=True) as mine:
        ...         rival = asyncio.create_task(Space().region("office").ask())
        ...         await asyncio.sleep(0)
        ...         return await mine.until_wanted()
        >>> import asyncio
        >>> asyncio.run(lead())
        1
        """
        handle = self._open_handle()
        if not self._tells:
            raise ValueError("the region was opened without tell_wanted=True")
        if not self.inside:
            raise ValueError("the region is not entered: nobody waits for it")
        return await self._space._asks.until_wanted(handle)

    @property
    def valid(self) -> bool:
        """Whether the present passage still holds: a cluster's can be lost."""
        return bool(library.ay_valid(self._open_handle()))

    @property
    def lost(self) -> int:
        """A descriptor, for select or poll, that is readable once the present passage is lost. It belongs to the
        region."""
        return check(library.ay_lost(self._open_handle()))

    def share(self) -> int:
        """From now on it is held until this process has died and every copy of the returned descriptor is closed; not
        only until the thread that entered has ended. The descriptor is the caller's to close. A death is then noticed
        in a second or so."""
        return check(library.ay_share(self._open_handle()))

    def unshare(self) -> None:
        """Held as usual again."""
        check(library.ay_unshare(self._open_handle()))

    def close(self) -> None:
        """Gives up the place; leaves, if inside."""
        if self._handle is not None:
            self._space._asks.close(self._handle)
        self._close()
        self._handle = None
        _inside.discard(self)

    def __enter__(self) -> Region:
        was_inside = self.inside
        try:
            self.enter()
            return self
        except BaseException:  # perhaps a signal's handler, after enter() has returned
            if not was_inside:
                self._abandon()
            raise

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self.inside and not self._space.closed:
            self.leave()

    async def __aenter__(self) -> Region:
        await self.ask()
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.__exit__(kind, value, trace)


class Space:
    """Where processes meet. Opened by name or path; made if there is none."""

    def __init__(self, name: Optional[str] = None, *, places: int = 0, protocol: Optional[str] = None,
                 precedence: Precedence = Precedence.IN_ORDER, overtake: int = 0, mode: int = 0,
                 retain: bool = False) -> None:
        _within(places=places, overtake=overtake, mode=mode)
        options = Options(places=places, protocol=name_in_bytes(protocol), precedence=int(precedence),
                          overtake=overtake, retain=int(retain), mode=mode)
        handle = ctypes.c_void_p()
        check(library.ay_open(name_in_bytes(name), ctypes.byref(options), ctypes.byref(handle)))
        self._handle = _Handle(handle)
        self._asks = Asks(handle)
        self._close = weakref.finalize(self, _close_space, self._handle)
        self._close.atexit = False

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._handle.value is None

    def region(self, name: str, *, also: Iterable[str] = (), mode: Mode = Mode.EXCLUSIVE, slots: int = 0, take: int = 0,
               of: int = 0, priority: int = 0, reentrant: bool = False, tell_wanted: bool = False) -> Region:
        """Claims a place for a region. Nothing is entered yet. A reentrant one counts how often its thread enters. One
        with tell_wanted can wait until it is wanted: until_wanted().

        >>> with Space() as space:
        ...     with space.region("x", also=["y"], mode=Mode.SHARED) as region:
        ...         region.inside
        True
        """
        if self._handle.value is None:
            raise ValueError("the space is closed")
        _within(slots=slots, take=take, of=of, priority=priority)
        further = [name_in_bytes(other) for other in also]
        names = (ctypes.c_char_p * (len(further) + 1))(*further, None)
        spec = Spec(name=name_in_bytes(name), also=names if further else None, mode=int(mode), slots=slots, take=take,
                    of=of, priority=priority, reentrant=int(reentrant), tell_wanted=int(tell_wanted))
        handle = ctypes.c_void_p()
        check(library.ay_region_open(self._handle.value, ctypes.byref(spec), ctypes.byref(handle)))
        return Region(handle, self, of, tell_wanted)

    def repair(self) -> int:
        """Marks dead what says it is alive without an owner; how many."""
        if self._handle.value is None:
            raise ValueError("the space is closed")
        return check(library.ay_repair(self._handle.value))

    def close(self) -> None:
        """Closes the space and its regions: those inside leave."""
        _inside.difference_update([region for region in _inside if region._space is self])
        self._asks.close()
        self._close()

    def __enter__(self) -> Space:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
