#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants of the engine that `schedules` must refute, and some that `naming` must: a search that finds nothing in them would find
nothing anywhere.

usage: mutants.py SOURCE_ROOT BUILD_ROOT [--only TEXT] [--runs N] [--all]

Each is one change of one file of src/memory (mutants_list.py); the scene named beside it finds it, at random. A mutant whose text is
no longer in the file is a failure: it must be written anew. Without --all, those that take long to find are left out.
"""
import argparse
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

from mutants_list import MUTANTS, NAMING

RUNS = 20000
PATIENCE = 120


class Program:
    """One that meson has built: its objects, and how each was compiled."""

    def __init__(self, root, build, name):
        self.memory, self.build = root / "src/memory", build
        folder = f"tests/schedule/{name}.p/"
        commands = json.loads((build / "compile_commands.json").read_text())
        self.compiled = {pathlib.Path(build / entry["file"]).resolve(): entry for entry in commands if entry["output"].startswith(folder)}
        ninja = subprocess.run(["ninja", "-C", str(build), "-t", "deps", *(entry["output"] for entry in self.compiled.values())],
                               capture_output=True, text=True, check=True)
        self.includes = {block.split(":")[0]: block for block in ninja.stdout.replace("ninja: Entering directory", "").split("\n\n")}
        link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", f"tests/schedule/{name}"], capture_output=True, text=True,
                              check=True)
        self.link = [word for word in shlex.split(link.stdout.strip().split("\n")[-1])]
        self.name = f"tests/schedule/{name}"

    def changed(self, folder, file, text):
        """The same, with `text` for that file of src/memory: a header is found before the one it stands for."""
        changed = folder / "memory" / file
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
        link = list(self.link)
        link[link.index("-o") + 1] = str(folder / "schedules")
        for source, entry in self.compiled.items():
            mine = source == self.memory / file
            if not mine and (file.endswith(".c") or f"src/memory/{file}\n" not in self.includes[entry["output"]]):
                continue
            command = shlex.split(entry["command"])
            made = str(folder / f"{source.stem}.o")
            command[command.index("-o") + 1] = made
            command[command.index("-MF") + 1] = made + ".d"
            command[command.index("-c") + 1] = str(changed if mine else source)
            command[command.index("-c"):command.index("-c")] = ["-O1", "-g0", "-w"]
            compiler = 2 if "ccache" in command[0] else 1
            command[compiler:compiler] = [f"-I{folder}"]
            subprocess.run(command, cwd=self.build, check=True)
            link[link.index(entry["output"])] = made
        subprocess.run(link, cwd=self.build, check=True)
        return folder / "schedules"


def judge(root, program, runs, mutant):
    """Whether it is refuted, and what to say of it."""
    source = (root / "src/memory" / mutant.file).read_text()
    if source.count(mutant.text) != 1:
        return False, f"the text stands {source.count(mutant.text)} times in {mutant.file}, not once"
    with tempfile.TemporaryDirectory() as folder:
        made = program.changed(pathlib.Path(folder), mutant.file, source.replace(mutant.text, mutant.instead))
        if mutant.scene == NAMING:
            run = subprocess.run([str(made)], capture_output=True, text=True, check=False, timeout=PATIENCE)
            return run.returncode == 1 and "engine and text differ" in run.stderr, run.stderr.partition(": ")[2].strip()
        options = [word for name in ("preemptions", "kills", "lapses", "rouses") for word in (f"--{name}", str(getattr(mutant, name)))]
        if mutant.within:
            options += ["--within", mutant.within]
        run = subprocess.run([str(made), "--scene", mutant.scene, *options, "--random", str(runs), "--seed", str(mutant.seed)],
                             capture_output=True, text=True, check=False)
    if run.returncode == 1 and mutant.finding in run.stderr:
        return True, "in run " + run.stdout.split(": ")[-2].split(" runs")[0]
    return False, f"{mutant.scene!r} was to find {mutant.finding!r}; exit {run.returncode}, {run.stdout}{run.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--all", action="store_true")
    wishes = parser.parse_args()
    root, build = wishes.root.resolve(), wishes.build.resolve()
    mutants = [mutant for mutant in MUTANTS if wishes.only in mutant.name and (wishes.all or not mutant.long)]
    programs = {name: Program(root, build, name) for name in ("schedules", "schedules-narrow", "schedules-cluster", "naming")}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda mutant: judge(root, programs[mutant.program()], wishes.runs, mutant), mutants))
    for mutant, (refuted, what) in zip(mutants, verdicts):
        print(f"{'refuted' if refuted else 'NOT REFUTED'}: {mutant.name}: {what}")
    return not all(refuted for refuted, _ in verdicts)


if __name__ == "__main__":
    sys.exit(main())
