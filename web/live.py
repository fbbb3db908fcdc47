#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes two pages, each one HTML file, as C files that go into the command: the live page of `afteryou status --serve`, and the
one of a recorded run (`afteryou audit --html`), which is written with the run in it.

usage: live.py live|audit OUTPUT.c     or --list: what they are made of, relative to this directory

What a page may do is said by hashes of its script and its style (Content-Security-Policy): nothing else runs in it.
"""
import base64
import hashlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COMMON = ["page/dom.js", "page/colours.js", "page/theme.js", "live/model.js", "live/history.js", "live/bands.js"]
# In this order: each file may use what those before it define.
SCRIPTS = {"live": [*COMMON, "live/cells.js", "live/regions.js", "live/graph.js", "live/cluster.js", "live/stream.js", "live/main.js"],
           "audit": [*COMMON, "live/audit.js"]}
STYLES = ["page/base.css", "page/frame.css", "live/live.css", "live/pictures.css"]
PAGES = {"live": "live/page.html", "audit": "live/audit.html"}


def read(path):
    with open(os.path.join(HERE, path), encoding="utf-8") as file:
        return file.read()


def source_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def make(page):
    """The page, and its policy."""
    style = "\n" + "\n".join(read(path) for path in STYLES)
    script = "\n(() => {\n'use strict';\n" + "\n".join(read(path) for path in SCRIPTS[page]) + "})();\n"
    assert "</script" not in script and "</style" not in style
    policy = f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; img-src data:; base-uri 'none'; form-action 'none'"
    html = read(PAGES[page]).replace("<!--STYLE-->", style, 1).replace("<!--SCRIPT-->", script, 1).replace("<!--POLICY-->", policy, 1)
    return html, policy + "; connect-src 'self'; frame-ancestors 'none'"


def bytes_of(text):
    data = text.encode()
    return ",\n".join(", ".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24))


def live_as_c(html, policy):
    return ("#include <stddef.h>\n"
            "extern const unsigned char live_page[];\nextern const size_t live_page_length;\nextern const char live_page_policy[];\n"
            f'const char live_page_policy[] = "{policy}";\n'
            f"const size_t live_page_length = {len(html.encode())};\n"
            f"const unsigned char live_page[] = {{\n{bytes_of(html)}}};\n")


def audit_as_c(html, _policy):
    """In three parts: up to the picture, up to the run, and the rest."""
    head, rest = html.split("<!--PICTURE-->")
    middle, tail = rest.split("<!--RUN-->")
    parts = {"head": head, "middle": middle, "tail": tail}
    return "#include <stddef.h>\n" + "".join(
        f"extern const unsigned char audit_page_{name}[];\nextern const size_t audit_page_{name}_length;\n"
        f"const size_t audit_page_{name}_length = {len(text.encode())};\nconst unsigned char audit_page_{name}[] = {{\n{bytes_of(text)}}};\n"
        for name, text in parts.items())


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join([*PAGES.values(), *STYLES, *dict.fromkeys(SCRIPTS["live"] + SCRIPTS["audit"])]))
        return
    page, output = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as file:
        file.write({"live": live_as_c, "audit": audit_as_c}[page](*make(page)))


if __name__ == "__main__":
    main()
