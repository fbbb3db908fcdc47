#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists that must agree: what the library exports, what its version script, its header and the Debian package name; and the
layouts of the first release and of the present: agree.py SOURCE LIBRARY LAYOUT-THEN LAYOUT-NOW."""
import pathlib
import re
import subprocess
import sys

SOURCE, LIBRARY, THEN, NOW = sys.argv[1:]


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
    wrong += differences("the layout of release 0.1", told(THEN).splitlines(), told(NOW).splitlines())
    print("\n".join(wrong) if wrong else f"{len(exported)} functions, {len(told(THEN).splitlines())} sizes, places and values agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
