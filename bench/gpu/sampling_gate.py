#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the gate of PC sampling does to programs whose threads launch without a pause: 1, 4 and 16 of
them, 1,000 windows each, within a budget of 50%: without one, sampling is given up after a number of
windows. Every launch that was held is counted. Then how fast launches are before sampling, and again
after it. Some two minutes.

sampling_gate.py [--windows N] [--most-runs N] [--json FILE]
"""

import argparse
import collections
import os
import pathlib
import subprocess
import tempfile

import torch_session

PROGRAM = torch_session.BUILD / "bin" / "sampling_program"
THREADS = (1, 4, 16)
RUN_SECONDS = 6
PACE = {"GPUFL_PC_SAMPLING_WINDOW_MS": "1", "GPUFL_PC_SAMPLING_PAUSE_MS": "1"}
SPEED_SECONDS = 3  # before sampling, with it, and after it


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


def figures_of(output, figure):
    """What the program printed, of each second."""
    lines = [line.split() for line in output.splitlines() if line.startswith("launches ")]
    return [float(words[words.index(figure) + 1]) for words in lines]


def rows_of(folder, kind):
    """Of the one session of a run."""
    return torch_session.rows_of(next(pathlib.Path(folder).glob("*/*/")), kind)


def ledger_of(folder):
    return rows_of(folder, "ledger")[-1]


def measure_windows(report, name, threads, wanted, most_runs):
    total, runs = collections.Counter(), 0
    budget = ["--budget", "50%"]
    while total["sampling_windows"] < wanted and runs < most_runs:
        runs += 1
        with tempfile.TemporaryDirectory(prefix="gpufl-gate-") as folder:
            trace = [torch_session.GPUFL, "trace", "-q", "-o", folder, "--engine", "PcSampling"]
            run([*trace, *budget, "--", PROGRAM, "threads", threads, RUN_SECONDS], **PACE)
            ledger = ledger_of(folder)
            for count in ("sampling_windows", "sampling_windows_skipped", "launches_held", "phases"):
                total[count] += ledger[count]
            total["launches_missing"] += ledger["launches_missing"]
            for longest in ("longest_hold_ns", "longest_window_hold_ns"):
                total[longest] = max(total[longest], ledger[longest])
    report.value(f"{name}: runs", runs, "runs")
    report.value(f"{name}: windows", total["sampling_windows"], "windows", (">=", wanted))
    report.value(f"{name}: windows skipped", total["sampling_windows_skipped"], "windows")
    report.value(f"{name}: launches held", total["launches_held"], "launches")
    report.value(f"{name}: attachments", total["phases"], "phases")
    at_window_ms = total["longest_window_hold_ns"] / 1e6
    report.value(f"{name}: longest hold at a window", at_window_ms, "ms", ("<=", 50))
    longest_ms = total["longest_hold_ns"] / 1e6
    report.value(f"{name}: longest hold, attaching", longest_ms, "ms", ("<=", 700))
    missing = total["launches_missing"]
    report.value(f"{name}: launches without a record", missing, "launches", ("<=", 0))


def measure_speed(report, name, threads):
    """Of launches in one process: before it is sampled, and when sampling was given up."""
    with tempfile.TemporaryDirectory(prefix="gpufl-gate-") as folder:
        command = [torch_session.GPUFL, "trace", "-q", "-o", folder, "--engine", "PcSampling"]
        command += ["--dormant", "--", PROGRAM, "threads", threads, 3 * SPEED_SECONDS]
        program = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **PACE},
        )
        lines = [program.stdout.readline() for _ in range(SPEED_SECONDS)]
        session = next(pathlib.Path(folder).glob("*/*/"))
        run([torch_session.GPUFL, "control", session, "start"])
        lines += [program.stdout.readline() for _ in range(SPEED_SECONDS)]
        run([torch_session.GPUFL, "control", session, "stop"])
        lines += program.communicate(timeout=60)[0].splitlines()
    speeds = figures_of("\n".join(lines), "ns_a_launch")
    before, after = min(speeds[1:SPEED_SECONDS]), min(speeds[2 * SPEED_SECONDS + 1 :])
    report.value(f"{name}: a launch before sampling", before, "ns")
    report.value(f"{name}: a launch after it", after, "ns")
    # Threads that wait for each other are less even: theirs is for the reader.
    bar = ("<=", 1.05) if threads == 1 else ("", 0)
    report.value(f"{name}: after / before", after / before, "x", bar)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--most-runs", type=int, default=40, help="of so many threads")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report = torch_session.Report("sampling_gate", arguments.json)
    for threads in THREADS:
        name = f"{threads} threads" if threads > 1 else "1 thread"
        measure_windows(report, name, threads, arguments.windows, arguments.most_runs)
        measure_speed(report, name, threads)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
