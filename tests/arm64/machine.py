#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs tests of the ARM64 build in an emulated machine of two processors, and ends with "N passed, N failed, N skipped".

usage: machine.py [--pages 4k|16k] [--directory DIRECTORY] [NAME...]

NAME selects tests: a suite, or the name of a test, with wildcards; without, the suites memory and command. They run in the order of the names.
The directory, build/arm64 if not given, has the build of cross.py and, below machine/, what root.sh made.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = ("memory", "command")
# What a test looks at in the tree, besides itself.
LOOKED_AT = ["CONTRIBUTING.md", "README.md", "bindings", "completions", "docs/*.md", "examples", "include", "man", "src/memory/libafteryou.map", "tests",
             "tools"]
# Tests of what is not there: what is installed on this machine, and of another build.
NOT_THERE = {"command install", "memory manuals"}
SLOWER = 30  # than this machine, which may be busy itself: a test's time limit is so many times its own
BOOT_S = 600


def chosen(directory, names):
    """The tests as the build knows them; the interpreter is the machine's own."""
    shown = subprocess.run(["meson", "introspect", "--tests", directory], capture_output=True, text=True, check=True).stdout
    found = {}
    for wanted in names or SUITES:
        for test in json.loads(shown):
            suites = {suite.rpartition(":")[2] for suite in test["suite"]}
            if (wanted in suites or fnmatch.fnmatchcase(test["name"], wanted)) and test["name"] not in NOT_THERE:
                found.setdefault(test["name"], test)
    for test in found.values():
        words = ["/usr/bin/python3" if os.path.basename(word).startswith("python3") else word for word in test["cmd"]]
        yield {"name": test["name"], "words": words, "environment": {**test["env"], "PATIENCE": "600"}, "seconds": test["timeout"] * SLOWER,
               "directory": str(ROOT)}


def archive(base, files, output):
    """Adds a cpio archive of these files, relative to base, with the folders that they lie in."""
    folders = {str(parent) for file in files for parent in pathlib.PurePath(file).parents if str(parent) != "."}
    subprocess.run(["cpio", "--create", "--format=newc", "--owner=0:0", "--quiet"], cwd=base, stdout=output, check=True, text=True,
                   input="".join(f"{name}\n" for name in [*sorted(folders), *sorted(files)]))


def built(directory):
    """The programs and libraries that came out of the build."""
    for path in [*directory.glob("*"), *directory.glob("tests/memory/*"), *directory.glob("completions/*")]:
        if path.is_file() and (os.access(path, os.X_OK) or path.parent.name == "completions"):
            yield path


def make_initial(directory, pages, tests):
    """The root, the tree and the build at the paths that they have here, and what begins it all."""
    machine = directory / "machine"
    tree = subprocess.run(["git", "-C", ROOT, "ls-files", *LOOKED_AT], capture_output=True, text=True, check=True).stdout.split("\n")
    files = [ROOT / name for name in tree if name] + list(built(directory))
    own = machine / f"own-{pages}"
    own.mkdir(exist_ok=True)
    (own / "tests.json").write_text(json.dumps(tests))
    init = own / "init"
    init.write_bytes((ROOT / "tests/arm64/inside.py").read_bytes())
    init.chmod(0o755)
    initial = machine / f"initial-{pages}.cpio"
    with open(initial, "wb") as output:
        output.write((machine / "root.cpio").read_bytes())
        output.flush()
        archive("/", [str(file.relative_to("/")) for file in files], output)
        archive(own, ["init", "tests.json"], output)
    return initial


class Results:
    def __init__(self):
        self.count = {"passed": 0, "failed": 0, "skipped": 0}
        self.ended = False

    def take(self, line):
        words = line.split()
        if line.startswith("@@ ") and words[1] in self.count:
            self.count[words[1]] += 1
            print(f"{words[1]}  {float(words[2]):7.1f} s  {' '.join(words[3:])}", flush=True)
        elif line.startswith("@@ end"):
            self.ended = True
        elif line.startswith("@@ "):
            print(" ".join(words[1:]), flush=True)
        elif line:
            print("    " + line, flush=True)


def boot(machine, pages, initial, limit, results):
    words = ["nice", "-n", "15", "qemu-system-aarch64", "-machine", "virt", "-cpu", "max,pauth-impdef=on", "-accel", "tcg,thread=multi", "-smp", "2", "-m",
             "3072", "-kernel", machine / f"kernel-{pages}", "-initrd", initial, "-append", "console=ttyAMA0 quiet panic=-1 rdinit=/init", "-display",
             "none", "-serial", "stdio", "-monitor", "none", "-nic", "none", "-no-reboot"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    watch = threading.Timer(limit, process.kill)
    watch.start()
    for line in process.stdout:
        results.take(line.decode(errors="replace").strip("\r\n"))
    process.wait()
    watch.cancel()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", choices=("4k", "16k"), default="4k")
    parser.add_argument("--directory", type=pathlib.Path, default=ROOT / "build/arm64")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    tests = list(chosen(asked.directory, asked.names))
    if not tests:
        sys.exit(f"machine.py: no test is named so: {' '.join(asked.names)}")
    initial = make_initial(asked.directory.resolve(), asked.pages, tests)
    results = Results()
    boot(asked.directory / "machine", asked.pages, initial, BOOT_S + sum(test["seconds"] for test in tests), results)
    if not results.ended:
        print("the machine ended before its tests did", flush=True)
        results.count["failed"] += 1
    print(", ".join(f"{count} {how}" for how, count in results.count.items()))
    sys.exit(results.count["failed"] > 0)


main()
