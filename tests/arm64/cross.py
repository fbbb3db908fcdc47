#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the tree for ARM64 on this machine, a warning being an error, and looks whether that is what came out.

usage: cross.py SOURCE DIRECTORY [all]     the library and the command; or all, with the tests

Exit 77: there is no compiler for it, or it has no C library.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILER = "aarch64-linux-gnu-gcc"
PROGRAMS = ["afteryou", "afteryou-tools", "libafteryou.a", "libafteryou.so.0"]
ELF_MACHINE_AT, AARCH64 = 18, 183

CROSS_FILE = """\
[binaries]
c = [{compiler}]
ar = 'aarch64-linux-gnu-gcc-ar'
strip = 'aarch64-linux-gnu-strip'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def skip(reason):
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(77)


def look_for_compiler():
    if not shutil.which(COMPILER):
        skip(f"no {COMPILER} (Debian's gcc-aarch64-linux-gnu)")
    with tempfile.TemporaryDirectory() as directory:
        words = [COMPILER, "-x", "c", "-", "-pthread", "-o", f"{directory}/program"]
        text = "#include <pthread.h>\nint main(void) { return !pthread_self(); }\n"
        if subprocess.run(words, input=text, text=True, capture_output=True, check=False).returncode != 0:
            skip(f"{COMPILER} has no C library (Debian's libc6-dev-arm64-cross)")


def configure(source, directory):
    directory.mkdir(parents=True, exist_ok=True)
    compiler = [*(["ccache"] if shutil.which("ccache") else []), COMPILER]
    cross = directory / "cross.ini"
    cross.write_text(CROSS_FILE.format(compiler=", ".join(f"'{word}'" for word in compiler)))
    subprocess.run(["meson", "setup", directory, source, "--cross-file", cross, "-Dcorosync=disabled", "-Dwerror=true"],
                   stdout=subprocess.DEVNULL, check=True)


def machine_of(path):
    with open(path, "rb") as file:
        head = file.read(ELF_MACHINE_AT + 2)
    assert head[:4] == b"\x7fELF", path
    return int.from_bytes(head[ELF_MACHINE_AT:], "little")


def main():
    source, directory = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    look_for_compiler()
    if not (directory / "build.ninja").exists():
        configure(source, directory)
    subprocess.run(["ninja", "-C", directory, "--quiet", *([] if sys.argv[3:] == ["all"] else PROGRAMS)], check=True)
    for name in PROGRAMS:
        if not name.endswith(".a"):
            machine = machine_of(directory / name)
            assert machine == AARCH64, f"{name} is for machine {machine}"


main()
