# SPDX-License-Identifier: MIT
"""What the drop-in replacements share: the spaces of this process, and a wait that outlasts a deadlock."""
from __future__ import annotations

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
