# SPDX-License-Identifier: MIT
"""Asking without waiting, and hearing that one is wanted, for asyncio: by the descriptor of a space, without any thread."""
from __future__ import annotations

import asyncio
import ctypes
import errno
from typing import TYPE_CHECKING, Callable, Optional

from ._library import When, condition, library

if TYPE_CHECKING:
    from ._space import Region


class _Ask:
    """One that is not decided. The condition is kept for as long as the library may call it."""

    def __init__(self, region: Region, when: Optional[Callable[[], bool]]) -> None:
        self.region = region
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[int] = self.loop.create_future()
        self.raised: list[BaseException] = []  # by the condition
        self.closed = False  # close() has given it up: its handle means nothing any more
        self.condition = condition(when, self.raised) if when else When(0)


class _Wish:
    """A task that wants to hear when a region is wanted."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[int] = self.loop.create_future()
        self.closed = False  # its handle means nothing any more

    def look(self) -> None:
        """In its own loop: a region is for one thread at a time."""
        count = 0 if self.closed or self.future.done() else int(library.ay_wanted(self.handle))
        if count:
            self.future.set_result(count)


class Asks:
    """Those of one space. Any loop that waits for some goes on with all, for the library does not know loops."""

    def __init__(self, space: ctypes.c_void_p) -> None:
        self._space = space
        self._pending: dict[Optional[int], _Ask] = {}  # by the region's handle
        self._wishes: set[_Wish] = set()
        # Of each loop, how many asks and wishes are pending, and the descriptor that it watches, or a negative number.
        self._loops: dict[asyncio.AbstractEventLoop, tuple[int, int]] = {}

    async def enter(self, region: Region, handle: ctypes.c_void_p, milliseconds: int,
                    when: Optional[Callable[[], bool]]) -> int:
        """What ay_enter_when() would have returned. Whatever is raised: then it is neither inside nor asked for."""
        ask = _Ask(region, when)
        if handle.value in self._pending:
            return -errno.EALREADY
        self._watch(ask.loop)
        self._pending[handle.value] = ask  # before it is asked: another thread's loop may find it decided
        try:
            result = int(library.ay_ask_when(handle, ask.condition, None, milliseconds))
            if result == -errno.EINPROGRESS:
                result = await ask.future
            if ask.raised:
                raise ask.raised[0]
            return result
        except BaseException:
            self._give_up(handle, ask)
            raise
        finally:
            if self._pending.get(handle.value) is ask:
                del self._pending[handle.value]
            self._watch_no_more(ask.loop)

    async def until_wanted(self, handle: ctypes.c_void_p) -> int:
        """How many want it, as soon as anybody does."""
        wish = _Wish(handle)
        self._watch(wish.loop)
        self._wishes.add(wish)  # before it looks: what comes later is told
        try:
            wish.look()
            return await wish.future
        finally:
            self._wishes.discard(wish)
            self._watch_no_more(wish.loop)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        count, descriptor = self._loops.get(loop, (0, -1))
        if count == 0:
            descriptor = library.ay_fd(self._space)
            if descriptor >= 0:  # if not, ay_ask_when() says why
                loop.add_reader(descriptor, self._go_on)
        self._loops[loop] = count + 1, descriptor

    def _watch_no_more(self, loop: asyncio.AbstractEventLoop) -> None:
        count, descriptor = self._loops.pop(loop, (0, -1))
        if count > 1:
            self._loops[loop] = count - 1, descriptor
        elif descriptor >= 0 and not loop.is_closed():
            loop.remove_reader(descriptor)

    @staticmethod
    def _give_up(handle: ctypes.c_void_p, ask: _Ask) -> None:
        """Asked for or inside, perhaps since a moment: neither at the end. If _go_on() has found the task cancelled, it has
        left already, and both calls answer that there is nothing to give up."""
        if not ask.closed and library.ay_withdraw(handle) != 0:
            library.ay_leave(handle)

    def _go_on(self) -> None:
        """The descriptor is readable."""
        result = ctypes.c_int()
        while True:
            handle = library.ay_decided(self._space, ctypes.byref(result))
            if handle is None:
                break
            ask = self._pending.get(handle)
            if ask is None or ask.future.cancelled() or ask.loop.is_closed():
                if result.value >= 0:
                    library.ay_leave(handle)
            elif ask.loop is asyncio.get_running_loop():
                _tell(ask, result.value)
            else:
                ask.loop.call_soon_threadsafe(_tell, ask, result.value)
        for wish in list(self._wishes):  # after the descriptor was made unreadable: nothing is missed
            if wish.loop is asyncio.get_running_loop():
                wish.look()
            elif not wish.loop.is_closed():
                wish.loop.call_soon_threadsafe(wish.look)

    def close(self, handle: Optional[ctypes.c_void_p] = None) -> None:
        """The region, or the space, is about to be closed, which gives its asks up."""
        for value, ask in list(self._pending.items()):
            if handle is None or value == handle.value:
                ask.closed = True
                if not ask.loop.is_closed():
                    ask.loop.call_soon_threadsafe(_fail, ask.future,
                                                  ValueError("the region was closed while it was asked for"))
        for wish in list(self._wishes):
            if handle is None or wish.handle.value == handle.value:
                wish.closed = True
                if not wish.loop.is_closed():
                    wish.loop.call_soon_threadsafe(_fail, wish.future, ValueError("the region was closed"))
        if handle is None:
            for loop, (_, descriptor) in self._loops.items():
                if descriptor >= 0 and not loop.is_closed():
                    loop.remove_reader(descriptor)  # before the number means another file
            self._loops.clear()


def _tell(ask: _Ask, result: int) -> None:
    if not ask.future.done():
        ask.future.set_result(result)


def _fail(future: asyncio.Future[int], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
