#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A man page names the options that --help names, no more and no less, and is clean mdoc: man.py COMMAND WORD PAGE."""
import re
import shutil
import subprocess
import sys


def main():
    command, word, page = sys.argv[1:]
    told = subprocess.run([command, word, "--help"], capture_output=True, text=True, check=True).stdout
    with open(page, encoding="utf-8") as file:
        written = file.read()
    prose = re.sub(r"^\.Bd.*?^\.Ed$", "", written, flags=re.M | re.S)
    in_help = set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", told))
    in_page = set(re.findall(r"\B-([a-z][a-z-]+)", " ".join(re.findall(r"^\.(?:It )?.*Fl.*$", prose, re.M))))
    failures = 0
    for what, names in (("not in the page", in_help - in_page), ("not in --help", in_page - in_help)):
        if names:
            print(f"{page}: {what}: {', '.join(sorted(names))}")
            failures += 1
    if shutil.which("mandoc"):
        # That another page is not installed here is no fault of this one.
        lint = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True, check=False)
        faults = [line for line in (lint.stdout + lint.stderr).splitlines() if "mandoc.db" not in line and
                  "referenced manual not found" not in line]
        print("\n".join(faults), end="\n" if faults else "")
        failures += bool(faults)
    else:
        print("mandoc is missing: the page was not linted")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
