# SPDX-License-Identifier: Apache-2.0
"""What `gpufl-agent` costs the machine that it runs on.

agent_bench.py GPUFL AGENT KERNEL_WINDOWS [--quick] [--seconds N] [--json FILE]

A session that is being recorded gets a hundred sealed windows of about a megabyte a minute, for three minutes (quick:
for half of one), and the agent sends them to `gpufl serve --data` over loopback. Its CPU time and memory, from its
first look until the server has every file byte for byte.
"""

import argparse
import fcntl
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

from hosted import Server, cpu_seconds, memory_mb

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

EVERY_S = 0.6
KERNELS_EACH, TEXT_EACH = 134_000, 3_250_000  # of a window of a megabyte


def lock(folder):
    """As a session's writer holds it; let go when the file is closed."""
    held = open(folder / "lock", "wb")
    fcntl.fcntl(held, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    return held


def feed(made, folder):
    """Puts the windows into the folder at their pace, as a writer seals them. Seconds, and bytes of windows."""
    lines = (made / "manifest.ndjson").read_text().splitlines(keepends=True)
    began, fed, total = time.monotonic(), 0, 0
    with open(folder / "manifest.ndjson", "a", buffering=1) as manifest:
        for text in lines:
            line = json.loads(text)
            if line["type"] == "window":
                if line["channel"] == "device":
                    time.sleep(max(0.0, began + fed * EVERY_S - time.monotonic()))
                    fed += 1
                    total += line["sealed_bytes"]
                name = f"{line['channel']}.{line['window']}.log.zst"
                os.link(made / name, folder / name)
            manifest.write(text)
    time.sleep(max(0.0, began + fed * EVERY_S - time.monotonic()))
    return time.monotonic() - began, fed, total


def is_whole(server, key, session, folder):
    status, answer = server.ask(server.connect(), key, "GET", f"/api/v1/ingest/sessions/{session}")
    if status != 200:
        return False
    there = json.loads(answer)
    windows = {f"{w['channel']}.{w['number']}.log.zst": w.get("sha256") for w in there["windows"]}
    windows["manifest.ndjson"] = there.get("manifest", {}).get("sha256")
    files = (path for path in folder.iterdir() if path.name != "lock")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files} == windows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufl")
    parser.add_argument("agent")
    parser.add_argument("kernel_windows")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (30 if arguments.quick else 180)
    load = os.getloadavg()[0]  # of others, before anything is done here
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        made, logs = root / "made", root / "logs"
        kernels = round(seconds / EVERY_S * KERNELS_EACH)
        subprocess.run([arguments.kernel_windows, made, str(kernels), str(TEXT_EACH)], check=True)
        session = json.loads((made / "manifest.ndjson").read_text().splitlines()[0])["session_id"]
        folder = logs / session
        folder.mkdir(parents=True)
        with Server(arguments.gpufl, root / "data") as server, lock(folder):
            key = server.make_key("ingest")
            agent = subprocess.Popen([arguments.agent, "--server", server.url, logs], stderr=subprocess.DEVNULL,
                                     env={**os.environ, "GPUFL_API_KEY": key, "HOME": name})  # fmt: skip
            try:
                began = time.monotonic()
                took, windows, fed = feed(made, folder)
                while not is_whole(server, key, session, folder):
                    if agent.poll() is not None:
                        raise RuntimeError(f"gpufl-agent ended with {agent.returncode}")
                    time.sleep(1)
                elapsed, cpu = time.monotonic() - began, cpu_seconds(agent.pid)
                peak, now = memory_mb(agent.pid, "VmHWM"), memory_mb(agent.pid)
            finally:
                agent.kill()
                agent.wait()
    figures.add_one("windows", windows / took * 60, "a minute")
    figures.add_one("each window", fed / windows * 1e-6, "MB")
    figures.add_one("agent's CPU time", cpu / elapsed * 100, "% of a core", at_most=2)
    figures.add_one("agent resident, at most", peak, "MB", at_most=30)
    figures.add_one("agent resident, at the end", now, "MB")
    figures.add_one("until the server had all, after the last window", elapsed - took, "s")
    return write_result("agent_bench", figures, arguments.json, seconds=seconds, load_before=load)


if __name__ == "__main__":
    sys.exit(main())
