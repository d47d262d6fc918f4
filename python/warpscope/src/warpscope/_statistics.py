# SPDX-License-Identifier: Apache-2.0
"""How long things took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._result import TraceResult

_FIGURES = [
    ("count", np.int64), ("total_ns", np.int64), ("mean_ns", np.float64), ("median_ns", np.float64),
    ("p90_ns", np.float64), ("p99_ns", np.float64), ("min_ns", np.int64), ("max_ns", np.int64),
]  # fmt: skip
_KEYS = {"block": ("block", "group", "event_id"), "group": ("group", "event_id")}


def durations(spans: Any, by: str) -> Any:
    """One row for each key that has spans, sorted. Percentiles interpolate linearly."""
    if by not in _KEYS:
        raise ValueError(f'durations are by "block" or by "group", not by {by!r}')
    keys = _KEYS[by]
    order = np.lexsort([spans["dur_ns"], *(spans[key] for key in reversed(keys))])
    ordered = spans[order]
    changes = np.zeros(len(ordered), dtype=bool)
    changes[:1] = True
    for key in keys:
        changes[1:] |= ordered[key][1:] != ordered[key][:-1]
    start = np.flatnonzero(changes)
    count = np.diff(np.append(start, len(ordered)))
    rows = np.zeros(len(start), dtype=[(key, np.uint32) for key in keys] + _FIGURES)
    for key in keys:
        rows[key] = ordered[key][start]
    dur = ordered["dur_ns"]
    rows["count"] = count
    if len(start):
        rows["total_ns"] = np.add.reduceat(dur, start)
    rows["mean_ns"] = rows["total_ns"] / np.maximum(count, 1)
    rows["min_ns"] = dur[start]
    rows["max_ns"] = dur[start + count - 1]
    for name, share in (("median_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)):
        rank = share * (count - 1)
        below = np.floor(rank).astype(np.int64)
        low = dur[start + below]
        high = dur[start + np.minimum(below + 1, count - 1)]
        rows[name] = low + (rank - below) * (high - low)
    return rows


class Summary(dict):
    """By (name of group, name of event). Looked up by a pair of ids, it answers as well."""

    def __init__(self, result: TraceResult) -> None:
        super().__init__()
        self._result = result
        # Ids that share a name are one entry.
        spans = result.spans_array().copy()
        for column, name_of in (("group", result.group_name), ("event_id", result.event_name)):
            first: dict[str, int] = {}
            ids, position = np.unique(spans[column], return_inverse=True)
            alike = [first.setdefault(name_of(int(key)), int(key)) for key in ids]
            spans[column] = np.array(alike, dtype=np.uint32)[position.reshape(-1)]
        for row in durations(spans, "group"):
            key = (result.group_name(int(row["group"])), result.event_name(int(row["event_id"])))
            self[key] = {name: row[name].item() for name, _ in _FIGURES}

    def _named(self, key: Any) -> Any:
        if isinstance(key, tuple) and len(key) == 2:
            group, event = key
            group = self._result.group_name(group) if isinstance(group, int) else group
            event = self._result.event_name(event) if isinstance(event, int) else event
            return group, event
        return key

    def __missing__(self, key: Any) -> Any:
        named = self._named(key)
        if named == key:
            raise KeyError(key)
        return self[named]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(self._named(key))

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(self._named(key), default)


def table(result: TraceResult) -> str:
    """The summary, the largest total first."""
    columns = ("count", "mean_ns", "median_ns", "p90_ns", "p99_ns", "min_ns", "max_ns", "total_ns")
    rows: list[tuple[str, ...]] = [
        ("group", "event", *(name.replace("_ns", " ns") for name in columns))
    ]
    entries = sorted(
        result.summary().items(), key=lambda entry: (entry[0][0], -entry[1]["total_ns"])
    )
    for (group, event), figures in entries:
        rows.append((group, event, *(f"{figures[name]:,.0f}" for name in columns)))
    if len(rows) == 1:
        return "no spans"
    return text_table(rows)


def _printable(text: str) -> str:
    """Names are a program's own: what would move the cursor or colour the terminal is escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def text_table(rows: list[tuple[str, ...]]) -> str:
    """Columns under each other, the first two to the left."""
    rows = [tuple(map(_printable, row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    )
