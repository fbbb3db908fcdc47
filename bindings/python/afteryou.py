# SPDX-License-Identifier: MIT
"""Mutual exclusion that no crash can wedge: libafteryou for Python.

    import afteryou

    with afteryou.Space() as space, space.region("deploy") as region:
        with region:                      # enters, waits if need be
            if region.after_death:        # somebody died inside: look after what the region protects
                repair()
            work(fence=region.fence)      # leaves at the end

Caveats: a region object is for one thread at a time (two threads that exclude each other open two); a child after
os.fork() owns nothing and opens its own; a stopped process keeps what it holds. See afteryou(7).
"""
from __future__ import annotations

import ctypes
import enum
import errno
import os
import pathlib
import sysconfig
from types import TracebackType
from typing import Callable, Iterable, List, NamedTuple, Optional, Tuple, Type

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
                ("slots", ctypes.c_uint), ("take", ctypes.c_uint), ("of", ctypes.c_uint), ("priority", ctypes.c_int)]


class _Place(ctypes.Structure):
    _fields_ = [("place", ctypes.c_uint), ("state", ctypes.c_int), ("alive", ctypes.c_bool),
                ("conditional", ctypes.c_bool), ("names", ctypes.POINTER(ctypes.c_char_p)), ("mode", ctypes.c_int),
                ("slots", ctypes.c_uint), ("take", ctypes.c_uint), ("of", ctypes.c_uint), ("priority", ctypes.c_int),
                ("fence", ctypes.c_uint64), ("order", ctypes.c_uint64), ("since_ns", ctypes.c_int64),
                ("waits_for", ctypes.c_int), ("units", ctypes.POINTER(ctypes.c_uint)), ("unit_count", ctypes.c_size_t),
                ("pid", ctypes.c_int), ("tid", ctypes.c_int), ("pid_namespace", ctypes.c_uint64),
                ("start_time", ctypes.c_uint64), ("uid", ctypes.c_uint), ("command", ctypes.c_char_p)]


class _View(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("protocol", ctypes.c_char_p), ("places", ctypes.c_uint),
                ("used", ctypes.c_uint), ("alive", ctypes.c_uint), ("precedence", ctypes.c_int),
                ("overtake", ctypes.c_uint), ("mode", ctypes.c_uint), ("uid", ctypes.c_uint), ("gid", ctypes.c_uint),
                ("created_s", ctypes.c_int64)]


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
        "ay_enter": (integer, [pointer]),
        "ay_try": (integer, [pointer]),
        "ay_enter_for": (integer, [pointer, integer]),
        "ay_enter_when": (integer, [pointer, _When, pointer, integer]),
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
    if timeout < 0:
        raise ValueError("a timeout is not negative")
    return min(2**31 - 1, max(int(timeout * 1000), 1 if timeout > 0 else 0))


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


class Region:
    """A named resource in a mode; entered with `with`, or enter() and leave(). Made by Space.region()."""

    def __init__(self, handle: ctypes.c_void_p, space: Space, of: int) -> None:
        self._handle: Optional[ctypes.c_void_p] = handle
        self._space = space  # outlives its regions
        self._of = of
        self._inside = False
        self.after_death = False  # of the present passage: somebody died inside before it

    def _open_handle(self) -> ctypes.c_void_p:
        if self._handle is None or self._space.closed:
            raise ValueError("the region is closed")
        return self._handle

    def _entered(self, result: int) -> bool:
        self.after_death = _check(result) == 1
        self._inside = True
        return self.after_death

    def enter(self, timeout: Optional[float] = None, when: Optional[Callable[[], bool]] = None) -> bool:
        """Waits for its turn (at most `timeout` seconds), and until when() is true. True: somebody died inside."""
        handle = self._open_handle()
        if when is None:
            return self._entered(_library.ay_enter_for(handle, _milliseconds(timeout)))
        raised: List[BaseException] = []

        def ask(_: Optional[int]) -> bool:
            try:
                return bool(when())
            except BaseException as error:  # pylint: disable=broad-except
                raised.append(error)
                return True  # enter, and raise it here

        result = _library.ay_enter_when(handle, _When(ask), None, _milliseconds(timeout))
        if raised:
            if result >= 0:
                _library.ay_leave(handle)
            raise raised[0]
        return self._entered(result)

    def try_enter(self) -> bool:
        """Without waiting: Busy. True: somebody died inside."""
        return self._entered(_library.ay_try(self._open_handle()))

    def leave(self) -> None:
        _check(_library.ay_leave(self._open_handle()))
        self._inside = False

    @property
    def inside(self) -> bool:
        return self._inside

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
        if self._handle is not None and not self._space.closed:
            _library.ay_region_close(self._handle)
        self._handle = None
        self._inside = False

    def __enter__(self) -> Region:
        self.enter()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._inside:
            self.leave()


class Space:
    """Where processes meet. Opened by name or path; made if there is none."""

    def __init__(self, name: Optional[str] = None, *, places: int = 0, protocol: Optional[str] = None,
                 precedence: Precedence = Precedence.IN_ORDER, overtake: int = 0, mode: int = 0, retain: bool = False) -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        options = _Options(places=places, protocol=_bytes(protocol), precedence=int(precedence), overtake=overtake, retain=int(retain),
                           mode=mode)
        handle = ctypes.c_void_p()
        _check(_library.ay_open(_bytes(name), ctypes.byref(options), ctypes.byref(handle)))
        self._handle = handle

    @property
    def closed(self) -> bool:
        return self._handle is None

    def region(self, name: str, *, also: Iterable[str] = (), mode: Mode = Mode.EXCLUSIVE, slots: int = 0, take: int = 0,
               of: int = 0, priority: int = 0) -> Region:
        """Claims a place for a region. Nothing is entered yet."""
        if self._handle is None:
            raise ValueError("the space is closed")
        further = [_bytes(other) for other in also]
        names = (ctypes.c_char_p * (len(further) + 1))(*further, None)
        spec = _Spec(name=_bytes(name), also=names if further else None, mode=int(mode), slots=slots, take=take, of=of,
                     priority=priority)
        handle = ctypes.c_void_p()
        _check(_library.ay_region_open(self._handle, ctypes.byref(spec), ctypes.byref(handle)))
        return Region(handle, self, of)

    def repair(self) -> int:
        """Marks dead what says it is alive without an owner; how many."""
        if self._handle is None:
            raise ValueError("the space is closed")
        return _check(_library.ay_repair(self._handle))

    def close(self) -> None:
        """Closes the space and its regions: those inside leave."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _library.ay_close(handle)

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
