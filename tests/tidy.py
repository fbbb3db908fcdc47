#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rules of docs/architecture.md that a machine can check, each with a tree that breaks it.

usage: tidy.py [--root DIRECTORY]     judge the tree
       tidy.py --self-test            break a copy of a small tree in every way, and see that each is found
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

LINES_MOST = 500
# Files that may be longer, each with the reason.
LONG_FOR_A_REASON = {
    "include/afteryou.h": "the one public header, with all that each function may return",
}

COLUMNS_MOST = 100

# Which folders of src/ the files of a folder may include, the deepest folder that is named here deciding. A folder stands
# for all below it. "afteryou.h" is the public header.
MAY_INCLUDE = {
    "protocols": {"protocols/modes.h"},
    "protocols/language": {"protocols/language", "protocols/modes.h"},
    "protocols/registers": {"protocols/registers", "protocols/language", "protocols/modes.h"},
    "protocols/messages": {"protocols/messages", "protocols/modes.h"},
    "common": {"common"},
    "audit": {"audit", "common"},
    "memory": {"memory", "protocols/language", "protocols/registers", "protocols/modes.h", "common", "afteryou.h"},
    "agent/core": {"agent/core", "protocols/messages", "protocols/modes.h", "common"},
    "agent/host": {"agent", "protocols/messages", "protocols/modes.h", "common", "afteryou.h"},
    "check/search": {"check/search", "common"},
    "check/messages": {"check/messages", "check/search", "protocols/messages", "protocols/modes.h", "common"},
    "check/registers": {"check/registers", "check/search", "check/papers", "protocols/language", "protocols/registers",
                        "protocols/modes.h", "common"},
    "check/papers": {"check/papers", "check/registers", "protocols/language", "protocols/registers"},
    "playground": {"playground", "check", "cli", "protocols/messages", "protocols/modes.h", "common"},
    "simulate": {"simulate", "protocols/messages", "protocols/modes.h", "common"},
    "cli": {"cli", "check", "simulate", "audit", "agent", "common", "afteryou.h"},
    "bench": {"bench", "common", "afteryou.h"},
}
# Files that may see more, each with the reason.
MAY_INCLUDE_MORE = {
    "bench/peers/doorway.c": {"memory", "protocols/registers"},  # when a waiter is in the queue shows nowhere else
    "bench/cluster/links.c": {"agent/host"},  # it measures them
}

C_FILES = (".c", ".h")
PAGE_FILES = (".js", ".css")
TEXT_FILES = C_FILES + PAGE_FILES + (".py", ".md", ".build", ".sh", ".1", ".3", ".7", ".pml", ".proof", ".yml", ".txt")
WITHOUT_EXTENSION = ("dev", "run", "README", "LICENSE")
STOPS = "REGISTERS_" + "STOP_AT_ACCESS"
# The register protocols' surroundings: once for each engine.
TWO_BODIES = {"struct registers", "struct watch", "struct asked", "struct recall", "struct sights", "struct glimpse"}
IMPURE = re.compile(r"\s*#\s*include\s+<(stdio|stdlib|time|unistd|pthread|errno|signal|assert|sys/.*)\.h>")
# What the agent's core may see of the system, by whatever way.
ASSERTIONS = "src/common/assert.h"  # the one way out: an assertion that does not hold
PURE_HEADERS = {"stdbool.h", "stddef.h", "stdint.h", "string.h", "stdatomic.h", "inttypes.h"}
UNBROKEN = re.compile(r'\s*"\S*"[;,)]*$')  # a string without a space, which is found by searching for it
STRUCT = re.compile(r"(?:static )?((?:struct|union|enum) \w+) \{")
# A numbered invariant, where it is stated, and where it is asserted. Those of these letters are asserted.
STATED = re.compile(r"\s*/?\*\s+([A-Z]\d+)  \S")
ASSERTED = re.compile(r"\b(?:assert_invariant|ASSERT)\((\w+),")
ASSERTED_LETTERS = "ACHKLNPRVW"
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#]+)")
# Templates, each with the folder in which its document will lie.
WRITTEN_FOR = {"tools/performance.template.md": "docs/results"}
COMMENT = re.compile(r"\s*(/?\*|//)")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}/])/(home|Users|root|work)/\w")


def files_of(root):
    """Paths below root, as git knows them; without git, all but build directories."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
    else:
        names = []
        for folder, folders, inside in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith((".git", "build"))]
            names += [os.path.relpath(os.path.join(folder, name), root) for name in inside]
    return sorted(name for name in names if os.path.isfile(os.path.join(root, name)))


def place_of(path):
    """A path below src/ without "src/", one of bench/ as it is; None elsewhere."""
    if path.startswith("src/") and path.count("/") > 1:
        return path[len("src/"):]
    return path if path.startswith("bench/") else None


def lies_in(place, folder):
    return place == folder or place.startswith(folder + "/")


def folder_of(place):
    """The deepest folder of the layering in which it lies, or None."""
    folders = [folder for folder in MAY_INCLUDE if lies_in(place, folder)]
    return max(folders, key=len) if folders else None


def included(root, path, name):
    """What an include names, below src/ ("afteryou.h" for the public header), or None if it is none of ours."""
    if os.path.basename(name) == "afteryou.h":
        return "afteryou.h"
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    for candidate in (beside, os.path.join("src", name)):
        if os.path.isfile(os.path.join(root, candidate)) and place_of(candidate):
            return place_of(candidate)
    return name if folder_of(name) else None


def judge_includes(root, path, lines):
    place = place_of(path)
    if place is None:
        return
    folder = folder_of(place)
    if folder is None:
        yield 1, f"src/{os.path.dirname(place)}/ is not in the layering: say in tests/tidy.py what it may include"
        return
    allowed = MAY_INCLUDE[folder] | MAY_INCLUDE_MORE.get(path, set())
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        whose = found and included(root, path, found.group(1))
        if whose and not any(lies_in(whose, one) for one in allowed):
            yield number, f"{folder}/ may not include {whose}"


def judge_purity(_root, path, lines):
    """A protocol is pure: no I/O, no clock, no memory of its own, no thread."""
    if not path.startswith("src/protocols/"):
        return
    for number, line in enumerate(lines, 1):
        if IMPURE.match(line):
            yield number, f"a protocol is pure: {line.strip()}"


def reached(root, path, seen):
    """The system headers that a file includes, by headers of ours too."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    for system in re.findall(r"^\s*#\s*include\s+<([^>]+)>", text, re.M):
        yield system
    for ours in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
        for candidate in (os.path.normpath(os.path.join(os.path.dirname(path), ours)), os.path.join("src", ours)):
            if candidate not in seen and candidate != ASSERTIONS and os.path.isfile(os.path.join(root, candidate)):
                seen.add(candidate)
                yield from reached(root, candidate, seen)


def judge_core(root, path, lines):
    """The agent's core is pure: event in, effects out. Nothing that it includes, by whatever way, has a clock, a file,
    a thread or memory to give; it keeps nothing but in its state, and ends nothing."""
    if not path.startswith("src/agent/core/"):
        return
    for system in sorted(set(reached(root, path, {path}))):
        if system not in PURE_HEADERS:
            yield 1, f"the agent's core is pure: it reaches <{system}>"
    for number, line in enumerate(lines, 1):
        if re.match(r"\s+static (?!const\b)", line) or re.match(r"static (?!const\b|inline\b)[^(]*(=|;)", line):
            yield number, "the agent's core is pure: what it knows is in its state"
        if re.search(r"\b(abort|exit|__builtin_trap|malloc|calloc|realloc|free)\(", line):
            yield number, "the agent's core is pure: it neither ends the program nor asks for memory"


def judge_columns(_root, path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MOST and not UNBROKEN.match(line):
            yield number, f"more than {COLUMNS_MOST} columns"


def judge_struct_names(found):
    """found: (path, number, name) of every struct, union and enum of src/ that has one."""
    first = {}
    for path, number, name in found:
        if name not in TWO_BODIES and name in first:
            yield f"{path}:{number}: {name} is also in {first[name]}: a name means one thing in the whole tree"
        first.setdefault(name, path)


def judge_invariants(stated, asserted):
    """stated: (path, number, name) of every invariant that a file of src/ states; asserted: their names."""
    for path, number, name in stated:
        if name[0] in ASSERTED_LETTERS and name not in asserted:
            yield f"{path}:{number}: nothing asserts {name}: assert_invariant({name}, …), or ASSERT in a protocol"


def judge_head(_root, _path, lines):
    if not lines or "SPDX-License-Identifier: MIT" not in lines[0]:
        yield 1, "the first line must be the SPDX line"
    text = " ".join(line.strip() for line in lines[1:8])
    if not re.match(r"/\*\s*\S.*?[.:]", text):
        yield 2, "the second line must begin a sentence that says what the file is"


def judge_length(_root, path, lines):
    if len(lines) > LINES_MOST and path not in LONG_FOR_A_REASON:
        yield len(lines), f"more than {LINES_MOST} lines"


def judge_two_bodies(_root, path, lines):
    """Only registers.h has two bodies; only the checker's accesses choose the second."""
    if path == "src/protocols/language/registers.h":
        return
    for number, line in enumerate(lines, 1):
        if STOPS not in line:
            continue
        if path == "src/check/registers/accesses.h" and re.match(rf"#define {STOPS}$", line):
            continue
        yield number, f"{STOPS} belongs to src/protocols/language/registers.h alone"


def judge_lines_for_people(_root, path, lines):
    """Of the command, say() writes a line: whole, and with nothing in it that a terminal obeys. A line that
    is drawn again and again begins with \\r."""
    if not path.startswith("src/cli/"):
        return
    for number, line in enumerate(lines, 1):
        if re.search(r'fprintf\(stderr, "(?!\\r)|fputs\("(?!\\r)[^"]*", stderr|\b(perror|warnx?)\(', line):
            yield number, "say() writes lines for people"


def judge_one_reader_one_writer(_root, path, lines):
    """Command lines are read by the tables of src/cli/options.h, JSON is written by src/common/json.h."""
    if not path.startswith("src/"):
        return
    for number, line in enumerate(lines, 1):
        if path != "src/cli/options.c" and re.search(r"\bgetopt(_long)?\(|<getopt\.h>", line) and not COMMENT.match(line):
            yield number, "src/cli/options.c reads command lines"
        if path != "src/common/json.h" and re.search(r'\\":|[{,]\\"', line):
            yield number, "src/common/json.h writes JSON"


def judge_words(_root, _path, lines):
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished: do it, or open an issue"
        if MACHINE_PATH.search(line):
            yield number, "a path of one machine"


def judge_links(root, path, lines):
    """A link of a document names a file of the tree."""
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(line) if path.endswith(".md") else ():
            beside = os.path.join(root, WRITTEN_FOR.get(path, os.path.dirname(path)), target)
            if not os.path.exists(beside):
                yield number, f"there is no {target}"


def judge_format(root, paths):
    if not shutil.which("clang-format"):
        print("tidy: clang-format is missing: the format was not judged", file=sys.stderr)
        return
    if not paths:
        return
    run = subprocess.run(["clang-format", "--dry-run", "--ferror-limit=1", *paths], cwd=root, capture_output=True,
                         text=True, check=False)
    for path in sorted(set(re.findall(r"^(\S+?):\d+:\d+: ", run.stderr, re.M))):
        yield f"{path}:1: not as clang-format has it: ./dev format"


def judge(root):
    found = []
    c_paths = []
    structs = []
    stated, asserted = [], set()
    for path in files_of(root):
        name = os.path.basename(path)
        if not path.endswith(TEXT_FILES) and name not in WITHOUT_EXTENSION:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = file.read().splitlines()
        rules = [judge_words, judge_links]
        if path.endswith(C_FILES):
            c_paths.append(path)
            rules += [judge_includes, judge_head, judge_length, judge_two_bodies, judge_lines_for_people,
                      judge_one_reader_one_writer, judge_purity, judge_core, judge_columns]
            structs += [(path, number, match.group(1)) for number, line in enumerate(lines, 1)
                        if path.startswith("src/") and (match := STRUCT.match(line))]
            stated += [(path, number, match.group(1)) for number, line in enumerate(lines, 1)
                       if path.startswith("src/") and (match := STATED.match(line))]
            asserted |= {name for line in lines for name in ASSERTED.findall(line) if path.startswith("src/")}
        if path.startswith("web/") and path.endswith(PAGE_FILES):
            rules += [judge_length, judge_columns]
        for rule in rules:
            found += [f"{path}:{number}: {what}" for number, what in rule(root, path, lines)]
    found += judge_struct_names(structs)
    found += judge_invariants(stated, asserted)
    for path, reason in LONG_FOR_A_REASON.items():
        full = os.path.join(root, path)
        if os.path.isfile(full) and len(open(full, encoding="utf-8").read().splitlines()) <= LINES_MOST:
            found.append(f"tests/tidy.py:1: {path} is no longer long ({reason}): take it off the list")
    return found + list(judge_format(root, c_paths))


GOOD = "/* SPDX-License-Identifier: MIT */\n/* A file of a small tree. */\n"
SMALL_TREE = {
    ".clang-format": "BasedOnStyle: LLVM\n",
    "include/afteryou.h": GOOD + "/* More. */\n" * LINES_MOST,
    "src/protocols/modes.h": GOOD,
    "src/protocols/language/registers.h": GOOD + f"#ifdef {STOPS}\n#endif\n",
    "src/protocols/registers/pair.h": GOOD + '#include "protocols/language/registers.h"\n',
    "src/protocols/messages/token.c": GOOD + '#include "protocols/modes.h"\n',
    "src/check/registers/accesses.h": GOOD + f'#define {STOPS}\n#include "protocols/language/registers.h"\n',
    "src/check/search/search.c": GOOD + '#include "common/draw/svg.h"\n',
    "src/check/search/search.h": GOOD + "struct search {\n  int a;\n};\n",
    "src/memory/space.c": GOOD + '#include "afteryou.h"\n\n#include "protocols/registers/pair.h"\n',
    "src/memory/memory.h": GOOD + "/* L1  A place has one writer. */\n",
    "src/memory/claim.c": GOOD + "int a = assert_invariant(L1, 1);\n",
    "src/agent/core/agent.h": GOOD + '#include "common/assert.h"\n',
    "src/agent/host/service.c": GOOD + '#include "afteryou.h"\n#include "agent/core/agent.h"\n',
    "src/common/draw/svg.h": GOOD,
    "src/common/unclean.h": GOOD + "#include <stdio.h>\n",
    "src/common/assert.h": GOOD + "#include <stdlib.h>\n",
    "src/audit/judge.c": GOOD + '#include "common/draw/svg.h"\n',
    "src/cli/main.c": GOOD + '#include "check/registers/accesses.h"\n',
    "bench/peers/peer.h": GOOD,
    "bench/peers/main.c": GOOD + '#include "afteryou.h"\n#include "common/draw/svg.h"\n#include "peer.h"\n',
    "bench/peers/doorway.c": GOOD + '#include "memory/memory.h"\n#include "protocols/registers/pair.h"\n',
}

# What is appended to or put in place of a file, and what must be said of it.
BREAKS = [
    ("src/protocols/registers/pair.h", GOOD + '#include "check/registers/accesses.h"\n',
     "protocols/registers/ may not include check"),
    ("src/protocols/registers/pair.h", GOOD + '#include "../../memory/memory.h"\n',
     "protocols/registers/ may not include memory"),
    ("src/protocols/registers/pair.h", GOOD + '#include "common/draw/svg.h"\n',
     "protocols/registers/ may not include common"),
    ("src/protocols/registers/pair.h", GOOD + '#include "protocols/messages/node.h"\n',
     "protocols/registers/ may not include protocols/messages"),
    ("src/protocols/registers/pair.h", GOOD + "#include <stdio.h>\n", "a protocol is pure"),
    ("src/protocols/messages/token.c", GOOD + "#include <sys/mman.h>\n", "a protocol is pure"),
    ("src/check/search/search.c", GOOD + '#include "memory/memory.h"\n', "check/search/ may not include memory"),
    ("src/check/search/search.c", GOOD + '#include "check/registers/accesses.h"\n',
     "check/search/ may not include check/registers"),
    ("src/check/search/search.c", GOOD + "#include <afteryou.h>\n", "check/search/ may not include afteryou.h"),
    ("src/memory/space.c", GOOD + '#include "check/registers/accesses.h"\n', "memory/ may not include check"),
    ("src/memory/space.c", GOOD + '#include "protocols/messages/node.h"\n', "memory/ may not include protocols/messages"),
    ("src/agent/core/agent.h", GOOD + '#include "agent/host/pages.h"\n', "agent/core/ may not include agent/host"),
    ("src/agent/core/agent.h", GOOD + '#include "afteryou.h"\n', "agent/core/ may not include afteryou.h"),
    ("src/agent/core/agent.h", GOOD + "#include <time.h>\n", "it reaches <time.h>"),
    ("src/agent/core/agent.h", GOOD + '#include "common/unclean.h"\n', "it reaches <stdio.h>"),
    ("src/agent/core/agent.h", GOOD + "static char text[64];\n", "what it knows is in its state"),
    ("src/agent/core/agent.h", GOOD + "static void a(void) { abort(); }\n", "it neither ends the program"),
    ("src/common/draw/svg.h", GOOD + '#include "protocols/modes.h"\n', "common/ may not include protocols"),
    ("src/audit/judge.c", GOOD + '#include "protocols/modes.h"\n', "audit/ may not include protocols"),
    ("src/cli/main.c", GOOD + '#include "memory/memory.h"\n', "cli/ may not include memory"),
    ("src/cli/main.c", GOOD + '#include "protocols/modes.h"\n', "cli/ may not include protocols"),
    ("bench/peers/main.c", GOOD + '#include "memory/memory.h"\n', "bench/ may not include memory"),
    ("bench/peers/doorway.c", GOOD + '#include "check/search/search.h"\n', "bench/ may not include check"),
    ("src/novel/one.c", GOOD, "src/novel/ is not in the layering"),
    ("src/audit/judge.c", GOOD + "struct search {\n  int a;\n};\n", "a name means one thing in the whole tree"),
    ("src/memory/memory.h", GOOD + "/*\n *   L2  Whatever it is.\n */\n", "nothing asserts L2"),
    ("src/memory/claim.c", GOOD + "int a = assert_invariant(L10, 1);\n", "nothing asserts L1"),
    ("src/common/draw/svg.h", "/* No licence. */\n/* A file of a small tree. */\n", "must be the SPDX line"),
    ("src/common/draw/svg.h", "/* SPDX-License-Identifier: MIT */\n#include <stdio.h>\n", "must begin a sentence"),
    ("src/common/draw/svg.h", GOOD + "int a;\n" * LINES_MOST, f"more than {LINES_MOST} lines"),
    ("src/common/draw/svg.h", GOOD + "int " + "a" * COLUMNS_MOST + ";\n", f"more than {COLUMNS_MOST} columns"),
    ("web/page/one.js", "a" * COLUMNS_MOST + "();\n", f"more than {COLUMNS_MOST} columns"),
    ("src/common/draw/svg.h", GOOD + f"#ifdef {STOPS}\n#endif\n", "belongs to src/protocols/language/registers.h alone"),
    ("src/check/registers/accesses.h", GOOD + f"#ifndef {STOPS}\n#endif\n",
     "belongs to src/protocols/language/registers.h alone"),
    ("src/common/draw/svg.h", GOOD + "/* TO" + "DO: later. */\n", "unfinished"),
    ("docs/notes.md", "FIX" + "ME\n", "unfinished"),
    ("docs/notes.md", "[one](two.md) [else](https://example.org/) [here](#here)\n", "there is no two.md"),
    ("docs/notes.md", "See /ho" + "me/somebody/notes.\n", "a path of one machine"),
    ("src/cli/main.c", GOOD + 'void a(void) { fprintf(stderr, "a"); }\n', "say() writes lines for people"),
    ("src/cli/main.c", GOOD + "#include <getopt.h>\n", "src/cli/options.c reads command lines"),
    ("src/cli/main.c", GOOD + 'const char a[] = "{\\"schema\\":1}";\n', "src/common/json.h writes JSON"),
    ("src/common/draw/svg.h", GOOD + "int   a ;\n", "not as clang-format has it"),
]


def write_tree(root, tree):
    for path, text in tree.items():
        os.makedirs(os.path.dirname(os.path.join(root, path)) or root, exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)


def self_test():
    failures = 0
    for path, text, expected in [(None, None, None)] + BREAKS:
        if expected and "clang-format" in expected and not shutil.which("clang-format"):
            continue
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, dict(SMALL_TREE, **({path: text} if path else {})))
            found = judge(root)
        told = found == [] if expected is None else len(found) == 1 and expected in found[0]
        if not told:
            failures += 1
            print(f"self-test: {path}: expected {expected or 'nothing'}, found {found}")
    print(f"tidy: {len(BREAKS) + 1} trees, {failures} judged wrongly")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--self-test", action="store_true")
    asked = parser.parse_args()
    if asked.self_test:
        return 1 if self_test() else 0
    found = judge(os.path.abspath(asked.root))
    print("\n".join(found) if found else "tidy: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
