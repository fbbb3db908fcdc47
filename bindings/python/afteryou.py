# SPDX-License-Identifier: MIT
"""Mutual exclusion that no crash can wedge: libafteryou for Python.

    >>> import afteryou
    >>> space = afteryou.Space()
    >>> region = space.region("deploy")
    >>> with region:                       # enters; waits, if need be
    ...     if region.after_death:         # somebody died inside: look after what the region protects
    ...         print("mending")
    ...     print("working, with a fence above 0:", region.fence > 0)
    working, with a fence above 0: True
    >>> region.inside                      # left at the end
    False

A signal ends a wait at once if its handler raises, as Ctrl-C does: the region is then not held. If the handler returns,
the wait goes on, at the same place in the queue. (A handler that raises just as a `with` ends may keep it from leaving,
as with everything that is written in Python: `inside` tells.)

Caveats: a region object is for one thread at a time (two threads that exclude each other open two); a child after
os.fork() owns nothing and opens its own; a stopped process keeps what it holds. A region that is dropped is closed; but
not while inside, for then somebody relies on it: that lasts until it leaves, or its space is closed. See afteryou(7).
"""
from __future__ import annotations

import ctypes
import enum
import errno
import os
import pathlib
import sysconfig
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Generator, Iterable, List, NamedTuple, Optional, Set, Tuple, Type

__all__ = ["Mode", "Precedence", "State", "Place", "View", "Space", "Region", "look", "path", "remove", "Error", "Busy",
           "Timeout", "Deadlock", "Disagreement", "NotSupported", "NoPlace", "Stale"]


class Mode(enum.IntEnum):
    EXCLUSIVE = 0
    SHARED = 1
    PROTECTED_WRITE = 2
    CONCURRENT_WRITE = 3
    CONCURRENT_READ = 4
    NULL = 5


class Precedence(enum.IntEnum):
    IN_ORDER = 0
    WRITERS_FIRST = 1
    READERS_FIRST = 2
    BY_PRIORITY = 3


class State(enum.IntEnum):
    IDLE = 0
    WAITING = 1
    INSIDE = 2
    DEAD_INSIDE = 3


class Error(OSError):
    """What the library answered: errno, and its message."""


class Busy(Error, BlockingIOError):
    """Somebody else is inside, or before us (EBUSY)."""


class Timeout(Error, TimeoutError):
    """Not entered in time (ETIMEDOUT)."""


class Deadlock(Error):
    """To wait would close a cycle of waiting threads (EDEADLK)."""


class Disagreement(Error, ValueError):
    """A wrong argument, or one that others do not agree with (EINVAL)."""


class NotSupported(Error):
    """The space's protocol hasn't got it (ENOTSUP)."""


class NoPlace(Error):
    """All places of the space are taken (EUSERS)."""


class Stale(Error):
    """The space was removed meanwhile (ESTALE)."""


class _Options(ctypes.Structure):
    _fields_ = [("places", ctypes.c_uint), ("protocol", ctypes.c_char_p), ("precedence", ctypes.c_int),
                ("overtake", ctypes.c_uint), ("mode", ctypes.c_uint), ("retain", ctypes.c_uint),
                ("reserved", ctypes.c_uint64 * 8)]


class _Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("also", ctypes.POINTER(ctypes.c_char_p)), ("mode", ctypes.c_int),
                ("slots", ctypes.c_uint), ("take", ctypes.c_uint), ("of", ctypes.c_uint), ("priority", ctypes.c_int),
                ("reentrant", ctypes.c_uint64), ("reserved", ctypes.c_uint64 * 7)]


class _Place(ctypes.Structure):
    _fields_ = [("place", ctypes.c_uint), ("state", ctypes.c_int), ("alive", ctypes.c_bool),
                ("conditional", ctypes.c_bool), ("names", ctypes.POINTER(ctypes.c_char_p)), ("mode", ctypes.c_int),
                ("slots", ctypes.c_uint), ("take", ctypes.c_uint), ("of", ctypes.c_uint), ("priority", ctypes.c_int),
                ("fence", ctypes.c_uint64), ("order", ctypes.c_uint64), ("since_ns", ctypes.c_int64),
                ("waits_for", ctypes.c_int), ("units", ctypes.POINTER(ctypes.c_uint)), ("unit_count", ctypes.c_size_t),
                ("pid", ctypes.c_int), ("tid", ctypes.c_int), ("pid_namespace", ctypes.c_uint64),
                ("start_time", ctypes.c_uint64), ("uid", ctypes.c_uint), ("command", ctypes.c_char_p),
                ("thread", ctypes.c_uint64)]


class _View(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("protocol", ctypes.c_char_p), ("places", ctypes.c_uint),
                ("used", ctypes.c_uint), ("alive", ctypes.c_uint), ("precedence", ctypes.c_int),
                ("overtake", ctypes.c_uint), ("mode", ctypes.c_uint), ("uid", ctypes.c_uint), ("gid", ctypes.c_uint),
                ("created_s", ctypes.c_int64), ("retain", ctypes.c_uint), ("reserved", ctypes.c_uint64 * 8)]


_When = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)
_Each = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Place), ctypes.c_void_p)


def _path_of_library() -> str:
    """What LIBAFTERYOU says; else the one that was installed below the same prefix; else where the linker finds it."""
    below = pathlib.Path(__file__).resolve().parent.parent.parent
    beside = [below / (sysconfig.get_config_var("MULTIARCH") or "") / "libafteryou.so.0", below / "libafteryou.so.0"]
    return os.environ.get("LIBAFTERYOU") or next((str(path) for path in beside if path.exists()), "libafteryou.so.0")


def _load() -> ctypes.CDLL:
    library = ctypes.CDLL(_path_of_library())
    pointer, text, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    signatures = {
        "ay_open": (integer, [text, ctypes.POINTER(_Options), ctypes.POINTER(pointer)]),
        "ay_close": (None, [pointer]),
        "ay_region_open": (integer, [pointer, ctypes.POINTER(_Spec), ctypes.POINTER(pointer)]),
        "ay_region_close": (None, [pointer]),
        "ay_try": (integer, [pointer]),
        "ay_enter_for": (integer, [pointer, integer]),
        "ay_enter_unless": (integer, [pointer, _When, _When, pointer, integer]),
        "ay_leave": (integer, [pointer]),
        "ay_fence": (ctypes.c_uint64, [pointer]),
        "ay_units": (ctypes.c_size_t, [pointer, ctypes.POINTER(ctypes.c_uint), ctypes.c_size_t]),
        "ay_message": (text, []),
        "ay_lost": (integer, [pointer]),
        "ay_valid": (ctypes.c_bool, [pointer]),
        "ay_grace": (integer, [pointer]),
        "ay_look": (integer, [text, ctypes.POINTER(_View), _Each, pointer]),
        "ay_path": (integer, [text, text, ctypes.c_size_t]),
        "ay_remove": (integer, [text]),
        "ay_repair": (integer, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
_errors = {errno.EBUSY: Busy, errno.ETIMEDOUT: Timeout, errno.EDEADLK: Deadlock, errno.EINVAL: Disagreement,
           errno.ENOTSUP: NotSupported, errno.EUSERS: NoPlace, errno.ESTALE: Stale}
# As OSError itself would choose among its subclasses.
_builtin = {errno.EACCES: PermissionError, errno.EPERM: PermissionError, errno.ENOENT: FileNotFoundError,
            errno.EISDIR: IsADirectoryError, errno.ENOTDIR: NotADirectoryError}


def _check(result: int) -> int:
    if result >= 0:
        return result
    number = -result
    message = _library.ay_message().decode(errors="replace") or os.strerror(number)
    raise _errors.get(number, _builtin.get(number, Error))(number, message)


def _bytes(text: Optional[str]) -> Optional[bytes]:
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
    return min(2**31 - 1, max(int(timeout * 1000), 1 if timeout > 0 else 0))


def _within(**numbers: int) -> None:
    """C would cut what does not fit into 32 bits, and take another number."""
    for name, number in numbers.items():
        if not -2**31 <= number < 2**31:
            raise Disagreement(errno.EINVAL, f"{name}={number}: that is more than any space has")


class Place(NamedTuple):
    """One place, as an observer found it."""
    place: int
    state: State
    alive: bool
    conditional: bool
    names: Tuple[str, ...]
    mode: Mode
    slots: int
    take: int
    of: int
    priority: int
    fence: int
    order: int
    since_ns: int
    waits_for: Optional[int]
    units: Tuple[int, ...]
    pid: int
    tid: int
    pid_namespace: int
    start_time: int
    uid: int
    command: str


class View(NamedTuple):
    """A space, as an observer found it."""
    path: str
    protocol: str
    places: int
    used: int
    alive: int
    precedence: Precedence
    overtake: int
    mode: int
    uid: int
    gid: int
    created_s: int
    seen: Tuple[Place, ...]


def _close_region(handle: ctypes.c_void_p, space: _Handle) -> None:
    if space.value is not None:
        _library.ay_region_close(handle)


def _close_space(space: _Handle) -> None:
    handle, space.value = space.value, None
    if handle is not None:
        _library.ay_close(handle)


class _Handle:
    """Of a space; None once it is closed, and with it the regions in it."""

    def __init__(self, value: ctypes.c_void_p) -> None:
        self.value: Optional[ctypes.c_void_p] = value


def _catch_signals(raised: List[BaseException]) -> Generator[bool, Any, None]:
    """A look, each time it is resumed, whether a signal's handler raises: that is kept, and True is the answer.

    Python runs such handlers when a frame begins or goes on. A generator goes on within its `try`; a function begins
    before any of its own.
    """
    answer = False
    while True:
        try:
            yield answer
            answer = False
        except BaseException as error:  # pylint: disable=broad-except
            if isinstance(error, GeneratorExit):
                return
            raised.append(error)
            answer = True


_inside: Set[Region] = set()  # whoever is inside is not dropped


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

    def __init__(self, handle: ctypes.c_void_p, space: Space, of: int) -> None:
        self._handle: Optional[ctypes.c_void_p] = handle
        self._space = space  # outlives its regions
        self._of = of
        self.after_death = False  # of the present passage: somebody died inside before it
        self._close = weakref.finalize(self, _close_region, handle, space._handle)
        self._close.atexit = False  # who ends inside has died inside

    def _open_handle(self) -> ctypes.c_void_p:
        if self._handle is None or self._space.closed:
            raise ValueError("the region is closed")
        return self._handle

    def _entered(self, result: int) -> bool:
        self.after_death = _check(result) == 1
        _inside.add(self)
        return self.after_death

    def _abandon(self) -> None:
        """Something was raised in the middle of it, perhaps by a signal's handler just after: outside at the end."""
        if self._handle is not None and not self._space.closed:
            _library.ay_leave(self._handle)  # EPERM if it is outside
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
        raised: List[BaseException] = []

        def ask(_: Optional[int]) -> bool:
            try:
                return bool(when and when())
            except BaseException as error:  # pylint: disable=broad-except
                raised.append(error)
                return True  # enter, and raise it here

        # Handlers run in the main thread alone.
        looks = _catch_signals(raised) if threading.current_thread() is threading.main_thread() else None
        interrupted = _When(looks.send) if looks and next(looks) is False else _When()
        condition = _When(ask) if when else _When()
        was_inside = self.inside
        try:
            result = _library.ay_enter_unless(handle, interrupted, condition, None, milliseconds)
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
            return self._entered(_library.ay_try(handle))
        except BaseException:
            if not was_inside:
                self._abandon()
            raise

    def leave(self) -> None:
        """Never waits. Outside at the end, even if a signal's handler raises."""
        handle = self._open_handle()
        try:
            _check(_library.ay_leave(handle))
            _inside.discard(self)
        except BaseException:
            self._abandon()
            raise

    @property
    def inside(self) -> bool:
        """Whether it is entered."""
        return self in _inside

    @property
    def fence(self) -> int:
        """Grows with every passage that conflicts."""
        return int(_library.ay_fence(self._open_handle()))

    @property
    def units(self) -> Tuple[int, ...]:
        """Those held while inside, ascending."""
        room = (ctypes.c_uint * max(self._of, 1))()
        count = _library.ay_units(self._open_handle(), room, len(room))
        return tuple(room[:count])

    @property
    def valid(self) -> bool:
        """Whether the present passage still holds: a cluster's can be lost."""
        return bool(_library.ay_valid(self._open_handle()))

    @property
    def lost(self) -> int:
        """A descriptor, for select or poll, that is readable once the present passage is lost. It belongs to the region."""
        return _check(_library.ay_lost(self._open_handle()))

    def close(self) -> None:
        """Gives up the place; leaves, if inside."""
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

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self.inside and not self._space.closed:
            self.leave()


class Space:
    """Where processes meet. Opened by name or path; made if there is none."""

    def __init__(self, name: Optional[str] = None, *, places: int = 0, protocol: Optional[str] = None,
                 precedence: Precedence = Precedence.IN_ORDER, overtake: int = 0, mode: int = 0, retain: bool = False) -> None:
        _within(places=places, overtake=overtake, mode=mode)
        options = _Options(places=places, protocol=_bytes(protocol), precedence=int(precedence), overtake=overtake, retain=int(retain),
                           mode=mode)
        handle = ctypes.c_void_p()
        _check(_library.ay_open(_bytes(name), ctypes.byref(options), ctypes.byref(handle)))
        self._handle = _Handle(handle)
        self._close = weakref.finalize(self, _close_space, self._handle)
        self._close.atexit = False

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._handle.value is None

    def region(self, name: str, *, also: Iterable[str] = (), mode: Mode = Mode.EXCLUSIVE, slots: int = 0, take: int = 0,
               of: int = 0, priority: int = 0) -> Region:
        """Claims a place for a region. Nothing is entered yet.

        >>> with Space() as space:
        ...     with space.region("x", also=["y"], mode=Mode.SHARED) as region:
        ...         region.inside
        True
        """
        if self._handle.value is None:
            raise ValueError("the space is closed")
        _within(slots=slots, take=take, of=of, priority=priority)
        further = [_bytes(other) for other in also]
        names = (ctypes.c_char_p * (len(further) + 1))(*further, None)
        spec = _Spec(name=_bytes(name), also=names if further else None, mode=int(mode), slots=slots, take=take, of=of,
                     priority=priority)
        handle = ctypes.c_void_p()
        _check(_library.ay_region_open(self._handle.value, ctypes.byref(spec), ctypes.byref(handle)))
        return Region(handle, self, of)

    def repair(self) -> int:
        """Marks dead what says it is alive without an owner; how many."""
        if self._handle.value is None:
            raise ValueError("the space is closed")
        return _check(_library.ay_repair(self._handle.value))

    def close(self) -> None:
        """Closes the space and its regions: those inside leave."""
        _inside.difference_update([region for region in _inside if region._space is self])
        self._close()

    def __enter__(self) -> Space:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def _text(raw: Optional[bytes]) -> str:
    return os.fsdecode(raw) if raw else ""


def _place(raw: _Place) -> Place:
    names = []
    while raw.names[len(names)] is not None:
        names.append(raw.names[len(names)])
    return Place(raw.place, State(raw.state), raw.alive, raw.conditional, tuple(map(_text, names)), Mode(raw.mode),
                 raw.slots, raw.take, raw.of, raw.priority, raw.fence, raw.order, raw.since_ns,
                 raw.waits_for if raw.waits_for >= 0 else None, tuple(raw.units[:raw.unit_count]), raw.pid, raw.tid,
                 raw.pid_namespace, raw.start_time, raw.uid, _text(raw.command))


def look(space: Optional[str] = None) -> View:
    """Who is inside, who waits: reads only, disturbs nobody."""
    seen: List[Place] = []

    def each(raw, _):  # type: ignore[no-untyped-def]
        seen.append(_place(raw.contents))
        return 0

    view = _View()
    _check(_library.ay_look(_bytes(space), ctypes.byref(view), _Each(each), None))
    return View(_text(view.path), _text(view.protocol), view.places, view.used, view.alive, Precedence(view.precedence),
                view.overtake, view.mode, view.uid, view.gid, view.created_s, tuple(seen))


def path(space: Optional[str] = None) -> str:
    """The file that a space's name stands for."""
    room = ctypes.create_string_buffer(4096)
    _check(_library.ay_path(_bytes(space), room, len(room)))
    return os.fsdecode(room.value)


def remove(space: str) -> None:
    """Removes a space in which nobody has a place; else Busy."""
    _check(_library.ay_remove(_bytes(space)))
