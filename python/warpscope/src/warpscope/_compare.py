# SPDX-License-Identifier: Apache-2.0
"""What profiling costs, and how two captures differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ._result import TraceResult
from ._statistics import text_table


def median_interval(values: Any) -> tuple[float, float, float]:
    """(median, low, high): the median is between the last two in 19 of 20 cases, by the ranks of
    what was measured and nothing else. Fewer than 6 values give no interval."""
    ranked = np.sort(np.asarray(values, dtype=np.float64))
    if len(ranked) == 0:
        return math.nan, math.nan, math.nan
    median = float(np.median(ranked))
    if len(ranked) < 6:
        return median, -math.inf, math.inf
    half = 0.98 * math.sqrt(len(ranked))
    low = max(0, math.floor(len(ranked) / 2 - half) - 1)
    high = min(len(ranked) - 1, math.ceil(len(ranked) / 2 + half))
    return median, float(ranked[low]), float(ranked[high])


@dataclass(frozen=True)
class Cost:
    """How much longer the profiled kernel takes."""

    clean_ms: float
    profiled_ms: float
    slowdown: float  # profiled / clean
    low: float  # the slowdown lies between these two, as far as the runs can tell
    high: float

    @property
    def is_certain(self) -> bool:
        """Whether the runs show that it is slower or faster at all."""
        return self.low > 1 or self.high < 1

    def __str__(self) -> str:
        known = f"{self.low:.3f} to {self.high:.3f}" if self.high < math.inf else "too few runs"
        return (
            f"{self.clean_ms:.4g} ms clean, {self.profiled_ms:.4g} ms profiled: "
            f"x{self.slowdown:.3f} ({known})"
        )


def compare(clean_ms: Iterable[float], profiled_ms: Iterable[float]) -> Cost:
    """Compares durations of a kernel built without and with the profiler, one for each run: their
    medians, and how sure the ratio is. Take the runs in turn, so that both meet the same clocks."""
    clean, clean_low, clean_high = median_interval(list(clean_ms))
    profiled, low, high = median_interval(list(profiled_ms))
    if not (clean > 0 and profiled > 0):
        raise ValueError("both need at least one duration above 0")
    bottom = max(0.0, low / clean_high) if math.isfinite(clean_high) and low > 0 else 0.0
    top = high / clean_low if clean_low > 0 else math.inf
    return Cost(clean, profiled, profiled / clean, bottom, top)


@dataclass(frozen=True)
class Change:
    """One (group, event) in two captures."""

    group: str
    event: str
    count_a: int
    count_b: int
    median_a_ns: float  # nan where it has no spans
    median_b_ns: float
    total_a_ns: int
    total_b_ns: int
    is_certain: bool  # the medians differ by more than the spans of each scatter

    @property
    def total_change_ns(self) -> int:
        return self.total_b_ns - self.total_a_ns

    @property
    def ratio(self) -> float:
        """Of the medians, b to a."""
        return self.median_b_ns / self.median_a_ns if self.median_a_ns else math.nan


class Diff(list):
    """Changes, the largest change of the total first."""

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [
            ("group", "event", "a count", "b count", "a median ns", "b median ns", "b/a", "")
        ]
        for change in self:
            rows.append(
                (
                    change.group,
                    change.event,
                    str(change.count_a),
                    str(change.count_b),
                    f"{change.median_a_ns:,.0f}",
                    f"{change.median_b_ns:,.0f}",
                    f"{change.ratio:.3f}",
                    "" if change.is_certain else "not certain",
                )
            )
        return text_table(rows)


def diff(a: TraceResult, b: TraceResult) -> Diff:
    """Compares two captures by names of group and event."""
    spans_a, spans_b = _by_name(a), _by_name(b)
    changes = [
        _change(key, spans_a.get(key), spans_b.get(key)) for key in sorted({**spans_a, **spans_b})
    ]
    return Diff(sorted(changes, key=lambda change: -abs(change.total_change_ns)))


def _by_name(result: TraceResult) -> dict[tuple[str, str], Any]:
    spans = result.spans_array()
    key = spans["group"].astype(np.uint64) << np.uint64(32) | spans["event_id"].astype(np.uint64)
    order = np.argsort(key, kind="stable")
    ids, start = np.unique(key[order], return_index=True)
    found: dict[tuple[str, str], Any] = {}
    for number, part in zip(ids.tolist(), np.split(spans["dur_ns"][order], start[1:])):
        name = result.group_name(number >> 32), result.event_name(number & 0xFFFFFFFF)
        found[name] = np.concatenate([found[name], part]) if name in found else part
    return found


def _change(key: tuple[str, str], a: Optional[Any], b: Optional[Any]) -> Change:
    a = np.zeros(0, dtype=np.int64) if a is None else a
    b = np.zeros(0, dtype=np.int64) if b is None else b
    median_a, low_a, high_a = median_interval(a)
    median_b, low_b, high_b = median_interval(b)
    return Change(
        *key, len(a), len(b), median_a, median_b, int(a.sum()), int(b.sum()),
        is_certain=low_b > high_a or high_b < low_a,
    )  # fmt: skip
