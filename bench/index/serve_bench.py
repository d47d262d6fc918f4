# SPDX-License-Identifier: Apache-2.0
"""What `gpufl serve` answers, and how soon, over a folder of 1,000 sessions, ten of which have 20 million
kernels each.

serve_bench.py GPUFL INDEX_BENCH EXAMPLE_SESSION [--rows N] [--json FILE]

Over loopback, with the page cache warm: 40 tracks of 1,600 steps in one request at random places and zooms,
kernels with median and p99, the first tile after a start of the server with its indexes there, and the
server's peak memory while ten clients pan the ten sessions at the same time.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

LARGE, SMALL = 10, 990
REQUESTS = 1000
PAN_REQUESTS = 60  # of each client


def link_session(source, target):
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.is_file():
            os.link(path, target / path.name)


class Server:
    def __init__(self, gpufl, folder, cache):
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [gpufl, "serve", folder, "--cache", cache, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, text=True)  # fmt: skip
        found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\w+)", self.process.stdout.readline())
        self.port, self.token = int(found[1]), found[2]

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def get(self, connection, path):
        while True:
            connection.request("GET", "/api/v1" + path, headers={"Authorization": f"Bearer {self.token}"})
            response = connection.getresponse()
            body = response.read()
            if response.status == 200:
                return body
            if response.status not in (202, 503):
                raise RuntimeError(f"{path}: {response.status} {body[:200]}")
            time.sleep(0.1)

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def ids_of_large(server, connection, own):
    sessions = json.loads(server.get(connection, "/sessions?q=load_bench&limit=1000"))["sessions"]
    return [session["id"] for session in sessions if session["app"] == "load_bench" and session["id"] != own]


def wait_for_index(server, connection, session):
    while not (tracks := json.loads(server.get(connection, f"/sessions/{session}/tracks")))["is_complete"]:
        time.sleep(0.2)
    return tracks


def random_tile(chance, session, tracks):
    first, last = tracks["span"]
    length = last - first
    span = int(length * (1e4 / length) ** chance.random()) + 1
    begin = first + int((length - span) * chance.random())
    names = [t["id"] for t in tracks["tracks"] if t["kind"] in ("kernels", "kernel_calls")][:40]
    return f"/sessions/{session}/tiles?from={begin}&to={begin + span}&width=1600&tracks={','.join(names)}"


def timed_ms(action):
    before = time.monotonic()
    action()
    return (time.monotonic() - before) * 1e3


def pan(server, session, seed):
    connection, chance = server.connect(), random.Random(seed)
    tracks = wait_for_index(server, connection, session)
    for _ in range(PAN_REQUESTS):
        server.get(connection, random_tile(chance, session, tracks))


def share_of(values, share):
    return sorted(values)[int(share * (len(values) - 1))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufl")
    parser.add_argument("index_bench")
    parser.add_argument("example")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made, logs, cache = folder / "made", folder / "logs", folder / "cache"
        make = [arguments.index_bench, "--rows", str(arguments.rows), "--keep", made]
        subprocess.run(make, stdout=subprocess.DEVNULL, check=False)
        for number in range(LARGE):
            link_session(made / "many", logs / f"large{number}")
        # One under its own name, which the server finds without having looked at all of the others.
        line = (made / "one" / "manifest.ndjson").read_text().splitlines()[0]
        own = json.loads(line)["session_id"]
        link_session(made / "one", logs / own)
        for number in range(SMALL):
            link_session(pathlib.Path(arguments.example), logs / f"small{number}")

        chance = random.Random(1)
        with Server(arguments.gpufl, logs, cache) as server:
            connection = server.connect()
            sessions = ids_of_large(server, connection, own)
            tracks = wait_for_index(server, connection, sessions[0])

            def timed(path):
                return timed_ms(lambda: server.get(connection, path))

            tiles = [timed(random_tile(chance, sessions[0], tracks)) for _ in range(REQUESTS)]
            kernels = [timed(f"/sessions/{sessions[0]}/kernels") for _ in range(REQUESTS)]
            with concurrent.futures.ThreadPoolExecutor(LARGE) as clients:
                list(clients.map(lambda at: pan(server, sessions[at], at), range(LARGE)))
            peak_mb = server.peak_mb()
            path = random_tile(chance, own, wait_for_index(server, connection, own))
        first = []
        for _ in range(5):
            with Server(arguments.gpufl, logs, cache) as server:
                server.get(server.connect(), path)
                first.append((time.monotonic() - server.started) * 1e3)
    figures.add_one("40 tracks in one request, p95", share_of(tiles, 0.95), "ms", at_most=60)
    figures.add_one("40 tracks in one request, median", share_of(tiles, 0.5), "ms")
    figures.add_one("kernels with median and p99, p95", share_of(kernels, 0.95), "ms", at_most=20)
    figures.add("first tile, from the start of the server", first, "ms", at_most=150)
    figures.add_one("peak memory, ten clients on ten sessions beside 990", peak_mb, "MB", at_most=400)
    return write_result("serve_bench", figures, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
