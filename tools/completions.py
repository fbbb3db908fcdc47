#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what a shell completes: completions.py AFTERYOU SHELL TEMPLATE OUTPUT.

The line @TABLES@ of the template becomes functions that know the words of every subcommand, as `afteryou --options`
tells them. How a shell reads a line, and asks for regions, spaces and files, is in the template.
"""
import json
import subprocess
import sys


def quote(shell, text):
    if shell == "fish":
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"


def patterns(shell, words):
    """A star is any word; bash and zsh want it outside the quotes."""
    if shell == "fish":
        return " ".join(quote(shell, word) for word in words)
    return " | ".join(quote(shell, word).replace("*", "'*'").replace("*''", "*").replace("''*", "*") for word in words)


def function(shell, name, about, lines):
    """With the body indented once."""
    begin, end = (f"function {name} # {about}", "end") if shell == "fish" else (f"{name}() {{ # {about}", "}")
    return "\n".join([begin, *("    " + line for line in lines), end])


def choice(shell, subject, cases):
    """cases: (patterns, command), each pattern a list of words."""
    if shell == "fish":
        lines = [f"switch {subject}"]
        for words, command in cases:
            lines += [f"    case {patterns(shell, words)}", f"        {command}"]
        return lines + ["end"]
    return [f"case {subject} in", *(f"    {patterns(shell, words)}) {command} ;;" for words, command in cases), "esac"]


def offer(shell, what, several=False):
    """The command that offers the words of a list, or what the template's function of that name finds."""
    prefix = "__afteryou" if shell == "fish" else "_afteryou"
    if what["offer"] == "list":
        kind = "several" if several else "list"
        return f"{prefix}_{kind} " + " ".join(quote(shell, word) for word in what["list"])
    return f"{prefix}_{what['offer']}"


def lines_of(shell, rows):
    """A command that prints a line for each: a word, a tab, what it is for."""
    return "printf '%s\\t%s\\n' " + " ".join(f"{quote(shell, word)} {quote(shell, text)}" for word, text in rows)


def places_of(shell, commands):
    """What stands where: the number of the word, and the first word where that matters. The first that fits is taken, so
    what has no last number stands for all that follow."""
    cases = []
    for command in commands:
        for place in command["places"]:
            numbers = range(place["from"], place["to"] + 1) if place["to"] else ["*"]
            cases.append(([f"{command['name']} {number} {place['after'] or '*'}" for number in numbers], offer(shell, place)))
    return choice(shell, '"$argv[1] $argv[2] $argv[3]"' if shell == "fish" else '"$1 $2 $3"', cases)


def tables(shell, commands):
    name = "__afteryou" if shell == "fish" else "_afteryou"
    first = "$argv[1]" if shell == "fish" else '"$1"'
    both = '"$argv[1] $argv[2]"' if shell == "fish" else '"$1 $2"'
    options = [(command["name"], option) for command in commands for option in command["options"]]

    def words(command, option):
        return [f"{command} {word}" for word in option["words"]]

    taking = [word for command, option in options if option["argument"] and not option["optional"] for word in words(command, option)]
    values = [(words(command, option), offer(shell, option, option["several"])) for command, option in options
              if option["argument"] and not option["optional"] and option["offer"] != "nothing"]
    runs = [f"{command['name']} {command['command_after']}" for command in commands if command["command_after"]]
    member = "contains -- " + both + " " if shell == "fish" else None

    def contains(these):
        if shell == "fish":
            return [member + " ".join(quote(shell, word) for word in these)]
        return choice(shell, both, [(these, "return 0")]) + ["return 1"]

    return "\n\n".join([
        function(shell, f"{name}_commands", "a line for each: its name, a tab, what it does",
                 [lines_of(shell, [(command["name"], command["summary"]) for command in commands])]),
        function(shell, f"{name}_options", "COMMAND: a line for each option, a tab, what it is for",
                 choice(shell, first, [([command["name"]], lines_of(shell, [(word, option["help"]) for option in command["options"]
                                                                            for word in option["words"]]))
                                       for command in commands])),
        function(shell, f"{name}_takes_value", "COMMAND OPTION", contains(taking)),
        function(shell, f"{name}_values", "COMMAND OPTION: offers what its value can be, or fails",
                 choice(shell, both, values + [(["*"], "return 1")])),
        function(shell, f"{name}_words", "COMMAND NUMBER FIRST-WORD: offers what may stand there, options aside",
                 places_of(shell, commands)),
        function(shell, f"{name}_command_next", "COMMAND HOW-MANY-WORDS: whether a command line of its own begins",
                 contains(runs)),
    ])


def main():
    afteryou, shell, template, output = sys.argv[1:]
    shown = subprocess.run([afteryou, "--options"], capture_output=True, text=True, check=True).stdout
    with open(template, encoding="utf-8") as file:
        text = file.read()
    with open(output, "w", encoding="utf-8") as file:
        file.write(text.replace("@TABLES@", tables(shell, json.loads(shown)["commands"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
