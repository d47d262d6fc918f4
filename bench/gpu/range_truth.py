#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether counters by scope are true: kernels of two scopes, whose warps and additions are known, by `gpufl`
in ranges and by `ncu`, which replays each kernel alone, on the same GPU and with the same clocks. Counts have
to agree within 0.5%, time within 5%. About half a minute.

range_truth.py [--json FILE]
"""

import argparse
import collections
import csv
import io
import os
import pathlib
import subprocess
import tempfile

import torch_session

PROGRAM = torch_session.BUILD / "bin" / "range_program"
# Of each scope: its kernel, and how often a scope launches it.
SCOPES = {"small": ("add<1>", 100), "large": ("add<2>", 200)}
WARPS = "smsp__warps_launched.sum"
ADDITIONS = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
KNOWN = {WARPS: 264 * 8, ADDITIONS: 264 * 256 * 16}
COUNTS = (*KNOWN, "smsp__inst_executed.sum", "lts__t_bytes.sum")
SECONDS = 8


def run(*command, **environment):
    ended = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    if ended.returncode != 0:
        torch_session.cannot_run(f"{command}: {ended.stdout[-300:]} {ended.stderr[-500:]}")
    return ended.stdout


def by_ncu():
    """{scope: {metric: of one launch}}"""
    output = run(
        *("ncu", "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none"),
        *("--metrics", ",".join(COUNTS), "--launch-count", 320, PROGRAM, "counts", 0.1),
        GPUFL_DISABLED="1",
    )
    sums, launches = collections.defaultdict(collections.Counter), collections.Counter()
    for row in csv.DictReader(io.StringIO(output[output.index('"ID"') :])):
        for scope, (kernel, _) in SCOPES.items():
            if kernel not in row.get("Kernel Name", "").replace("(int)", ""):
                continue
            launches[scope] += 1
            for metric in COUNTS:
                sums[scope][metric] += float(row[metric].replace(",", ""))
    return {
        scope: {metric: value / launches[scope] for metric, value in its.items()}
        for scope, its in sums.items()
    }


def by_gpufl():
    """{scope: {metric: of one launch}}, and what scopes took by the GPU's time and by ours"""
    metrics = ",".join((*COUNTS, "gpu__time_duration.sum"))
    with tempfile.TemporaryDirectory(prefix="gpufl-truth-") as folder:
        run(
            *(torch_session.GPUFL, "trace", "-q", "-o", folder, "--engine", "RangeProfiler", "--"),
            *(PROGRAM, "counts", SECONDS),
            GPUFL_RANGE_METRICS=metrics,
        )
        session = next(pathlib.Path(folder).glob("*/*/"))
        rows = torch_session.rows_of(session, "range_metric")
    values, times = collections.defaultdict(dict), {}
    for row in rows:
        value = row["value"] * 10 ** (row.get("exponent") or 0)
        scope, metric = row["range"], row["metric"]
        if metric == "gpu__time_duration.sum":
            times[scope] = (value, row["duration_ns"])
        elif scope in SCOPES:
            values[scope][metric] = value / SCOPES[scope][1]
    return values, times


def apart(one, other):
    return 100 * abs(one - other) / other if other else 100.0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report = torch_session.Report("range_truth", arguments.json)
    truth, (ranged, times) = by_ncu(), by_gpufl()
    for scope in SCOPES:
        for metric in COUNTS:
            ours, theirs = ranged[scope].get(metric, 0), truth.get(scope, {}).get(metric, 0)
            print(f"{scope}: {metric}: {ours:g} by gpufl, {theirs:g} by ncu")
            # Bytes of the cache are those of a warm one here, and there.
            bar = ("", 0) if metric == "lts__t_bytes.sum" else ("<=", 0.5)
            report.value(f"{scope}: {metric}, apart", apart(ours, theirs), "%", bar)
            if metric in KNOWN:
                report.value(f"{scope}: {metric}, apart from what is known",
                             apart(ours, KNOWN[metric]), "%", ("<=", 0))  # fmt: skip
        gpu_ns, host_ns = times.get(scope, (0, 1))
        report.value(f"{scope}: time by the GPU / by the host", gpu_ns / host_ns, "", ("<=", 1.05))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
