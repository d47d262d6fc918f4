# SPDX-License-Identifier: Apache-2.0
"""How fast `gpufl serve --data` takes sealed windows, and what it keeps.

hosting_bench.py GPUFL INDEX_BENCH [--rows N] [--json FILE]

Over loopback, sender and server on the same cores: a session of 20 million kernels with both API times, window by
window on one connection, until each is acknowledged (durable) and until the timeline of all of them is ready
(indexed). Then small windows from eight connections at a time, and live lines likewise, each acknowledged alone.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

SENDERS = 8
SMALL_EACH = 250


class Server:
    def __init__(self, gpufl, data):
        self.gpufl, self.data = gpufl, data
        self.process = subprocess.Popen([gpufl, "serve", "--data", data, "--listen", "127.0.0.1:0"],
                                        stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)/", self.process.stdout.readline())[1])

    def make_key(self, scope):
        key = subprocess.run([self.gpufl, "admin", "key", "add", scope, "--scope", scope, "--data", self.data],
                             check=True, capture_output=True, text=True).stdout.strip()  # fmt: skip
        path = "/api/v1/ingest" if scope == "ingest" else "/api/v1/sessions"
        while self.ask(self.connect(), key, "GET", path)[0] == 401:
            time.sleep(0.1)
        return key

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def ask(self, connection, key, method, target, body=None):
        connection.request(method, target, body=body, headers={"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        return response.status, response.read()

    def send(self, connection, key, query, body):
        status, answer = self.ask(connection, key, "POST", f"/api/v1/events/stream?{query}", body)
        if status != 200:
            raise RuntimeError(f"{query}: {status} {answer[:300]}")

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def bytes_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def session_line(session, window):
    line = {"type": "session", "format": 1, "session_id": session, "start_wall_ns": "1794714312000000000",
            "start_monotonic_ns": "5000000000", "channel": "system", "window": window}  # fmt: skip
    return json.dumps(line).encode() + b"\n"


def small_ones(server, key, sender, is_live):
    """Seconds of each; a sender has a session of its own."""
    connection, took = server.connect(), []
    session = f"20261118T0000{10 * is_live + sender:02}Z-{sender:016x}"
    line = b'{"type":"event","time":1,"name":"bench"}\n' * 25
    offset = 0
    for number in range(1, SMALL_EACH + 1):
        query = f"session={session}&channel=system&host={sender}"
        if is_live:
            body = (session_line(session, 1) if number == 1 else b"") + line
            query += f"&kind=live&number=1&offset={offset}"
            offset += len(body)
        else:
            body = session_line(session, number) + line
            query += f"&kind=window&number={number}"
        before = time.monotonic()
        server.send(connection, key, query, body)
        took.append(time.monotonic() - before)
    return took


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufl")
    parser.add_argument("index_bench")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    figures = Figures()
    load = os.getloadavg()[0]  # of others, before anything is done here
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made, data = folder / "made", folder / "data"
        make = [arguments.index_bench, "--rows", str(arguments.rows), "--keep", made]
        subprocess.run(make, stdout=subprocess.DEVNULL, check=False)
        files = sorted((made / "one").glob("*.log.zst"))
        session = json.loads((made / "one" / "manifest.ndjson").read_text().splitlines()[0])["session_id"]
        pieces = []
        for path in files:
            channel, number = path.name.split(".")[:2]
            pieces.append((f"session={session}&kind=window&channel={channel}&number={number}", path.read_bytes()))
        pieces.append((f"session={session}&kind=manifest&version=1", (made / "one/manifest.ndjson").read_bytes()))
        with Server(arguments.gpufl, data) as server:
            key, reader = server.make_key("ingest"), server.make_key("read")
            connection = server.connect()
            before = time.monotonic()
            for query, body in pieces:
                server.send(connection, key, query, body)
            durable = time.monotonic() - before
            while True:
                status, answer = server.ask(connection, reader, "GET", f"/api/v1/sessions/{session}/tracks")
                if status == 200 and json.loads(answer)["is_complete"]:
                    break
                time.sleep(0.05)
            indexed = time.monotonic() - before
            kept = bytes_below(data / "workspaces") + bytes_below(data / "cache")
            peak = server.peak_mb()
            small, live = [], []
            for is_live, took in ((False, small), (True, live)):
                before = time.monotonic()
                with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
                    for times in pool.map(lambda n, kind=is_live: small_ones(server, key, n, kind), range(SENDERS)):
                        took.extend(times)
                took.append(time.monotonic() - before)
    figures.add_one("sealed windows, durable", arguments.rows / durable * 1e-6, "million kernels/s")
    figures.add_one("sealed windows, durable and indexed", arguments.rows / indexed * 1e-6, "million kernels/s", at_least=4)
    figures.add_one("kept, with index", kept / arguments.rows, "B a kernel", at_most=7.2)
    figures.add_one("peak memory", peak, "MB")
    for what, took in (("small windows", small), ("live lines", live)):
        total, times = took[-1], sorted(took[:-1])
        figures.add_one(f"{what}, {SENDERS} senders", len(times) / total, "a second")
        figures.add_one(f"{what}, acknowledged, p99", times[int(0.99 * (len(times) - 1))] * 1e3, "ms")
    return write_result("hosting_bench", figures, arguments.json, rows=arguments.rows, load_before=load)


if __name__ == "__main__":
    sys.exit(main())
