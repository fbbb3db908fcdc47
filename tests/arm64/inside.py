#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The first process of the emulated machine: makes it one, runs the tests of /tests.json, says how each ended, and turns it off.

A line that begins with @@ is for machine.py.
"""
import ctypes
import json
import os
import platform
import signal
import subprocess
import sys
import time

SKIPPED = 77
POWER_OFF = 0x4321FEDC
LINES_SHOWN = 40
MOUNTS = (("proc", "/proc", ""), ("sysfs", "/sys", ""), ("devtmpfs", "/dev", ""), ("devpts", "/dev/pts", "mode=620,ptmxmode=666"),
          ("tmpfs", "/dev/shm", "mode=1777"), ("tmpfs", "/tmp", "mode=1777"))
LIBC = ctypes.CDLL(None, use_errno=True)


def say(*words):
    print("@@", *words, flush=True)


def prepare():
    for kind, where, options in MOUNTS:
        os.makedirs(where, exist_ok=True)
        if LIBC.mount(kind.encode(), where.encode(), kind.encode(), 0, options.encode()) != 0:
            say("broken", f"cannot mount {where}: {os.strerror(ctypes.get_errno())}")
    os.environ.update(PATH="/usr/bin:/usr/sbin", HOME="/root", LANG="C.UTF-8", TERM="dumb")
    for name, where in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        os.symlink(where, f"/dev/{name}")


def run(test):
    """How it ended: passed, failed, skipped."""
    begin = time.monotonic()
    with open("/tmp/output", "w+b") as output:
        process = subprocess.Popen(test["words"], env={**os.environ, **test["environment"]}, cwd=test["directory"], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(test["seconds"])
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = "timeout"
        output.seek(0)
        lines = output.read().decode(errors="replace").splitlines()
    how = {0: "passed", SKIPPED: "skipped"}.get(status, "failed")
    say(how, f"{time.monotonic() - begin:.1f}", test["name"])
    if how != "passed":
        print(f"status {status}", *lines[-LINES_SHOWN:], sep="\n", flush=True)


def run_all():
    with open("/tests.json", encoding="utf-8") as file:
        tests = json.load(file)
    say("machine", platform.machine(), platform.release(), f"{os.cpu_count()} processors", f"pages of {os.sysconf('SC_PAGESIZE')} bytes")
    for test in tests:
        run(test)
    say("end")


def main():
    prepare()
    runner = os.fork()
    if runner == 0:
        run_all()
        sys.exit(0)
    while os.wait()[0] != runner:  # whoever has lost its parent is this process's to reap
        pass
    os.sync()
    LIBC.reboot(POWER_OFF)


main()
