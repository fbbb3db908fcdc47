# SPDX-License-Identifier: MIT
"""What a shell completes, asked of the shells themselves: bash, zsh and fish."""
import json
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from support import AFTERYOU, PATIENCE, CommandTest, wait_until

MODES = {"exclusive", "shared", "protected-write", "concurrent-write", "concurrent-read", "null"}
COMPLETIONS = os.environ["COMPLETIONS"]
COMMANDS = ("run", "flock", "status", "spaces", "cancel", "agent", "cluster", "check", "simulate", "audit")
TABLES = {table["name"]: table for table in
          json.loads(subprocess.run([AFTERYOU, "--options"], capture_output=True, text=True, check=True).stdout)["commands"]}
# What a line begins with where an option's value is to follow: its subcommand, and a word that it needs.
BEGINNINGS = {"run": "run x", "check": "check bakery", "simulate": "simulate token", "spaces": "spaces create s"}


def options_of(command):
    return {word for option in TABLES[command]["options"] for word in option["words"]}


def options_with(offers):
    """Each option whose value is one of these and cannot be left out, in full, with the line that asks for it."""
    return [(option, f"{BEGINNINGS.get(command, command)} {option['words'][-1]} ") for command in COMMANDS
            for option in TABLES[command]["options"] if option["argument"] and not option["optional"] and option["offer"] in offers]


class Shell:
    """The same expectations for all three. complete() gives what is offered for the line, as a set of words."""

    def setUp(self):
        super().setUp()
        if not shutil.which(self.SHELL):
            self.skipTest(f"needs {self.SHELL}")
        self.environment.update(PATH=f"{os.path.dirname(AFTERYOU)}:/usr/bin:/bin", HOME=str(self.directory), TERM="xterm", LC_ALL="C.UTF-8")

    def test_commands(self):
        self.assertEqual(set(COMMANDS), set(TABLES))
        self.assertEqual(set(COMMANDS) | {"--help", "--version"}, self.complete("afteryou ") | {"--help", "--version"})
        self.assertEqual(self.complete("afteryou sta"), {"status"})

    def test_options(self):
        for command in COMMANDS:
            self.assertEqual(options_of(command), {word for word in self.complete(f"afteryou {command} -") if word.startswith("-")}, command)

    def test_values_of_lists(self):
        found = options_with({"list"})
        self.assertGreater(len(found), 10)
        for option, line in found:
            self.assertEqual(self.complete("afteryou " + line), set(option["list"]), line)

    def test_values_by_letters_and_equals_signs(self):
        for line in ("run x -m ", "run -m ", "run x -nm "):
            self.assertEqual(self.complete("afteryou " + line), MODES, line)
        self.assertEqual({word.rpartition("=")[2] for word in self.complete("afteryou run x --mode=prot")}, {"protected-write"})

    def test_values_with_commas_between(self):
        offered = self.complete("afteryou check bakery --property exclusion,pro")
        self.assertEqual({word.rpartition(",")[2] for word in offered}, {"progress"})

    def test_values_that_nobody_knows(self):
        """Not the names of all programs."""
        found = options_with({"nothing"})
        self.assertGreater(len(found), 20)
        for _, line in found[:: max(1, len(found) // 12)]:
            self.assertEqual(self.complete("afteryou " + line), set(), line)

    def test_protocols(self):
        for command, some in (("check", {"courtesy", "bakery", "token", "bakery-torn"}), ("simulate", {"lamport", "token"})):
            listed = subprocess.run([AFTERYOU, command, "--list"], capture_output=True, text=True, check=True).stdout
            expected = {line.split()[0] for line in listed.splitlines()}
            self.assertLessEqual(some & expected, self.complete(f"afteryou {command} "))
            self.assertEqual(expected, self.complete(f"afteryou {command} "))

    def test_words(self):
        self.assertEqual(self.complete("afteryou spaces rem"), {"remove"})
        self.assertEqual(self.complete("afteryou cluster in"), {"init"})
        self.assertEqual(self.complete("afteryou cluster try he"), {"heal"})

    def test_the_command_that_is_run(self):
        for line in ("run x gre", "run x -- gre", "run -n x -w 3 gre", "flock /tmp gre", "cluster try exec a gre"):
            self.assertIn("grep", self.complete("afteryou " + line), line)

    def test_regions_and_spaces(self):
        self.environment["AFTERYOU_DIR"] = self.environment["XDG_RUNTIME_DIR"] = str(self.shared_memory)
        name, space = f"region-of-{self.directory.name}", f"space-of-{self.directory.name}"
        holder = subprocess.Popen([AFTERYOU, "run", "-S", space, name, "-c", "echo $$ > inside; exec sleep 60"], cwd=self.directory, env=self.environment)
        self.addCleanup(wait_until, lambda: self.afteryou("spaces", "remove", space).returncode == 0, "the end of the holder")
        self.addCleanup(self.finish, holder)
        self.number_in("inside")
        self.assertEqual(self.complete(f"afteryou status {name[:-1]}"), {name})
        self.assertEqual(self.complete(f"afteryou run {name[:-1]}"), {name})
        self.assertEqual(self.complete(f"afteryou run x -S {space[:-1]}"), {space})
        self.assertEqual(self.complete(f"afteryou run -S {space} {name[:-1]}"), {name})
        self.assertEqual(self.afteryou("spaces", "create", space + "-2").returncode, 0)
        self.addCleanup(self.afteryou, "spaces", "remove", space + "-2")
        self.assertEqual(self.complete(f"afteryou run -S {space}-2 {name[:-1]}"), set())

    def test_files(self):
        self.file("some-file").touch()
        self.assertEqual(self.complete("afteryou flock some-"), {"some-file"})
        self.assertEqual(self.complete("afteryou check bakery --svg some-"), {"some-file"})


class Bash(Shell, CommandTest):
    SHELL = "bash"

    def complete(self, line):
        words = re.findall(r"=|[^ =]+", line) + ([""] if line.endswith((" ", "=")) else [])
        quoted = " ".join(f"'{word}'" for word in words)
        text = (f"source '{COMPLETIONS}/afteryou'; COMP_WORDS=({quoted}); COMP_CWORD=$(({len(words)} - 1)); "
                "_afteryou; printf '%s\\n' \"${COMPREPLY[@]}\"")
        shown = subprocess.run(["bash", "--norc", "-c", text], capture_output=True, text=True, check=True, timeout=PATIENCE, env=self.environment,
                               cwd=self.directory)
        self.assertEqual(shown.stderr, "")
        return set(shown.stdout.split())


class Fish(Shell, CommandTest):
    SHELL = "fish"

    def complete(self, line):
        shown = subprocess.run(["fish", "--no-config", "-c", f"source '{COMPLETIONS}/afteryou.fish'; complete -C '{line}'"],
                               capture_output=True, text=True, check=True, timeout=PATIENCE, env=self.environment, cwd=self.directory)
        self.assertEqual(shown.stderr, "")
        return {one.split("\t")[0] for one in shown.stdout.splitlines()}


class Zsh(Shell, CommandTest):
    """It completes on a terminal only; so what would be offered is printed by a compadd of our own."""
    SHELL = "zsh"
    CAPTURE = r"""
        PROMPT='' PROMPT2='' RPROMPT=''
        unsetopt prompt_cr prompt_sp
        LISTMAX=1000000 # else zsh asks before it lists so many, and takes the next key for the answer
        fpath=(%s $fpath)
        autoload -U compinit && compinit -u -D
        zstyle ':completion:*' list-grouped false
        zstyle ':completion:*' verbose false
        compadd() {
            local -a found
            [[ " $* " == *" -"[OAD]" "* ]] || builtin compadd -A found "$@" # else nothing is offered yet
            (( $#found )) && print -rl -- "<"${^found}">" >>! $CAPTURED
            builtin compadd "$@"
        }
        offer() { : >! $CAPTURED.done }
        zle -N offer
        bindkey '^X' list-choices '^Y' offer
        print ready
    """

    def setUp(self):
        super().setUp()
        self.zsh = None
        self.addCleanup(self.end)

    def end(self):
        if self.zsh:
            os.close(self.zsh[1])
            os.waitpid(self.zsh[0], 0)

    def begin(self):
        self.environment["CAPTURED"] = str(self.file("captured"))
        self.file("zshrc").write_text(self.CAPTURE % COMPLETIONS)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)
        self.zsh = pid, terminal
        os.write(terminal, b"source ./zshrc\n")
        self.read_until(lambda text: "\nready" in text)

    def read_until(self, done):
        text, end = "", time.monotonic() + PATIENCE
        while not done(text):
            self.assertLess(time.monotonic(), end, text)
            if select.select([self.zsh[1]], [], [], 0.05)[0]:
                text += os.read(self.zsh[1], 65536).decode(errors="replace")

    def complete(self, line):
        if not self.zsh:
            self.begin()
        done, captured = self.file("captured.done"), self.file("captured")
        done.unlink(missing_ok=True)
        captured.write_text("")
        os.write(self.zsh[1], b"\x15" + line.encode() + b"\x18\x19")
        self.read_until(lambda text: done.exists())
        return set(re.findall(r"^<(.*)>$", captured.read_text(), re.M))


if __name__ == "__main__":
    unittest.main()
