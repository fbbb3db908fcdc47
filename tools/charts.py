#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Draws every chart of docs/results from the CSV files that lie there, with Debian's python3-matplotlib.

  charts.py [--from DIRECTORY] [--to DIRECTORY]     (./dev charts)

A chart whose rows are not there is not drawn. The drawings follow the reader's choice of light or dark.
"""
import argparse
import csv
import pathlib
import re
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot, ticker  # noqa: E402

from performance import PLACES, SECTIONS, Run  # noqa: E402

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "docs/results"
PAPER, INK, FAINT, GRID = "#ffffff", "#1f2328", "#59636e", "#d8dee4"
IN_THE_DARK = {PAPER: "#0d1117", INK: "#e6edf3", FAINT: "#9198a1", GRID: "#30363d"}
BLUE, ORANGE, GREEN, YELLOW, PINK, SKY = "#1f83c4", "#e0701a", "#12a37c", "#d9a300", "#cc79a7", "#56b4e9"
OURS = ("courtesy", "bakery", "region", "forks", "clock", "races", "pair")

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "afteryou", "font.family": ["DejaVu Sans", "sans-serif"], "font.size": 10,
    "figure.facecolor": PAPER, "axes.facecolor": PAPER, "legend.frameon": False, "axes.titlesize": 11, "axes.titleweight": "bold",
    "text.color": INK, "axes.labelcolor": INK, "axes.titlecolor": INK, "xtick.color": FAINT, "ytick.color": FAINT, "xtick.labelcolor": INK,
    "ytick.labelcolor": INK, "axes.edgecolor": FAINT, "axes.grid": True, "grid.color": GRID, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 2, "lines.markersize": 5,
})


def is_ours(peer):
    return peer.startswith(OURS)


def plainly(axis):
    """Numbers as people write them, on a logarithmic axis."""
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.15g}".replace(",", " ")))
    axis.set_minor_formatter(ticker.NullFormatter())


def save(figure, path):
    figure.savefig(path, metadata={"Date": None, "Creator": None}, bbox_inches="tight", pad_inches=.15)
    pyplot.close(figure)
    dark = "".join(f'[style*="{what}: {light}"]{{{what}:{night}!important}}'
                   for light, night in IN_THE_DARK.items() for what in ("fill", "stroke"))
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(<style type=\"text/css\">)", rf"\1@media (prefers-color-scheme: dark) {{{dark}}}", text, count=1)
    path.write_text(re.sub(r"[ \t]+$", "", text, flags=re.M), encoding="utf-8")


def draw_alone(run):
    """How the time alone grows with the places open. Ratios, for the rows may come from several runs."""
    figure, axes = pyplot.subplots(figsize=(8, 4.6))
    drawn = False
    for peer, colour in (("region", PINK), ("races", YELLOW), ("bakery", ORANGE), ("courtesy", BLUE), ("robust", FAINT), ("courtesy-retain", GREEN)):
        found = [(places, run.number(f"alone-{places}", peer, "ratio")) for places in PLACES]
        found = [(places, ratio) for places, ratio in found if ratio]
        if found:
            drawn = True
            axes.plot(*zip(*found), marker="o", color=colour)
            beside = (8, 0) if found[-1][0] == PLACES[-1] else (0, 12)
            axes.annotate(peer, found[-1], xytext=beside, textcoords="offset points", va="center", ha="left" if beside[0] else "center",
                          color=colour, fontweight="bold")
    axes.set(xscale="log", yscale="log", title="Alone: a passage, by the places open", xlabel="places open", ylabel="times the robust mutex")
    axes.set_xticks(PLACES)
    plainly(axes.xaxis), plainly(axes.yaxis)
    axes.minorticks_off()
    return figure if drawn else None


def draw_dots(panels, series, rows, name_of_axis, mark=None):
    """Names down the side, and for each a dot of every series. panels: {title: function of row and series}; None is no dot."""
    rows = [row for row in rows if any(value(row, of) for value in panels.values() for of in series)]
    if not rows:
        return None
    figure, columns = pyplot.subplots(1, len(panels), sharey=True, squeeze=False,
                                      figsize=(2.2 + 3.1 * max(len(panels), 1.6), 1.2 + .24 * len(rows)))
    for axes, (title, value) in zip(columns[0], panels.items()):
        for of, (words, colour) in series.items():
            found = [(value(row, of), at) for at, row in enumerate(rows) if value(row, of)]
            if found:
                axes.plot(*zip(*found), "o", color=colour, label=words, alpha=.9)
        if mark:
            axes.axvline(mark, color=FAINT, linewidth=1)
        axes.set(xscale="log", title=title, xlabel=name_of_axis)
        axes.xaxis.set_major_locator(ticker.LogLocator(numticks=6))
        plainly(axes.xaxis)
        axes.tick_params(axis="y", length=0)
    columns[0][0].set_yticks(range(len(rows)), rows)
    columns[0][0].invert_yaxis()
    for label in columns[0][0].get_yticklabels():
        label.set_color(BLUE if is_ours(label.get_text()) else INK)
    figure.tight_layout()
    figure.legend(*columns[0][0].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(.5, 1), ncol=len(series))
    return figure


def draw_contended(run):
    panels = {f"{members} processes": lambda peer, ns, members=members: run.number(f"contended-{members}-{ns}", peer, "ratio")
              for members in (2, 4, 8)}
    colours = dict(zip(SECTIONS, (SKY, BLUE, GREEN, ORANGE)))
    series = {ns: (words if ns == 0 else words + " inside", colours[ns]) for ns, words in SECTIONS.items()}
    cases = [f"contended-{members}-{ns}" for members in (2, 4, 8) for ns in SECTIONS]
    return draw_dots(panels, series, run.peers(*cases), "times the robust mutex", mark=1)


def draw_kill(run):
    series = {"kill-0": ("small holder", BLUE), "kill-256": ("256 MB holder", ORANGE)}
    panels = {"kill -9 of the holder, to the next one inside": lambda peer, case: run.number(case, peer, "ratio")}
    return draw_dots(panels, series, run.peers(*series), "times the robust mutex", mark=1)


def place_names(figure, axes, points):
    """Each name beside its point, where it covers least of what is drawn already."""
    figure.canvas.draw()
    pixel = axes.transData.transform
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in (pixel((x, y)) for x, y, _, _ in points)]
    inside = axes.get_window_extent()
    for x, y, name, colour in points:
        text = axes.annotate(name, (x, y), xytext=(0, 0), textcoords="offset points", color=colour, fontsize=9)
        size = text.get_window_extent()
        wide, high, scale = size.width, size.height, 72 / figure.dpi
        at_x, at_y = pixel((x, y))

        def box(shift):
            return at_x + shift[0], at_y + shift[1], at_x + shift[0] + wide, at_y + shift[1] + high

        def cost(shift):
            left, low, right, up = box(shift)
            over = sum(max(0, min(right, b) - max(left, a)) * max(0, min(up, d) - max(low, c)) for a, c, b, d in taken)
            outside = max(0, inside.x0 - left) + max(0, right - inside.x1 - 60) + max(0, inside.y0 - low)
            return over + 100 * outside + abs(shift[1] + high / 2) * .05

        shifts = [(dx, dy) for dy in (-high / 2, 5, -high - 5, 12, -high - 12, 20, -high - 20) for dx in (7, -wide - 7, -wide / 2)]
        best = min(shifts, key=cost)
        taken.append(box(best))
        text.xyann = best[0] * scale, best[1] * scale


def draw_overtaking(run):
    """What is paid, and what is got for it."""
    figure, columns = pyplot.subplots(1, 2, figsize=(11, 5.2))
    drawn = False
    for axes, members in zip(columns, (2, 8)):
        case = f"contended-{members}-1000"
        points = [(run.number(case, peer, "ratio"), run.number(case, peer, "overtaken"), peer, BLUE if is_ours(peer) else ORANGE)
                  for peer in run.peers(case)]
        points = [point for point in points if point[0] and point[1] is not None]
        for colour in (ORANGE, BLUE):
            axes.plot([x for x, _, _, c in points if c == colour], [y for _, y, _, c in points if c == colour], "o", color=colour)
        axes.set(xscale="log", title=f"{members} processes, 1 µs inside", xlabel="time of a passage, times the robust mutex",
                 ylabel="others that went in before one that waited, at most")
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=-.4, top=4 * max((y for _, y, _, _ in points), default=1) + 1)
        plainly(axes.xaxis), plainly(axes.yaxis)
        axes.margins(x=.15)
        drawn = drawn or bool(points)
        columns[1].set_ylabel("")
        figure.tight_layout()
        place_names(figure, axes, points)
    return figure if drawn else None


def draw_messages(tables):
    """Messages a passage, over the number of nodes."""
    titles = {"messages-even": "All nodes ask alike", "messages-hot": "One node makes 95 % of the requests"}
    tables = {titles[name]: rows for name, rows in tables.items()}
    if not tables:
        return None
    figure, columns = pyplot.subplots(1, len(tables), sharey=True, squeeze=False, figsize=(5.2 * len(tables), 4.4))
    colours = {"lamport": PINK, "ricart-agrawala": ORANGE, "carvalho-roucairol": BLUE, "token": GREEN}
    for axes, (title, rows) in zip(columns[0], tables.items()):
        for protocol, colour in colours.items():
            axes.plot([int(row["nodes"]) for row in rows if row["protocol"] == protocol],
                      [float(row["messages_per_passage"]) for row in rows if row["protocol"] == protocol], marker="o", color=colour, label=protocol)
        axes.set(xscale="log", yscale="log", title=title, xlabel="nodes")
        axes.set_xticks((2, 5, 10, 20, 50, 100))
        plainly(axes.xaxis), plainly(axes.yaxis)
        axes.minorticks_off()
    columns[0][0].set_ylabel("messages a passage")
    columns[0][0].legend()
    figure.tight_layout()
    return figure


def draw_handovers(rows):
    """What a hand-over between machines is made of: a bar for each number of machines and each way."""
    medians = {(row["case"], row["what"]): float(row["p50"]) / 1000 for row in rows if row["case"] != "machine"}
    wholes = [key for key in medians if re.fullmatch(r"hand-over, \d+ machines", key[0])]
    if not wholes:
        return None
    wholes.sort(key=lambda key: (key[1] == "relay", int(key[0].split()[1]), key[1]))
    figure, axes = pyplot.subplots(figsize=(9, 1.4 + .4 * len(wholes)))
    parts = {"agent": ("wake-up of the agent", ORANGE), "taking": ("taking back", YELLOW), "link": ("from agent to agent", BLUE),
             "waiter": ("wake-up of the waiter", GREEN)}
    before = [0.0] * len(wholes)
    for part, (words, colour) in parts.items():
        sizes = [medians[f"{case}, {part}", what] for case, what in wholes]
        axes.barh(range(len(wholes)), sizes, left=before, color=colour, label=words)
        before = [start + size for start, size in zip(before, sizes)]
    names = {"cluster": "afteryou", "relay": "a bare relay"}
    axes.set_yticks(range(len(wholes)), [f"{names.get(what, 'by the ' + what)}, {case.split()[1]} machines" for case, what in wholes])
    axes.set(title="A hand-over from machine to machine: medians of its parts", xlabel="µs")
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.invert_yaxis()
    axes.legend(loc="lower right")
    figure.tight_layout()
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", metavar="DIRECTORY", type=pathlib.Path, default=RESULTS)
    parser.add_argument("--to", metavar="DIRECTORY", type=pathlib.Path, default=RESULTS)
    words = parser.parse_args()
    figures = {}
    if (words.source / "performance.csv").exists():
        run = Run([words.source / "performance.csv"])
        figures = {"performance-alone": draw_alone(run), "performance-contended": draw_contended(run),
                   "performance-overtaking": draw_overtaking(run), "performance-kill": draw_kill(run)}
    tables = {}
    for name in ("messages-even", "messages-hot", "cluster"):
        if (words.source / f"{name}.csv").exists():
            with open(words.source / f"{name}.csv", newline="", encoding="utf-8") as file:
                tables[name] = list(csv.DictReader(file))
    figures["cluster"] = draw_handovers(tables.pop("cluster", []))
    figures["messages"] = draw_messages(tables)
    for name, figure in figures.items():
        if figure:
            save(figure, words.to / f"{name}.svg")
            print(words.to / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
