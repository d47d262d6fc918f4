# SPDX-License-Identifier: Apache-2.0
"""Holds the figures of `gpufl report --format json` against reference.py, on every session given.

usage: truth_test.py GPUFL SESSION...
"""

import json
import math
import subprocess
import sys

import reference

# Pauses shorter than this are no gaps to a report.
MINIMUM_GAP_NS = 1000


def rows(gpufl, session, kind):
    # A damaged log is read as far as it goes, which the exit code tells; the report does the same.
    output = subprocess.run(
        [gpufl, "cat", session, kind],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return [json.loads(line) for line in output.stdout.decode().splitlines()]


def report(gpufl, session):
    output = subprocess.run(
        [gpufl, "report", session, "--format", "json"], stdout=subprocess.PIPE, check=True)
    return json.loads(output.stdout)


class Comparison:
    def __init__(self, session):
        self.session = session
        self.compared = 0
        self.wrong = []

    def equal(self, what, ours, truth):
        self.compared += 1
        if isinstance(truth, float) or isinstance(ours, float):
            is_equal = ours is not None and math.isclose(ours, truth, rel_tol=1e-12)
        else:
            is_equal = ours == truth
        if not is_equal:
            self.wrong.append(f"{self.session}: {what}: {ours!r}, and the truth is {truth!r}")

    def stats(self, what, ours, truth):
        for name, value in truth.items():
            self.equal(f"{what}: {name}", ours.get(name), value)


def by_full_name(groups):
    """Figures by whole name; a label that is the whole name is told once."""
    return {group.get("full_name", group["label"]): group["duration_ns"] for group in groups}


def compare_kernels(check, kernels, ours):
    truth = reference.by_key(kernels, lambda row: row["name"])
    groups = by_full_name(ours["by_name"])
    check.equal("different names", len(groups), len(ours["by_name"]))
    check.equal("names of kernels", sorted(groups), sorted(truth))
    for name in sorted(set(groups) & set(truth)):
        check.stats(name, groups[name], truth[name])
    check.equal("kernels", ours["count"], len(kernels))
    check.equal("kernel time", ours["total_ns"], sum(row["duration_ns"] for row in kernels))
    shares = sum(group["share"] for group in ours["by_name"])
    check.equal("sum of shares", round(shares, 9), 1.0 if ours["total_ns"] else 0.0)
    for grouping in ("by_config", "by_class", "by_scope", "by_stream", "by_device"):
        total = sum(group["duration_ns"]["total"] for group in ours[grouping])
        check.equal(f"total {grouping}", total, ours["total_ns"])


def compare_devices(check, work, ours):
    truth = reference.devices(*work)
    worked = {device["device"]: device for device in ours["devices"] if device["device"] in truth}
    check.equal("devices", sorted(worked), sorted(truth))
    for number, device in worked.items():
        expected = dict(truth[number])
        for name in ("one_ns", "two_ns", "more_ns"):
            check.equal(f"GPU {number}: {name}", device["concurrency"][name], expected.pop(name))
        gap = expected.pop("longest_gap_ns")
        longest = device["idle"]["longest"]
        if gap >= MINIMUM_GAP_NS:
            ours_ns = longest[0]["end_ns"] - longest[0]["start_ns"] if longest else 0
            check.equal(f"GPU {number}: longest gap", ours_ns, gap)
        check.stats(f"GPU {number}", device, expected)
        share = min(1.0, expected["busy_ns"] / device["recorded_ns"])
        check.equal(f"GPU {number}: share", float(device["busy_share"]), share)


def compare(gpufl, session):
    check = Comparison(session)
    ours = report(gpufl, session)
    kinds = ("kernel", "memcpy", "memset", "graph")
    work = [rows(gpufl, session, kind) for kind in kinds]
    if "unknown" in ours["kernels"]:
        check.equal("kernels, which the report does not know", work[0], [])
    else:
        compare_kernels(check, work[0], ours["kernels"])
    compare_devices(check, work, ours["gpu_time"])
    return check


def main():
    gpufl, sessions = sys.argv[1], sys.argv[2:]
    wrong = []
    for session in sessions:
        check = compare(gpufl, session)
        print(f"{session}: {check.compared} figures compared, {len(check.wrong)} differ")
        wrong += check.wrong
    for line in wrong[:50]:
        print(line)
    sys.exit(1 if wrong or not sessions else 0)


if __name__ == "__main__":
    main()
