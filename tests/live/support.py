# SPDX-License-Identifier: MIT
"""A live page that serves a directory of spaces of its own, and the commands that are seen there."""
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PYTHON = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "bindings", "python")
CROWD = """
import sys, afteryou
with afteryou.Space() as space:
    regions = [space.region(f"held-{number:04}") for number in range(int(sys.argv[1]))]
    for region in regions:
        region.enter()
    print("ready", flush=True)
    sys.stdin.read()
"""
SECONDS_MOST = 60  # for anything to appear: generous, since machines are loaded

# A shell starts what it puts into the background with these ignored, and what we start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def wait_until(condition, what):
    end = time.monotonic() + SECONDS_MOST
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    raise AssertionError(f"not within {SECONDS_MOST} s: {what}")


class Scene:
    """Spaces of its own, commands that run in them, and a server that shows them."""

    def __init__(self, afteryou):
        self.afteryou = afteryou
        self.directory = tempfile.mkdtemp(prefix="afteryou-test-", dir="/dev/shm")
        os.mkdir(self.spaces, 0o700)
        self.environment = {**os.environ, "AFTERYOU_DIR": self.spaces}
        self.processes = []
        self.stopped = []

    @property
    def spaces(self):
        return os.path.join(self.directory, "spaces")

    def close(self):
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.processes:
            self.end(process)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def end(process, number=signal.SIGKILL):
        """By its id, and what it is in charge of with it. Its exit status."""
        if process.poll() is None:
            process.send_signal(number)
        process.wait(SECONDS_MOST)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
        return process.returncode

    def start(self, *words, **keywords):
        process = subprocess.Popen([self.afteryou, *words], env=self.environment, **keywords)
        self.processes.append(process)
        return process

    def run(self, name, *words, command=("sleep", "1000")):
        """Of a command that is ended when its wrapper is."""
        return self.start("run", *words, name, "--", *command)

    def serve(self, *words):
        """Serves; the process, and the URL that it prints."""
        process = self.start("status", "--serve", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        url = process.stdout.readline().strip()
        assert url, process.stderr.read()
        return process, url

    def status(self):
        shown = subprocess.run([self.afteryou, "status", "--json"], env=self.environment, capture_output=True, text=True, check=True)
        return json.loads(shown.stdout)

    def await_states(self, name, states):
        """Until the places of that region are in these states, whichever is which."""
        def found():
            seen = [place["state"] for space in self.status()["spaces"] for place in space["seen"] if name in place["names"]]
            return sorted(seen) == sorted(states)
        wait_until(found, f"{name}: {states}")

    def crowd(self, count):
        """One process inside so many regions, held-0000 and so on, until its stdin ends."""
        crowd = subprocess.Popen([sys.executable, "-c", CROWD, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 env={**self.environment, "PYTHONPATH": PYTHON, "LIBAFTERYOU": os.path.join(os.path.dirname(self.afteryou), "libafteryou.so")})
        self.processes.append(crowd)
        assert crowd.stdout.readline() == "ready\n"
        return crowd

    def deadlock(self):
        """Two commands that are inside one region each, and want the other's: for a second, then one of them yields."""
        first, second = tempfile.mktemp(dir=self.directory), tempfile.mktemp(dir=self.directory)
        script = 'touch "$1"; until [ -e "$2" ]; do sleep 0.02; done; exec "$3" run -w 1000 "$4" -- true 2>/dev/null'
        return [self.run(name, command=("sh", "-c", script, "sh", mine, its, self.afteryou, wanted))
                for mine, its, name, wanted in ((first, second, "left", "right"), (second, first, "right", "left"))]

    def kept_deadlock(self):
        """The same, with those that wait stopped, so that nobody yields."""
        while True:
            self.deadlock()
            waiting = wait_until(self.both_wait, "both wait")
            for pid in waiting:
                os.kill(pid, signal.SIGSTOP)
            if any(space["cycles"] for space in self.status()["spaces"]):
                self.stopped += waiting
                return
            for pid in waiting:
                os.kill(pid, signal.SIGCONT)
            self.await_states("left", [])
            self.await_states("right", [])

    def both_wait(self):
        waiting = [place["pid"] for place in places(self.status()) if place["state"] == "waiting" and place["names"] in (["left"], ["right"])]
        return waiting if len(waiting) == 2 else None


def port_of(url):
    return int(re.search(r":(\d+)/", url).group(1))


def ask(url, path="/", method="GET", headers=None, body=None):
    """The status, the headers and the text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=SECONDS_MOST)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read().decode()
    finally:
        connection.close()


class Events:
    """The stream, as a page reads it."""

    def __init__(self, url, path="/events"):
        self.connection = http.client.HTTPConnection("127.0.0.1", port_of(url), timeout=SECONDS_MOST)
        self.connection.request("GET", path)
        self.answer = self.connection.getresponse()
        self.status = self.answer.status
        self.kind = None

    def next(self):
        """The next document; `kind` is its event's."""
        self.kind = "message"
        end = time.monotonic() + SECONDS_MOST
        while time.monotonic() < end:
            line = self.answer.readline()
            assert line, "the stream has ended"
            if line.startswith(b"event: "):
                self.kind = line[len(b"event: "):].decode().strip()
            if line.startswith(b"data: "):
                return json.loads(line[len(b"data: "):])
        raise AssertionError("nothing is told")

    def until(self, condition, what):
        end = time.monotonic() + SECONDS_MOST
        while time.monotonic() < end:
            told = self.next()
            if condition(told):
                return told
        raise AssertionError(f"never told: {what}")

    def close(self):
        self.connection.close()


def places(told, name=None):
    return [place for space in told["spaces"] for place in space["seen"] if name is None or name in place["names"]]


def processor_time(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run_tests(names, wanted, *arguments):
    """Every test_… of the names, or those wanted. An exit status."""
    failed = 0
    for name, test in [(name[len("test_"):], test) for name, test in names.items() if name.startswith("test_")]:
        if wanted and name not in wanted:
            continue
        began = time.monotonic()
        try:
            test(*arguments)
            print(f"ok   {name.replace('_', ' ')} ({time.monotonic() - began:.1f} s)", flush=True)
        except Exception as error:  # the next test still says what it finds
            failed += 1
            print(f"FAIL {name.replace('_', ' ')}: {type(error).__name__}: {error}", flush=True)
    sys.stdout.flush()
    return 1 if failed else 0
