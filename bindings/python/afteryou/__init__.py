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

In place of what a program uses already: afteryou.filelock and afteryou.multiprocessing.
"""
from ._errors import Busy, Deadlock, Disagreement, Error, NoPlace, NotSupported, Stale, Timeout
from ._look import Place, State, View, look, path, remove
from ._space import Mode, Precedence, Region, Space
from ._version import version as __version__

__all__ = ["Mode", "Precedence", "State", "Place", "View", "Space", "Region", "look", "path", "remove", "Error", "Busy",
           "Timeout", "Deadlock", "Disagreement", "NotSupported", "NoPlace", "Stale", "__version__"]
