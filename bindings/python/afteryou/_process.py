# SPDX-License-Identifier: MIT
"""What the drop-in replacements share: the spaces of this process, and a wait that outlasts a deadlock."""
from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Callable, Optional

from ._errors import Deadlock, Stale, Timeout
from ._space import Region, Space

AGAIN = 0.05  # seconds between two tries where nobody can wake us

_spaces: dict[str, Space] = {}  # by path; of this process alone
os.register_at_fork(after_in_child=_spaces.clear)


def region_in(space: str, name: str, **spec: Any) -> Region:
    """A region of a space that this process keeps open. If the space was removed meanwhile, it is made anew."""
    try:
        return _spaces.setdefault(space, _spaces.get(space) or Space(space)).region(name, **spec)
    except Stale:
        del _spaces[space]
        return _spaces.setdefault(space, Space(space)).region(name, **spec)


# Regions that are left and not closed, by space and name: opening one takes a few system calls, and a place. At most so
# many names, each with at most so many regions.
_idle: dict[tuple[str, str], list[Region]] = {}
_NAMES_MOST, _REGIONS_MOST = 64, 16
os.register_at_fork(after_in_child=_idle.clear)


def lent_region(space: str, name: str) -> Region:
    """An exclusive region: one that was given back, or a new one."""
    with contextlib.suppress(IndexError):
        return _idle.get((space, name), []).pop()
    return region_in(space, name)


def give_back(space: str, name: str, region: Region) -> None:
    """Leaves it, if it is inside, and keeps it for the next one."""
    try:
        if region.inside:
            region.leave()
            region.unshare()
    except PermissionError:  # the thread that entered has ended, and so has left
        region.close()
        return
    kept = _idle.setdefault((space, name), [])
    if len(kept) < _REGIONS_MOST:
        kept.append(region)
    else:
        region.close()
    while len(_idle) > _NAMES_MOST:
        with contextlib.suppress(RuntimeError, StopIteration):  # another thread is here, too
            for old in _idle.pop(next(iter(_idle)), []):
                old.close()


def deadline_of(timeout: Optional[float]) -> Optional[float]:
    """By the monotonic clock; None is never. A negative timeout is none at all, as in multiprocessing."""
    return None if timeout is None else time.monotonic() + max(timeout, 0)


def left_until(deadline: Optional[float]) -> Optional[float]:
    """Seconds, for Region.enter()."""
    return None if deadline is None else max(deadline - time.monotonic(), 0)


def entered(region: Region, deadline: Optional[float], when: Optional[Callable[[], bool]] = None) -> bool:
    """Enters until a deadline. Without one, a deadlock is told. With one it ends by itself: that is waited for, as
    somebody may break the cycle, and nobody would wake us."""
    while True:
        try:
            region.enter(left_until(deadline), when)
            return True
        except Timeout:
            return False
        except Deadlock:
            left = left_until(deadline)
            if left is None:
                raise
            if left == 0:
                return False
            time.sleep(min(AGAIN, left))
