# SPDX-License-Identifier: MIT
"""The machine code of the protocols' expansion and of the same locks written by hand, function by function."""
import os
import re
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "src")
FLAGS = ["-std=gnu11", "-O2", "-fno-asynchronous-unwind-tables", "-fcf-protection=none", "-Wall", "-Wextra", "-Wconversion",
         "-Wshadow", "-Werror"]
PASSAGES = ("pair_enter", "pair_leave", "bakery_enter", "bakery_leave")


def missing():
    """Why no listing can be made here, or None."""
    for tool in ("gcc", "objdump"):
        if not shutil.which(tool):
            return f"{tool} is missing"
    machine = subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True, check=True).stdout
    return None if machine.startswith("x86_64") else f"the count knows x86-64, not {machine.strip()}"


def read_functions(name):
    """Compiles one file; returns {function: its instructions as objdump shows them, padding left out}."""
    with tempfile.TemporaryDirectory() as directory:
        compiled = os.path.join(directory, name + ".o")
        subprocess.run(["gcc", *FLAGS, "-I", SOURCE, "-I", HERE, "-c", os.path.join(HERE, name + ".c"), "-o", compiled],
                       check=True)
        shown = subprocess.run(["objdump", "-d", "--no-show-raw-insn", compiled], capture_output=True, text=True,
                               check=True).stdout
    functions, lines = {}, []
    for line in shown.splitlines():
        begins = re.match(r"[0-9a-f]+ <(\w+)>:", line)
        if begins:
            lines = functions.setdefault(begins.group(1), [])
        elif re.match(r"\s+[0-9a-f]+:\t", line):
            text = re.sub(r" <\w+(\+0x[0-9a-f]+)?>", "", line.strip())
            if not re.search(r"\t(data16 |cs )*nop|\txchg +%ax,%ax", text):
                lines.append(text.expandtabs(4))
    return functions


def both():
    """{passage: (expanded, by hand)}"""
    expanded, by_hand = read_functions("expanded"), read_functions("by_hand")
    return {name: (expanded[name + "_bare"], by_hand[name + "_by_hand"]) for name in PASSAGES}


def fetches(instructions):
    """Loads from memory: nothing but shared words is in memory here, except what push and pop save."""
    return sum(bool(re.search(r"(mov|cmp|test|add|and|or|xor)\w*\s.*\(.*\),%|(cmp|test)\w*\s.*\)$", line)) and
               "lea" not in line and "xchg" not in line for line in instructions)


def stores(instructions):
    """Plain stores."""
    return sum(bool(re.search(r"\bmov\w*\s[^,(]*,\S*\(.*\)$", line)) for line in instructions)


def fenced(instructions):
    """Stores with a fence, and fences."""
    return sum(bool(re.search(r"\bxchg\s.*\(|\block |\bmfence", line)) for line in instructions)


COUNTS = (("instructions", len), ("fetches", fetches), ("stores", stores), ("fenced stores", fenced))
