# SPDX-License-Identifier: MIT
"""What the tests of the command share: a space of their own, and ways to start, watch and await."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

AFTERYOU = os.environ["AFTERYOU"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = int(os.environ.get("PATIENCE", "60"))  # seconds; a loaded machine is no failure

# A shell starts what it puts into the background with these ignored, nohup(1) with the last one; what we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def wait_until(condition, what="the condition"):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise AssertionError(f"{what} did not come within {PATIENCE} s")


def is_running(pid):
    """Neither gone nor a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def children_of(pid):
    """Its children, zombies too."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and parent_of(entry) == pid:
                found.append(int(entry))
        except OSError:
            pass
    return found


def guards_of(wrapper):
    """The guardian and the deputy of a run that is inside."""
    def find(pid):
        for child in children_of(pid):
            try:
                with open(f"/proc/{child}/comm", encoding="ascii", errors="replace") as name:
                    if name.read() == "afteryou-guard\n":
                        return child
            except OSError:
                pass
        return None
    guardian = wait_until(lambda: find(wrapper), "the guardian")
    return guardian, wait_until(lambda: find(guardian), "the deputy")


def slowly(injection):
    """Words before a command: strace(1), which keeps it for a while at some of its system calls. None: it may not trace."""
    words = ["strace", "-DDD", "-qq", "-f", "-o", "/dev/null", "-e", "trace=" + injection.partition(":")[0], "-e",
             "inject=" + injection]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return words


class CommandTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-test-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        # A space of the test's own, on tmpfs.
        self.shared_memory = pathlib.Path(tempfile.mkdtemp(prefix="afteryou-test-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.shared_memory, ignore_errors=True)
        self.space = str(self.shared_memory / "space")
        self.environment = {**os.environ, "SHELL": "/bin/sh"}

    def words(self, name, *rest):
        return [AFTERYOU, "run", "-S", self.space, name, *rest]

    def run_it(self, *rest, name="x", **keywords):
        keywords.setdefault("timeout", PATIENCE)
        keywords.setdefault("cwd", self.directory)
        keywords.setdefault("env", self.environment)
        return subprocess.run(self.words(name, *rest), capture_output=True, text=True, check=False, **keywords)

    def start(self, *rest, name="x", **keywords):
        keywords.setdefault("cwd", self.directory)
        keywords.setdefault("env", self.environment)
        process = subprocess.Popen(self.words(name, *rest), text=True, **keywords)
        self.addCleanup(self.finish, process)
        return process

    def start_slowly(self, injection, *rest):
        """In a session of its own, by slowly()."""
        words = slowly(injection)
        if not words:
            self.skipTest("needs strace, which may trace")
        process = subprocess.Popen([*words, *self.words("x", *rest)], cwd=self.directory, env=self.environment,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(self.finish, process)
        return process

    @staticmethod
    def finish(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def afteryou(self, *words, **keywords):
        return subprocess.run([AFTERYOU, *words], capture_output=True, text=True, check=False, timeout=PATIENCE,
                              env=self.environment, **keywords)

    def file(self, name):
        return self.directory / name

    def number_in(self, name):
        """The number a command wrote into a file, once it is there."""
        def read():
            try:
                text = self.file(name).read_text()
            except OSError:
                return None
            return int(text) if text.endswith("\n") else None
        return wait_until(read, name)

    def is_free(self, name="x", *options):
        return self.run_it("-n", *options, "--", "true", name=name).returncode == 0
