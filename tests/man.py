#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A man page lists the options that the command takes, no more and no less, and is clean: man.py AFTERYOU COMMAND PAGE.

What the command takes is asked of its tables (afteryou --options). A page with a section of the command's name is searched
there alone; what it says of --help and --version holds for all its sections.
"""
import json
import re
import shutil
import subprocess
import sys

COMMON = {"-h", "--help", "-V", "--version"}


def taken(afteryou, command):
    shown = subprocess.run([afteryou, "--options"], capture_output=True, text=True, check=True).stdout
    table, = (table for table in json.loads(shown)["commands"] if table["name"] == command)
    return {word for option in table["options"] for word in option["words"]}


def listed_in_mdoc(text):
    """Of lines such as: .It Fl n , -places Ar n"""
    found = set()
    for line in re.findall(r"^\.It (Fl .*)$", text.replace("\\-", "-"), re.M):
        flags = re.sub(r"\b(Ar|Cm|Li|Ns)\b.*?(?=\bFl\b|$)", "", line).replace("Fl", " ").replace(",", " ")
        found.update("-" + flag for flag in flags.split())
    return found


def listed_in_man(text):
    """Of the line after .TP; a value is in italics."""
    found = set()
    for line in re.findall(r"^\.TP(?: \d+)?\n(.*-.*)$", text.replace("\\-", "-"), re.M):
        found.update(re.findall(r"(?<![\w-])(--?[A-Za-z][a-z-]*)", re.sub(r"\\fI.*?\\fR", "", line)))
    return found


def listed(command, text):
    if ".Dt " in text:
        return listed_in_mdoc(text)
    section = re.search(rf"^\.SH {command.upper()}\n(.*?)(?=^\.SH )", text, re.M | re.S)
    return listed_in_man(section.group(1)) | (listed_in_man(text) & COMMON)


def lint(page):
    # That another page is not installed here is no fault of this one.
    shown = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True, check=False)
    return [line for line in (shown.stdout + shown.stderr).splitlines()
            if not re.search(r"mandoc\.db|referenced manual not found", line)]


def main():
    afteryou, command, page = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    takes, lists = taken(afteryou, command), listed(command, text)
    faults = [f"{page}: {command} takes {word}, and the page does not list it" for word in sorted(takes - lists)]
    faults += [f"{page}: the page lists {word}, and {command} does not take it" for word in sorted(lists - takes)]
    if ".Dt " not in text:
        pass  # mandoc knows mdoc's rules, not those of man; tests/command/documents.py renders this one
    elif shutil.which("mandoc"):
        faults += lint(page)
    else:
        print("mandoc is missing: the page was not linted")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
