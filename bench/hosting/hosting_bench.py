# SPDX-License-Identifier: Apache-2.0
"""How fast `gpufl serve --data` takes sealed windows, and what it keeps.

hosting_bench.py GPUFL INDEX_BENCH [--rows N] [--json FILE]

Over loopback, sender and server on the same cores: a session of 20 million kernels with both API times, window by
window on one connection, until each is acknowledged (durable) and until the timeline of all of them is ready
(indexed). Then small windows from eight connections at a time, and live lines likewise, each acknowledged alone.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from hosted import Server, memory_mb, share_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

SENDERS = 8
SMALL_EACH = 250


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
            peak = memory_mb(server.process.pid, "VmHWM")
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
        total, times = took[-1], took[:-1]
        figures.add_one(f"{what}, {SENDERS} senders", len(times) / total, "a second")
        figures.add_one(f"{what}, acknowledged, p99", share_of(times, 0.99) * 1e3, "ms")
    return write_result("hosting_bench", figures, arguments.json, rows=arguments.rows, load_before=load)


if __name__ == "__main__":
    sys.exit(main())
