# SPDX-License-Identifier: MIT
"""A sample of the mutants, as a test: these are killed, this one survives and is noticed, and the lists are true."""
import judge
import mutants
import mutator
import report

# Of each kind of change one at least: file, and the mutant's name in it.
KILLED = [
    ("registers/pair.h", "pair_enter: delete `READ(C, my->U, S(j));`"),
    ("registers/pair.h", "pair_enter: late `[WRITE] (B, S(` to `WRITE_LATE`"),
    ("registers/pair.h", "pair_enter: swap `READ(C, my->U, S(j));` and `if (my->U != PAIR_D) WRITE(D, S(i … air_plus(my->U));`"),
    ("registers/pair.h", "pair_enter: clause `my->U == pair_plus(my->s)` of"
     " `my->U == PAIR_D || my->U == pair_plus(my->s) | … == 0 && my->U == my->s)`"),
    ("registers/pair.h", "pair_plus: constant `return (word)(value == [3] ? 1 : value +` to `4`"),
    ("registers/bakery.h", "bakery_before: compare `return number_i [<] number_j || (number_i ==` to `<=`"),
    ("registers/bakery.h", "bakery_run: negate `bakery_first(at, w, my->j, my->first, without)`"),
    ("registers/region.h", "region_run: jump break to continue"),
    ("messages/ricart_agrawala.c",
     "ricart_agrawala_defers: always `if (my.node->status == NODE_INSIDE && !(my.nod … SIDE_TEST)) return true;`"),
    ("messages/ricart_agrawala.c", "ricart_agrawala_step: delete `break;` (5)"),
]
# Likewise, but only the row is put to it that was added for its sake.
KILLED_BY = [
    ("registers/courtesy/courtesy_parts.h", "courtesy_scan: delete `if (!registers_rival(at, my->j)) continue;`", "courtesy -n 2 --strangers"),
    ("registers/courtesy/courtesy_parts.h", "courtesy_passes_too_often: constant `at, most) >= oldest - [1u] + registers_overtake(at)` to `0u`",
     "courtesy -n 2 --overtake 2"),
    ("registers/courtesy/courtesy_parts.h", "courtesy_glance: compare `if (courtesy_number(w) [>=] my->most) my` to `>`",
     "courtesy -n 3 --fences --no-deaths --passages 1"),
    ("registers/courtesy/courtesy_parts.h", "courtesy_scan: clause `courtesy_heeds(at, w, without)` of"
     " `courtesy_state(w) == COURTESY_RETAINED && cour … sy_heeds(at, w, without)`", "courtesy-retain -n 2 --modes shared"),
    ("registers/courtesy/courtesy.h", "courtesy_run_alone: clause `registers_mode(at) == courtesy_mode(registers_own(at, 0))` of"
     " `!registers_conditional(at) && registers_mode(a … de(registers_own(at, 0))`", "courtesy-retain -n 2 --modes both --no-deaths --passages 2"),
    ("registers/courtesy/courtesy_retain.h",
     "courtesy_again: never `if (my->recalled != registers_own(at, COURTESY … gisters_self(at)), 0); }`", "courtesy-retain -n 2 --aborts"),
]
# Survives, and stands in the list for it.
SURVIVOR = ("registers/pair.h", "pair_enter: compare `my->s) || (i [==] 0 && my->U` to `!=`")


def judged(file, names, build, compiler, alone=None):
    of_file = judge.Judge(file, build, compiler, by_rows_alone=True, alone=alone)
    found = {mutant.name: mutant for mutant in mutator.mutants_of(of_file.text)}
    for name in names:
        if name not in found:
            yield report.Judged(f"{file} {name}", 0, None)
        else:
            yield report.Judged(f"{file} {name}", found[name].line, of_file.judge(found[name]))


def failures(build, compiler, listed):
    """What went wrong, a line each."""
    failed = []
    groups = [(file, [name for of, name in KILLED if of == file], None) for file in dict.fromkeys(file for file, _ in KILLED)]
    groups += [(file, [name], row) for file, name, row in KILLED_BY]
    for file, names, alone in groups:
        for one in judged(file, names, build, compiler, alone):
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
