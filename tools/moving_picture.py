#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes the moving picture of the README: four commands, a kill -9, the next one in. It needs no script.

  moving_picture.py AFTERYOU [--to FILE]     (./dev picture)

The commands are run for real, and traced; the picture shows what the trace tells, at its own pace.
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

RESULTS = pathlib.Path(__file__).resolve().parent.parent / "docs/results"
LETTERS = "ABCD"
STAY, BETWEEN, BEFORE_KILL = 2.0, 0.6, 1.2  # seconds: inside, from one start to the next, of the second inside until its end
KILLED = "B"
INSIDE_X, QUEUE_X, APART, TOP = 36, 236, 132, 92
MOVE = 0.3  # seconds that a box takes to its next place


def start(afteryou, space, letter, trace):
    """One `afteryou run`, in a session of its own, that tells its letter by its command."""
    environment = dict(os.environ, AFTERYOU_TRACE=str(trace))
    return subprocess.Popen([afteryou, "run", "deploy", "-S", space, "--", "sh", "-c",
                             f'echo "$AFTERYOU_AFTER_DEATH"; exec sleep {STAY}'],
                            env=environment, stdout=subprocess.PIPE, text=True)


def await_entry(trace, process, deadline):
    while time.monotonic() < deadline:
        if any(event["event"] == "enter" and event["process"] == process for event in read(trace)):
            return
        time.sleep(.01)
    raise SystemExit(f"moving_picture: {process} was not inside within its time")


def read(trace):
    lines = trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []
    return [event for event in map(json.loads, lines) if event.get("region") == "deploy"]


def run(afteryou):
    """[(seconds, letter, what)] with what one of request, enter, leave, killed; and what C was told."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        trace, space = pathlib.Path(directory, "trace"), str(pathlib.Path(directory, "space"))
        commands, names = {}, {}
        for letter in LETTERS:
            commands[letter] = start(afteryou, space, letter, trace)
            while len({event["process"] for event in read(trace)}) <= len(names):
                time.sleep(.01)
            names.update({event["process"]: letter for event in read(trace) if event["process"] not in names})
            time.sleep(BETWEEN)
        await_entry(trace, next(process for process, letter in names.items() if letter == KILLED),
                    time.monotonic() + 60)
        time.sleep(BEFORE_KILL)
        killed_at = time.clock_gettime(time.CLOCK_MONOTONIC)
        commands[KILLED].send_signal(signal.SIGKILL)
        told = {letter: command.communicate()[0].strip() for letter, command in commands.items()}
        events = [(event["at"] / 1e9, names[event["process"]], event["event"]) for event in read(trace)
                  if event["event"] in ("request", "enter", "leave")]
    after = [letter for letter, words in told.items() if words == "1"]
    if after != ["C"]:
        raise SystemExit(f"moving_picture: C should have been told of the death, and were: {after}")
    events.append((killed_at, KILLED, "killed"))
    begin = min(events)[0]
    return sorted((seconds - begin, letter, what) for seconds, letter, what in events)


def places(events):
    """For each letter [(seconds, x, y, state)]: where its box stands from then on."""
    queue, inside, stations = [], None, {letter: [] for letter in LETTERS}

    def settle(seconds):
        for place, letter in enumerate(queue):
            stations[letter].append((seconds, QUEUE_X + APART * place, TOP, "waits"))

    for seconds, letter, what in events:
        if what == "request":
            queue.append(letter)
        elif what == "enter":
            queue.remove(letter)
            inside = letter
            stations[letter].append((seconds, INSIDE_X, TOP, "inside"))
        elif inside == letter:
            inside = None
            stations[letter].append((seconds, INSIDE_X, TOP + 92, "dead" if what == "killed" else "gone"))
        settle(seconds)
    return stations


def keyframes(name, steps, whole):
    """steps: [(seconds, declarations)], each reached MOVE after its time and kept until the next."""
    lines, before = [], None
    for seconds, declarations in steps:
        if before is not None:
            lines.append((seconds, before))
        lines.append((seconds + (MOVE if before is not None else 0), declarations))
        before = declarations
    lines.append((whole, before))
    text = "".join(f"{100 * min(seconds, whole) / whole:.2f}%{{{declarations}}}" for seconds, declarations in lines)
    return f"@keyframes {name}{{{text}}}\n"


COLOUR = {"waits": "#d9a300", "inside": "#12a37c", "dead": "#d1242f", "gone": "#8c959f"}


def draw(events):
    whole = events[-1][0] + 2.0
    style, boxes = [], []
    for letter, stations in places(events).items():
        steps = [(0, f"transform:translate(760px,{TOP}px);fill:{COLOUR['waits']};opacity:0")]
        steps += [(seconds, f"transform:translate({x}px,{y}px);fill:{COLOUR[state]};"
                            f"opacity:{0 if state == 'gone' else 1}") for seconds, x, y, state in stations]
        style.append(keyframes(f"box-{letter}", steps, whole))
        style.append(f".box-{letter}{{animation:box-{letter} {whole:.1f}s infinite}}\n")
        boxes.append(f'<g class="box box-{letter}"><rect width="116" height="52" rx="8"/>'
                     f'<text x="58" y="32" class="letter">./{letter.lower()}.sh</text></g>')
    entered = next(seconds for seconds, letter, what in events if letter == "C" and what == "enter")
    killed = next(seconds for seconds, letter, what in events if what == "killed")
    later = (entered - killed) * 1000
    captions = [(seconds + .01, f"$ afteryou run deploy -- ./{letter.lower()}.sh")
                for seconds, letter, what in events if what == "request"]
    captions += [(killed, f"$ kill -9 … the holder, ./{KILLED.lower()}.sh"),
                 (killed + .8, f"./c.sh is inside {later:.1f} ms later, and is told: AFTERYOU_AFTER_DEATH=1")]
    captions += [(next(seconds for seconds, letter, what in events if letter == "D" and what == "enter"),
                  "… and so on, in order of arrival")]
    words = []
    for number, (seconds, text) in enumerate(captions):
        until = captions[number + 1][0] if number + 1 < len(captions) else whole
        style.append(f"@keyframes words-{number}{{0%{{visibility:hidden}}{100 * seconds / whole:.2f}%{{visibility:visible}}"
                     f"{100 * until / whole:.2f}%{{visibility:hidden}}}}\n"
                     f".words-{number}{{animation:words-{number} {whole:.1f}s step-end infinite}}\n")
        words.append(f'<text x="36" y="40" class="words words-{number}">{text}</text>')
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 260" role="img" aria-labelledby="title what">
<title id="title">Four commands, a kill -9, the next one in</title>
<desc id="what">Four commands want the region deploy. They are inside one after the other, in order of arrival. The second is
killed with SIGKILL while it is inside; the third is inside {later:.1f} ms later, and is told of the death.</desc>
<style>
svg{{background:#fff}} text{{font:15px ui-monospace,monospace;fill:#1f2328}} .letter{{text-anchor:middle;fill:#fff;font-weight:bold}}
.faint{{fill:#59636e;font-size:13px}} .room{{fill:none;stroke:#59636e;stroke-width:2}} .words{{visibility:hidden}}
@media (prefers-color-scheme: dark){{svg{{background:#0d1117}} text{{fill:#e6edf3}} .faint{{fill:#9198a1}} .room{{stroke:#9198a1}}}}
{"".join(style)}@media (prefers-reduced-motion: reduce){{.box,.words{{animation-play-state:paused;animation-delay:-{killed + .9:.1f}s}}}}
</style>
<rect class="room" x="24" y="74" width="140" height="88" rx="12"/><text x="24" y="64" class="faint">inside deploy</text>
<text x="236" y="64" class="faint">the queue</text>
{chr(10).join(boxes)}
{chr(10).join(words)}
</svg>
"""


def main():
    parser = argparse.ArgumentParser(description="Makes the moving picture of the README.")
    parser.add_argument("afteryou")
    parser.add_argument("--to", type=pathlib.Path, default=RESULTS / "queue.svg")
    options = parser.parse_args()
    options.to.write_text(draw(run(options.afteryou)), encoding="utf-8")


if __name__ == "__main__":
    main()
