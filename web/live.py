#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the live page of `afteryou status --serve`: one HTML file, as a C file that goes into the command.

usage: live.py OUTPUT.c     or --list: what it is made of, relative to this directory

What the page may do is said by hashes of its script and its style (Content-Security-Policy): nothing else runs in it.
"""
import base64
import hashlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# In this order: each file may use what those before it define.
SCRIPTS = ["page/dom.js", "page/colours.js", "page/theme.js", "live/model.js", "live/history.js", "live/bands.js",
           "live/cells.js", "live/regions.js", "live/graph.js", "live/cluster.js", "live/stream.js", "live/main.js"]
STYLES = ["page/base.css", "page/frame.css", "live/live.css", "live/pictures.css"]
PAGE = "live/page.html"


def read(path):
    with open(os.path.join(HERE, path), encoding="utf-8") as file:
        return file.read()


def source_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def make():
    """The page, and its policy."""
    style = "\n" + "\n".join(read(path) for path in STYLES)
    script = "\n(() => {\n'use strict';\n" + "\n".join(read(path) for path in SCRIPTS) + "})();\n"
    assert "</script" not in script and "</style" not in style
    html = read(PAGE).replace("<!--STYLE-->", style, 1).replace("<!--SCRIPT-->", script, 1)
    policy = (f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; connect-src 'self'; "
              "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    return html, policy


def as_c(html, policy):
    data = html.encode()
    rows = [", ".join(str(byte) for byte in data[at:at + 24]) for at in range(0, len(data), 24)]
    return ("#include <stddef.h>\n"
            "extern const unsigned char live_page[];\nextern const size_t live_page_length;\nextern const char live_page_policy[];\n"
            f'const char live_page_policy[] = "{policy}";\n'
            f"const size_t live_page_length = {len(data)};\n"
            "const unsigned char live_page[] = {\n" + ",\n".join(rows) + "};\n")


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join([PAGE, *STYLES, *SCRIPTS]))
        return
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(as_c(*make()))


if __name__ == "__main__":
    main()
