#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists that must agree: what the library exports, what its version script, its header and the Debian package name; the errors
that the header and the manual pages tell of; and the layouts of the first release, of the present, and of the Python binding.

  agree.py SOURCE LIBRARY LAYOUT-THEN LAYOUT-NOW
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

SOURCE, LIBRARY, THEN, NOW = sys.argv[1:]
LISTED = re.compile(r"^ \*   -(E[A-Z0-9]+)", re.M)


def text(path):
    return pathlib.Path(SOURCE, path).read_text(encoding="utf-8")


def told(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def differences(what, expected, found):
    missing, surplus = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    return [f"{what}: missing: {', '.join(missing)}"] * bool(missing) + [f"{what}: too many: {', '.join(surplus)}"] * bool(surplus)


def versions(script):
    """The functions of the version script, each with the version at which it came, as nm writes them."""
    nodes = re.findall(r"^(\w+) \{(.*?)^\}", script, re.M | re.S)
    return {f"{name}@@{node}" for node, inside in nodes for name in re.findall(r"^\s+(\w+);", inside, re.M)}


def errors_of_header():
    """The errors of every function, as the comment before it lists them."""
    header = text("include/afteryou.h")
    found = {name: set(LISTED.findall(comment))
             for comment, name in re.findall(r"/\*((?:(?!\*/).)*)\*/\nAY_API [^;(]*?\b(ay_\w+)\(", header, re.S)}
    for codes, of in re.findall(r"(?:Further errors of|Of) (?:ay_open|entering)\(?\)?:\n(.*?)(?= \* (Of|Cycles))", header, re.S):
        found["ay_open" if of == "Of" else "ay_enter"] |= set(LISTED.findall(codes))
    return found


def errors_untold(header):
    """Errors of the header that the function's page does not list."""
    for page in sorted(pathlib.Path(SOURCE, "man").glob("*.3")):
        written = page.read_text(encoding="utf-8")
        listed = set(re.findall(r"\bE[A-Z0-9]+\b", " ".join(re.findall(r"^\.It Er (.*)$", written, re.M))))
        for name in re.findall(r"^\.Nm (ay_\w+)", written, re.M):
            missing = sorted(header[name] - listed)
            if missing:
                yield f"{page.name}: {name}: not told: {', '.join(missing)}"


def layout_of_python():
    """The structures of the Python binding, told as layout.c tells them."""
    os.environ["LIBAFTERYOU"] = LIBRARY
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(SOURCE, "bindings/python")))
    from afteryou import _library as binding  # pylint: disable=import-outside-toplevel
    for name, kind in (("ay_options", binding.Options), ("ay_spec", binding.Spec), ("ay_place", binding.RawPlace), ("ay_view", binding.RawView)):
        if name != "ay_place":
            yield f"sizeof {name}: {ctypes.sizeof(kind)}"
        for field, _ in kind._fields_:
            if field != "reserved":
                place = getattr(kind, field)
                yield f"{name}.{field}: {place.size} bytes at {place.offset}"


def main():
    script = versions(text("src/memory/libafteryou.map"))
    exported = [line.split()[-1] for line in told("nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY).splitlines() if " T " in line]
    declared = lambda header: re.findall(r"AY_API [^;(]*?\b(ay_\w+)\(", text(header))  # noqa: E731
    debian = re.findall(r"^ (ay_\w+@\w+) ", text("debian/libafteryou0.symbols"), re.M)
    wrong = differences("the library's symbols", script, exported)
    wrong += differences("include/afteryou.h", [name.partition("@")[0] for name in script], declared("include/afteryou.h"))
    wrong += differences("debian/libafteryou0.symbols", [name.replace("@@", "@") for name in script], debian)
    gone = sorted({f"{name}@@AFTERYOU_0" for name in declared("tests/abi/afteryou-0.1.h")} - script)
    wrong += [f"of release 0.1, and not to be taken away: {', '.join(gone)}"] * bool(gone)
    wrong += errors_untold(errors_of_header())
    wrong += [f"include/afteryou.h: one error code a line: {line}" for line in text("include/afteryou.h").splitlines()
              if re.search(r"-E[A-Z]+.*-E[A-Z]+", line)]
    wrong += differences("the layout of release 0.1", told(THEN).splitlines(), told(NOW).splitlines())
    known = {line for line in told(NOW).splitlines() if "ay_" in line}
    wrong += differences("bindings/python", known, known & set(layout_of_python()))
    print("\n".join(wrong) if wrong else f"{len(exported)} functions, {len(told(THEN).splitlines())} sizes, places and values agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
