# SPDX-License-Identifier: MIT
"""FileLock and SoftFileLock in place of those of the package filelock: in order of arrival, without polling.

    >>> from afteryou.filelock import FileLock, Timeout
    >>> lock = FileLock("data.txt.lock", timeout=10)
    >>> with lock:
    ...     lock.is_locked
    True

Two things are taken, in this order: the region that has the file's path for its name, in the user's default space, as
`afteryou flock` does; and flock(2) on the file. The region has the queue. The flock excludes whoever uses the file
without afteryou, and other users; only such a holder is waited for by trying again, every `poll_interval` seconds.

Who is killed leaves nothing behind. A SoftFileLock is a FileLock whose file is there only while it is held: a file that
a dead process left blocks nobody. It does not exclude the SoftFileLock of the package filelock, which looks whether the
file exists.
"""
from __future__ import annotations

import abc
import contextlib
import errno
import fcntl
import logging
import os
import stat
import threading
import time
import warnings
import weakref
from types import TracebackType
from typing import Any, Optional, Union

from . import _look
from ._errors import Stale
from ._process import deadline_of, entered, give_back, left_until, lent_region
from ._space import Region

__all__ = ["AcquireReturnProxy", "BaseFileLock", "FileLock", "SoftFileLock", "Timeout", "UnixFileLock"]

_NAME_MOST = 255  # AY_NAME_MOST
_log = logging.getLogger("filelock")  # whoever has set its level has set it for us


class Timeout(TimeoutError):
    """The lock could not be acquired in time."""

    def __init__(self, lock_file: str) -> None:
        super().__init__(lock_file)
        self.lock_file = lock_file

    def __str__(self) -> str:
        return f"The file lock '{self.lock_file}' could not be acquired."


class _Held:
    """What is held: by one thread, or by the whole object. The descriptor is set last, and cleared first."""

    def __init__(self) -> None:
        self.counter = 0
        self.region: Optional[tuple[str, str, Region]] = None  # the space, the name; lent
        self.descriptor: Optional[int] = None
        _all.add(self)

    def let_go(self) -> None:
        """The file first: whoever is next in the queue finds it free."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None:
            os.close(descriptor)
        region, self.region = self.region, None
        if region is not None:
            give_back(*region)

    def __del__(self) -> None:
        self.let_go()


_all: weakref.WeakSet[_Held] = weakref.WeakSet()


def _child_holds_nothing() -> None:
    """A copy of the descriptor would keep the file locked after the parent's death."""
    for held in list(_all):
        held.counter, held.region = 0, None
        held.let_go()


os.register_at_fork(after_in_child=_child_holds_nothing)


class _HeldByThread(threading.local):
    """A _Held for each thread."""

    def __init__(self) -> None:
        super().__init__()
        self.held = _Held()


class _HeldByAll:
    """One _Held for all threads."""

    def __init__(self) -> None:
        self.held = _Held()


class AcquireReturnProxy:
    """What acquire() returns: releases the lock at the end of a `with`."""

    def __init__(self, lock: BaseFileLock) -> None:
        self.lock = lock

    def __enter__(self) -> BaseFileLock:
        return self.lock

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.lock.release()


class BaseFileLock(contextlib.ContextDecorator, abc.ABC):
    """A lock that is named by a file. A thread that holds it may acquire it again; threads that share the object
    exclude each other, unless `thread_local` is false: then they hold it together."""

    def __init__(self, lock_file: Union[str, os.PathLike[Any]], timeout: float = -1, mode: int = 0o644,
                 thread_local: bool = True, *, blocking: bool = True) -> None:
        self._path: str = os.fsdecode(os.fspath(lock_file))
        self._timeout = timeout
        self._mode = mode
        self._blocking = blocking
        self._thread_local = thread_local
        self._guard = threading.RLock()  # of what threads hold together
        self._holds: Union[_HeldByThread, _HeldByAll] = _HeldByThread() if thread_local else _HeldByAll()

    @property
    def lock_file(self) -> str:
        """The path."""
        return self._path

    @property
    def timeout(self) -> float:
        """Of acquire(), unless it is told another; negative: for ever."""
        return self._timeout

    @timeout.setter
    def timeout(self, value: Union[float, str]) -> None:
        self._timeout = float(value)

    @property
    def blocking(self) -> bool:
        """Whether acquire() waits, unless it is told."""
        return self._blocking

    @blocking.setter
    def blocking(self, value: bool) -> None:
        self._blocking = value

    @property
    def mode(self) -> int:
        """The permissions of the file, if it is made."""
        return self._mode

    def is_thread_local(self) -> bool:
        """Whether each thread holds it by itself."""
        return self._thread_local

    @property
    def is_locked(self) -> bool:
        """Whether this thread holds it; of a lock that threads hold together, whether any does."""
        return self._holds.held.descriptor is not None

    @property
    def lock_counter(self) -> int:
        """How often it was acquired, and not yet released."""
        return self._holds.held.counter

    def acquire(self, timeout: Optional[float] = None, poll_interval: float = 0.05, *,
                poll_intervall: Optional[float] = None, blocking: Optional[bool] = None) -> AcquireReturnProxy:
        """Waits for its turn. Raises Timeout if that does not come in time."""
        if poll_intervall is not None:
            warnings.warn("use poll_interval instead of poll_intervall", DeprecationWarning, stacklevel=2)
            poll_interval = poll_intervall
        timeout = self._timeout if timeout is None else timeout
        waits = self._blocking if blocking is None else blocking
        deadline = deadline_of(None if timeout < 0 else timeout) if waits else deadline_of(0)
        if self._thread_local:
            self._acquire(self._holds.held, deadline, poll_interval)
        else:
            left = left_until(deadline)
            if not self._guard.acquire(timeout=-1 if left is None else left):
                raise Timeout(self._path)
            try:
                self._acquire(self._holds.held, deadline, poll_interval)
            finally:
                self._guard.release()
        return AcquireReturnProxy(self)

    def _acquire(self, held: _Held, deadline: Optional[float], poll_interval: float) -> None:
        if held.descriptor is None:
            _log.debug("Attempting to acquire lock %s on %s", id(self), self._path)
            if not self._take(held, deadline, poll_interval):
                _log.debug("Timeout on acquiring lock %s on %s", id(self), self._path)
                raise Timeout(self._path)
            _log.debug("Lock %s acquired on %s", id(self), self._path)
        held.counter += 1

    def _take(self, held: _Held, deadline: Optional[float], poll_interval: float) -> bool:
        """The region, then the file. Nothing is held at the end if it is False, or if something is raised."""
        descriptor = self._open()
        try:
            while True:
                name = _name_of(descriptor)
                if held.region is None or held.region[1] != name:
                    held.let_go()
                    if not self._enter(held, name, deadline):
                        return False
                if not _locked(descriptor, deadline, poll_interval):
                    return False
                if _is_at(descriptor, self._path):
                    held.descriptor, descriptor = descriptor, -1
                    return True
                # It was removed while we waited. We are the first in the queue still: the one that is there now is for us.
                stale, descriptor = descriptor, -1
                os.close(stale)
                descriptor = self._open()
        finally:
            if descriptor >= 0:
                os.close(descriptor)
            if held.descriptor is None:
                held.let_go()

    def _enter(self, held: _Held, name: str, deadline: Optional[float]) -> bool:
        space = _look.path()
        region = lent_region(space, name)
        held.region = space, name, region
        try:
            if not entered(region, deadline):
                return False
        except Stale:  # the space was removed: the next region is of a new one
            held.region = None
            region.close()
            raise
        if not self._thread_local and threading.get_ident() != threading.main_thread().ident:
            os.close(region.share())  # it is held though this thread ends
        return True

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        while True:
            try:
                descriptor = os.open(self._path, flags | os.O_CREAT | os.O_EXCL, self._mode)
                made = True
            except FileExistsError:
                try:
                    descriptor = os.open(self._path, flags)
                    made = False
                except FileNotFoundError:  # removed meanwhile
                    continue
            try:
                self._opened(descriptor, made)
                return descriptor
            except BaseException:
                os.close(descriptor)
                raise

    @abc.abstractmethod
    def _opened(self, descriptor: int, made: bool) -> None:
        """The file was opened, and perhaps made; what else is to be done with it, or what it is refused for."""

    @abc.abstractmethod
    def _release_file(self) -> None:
        """Just before the file is unlocked."""

    def release(self, force: bool = False) -> None:
        """Releases it, once it was released as often as acquired; or at once, by `force`."""
        if self._thread_local:
            self._release(self._holds.held, force)
        else:
            with self._guard:
                self._release(self._holds.held, force)

    def _release(self, held: _Held, force: bool) -> None:
        if held.descriptor is None:
            return
        held.counter -= 1
        if held.counter > 0 and not force:
            return
        _log.debug("Attempting to release lock %s on %s", id(self), self._path)
        held.counter = 0
        self._release_file()
        held.let_go()
        _log.debug("Lock %s released on %s", id(self), self._path)

    def __enter__(self) -> BaseFileLock:
        self.acquire()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.release()


class FileLock(BaseFileLock):
    """One whose file stays. If it is made, it has the mode asked for, whatever the umask."""

    def _opened(self, descriptor: int, made: bool) -> None:
        if made:
            os.fchmod(descriptor, self._mode)

    def _release_file(self) -> None:
        pass


class SoftFileLock(BaseFileLock):
    """One whose file is there only while it is held. A file that is not to be written is not to be removed, either."""

    def _opened(self, descriptor: int, made: bool) -> None:
        if not made and not os.fstat(descriptor).st_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "Permission denied", self._path)

    def _release_file(self) -> None:
        """While it is locked: whoever locks it next sees that it is not there any more."""
        with contextlib.suppress(OSError):
            os.unlink(self._path)


UnixFileLock = FileLock


def _name_of(descriptor: int) -> str:
    """The region of an open file, as `afteryou flock` names it: the path; device and inode, if that does not fit."""
    path = os.readlink(f"/proc/self/fd/{descriptor}")
    file = os.fstat(descriptor)
    if path.startswith("/") and len(os.fsencode(path)) < _NAME_MOST and file.st_nlink > 0:
        return path
    return f"inode {os.major(file.st_dev)}:{os.minor(file.st_dev)}:{file.st_ino}"


def _is_at(descriptor: int, path: str) -> bool:
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


def _locked(descriptor: int, deadline: Optional[float], poll_interval: float) -> bool:
    """flock(2), until a deadline. Whoever comes here is the first of our queue: so only a stranger holds it."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno in (errno.ENOSYS, errno.ENOTSUP):
                raise NotImplementedError("FileSystem does not appear to support flock") from error
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise
        left = left_until(deadline)
        if left == 0:
            return False
        time.sleep(poll_interval if left is None else min(poll_interval, left))
