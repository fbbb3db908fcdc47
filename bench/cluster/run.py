#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A lock of three machines beside a lock of this machine, of a Redis and of a three-node etcd, in one run, alternating.

usage: run.py [passages | handover | kill]      all three if none is named
       run.py --write                           all three, and puts the table into README.md

The machines are those of tests/cluster/machines.py; Redis and etcd listen on a socket and on loopback ports of their own. Prints medians, the
middle half, and ratios; asserts nothing. BUILD is the build directory, AFTERYOU the command.
"""
import contextlib
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests/cluster"))
from machines import Cluster, die_with_parent, wait_until, why_not  # noqa: E402

BUILD = pathlib.Path(os.environ["BUILD"]).resolve()
PASSAGES, HANDOVER, HOLDER = BUILD / "bench/cluster/bench-passages", BUILD / "bench/cluster/bench-handover", BUILD / "tests/cluster/cluster-holder"
BEGIN, END = "<!-- the cluster, measured -->", "<!-- end of the cluster -->"
ROUNDS, BATCHES, HANDOVERS, KILLS = 15, 5, 60, 30


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Peers:
    """A Redis and three etcds, in a directory of their own; ended by their pids."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-bench-"))
        self.processes = []
        self.redis = self.directory / "redis.sock"
        self._start("redis-server", "--port", "0", "--unixsocket", str(self.redis), "--save", "", "--appendonly", "no")
        ports = free_ports(6)
        self.etcd, peers = ports[:3], ports[3:]
        everyone = ",".join(f"n{at}=http://127.0.0.1:{port}" for at, port in enumerate(peers))
        for at in range(3):
            client, peer = f"http://127.0.0.1:{self.etcd[at]}", f"http://127.0.0.1:{peers[at]}"
            self._start("etcd", "--name", f"n{at}", "--data-dir", str(self.directory / f"etcd{at}"),
                        "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
                        "--initial-advertise-peer-urls", peer, "--initial-cluster", everyone, "--initial-cluster-state", "new")
        wait_until(self.redis.exists, "Redis")
        for port in self.etcd:
            wait_until(lambda p=port: self.answers(p), "etcd")

    def answers(self, port):
        return subprocess.run([PASSAGES, "etcd", str(port), "1", "1"], capture_output=True, check=False).returncode == 0

    def _start(self, *words):
        with open(self.directory / f"{words[0]}.log", "ab") as log:
            self.processes.append(subprocess.Popen(words, cwd=self.directory, stdout=log, stderr=log, preexec_fn=die_with_parent))

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def figures(words):
    shown = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        sys.exit(f"bench: {' '.join(map(str, words))}: {shown.stderr.strip()}")
    return [float(line) for line in shown.stdout.split()]


def in_words(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def tell(name, values):
    low, middle, high = statistics.quantiles(values, n=4)
    print(f"  {name:44} {in_words(middle):>10}   ({in_words(low)} to {in_words(high)}, {len(values)} figures)", flush=True)
    return middle


def bench_passages(cluster, peers):
    print("A passage whose way is free (the machine has the permission):")
    local = f"{peers.directory}/local-space"
    machine = cluster.machines[0]
    found = {"a region of this machine": [], "a region of the cluster": [], "Redis, one server, Unix socket": [], "etcd, three nodes, loopback": []}
    for _ in range(ROUNDS):
        found["a region of this machine"] += figures(machine.inside(PASSAGES, "space", local, "200000", str(BATCHES)))
        found["a region of the cluster"] += figures(machine.inside(PASSAGES, "space", f"cluster:{cluster.name}", "200000", str(BATCHES)))
        found["Redis, one server, Unix socket"] += figures([PASSAGES, "redis", peers.redis, "2000", str(BATCHES)])
        found["etcd, three nodes, loopback"] += figures([PASSAGES, "etcd", peers.etcd[0], "20", str(BATCHES)])
    middles = [tell(name, values) for name, values in found.items()]
    rounds = [[statistics.median(values[at:at + BATCHES]) for values in found.values()] for at in range(0, ROUNDS * BATCHES, BATCHES)]
    for name, ratios in (("cluster / local", [ours / local for local, ours, _, _ in rounds]),
                         ("Redis / cluster", [redis / ours for _, ours, redis, _ in rounds]),
                         ("etcd / cluster", [etcd / ours for _, ours, _, etcd in rounds])):
        low, middle, high = statistics.quantiles(ratios, n=4)
        digits = 2 if middle < 10 else 0
        print(f"  {name:44} {middle:>10,.{digits}f}   ({low:,.{digits}f} to {high:,.{digits}f}, {len(ratios)} rounds)")
    print()
    return middles


def exchange(first, second):
    """Two that hand over to each other; all that they measured."""
    both = [subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
            for words in (first, second)]
    told = [process.communicate()[0] for process in both]
    return [float(line) for text in told for line in text.split()]


def bench_handover(cluster, peers):
    print("Hand-over: from the release here until the next is inside there:")
    a, b = cluster.machines[:2]
    ours, theirs = [], []
    for turn in range(4):
        board = peers.directory / f"board{turn}"
        board.write_bytes(bytes(4096))
        if turn % 2 == 0:
            ours += exchange(*(m.inside(HANDOVER, "space", f"cluster:{cluster.name}", board, str(HANDOVERS)) for m in (a, b)))
        else:
            theirs += exchange(*([HANDOVER, "etcd", str(port), board, str(HANDOVERS)] for port in peers.etcd[:2]))
    mine = tell("between machines of the cluster", ours)
    etcd = tell("between clients of two etcd nodes", theirs)
    print(f"  etcd / cluster {etcd / mine:.1f}\n")
    return mine, etcd


def bench_kill(cluster, _peers):
    print("kill -9 of the holder on one machine, until the next is inside on another:")
    a, b = cluster.machines[:2]
    taken = []
    for _ in range(KILLS):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        holder = a.start(HOLDER, f"cluster:{cluster.name}", "kill", **pipes)
        assert holder.process.stdout.readline().startswith("entered")
        waiter = b.start(HOLDER, f"cluster:{cluster.name}", "kill", **pipes)
        time.sleep(0.1)
        killed = time.monotonic_ns()
        holder.kill()
        word, _, when, *_ = waiter.process.stdout.readline().split()
        assert word == "entered"
        taken.append(int(when) - killed)
        holder.end()
        waiter.end()
    middle = tell("from the kill to the next inside", taken)
    print(f"  slowest {in_words(max(taken))}\n")
    return middle


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


def write_table(readme, measured, quiet):
    """The table between the two marks of the README."""
    local, cluster, redis, etcd = (in_words(value) for value in measured["passages"])
    here, there = (in_words(value) for value in measured["handover"])
    doubt = "" if quiet else ", on a machine too busy to trust it"
    table = (f"{BEGIN}\nMedians of one run (`./dev bench cluster --write`, three machines of namespaces and three etcds on {os.cpu_count()} "
             f"processors{doubt}):\n\n"
             "| | afteryou, three machines | Redis, one server | etcd, three nodes |\n| --- | --- | --- | --- |\n"
             f"| enter and leave where the permission is | {cluster} (a region of one machine: {local}) | {redis} | {etcd} |\n"
             f"| from the release here to the next inside there | {here} | | {there} |\n"
             f"| from kill -9 of the holder to the next inside elsewhere | {in_words(measured['kill'])} | its expiry | its lease |\n{END}")
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    readme.write_text(before + table + rest.split(END)[1], encoding="utf-8")


BENCHES = {"passages": bench_passages, "handover": bench_handover, "kill": bench_kill}


def main():
    reason = why_not()
    if reason:
        sys.exit(f"bench: {reason}")
    writes = sys.argv[1:] == ["--write"]
    chosen = list(BENCHES) if writes else sys.argv[1:] or list(BENCHES)
    quiet = idle_share() > 0.8
    if not set(chosen) <= set(BENCHES):
        sys.exit(__doc__)
    with contextlib.closing(Peers()) as peers, Cluster() as cluster:
        cluster.start()
        measured = {name: BENCHES[name](cluster, peers) for name in chosen}
    if writes:
        write_table(HERE.parents[1] / "README.md", measured, quiet)


if __name__ == "__main__":
    main()
