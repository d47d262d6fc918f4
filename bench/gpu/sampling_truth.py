#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether stall shares are true: those of kernels that wait for memory, bandwidth, the pipe and a barrier,
by `gpufl` within windows and by `ncu`, which replays each kernel alone, on the same GPU. The same
variant of every reason is compared: issued or not, never the sum of both. About half a minute.

sampling_truth.py [--json FILE]
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

PROGRAM = torch_session.BUILD / "bin" / "sampling_program"
KERNELS = ("latency_bound", "bandwidth_bound", "compute_bound", "barrier_bound")
PREFIX = "smsp__pcsamp_warps_issue_stalled_"
NOT_ISSUED = "_not_issued"
SECONDS = 8
TOLERANCE = 5  # points


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


def kernel_of(text):
    return next((kernel for kernel in KERNELS if kernel in text), None)


def by_ncu():
    """{kernel: {reason: samples}}"""
    output = run(
        *("ncu", "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none"),
        *("--metrics", "group:smsp__pcsamp_warp_stall_reasons", "--launch-count", 8),
        *(PROGRAM, "stalls", 0.1),
    )
    table = output[output.index('"ID"') :]
    stalls = collections.defaultdict(collections.Counter)
    for row in csv.DictReader(io.StringIO(table)):
        kernel = kernel_of(row.get("Kernel Name", ""))
        for name, value in row.items():
            if kernel and name.startswith(PREFIX) and not name.endswith(NOT_ISSUED) and value:
                stalls[kernel][name[len(PREFIX) :]] += float(value.replace(",", ""))
    return stalls


def by_gpufl():
    with tempfile.TemporaryDirectory(prefix="gpufl-truth-") as folder:
        run(
            *(torch_session.GPUFL, "trace", "-q", "-o", folder, "--engine", "PcSampling", "--"),
            *(PROGRAM, "stalls", SECONDS),
            GPUFL_PC_SAMPLING_PAUSE_MS="90",
        )
        session = next(pathlib.Path(folder).glob("*/*/"))
        rows = torch_session.rows_of(session, "pc_sample")
    stalls = collections.defaultdict(collections.Counter)
    for row in rows:
        kernel, name = kernel_of(row.get("function") or ""), row["stall"]
        if kernel and name.startswith(PREFIX) and not name.endswith(NOT_ISSUED):
            stalls[kernel][name[len(PREFIX) :]] += row["samples"]
    return stalls


def shares(reasons):
    total = sum(reasons.values()) or 1
    return {reason: 100 * samples / total for reason, samples in reasons.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    report = torch_session.Report("sampling_truth", arguments.json)
    truth, sampled = by_ncu(), by_gpufl()
    for kernel in KERNELS:
        ours, theirs = shares(sampled[kernel]), shares(truth[kernel])
        tops = [max(one, key=one.get, default="none") for one in (ours, theirs)]
        apart = max((abs(ours.get(r, 0) - theirs.get(r, 0)) for r in {*ours, *theirs}), default=100)
        print(f"{kernel}: reason, share by gpufl and by ncu")
        for reason in sorted({*ours, *theirs}, key=lambda r: -theirs.get(r, 0)):
            if max(ours.get(reason, 0), theirs.get(reason, 0)) >= 0.5:
                print(f"  {reason:<24} {ours.get(reason, 0):5.1f}% {theirs.get(reason, 0):5.1f}%")
        report.value(f"{kernel}: samples", sum(sampled[kernel].values()), "samples")
        report.value(f"{kernel}: top stall is ncu's", int(tops[0] == tops[1]), "", (">=", 1))
        report.value(f"{kernel}: furthest share", apart, "points", ("<=", TOLERANCE))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
