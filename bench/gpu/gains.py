#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether insights estimate right what mending a mistake saves: the gain that `gpufl report` names for
a traced run of a case of gain_cases is held against the time that mending the mistake saves of a run
that nobody traces, which does the case as it is and mended in turns. All times are of one step. About
a minute.

gains.py [--pairs N] [--json FILE]
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
from typing import NamedTuple

import torch_session

PROGRAM = torch_session.BUILD / "bin" / "gain_cases"
WARM_STEPS = 3  # which gain_cases runs first, and a session has besides
TURNS = 5
TOLERANCE = 0.30


class Case(NamedTuple):
    rule: str
    traced_steps: int
    steps: int  # of each way in a turn alone


CASES = {
    "sync_in_loop": Case("in_loop_sync", 300, 150),
    "pageable": Case("pageable_copies", 10, 4),
    "launch_bound": Case("launch_bound", 100, 30),
}


class Pair(NamedTuple):
    """Nanoseconds of a step."""

    before: float
    after: float
    gain: float
    traced: float
    estimate: float

    def ratio(self):
        # Where nothing was saved the estimate is as wrong as can be told.
        return self.estimate / self.gain if self.gain > 0 else 99


def times_of(*command):
    """Lines of nanoseconds."""
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        torch_session.cannot_run(f"{' '.join(map(str, command))}: {ended.stderr.strip()}")
    return [[int(word) for word in line.split()] for line in ended.stdout.splitlines()]


def alone(name, case):
    """(before, after, what is saved)."""
    turns = times_of(PROGRAM, name, "both", str(case.steps), str(TURNS))
    befores, afters = zip(*turns)
    saved = [before - after for before, after in turns]
    return [statistics.median(times) / case.steps for times in (befores, afters, saved)]


def traced(name, case):
    """(before, what the session's report says can be saved)."""
    with tempfile.TemporaryDirectory(prefix="gpufl-gains-") as folder:
        trace = (torch_session.GPUFL, "trace", "--stacks", "--output", folder, "--")
        [[took]] = times_of(*trace, PROGRAM, name, "before", str(case.traced_steps))
        printed = subprocess.run(
            [torch_session.GPUFL, "report", folder, "--format", "json"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    insights = json.loads(printed)["insights"]
    gain = sum(one["gain_ns"] for one in insights if one["rule"] == case.rule)
    return took / case.traced_steps, gain / (case.traced_steps + WARM_STEPS)


def measure(number, name, case):
    if number % 2 == 0:
        untraced = alone(name, case)
        recorded = traced(name, case)
    else:
        recorded = traced(name, case)
        untraced = alone(name, case)
    return Pair(*untraced, *recorded)


def told(pair):
    before, after, gain, recorded, estimate = (value / 1e3 for value in pair)
    return (
        f"{before:.2f} -> {after:.2f} us saves {gain:.2f}; traced {recorded:.2f},"
        f" estimate {estimate:.2f}"
    )


def tell(report, name, pairs):
    report.note(name, told(Pair(*(statistics.median(values) for values in zip(*pairs)))))
    ratios = [pair.ratio() for pair in pairs]
    report.ratio(f"{name}: estimate / gain", ratios, ("<=", 1 + TOLERANCE))
    report.ratio(f"{name}: gain / estimate", [1 / ratio if ratio else 99 for ratio in ratios],
                 ("<=", 1 / (1 - TOLERANCE)))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    parser.add_argument("--pairs", type=int, default=21)
    arguments = parser.parse_args()
    for program in (PROGRAM, torch_session.GPUFL):
        if not program.is_file():
            torch_session.cannot_run(f"no {program}: './dev gpu-test --build' makes it")
    report = torch_session.Report("gains", arguments.json)
    pairs = {name: [] for name in CASES}
    for number in range(arguments.pairs):
        for name, case in CASES.items():
            pairs[name].append(measure(number, name, case))
            print(f"{number + 1} {name}: {told(pairs[name][-1])}", flush=True)
    for name in CASES:
        tell(report, name, pairs[name])
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
