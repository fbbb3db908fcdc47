# SPDX-License-Identifier: MIT
"""A server of one thread that asks for regions on behalf of many, by asyncio. A client sends lines `NUMBER NAME`; once the
server is inside the region NAME, it answers `NUMBER FENCE`, and leaves. All requests are outstanding at once; meanwhile other
processes hold the same names, and one of them is killed every 10 ms.

usage: server.py SPACE [REQUESTS [NAMES]]
It is checked that none is lost, and that each name is served in order of arrival."""
import asyncio
import os
import random
import signal
import sys
import time

import afteryou

HOLDERS = 8


async def answer(space, line, writer):
    number, name = line.split()
    async with space.region(name) as region:  # asks, and gives the loop to the others until it is inside
        writer.write(f"{number} {region.fence}\n".encode())


async def serve(space, reader, writer):
    tasks = [asyncio.create_task(answer(space, line.decode(), writer)) async for line in reader]
    await asyncio.gather(*tasks)
    await writer.drain()
    writer.close()


async def request(path, names):
    """Sends all requests; the answers, as they come."""
    reader, writer = await asyncio.open_unix_connection(path)
    for number, name in enumerate(names):
        writer.write(f"{number} {name}\n".encode())
    await writer.drain()
    writer.write_eof()
    answers = [tuple(map(int, line.split())) async for line in reader]
    writer.close()
    return answers


async def work(space, names):
    path = space + ".socket"
    with afteryou.Space(space) as opened:
        server = await asyncio.start_unix_server(lambda *ends: serve(opened, *ends), path)
        async with server:
            answers = await request(path, names)
    os.unlink(path)
    return answers


def hold(space, names):
    """A child that is inside one of the names, or waits for it, until it is killed."""
    child = os.fork()
    if child == 0:
        try:
            afteryou.Space(space).region(random.choice(names)).enter()
            signal.pause()
        finally:
            os._exit(1)
    return child


def kill_holders(space, names, told):
    """Until the other end of the pipe is closed. Says how many it has killed."""
    children, killed = [hold(space, names) for _ in range(HOLDERS)], 0
    os.set_blocking(told, False)
    while not killed or not ended(told):
        time.sleep(0.01)
        os.kill(children[0], signal.SIGKILL)
        os.waitpid(children.pop(0), 0)
        children.append(hold(space, names))
        killed += 1
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(f"{killed} holders were killed", flush=True)


def ended(pipe):
    try:
        return os.read(pipe, 1) == b""
    except BlockingIOError:
        return False


def main():
    space = sys.argv[1]
    requests, count = [int(word) for word in sys.argv[2:]] + [1000, 20][len(sys.argv) - 2:]
    names = [f"name{number}" for number in range(count)]
    told, tell = os.pipe()
    killer = os.fork()
    if killer == 0:
        os.close(tell)
        kill_holders(space, names, told)
        os._exit(0)
    os.close(told)
    asked = [random.choice(names) for _ in range(requests)]
    began = time.monotonic()
    answers = asyncio.run(work(space, asked))
    took = time.monotonic() - began
    os.close(tell)
    os.waitpid(killer, 0)
    assert sorted(number for number, _ in answers) == list(range(requests)), "a request was lost"
    for name in names:
        fences = [fence for number, fence in sorted(answers) if asked[number] == name]
        assert fences == sorted(fences), f"{name} was not served in order of arrival"
    print(f"{requests} requests on {count} names were served, each name in order of arrival, in {took:.1f} s")
    afteryou.remove(space)


if __name__ == "__main__":
    main()
