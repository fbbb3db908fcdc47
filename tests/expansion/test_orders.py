#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""WRITE is a store in release order and a fence, on every machine that there is a compiler for."""
import platform
import re
import shutil
import subprocess
import sys

ROOT = sys.argv[1]
# A plain load behind it: no seq_cst access of its own helps.
SOURCE = """#include <stdint.h>
#include "memory/order.h"
uint64_t write_and_look(_Atomic uint64_t *own, _Atomic uint64_t *other)
{
    ay__store_and_fence(own, 1);
    return atomic_load_explicit(other, memory_order_relaxed);
}
"""
# The store, what makes it a fence, and the load; in this order.
EXPECTED = {
    "x86_64": r"xchg.*mov\w*\s+\(",
    "aarch64": r"stlr.*dmb\s+ish\b.*ldr",
}


def compiler(machine):
    return "cc" if platform.machine() == machine else shutil.which(f"{machine}-linux-gnu-gcc")


def main():
    checked = failed = 0
    for machine, expected in EXPECTED.items():
        if not compiler(machine):
            print(f"{machine}: no compiler")
            continue
        listing = subprocess.run([compiler(machine), "-std=gnu11", "-O2", "-S", "-o", "-", "-I", f"{ROOT}/src", "-x", "c", "-"],
                                 input=SOURCE, capture_output=True, text=True, check=True).stdout
        right = re.search(expected, listing, re.DOTALL) is not None
        print(f"{machine}: {'ok' if right else 'no fence between the store and the load' + chr(10) + listing}")
        checked += 1
        failed += not right
    return 77 if not checked else failed


if __name__ == "__main__":
    sys.exit(main())
