#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long pip takes to install the wheel when what it needs is at hand: alone, and with what DataFrames
need. `./dev python-test --bench` runs it. Minutes; downloads are not counted.

install_bench.py WHEEL [--json FILE]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

from bench_figures import Figures, write_result

RUNS = 9
AT_MOST_S = 20


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True)


def install_s(requirement, at_hand):
    with tempfile.TemporaryDirectory(prefix="gpufl-bench-") as folder:
        start = time.perf_counter()
        pip("install", "--no-index", "--find-links", at_hand, "--target", folder, requirement)
        return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="gpufl-bench-") as at_hand:
        for requirement, figure in (
            (f"{arguments.wheel.resolve()}", "pip install of the wheel"),
            (f"{arguments.wheel.resolve()}[analysis]", "pip install of the wheel with numpy and pandas"),
        ):
            pip("download", "--dest", at_hand, requirement)
            figures.add(figure, [install_s(requirement, at_hand) for _ in range(RUNS)], "s", AT_MOST_S)
    return write_result("install_bench", figures, arguments.json)


if __name__ == "__main__":
    raise SystemExit(main())
