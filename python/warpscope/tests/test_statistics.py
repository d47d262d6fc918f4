# SPDX-License-Identifier: Apache-2.0
"""Figures against those that numpy computes one by one, and comparisons with known answers."""

import math

import numpy as np
import pytest

import warpscope as ws


def spans(group, event, durations, block=0):
    return [ws.Span(block, group, event, 1000 * index, dur) for index, dur in enumerate(durations)]


def test_figures():
    values = np.random.default_rng(7).integers(0, 10_000, 137)
    result = ws.TraceResult(
        2, 2, [*spans(1, 5, values.tolist()), *spans(0, 5, [40]), *spans(1, 5, [9], 1)]
    )
    rows = result.durations()
    assert rows[["block", "group", "event_id"]].tolist() == [(0, 0, 5), (0, 1, 5), (1, 1, 5)]
    row = rows[1]
    assert row["count"] == 137 and row["total_ns"] == values.sum()
    for name, percent in (
        ("median_ns", 50),
        ("p90_ns", 90),
        ("p99_ns", 99),
        ("min_ns", 0),
        ("max_ns", 100),
    ):
        assert row[name] == pytest.approx(np.percentile(values, percent))
    assert row["mean_ns"] == pytest.approx(values.mean())
    assert result.durations("group")["count"].tolist() == [1, 138]
    assert len(ws.TraceResult(1, 1).durations()) == 0
    with pytest.raises(ValueError, match="block"):
        result.durations("event")


def test_a_slower_group_is_named_first():
    fast = [100 + index % 7 for index in range(100)]
    slow = [duration + 50 for duration in fast]
    a = ws.TraceResult(
        1, 2, spans(0, 0, fast) + spans(1, 1, fast), [], ["wait", "mma"], ["tma", "math"]
    )
    b = ws.TraceResult(
        1, 2, spans(0, 0, fast) + spans(1, 1, slow), [], ["wait", "mma"], ["tma", "math"]
    )
    first, second = ws.diff(a, b)
    assert (first.group, first.event, first.is_certain) == ("math", "mma", True)
    assert first.total_change_ns == 5000 and first.ratio == pytest.approx(153 / 103)
    assert (second.group, second.is_certain, second.total_change_ns) == ("tma", False, 0)
    text = str(ws.diff(a, b)).splitlines()
    assert text[1].startswith("math") and text[2].endswith("not certain")


def test_what_only_one_capture_has():
    a = ws.TraceResult(1, 1, spans(0, 0, [10] * 10))
    b = ws.TraceResult(1, 1, spans(0, 1, [20] * 10))
    by_event = {change.event: change for change in ws.diff(a, b)}
    assert by_event["event_0"].count_b == 0 and math.isnan(by_event["event_0"].median_b_ns)
    assert by_event["event_1"].total_change_ns == 200 and not by_event["event_1"].is_certain


def test_cost_of_profiling():
    clean = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01]
    cost = ws.compare(clean, [value * 1.1 for value in clean])
    assert cost.slowdown == pytest.approx(1.1) and cost.low <= 1.1 <= cost.high
    assert cost.is_certain and "x1.100" in str(cost)
    assert not ws.compare(clean, clean[::-1]).is_certain
    few = ws.compare([1.0], [1.2])
    assert not few.is_certain and "too few" in str(few)
    with pytest.raises(ValueError):
        ws.compare([], [1.0])
