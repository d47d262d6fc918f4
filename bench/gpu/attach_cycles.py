#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether programs survive that recording begins and ends under them: 200 times each, by `gpufl control`,
while they replay CUDA graphs captured before, between and inside the recorded phases. The program checks
all of its results. Two and a half minutes.

attach_cycles.py [--json FILE]
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

import torch_session
from sampling_gate import PROGRAM, ledger_of, rows_of

CYCLES = 200
# Engine, threads that launch, and seconds, which are more than enough.
CASES = (("Trace", 1, 18), ("Trace", 2, 20), ("PcSampling", 1, 44), ("PcSampling", 2, 60))


def control(session, verb):
    command = [str(torch_session.GPUFL), "control", str(session), verb]
    return subprocess.run(command, capture_output=True, text=True, timeout=30).returncode == 0


def run_case(report, engine, threads, seconds):
    with tempfile.TemporaryDirectory(prefix="gpufl-cycles-") as folder:
        command = [torch_session.GPUFL, "trace", "-q", "-o", folder, "--engine", engine, "--"]
        command += [PROGRAM, "threads", threads, seconds, "graphs"]
        program = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "GPUFL_PC_SAMPLING_WINDOW_MS": "1", "GPUFL_PC_SAMPLING_PAUSE_MS": "20"},
        )
        try:
            while not list(pathlib.Path(folder).glob("*/*/")) and program.poll() is None:
                time.sleep(0.05)
            refused = 0
            session = next(pathlib.Path(folder).glob("*/*/"))
            time.sleep(1)
            end = time.monotonic() + seconds - 3
            while time.monotonic() < end and program.poll() is None:
                refused += not control(session, "stop")
                refused += not control(session, "start")
            code = program.wait(timeout=60)
        finally:
            program.kill()
        ledger = ledger_of(folder)
        stayed = [e for e in rows_of(folder, "event") if e.get("name") == "stays_attached"]
    name = f"{engine}, {threads} {'threads' if threads > 1 else 'thread'}"
    report.value(f"{name}: phases", ledger["phases"], "phases", (">=", CYCLES))
    report.value(f"{name}: exit code; 0: all results are right", code, "", ("<=", 0))
    report.value(f"{name}: control commands refused", refused, "commands")
    report.value(f"{name}: CUPTI stayed attached", len(stayed), "times")
    report.value(f"{name}: launches seen", ledger["launches_seen"], "launches")
    report.value(f"{name}: launches without a record", ledger["launches_missing"], "launches", ("<=", 0))
    report.value(f"{name}: longest hold", ledger["longest_hold_ns"] / 1e6, "ms", ("<=", 700))
    if engine == "PcSampling":
        report.value(f"{name}: windows", ledger["sampling_windows"], "windows")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report = torch_session.Report("attach_cycles", arguments.json)
    for engine, threads, seconds in CASES:
        run_case(report, engine, threads, seconds)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
