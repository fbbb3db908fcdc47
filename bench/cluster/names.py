#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that come and go on three machines: how many a second, what those cost that are open at once, and how soon they are forgotten.

usage: names.py [COUNT]      so many open at once, on all machines together (30,000)

The machines are those of tests/cluster/machines.py. Asserts nothing. BUILD is the build directory, AFTERYOU the command. The memory of a name is what the
agent's own memory and its pages have grown by, divided by all names: each agent knows all of them, and has those in its pages that its machine uses. It is the
least of some seconds: what a look for unused names takes is given back at its end.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/cluster"))
from machines import Cluster, why_not  # noqa: E402

MANY = pathlib.Path(os.environ["BUILD"]).resolve() / "tests/cluster/cluster-many"
PAUSE, SAMPLES = 0.1, 50


def known_names(machine):
    shown = machine.run("curl", "-s", "--unix-socket", f"/run/afteryou/{machine.cluster.name}/metrics", "http://localhost/metrics")
    return int(re.search(r"^afteryou_agent_resources\{.*\} (\d+)$", shown.stdout, re.MULTILINE)[1])


def memory(machine):
    """Of the agent: its own, and of its pages what is there."""
    with open(f"/proc/{machine.agent.pid}/smaps_rollup", encoding="ascii") as rollup:
        own = 1024 * int(re.search(r"^Anonymous: +(\d+) kB", rollup.read(), re.MULTILINE)[1])
    pages = machine.run("stat", "-c", "%b", f"/run/afteryou/{machine.cluster.name}/agent")
    return own + 512 * int(pages.stdout)


def least_memory(machine):
    found = []
    for _ in range(SAMPLES):
        found.append(memory(machine))
        time.sleep(PAUSE)
    return min(found)


def start(cluster, prefix, count, *words):
    return [machine.start(MANY, f"cluster:{cluster.name}", f"{prefix}-{machine.name}", str(count), *words,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for machine in cluster.machines]


def end(processes):
    for each in processes:
        each.process.stdin.close()
        said = each.process.stdout.read()
        if "failed" in said:
            sys.exit(said)


def wait_until_forgotten(cluster):
    begin = time.monotonic()
    while any(known_names(machine) for machine in cluster.machines):
        time.sleep(PAUSE)
    return time.monotonic() - begin


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30000
    if why_not():
        sys.exit(why_not())
    with Cluster(agent_options=("--lease", "5", "--grace", "8")) as cluster:
        cluster.start()
        each = count // len(cluster.machines)
        wait_until_forgotten(cluster)
        begin = time.monotonic()
        end(start(cluster, "turn", each // 10))
        took = time.monotonic() - begin
        print(f"one after the other: {len(cluster.machines) * (each // 10) / took:.0f} names a second, opened, entered and closed", flush=True)
        print(f"forgotten by all after {wait_until_forgotten(cluster):.1f} s", flush=True)
        before = [memory(machine) for machine in cluster.machines]
        begin = time.monotonic()
        processes = start(cluster, "open", each, "open")
        for process in processes:
            said = process.process.stdout.readline()
            if said != "open\n":
                sys.exit(said)
        took = time.monotonic() - begin
        known = [known_names(machine) for machine in cluster.machines]
        grown = [(least_memory(machine) - was) / (each * len(cluster.machines)) for machine, was in zip(cluster.machines, before)]
        print(f"open at once: {known} names known, after {took:.1f} s; bytes a name and agent: {', '.join(f'{bytes_:.0f}' for bytes_ in grown)}", flush=True)
        begin = time.monotonic()
        end(processes)
        took = time.monotonic() - begin
        print(f"closed: after {took:.1f} s; forgotten by all {wait_until_forgotten(cluster):.1f} s later")
        cuts = [why for machine in cluster.machines for why in re.findall(r'event=cut why="([^"]*)"', machine.log())]
        print(f"agents that were cut off meanwhile, which the ring of a busy computer may cause: {len(cuts)} {sorted(set(cuts))}")


if __name__ == "__main__":
    main()
