#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The faults of tests/e2e again and again, each time with another seed: what is lost, duplicated and leaked.

hosting_faults.py PROGRAMS --minutes N [--seed N] [--json FILE]

PROGRAMS is build/release/bin. The seed of each round is printed; GPUFL_FAULTS_SEED and GPUFL_POWER_SEED repeat it."""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "bench/python"))
from bench_figures import Figures, write_result  # noqa: E402

ROUND_S = 240  # of kills and cuts; with the comparison about five minutes
LEAST_S = 30
LOSSES = 10  # of power, each round


def start_test(name, programs, **variables):
    shims = {f"GPUFL_{shim}": str(programs.parent / "lib" / f"lib{library}.so")
             for shim, library in (("POWER_SHIM", "power_loss"), ("CLOCK_SHIM", "clock_steps"))}  # fmt: skip
    variables = {name: str(value) for name, value in variables.items()}
    return subprocess.Popen([sys.executable, ROOT / "tests/e2e" / f"{name}.py"],
                            env={**os.environ, "GPUFL_PROGRAMS": str(programs), **shims, **variables})  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "big"))
    parser.add_argument("--json")
    arguments = parser.parse_args()
    programs = arguments.programs.resolve()
    seeded = random.Random(arguments.seed)
    begin = time.monotonic()
    total = collections.Counter()
    rounds = broken = 0
    with tempfile.TemporaryDirectory(prefix="gpufl_faults_") as folder:
        report = pathlib.Path(folder) / "rounds"
        while (left := 60 * arguments.minutes - (time.monotonic() - begin)) > LEAST_S:
            seed = seeded.randrange(1 << 32)
            rounds += 1
            print(f"round {rounds}: seed {seed}", flush=True)
            # Side by side: each waits most of its time.
            tests = [
                start_test("hosting_faults_test", programs, GPUFL_FAULTS_SEED=seed, GPUFL_FAULTS_JSON=report,
                           GPUFL_FAULTS_SECONDS=min(ROUND_S, left)),
                start_test("power_loss_test", programs, GPUFL_POWER_SEED=seed, GPUFL_POWER_ROUNDS=LOSSES),
                start_test("hosting_recovery_test", programs),
            ]  # fmt: skip
            broken += any([test.wait() for test in tests])
        for line in report.read_text().splitlines() if report.exists() else ():
            total.update(json.loads(line))
    figures = Figures()
    for name in ("lost", "duplicated", "leaked", "broken promises"):
        figures.add_one(name, total[name], "", at_most=0)
    figures.add_one("rounds that failed", broken, "", at_most=0)
    for name in ("rows", "sessions", "kills and restarts", "requests with a fault", "requests without",
                 "questions of strangers"):  # fmt: skip
        figures.add_one(name, total[name], "", at_least=1)
    figures.add_one("losses of power", rounds * LOSSES, "")
    minutes = round((time.monotonic() - begin) / 60, 1)
    return write_result("hosting_faults", figures, arguments.json, minutes=minutes, seed=arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
