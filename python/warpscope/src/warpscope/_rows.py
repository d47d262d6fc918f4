# SPDX-License-Identifier: Apache-2.0
"""Spans, instants and lanes: as rows of arrays, and as objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

HAS_PAYLOAD, HAS_END_PAYLOAD, HAS_TOKEN, HAS_CYCLES = 1, 2, 4, 8  # bits of the column `flags`
UNKNOWN_SM = 0xFFFF
ENDINGS = ("complete", "no_end", "no_begin")  # by the column `ending`

SPAN_DTYPE = np.dtype(
    [
        ("block", np.uint32), ("group", np.uint32), ("event_id", np.uint32),
        ("begin_ns", np.int64), ("dur_ns", np.int64), ("cycles", np.int64),
        ("payload", np.uint32), ("end_payload", np.uint32), ("token", np.uint32),
        ("sm", np.uint16), ("ending", np.uint8), ("flags", np.uint8),
    ]
)  # fmt: skip
INSTANT_DTYPE = np.dtype(
    [
        ("block", np.uint32), ("group", np.uint32), ("event_id", np.uint32), ("ts_ns", np.int64),
        ("payload", np.uint32), ("token", np.uint32), ("sm", np.uint16), ("flags", np.uint8),
    ]
)  # fmt: skip
LANE_DTYPE = np.dtype(
    [
        ("block", np.uint32), ("group", np.uint32), ("sm", np.uint16), ("warp", np.uint16),
        ("cluster_rank", np.uint16), ("initialised", bool), ("finalised", bool),
        ("records", np.int64), ("offered", np.int64), ("dropped", np.int64),
        ("first_ns", np.int64), ("last_ns", np.int64), ("cycles_per_ns", np.float64),
    ]
)  # fmt: skip


@dataclass
class Span:
    """A begin and an end in one lane. Times count from the earliest record of the capture."""

    block: int
    group: int
    event_id: int
    begin_ns: int
    dur_ns: int
    payload: Optional[int] = None  # of the begin record
    end_payload: Optional[int] = None
    token: Optional[int] = None
    cycles: Optional[int] = None  # cycle clock: the duration as it was counted
    sm: Optional[int] = None
    ending: str = "complete"  # or "no_end", "no_begin": dur_ns is a lower bound

    @property
    def end_ns(self) -> int:
        return self.begin_ns + self.dur_ns


@dataclass
class Instant:
    block: int
    group: int
    event_id: int
    ts_ns: int
    payload: Optional[int] = None
    token: Optional[int] = None
    sm: Optional[int] = None


def _optional(value: int, is_there: int) -> Optional[int]:
    return value if is_there else None


def to_spans(rows: Any) -> list[Span]:
    return [
        Span(
            block, group, event, begin, dur,
            _optional(payload, flags & HAS_PAYLOAD),
            _optional(end_payload, flags & HAS_END_PAYLOAD),
            _optional(token, flags & HAS_TOKEN),
            _optional(cycles, flags & HAS_CYCLES),
            _optional(sm, sm != UNKNOWN_SM),
            ENDINGS[ending],
        )
        for block, group, event, begin, dur, cycles, payload, end_payload, token, sm, ending, flags
        in rows.tolist()
    ]  # fmt: skip


def to_instants(rows: Any) -> list[Instant]:
    return [
        Instant(
            block, group, event, time,
            _optional(payload, flags & HAS_PAYLOAD),
            _optional(token, flags & HAS_TOKEN),
            _optional(sm, sm != UNKNOWN_SM),
        )
        for block, group, event, time, payload, token, sm, flags in rows.tolist()
    ]  # fmt: skip


def _flag(value: Optional[int], flag: int) -> int:
    return 0 if value is None else flag


def from_spans(spans: Iterable[Span]) -> Any:
    rows = [
        (
            span.block, span.group, span.event_id, span.begin_ns, span.dur_ns, span.cycles or 0,
            span.payload or 0, span.end_payload or 0, span.token or 0,
            UNKNOWN_SM if span.sm is None else span.sm, ENDINGS.index(span.ending),
            _flag(span.payload, HAS_PAYLOAD) | _flag(span.end_payload, HAS_END_PAYLOAD)
            | _flag(span.token, HAS_TOKEN) | _flag(span.cycles, HAS_CYCLES),
        )
        for span in spans
    ]  # fmt: skip
    return np.array(rows, dtype=SPAN_DTYPE)


def from_instants(instants: Iterable[Instant]) -> Any:
    rows = [
        (
            instant.block, instant.group, instant.event_id, instant.ts_ns, instant.payload or 0,
            instant.token or 0, UNKNOWN_SM if instant.sm is None else instant.sm,
            _flag(instant.payload, HAS_PAYLOAD) | _flag(instant.token, HAS_TOKEN),
        )
        for instant in instants
    ]  # fmt: skip
    return np.array(rows, dtype=INSTANT_DTYPE)
