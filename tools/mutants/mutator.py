# SPDX-License-Identifier: MIT
"""Every small change of a text in the protocols' dialect of C, one at a time.

The dialect is small: no macros are looked into, and a word of protocols/language/registers.h is read as a call. So the text is
cut into tokens, functions into statements, expressions into clauses; all else is left as it stands. What depends on a rule of
`without` is left alone, for that is how the checker's own mutants are made. What is changed:

  delete    a statement is left out; an `if` with all that hangs on it, a loop with its body
  always    the condition of an `if` is left out, and its body stays; never: what hangs on `else` stays
  negate    a condition (if, while, for, ?:, the test of AWAIT) is turned round
  clause    one side of && or || is left out
  compare   < and <=, > and >=, == and != change places; < and > are turned round
  constant  a number is one more or one less; true and false change places
  swap      two neighbouring statements change places
  late      WRITE becomes WRITE_LATE, and back
  jump      break becomes continue, and back
"""
import collections
import re

TOKEN = re.compile(r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>(?m:^)\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<number>0[xX][0-9a-fA-F]+\w*|[0-9]\w*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\.\.\.|[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL)

Token = collections.namedtuple("Token", "kind text start end")
# name: where (the function, or "the head" of the file) and what is changed, without line numbers, which come and go; text: the whole file.
Mutant = collections.namedtuple("Mutant", "kind name text line")
# Tokens [first, after); kind is the statement's first word, or "expression", "declaration", "label", or "word":
# one of the language that does nothing when it runs.
Statement = collections.namedtuple("Statement", "kind first after condition parts")

OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
JUMPS = {"return", "break", "continue", "goto"}
COMPARED = {"<": ("<=", ">"), "<=": ("<",), ">": (">=", "<"), ">=": (">",), "==": ("!=",), "!=": ("==",)}
# What ends a clause on its own level, besides brackets and commas.
BETWEEN = {",", ";", "?", ":", "=", "|=", "&=", "+=", "-=", "return"}
# A rule that the checker may leave out, and nobody else: false in all that ships.
RULE = r"(?:rules\.without|without)\.\w+|rules\.(?!precedence\b|padding\b|without\b)\w+|(?:my\.node|my|how|link)->without & \w+"
IS_RULE, IS_NO_RULE = re.compile(RULE), re.compile(rf"!(?:{RULE})|!\((?:{RULE})\)")
TYPES = {"const", "static", "unsigned", "int", "bool", "word", "struct", "enum", "size_t", "uint64_t", "uint32_t", "uint8_t", "clock_position",
         "place_number", "place_set"}


def tokens_of(text):
    """The tokens that mean something, comments and white space left out."""
    return [Token(match.lastgroup, match.group(), match.start(), match.end())
            for match in TOKEN.finditer(text) if match.lastgroup != "space"]


def meaning(text):
    """The text without comments and layout: what a cache goes by."""
    return " ".join(token.text for token in tokens_of(text))


class Reader:
    """Statements of one file."""

    def __init__(self, text):
        self.text, self.tokens = text, tokens_of(text)
        self.partner = {}
        opened = []
        for at, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPENS:
                opened.append(at)
            elif token.text in CLOSES:
                begun = opened.pop()
                if OPENS[self.tokens[begun].text] != token.text:
                    raise ValueError(f"brackets do not match at {token.start}")
                self.partner[begun], self.partner[at] = at, begun

    def is_sign(self, at, sign):
        return at < len(self.tokens) and self.tokens[at].text == sign

    def functions(self):
        """Name, and the place of the brace that opens its body."""
        at = 0
        while at < len(self.tokens):
            if not self.is_sign(at, "{"):
                at += 1
                continue
            if self.is_sign(at - 1, ")"):
                yield self.tokens[self.partner[at - 1] - 1].text, at
            at = self.partner[at] + 1

    def block(self, at):
        """The statements between the brace at `at` and its partner."""
        found, end = [], self.partner[at]
        at += 1
        while at < end:
            statement = self.statement(at)
            found.append(statement)
            at = statement.after
        return found

    def statement(self, at):
        word = self.tokens[at].text
        if word == "{":
            return Statement("block", at, self.partner[at] + 1, None, [self.block(at)])
        if word in ("if", "while", "for", "switch"):
            return self.governing(at, word)
        if word == "do":
            body = self.statement(at + 1)
            closed = self.partner[body.after + 1]
            return Statement("do", at, closed + 2, (body.after + 2, closed), [[body]])
        if word in ("case", "default"):
            while not self.is_sign(at, ":"):
                at += 1
            return Statement("label", at, at + 1, None, [])
        if self.tokens[at].kind == "name" and self.is_sign(at + 1, ":"):
            return Statement("label", at, at + 2, None, [])
        if word in ("PASSAGE_BEGIN", "PASSAGE_END"):
            return Statement("word", at, at + 1, None, [])
        if word in ("QUEUE", "STEP"):
            return self.simple(at, word)._replace(kind="word")
        return self.simple(at, word)

    def governing(self, at, word):
        closed = self.partner[at + 1]
        condition = (at + 2, closed)
        if word == "for":
            semicolons = [i for i in range(at + 2, closed) if self.is_sign(i, ";")]
            condition = (semicolons[0] + 1, semicolons[1]) if len(semicolons) == 2 and semicolons[0] + 1 < semicolons[1] else None
        elif word == "switch":
            condition = None
        body = self.statement(closed + 1)
        parts, after = [[body]], body.after
        if word == "if" and self.is_sign(after, "else"):
            other = self.statement(after + 1)
            parts, after = parts + [[other]], other.after
        return Statement(word, at, after, condition, parts)

    def simple(self, at, word):
        first = at
        while not self.is_sign(at, ";"):
            at = self.partner[at] if self.tokens[at].text in OPENS else at
            at += 1
        second = self.tokens[first + 1]
        declares = word in TYPES or (self.tokens[first].kind == "name" and second.kind == "name" and word not in JUMPS)
        return Statement(word if word in JUMPS else "declaration" if declares else "expression", first, at + 1, None, [])


class Mutator(Reader):
    """All mutants of one file."""

    def __init__(self, text):
        super().__init__(text)
        self.where, self.found, self.alike, self.left_alone = "the head", [], collections.Counter(), set()
        self.kept = set()  # where a last return stands: without it a function would have no value

    def mutants(self):
        at = 0
        for name, brace in self.functions():
            self.constants(at, brace)
            self.where = name
            block = self.block(brace)
            if block and block[-1].kind == "return":
                self.kept.add(block[-1].first)
            self.statements(block)
            self.expressions(brace + 1, self.partner[brace])
            self.where = "the head"
            at = self.partner[brace] + 1
        self.constants(at, len(self.tokens))
        return self.found

    def words(self, first, after, most=70):
        """The tokens on one line, without comments, shortened in the middle."""
        line = ""
        for at in range(first, after):
            gap = at > first and self.tokens[at - 1].end < self.tokens[at].start
            line += (" " if gap else "") + self.tokens[at].text
        return line if len(line) <= most else f"{line[:most * 2 // 3].rstrip()} … {line[-most // 3:].lstrip()}"

    def change(self, kind, first, after, becomes, shown):
        """Tokens [first, after) become the text `becomes`; `shown` tells a reader."""
        if first in self.left_alone:
            return
        start, end = self.tokens[first].start, self.tokens[after - 1].end
        name = f"{self.where}: {kind} {shown}"
        self.alike[name] += 1
        self.found.append(Mutant(kind, name + (f" ({self.alike[name]})" if self.alike[name] > 1 else ""),
                                 self.text[:start] + becomes + self.text[end:], self.text.count("\n", 0, start) + 1))

    def replace(self, kind, at, becomes):
        """One token becomes another; shown with a little around it."""
        ends = {";", "{", "}"}
        first, after = at, at + 1
        while first > at - 7 and self.tokens[first - 1].text not in ends and self.tokens[first - 1].kind != "directive":
            first -= 1
        while after < min(at + 6, len(self.tokens)) and self.tokens[after].text not in ends:
            after += 1
        shown = f"{self.words(first, at)} [{self.tokens[at].text}] {self.words(at + 1, after)}".strip()
        self.change(kind, at, at + 1, becomes, f"`{shown}` to `{becomes}`")

    def source(self, first, after):
        return self.text[self.tokens[first].start:self.tokens[after - 1].end]

    def statements(self, block):
        for at, statement in enumerate(block):
            if statement.condition and IS_RULE.fullmatch(self.words(*statement.condition)):
                self.left_alone |= set(range(statement.first, statement.parts[0][0].after))
            shown = f"`{self.words(statement.first, statement.after)}`"
            if statement.kind not in ("block", "label", "word", "declaration") and statement.first not in self.kept:
                self.change("delete", statement.first, statement.after, ";", shown)
            ruled = statement.condition and IS_NO_RULE.fullmatch(self.words(*statement.condition))
            if statement.kind == "if" and not ruled:
                for which, part in enumerate(statement.parts):
                    self.change("never" if which else "always", statement.first, statement.after,
                                self.source(part[0].first, part[0].after), shown)
            if statement.condition and not ruled:
                self.negate(*statement.condition)
            if statement.kind in ("break", "continue"):
                becomes = "continue" if statement.kind == "break" else "break"
                self.change("jump", statement.first, statement.first + 1, becomes, f"{statement.kind} to {becomes}")
            if at + 1 < len(block):
                self.swap(statement, block[at + 1])
            for part in statement.parts:
                self.statements(part)

    def swap(self, one, other):
        if {one.kind, other.kind} & ({"label", "word", "declaration"} | JUMPS):
            return
        self.change("swap", one.first, other.after, self.source(other.first, other.after) + " " + self.source(one.first, one.after),
                    f"`{self.words(one.first, one.after, 50)}` and `{self.words(other.first, other.after, 50)}`")

    def negate(self, first, after):
        self.change("negate", first, after, f"!({self.source(first, after)})", f"`{self.words(first, after)}`")

    def expressions(self, first, after):
        at = first
        while at < after:
            token = self.tokens[at]
            if token.text in COMPARED:
                for becomes in COMPARED[token.text]:
                    self.replace("compare", at, becomes)
            elif token.text in ("WRITE", "WRITE_LATE") and self.is_sign(at + 1, "("):
                self.replace("late", at, "WRITE_LATE" if token.text == "WRITE" else "WRITE")
            elif token.text == "AWAIT" and self.is_sign(at + 1, "("):
                self.negate(self.last_argument(at + 1), self.partner[at + 1])
            elif token.text == "?":
                self.negate(self.begin_of(at), at)
            at += 1
        self.constants(first, after)
        self.clauses(first, after)

    def constants(self, first, after):
        for at in range(first, after):
            token = self.tokens[at]
            if [before.text for before in self.tokens[at - 4:at]] == ["registers_own", "(", "at", ","]:
                continue  # the name of a register
            if token.kind == "number" and self.tokens[self.begin_of_enumerator(at)].text.startswith("WITHOUT_"):
                continue  # the name of a rule
            if token.kind == "number":
                value, suffix = re.fullmatch(r"(0[xX][0-9a-fA-F]+|[0-9]+)(\w*)", token.text).groups()
                for changed in sorted({int(value, 0) + 1, int(value, 0) - 1} - {-1}):
                    self.replace("constant", at, f"{changed}{suffix}")
            elif token.text in ("true", "false"):
                self.replace("constant", at, "false" if token.text == "true" else "true")

    def begin_of_enumerator(self, at):
        while at > 0 and self.tokens[at - 1].text not in (",", "{", "}", ";"):
            at -= 1
        return at

    def last_argument(self, opened):
        at, begun = opened + 1, opened + 1
        while at < self.partner[opened]:
            if self.is_sign(at, ","):
                begun = at + 1
            at = self.partner[at] + 1 if self.tokens[at].text in OPENS else at + 1
        return begun

    def begin_of(self, at):
        """Where the expression begins that ends before `at`, on its own level."""
        while self.tokens[at - 1].text not in BETWEEN | set(OPENS):
            at -= 1
            if self.tokens[at].text in CLOSES:
                at = self.partner[at]
        return at

    def clauses(self, first, after):
        """Of each level of brackets, of each stretch between commas: what stands between || and, within that, between &&."""
        for begun, ended in self.levels(first, after):
            sides = self.split(begun, ended, "||")
            self.leave_out(sides)
            for side in sides:
                self.leave_out(self.split(*side, "&&"))

    def levels(self, first, after):
        begun, at = first, first
        while at < after:
            text = self.tokens[at].text
            if text in OPENS:
                yield from self.levels(at + 1, self.partner[at])
                at = self.partner[at]
                if text == "{":
                    begun = at + 1
            elif text in BETWEEN:
                yield begun, at
                begun = at + 1
            at += 1
        yield begun, after

    def split(self, first, after, sign):
        sides, begun, at = [], first, first
        while at < after:
            if self.is_sign(at, sign):
                sides.append((begun, at))
                begun = at + 1
            at = self.partner[at] + 1 if self.tokens[at].text in OPENS else at + 1
        return [*sides, (begun, after)]

    def leave_out(self, sides):
        if len(sides) < 2:
            return
        whole = self.words(sides[0][0], sides[-1][1])
        for which, (first, after) in enumerate(sides):
            if IS_RULE.fullmatch(self.words(first, after)) or IS_NO_RULE.fullmatch(self.words(first, after)):
                continue
            shown = f"`{self.words(first, after)}` of `{whole}`"
            if which + 1 < len(sides):
                self.change("clause", first, sides[which + 1][0], "", shown)
            else:
                self.change("clause", sides[which - 1][1], after, "", shown)


def mutants_of(text):
    return Mutator(text).mutants()
