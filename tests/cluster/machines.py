# SPDX-License-Identifier: MIT
"""A cluster of machines that are namespaces on this one, with a real Corosync and agent each, for tests.

A machine is a tree of processes in network, mount, PID and UTS namespaces of its own; its cable ends in a bridge in one more
network namespace. None of them has a name: all of it ends with its first process, that with this one, however it ends, and two
runs never meet. What is left is one directory, removed by close().
"""
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
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
    for program, package in (("corosync", "corosync"), ("ip", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux")):
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
    FURNISH = """set -e
mount -t tmpfs tmpfs /dev/shm
mount --bind "$1/etc" /etc/corosync
mount --bind "$1/$2/var" /var/lib/corosync
hostname "$2"
ip link set dev lo up
ip address add "$3/24" dev eth0
ip link set dev eth0 up
mount -t tmpfs -o mode=755 tmpfs /run
"""
    REAP = "while :; do sleep 1000 & wait $!; done"

    def __init__(self, cluster, name, address):
        self.cluster, self.name, self.address = cluster, name, address
        self.directory = cluster.directory / name
        (self.directory / "var").mkdir(parents=True, exist_ok=True)
        self.corosync = self.agent = self.holder = self.first = None
        self.power_on()

    def power_on(self):
        """The bare machine, plugged in; no daemon yet."""
        with open(self.directory / "unshare.log", "ab") as log:  # it complains when its child is killed
            self.holder = subprocess.Popen(
                ["unshare", "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child=KILL", "--mount-proc", "--propagation", "private",
                 "sh", "-c", self.REAP], stderr=log, preexec_fn=die_with_parent)
        self.first = wait_until(lambda: only_child_of(self.holder.pid), "the first process of a machine")
        wait_until(lambda: os.readlink(f"/proc/{self.first}/ns/net") != os.readlink("/proc/self/ns/net"), "its namespaces")
        self.cluster.at_switch("link", "add", "name", self.name, "type", "veth", "peer", "name", "eth0", "netns", str(self.first))
        self.cluster.at_switch("link", "set", "dev", self.name, "master", "switch", "up")
        subprocess.run(self.inside("sh", "-c", self.FURNISH, "sh", str(self.cluster.directory), self.name, self.address), check=True)

    def power_off(self):
        """Every process of it is killed at once, and its cable goes."""
        if self.holder.poll() is None:
            os.kill(self.first, signal.SIGKILL)
        self.holder.wait(PATIENCE)

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
        self.cluster.at_switch("link", "set", "dev", self.name, "down")

    def heal(self):
        self.cluster.at_switch("link", "set", "dev", self.name, "up")

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


class Cluster:
    def __init__(self, names="abc", agent_options=()):
        self.name = "test"
        self.agent_options = agent_options
        self.processes = []
        self.machines = []
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-cluster-"))
        self.switch = None
        try:
            self._build(names)
        except BaseException:
            self.close()
            raise

    def _build(self, names):
        addresses = [f"10.99.0.{at}" for at in range(1, len(names) + 1)]
        subprocess.run([AFTERYOU, "cluster", "init", "--name", self.name, "--token", str(TOKEN_MS), "--directory", self.directory / "etc",
                        "--nodes", ",".join(f"{name}={address}" for name, address in zip(names, addresses))],
                       check=True, stdout=subprocess.DEVNULL)
        with open(self.directory / "etc/corosync.conf", "a", encoding="ascii") as configuration:
            configuration.write("logging {\n to_syslog: no\n to_stderr: yes\n timestamp: hires\n}\n"
                                "system {\n sched_rr: no\n allow_knet_handle_fallback: yes\n}\n")
        self.switch = subprocess.Popen(["unshare", "--net", "--fork", "--kill-child=KILL", "sleep", "infinity"], preexec_fn=die_with_parent)
        wait_until(lambda: os.readlink(f"/proc/{self.switch.pid}/ns/net") != os.readlink("/proc/self/ns/net"), "the switch")
        self.at_switch("link", "add", "name", "switch", "type", "bridge")
        self.at_switch("link", "set", "dev", "switch", "up")
        for name, address in zip(names, addresses):
            self.machines.append(Machine(self, name, address))

    def at_switch(self, *words):
        subprocess.run(["nsenter", "-t", str(self.switch.pid), "-n", "--", "ip", *words], check=True)

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
        for machine in self.machines:
            machine.power_off()
        for process in self.processes:
            process.end()
        if self.switch:
            self.switch.kill()
            self.switch.wait(PATIENCE)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
