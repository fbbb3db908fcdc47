#!/usr/bin/env python3
"""Measures the memory engine beside the robust pthread mutex: ./dev bench memory [alone | kill]."""
import os
import pathlib
import sys

program = pathlib.Path(__file__).resolve().parents[2] / "build/bench/memory/bench-memory"
os.execv(program, [str(program), *sys.argv[1:]])
