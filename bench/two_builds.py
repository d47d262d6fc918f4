#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the benchmarks of two builds, which take turns: is the newer one slower or larger?

    bench/two_builds.py OLD NEW [--pairs N] [--at-most R] [--json FILE] NAME ...

OLD and NEW are folders of benchmark programs (build/release/benchmarks). Each program runs once in each
build for every pair, who goes first changes with every pair, and each figure of the program becomes one
ratio, new by old, with its 95% interval. Rates (a unit that ends in /s) are turned over, so that more
than 1 is always worse. Figures without a unit of cost (ratios, counts) are left out. Exit 1: the upper
end of an interval is above the bar.
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "python"))
import bench_figures

COSTS = re.compile(r"(ns|us|ms|s|B|KB|MB|MiB|KiB)( a [\w ]+)?|.*/s")
# Bars of the program itself are of its own machine; what is compared here is the time that a core
# worked, wherever a program shows both.
LEFT_OUT = re.compile(r"wall time")


def run_once(program, options):
    """Its figures of cost, by name, or None where it cannot run here."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figures.json"
        done = subprocess.run([program, *options, "--json", path], capture_output=True, text=True)
        if not path.exists():
            sys.exit(f"two_builds: {program} wrote no figures: {done.stderr.strip() or done.returncode}")
        figures = json.loads(path.read_text())["figures"]
    costs = {}
    for entry in figures:
        unit = entry.get("unit", "")
        if "value" not in entry or not COSTS.fullmatch(unit) or LEFT_OUT.search(entry["figure"]):
            continue
        if entry["value"] > 0:
            costs[entry["figure"]] = 1 / entry["value"] if unit.endswith("/s") else entry["value"]
    return costs


def middle_and_interval(ratios):
    """Hodges and Lehmann's middle with the interval of Wilcoxon's signed ranks, as bench/paired_ratio.hpp."""
    logs = [math.log(ratio) for ratio in ratios]
    n = len(logs)
    means = sorted((logs[i] + logs[j]) / 2 for i in range(n) for j in range(i, n))
    spread = 1.959964 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    cut = max(int(n * (n + 1) / 4 - spread), 0)
    return tuple(math.exp(value) for value in (statistics.median(means), means[cut], means[-1 - cut]))


def compare(name, arguments):
    builds = [arguments.old / name, arguments.new / name]
    pairs = []
    for number in range(arguments.pairs):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        costs = [None, None]
        for build in order:
            costs[build] = run_once(builds[build], arguments.option)
        pairs.append(costs)
        print(f"  {name}: pair {number + 1} of {arguments.pairs}", file=sys.stderr, flush=True)
    entries = []
    for figure in pairs[0][0]:
        if all(figure in costs for pair in pairs for costs in pair):
            middle, low, high = middle_and_interval([pair[1][figure] / pair[0][figure] for pair in pairs])
            entry = {"figure": f"{name}, {figure}: new / old", "ratio": middle, "low": low, "high": high}
            entry |= {"pairs": len(pairs), "at_most": arguments.at_most, "within": high <= arguments.at_most}
            entries.append(entry)
            missed = "" if entry["within"] else f", at most {arguments.at_most}: MISSED"
            print(f"{entry['figure']}: {middle:.3f} ({low:.3f} to {high:.3f}){missed}", flush=True)
    if not entries:
        sys.exit(f"two_builds: {name} has no figure that both builds can be compared by")
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("name", nargs="+")
    parser.add_argument("--pairs", type=int, default=20, help="at least 6 (default: 20)")
    parser.add_argument("--at-most", type=float, default=1.03, metavar="R", help="the bar (default: 1.03)")
    parser.add_argument("--option", action="append", default=[], help="an argument for the programs")
    parser.add_argument("--json", type=pathlib.Path, help="where the figures go")
    arguments = parser.parse_args()
    if arguments.pairs < 6:
        parser.error("fewer than 6 pairs have no 95% interval")
    for build in (arguments.old, arguments.new):
        for name in arguments.name:
            if not (build / name).is_file():
                parser.error(f"there is no benchmark {build / name}")
    figures = bench_figures.Figures()
    for name in arguments.name:
        figures.entries += compare(name, arguments)
    sys.exit(bench_figures.write_result("two_builds", figures, arguments.json))


if __name__ == "__main__":
    main()
