#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`afteryou status --serve` without a browser: what it answers, whom it refuses, what it survives, when it ends.

usage: server.py AFTERYOU [NAME...]
"""
import json
import os
import resource
import socket
import stat
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support import SECONDS_MOST, Events, Scene, ask, places, port_of, run_tests, wait_until  # noqa: E402
import signal  # noqa: E402

AFTERYOU = sys.argv[1]
TEN_MEGABYTES = 10_000_000


def wake_ups(pid):
    """How often it has slept, so far."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))


def sleeps_for_good(pid):
    """It sleeps, and nothing wakes it."""
    before = wake_ups(pid)
    time.sleep(0.5)
    return wake_ups(pid) == before


def read_all(connection):
    told = b""
    while True:
        part = connection.recv(65536)
        if not part:
            return told
        told += part


def raw(url, request):
    """What is answered to these bytes; b"" if the connection is just closed."""
    with socket.create_connection(("127.0.0.1", port_of(url)), timeout=60) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has heard enough
        try:
            return read_all(connection)
        except ConnectionResetError:
            return b""


def without_times(told):
    told = json.loads(json.dumps(told))
    del told["time"]
    for place in places(told):
        del place["seconds"]
    return told


def test_tells_what_status_tells():
    with Scene(AFTERYOU) as scene:
        scene.run("x")
        scene.run("<script>alert(1)</script>", "-s")
        scene.await_states("x", ["inside"])
        scene.await_states("<script>alert(1)</script>", ["inside"])
        _, url = scene.serve("127.0.0.1:0")
        status, headers, text = ask(url, "/status.json")
        assert status == 200 and headers["Content-Type"] == "application/json"
        assert without_times(json.loads(text)) == without_times(scene.status())
        events = Events(url)
        assert without_times(events.next()) == without_times(scene.status())
        events.close()


def test_the_page_may_do_nothing_but_ask_here():
    with Scene(AFTERYOU) as scene:
        _, url = scene.serve("127.0.0.1:0")
        status, headers, text = ask(url)
        assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff" and headers["Referrer-Policy"] == "no-referrer"
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text, "nothing is fetched"
        assert ask(url, "/", "HEAD")[::2] == (200, "")


def test_an_entry_a_death_and_the_next_one_are_told():
    with Scene(AFTERYOU) as scene:
        _, url = scene.serve("127.0.0.1:0")
        events = Events(url)
        assert places(events.next()) == []
        first = scene.run("x")
        told = events.until(lambda told: [place["state"] for place in places(told, "x")] == ["inside"], "the entry")
        assert places(told)[0]["pid"] != 0
        scene.run("x")
        events.until(lambda told: sorted(place["state"] for place in places(told, "x")) == ["inside", "waiting"], "the queue")
        holder = places(told)[0]["pid"]
        scene.end(first)
        events.until(lambda told: [place["state"] for place in places(told, "x") if place["pid"] != holder] == ["inside"], "the next one")
        events.close()


def apply_change(told, change):
    """What was told, as one who keeps it has it after a change."""
    for space in change["spaces"]:
        kept = next(each for each in told["spaces"] if each["name"] == space["name"])
        seen = {place["place"]: place for place in kept["seen"]}
        for place in space.pop("gone"):
            del seen[place]
        for place, order in space.pop("orders"):
            seen[place]["order"] = order
        seen.update({place["place"]: place for place in space["seen"]})
        kept.update(space, seen=list(seen.values()))
    told.update({name: change[name] for name in ("removed", "unreadable")})


def in_order(told):
    for space in told["spaces"]:
        space["seen"].sort(key=lambda place: place["place"])
    return without_times(told)


def test_changes_add_up_to_what_status_tells():
    """A queue that moves up, deaths, a region that comes, a space that comes: what is kept is what a look tells."""
    with Scene(AFTERYOU) as scene:
        _, url = scene.serve("127.0.0.1:0")
        running = [scene.run("x") for _ in range(4)]
        scene.await_states("x", ["inside"] + ["waiting"] * 3)
        events = Events(url, "/events?changes=1")
        kept = events.next()
        changes = 0

        def follow():
            nonlocal kept, changes
            end = time.monotonic() + SECONDS_MOST
            while in_order(kept) != in_order(scene.status()):
                assert time.monotonic() < end, "what was told does not become what status tells"
                told = events.next()
                changes += events.kind == "change"
                if events.kind == "change":
                    apply_change(kept, told)
                else:
                    kept = told
        follow()
        scene.end(running[0])  # inside: the next one goes in, and the others move up
        scene.await_states("x", ["inside"] + ["waiting"] * 2)
        follow()
        scene.end(running[2])
        scene.await_states("x", ["inside", "waiting"])
        follow()
        scene.run("y", "-s")
        scene.await_states("y", ["inside"])
        follow()
        assert changes >= 3, changes
        scene.run("z", "-S", os.path.join(scene.spaces, "other"))
        scene.await_states("z", ["inside"])
        follow()
        events.close()


def test_a_space_that_is_removed_while_it_is_shown_is_told_at_once():
    with Scene(AFTERYOU) as scene:
        scene.run("x")
        scene.await_states("x", ["inside"])
        _, url = scene.serve("127.0.0.1:0")
        events = Events(url)
        assert len(places(events.next(), "x")) == 1
        path = os.path.join(scene.spaces, "default")
        os.unlink(path)
        told = events.until(lambda told: not told["spaces"], "it has gone")
        assert {each["path"] for each in told["removed"]} == {path}, "and who still has it is told with it"
        scene.run("y")
        events.until(lambda told: places(told, "y"), "its successor is shown")
        events.close()


def test_nobody_looks_and_nothing_is_looked_at():
    with Scene(AFTERYOU) as scene:
        scene.run("x")
        scene.await_states("x", ["inside"])
        server, url = scene.serve("127.0.0.1:0")
        wait_until(lambda: sleeps_for_good(server.pid), "it sleeps before anybody has asked")
        events = Events(url)
        events.next()
        assert not sleeps_for_good(server.pid), "it looks while somebody reads"
        events.close()
        wait_until(lambda: sleeps_for_good(server.pid), "it sleeps again")


def test_one_who_does_not_read_keeps_nobody_waiting():
    with Scene(AFTERYOU) as scene:
        _, url = scene.serve("127.0.0.1:0")
        lazy = Events(url)
        events = Events(url)
        for number in range(3):
            end = os.path.join(scene.directory, f"end{number}")
            scene.run("x", command=("sh", "-c", f"until [ -e {end} ]; do sleep 0.02; done"))
            events.until(lambda told: [place["state"] for place in places(told, "x")] == ["inside"], f"entry {number}")
            with open(end, "w", encoding="ascii"):
                pass
            events.until(lambda told: not places(told, "x"), f"end {number}")
        assert places(lazy.next()) == [], "what it was sent first"
        lazy.close()
        events.close()


def test_only_what_was_asked_for():
    with Scene(AFTERYOU) as scene:
        scene.run("x")
        scene.run("y")
        scene.await_states("y", ["inside"])
        scene.await_states("x", ["inside"])
        _, url = scene.serve("127.0.0.1:0", "y")
        assert [place["names"] for place in places(json.loads(ask(url, "/status.json")[2]))] == [["y"]]
        _, url = scene.serve("-S", os.path.join(scene.spaces, "nowhere"))
        status, _, text = ask(url, "/status.json")
        assert status == 503 and "nowhere" in json.loads(text)["error"]


def test_names_of_others_are_refused():
    """A page of another name, which an attacker has pointed at this machine, gets nothing."""
    with Scene(AFTERYOU) as scene:
        _, url = scene.serve("127.0.0.1:0")
        port = port_of(url)
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost", "127.0.0.1", f"[::1]:{port}", "localhost:9999"):
            assert ask(url, "/", headers={"Host": host})[0] == 200, host
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1", "1", "0x7f.1",
                     "127.0.0.1@evil.example"):
            status, _, text = ask(url, "/events", headers={"Host": host})
            assert status in (400, 403) and "data:" not in text, host


def test_beyond_this_machine_a_token_is_needed():
    with Scene(AFTERYOU) as scene:
        server, url = scene.serve("0.0.0.0:0")
        assert "warning: 0.0.0.0 can be reached from other machines" in server.stderr.readline()
        token = url.partition("?token=")[2]
        assert len(token) == 32, url
        for path in ("/", "/events", "/status.json"):
            for wrong in ("", "?token=", "?token=" + "0" * 32, "?token=" + token[:-1], "?token=" + token + "0", "?token"):
                status, _, text = ask(url, path + wrong)
                assert status == 403 and "token is missing or wrong" in text, path + wrong
        assert ask(url, "/?token=" + token, headers={"Host": "machine.example"})[0] == 200
        assert "spaces" in json.loads(ask(url, "/status.json?token=" + token)[2])
        events = Events(url, "/events?token=" + token)
        assert events.next()["spaces"] == []
        events.close()
        other, its_url = scene.serve("0.0.0.0:0")
        assert its_url.partition("?token=")[2] != token and other.poll() is None


def test_it_is_read_only():
    with Scene(AFTERYOU) as scene:
        _, url = scene.serve("127.0.0.1:0")
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "NONSENSE"):
            status, headers, text = ask(url, "/", method)
            assert status == 405 and headers["Allow"] == "GET, HEAD" and "only GET" in text, method
        assert ask(url, "/nothing")[0] == 404
        assert ask(url, "/../../etc/passwd")[0] == 404


def test_ten_megabytes_get_a_clear_answer():
    with Scene(AFTERYOU) as scene:
        server, url = scene.serve("127.0.0.1:0")
        big = "x" * TEN_MEGABYTES
        assert ask(url, "/", "POST", body=big)[0] == 405
        assert ask(url, "/", "GET", body=big)[0] == 413
        for request in (f"GET /{big} HTTP/1.1\r\nHost: localhost\r\n\r\n", f"GET / HTTP/1.1\r\nHost: localhost\r\nA: {big}\r\n\r\n"):
            answer = raw(url, request.encode())
            assert answer == b"" or answer.split()[1] in (b"413", b"414", b"431"), answer[:80]
        assert ask(url)[0] == 200 and server.poll() is None


def test_garbage_harms_nothing():
    with Scene(AFTERYOU) as scene:
        server, url = scene.serve("127.0.0.1:0")
        for garbage in (b"", b"\0", b"\r\n\r\n", b"GET", b"GET /\r\n\r\n", b"\xff" * 5000, b"GET / HTTP/9.9\r\n\r\n", os.urandom(5000),
                        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                        b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            answer = raw(url, garbage)
            assert b"200 OK" not in answer, garbage[:40]
        assert ask(url)[0] == 200 and server.poll() is None


def test_a_thousand_connections():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 3000:
        print("     skipped: no more than", hard, "descriptors here")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 3000), hard))
    with Scene(AFTERYOU) as scene:
        server, url = scene.serve("127.0.0.1:0")
        idle = [socket.create_connection(("127.0.0.1", port_of(url)), timeout=60) for _ in range(1000)]
        assert ask(url)[0] == 200, "those that say nothing keep nobody out"
        for connection in idle:
            connection.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answers = [connection.recv(64) for connection in idle]
        assert all(answer.startswith(b"HTTP/1.1 ") for answer in answers)
        served = sum(answer.split()[1] == b"200" for answer in answers)
        assert served == 64 and sum(answer.split()[1] == b"503" for answer in answers) == 936, served
        assert ask(url)[0] == 200
        assert "close one" in ask(url, "/events")[2]
        for connection in idle:
            connection.close()
        wait_until(lambda: sleeps_for_good(server.pid), "all have gone")
        events = Events(url)
        events.next()
        events.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_who_asks_for_ever_is_sent_away():
    """A byte now and then keeps the library's patience, and a place that others want."""
    with Scene(AFTERYOU) as scene:
        server, url = scene.serve("127.0.0.1:0")
        stream = Events(url)
        stream.next()
        slow = [socket.create_connection(("127.0.0.1", port_of(url)), timeout=60) for _ in range(20)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        end = time.monotonic() + SECONDS_MOST
        while slow and time.monotonic() < end:
            time.sleep(0.3)
            for connection in slow.copy():
                try:
                    connection.sendall(b"x")
                except OSError:
                    slow.remove(connection)
        assert not slow, f"{len(slow)} of those who never end their request are still there"
        scene.run("x")
        wait_until(lambda: "x" in json.dumps(stream.next()), "a stream goes on")
        stream.close()
        wait_until(lambda: sleeps_for_good(server.pid), "nobody is there")


def test_who_does_not_read_its_answers_takes_no_memory():
    with Scene(AFTERYOU) as scene:
        crowd = scene.crowd(1200)
        path = os.path.join(scene.directory, "socket")  # which takes some 200 KB of what is not read
        scene.serve(f"unix:{path}")

        def asked():
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(60)
            connection.connect(path)
            connection.sendall(b"GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return connection
        readers = [asked() for _ in range(100)]
        answers = [connection.recv(12) for connection in readers]
        assert answers.count(b"HTTP/1.1 200") == 64 and answers.count(b"HTTP/1.1 503") == 36, "the others are told so"
        for connection in readers:
            connection.close()

        def served():
            with asked() as connection:
                return connection.recv(12) == b"HTTP/1.1 200"
        wait_until(served, "others can read again")
        crowd.stdin.close()


def test_a_socket_of_this_user_alone():
    with Scene(AFTERYOU) as scene:
        path = os.path.join(scene.directory, "live")
        server, url = scene.serve(f"unix:{path}")
        assert url == f"unix:{path}" and stat.S_IMODE(os.stat(path).st_mode) == 0o600
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in read_all(connection)
        refused = scene.start("status", "--serve", f"unix:{path}", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert refused.wait(60) == 125 and "Address already in use" in refused.stderr.read()
        scene.end(server)
        assert os.path.exists(path), "it was killed, and left it"
        server, _ = scene.serve(f"unix:{path}")
        assert scene.end(server, signal.SIGTERM) == 128 + signal.SIGTERM
        assert not os.path.exists(path), "it ended, and took it away"
        with open(path, "w", encoding="ascii") as file:
            file.write("mine")
        refused = scene.start("status", "--serve", f"unix:{path}", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert refused.wait(60) == 125
        with open(path, encoding="ascii") as file:
            assert file.read() == "mine", "what is no socket stays"


def test_it_ends_when_told():
    with Scene(AFTERYOU) as scene:
        for number, code in ((signal.SIGINT, 0), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)):
            server, url = scene.serve("127.0.0.1:0")
            events = Events(url)
            events.next()
            assert scene.end(server, number) == code, number
            events.close()
        server, _ = scene.serve("127.0.0.1:0")
        server.stdout.close()
        assert server.wait(60) == 0, "nobody reads what it prints any more"
        with open("/dev/full", "w", encoding="ascii") as full:
            server = scene.start("status", "--serve", "127.0.0.1:0", stdout=full, stderr=subprocess.PIPE, text=True)
            assert server.wait(60) == 125 and "cannot write to standard output" in server.stderr.read()


def test_the_first_free_port():
    with Scene(AFTERYOU) as scene:
        urls = {scene.serve()[1] for _ in range(3)}
        assert len(urls) == 3 and all(8642 <= port_of(url) < 9000 for url in urls), urls
        assert all(url.startswith("http://127.0.0.1:") for url in urls)
        taken = port_of(urls.pop())
        refused = scene.start("status", "--serve", f"127.0.0.1:{taken}", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert refused.wait(60) == 125 and "a free port is taken" in refused.stderr.read()


def test_addresses_that_make_no_sense():
    with Scene(AFTERYOU) as scene:
        for words, said in ((["--serve=127.0.0.1:99999"], "takes HOST:PORT"), (["--serve=:"], "takes HOST:PORT"), (["--serve=::1:x"], "takes HOST:PORT"),
                            (["--serve="], "takes HOST:PORT"), (["--serve", "unix:"], "1 to 107 bytes"), (["--serve", "unix:" + "x" * 200], "1 to 107 bytes"),
                            (["--serve", "no-such-machine.invalid:80"], "is no address"), (["--serve", "192.0.2.1:0"], "cannot listen at 192.0.2.1:0"),
                            (["--serve", "--json"], "leave out --json"), (["--serve", "--watch"], "leave out --json"),
                            (["--serve", "--sort", "pid"], "--sort"), (["--serve", f"unix:{scene.directory}/no/where"], "cannot listen at")):
            process = scene.start("status", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert process.wait(60) == 125, words
            told = process.stderr.read()
            assert said in told and told.count("\n") == 1 and process.stdout.read() == "", (words, told)
            scene.end(process)


if __name__ == "__main__":
    if "without libmicrohttpd" in subprocess.run([AFTERYOU, "status", "--serve", "unix:"], capture_output=True, text=True, check=False).stderr:
        print("SKIP: built without libmicrohttpd")
        sys.exit(77)
    sys.exit(run_tests(globals(), sys.argv[2:]))
