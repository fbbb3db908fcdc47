#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A list that is written down in several places is the same in all of them: lists.py AFTERYOU SOURCE.

One place leads; the others are compared with it. (Functions, errors and layouts of the library: abi/agree.py. Options: the tables
of src/cli, which man.py and the completions' test compare. What was checked: tools/guarantees.py.)
"""
import pathlib
import re
import subprocess
import sys

AFTERYOU, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])


def between(path, begin, end):
    text = (SOURCE / path).read_text(encoding="utf-8")
    found = re.search(begin + r"(.*?)" + end, text, re.S)
    if not found:
        raise SystemExit(f"{path}: there is no '{begin} … {end}' any more: say in tests/lists.py where the list is")
    return found.group(1)


def words(pattern, *where):
    return re.findall(pattern, between(*where))


def spelled(names):
    """A_NAME as a-name."""
    return [name.lower().replace("_", "-") for name in names]


def all_of(pattern, *paths):
    return [name for path in paths for name in re.findall(pattern, (SOURCE / path).read_text(encoding="utf-8"))]


def told(*arguments):
    return subprocess.run([AFTERYOU, *arguments], capture_output=True, text=True, check=True).stdout


def protocols():
    """Register protocols that the memory engine runs."""
    yield "memory/", all_of(r"\.name = \"([\w-]+)\"", "src/memory/passage/protocols.c", "src/memory/courtesy/hooks.c")
    yield "the command", words(r'"([\w-]+)"', "src/cli/text.c", r"text_protocol_at\(size_t at\)\n\{", r"\};")
    yield "include/afteryou.h", words(r'"([\w-]+)"', "include/afteryou.h", r"/\* NULL: ", r"\*/")
    yield "man/afteryou.7", words(r"\.It Cm (\S+)", "man/afteryou.7", r"\.Ss Protocols", r"\.Sh ")
    yield "bench/peers", [name for name in all_of(r"    \{\.name = \"([\w-]+)\"", "bench/peers/peer_ours.c") if not name.startswith("courtesy-")]
    listed = {line.split()[0] for line in told("check", "--list").splitlines()}
    yield "the checker", [name for name in all_of(r"\.name = \"([\w-]+)\"", "src/memory/passage/protocols.c", "src/memory/courtesy/hooks.c")
                          if name in listed]


def modes():
    yield "protocols/modes.h", spelled(words(r"MODE_(\w+),", "src/protocols/modes.h", r"enum mode \{", r"MODES\n"))
    yield "mode_name()", words(r'"([\w-]+)"', "src/protocols/modes.h", r"names\[MODES\] = \{", r"\};")
    yield "include/afteryou.h", spelled(words(r"AY_(\w+)", "include/afteryou.h", r"typedef enum \{(?=\s+AY_EXCLUSIVE)", r"\} ay_mode"))
    yield "the command", words(r'\{"([\w-]+)"', "src/cli/text.c", r"modes\[\] = \{", r"\};")
    yield "audit/", words(r'"([\w-]+)"', "src/audit/trace.c", r"\n\s+(?=\"exclusive\")", r"\};")
    yield "bindings/python", spelled(words(r"(\w+) = \d", "bindings/python/afteryou/_space.py", r"class Mode\(enum.IntEnum\):", r"\n\n"))


def precedences():
    yield "include/afteryou.h", spelled(words(r"AY_(\w+)", "include/afteryou.h", r"typedef enum \{(?=\s+AY_IN_ORDER)", r"\} ay_precedence"))
    yield "the command", words(r'"([\w-]+)"', "src/cli/text.c", r"precedences\[\] = \{", r"\};")
    yield "bindings/python", spelled(words(r"(\w+) = \d", "bindings/python/afteryou/_space.py", r"class Precedence\(enum.IntEnum\):", r"\n\n"))


def differences():
    for what, lists, ordered in (("protocols", protocols(), False), ("modes", modes(), True), ("precedences", precedences(), True)):
        leader, names = next(lists)
        for place, others in lists:
            same = others == names if ordered else sorted(others) == sorted(names)
            if not same:
                yield f"{what}: {place} has {', '.join(others)}; {leader} has {', '.join(names)}"


def main():
    wrong = list(differences())
    print("\n".join(wrong) if wrong else "all lists agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
