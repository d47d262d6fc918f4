# SPDX-License-Identifier: Apache-2.0
"""What was wrong with a capture, in words for programs and for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


class WarpscopeWarning(UserWarning):
    """Something that a kernel recorded, or should have, is not in the result."""


# The sentence behind the count, and whether a part of the recording is lost or in doubt. The kinds
# and what they count are those of the C++ decoder.
_KINDS = {
    "unreadable": ("file could not be read", True),
    "wrong_size": ("words are missing, or belong to nothing", True),
    "missing_header": (
        "header is empty: nothing was recorded, or the kernel wrote none; the shape was inferred",
        True,
    ),
    "bad_header": ("header states a shape that cannot be true", True),
    "bad_side_block": ("side block contradicts itself or the buffer and was ignored", True),
    "bad_names": ("table of names cannot be read", False),
    "lane_outside_shape": (
        "records belong to blocks that the header does not have; they were kept as additional blocks",
        False,
    ),
    "group_unknown": ("records do not contain their group; it is taken as 0", True),
    "aliased_lanes": (
        "records are in slots of another lane: write_stride is too small, or two kernels share the "
        "buffer",
        True,
    ),
    "unknown_event": ("records have events without a name", False),
    "unknown_type": (
        "records have a type that the dialect does not have; they were left out",
        True,
    ),
    "unmatched_begin": ("begins have no end", False),
    "unmatched_end": ("ends have no begin", False),
    "not_finalised": (
        "lanes have no finalize: their kernel did not reach its end, or they were full",
        True,
    ),
    "stale_tail": ("records are left over from an earlier launch and were left out", False),
    "dropped": ("records did not fit into their lane and were dropped or overwritten", True),
    "possibly_lost": (
        "lanes are full, and nothing counted what did not fit: records may be lost",
        True,
    ),
    "impossible_time": (
        "records, lanes or costs have times or counts that cannot be true: a clock went back or "
        "leapt, more was dropped than offered, or an event takes a millisecond",
        True,
    ),
    "unplaced_lane": ("lanes have no anchor of their clock and begin where the trace does", True),
    "unknown_frequency": (
        "clock of unknown frequency: one cycle is shown as one nanosecond",
        True,
    ),
}

_MOST_COUNTED = (1 << 63) - 1


@dataclass(frozen=True)
class Problem:
    """One kind of thing that was wrong, how often, and a sentence about it."""

    kind: str
    count: int
    text: str
    lane: Optional[int] = None  # the first one concerned: block * num_groups + group

    @property
    def is_loss(self) -> bool:
        """Whether a part of the recording is lost or in doubt, rather than only remarkable."""
        return _KINDS[self.kind][1]


class Problems:
    """Counts them, one entry for each kind."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._lanes: dict[str, int] = {}

    def add(self, kind: str, count: int = 1, lane: Optional[int] = None) -> None:
        if count == 0:
            return
        self._counts[kind] = min(self._counts.get(kind, 0) + int(count), _MOST_COUNTED)
        if lane is not None:
            self._lanes[kind] = min(int(lane), self._lanes.get(kind, int(lane)))

    def as_list(self) -> list[Problem]:
        return [self._problem(kind) for kind in _KINDS if kind in self._counts]

    def _problem(self, kind: str) -> Problem:
        count, lane = self._counts[kind], self._lanes.get(kind)
        where = "" if lane is None else f" (first in lane {lane})"
        return Problem(kind, count, f"{count} {_KINDS[kind][0]}{where}", lane)
