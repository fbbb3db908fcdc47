#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the playground: one HTML file, with the checker as WebAssembly, the protocols' texts and the page inside.

usage: build.py [--output FILE] [--wasm FILE] [--if-older]     (./dev playground)

The C files are those of the checker itself and src/playground; what this machine's mmap does, pages_heap.c does there.
"""
import argparse
import base64
import glob
import gzip
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "tools"))
from papers import PAPERS  # noqa: E402
BYTES_MOST = 1_500_000

C_FILES = [
    "src/check/search/*.c", "src/check/registers/*.c", "src/check/registers/models/*.c", "src/check/messages/*.c",
    "src/protocols/messages/*.c", "src/protocols/messages/papers/*.c", "src/cli/check/*.c", "src/cli/options*.c", "src/cli/words.c", "src/common/draw/*.c", "src/playground/*.c",
]
NOT_THERE = {"src/check/search/pages.c", "src/check/search/helpers.c", "src/playground/program.c"}  # mmap; threads; stdin
# The texts that the page shows: what `next.file` can name.
SOURCES = ["src/protocols/registers/*.h", "src/protocols/registers/courtesy/*.h", "src/check/papers/*.h",
           "src/protocols/messages/*.c", "src/protocols/messages/papers/*.c"]
# In this order: each file may use what those before it define.
SCRIPTS = ["dom", "colours", "engine", "moves", "session", "source", "columns", "network", "picture", "diagram", "export", "transport", "chooser",
           "step", "check", "levels", "play", "guide", "about", "home", "share", "theme", "keys", "main"]
STYLES = ["base", "frame", "layout", "step", "chooser", "diagram", "pages"]


def c_files():
    found = sorted(path for pattern in C_FILES for path in glob.glob(pattern, root_dir=ROOT))
    return [path for path in found if path not in NOT_THERE]


def c_inputs():
    return c_files() + glob.glob("src/**/*.h", root_dir=ROOT, recursive=True) + ["web/build.py"]


def inputs():
    return c_inputs() + glob.glob("web/page/*", root_dir=ROOT) + glob.glob("web/texts/*", root_dir=ROOT) + glob.glob("tools/claims/*.py", root_dir=ROOT)


def is_older(path, paths):
    return not os.path.exists(path) or any(os.path.getmtime(os.path.join(ROOT, each)) > os.path.getmtime(path) for each in paths)


def compile_wasm(output):
    """Paths are given relative to the root, so that __FILE__ names them so."""
    command = ["clang", "--target=wasm32-wasi", "-mexec-model=reactor", "-std=gnu11", "-O2", "-flto", "-D_GNU_SOURCE",
               "-DPIPE_BUF=4096", '-DAFTERYOU_VERSION="playground"', "-Isrc", "-Iinclude", "-Wall", "-Wextra", *c_files(),
               "-Wl,--gc-sections,--strip-all,-z,stack-size=1048576", "-o", os.path.abspath(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        sys.exit(f"build.py: clang says:\n{done.stderr}")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def body_of(lines, name):
    """The lines of the function's definition, or None if it is not in this text."""
    for number, line in enumerate(lines, 1):
        if re.match(rf"(static )?\w[\w ]*[ *]{name}\(", line):
            last = number
            while not lines[last - 1].startswith("}"):
                last += 1
            return [number, last]
    return None


def blocks_of(text):
    """Of a message protocol: for each event and kind of message, the lines that handle it, as [first, last]: its case, and
    the functions that this calls."""
    lines, blocks = text.split("\n"), {}
    for number, line in enumerate(lines, 1):
        found = re.match(r"\s+case (EVENT_\w+|MESSAGE_\w+):", line)
        if not found:
            continue
        last = number
        while not re.match(r"\s+(break|return);", lines[last - 1]) and not lines[last - 1].startswith("}"):
            last += 1
        called = re.findall(r"\b(\w+)\(", " ".join(lines[number - 1:last]))
        bodies = [body_of(lines, name) for name in dict.fromkeys(called)]
        blocks[found.group(1)] = [[number, last]] + [body for body in bodies if body]
    return blocks


def functions_of(text):
    """Of a text without events: the lines of each of its functions that others call, by its name."""
    lines = text.split("\n")
    names = [found.group(1) for found in (re.match(r"\w+ (\w+)\(", line) for line in lines) if found]
    return {name: [body_of(lines, name)] for name in names}


def rows_of(paper):
    """The rows of docs/papers.md on this paper: each claim, and its commands with what they find."""
    return [{"id": f"{paper.key}{number}", "where": claim.where, "claim": claim.words, "why": claim.paper or claim.ours,
             "shows": [{"command": show.command, "found": show.found, "quick": show.quick} for show in claim.shows]}
            for number, claim in enumerate(paper.claims, 1)]


def data():
    sources, blocks, files = {}, {}, {}
    for path in sorted(path for pattern in SOURCES for path in glob.glob(pattern, root_dir=ROOT)):
        name = path.removeprefix("src/")
        sources[name] = read(ROOT, path)
        if name.endswith(".c"):
            files.update({protocol: name for protocol in re.findall(r'\.name = "([\w-]+)"', sources[name])})
            blocks[name] = blocks_of(sources[name])
    files["link"] = "protocols/messages/link.c"
    blocks[files["link"]] = functions_of(sources[files["link"]])
    texts = {name: json.loads(read(HERE, "texts", name + ".json")) for name in ("levels", "solutions", "guides", "papers")}
    rows = {paper.key: rows_of(paper) for paper in PAPERS}
    texts["papers"] = [paper | {"rows": rows.get(paper.get("rows"), [])} for paper in texts["papers"]]
    return {"sources": sources, "blocks": blocks, "files": files, **texts}


def packed(raw):
    return base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode()


def page(wasm):
    script = "\n".join(read(HERE, "page", name + ".js") for name in SCRIPTS)
    style = "\n".join(read(HERE, "page", name + ".css") for name in STYLES)
    worker = read(HERE, "page", "engine.js") + read(HERE, "page", "worker.js")
    parts = {
        "STYLE": style,
        "WASM": packed(wasm),
        "DATA": packed(json.dumps(data(), ensure_ascii=False, separators=(",", ":")).encode()),
        "WORKER": worker,
        "SCRIPT": script,
    }
    html = read(HERE, "page", "page.html")
    for name, text in parts.items():
        assert "</script" not in text, f"{name} would end its element early"
        html = html.replace(f"<!--{name}-->", text, 1)
    return html


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default=os.path.join(ROOT, "build", "playground.html"))
    parser.add_argument("--wasm", default=os.path.join(ROOT, "build", "playground.wasm"))
    parser.add_argument("--if-older", action="store_true", help="only if something that it is made of is newer")
    words = parser.parse_args()
    if words.if_older and not is_older(words.output, inputs()):
        return
    os.makedirs(os.path.dirname(os.path.abspath(words.output)), exist_ok=True)
    # By a file of its own, and then in one act: another may be doing the same.
    fresh = f"{words.output}.{os.getpid()}"
    if not words.if_older or is_older(words.wasm, c_inputs()):
        compile_wasm(fresh)
        os.replace(fresh, words.wasm)
    with open(words.wasm, "rb") as file:
        html = page(file.read()).encode()
    if len(html) > BYTES_MOST:
        sys.exit(f"build.py: the page has {len(html):,} bytes, more than {BYTES_MOST:,}")
    with open(fresh, "wb") as file:
        file.write(html)
    os.replace(fresh, words.output)
    print(f"playground: {len(html):,} bytes")


if __name__ == "__main__":
    main()
