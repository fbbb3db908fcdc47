# SPDX-License-Identifier: MIT
"""The language of proofs/*.proof: a transition system, its inductive invariant and what follows from it.

A text is read into one `Proof`; smt.py makes obligations of it for a solver, c_code.py makes C of it for the checker. Formulas are
tuples: ("number", 3), ("truth", True), ("name", "a"), ("call", "past", (x, y)), ("op", "and", (x, y)), ("if", c, x, y) and
("forall", ("b",), x). docs/proofs.md tells what the words mean.
"""
import re

TOKEN = re.compile(r"\s*(?:(\d+)|([A-Za-z_]\w*)|(<=>|=>|:=|!=|<=|>=|[=<>+\-(),:{}*|]))")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=", "in")
RESERVED = {"and", "or", "not", "in", "if", "then", "else", "forall", "true", "false", "max"}


class Wrong(Exception):
    """What is wrong with a text, and where."""


class Variable:
    def __init__(self, kind, types, result):
        self.kind, self.types = kind, types  # kind: public, private or ghost
        self.counts = result == "count"  # a number that no search makes smaller
        self.result = "number" if self.counts else result


class Step:
    """One indivisible act: `when` it may be done, what it `promises` of that moment, and what it assigns."""

    def __init__(self, name, parameters):
        self.name, self.parameters = name, parameters
        self.when, self.promises, self.then = [], [], []


class Proof:
    def __init__(self, name):
        self.name = name
        self.types = {"place": None, "mode": None, "number": None, "truth": None}  # enumerations have their values
        self.values = {}  # of enumerations, each with its type
        self.any = {}  # variables of formulas, each with its type
        self.givens, self.axioms, self.without = {}, [], []
        self.variables, self.definitions, self.memories = {}, {}, {}
        self.initially, self.steps, self.invariants, self.goals = [], [], [], []

    def signature(self, name):
        """The types of what is applied, and of what comes out; None if there is no such thing."""
        if name in self.variables:
            return self.variables[name].types, self.variables[name].result
        return self.givens.get(name)

    def free(self, formula, bound=()):
        """The variables of a formula that stand for anything, in the order in which they occur."""
        found = []
        if formula[0] == "name" and formula[1] in self.any and formula[1] not in bound:
            found.append(formula[1])
        inner = tuple(bound) + (formula[1] if formula[0] == "forall" else ())
        for part in parts(formula):
            found += [name for name in self.free(part, inner) if name not in found]
        return list(dict.fromkeys(found))


def parts(formula):
    if formula[0] in ("call", "op"):
        return formula[2]
    if formula[0] == "if":
        return formula[1:]
    return (formula[2],) if formula[0] == "forall" else ()


def rebuilt(formula, change):
    """The same formula with each of its parts changed."""
    if formula[0] in ("call", "op"):
        return formula[0], formula[1], tuple(change(part) for part in formula[2])
    if formula[0] == "if":
        return ("if",) + tuple(change(part) for part in formula[1:])
    return ("forall", formula[1], change(formula[2])) if formula[0] == "forall" else formula


def substituted(formula, meaning):
    """The formula with names replaced by what they mean."""
    if formula[0] == "name":
        return meaning.get(formula[1], formula)
    if formula[0] == "forall":
        meaning = {name: what for name, what in meaning.items() if name not in formula[1]}
    return rebuilt(formula, lambda part: substituted(part, meaning))


def mentions(formula):
    """Names of all that is applied or named in it."""
    own = {formula[1]} if formula[0] in ("name", "call") else set()
    return own.union(*(mentions(part) for part in parts(formula)))


class Reader:
    """Reads one formula, or one assignment, from a line of tokens."""

    def __init__(self, proof, text, where):
        self.proof, self.text, self.where, self.at = proof, text, where, 0
        self.tokens = []
        position = 0
        while text[position:].strip():
            found = TOKEN.match(text, position)
            if not found:
                raise Wrong(f"{where}: cannot read {text[position:].strip()!r}")
            self.tokens.append(found.group(1) or found.group(2) or found.group(3))
            position = found.end()

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, expected=None):
        token = self.peek()
        if token is None or (expected and token != expected):
            raise Wrong(f"{self.where}: expected {expected or 'more'}, found {token or 'the end'} in {self.text.strip()!r}")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def whole(self, result="truth"):
        formula = self.formula()
        if self.peek() is not None:
            raise Wrong(f"{self.where}: {self.peek()!r} is left over in {self.text.strip()!r}")
        check(self.proof, formula, result, self.where)
        return formula

    def formula(self):
        left = self.implication()
        while self.accept("<=>"):
            left = ("op", "<=>", (left, self.implication()))
        return left

    def implication(self):
        left = self.chain("or", lambda: self.chain("and", self.negation))
        return ("op", "=>", (left, self.implication())) if self.accept("=>") else left

    def chain(self, word, inner):
        all_parts = [inner()]
        while self.accept(word):
            all_parts.append(inner())
        return all_parts[0] if len(all_parts) == 1 else ("op", word, tuple(all_parts))

    def negation(self):
        return ("op", "not", (self.negation(),)) if self.accept("not") else self.comparison()

    def comparison(self):
        left = self.sum()
        if self.peek() not in COMPARISONS:
            return left
        word = self.take()
        if word != "in":
            return "op", word, (left, self.sum())
        self.take("{")
        values = [self.sum()]
        while self.accept(","):
            values.append(self.sum())
        self.take("}")
        equal = tuple(("op", "=", (left, value)) for value in values)
        return equal[0] if len(equal) == 1 else ("op", "or", equal)

    def sum(self):
        left = self.term()
        while self.peek() in ("+", "-"):
            left = ("op", self.take(), (left, self.term()))
        return left

    def term(self):
        if self.accept("("):
            inner = self.formula()
            self.take(")")
            return inner
        token = self.take()
        if token.isdigit():
            return "number", int(token)
        if token in ("true", "false"):
            return "truth", token == "true"
        if token == "if":
            condition = self.formula()
            self.take("then")
            chosen = self.formula()
            self.take("else")
            return "if", condition, chosen, self.formula()
        if token == "forall":
            names = self.names()
            self.take(":")
            return "forall", names, self.formula()
        if not re.match(r"[A-Za-z_]\w*$", token) or (token in RESERVED and token != "max"):
            raise Wrong(f"{self.where}: unexpected {token!r} in {self.text.strip()!r}")
        if self.peek() != "(":
            return self.named(token)
        return self.applied(token, self.arguments())

    def names(self):
        found = [self.take()]
        while self.accept(","):
            found.append(self.take())
        return tuple(found)

    def arguments(self):
        self.take("(")
        found = [self.formula()]
        while self.accept(","):
            found.append(self.formula())
        self.take(")")
        return tuple(found)

    def named(self, token):
        if token in self.proof.definitions:
            return self.applied(token, ())
        return "name", token

    def applied(self, token, arguments):
        if token == "max":
            left, right = arguments
            return "if", ("op", ">=", (left, right)), left, right
        if token not in self.proof.definitions:
            return "call", token, arguments
        names, body = self.proof.definitions[token]
        if len(names) != len(arguments):
            raise Wrong(f"{self.where}: {token} takes {len(names)} arguments")
        return substituted(body, dict(zip(names, arguments)))


def check(proof, formula, expected, where):
    """Complains unless the formula has that type; `expected` None: any. Returns its type."""
    found = type_of(proof, formula, where)
    if expected is not None and found != expected:
        raise Wrong(f"{where}: {formula} is a {found}, not a {expected}")
    return found


def type_of(proof, formula, where):
    kind = formula[0]
    if kind in ("number", "truth"):
        return kind
    if kind == "name":
        name = formula[1]
        if name in proof.values or name in proof.any:
            return proof.values.get(name) or proof.any[name]
        if name in proof.without:
            return "truth"
        if proof.signature(name) and not proof.signature(name)[0]:
            return proof.signature(name)[1]
        raise Wrong(f"{where}: {name} is not declared")
    if kind == "call":
        signature = proof.signature(formula[1])
        if not signature or len(signature[0]) != len(formula[2]):
            raise Wrong(f"{where}: {formula[1]} is not declared with {len(formula[2])} arguments")
        for part, expected in zip(formula[2], signature[0]):
            check(proof, part, expected, where)
        return signature[1]
    if kind == "if":
        check(proof, formula[1], "truth", where)
        return check(proof, formula[3], check(proof, formula[2], None, where), where)
    if kind == "forall":
        return check(proof, formula[2], "truth", where)
    word, operands = formula[1], formula[2]
    if word in ("and", "or", "not", "=>", "<=>"):
        inner, result = "truth", "truth"
    elif word in ("=", "!="):
        inner, result = check(proof, operands[0], None, where), "truth"
    else:
        inner, result = "number", "number" if word in "+-" else "truth"
    for part in operands:
        check(proof, part, inner, where)
    return result


def blocks_of(text):
    """(line number, lines) of every block: a line at the margin, and those indented below it."""
    block = None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].rstrip()
        if not line:
            continue
        if line[0] != " ":
            if block:
                yield block
            block = (number, [line])
        elif block:
            block[1].append(line)
        else:
            raise Wrong(f"line {number}: an indented line at the beginning")
    if block:
        yield block


def items_of(lines):
    """Lines that stand as far to the right as the first begin an item; those further to the right go on with it."""
    items = []
    column = len(lines[0]) - len(lines[0].lstrip())
    for line in lines:
        if items and len(line) - len(line.lstrip()) > column:
            items[-1] += " " + line.strip()
        else:
            items.append(line.strip())
    return items


def sections_of(lines):
    """A step's sections: (word, items) for `when`, `promises` and `then`."""
    found = []
    for line in lines:
        word = re.match(r"(\s+)(when|promises|then)(\s+)", line)
        if word:
            found.append((word.group(2), [" " * word.end() + line[word.end():]]))
        elif found:
            found[-1][1].append(line)
        else:
            raise Wrong(f"a step begins with when, promises or then: {line.strip()!r}")
    return [(word, items_of(lines)) for word, lines in found]


def typed(proof, text, where):
    """Names with types: "a, b, m" by what they stand for."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in proof.any:
            raise Wrong(f"{where}: {name} stands for nothing: say `for any {name}: TYPE` first")
    return [(name, proof.any[name]) for name in names]


def declared(proof, text, where, results=()):
    """`name(type, type): type`, the last being truth if it is left out. It may be one of `results`, too."""
    found = re.match(r"(\w+)(?:\(([^)]*)\))?(?:\s*:\s*(\w+))?$", text.strip())
    if not found:
        raise Wrong(f"{where}: cannot read the declaration {text.strip()!r}")
    types = [name.strip() for name in (found.group(2) or "").split(",") if name.strip()]
    result = found.group(3) or "truth"
    for name in types + [result]:
        if name not in proof.types and name not in results:
            raise Wrong(f"{where}: there is no type {name}")
    return found.group(1), types, result


def read_assignment(proof, text, where):
    """`f(x, *) := value`; the star, or a variable that is no parameter, stands for every value."""
    left, sign, right = text.partition(":=")
    found = re.match(r"\s*(\w+)\((.*)\)\s*$", left)
    if not sign or not found or found.group(1) not in proof.variables:
        raise Wrong(f"{where}: {text.strip()!r} assigns nothing that is declared")
    variable = proof.variables[found.group(1)]
    texts = re.split(r",(?![^()]*\))", found.group(2))  # commas outside of parentheses
    arguments = tuple(None if part.strip() == "*" else Reader(proof, part, where).whole(kind)
                      for part, kind in zip(texts, variable.types))
    if len(arguments) != len(variable.types):
        raise Wrong(f"{where}: {found.group(1)} takes {len(variable.types)} arguments")
    return found.group(1), arguments, Reader(proof, right, where).whole(variable.result)


def read_forgetting(proof, text, where):
    """`forget scan(a)`: everything that the memory `scan` lists is as it was at first."""
    found = re.match(r"forget (\w+)\((\w+)\)$", text)
    if not found:
        return []
    if found.group(1) not in proof.memories:
        raise Wrong(f"{where}: there is no memory {found.group(1)}")
    place = Reader(proof, found.group(2), where).whole("place")
    forgotten = []
    for name in proof.memories[found.group(1)]:
        variable = proof.variables[name]
        values = proof.types[variable.result]
        nothing = ("name", values[0]) if values else ("truth", False) if variable.result == "truth" else ("number", 0)
        forgotten.append((name, (place,) + (None,) * (len(variable.types) - 1), nothing))
    return forgotten


def named_formula(proof, text, where):
    name, colon, formula = text.partition(":")
    if not colon or not re.match(r"[a-z][\w-]*$", name.strip()):
        raise Wrong(f"{where}: expected `name: formula`, found {text.strip()!r}")
    return name.strip(), Reader(proof, formula, where).whole()


def read_step(proof, head, lines, where):
    found = re.match(r"(\w+)\(([^)]*)\)$", head)
    if not found:
        raise Wrong(f"{where}: expected step name(parameters), found {head!r}")
    step = Step(found.group(1), typed(proof, found.group(2), where))
    for word, items in sections_of(lines):
        if word == "when":
            step.when += [Reader(proof, item, where).whole() for item in items]
        elif word == "promises":
            step.promises += [named_formula(proof, item, where) for item in items]
        else:
            for item in items:
                step.then += read_forgetting(proof, item, where) or [read_assignment(proof, item, where)]
    judge_ghosts(proof, step, where)
    proof.steps.append(step)


def judge_ghosts(proof, step, where):
    """A ghost remembers, and decides nothing: no step asks it, and no variable that is none takes its value."""
    ghosts = {name for name, variable in proof.variables.items() if variable.kind == "ghost"}
    asked = set().union(*(mentions(part) for part in step.when))
    for name, _, value in step.then:
        if name not in ghosts:
            asked |= mentions(value)
    if asked & ghosts:
        raise Wrong(f"{where}: {step.name} asks the ghost {', '.join(sorted(asked & ghosts))}")


def read_block(proof, lines, where):
    word, _, rest = lines[0].partition(" ")
    body = " ".join([rest] + lines[1:])
    if word == "type":
        name, _, values = body.partition("=")
        proof.types[name.strip()] = [value.strip() for value in values.split("|")]
        proof.values.update((value, name.strip()) for value in proof.types[name.strip()])
    elif word == "for":
        names, _, kind = re.sub(r"^any ", "", body).partition(":")
        proof.any.update((name.strip(), kind.strip()) for name in names.split(","))
    elif word == "given":
        name, types, result = declared(proof, body, where)
        proof.givens[name] = (types, result)
    elif word == "where":
        proof.axioms.append(Reader(proof, body, where).whole())
    elif word == "without":
        proof.without += ["without_" + name.strip() for name in body.split(",")]
    elif word in ("public", "private", "ghost"):
        name, types, result = declared(proof, body, where, ["count"])
        proof.variables[name] = Variable(word, types, result)
    elif word == "memory":
        name, _, names = body.partition("=")
        proof.memories[name.strip()] = [one.strip() for one in names.split(",")]
        for one in proof.memories[name.strip()]:
            if one not in proof.variables:
                raise Wrong(f"{where}: {one} is not declared")
    elif word == "let":
        head, _, formula = body.partition("=")
        found = re.match(r"(\w+)(?:\(([^)]*)\))?$", head.strip())
        reader = Reader(proof, formula, where)
        meaning = reader.formula()
        check(proof, meaning, None, where)
        proof.definitions[found.group(1)] = ([name for name, _ in typed(proof, found.group(2) or "", where)], meaning)
    elif word == "initially":
        proof.initially += [Reader(proof, item, where).whole() for item in items_of(lines[1:])]
    elif word == "step":
        read_step(proof, rest.strip(), lines[1:], where)
    elif word in ("invariant", "goal"):
        (proof.invariants if word == "invariant" else proof.goals).append(named_formula(proof, body, where))
    else:
        raise Wrong(f"{where}: what is {word!r}?")


def read(name, text):
    """The proof that a text states. Raises Wrong."""
    proof = Proof(name)
    for number, lines in blocks_of(text):
        try:
            read_block(proof, lines, f"{name}.proof:{number}")
        except Wrong:
            raise
        except (ValueError, IndexError, AttributeError) as error:
            raise Wrong(f"{name}.proof:{number}: cannot read {lines[0]!r} ({error})") from error
    return proof
