#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the gate of PC sampling does to programs whose threads launch without a pause: 1, 4 and 16 of
them, 1,000 windows each. Every launch that was held is counted; the longest is held against the bars.
Then the speed of launches when sampling has been given up. About a minute.

sampling_gate.py [--windows N] [--json FILE]
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import torch_session

PROGRAM = torch_session.BUILD / "bin" / "sampling_program"
THREADS = (1, 4, 16)
WINDOW_MS = 1
PAUSE_MS = 1
MS_A_WINDOW = 8  # with opening and closing it


def run(command, **environment):
    ended = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    if ended.returncode != 0:
        torch_session.cannot_run(f"{command}: {ended.returncode}: {ended.stderr[-500:]}")
    return ended.stdout


def ns_a_launch(output):
    """Of each second."""
    lines = [line.split() for line in output.splitlines() if line.startswith("launches ")]
    return [float(words[3]) for words in lines]


def ledger_of(folder):
    lines = run([torch_session.GPUFL, "cat", next(pathlib.Path(folder).glob("*/*/")), "ledger"])
    return json.loads(lines.splitlines()[-1])


def measure(threads, windows, report):
    never = ns_a_launch(run([PROGRAM, "threads", threads, 2]))
    seconds = max(4, windows * MS_A_WINDOW // 1000)
    with tempfile.TemporaryDirectory(prefix="gpufl-gate-") as folder:
        sampled = ns_a_launch(
            run(
                [torch_session.GPUFL, "trace", "-q", "-o", folder, "--engine", "PcSampling", "--"]
                + [PROGRAM, "threads", threads, seconds],
                GPUFL_PC_SAMPLING_WINDOW_MS=str(WINDOW_MS),
                GPUFL_PC_SAMPLING_PAUSE_MS=str(PAUSE_MS),
            )
        )
        ledger = ledger_of(folder)
    name = f"{threads} threads" if threads > 1 else "1 thread"
    report.value(f"{name}: windows", ledger["sampling_windows"], "windows")
    report.value(f"{name}: windows skipped", ledger["sampling_windows_skipped"], "windows")
    report.value(f"{name}: launches held", ledger["launches_held"], "launches")
    report.value(f"{name}: longest hold", ledger["longest_hold_ns"] / 1e6, "ms", ("<=", 700))
    report.value(f"{name}: launches without a record", ledger["launches_missing"], "launches", ("<=", 0))
    report.value(f"{name}: a launch, never traced", min(never), "ns")
    report.value(f"{name}: a launch, sampled", min(sampled), "ns")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report = torch_session.Report("sampling_gate", arguments.json)
    for threads in THREADS:
        measure(threads, arguments.windows, report)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
