#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Locks of several machines beside a bare relay of the same shape, a Redis and a three-node etcd, in one run, alternating.

usage: run.py [--write] [--machines 3,5,8] [--planes PLANE,...] [PART...]      all parts if none is named
  passages   re-entry where the permission is, beside a region of one machine, Redis and etcd
  handover   from the release here to inside there, beside etcd and the relay, and what it is made of
  kill       from kill -9 of the holder to the next inside elsewhere; and the same with 0.5 % of all packets lost
  many       hand-overs a second of 100 names that three machines want at once
  units      from kill -9 of who holds 2 of 64 units to the next that has them elsewhere, with all others held, on 8 machines
  sizes      hand-overs with as many machines as are named
A plane is a way by which the agents' messages go; all there are if none is named: links (from agent to agent), ring (Corosync's).
--write: all parts; keeps what was measured in docs/results/cluster.csv, and makes docs/results/cluster.md and the README's table of it, at the end.
All parts of both planes take five minutes on two cores; with --planes links, three and a half.

The machines are those of tests/cluster/machines.py. Prints medians, the 99th of a hundred, the worst, and ratios; asserts nothing. BUILD is the
build directory, AFTERYOU the command. The relay (relay.c): a process writes to an eventfd, its agent sends 32 bytes over TCP, the other agent wakes
a process by a futex; on the same machines, through the same cables.
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/cluster"))
from machines import Cluster, die_with_parent, why_not  # noqa: E402
from peers import Peers  # noqa: E402
import report  # noqa: E402

BUILD = pathlib.Path(os.environ["BUILD"]).resolve()
PASSAGES, HANDOVER, RELAY, KILL, MANY = (BUILD / f"bench/cluster/bench-{name}" for name in ("passages", "handover", "relay", "kill", "many"))
ROUNDS, BATCHES = 9, 5
# So long inside, etcd, which looks after new watchers every 100 ms, has noticed that the other waits.
INSIDE_ETCD_US, INSIDE_US = 120000, 10000
HANDOVERS_ETCD, HANDOVERS, TURNS, KILLS, NAMES, MANY_SECONDS = 40, 150, 4, 300, 100, 5
UNITS, KILLS_OF_UNITS, MACHINES_OF_UNITS = 64, 100, 8  # as locks.h has them
FEWER = 3  # times less often by another plane, which is slow: enough for a median
AGENTS = ("--lease", "2", "--grace", "3")  # the first start of a cluster takes the grace
RELAY_PORT = 4567
PLANES = {"links": (), "ring": ("--no-links",)}  # with these options of the agent; the first is the one that is called the cluster
PARTS = ("agent", "taking", "link", "waiter")  # of a hand-over, as bench-handover prints them


class Bench:
    def __init__(self, peers, rows):
        self.peers, self.rows, self.boards = peers, rows, 0
        self.name = "cluster"  # of the plane that is measured

    @property
    def with_peers(self):
        """What is set beside the cluster is measured with the first plane."""
        return self.name == "cluster"

    def times(self, count):
        return count if self.with_peers else -(-count // FEWER)

    def board(self):
        """A file for programs on several machines to map."""
        self.boards += 1
        board = self.peers.directory / f"board{self.boards}"
        board.write_bytes(bytes(4096))
        return board

    def keep(self, case, what, values):
        self.rows.add(case, what, values)


def output_of(words):
    shown = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, words))}: {shown.stderr.strip()}")
    return shown.stdout


def at_once(*commands):
    """Started together: the lines that they print, each as a list of numbers."""
    started = [subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent) for words in commands]
    told = [process.communicate()[0] for process in started]
    if any(process.returncode for process in started):
        sys.exit(f"bench: {' '.join(map(str, commands[0]))} failed")
    return [[float(word) for word in line.split()] for text in told for line in text.splitlines()]


def space_of(cluster):
    return f"cluster:{cluster.name}"


def bench_passages(bench, cluster):
    local, machine = f"{bench.peers.directory}/local-space", cluster.machines[0]
    commands = {
        "one machine": machine.inside(PASSAGES, "space", local, "200000", str(BATCHES)),
        bench.name: machine.inside(PASSAGES, "space", space_of(cluster), "200000", str(BATCHES)),
        "redis": [PASSAGES, "redis", bench.peers.redis, "2000", str(BATCHES)],
        "etcd": [PASSAGES, "etcd", bench.peers.etcd[0], "20", str(BATCHES)],
    }
    found = {name: [] for name in commands if bench.with_peers or name == bench.name}
    for _ in range(ROUNDS):
        for name in found:
            found[name] += [float(line) for line in output_of(commands[name]).split()]
    for name, values in found.items():
        bench.keep("passage", name, values)


def hand_over(bench, cluster, count, inside_us, parts=False):
    """Lines of bench-handover, of two that hand the permission to each other."""
    board = bench.board()
    words = [HANDOVER, "space", space_of(cluster), board, str(count), str(inside_us)] + [f"/run/afteryou/{cluster.name}/agent"] * parts
    return at_once(*(machine.inside(*words) for machine in cluster.machines[:2]))


def relay(bench, cluster, count, inside_us):
    a, b = cluster.machines[:2]
    words = [a.address, str(RELAY_PORT), bench.board(), str(count), str(inside_us)]
    return at_once(a.inside(RELAY, "listen", *words), b.inside(RELAY, "dial", *words))


def keep_parts(bench, case, what, lines):
    bench.keep(case, what, [line[0] for line in lines])
    for at, part in enumerate(PARTS):
        bench.keep(f"{case}, {part}", what, [line[at + 1] for line in lines])


def exchange(bench, cluster, case, turns):
    """Hand-overs, and the relay between the same two."""
    ours, bare = [], []
    for _ in range(turns):
        bare += relay(bench, cluster, HANDOVERS, INSIDE_US) if bench.with_peers else []
        ours += hand_over(bench, cluster, HANDOVERS, INSIDE_US, parts=True)
    if bare:
        keep_parts(bench, case, "relay", bare)
    keep_parts(bench, case, bench.name, ours)


def hand_over_etcd(bench):
    board = bench.board()
    return at_once(*([HANDOVER, "etcd", str(port), board, str(HANDOVERS_ETCD), str(INSIDE_ETCD_US)] for port in bench.peers.etcd[:2]))


def bench_handover(bench, cluster):
    """Etcd first: it is ended then, so that what it does by itself disturbs nothing."""
    ours, theirs, bare = [], [], []
    for _ in range(2):
        ours += hand_over(bench, cluster, bench.times(HANDOVERS_ETCD), INSIDE_ETCD_US)
        theirs += hand_over_etcd(bench) if bench.with_peers else []
        bare += relay(bench, cluster, HANDOVERS_ETCD, INSIDE_ETCD_US) if bench.with_peers else []
    for what, lines in ((bench.name, ours), ("etcd", theirs), ("relay", bare)):
        if lines:
            bench.keep("hand-over after 120 ms", what, [line[0] for line in lines])
    bench.peers.end_servers()
    exchange(bench, cluster, "hand-over", bench.times(TURNS))


def kill_holders(bench, cluster, kind="space", count=KILLS):
    board = bench.board()
    count = bench.times(count)
    a, b = cluster.machines[:2]
    pages = [f"/run/afteryou/{cluster.name}/agent"] if kind == "space" else []
    return at_once(*(machine.inside(KILL, kind, role, space_of(cluster), board, str(count), *pages) for machine, role in ((a, "holder"), (b, "waiter"))))


def bench_kill(bench, cluster):
    keep_parts(bench, "kill -9", bench.name, kill_holders(bench, cluster))
    for machine in cluster.machines:
        machine.spoil(None, loss=0.005)
    bench.keep("kill -9, 0.5 % lost", bench.name, [line[0] for line in kill_holders(bench, cluster)])
    for machine in cluster.machines:
        machine.spoil(None)


def bench_many(bench, cluster):
    board = bench.board()
    counts = at_once(*(machine.inside(MANY, space_of(cluster), board, str(NAMES), str(MANY_SECONDS), str(at + 1))
                       for at, machine in enumerate(cluster.machines[:3])))
    bench.keep("100 names, a second", bench.name, [sum(line[1] for line in counts) / MANY_SECONDS])


def bench_units(bench, cluster):
    """All other units are held, by one process on each machine that neither kills nor waits."""
    others = cluster.machines[2:]
    fillers = []
    for at, machine in enumerate(others):
        share = (UNITS - 2) * (at + 1) // len(others) - (UNITS - 2) * at // len(others)
        fillers.append(machine.start_inside("bench units", "--take", str(share), "--of", str(UNITS), "-c", "echo in; exec sleep 10000",
                                            stdout=subprocess.PIPE, text=True))
        fillers[-1].process.stdout.readline()
    bench.keep("kill -9, 2 of 64 units", bench.name, [line[0] for line in kill_holders(bench, cluster, "units", KILLS_OF_UNITS)])
    for filler in fillers:
        filler.end()


def bench_size(bench, cluster):
    exchange(bench, cluster, f"hand-over, {len(cluster.machines)} machines", bench.times(2))


BENCHES = {"passages": bench_passages, "handover": bench_handover, "kill": bench_kill, "many": bench_many}


def idle_share(seconds=3):
    """How much of the processors nobody uses, before the bench begins."""
    def look():
        with open("/proc/stat", encoding="ascii") as file:
            times = [int(word) for word in file.readline().split()[1:9]]
        return times[3] + times[4], sum(times)
    before = look()
    time.sleep(seconds)
    after = look()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else f"{os.cpu_count()} processors"


def run_plane(bench, plane, chosen, sizes):
    bench.name = "cluster" if plane == next(iter(PLANES)) else plane
    if set(chosen) & set(BENCHES):
        with Cluster(agent_options=(*AGENTS, *PLANES[plane])) as cluster:
            cluster.start()
            for name, part in BENCHES.items():
                if name in chosen:
                    part(bench, cluster)
    if "units" in chosen:
        with Cluster("abcdefghi"[:MACHINES_OF_UNITS], agent_options=(*AGENTS, *PLANES[plane])) as cluster:
            cluster.start()
            bench_units(bench, cluster)
    for size in sizes if "sizes" in chosen else ():
        with Cluster("abcdefghi"[:size], agent_options=(*AGENTS, *PLANES[plane])) as cluster:
            cluster.start()
            bench_size(bench, cluster)


def words_of_command():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--machines", default="3,5,8")
    parser.add_argument("--planes", default=",".join(PLANES))
    parser.add_argument("parts", nargs="*")
    asked = parser.parse_args()
    asked.sizes = [int(word) for word in asked.machines.split(",") if word.isdigit()]
    asked.planes = asked.planes.split(",")
    if not set(asked.parts) <= {*BENCHES, "units", "sizes"}:
        parser.error(f"there is no part '{' '.join(asked.parts)}'")
    if asked.write and asked.parts:
        parser.error("--write measures all parts")
    if not set(asked.planes) <= set(PLANES):
        parser.error(f"there are the planes {', '.join(PLANES)}")
    if not asked.sizes or not all(2 <= size <= 9 for size in asked.sizes):
        parser.error("--machines takes numbers from 2 to 9, with commas between them")
    return asked


def main():
    asked = words_of_command()
    reason = why_not()
    if reason:
        sys.exit(f"bench: {reason}")
    rows = report.Rows(f"{processor()}, Linux {os.uname().release}", idle_share() > 0.8)
    with contextlib.closing(Peers(PASSAGES)) as peers:
        bench = Bench(peers, rows)
        for plane in asked.planes:
            run_plane(bench, plane, asked.parts or [*BENCHES, "units", "sizes"], asked.sizes)
    rows.tell_ratios()
    if asked.write:
        report.write(rows)


if __name__ == "__main__":
    main()
