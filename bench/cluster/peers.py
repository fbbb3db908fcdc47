# SPDX-License-Identifier: MIT
"""The servers that the bench of the cluster sets beside it: a Redis and a three-node etcd, on a socket and on loopback ports of their own."""
import pathlib
import shutil
import socket
import subprocess
import tempfile

from machines import die_with_parent, wait_until


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Peers:
    """In a directory of their own; ended by their pids."""

    def __init__(self, passages):
        """`passages` is the program that tries whether a server answers."""
        self.passages = passages
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
        return subprocess.run([self.passages, "etcd", str(port), "1", "1"], capture_output=True, check=False).returncode == 0

    def _start(self, *words):
        with open(self.directory / f"{words[0]}.log", "ab") as log:
            self.processes.append(subprocess.Popen(words, cwd=self.directory, stdout=log, stderr=log, preexec_fn=die_with_parent))

    def end_servers(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes = []

    def close(self):
        self.end_servers()
        shutil.rmtree(self.directory, ignore_errors=True)
