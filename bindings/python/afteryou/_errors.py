# SPDX-License-Identifier: MIT
"""What the library answers, as exceptions."""
from __future__ import annotations

import errno
import os

from ._library import library


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


for _kind in (Error, Busy, Timeout, Deadlock, Disagreement, NotSupported, NoPlace, Stale):
    _kind.__module__ = "afteryou"  # in a traceback, as a program would import it

_errors: dict[int, type[OSError]] = {
    errno.EBUSY: Busy, errno.ETIMEDOUT: Timeout, errno.EDEADLK: Deadlock, errno.EINVAL: Disagreement,
    errno.ENOTSUP: NotSupported, errno.EUSERS: NoPlace, errno.ESTALE: Stale,
    # As OSError itself would choose among its subclasses.
    errno.EACCES: PermissionError, errno.EPERM: PermissionError, errno.ENOENT: FileNotFoundError,
    errno.EISDIR: IsADirectoryError, errno.ENOTDIR: NotADirectoryError,
}


def check(result: int) -> int:
    """The result, if it is none of an error; else raises."""
    if result >= 0:
        return result
    number = -result
    message = library.ay_message().decode(errors="replace") or os.strerror(number)
    raise _errors.get(number, Error)(number, message)
