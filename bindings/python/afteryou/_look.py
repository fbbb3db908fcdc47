# SPDX-License-Identifier: MIT
"""Looking on: who is inside, who waits. Reads only, disturbs nobody."""
from __future__ import annotations

import ctypes
import enum
import os
from typing import Any, NamedTuple, Optional

from ._errors import check
from ._library import Each, RawPlace, RawView, caught, decoded, library
from ._space import Mode, Precedence, name_in_bytes


class State(enum.IntEnum):
    """Of a place."""
    IDLE = 0
    WAITING = 1
    INSIDE = 2
    DEAD_INSIDE = 3


class Place(NamedTuple):
    """One place, as an observer found it."""
    place: int
    state: State
    alive: bool
    conditional: bool
    names: tuple[str, ...]
    mode: Mode
    slots: int
    take: int
    of: int
    priority: int
    fence: int
    order: int
    since_ns: int
    waits_for: Optional[int]
    units: tuple[int, ...]
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
    seen: tuple[Place, ...]


def _place(raw: RawPlace) -> Place:
    names: list[bytes] = []
    while raw.names[len(names)] is not None:
        names.append(raw.names[len(names)])
    return Place(raw.place, State(raw.state), raw.alive, raw.conditional, tuple(map(decoded, names)), Mode(raw.mode),
                 raw.slots, raw.take, raw.of, raw.priority, raw.fence, raw.order, raw.since_ns,
                 raw.waits_for if raw.waits_for >= 0 else None, tuple(raw.units[:raw.unit_count]), raw.pid, raw.tid,
                 raw.pid_namespace, raw.start_time, raw.uid, decoded(raw.command))


def look(space: Optional[str] = None) -> View:
    """Who is inside, who waits: reads only, disturbs nobody."""
    seen: list[Place] = []
    raised: list[BaseException] = []

    def each(raw: Any) -> int:
        seen.append(_place(raw.contents))
        return 0

    view = RawView()
    result = library.ay_look(name_in_bytes(space), ctypes.byref(view), Each(caught(each, raised)), None)
    if raised:
        raise raised[0]
    check(result)
    return View(decoded(view.path), decoded(view.protocol), view.places, view.used, view.alive,
                Precedence(view.precedence), view.overtake, view.mode, view.uid, view.gid, view.created_s, tuple(seen))


def path(space: Optional[str] = None) -> str:
    """The file that a space's name stands for."""
    room = ctypes.create_string_buffer(4096)
    check(library.ay_path(name_in_bytes(space), room, len(room)))
    return os.fsdecode(room.value)


def remove(space: str) -> None:
    """Removes a space in which nobody has a place; else Busy."""
    check(library.ay_remove(name_in_bytes(space)))
