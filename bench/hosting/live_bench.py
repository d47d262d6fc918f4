# SPDX-License-Identifier: Apache-2.0
"""How soon somebody who looks on hears of a scope that has ended in a program on another machine.

live_bench.py GPUFL AGENT SCOPE_PROGRAM [--quick] [--json FILE]

A program records scopes, which end at irregular times; gpufl-agent sends its lines over loopback to
`gpufl serve --data`; a client listens to the server's event stream. A scope has arrived with the first event `session`
after which the server has the scope's row: on getting the event, the lines that the server keeps are read.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from hosted import Server, share_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

SCOPES, QUICK_SCOPES = 200, 40
PATIENCE_S = 30


def scope_rows(workspace):
    """Of all scopes that ended, as far as the server has them."""
    rows = 0
    for path in workspace.glob("sessions/*/scope.*.log"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            if line.startswith(b'{"type":"scope",'):
                rows += json.loads(line)["n"]
    return rows


class Listener(threading.Thread):
    """At each event `session`: when it came, and how many scopes there were then."""

    def __init__(self, server, key):
        super().__init__(daemon=True)
        self.arrivals = []
        self.workspace = server.data / "workspaces/1"
        self.connection = server.connect()
        self.connection.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {key}"})
        self.stream = self.connection.getresponse()
        if self.stream.status != 200:
            raise RuntimeError(f"/api/v1/events: {self.stream.status}")
        self.start()

    def run(self):
        while line := self.stream.readline():
            if line == b"event: session\n":
                came_ns = time.monotonic_ns()
                self.arrivals.append((came_ns, scope_rows(self.workspace)))

    def has(self, scopes):
        return any(rows >= scopes for _, rows in self.arrivals)


def delays_of(ended, arrivals):
    """Of each scope that arrived, in ms."""
    delays, at = [], 0
    for number, end_ns in enumerate(ended, 1):
        while at < len(arrivals) and (arrivals[at][1] < number or arrivals[at][0] < end_ns):
            at += 1
        if at < len(arrivals):
            delays.append((arrivals[at][0] - end_ns) * 1e-6)
    return delays


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufl")
    parser.add_argument("agent")
    parser.add_argument("scope_program")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    scopes = QUICK_SCOPES if arguments.quick else SCOPES
    load = os.getloadavg()[0]  # of others, before anything is done here
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        logs = pathlib.Path(name) / "logs"
        logs.mkdir()
        with Server(arguments.gpufl, pathlib.Path(name) / "data") as server:
            key, reader = server.make_key("ingest"), server.make_key("read")
            agent = subprocess.Popen([arguments.agent, "--server", server.url, logs], stderr=subprocess.DEVNULL,
                                     env={**os.environ, "GPUFL_API_KEY": key, "HOME": name})  # fmt: skip
            program = subprocess.Popen([arguments.scope_program, logs, str(scopes)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)  # fmt: skip
            try:
                listener = Listener(server, reader)
                ended = [int(program.stdout.readline()) for _ in range(scopes)]
                until = time.monotonic() + PATIENCE_S
                while not listener.has(scopes) and time.monotonic() < until:
                    time.sleep(0.1)
            finally:
                for process in (program, agent):
                    process.kill()
                    process.wait()
            delays = delays_of(ended, list(listener.arrivals))
    figures.add_one("scopes that did not arrive", scopes - len(delays), f"of {scopes}", at_most=0)
    figures.add_one("from a scope's end to the event, median", share_of(delays, 0.5), "ms")
    figures.add_one("from a scope's end to the event, p95", share_of(delays, 0.95), "ms", at_most=1000)
    figures.add_one("from a scope's end to the event, longest", max(delays), "ms")
    return write_result("live_bench", figures, arguments.json, load_before=load)


if __name__ == "__main__":
    sys.exit(main())
