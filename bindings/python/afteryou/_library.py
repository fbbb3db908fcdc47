# SPDX-License-Identifier: MIT
"""libafteryou: where it is, its structures and its functions. tests/abi compares the structures with the header's."""
from __future__ import annotations

import ctypes
import os
import pathlib
import sysconfig
from typing import Any, Callable, Generator, Optional


class Options(ctypes.Structure):
    _fields_ = [("places", ctypes.c_uint), ("protocol", ctypes.c_char_p), ("precedence", ctypes.c_int),
                ("overtake", ctypes.c_uint), ("mode", ctypes.c_uint), ("retain", ctypes.c_uint),
                ("reserved", ctypes.c_uint64 * 8)]


class Spec(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("also", ctypes.POINTER(ctypes.c_char_p)), ("mode", ctypes.c_int),
                ("slots", ctypes.c_uint), ("take", ctypes.c_uint), ("of", ctypes.c_uint), ("priority", ctypes.c_int),
                ("reentrant", ctypes.c_uint64), ("tell_wanted", ctypes.c_uint64), ("reserved", ctypes.c_uint64 * 6)]


class RawPlace(ctypes.Structure):
    _fields_ = [("place", ctypes.c_uint), ("state", ctypes.c_int), ("alive", ctypes.c_bool),
                ("conditional", ctypes.c_bool), ("names", ctypes.POINTER(ctypes.c_char_p)), ("mode", ctypes.c_int),
                ("slots", ctypes.c_uint), ("take", ctypes.c_uint), ("of", ctypes.c_uint), ("priority", ctypes.c_int),
                ("fence", ctypes.c_uint64), ("order", ctypes.c_uint64), ("since_ns", ctypes.c_int64),
                ("waits_for", ctypes.c_int), ("units", ctypes.POINTER(ctypes.c_uint)), ("unit_count", ctypes.c_size_t),
                ("pid", ctypes.c_int), ("tid", ctypes.c_int), ("pid_namespace", ctypes.c_uint64),
                ("start_time", ctypes.c_uint64), ("uid", ctypes.c_uint), ("command", ctypes.c_char_p),
                ("thread", ctypes.c_uint64)]


class RawView(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("protocol", ctypes.c_char_p), ("places", ctypes.c_uint),
                ("used", ctypes.c_uint), ("alive", ctypes.c_uint), ("precedence", ctypes.c_int),
                ("overtake", ctypes.c_uint), ("mode", ctypes.c_uint), ("uid", ctypes.c_uint), ("gid", ctypes.c_uint),
                ("created_s", ctypes.c_int64), ("retain", ctypes.c_uint), ("reserved", ctypes.c_uint64 * 8)]


When = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)


# The second argument is named nowhere: who is called leaves it where it lies.
Each = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(RawPlace))


def _answers(ask: Callable[[Any], int], raised: list[BaseException]) -> Generator[int, Any, None]:
    answered, asking = 0, False
    while True:
        try:
            while True:
                asking = False
                given = yield answered
                asking = True
                answered = ask(given)
        except BaseException as error:  # pylint: disable=broad-except
            if isinstance(error, GeneratorExit) and not asking:
                return
            raised.append(error)
            answered = 1


def caught(ask: Callable[[Any], int], raised: list[BaseException]) -> Callable[[Any], int]:
    """For the library to call: what ask() returns, and 1 if that raises, or a signal's handler does; which is kept.

    Python runs such handlers when a frame begins or goes on. A generator goes on within its `try`; a function begins
    before any of its own, and what is raised there is lost.
    """
    answers = _answers(ask, raised)
    next(answers)
    return answers.send


def condition(when: Callable[[], bool], raised: list[BaseException]) -> Any:
    """The same, of a condition. If it raises, the region is entered."""
    return When(caught(lambda _: bool(when()), raised))


_pointer, _text, _integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_signatures: dict[str, tuple[Any, list[Any]]] = {
    "ay_open": (_integer, [_text, ctypes.POINTER(Options), ctypes.POINTER(_pointer)]),
    "ay_close": (None, [_pointer]),
    "ay_region_open": (_integer, [_pointer, ctypes.POINTER(Spec), ctypes.POINTER(_pointer)]),
    "ay_region_rename": (_integer, [_pointer, ctypes.c_char_p]),
    "ay_region_close": (None, [_pointer]),
    "ay_try": (_integer, [_pointer]),
    "ay_enter_unless": (_integer, [_pointer, When, When, _pointer, _integer]),
    "ay_ask_when": (_integer, [_pointer, When, _pointer, _integer]),
    "ay_fd": (_integer, [_pointer]),
    "ay_decided": (_pointer, [_pointer, ctypes.POINTER(_integer)]),
    "ay_withdraw": (_integer, [_pointer]),
    "ay_convert": (_integer, [_pointer, _integer, _integer]),
    "ay_leave": (_integer, [_pointer]),
    "ay_share": (_integer, [_pointer]),
    "ay_unshare": (_integer, [_pointer]),
    "ay_fence": (ctypes.c_uint64, [_pointer]),
    "ay_units": (ctypes.c_size_t, [_pointer, ctypes.POINTER(ctypes.c_uint), ctypes.c_size_t]),
    "ay_wanted": (ctypes.c_uint, [_pointer]),
    "ay_message": (_text, []),
    "ay_lost": (_integer, [_pointer]),
    "ay_valid": (ctypes.c_bool, [_pointer]),
    "ay_look": (_integer, [_text, ctypes.POINTER(RawView), Each, _pointer]),
    "ay_path": (_integer, [_text, _text, ctypes.c_size_t]),
    "ay_remove": (_integer, [_text]),
    "ay_repair": (_integer, [_pointer]),
}


def _path_of_library() -> str:
    """What LIBAFTERYOU says; else the one in this package, as a wheel has it; else the one that was installed below the
    same prefix; else where the linker finds it."""
    package = pathlib.Path(__file__).resolve().parent
    below = package.parent.parent.parent
    beside = [package, below / (sysconfig.get_config_var("MULTIARCH") or ""), below]
    found = [str(folder / "libafteryou.so.0") for folder in beside if (folder / "libafteryou.so.0").exists()]
    return os.environ.get("LIBAFTERYOU") or (found + ["libafteryou.so.0"])[0]


def _load() -> ctypes.CDLL:
    loaded = ctypes.CDLL(_path_of_library())
    for name, (result, arguments) in _signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


library = _load()


def decoded(raw: Optional[bytes]) -> str:
    """A name that C told."""
    return os.fsdecode(raw) if raw else ""
