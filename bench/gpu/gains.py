#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether insights estimate right what mending a mistake saves: each case of gain_cases runs as it is
and mended, in turns, and the gain that `gpufl report` names for the first is held against the time
that the second saves. About a minute.

gains.py [--json FILE]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import torch_session

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "portable" / "bin" / "gain_cases"
GPUFL = ROOT / "build" / "portable" / "bin" / "gpufl"
TURNS = 11
STEPS = {"sync_in_loop": 300, "pageable": 60, "launch_bound": 100}
RULES = {
    "sync_in_loop": "in_loop_sync",
    "pageable": "pageable_copies",
    "launch_bound": "launch_bound",
}
TOLERANCE = 0.30


def took(case, how, *before):
    ended = subprocess.run(
        [*before, PROGRAM, case, how, str(STEPS[case])], capture_output=True, text=True
    )
    if ended.returncode != 0:
        torch_session.cannot_run(f"{case} {how}: {ended.stderr.strip()}")
    return int(ended.stdout.split()[0])


def estimated(case, folder):
    """The gain that the report of a traced run names, in nanoseconds."""
    took(case, "before", GPUFL, "trace", "--stacks", "--output", folder, "--")
    printed = subprocess.run(
        [GPUFL, "report", folder, "--format", "json"], capture_output=True, text=True, check=True
    ).stdout
    for insight in json.loads(printed)["insights"]:
        if insight["rule"] == RULES[case]:
            return insight["gain_ns"]
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    for program in (PROGRAM, GPUFL):
        if not program.is_file():
            torch_session.cannot_run(f"no {program}: './dev gpu-test --build' makes it")
    report = torch_session.Report("gains", arguments.json)
    for case in STEPS:
        pairs = [(took(case, "before"), took(case, "after")) for _ in range(TURNS)]
        measured = statistics.median(before - after for before, after in pairs)
        report.note(f"{case} before ms", f"{statistics.median(b for b, _ in pairs) / 1e6:.3f}")
        report.note(f"{case} after ms", f"{statistics.median(a for _, a in pairs) / 1e6:.3f}")
        with tempfile.TemporaryDirectory(prefix="gpufl-gains-") as folder:
            estimates = [
                estimated(case, str(pathlib.Path(folder) / str(turn))) for turn in range(5)
            ]
        ratios = [estimate / measured for estimate in estimates]
        report.ratio(f"{case}: estimate / measured gain", ratios, ("<=", 1 + TOLERANCE))
        report.ratio(f"{case}: measured gain / estimate", [1 / r if r else 99 for r in ratios],
                     ("<=", 1 / (1 - TOLERANCE)))  # fmt: skip
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
