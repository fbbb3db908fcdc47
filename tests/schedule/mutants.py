#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants of the engine that `schedules` must refute: a search that finds nothing in them would find nothing anywhere.

usage: mutants.py SOURCE_ROOT [COMPILER...]

Each is one change of one file of src/memory; the scene named beside it finds it, at random. A mutant whose text is no longer
in the file is a failure: it must be written anew.
"""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

RUNS = 10000

# name, file below src/memory, text, what stands there instead, scene, preemptions, kills, what is found
MUTANTS = [
    ("a new owner counts its sleeps anew", "passage/region.c",
     ".sleeps = atomic_load(&at->near.own->sleeps)", ".sleeps = 0",
     "a place changes its owner", 3, 0, "nobody wakes them"),
    ("a sleeper does not look again", "passage/wait.c",
     "changed |= registers_as_read(at, 0, &vitals[which], raw) != watch->seen[which];", "",
     "two pass", 3, 0, "nobody wakes them"),
    ("a death is not passed on", "passage/wait.c",
     "    ay__futex_wake(before->futex);\n    ay__futex_wake(&registers_hot(at, place)->word);", "",
     "readers and a writer", 0, 1, "nobody wakes them"),
    ("who leaves wakes nobody", "passage/wake.c",
     "    if (needed)\n        wake_own(at, 0);\n", "",
     "two pass", 3, 0, "nobody wakes them"),
    ("one that was not asleep counts as woken ahead", "passage/wake.c",
     "wake_own(at, 0) == 1 && count == 1", "(wake_own(at, 0), true) && count == 1",
     "two pass", 3, 0, "nobody wakes them"),
    ("who comes says nothing in `claims`", "file/claim.c",
     "    atomic_fetch_add(&header->claims, 1);\n", "",
     "one opens", 3, 0, ""),
    ("a claimer forgets a death inside", "passage/deaths.c",
     "        keep(cold, generation);\n        atomic_store(&hot->inherited, 1);\n", "",
     "a place changes its owner", 1, 1, "were told"),
    ("a death is told without a swap", "passage/deaths.c",
     "    const bool swapped = atomic_compare_exchange_strong(target, &seen, wanted);\n",
     "    atomic_store(target, wanted);\n    const bool swapped = true;\n",
     "readers and a writer", 3, 1, "were told"),
    ("a claimer forgets the number", "file/claim.c",
     "was = atomic_load(&hot->word), is = protocol->dead(0, was);", "was = 0, is = 0;",
     "a place changes its owner", 1, 0, "fence"),
    ("who claims a place does not swap its life", "file/claim.c",
     "return atomic_compare_exchange_strong(&hot->life, &seen, claimed_after(seen)) ? 0 : TAKEN;",
     "atomic_store(&hot->life, claimed_after(seen));\n    return 0;",
     "two open", 1, 0, ""),
]

FLAGS = ["-O1", "-g", "-std=gnu11", "-D_GNU_SOURCE", "-DMEMORY_ACCESS_POINTS", "-pthread"]


def judge(root, compiler, objects, mutant):
    """None if it is refuted, else why not."""
    name, file, text, instead, scene, preemptions, kills, finding = mutant
    source = (root / "src/memory" / file).read_text()
    if source.count(text) != 1:
        return f"{name}: the text stands {source.count(text)} times in {file}, not once"
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder) / pathlib.Path(file).name
        changed.write_text(source.replace(text, instead))
        program = pathlib.Path(folder) / "schedules"
        others = [str(made) for origin, made in objects.items() if origin != root / "src/memory" / file]
        subprocess.run([*compiler, *FLAGS, f"-I{root}/src", f"-I{root}/include", f"-I{root}/src/memory/{pathlib.Path(file).parent}",
                        str(changed), *others, "-Wl,--wrap=syscall", "-Wl,--wrap=clock_nanosleep", "-w", "-o", str(program)], check=True)
        run = subprocess.run([str(program), "--scene", scene, "--preemptions", str(preemptions), "--kills", str(kills), "--random", str(RUNS)],
                             capture_output=True, text=True, check=False)
    if run.returncode == 1 and finding in run.stderr:
        return None
    return f"{name}: {scene!r} was to find {finding!r}; exit {run.returncode}, {run.stdout}{run.stderr}"


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["cc"]
    sources = [source for source in sorted((root / "src/memory").rglob("*.c")) if source.name != "spin.c"]
    sources += sorted((root / "tests/schedule").glob("*.c"))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = {source: pathlib.Path(folder) / f"{at}.o" for at, source in enumerate(sources)}

        def compile_one(item):
            subprocess.run([*compiler, *FLAGS, f"-I{root}/src", f"-I{root}/include", "-c", str(item[0]), "-o", str(item[1])], check=True)

        list(pool.map(compile_one, objects.items()))
        verdicts = list(pool.map(lambda mutant: judge(root, compiler, objects, mutant), MUTANTS))
    for mutant, verdict in zip(MUTANTS, verdicts):
        print(f"refuted: {mutant[0]}" if verdict is None else f"NOT REFUTED: {verdict}")
    return any(verdicts)


if __name__ == "__main__":
    sys.exit(main())
