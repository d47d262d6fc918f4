#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes to open a session and have its kernels as a DataFrame: time, and the most memory that
the process had, as a multiple of the DataFrame's. Each repeat is a process of its own, with pandas
imported before the clock starts. Run it with an interpreter that has gpufl and pandas.

dataframe_bench.py SESSION [--json FILE]

SESSION: what `kernel_session FOLDER 5000000` writes.
"""

import argparse
import json
import subprocess
import sys

from bench_figures import Figures, write_result

REPEATS = 9
KERNELS = 5_000_000

MEASURE = """
import json, resource, sys, time
import pandas
from gpufl.analyzer import GpuFlightSession
start = time.perf_counter()
session = GpuFlightSession(sys.argv[1])
opened = time.perf_counter()
kernels = session.kernels
done = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
size = int(kernels.memory_usage(deep=True).sum())
print(json.dumps({"rows": len(kernels), "open": opened - start, "frame": done - opened,
                  "both": done - start, "ratio": peak / size}))
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("session")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    command = [sys.executable, "-c", MEASURE, arguments.session]
    runs = []
    for _ in range(REPEATS):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout))
    if runs[0]["rows"] != KERNELS:
        print(f"dataframe_bench: the session has {runs[0]['rows']} kernels", file=sys.stderr)
        return 2
    figures = Figures()
    figures.add("open 5 million kernels", [run["open"] for run in runs], "s")
    figures.add("kernels as a DataFrame", [run["frame"] for run in runs], "s")
    figures.add("both", [run["both"] for run in runs], "s", 2.0)
    figures.add("peak memory over the DataFrame's", [run["ratio"] for run in runs], "times", 2.5)
    return write_result("dataframe_bench", figures, arguments.json)


if __name__ == "__main__":
    raise SystemExit(main())
