# SPDX-License-Identifier: MIT
"""A proof as C, for the checker: what the solver proves is what the search evaluates.

Each variable is an array of `struct NAME_view`; ghosts come last. Each invariant, each step's condition, promises and assignments are a
function; `struct proof` (tests/proofs/tie.h) lists them. What is `given` is a function given_NAME of whoever includes the file.
"""

from prover.language import mentions

WORDS = {"and": "&&", "or": "||", "=": "==", "<=>": "=="}
BOUNDS = {"place": "tie_places", "mode": "tie_modes"}
ROOM = {"place": "TIE_PLACES", "mode": "TIE_MODES"}


def expression(proof, formula, view="v"):
    kind = formula[0]
    if kind == "number":
        return str(formula[1])
    if kind == "truth":
        return str(int(formula[1]))
    if kind == "name":
        name = formula[1]
        if name in proof.values:
            return f"{proof.values[name]}_{name}".upper()
        return f"given_{name}()" if name in proof.givens else name
    operands = [expression(proof, part, view) for part in (formula[2] if kind in ("call", "op") else formula[1:])
                if kind != "forall"]
    if kind == "if":
        return f"({operands[0]} ? {operands[1]} : {operands[2]})"
    if kind == "call":
        if formula[1] in proof.givens:
            return f"given_{formula[1]}({', '.join(operands)})"
        return f"{view}->{formula[1]}" + "".join(f"[{operand}]" for operand in operands)
    word = formula[1]
    if word == "not":
        return f"!{operands[0]}"
    if word == "=>":
        return f"(!{operands[0]} || {operands[1]})"
    return "(" + f" {WORDS.get(word, word)} ".join(operands) + ")"


def tested(proof, formula, bound):
    """Statements that return false unless the formula holds for all that its variables may be."""
    while formula[0] == "forall":
        formula = formula[2]
    lines, indent = [], "    "
    for name in proof.free(formula, bound):
        lines.append(f"{indent}for (int {name} = 0; {name} < {BOUNDS[proof.any[name]]}; {name}++)")
        indent += "    "
    return lines + [f"{indent}if (!{expression(proof, formula)})", f"{indent}    return 0;"]


def function(head, body):
    return [f"static int {head}", "{", *body, "    return 1;", "}", ""]


def parameters(step):
    lines = [f"    const int {name} = p[{at}];" for at, (name, _) in enumerate(step.parameters)]
    return lines + ["    (void)v;", "    (void)p;"] + [f"    (void){name};" for name, _ in step.parameters]


def assigned(proof, step):
    """The assignments of a step, all by the values before it. An index that is left open is a loop."""
    lines = []
    for at, (name, arguments, value) in enumerate(step.then):
        bound = [parameter for parameter, _ in step.parameters]
        indent, indices = "    ", []
        for which, (argument, kind) in enumerate(zip(arguments, proof.variables[name].types)):
            free = argument and argument[0] == "name" and argument[1] in proof.any and argument[1] not in bound
            if argument is not None and not free:
                indices.append(expression(proof, argument))
                continue
            index = argument[1] if free else f"i{at}_{which}"
            lines.append(f"{indent}for (int {index} = 0; {index} < {BOUNDS[kind]}; {index}++)")
            indent += "    "
            indices.append(index)
        lines.append(f"{indent}to->{name}" + "".join(f"[{index}]" for index in indices) + f" = {expression(proof, value)};")
    return lines


def view(proof):
    for name, values in proof.types.items():
        if values:
            yield f"enum {{ {', '.join(f'{name}_{value}'.upper() for value in values)} }};"
    for name in proof.without:
        yield f"static int {name};"
    yield f"struct {proof.name}_view {{"
    ordered = sorted(proof.variables.items(), key=lambda one: one[1].kind == "ghost")
    for name, variable in ordered:
        yield f"    int {name}" + "".join(f"[{ROOM[kind]}]" for kind in variable.types) + ";"
    yield "};"
    ghosts = [name for name, variable in ordered if variable.kind == "ghost"]
    size = f"offsetof(struct {proof.name}_view, {ghosts[0]})" if ghosts else f"sizeof(struct {proof.name}_view)"
    yield f"enum {{ {proof.name.upper()}_SHOWN = {size} }};"
    yield ""


def body(proof):
    kind = f"struct {proof.name}_view"
    for name, formula in [("initially", None)] + proof.invariants + proof.goals:
        tests = proof.initially if formula is None else [formula]
        identifier = name.replace("-", "_") if formula is None else f"holds_{name.replace('-', '_')}"
        yield from function(f"{identifier}(const void *view)",
                            [f"    const {kind} *v = view;"] + [line for test in tests for line in tested(proof, test, [])])
    for step in proof.steps:
        bound = [name for name, _ in step.parameters]
        head = [f"    const {kind} *v = view;"] + parameters(step)
        yield from function(f"when_{step.name}(const void *view, const int *p)",
                            head + [line for test in step.when for line in tested(proof, test, bound)])
        for name, formula in step.promises:
            yield from function(f"promises_{step.name}_{name.replace('-', '_')}(const void *view, const int *p)",
                                head + tested(proof, formula, bound))
        yield from function(f"then_{step.name}(const void *view, const int *p, void *out)",
                            head + [f"    {kind} *to = out;", "    *to = *v;"] + assigned(proof, step))


def tables(proof):
    numeric = {name for name, one in proof.variables.items() if one.kind == "ghost" and one.result == "number" and not one.counts}

    def row(name, formula, function_name):
        return f'{{"{name}", {function_name}, {int(bool(mentions(formula) & numeric))}}}, '

    for step in proof.steps:
        rows = "".join(row(f"{step.name}: {name}", formula, f"promises_{step.name}_{name.replace('-', '_')}")
                       for name, formula in step.promises)
        yield f"static const struct tie_promise promised_{step.name}[] = {{{rows}{{NULL, NULL, 0}}}};"
    yield "static const struct tie_step steps[] = {"
    for step in proof.steps:
        kinds = "".join(kind[0] for _, kind in step.parameters)
        yield f'    {{"{step.name}", "{kinds}", when_{step.name}, then_{step.name}, promised_{step.name}}},'
    yield "    {NULL, NULL, NULL, NULL, NULL}};"
    yield "static const struct tie_invariant invariants[] = {"
    for name, formula in proof.invariants + proof.goals:
        yield "    " + row(name, formula, f"holds_{name.replace('-', '_')}")
    yield "    {NULL, NULL, 0}};"
    yield "static const struct tie_variable variables[] = {"
    for name, variable in proof.variables.items():
        kinds = "".join(kind[0] for kind in variable.types)
        yield f'    {{"{name}", offsetof(struct {proof.name}_view, {name}), "{kinds}", {int(name in numeric)}}},'
    yield "    {NULL, 0, NULL, 0}};"
    yield "static const struct tie_part parts_left_out[] = {"
    for name in proof.without:
        yield f'    {{"{name.partition("_")[2]}", &{name}}},'
    yield "    {NULL, NULL}};"
    yield f"""static const struct proof proof = {{
    .name = "{proof.name}",
    .size = sizeof(struct {proof.name}_view),
    .shown = {proof.name.upper()}_SHOWN,
    .initially = initially,
    .steps = steps,
    .invariants = invariants,
    .variables = variables,
    .parts = parts_left_out}};"""


def written(proof):
    head = [f"/* Made of proofs/{proof.name}.proof by tools/prove.py --c. */", ""]
    return "\n".join(head + list(view(proof)) + list(body(proof)) + list(tables(proof))) + "\n"
