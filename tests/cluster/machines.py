# SPDX-License-Identifier: MIT
"""A cluster of machines that are namespaces on this one, with a real Corosync and agent each, for tests and the bench.

The machines are those of `afteryou cluster try --bare`; here they get their daemons, which the tests start, stop and kill one by one.
All of it ends with the process that keeps them, that with this one, however it ends, and two runs never meet. What is left then is one
directory, removed by close().
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

AFTERYOU = os.environ["AFTERYOU"]
PATIENCE = int(os.environ.get("PATIENCE", "90"))  # seconds; a loaded machine is no failure
TOKEN_MS = 500
STATE = "/var/lib/corosync/afteryou"  # outlives a machine's power
SKIPPED = 77

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def why_not():
    """Why no cluster can be made here, or None."""
    if os.environ.get("WITH_COROSYNC") == "no":
        return "built without Corosync's libraries"
    if os.geteuid() != 0:
        return "needs root, for network namespaces"
    for program, package in (("corosync", "corosync"), ("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")):
        if not shutil.which(program):
            return f"needs {program} (Debian: {package})"
    tried = subprocess.run(["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "ip", "link", "add", "switch", "type", "bridge"],
                           capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        return f"cannot make namespaces with a bridge: {tried.stderr.strip()}"
    return None


def skip_unless_possible():
    reason = why_not()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(SKIPPED)


def wait_until(condition, what="the condition", patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come within {patience} s")


def only_child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        found = children.read().split()
    return int(found[0]) if found else None


def packets_to(address, share):
    """A filter for tc-bpf(8): that share of the packets, by chance; with an address, only of those of TCP to it."""
    load_random, load_protocol, load_address = (0x20, 0xfffff038), (0x30, 23), (0x20, 30)  # behind the Ethernet header
    is_equal, is_greater, answer = 0x15, 0x25, 0x06
    tests = [] if share >= 1 else [(load_random, is_greater, int(share * 2**32), False)]
    if address:
        tests += [(load_protocol, is_equal, socket.IPPROTO_TCP, True), (load_address, is_equal, int.from_bytes(socket.inet_aton(address), "big"), True)]
    program = []
    for at, ((load, where), compare, value, wanted) in enumerate(tests):
        to_no = 2 * (len(tests) - at - 1) + 1
        program += [(load, 0, 0, where), (compare, *((0, to_no) if wanted else (to_no, 0)), value)]
    program += [(answer, 0, 0, 0xffffffff), (answer, 0, 0, 0)]
    return f"{len(program)}," + ",".join(" ".join(map(str, line)) for line in program)


class Process:
    """A program on a machine: `process` is nsenter here, `pid` is the program as this machine numbers it."""

    def __init__(self, machine, words, **keywords):
        self.process = subprocess.Popen(machine.inside(*words), preexec_fn=die_with_parent, **keywords)
        machine.cluster.processes.append(self)
        self.pid = None

        def started():
            self.pid = only_child_of(self.process.pid) if self.process.poll() is None else None
            return self.pid or self.process.poll() is not None
        wait_until(started, words[0])

    def is_running(self):
        return self.process.poll() is None

    def kill(self, which=signal.SIGKILL):
        if self.pid and self.is_running():
            with contextlib.suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, which)

    def resume(self):
        """After SIGSTOP. nsenter stops itself when its child is stopped."""
        os.kill(self.pid, signal.SIGCONT)
        os.kill(self.process.pid, signal.SIGCONT)

    def end(self):
        """Killed, unless it has ended, and gone."""
        if self.is_running():
            self.kill()
            self.process.send_signal(signal.SIGCONT)
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()


class Machine:
    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.directory = cluster.directory / name
        self.corosync = self.agent = None

    @property
    def first(self):
        return int((self.directory / "first").read_text())

    def power_on(self):
        """The bare machine, plugged in; no daemon yet."""
        self.cluster.do("on", self.name)

    def power_off(self):
        """Every process of it is killed at once, and its cable goes."""
        self.cluster.do("off", self.name)

    def inside(self, *words):
        return ["nsenter", "-t", str(self.first), "-n", "-m", "-p", "-u", "--", *words]

    def start(self, *words, **keywords):
        return Process(self, words, **keywords)

    def run(self, *words, timeout=PATIENCE, **keywords):
        return subprocess.run(self.inside(*words), capture_output=True, text=True, check=False, timeout=timeout,
                              preexec_fn=die_with_parent, **keywords)

    def _service(self, name, *words):
        with open(self.directory / f"{name}.log", "ab") as log:
            return self.start(*words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start_corosync(self):
        self.corosync = self._service("corosync", "corosync", "-f")

    def start_agent(self, clusters="/run/afteryou"):
        self.agent = self._service("agent", "env", f"AFTERYOU_CLUSTERS={clusters}", AFTERYOU, "agent", "--cluster", self.cluster.name, "--state", STATE,
                                   *self.cluster.agent_options)

    def cut(self):
        self.cluster.do("cut", self.name)

    def heal(self):
        self.cluster.do("heal", self.name)

    @property
    def address(self):
        return f"10.99.0.{self.cluster.machines.index(self) + 1}"

    def _tc(self, *words, may_fail=False):
        done = self.run("tc", *words)
        assert may_fail or done.returncode == 0, f"tc {' '.join(words)}: {done.stderr}"

    def spoil(self, to, loss=0.0, rate=None):
        """Of what this machine sends by TCP to that one, and so of their link in this direction, so much is lost (1: all); the rest goes at that rate ("8kbit").
        `to` is None: of all that it sends, Corosync's datagrams too, but for what other calls are about. Without words: it is mended."""
        self._tc("qdisc", "add", "dev", "eth0", "root", "handle", "1:", "htb", may_fail=True)  # or it is there
        own = 2 * (self.cluster.machines.index(to) if to else len(self.cluster.machines))
        for at, share, qdisc, words in ((own + 1, loss, "blackhole", ("rate", "10gbit")),
                                        (own + 2, 1 if rate else 0, "pfifo", ("rate", rate, "burst", "200", "cburst", "200"))):
            self._tc("filter", "delete", "dev", "eth0", "parent", "1:", "prio", str(at), may_fail=True)  # or there is none
            self._tc("class", "delete", "dev", "eth0", "classid", f"1:{at:x}", may_fail=True)
            if share:
                self._tc("class", "add", "dev", "eth0", "parent", "1:", "classid", f"1:{at:x}", "htb", *words)
                self._tc("qdisc", "add", "dev", "eth0", "parent", f"1:{at:x}", qdisc)
                self._tc("filter", "add", "dev", "eth0", "parent", "1:", "prio", str(at), "protocol", "ip",
                         "bpf", "bytecode", packets_to(to and to.address, share), "flowid", f"1:{at:x}")

    def drop_connections(self, to):
        """This machine forgets its TCP connections with that one, which is not told if what this one sends is lost."""
        done = self.run("ss", "--kill", "--tcp", "dst", to.address)
        assert done.returncode == 0, done.stderr

    def members(self):
        """The nodes that Corosync sees, and whether they are a majority; None if it does not answer."""
        try:
            shown = self.run("corosync-quorumtool", "-s", timeout=5).stdout
        except subprocess.TimeoutExpired:
            return None
        lines = shown.splitlines()
        counts = [int(line.split()[1]) for line in lines if line.startswith("Nodes:")]
        quorate = any(line.split() == ["Quorate:", "Yes"] for line in lines)
        return (counts[0], quorate) if counts else None

    def log(self, name="agent"):
        path = self.directory / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def run_inside(self, region, *words, **keywords):
        """`afteryou run` here, to its end."""
        return self.run(AFTERYOU, "run", region, "--cluster", self.cluster.name, *words, **keywords)

    def start_inside(self, region, *words, **keywords):
        return self.start(AFTERYOU, "run", region, "--cluster", self.cluster.name, *words, **keywords)


def spoil_link(one, other, **how):
    """The link of two machines, in both directions: see Machine.spoil()."""
    one.spoil(other, **how)
    other.spoil(one, **how)


def make_half_open(one, other):
    """`one` has no connection with `other` any more, and `other` thinks that it has."""
    spoil_link(one, other, loss=1)
    one.drop_connections(other)
    spoil_link(one, other)


class Cluster:
    def __init__(self, names="abc", agent_options=()):
        self.name = "test"
        self.agent_options = agent_options
        self.processes = []
        self.machines = []
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-cluster-"))
        self.keeper = None
        try:
            self._build(names)
        except BaseException:
            self.close()
            raise

    def _build(self, names):
        self.keeper = subprocess.Popen(
            [AFTERYOU, "cluster", "try", "--bare", "--name", self.name, "--token", str(TOKEN_MS), "--nodes", str(len(names)),
             "--directory", self.directory], stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        said = self.keeper.stdout.readline()
        assert "are up" in said, f"the machines did not come up: {said}"
        self.machines = [Machine(self, name) for name in names]

    def do(self, *words):
        subprocess.run([AFTERYOU, "cluster", "try", "--directory", self.directory, *words], check=True)

    def start_corosyncs(self):
        for machine in self.machines:
            machine.start_corosync()
        self.wait_for_members(len(self.machines))

    def wait_for_members(self, count, machines=None):
        for machine in machines or self.machines:
            wait_until(lambda m=machine: m.members() == (count, count * 2 > len(self.machines)),
                       f"{count} members at {machine.name}")

    def start_agents(self):
        for machine in self.machines:
            machine.start_agent()

    def start(self):
        self.start_corosyncs()
        self.start_agents()
        for machine in self.machines:
            wait_until(lambda m=machine: m.run_inside("ready", "-w", "5", "--", "true").returncode == 0, f"the agent of {machine.name}")
        return self

    def close(self):
        if self.keeper:
            self.keeper.terminate()
            self.keeper.wait(PATIENCE)
            self.keeper.stdout.close()
        for process in self.processes:
            process.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
