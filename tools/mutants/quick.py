# SPDX-License-Identifier: MIT
"""A sample of the mutants, as a test: these are killed, this one survives and is noticed, and the lists are true."""
import judge
import mutants
import mutator
import report

# Of each kind of change one at least: file, and the mutant's name in it.
KILLED = []
# Survives, and stands in the list for it.
SURVIVOR = None


def judged(file, names, build, compiler):
    of_file = judge.Judge(file, build, compiler)
    found = {mutant.name: mutant for mutant in mutator.mutants_of(of_file.text)}
    for name in names:
        if name not in found:
            yield report.Judged(f"{file} {name}", 0, None)
        else:
            yield report.Judged(f"{file} {name}", found[name].line, of_file.judge(found[name]))


def failures(build, compiler, listed):
    """What went wrong, a line each."""
    failed = []
    for file in dict.fromkeys(file for file, _ in KILLED):
        for one in judged(file, [name for of, name in KILLED if of == file], build, compiler):
            print(f"{one.verdict.what if one.verdict else 'gone'}: {one.name}: {one.verdict.found if one.verdict else ''}", flush=True)
            if not one.verdict or one.verdict.what != judge.KILLED:
                failed.append(f"must be killed: {one.name}: {one.verdict.what if one.verdict else 'no such mutant; write it anew'}")
    file, name = SURVIVOR
    groups = {file: list(judged(file, [name], build, compiler))}
    print(f"{groups[file][0].verdict.what}: {groups[file][0].name}")
    if list(mutants.complaints(groups, listed)):
        failed.append(f"must survive, and be listed: {file} {name}")
    if not list(mutants.complaints(groups, {})):
        failed.append(f"a survivor without a reason went unnoticed: {file} {name}")
    return failed
