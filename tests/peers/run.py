# SPDX-License-Identifier: MIT
"""Runs the peers' own tests against ours, and compares with docs/peers.md: run.py DIRECTORY (see fetch.sh)

docs/peers.md names each test that does not pass. Any other must pass, and those must not."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PYTHON = "/usr/bin/python3"  # Debian's, whose tests these are
PATIENCE = 600


def pytest(package, *files):
    return lambda there: [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "told", "-p", "replaced", "-c", "/dev/null",
                          "--rootdir", str(there), *(str(there / package / "tests" / name) for name in files)]


# What must be there, and the command.
SUITES = {
    "CPython, lock_tests": ("cpython/test/lock_tests.py", lambda there: [PYTHON, str(HERE / "cpython.py"), str(there), "locks"]),
    "CPython, multiprocessing by fork": ("cpython/test/_test_multiprocessing.py",
                                         lambda there: [PYTHON, str(HERE / "cpython.py"), str(there), "fork"]),
    "CPython, multiprocessing by spawn": ("cpython/test/_test_multiprocessing.py",
                                          lambda there: [PYTHON, str(HERE / "cpython.py"), str(there), "spawn"]),
    "filelock": ("filelock/tests/test_filelock.py", pytest("filelock", "test_filelock.py")),
    "fasteners": ("fasteners/tests/test_process_lock.py", pytest("fasteners", "test_process_lock.py", "test_reader_writer_lock.py")),
}


def known(suite):
    """The tests that the document says do not pass, of one suite. One that is said of root is of root alone."""
    document = (ROOT / "docs/peers.md").read_text(encoding="utf-8")
    section = document.partition(f"\n## {suite}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.M)
    return {name for name, why in rows if not why.startswith("As root") or os.geteuid() == 0}


def verdicts(command, there):
    with tempfile.TemporaryDirectory(prefix="afteryou-peers-", dir="/dev/shm") as spaces:
        paths = [ROOT / "bindings/python", HERE, there / "fasteners"]
        environment = {**os.environ, "AFTERYOU_DIR": spaces, "LIBAFTERYOU": str(ROOT / "build/libafteryou.so.0"),
                       "PYTHONPATH": ":".join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=spaces)
    found = collections.defaultdict(set)
    for verdict, name in re.findall(r"^[.FEsx]*(passed|failed|skipped) (.+)$", result.stdout, re.M):
        found[verdict].add(name)
    return found, result.stdout + result.stderr


def judge(suite, command, there):
    found, output = verdicts(command, there)
    passed = found["passed"] - found["failed"]
    print(f"{suite}: {len(passed)} of {len(passed | found['failed'])} passed, {len(found['skipped'])} skipped by themselves")
    wrong = sorted(found["failed"] - known(suite))
    mended = sorted(passed & known(suite))
    for name in wrong:
        print(f"  failed, and docs/peers.md does not say why: {name}")
    for name in mended:
        print(f"  passed, though docs/peers.md says that it does not: {name}")
    if not passed or wrong:
        print(output[-6000:])
    return bool(passed) and not wrong and not mended


def reason(there, needed):
    """Why a suite is not there, in fetch.sh's words."""
    why = there / (needed.partition("/")[0] + ".why")
    said = why.read_text(encoding="utf-8").split("\n") if why.exists() else []
    return "; ".join(filter(None, said)) or f"{needed} is not in {there}"


def main():
    there = pathlib.Path(sys.argv[1]).resolve()
    status = 0
    for suite, (needed, command) in SUITES.items():
        if not (there / needed).exists():
            print(f"{suite}: SKIP: {reason(there, needed)}")
        elif not judge(suite, command(there), there):
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
