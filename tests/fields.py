# SPDX-License-Identifier: MIT
"""The fields of JSON outputs, as docs/json.md states them, compared with real ones."""
import pathlib
import re

DOCUMENT = pathlib.Path(__file__).resolve().parents[1] / "docs/json.md"
TYPES = {"text": str, "number": int, "real": float, "flag": bool, "list": list, "object": dict}


def stated():
    """For each heading: {field: its type, in words}. A field that is "as `x` of `heading`" has what stands below x there."""
    sections = {}
    for part in re.split(r"^## ", DOCUMENT.read_text(), flags=re.M)[1:]:
        heading, _, body = part.partition("\n")
        table = sections[heading.strip("`")] = {}
        for field, words, meaning in re.findall(r"^\| `(.+?)` \| (.+?) \|(.*)\|$", body, re.M):
            table[field] = words
            likeness = re.search(r"as `(.+?)` of `(.+?)`(.*)", meaning)
            if likeness:
                there, whose, without = likeness.groups()
                left_out = tuple(f"{there}.{name}" for name in re.findall(r"`(.+?)`", without))
                table.update({field + name[len(there):]: words for name, words in sections[whose].items()
                              if re.match(re.escape(there) + r"[.\[]", name) and not (left_out and name.startswith(left_out))})
    return sections


def found(output, below=""):
    """Every field of an output, and its value: {"spaces[].name": ["default", …]}."""
    result = {below: [output]} if below else {}
    if isinstance(output, dict):
        for name, value in output.items():
            for field, values in found(value, f"{below}.{name}" if below else name).items():
                result.setdefault(field, []).extend(values)
    elif isinstance(output, list):
        for value in output:
            for field, values in found(value, below + "[]").items():
                result.setdefault(field, []).extend(values)
    return result


def fits(value, words):
    kind = re.match(r"\w+", words).group()
    if value is None:
        return "or null" in words
    return isinstance(value, (int, float) if kind == "real" else TYPES[kind]) and (kind == "flag") == isinstance(value, bool)


def differences(section, outputs):
    """What the section states and no output has; what an output has and the section does not state; what is of another
    type; what is missing and not optional. In words, a line each; none: they agree."""
    table = stated()[section]
    several = {field: re.compile(re.escape(field).replace(r"\*", r"[\w-]+") + "$") for field in table}
    faults, seen = [], set()
    for output in outputs:
        fields = found(output)
        for field, values in fields.items():
            names = [name for name, pattern in several.items() if pattern.match(field)]
            seen.update(names)
            if not names:
                faults.append(f"{section}: {field} is not stated")
            faults += [f"{section}: {field} is {value!r}, not {table[name]}" for name in names for value in values
                       if not fits(value, table[name])]
        faults += [f"{section}: {field} is missing" for field, words in table.items()
                   if "optional" not in words and "[" not in field and "." not in field and field not in fields]
    return faults + [f"{section}: {field} is in no output" for field in table if field not in seen]
