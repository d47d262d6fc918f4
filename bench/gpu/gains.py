#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether insights estimate right what mending a mistake saves: each case of gain_cases runs as it is
and mended, alone and traced, in turns, and the gain that `gpufl report` names for the traced run with
the mistake is held against the time that mending it saves of the runs that nobody traced. Beside it:
what it saves of the traced ones, and both as shares of the run. Under a minute.

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
STEPS = {"sync_in_loop": 300, "pageable": 20, "launch_bound": 100}
WARM_STEPS = 3  # which gain_cases runs before those, and a session has besides
RULES = {
    "sync_in_loop": "in_loop_sync",
    "pageable": "pageable_copies",
    "launch_bound": "launch_bound",
}
TOLERANCE = 0.30


def took(case, how, *before):
    """Nanoseconds of the steps."""
    ended = subprocess.run(
        [*before, PROGRAM, case, how, str(STEPS[case])], capture_output=True, text=True
    )
    if ended.returncode != 0:
        torch_session.cannot_run(f"{case} {how}: {ended.stderr.strip()}")
    return int(ended.stdout.split()[0])


def traced(case, how, folder):
    """Nanoseconds of the steps, and those of them that the session's report says can be saved."""
    took_ns = took(case, how, GPUFL, "trace", "--stacks", "--output", folder, "--")
    printed = subprocess.run(
        [GPUFL, "report", folder, "--format", "json"], capture_output=True, text=True, check=True
    ).stdout
    insights = json.loads(printed)["insights"]
    gain_ns = sum(one["gain_ns"] for one in insights if one["rule"] == RULES[case])
    return took_ns, gain_ns * STEPS[case] / (STEPS[case] + WARM_STEPS)


def turn(case):
    """Of one turn: (before, after) alone, (before, after) traced, and the estimate."""
    alone = took(case, "before"), took(case, "after")
    with tempfile.TemporaryDirectory(prefix="gpufl-gains-") as folder:
        before, estimate = traced(case, "before", str(pathlib.Path(folder) / "before"))
        after, _ = traced(case, "after", str(pathlib.Path(folder) / "after"))
    return alone, (before, after), estimate


def tell(report, case, turns):
    median = statistics.median
    for name, pairs in (("alone", [t[0] for t in turns]), ("traced", [t[1] for t in turns])):
        before, after = median(b for b, _ in pairs), median(a for _, a in pairs)
        gain = median(b - a for b, a in pairs)
        report.note(
            f"{case} {name}",
            f"{before / 1e6:.3f} ms -> {after / 1e6:.3f} ms, saves {gain / 1e6:.3f} ms"
            f" ({gain / before:.1%})",
        )
    estimate = median(t[2] for t in turns)
    share = estimate / median(t[1][0] for t in turns)
    report.note(f"{case} estimate", f"{estimate / 1e6:.3f} ms ({share:.1%} of the traced run)")
    ratios = [estimate / (before - after) for (before, after), _, estimate in turns]
    report.ratio(f"{case}: estimate / gain alone", ratios, ("<=", 1 + TOLERANCE))
    report.ratio(f"{case}: gain alone / estimate", [1 / r if r else 99 for r in ratios],
                 ("<=", 1 / (1 - TOLERANCE)))  # fmt: skip
    report.ratio(
        f"{case}: estimate / gain traced",
        [estimate / (before - after) for _, (before, after), estimate in turns],
    )


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
        tell(report, case, [turn(case) for _ in range(TURNS)])
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
