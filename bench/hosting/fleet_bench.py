# SPDX-License-Identifier: Apache-2.0
"""A fleet that sends to one `gpufl serve --data`, which is stopped once and killed once meanwhile.

fleet_bench.py GPUFL FLEET_LOAD [--quick] [--agents N] [--seconds N] [--json FILE]

Over loopback, senders and server on the same cores: a thousand agents, each with live lines of eight GPUs every five
seconds and a sealed window every ten minutes, for ten minutes. What an agent has sent is compared with what the server
has by SHA-256, window by window; the files by `gpufl store check`. Memory: the median of the third minute, after the
restarts, and of the last one. Quick: a minute, of which tenths count as minutes; each agent sends one window.
"""

import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from hosted import Server, cpu_seconds, memory_mb, share_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

PATIENCE_S = 10  # after a restart, until acknowledgements count again
RESTARTS = {0.1: signal.SIGTERM, 0.15: signal.SIGKILL}  # at which share of the time
THIRD, LAST = (0.2, 0.3), (0.9, 1.0)


class Fleet:
    def __init__(self, load, server, key, agents, seconds, scratch):
        self.began = time.monotonic()
        self.process = subprocess.Popen([load, server.url, str(agents), str(seconds), str(seconds), scratch],
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, "GPUFL_API_KEY": key})  # fmt: skip
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def wait(self):
        """Acknowledgements as (kind, start, ms), and the sums."""
        self.reader.join()
        if self.process.wait() != 0:
            raise RuntimeError(f"fleet_load: exit code {self.process.returncode}")
        acknowledged, sums = [], {}
        for line in self.lines:
            what, name, *numbers = line.split()
            if what == "ack":
                acknowledged.append((name, float(numbers[0]), float(numbers[1])))
            else:
                sums[name] = int(numbers[0])
        return acknowledged, sums


def restart(server, how):
    """When it was told to end, when it was gone, and when it answered again."""
    told = time.monotonic()
    server.end(how)
    gone = time.monotonic()
    server.start()
    return told, gone, time.monotonic()


def watch(server, fleet, seconds):
    """Restarts the server; its memory at each second, its CPU time, and when it was restarted."""
    memory, restarts, cpu = [], {}, 0.0
    due = dict(RESTARTS)
    while (now := time.monotonic() - fleet.began) < seconds:
        for share in [share for share in due if now >= share * seconds]:
            how = due.pop(share)
            cpu += cpu_seconds(server.process.pid)
            restarts[how] = restart(server, how)
        memory.append((now / seconds, memory_mb(server.process.pid)))
        time.sleep(max(0.0, min(1.0, seconds / 100)))
    return memory, restarts, cpu + cpu_seconds(server.process.pid)


def median_within(memory, span):
    return statistics.median(mb for at, mb in memory if span[0] <= at <= span[1])


def add_figures(figures, acknowledged, sums, memory, restarts, cpu, seconds):
    def is_beside_restart(start):
        return any(told - 1 <= start < up + PATIENCE_S for told, _, up in restarts.values())

    figures.add_one("records lost", sums["lost"], f"of {sums['rows']:,}", at_most=0)
    figures.add_one("acknowledged live lines that were gone later", sums["taken_back"], "B", at_most=0)
    figures.add_one("windows that nobody sent", sums["unknown"], "", at_most=0)
    figures.add_one("pieces refused", sums["refused"], "", at_most=0)
    for kind, what in (("lines", "live lines"), ("window", "sealed windows")):
        usual = [ms for name, start, ms in acknowledged if name == kind and not is_beside_restart(start)]
        figures.add_one(f"{what}, acknowledged, median", share_of(usual, 0.5), "ms")
        figures.add_one(f"{what}, acknowledged, p99", share_of(usual, 0.99), "ms", at_most=300)
    beside = [ms for _, start, ms in acknowledged if is_beside_restart(start)]
    figures.add_one("beside restarts, acknowledged, p99", share_of(beside, 0.99), "ms")
    for how, (told, gone, up) in restarts.items():
        figures.add_one(f"{how.name}: until the server had ended", gone - told, "s")
        figures.add_one(f"{how.name}: from there until the next one listened", up - gone, "s")
    figures.add_one("acknowledged", len(acknowledged) / seconds, "requests/s")
    figures.add_one("live lines", sums["live_bytes"] / seconds * 1e-6, "MB/s")
    figures.add_one("server", cpu / seconds, "cores")
    third, last = median_within(memory, THIRD), median_within(memory, LAST)
    figures.add_one("server resident, third minute", third, "MB")
    figures.add_one("server resident, last minute", last, "MB")
    figures.add_one("server resident, last minute / third", last / third, "", at_most=1.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufl")
    parser.add_argument("fleet_load")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (60 if arguments.quick else 600)
    load = os.getloadavg()[0]  # of others, before anything is done here
    figures = Figures()
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        data = pathlib.Path(name) / "data"
        with Server(arguments.gpufl, data) as server:
            key = server.make_key("ingest")
            fleet = Fleet(arguments.fleet_load, server, key, arguments.agents, seconds, scratch)
            try:
                watched = watch(server, fleet, seconds)
                acknowledged, sums = fleet.wait()
            finally:
                fleet.process.kill()
        check = [arguments.gpufl, "store", "check", "--data", data]
        found = subprocess.run(check, capture_output=True, text=True)
        if found.returncode != 0:
            print(found.stdout, found.stderr)
        add_figures(figures, acknowledged, sums, *watched, seconds)
        figures.add_one("store check afterwards, exit code", found.returncode, "", at_most=0)
    notes = {"agents": arguments.agents, "seconds": seconds, "windows": sums["windows"]}
    return write_result("fleet_bench", figures, arguments.json, **notes, load_before=load)


if __name__ == "__main__":
    sys.exit(main())
