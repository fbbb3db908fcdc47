# SPDX-License-Identifier: MIT
"""Whether a mutant is found out: builds a checker with one file of src/protocols changed, and puts the rows to it.

Only what the change touches is compiled, and linked with the objects of build/. One that survives the first rows is compiled once
more, as it ships: a register protocol by ships.c, a message protocol with no rule of `without` left out. If that gives the code of
the unchanged text, it is the same program: what differs is dead there, or concerns the search alone. If the search runs the same
code but what ships does not, no row could find it: `unseen`.

What of the message protocols the search does not run (more nodes than a word has bits, what only an agent calls), tests run: they
come last.
"""
import collections
import hashlib
import json
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import guarantees  # noqa: E402 (beside this folder)
from mutator import meaning  # noqa: E402

PROTOCOLS = ROOT / "src/protocols"
COURTESY = ("courtesy", "courtesy-units", "courtesy-brief", "courtesy-retain", "courtesy-retain-brief")
MESSAGES = ("carvalho-roucairol", "ricart-agrawala", "lamport", "token")

# Each file, and the protocols whose rows judge it.
FILES = {
    "registers/pair.h": ("pair",),
    "registers/races.h": ("races", "clock"),
    "registers/clock.h": ("clock",),
    "registers/bakery.h": ("bakery",),
    "registers/region.h": ("region",),
    "registers/fork.h": ("forks",),
    "registers/forks.h": ("forks",),
    "registers/courtesy/courtesy_word.h": COURTESY,
    "registers/courtesy/courtesy_aside.h": COURTESY,
    "registers/courtesy/courtesy_retain.h": COURTESY,
    "registers/courtesy/courtesy_slots.h": COURTESY,
    "registers/courtesy/courtesy_parts.h": COURTESY,
    "registers/courtesy/courtesy_convert.h": COURTESY,
    "registers/courtesy/courtesy.h": COURTESY,
    "messages/carvalho_roucairol.c": ("carvalho-roucairol",),
    "messages/carvalho_roucairol.h": ("carvalho-roucairol",),
    "messages/ricart_agrawala.c": ("ricart-agrawala",),
    "messages/lamport.c": ("lamport",),
    "messages/token.c": ("token",),
    "messages/link.c": ("link",),
    "messages/node.h": MESSAGES,
    "messages/sets.h": MESSAGES,
    "messages/messages.h": MESSAGES,
    "modes.h": ("carvalho-roucairol", "ricart-agrawala"),
}
# Text that only some rows run, by file, or by function: those with one of these words. The others cannot find what is changed there.
RUN_BY = {
    "registers/courtesy/courtesy_aside.h": {"--units"},
    "registers/courtesy/courtesy_retain.h": {"courtesy-retain", "courtesy-retain-brief"},
    "registers/courtesy/courtesy_slots.h": {"-l"},
    "registers/courtesy/courtesy_convert.h": {"--convert"},
    "courtesy_run_slots": {"-l"},
    "courtesy_downgrade": {"--convert"},
    "courtesy_upgrade": {"--convert"},
    "courtesy_keep_mode": {"--convert"},
    "courtesy_hold": {"courtesy-units"},
    "courtesy_give_back": {"courtesy-units"},
    "courtesy_stepped_aside": {"--units"},
}
# Tests that run the message protocols in other engines, or parts of them alone: where each is below build/tests, and the folders, or
# the file of its own, whose part in it is built anew.
SIMULATED = "messages/test-messages-simulate", ("src/protocols/messages", "src/simulate"), False
PARTS = "messages/test-messages-parts", ("tests/messages/parts.c",)
WORDS = "expansion/test_expansion_words", ("tests/expansion/test_words.c",)
UNSET = "expansion/test_expansion_unset", ("tests/expansion/straight.c",)
BY_HAND = "messages/test-messages-protocols", ("src/protocols/messages",)
PERMISSIONS = "messages/test-messages-permissions", ("src/protocols/messages",)
AGENTS = [(f"agent/agent-{name}", ("src/protocols/messages", "src/agent/core")) for name in ("modes", "forgetting", "scenes", "forgeries")]
# Files without mutants, and why.
LEFT_OUT = {
    "language/registers.h": "macros; tests/expansion compares what is left of them",
    "language/running.h": "the words as they run: tests/expansion, tests/memory",
    "language/stopping.h": "the checker's own body of the words",
    "language/calling.h": "a macro of the two that stop",
    "language/resuming.h": "the words as an ask runs them: tests/memory, tests/schedule",
    "registers/naming.h": "its own mutants are rows; those of the engine around it: tests/schedule",
    "registers/naming_parts.h": "declarations",
    "messages/link.h": "declarations",
    "messages/rows.h": "where words lie; tests/messages/simulate.c compares both ways",
    "messages/catalogue.c": "a list of names",
    "messages/catalogue.h": "a list of names",
    "messages/papers/ring.c": "of a paper; no engine offers it",
    "messages/papers/circulating.c": "of a paper; no engine offers it",
    "messages/papers/elected.c": "of a paper; no engine offers it",
}

# Changed by whoever changes how verdicts are reached: those that were kept are then forgotten.
WAY = 2
# A search that grows so many times beyond the unchanged one counts as one that does not end.
FAR = 10
STATES_LEAST, CPU_LEAST = 20000, 2
# Seconds of the processor: rows that take less on the unchanged text go before all others.
SWIFT = 0.1
AT_ONCE = 0.5  # seconds of rows that are put to a mutant before it is known whether it is another program than the one that ships
ADDRESS_SPACE = 4 << 30

COMMON = ["-std=gnu11", "-D_GNU_SOURCE", "-w", "-Werror=return-type", "-Werror=implicit-function-declaration"]
SEARCHED = [*COMMON, "-Og"]  # compiled in half the time, for an eighth more of searching
SHIPPED = [*COMMON, "-O2", "-fno-asynchronous-unwind-tables", "-Dinline=inline __attribute__((always_inline))"]

LINKER = ["-fuse-ld=lld"] if shutil.which("ld.lld") else []  # which takes a third of the time

# What becomes of a mutant. The first two are not counted: they are no other program than the one that ships.
NO_PROGRAM, SAME, UNSEEN, KILLED, SURVIVES = "does not compile", "same code", "unseen", "killed", "survives"
ENDLESS, ENORMOUS = "it does not end", "it grows without end"

# `code`: a digest of what the search runs, by which two mutants are known to be one; `row`, `found`: what killed it.
Verdict = collections.namedtuple("Verdict", "what code row found", defaults=("", "", ""))


class DoesNotCompile(Exception):
    """Said by the compiler of a mutant."""


class Test:
    """A test of the build's that is put to mutants as rows are."""

    def __init__(self, program, folders, quick=True):
        self.words, self.target, self.folders, self.quick = ["test", program], f"tests/{program}", folders, quick


CHECKER = "afteryou-tools"


def target_of(row):
    return row.target if isinstance(row, Test) else CHECKER


def rows_for(file):
    """The rows that must hold of the protocols that the file belongs to, and the tests."""
    tests = [BY_HAND, SIMULATED] if kind_of(file) == "messages" else []
    tests += [test for test in (PARTS, WORDS, UNSET) if PROTOCOLS / file in included(ROOT / test[1][0], set())]
    tests += [PERMISSIONS, *AGENTS] if "carvalho-roucairol" in FILES[file] else []
    return [*(row for _, rows in guarantees.ROWS for row in rows if row.found == guarantees.HOLDS and row.words[0] in FILES[file]),
            *(Test(*test) for test in tests)]


def is_run_by(file, mutant, row):
    """Whether the row runs the function that was changed, as far as RUN_BY knows."""
    function = mutant.name.partition(":")[0]
    return isinstance(row, Test) or all(words & set(row.words) for name, words in RUN_BY.items() if name in (file, function))


def words_of(row):
    return " ".join(row.words)


def digest(objects):
    return hashlib.sha256(b"".join(made.read_bytes() for made in objects)).hexdigest()[:16]


# Kinds of files: a verdict hangs on what its own kind has, and on what all have in common.
KINDS = {"registers": {"registers", "language", "mutants"}, "messages": {"messages"}, "link": set()}


def kind_of(file):
    return "link" if file == "messages/link.c" else "messages" if file.startswith(("messages/", "modes.h")) else "registers"


def is_of_kind(path, kind):
    """Whether a file of the checker's is part of the kind, or of all."""
    folders = set(path.relative_to(ROOT).parts)
    if kind == "link" and "messages" in folders:
        return path.stem.startswith("link")
    return not any(folders & KINDS[other] - KINDS[kind] for other in KINDS)


def checker_hash(kind):
    """Of all that a verdict hangs on besides the mutant and the rows; comments and layout do not count, nor how words are read
    and answers written."""
    hashed = hashlib.sha256(str((WAY, FAR, STATES_LEAST, CPU_LEAST, SEARCHED, SHIPPED)).encode())
    for folder in ("src/check", "src/protocols", "tools/mutants"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            if is_of_kind(path, kind):
                hashed.update(f"{path.relative_to(ROOT)} {meaning(path.read_text())}".encode())
    return hashed.hexdigest()


def tests_hash(kind):
    """Of what the verdicts of tests hang on besides."""
    hashed = hashlib.sha256()
    for folder in ("tests/expansion",) if kind == "registers" else ("src/agent/core", "src/simulate", "tests/agent", "tests/messages"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            hashed.update(f"{path.relative_to(ROOT)} {meaning(path.read_text())}".encode())
    return hashed.hexdigest()


def included(path, seen):
    """The file, and all of src/ that it includes, by whatever way."""
    if path not in seen and path.exists():
        seen.add(path)
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), re.MULTILINE):
            included(ROOT / "src" / name, seen)
    return seen


class Builder:
    """Compiles what depends on one file of src/protocols, and links a checker."""

    def __init__(self, file, build, compiler, folder):
        self.file, self.build, self.compiler = file, build, compiler
        self.protocols = FILES[file]
        self.of_messages = kind_of(file) != "registers"
        if self.of_messages:
            # Those who judge keep the unchanged text; but what carries messages is the engine's part in messages.h.
            self.searched = [path for path in self.dependents("src/protocols/messages") if path.stem.replace("_", "-") in self.protocols]
            self.searched += self.dependents("src/check/messages") if file == "messages/messages.h" else []
        else:
            self.searched = [path for path in self.dependents("src/check/registers/models") if self.models_in(path)]
        self.links, self.tested = {}, []
        self.table = [] if self.of_messages else [self.catalogue(folder)]

    def run(self, words, folder=ROOT):
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)
        if done.returncode != 0:
            raise DoesNotCompile(done.stderr)
        return done.stdout

    def link_of(self, target):
        """How ninja links it: what comes first goes before the archives."""
        if target not in self.links:
            words = shlex.split(self.run(["ninja", "-C", str(self.build), "-t", "commands", "-s", target]).splitlines()[-1])
            at = words.index("-o")
            self.links[target] = words[:at], words[at + 2:]
        return self.links[target]

    def dependents(self, folder):
        """The C files below the folder that include this file, or are it; or the one file itself, likewise."""
        paths = [ROOT / folder] if folder.endswith(".c") else sorted((ROOT / folder).rglob("*.c"))
        return [path for path in paths if PROTOCOLS / self.file in included(path, set())]

    def models_in(self, path):
        """The shipped models that the file defines."""
        names, text = (f"model_{name.replace('-', '_')}" for name in self.protocols), path.read_text()
        return [name for name in names if re.search(rf"\b{name}\b", text)]

    def catalogue(self, folder):
        """The checker's list of protocols, with these alone."""
        names = " ".join(f"MODEL({name.replace('-', '_')})" for name in self.protocols)
        source, output = folder / "catalogue.c", folder / "catalogue.o"
        source.write_text("#include \"check/registers/models/models.h\"\n#undef REGISTER_MODELS\n"
                          f"#define REGISTER_MODELS(MODEL) {names}\n#include \"check/registers/catalogue.c\"\n")
        self.run([*self.compiler, "-c", "-o", str(output), *SEARCHED, "-DREGISTERS_STOP_AT_ACCESS", "-Isrc", str(source)])
        return output

    def overlay(self, folder, text, folded=False):
        """A folder that goes before src/, with the mutant in it."""
        def write(name, content):
            path = folder / "protocols" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fold(content) if folded else content)

        if folded:
            for path in (PROTOCOLS / "messages").glob("*.[ch]"):
                write(f"messages/{path.name}", path.read_text())
        write(self.file, text)

    def source(self, folder, path):
        """The file itself, or what lies in its place in the overlay; of a model's file, the shipped models alone."""
        if path.parent.name == "models":
            declared = "".join(f"extern __typeof__({name}) {name} __attribute__((externally_visible));\n" for name in self.models_in(path))
            source = folder / f"model_{path.name}"
            source.write_text(f"#include \"check/registers/models/models.h\"\n{declared}#include \"{path.relative_to(ROOT / 'src')}\"\n")
            return source
        in_overlay = folder / path.relative_to(ROOT / "src") if path.is_relative_to(ROOT / "src") else path
        return in_overlay if in_overlay.exists() else path

    def objects(self, folder, text):
        """The objects that the search runs. -fwhole-program leaves out the models that nobody asks for."""
        self.overlay(folder, text)
        return [self.compiled(folder, path) for path in self.searched]

    def tested_by(self, rows):
        """The files beyond the searched ones that tests among these rows run, and that include this one."""
        folders = sorted({folder for row in rows if isinstance(row, Test) for folder in row.folders})
        return [path for folder in folders for path in self.dependents(folder) if path not in self.searched]

    def objects_of_tests(self, folder):
        return [self.compiled(folder, path) for path in self.tested]

    def compiled(self, folder, path):
        """The object of one file, with the overlay in that folder."""
        made = folder / (str(path.relative_to(ROOT)).replace("/", "-") + ".o")
        flags = [*(["-DREGISTERS_STOP_AT_ACCESS"] if path.is_relative_to(ROOT / "src") else []),
                 *(["-fwhole-program"] if path.parent.name == "models" else [])]
        if not made.exists():
            self.run([*self.compiler, "-c", "-o", str(made), *SEARCHED, *flags, f"-I{folder}", "-Isrc", "-Iinclude",
                      f"-ffile-prefix-map={folder}=", str(self.source(folder, path))])
        return made

    def shipped(self, folder, text):
        """The assembly of what ships."""
        self.overlay(folder, text, folded=self.of_messages)
        if self.of_messages:
            sources = [(self.source(folder, path), []) for path in self.searched if path.is_relative_to(PROTOCOLS)]
        else:
            names = sorted({name.partition("-")[0] for name in self.protocols})
            sources = [(pathlib.Path(__file__).resolve().parent / "ships.c", [f"-DSHIPS_{name.upper()}"]) for name in names]
        return "".join(self.run([*self.compiler, "-S", "-o", "-", *SHIPPED, *flags, f"-I{folder}", "-Isrc",
                                 f"-ffile-prefix-map={folder}=", str(source)]).replace(str(folder), "") for source, flags in sources)

    def program(self, folder, row):
        """The checker, or the test, with the mutant in that folder in it."""
        made, (before, after) = folder / target_of(row).replace("/", "-"), self.link_of(target_of(row))
        if not made.exists():
            paths = [path for of in row.folders for path in self.dependents(of)] if isinstance(row, Test) else self.searched
            objects = [self.compiled(folder, path) for path in paths]
            own = tuple(f"/{path.name}.o" for path in paths if "tests" in path.relative_to(ROOT).parts)
            after = [word for word in after if not own or not word.endswith(own)]
            table = [] if isinstance(row, Test) else self.table
            self.run([*before, *LINKER, "-s", "-o", str(made), *map(str, [*objects, *table]), *after], self.build)
        return made


def fold(text):
    """The text with no rule left out."""
    return re.sub(r"\b(?:my\.node|node|how|my|link)->without\b(?!\s*=[^=])", "UINT64_C(0)", text)


def spent():
    """Seconds of the processor, of children that have ended; a measure of one of them only while no other runs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ask(program, row, states, cpu):
    """The row put to a checker, within limits: None if it holds, else what was found; and states and seconds."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    words = [word for at, word in enumerate(row.words) if word != "--memory" and row.words[at - 1] != "--memory"]
    is_test = isinstance(row, Test)
    before = spent()
    try:
        done = subprocess.run([program] if is_test else [program, "check", *words, "--json", "--memory", "3G", "--states", str(states)],
                              capture_output=True, text=True, check=False, preexec_fn=limits, timeout=300 * cpu if is_test else None)
    except subprocess.TimeoutExpired:
        return ENDLESS, 0, 0
    seconds = spent() - before
    if done.returncode in (-24, -9):
        return ENDLESS, 0, seconds
    if is_test:
        return f"it fails ({done.returncode})" if done.returncode else None, 0, seconds
    if done.returncode < 0 or not done.stdout.startswith("{"):
        return f"it crashes ({done.returncode}) {done.stderr.strip()[:80]}", 0, seconds
    answer = json.loads(done.stdout)
    answer["status"] = done.returncode
    if "nodes" in answer:
        answer = guarantees.of_messages(answer)
    wrong = guarantees.complaint(row, answer)
    if wrong:
        found = guarantees.broken(answer)
        wrong = found[0] if found else ENORMOUS if not answer["exhausted"] else wrong
    return wrong, answer["states"], seconds


def is_put(row, measured, slowest, longest=float("inf")):
    """Whether the row is put to mutants: a slow one only if it was found to end in time, and any only if it takes no longer than
    that."""
    states, seconds = measured.get(words_of(row), (None, 0))
    return (row.quick or (states is not None and seconds <= slowest)) and seconds <= longest


class Judge:
    """All that is known of one file before it is changed; then judges its mutants by the quick rows, and by those of the slow ones
    that end within `slowest` seconds; if `longest` is given, by those alone that take no longer."""

    def __init__(self, file, build, compiler, measured=None, slowest=0, longest=float("inf"), by_rows_alone=False, alone=None):
        """`measured`, kept from run to run: of rows, by their words, states and seconds on the unchanged text; or None and the
        seconds within which it does not end. `alone`: the words of the one row that is put to its mutants."""
        self.folder = tempfile.TemporaryDirectory()
        self.builder = Builder(file, build, compiler, pathlib.Path(self.folder.name))
        self.text = (PROTOCOLS / file).read_text()
        self.measured = {} if measured is None else measured
        self.slowest = slowest
        self.killed = collections.Counter()  # by each row, so far
        self.known = {}  # verdicts, by the code that the search runs: twins are judged once
        with tempfile.TemporaryDirectory() as name:
            self.shipped = self.builder.shipped(pathlib.Path(name), self.text)
        with tempfile.TemporaryDirectory() as name:
            every = [row for row in rows_for(file) if not (by_rows_alone and isinstance(row, Test)) and alone in (None, words_of(row))]
            self.builder.tested = self.builder.tested_by(every)
            self.searched = digest(self.builder.objects(pathlib.Path(name), self.text))
            self.tested = digest(self.builder.objects_of_tests(pathlib.Path(name)))
            for row in every:
                self.measure(pathlib.Path(name), row)
        self.rows = [row for row in every if is_put(row, self.measured, slowest, longest)]

    def measure(self, folder, row):
        """How far the row goes on the unchanged text, where it must hold."""
        words, longest = words_of(row), 60 if row.quick else self.slowest
        states, seconds = self.measured.get(words, (None, 0))
        if states is not None or seconds >= longest:
            return
        wrong, states, seconds = ask(self.builder.program(folder, row), row, 10 ** 9, longest)
        if wrong and (row.quick or wrong != ENDLESS):
            raise SystemExit(f"{self.builder.file}: `{words}` must hold of the unchanged text: {wrong}")
        self.measured[words] = (None, longest) if wrong else (states, seconds)

    def limits(self, row):
        states, seconds = self.measured[words_of(row)]
        return max(FAR * states, STATES_LEAST), max(int(FAR * seconds), CPU_LEAST)

    def is_swift(self, row):
        return self.measured[words_of(row)][1] <= SWIFT

    def within(self, seconds, rows):
        """How many of them take no longer together than to compile the mutant once more: most are killed by these."""
        count = 0
        while count < len(rows) and seconds > 0:
            seconds -= self.measured[words_of(rows[count])][1]
            count += 1
        return count

    def in_turn(self, first):
        """The rows: `first`, the swift ones and the tests of the protocols alone, all others, the other tests; of these, those first
        that kill much in little time."""
        def cost(row):
            words = words_of(row)
            seconds = self.measured[words][1]
            late = isinstance(row, Test) and row.words[1] not in (PARTS[0], WORDS[0], UNSET[0], BY_HAND[0], PERMISSIONS[0])
            return words != first, late, seconds > SWIFT, (0.05 + seconds) / (1 + self.killed[words])
        return sorted(self.rows, key=cost)

    def judge(self, mutant, first="", survived=(), excused=False):
        """What becomes of it. `first` is the row to begin with, `survived` those that it is known to survive; if it is excused, only
        swift ones are put to it."""
        with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as ships:
            folder = pathlib.Path(name)
            try:
                verdict = self.put_parts(folder, mutant.text, survived)
                if verdict:
                    return verdict
                code = digest(self.builder.objects(folder, mutant.text))
                seen = code != self.searched
                if not seen: # of these, tests may tell one from another
                    code += digest(self.builder.objects_of_tests(folder))
                if code in self.known:
                    return self.known[code]
                rows = [row for row in self.in_turn(first) if words_of(row) not in survived and (seen or isinstance(row, Test))
                        and (not excused or self.is_swift(row)) and is_run_by(self.builder.file, mutant, row)]
                at_once = self.within(AT_ONCE, rows) if seen else 0
                verdict = self.put_rows(folder, rows[:at_once], code)
                if not verdict and self.builder.shipped(pathlib.Path(ships), mutant.text) == self.shipped and \
                        digest(self.builder.objects_of_tests(folder)) == self.tested:
                    verdict = Verdict(SAME)
                verdict = verdict or self.put_rows(folder, rows[at_once:], code) or Verdict(SURVIVES if seen else UNSEEN, code)
            except DoesNotCompile:
                return Verdict(NO_PROGRAM)
        if verdict.what in (KILLED, SURVIVES):
            self.known[code] = verdict
        return verdict

    def put_parts(self, folder, text, survived):
        """The verdict of a test of parts, if that kills it: it takes one file to compile, where the search takes many."""
        rows = [row for row in self.rows if row.words[-1] in (PARTS[0], WORDS[0]) and words_of(row) not in survived]
        if not rows:
            return None
        self.builder.overlay(folder, text)
        code = digest([self.builder.compiled(folder, path) for row in rows for path in self.builder.dependents(*row.folders)])
        return self.put_rows(folder, rows, code)

    def put_rows(self, folder, rows, code):
        """The verdict of the row that kills it; None: they all hold."""
        for row in rows:
            words = words_of(row)
            wrong = ask(self.builder.program(folder, row), row, *self.limits(row))[0]
            if wrong:
                self.killed[words] += 1
                return Verdict(KILLED, code, words, wrong)
        return None
