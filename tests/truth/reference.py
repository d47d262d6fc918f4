# SPDX-License-Identifier: Apache-2.0
"""The figures of a session as anybody would compute them, from its rows as plain lists. Nothing is
shared with the analysis in C++: this is what that one is held against."""

import math
from collections import defaultdict


def percentile(ordered, percent):
    """Of the nearest rank: always one of the values."""
    return ordered[max(math.ceil(len(ordered) * percent / 100), 1) - 1]


def stats(values):
    ordered = sorted(values)
    count = len(ordered)
    middle = ordered[count // 2]
    median = middle if count % 2 else (ordered[count // 2 - 1] + middle) / 2
    return {
        "count": count,
        "total": sum(ordered),
        "min": ordered[0],
        "max": ordered[-1],
        "mean": sum(ordered) / count,
        "median": median,
        "p90": percentile(ordered, 90),
        "p99": percentile(ordered, 99),
    }


def by_key(rows, key, value="duration_ns"):
    groups = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row[value])
    return {name: stats(values) for name, values in groups.items()}


def covered(rows):
    """How long at least one of the rows ran: every row on one line, what is painted is counted."""
    total, painted_to = 0, None
    for start, end in sorted((r["start_ns"], r["start_ns"] + r["duration_ns"]) for r in rows):
        if painted_to is None or start > painted_to:
            painted_to = start
        if end > painted_to:
            total += end - painted_to
            painted_to = end
    return total


def longest_gap(rows):
    """The longest time between two rows in which none ran."""
    longest, painted_to = 0, None
    for start, end in sorted((r["start_ns"], r["start_ns"] + r["duration_ns"]) for r in rows):
        if end <= start:
            continue
        if painted_to is not None:
            longest = max(longest, start - painted_to)
        painted_to = end if painted_to is None else max(painted_to, end)
    return longest


def time_by_level(rows):
    """Time with 1, 2, and 3 or more of the rows running."""
    changes = defaultdict(int)
    for row in rows:
        changes[row["start_ns"]] += 1
        changes[row["start_ns"] + row["duration_ns"]] -= 1
    levels, running, before = [0, 0, 0], 0, None
    for time in sorted(changes):
        if running:
            levels[min(running, 3) - 1] += time - before
        running += changes[time]
        before = time
    return levels


def devices(kernels, copies, fills, graphs):
    out = {}
    work = kernels + copies + fills + graphs
    for device in {row.get("device", -1) for row in work}:
        def of(rows):
            return [row for row in rows if row.get("device", -1) == device]

        one, two, more = time_by_level(of(kernels))
        out[device] = {
            "busy_ns": covered(of(work)),
            "kernel_ns": covered(of(kernels)),
            "copy_ns": covered(of(copies)),
            "fill_ns": covered(of(fills)),
            "graph_ns": covered(of(graphs)),
            "kernel_sum_ns": sum(row["duration_ns"] for row in of(kernels)),
            "kernels": len(of(kernels)),
            "copies": len(of(copies)),
            "fills": len(of(fills)),
            "longest_gap_ns": longest_gap(of(work)),
            "one_ns": one,
            "two_ns": two,
            "more_ns": more,
        }
    return out
