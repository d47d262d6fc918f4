# SPDX-License-Identifier: Apache-2.0
"""What the writers of traces have in common: which spans can share a line of a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._rows import UNKNOWN_SM, Instant, Span, to_instants, to_spans

if TYPE_CHECKING:
    from ._result import TraceResult

_ENDINGS = {"complete": "", "no_end": " (no end)", "no_begin": " (no begin)"}


@dataclass
class Line:
    """Spans of one lane that are apart or nested, in the order of begins, the outer ones first."""

    block: int
    group: int
    number: int  # among the lines of its lane
    spans: list[Span]
    instants: list[Instant]


def lines(
    result: TraceResult, blocks: Optional[list[int]] = None, apart: bool = False
) -> Iterator[Line]:
    """All lanes, or those of `blocks`, each as few lines as show every span of it; unmatched ones
    are drawn as well. `apart`: ranges with a token, which are asynchronous, have separate
    lines, without nesting."""
    spans = np.concatenate([result.spans_array(), result.unmatched_array()])
    instants = result.instants_array()
    if blocks is not None:
        spans = spans[np.isin(spans["block"], blocks)]
        instants = instants[np.isin(instants["block"], blocks)]
    spans = spans[np.lexsort((-spans["dur_ns"], spans["begin_ns"], spans["group"], spans["block"]))]
    instants = instants[np.lexsort((instants["ts_ns"], instants["group"], instants["block"]))]
    span_key, instant_key = _keys(spans), _keys(instants)
    for key in np.union1d(span_key, instant_key):
        own = spans[np.searchsorted(span_key, key) : np.searchsorted(span_key, key, "right")]
        first, last = np.searchsorted(instant_key, key), np.searchsorted(instant_key, key, "right")
        block, group = int(key) >> 32, int(key) & 0xFFFFFFFF
        found = to_spans(own)
        if apart:
            nested = _split([span for span in found if span.token is None])
            split = nested + _split([span for span in found if span.token is not None], False)
        else:
            split = _split(found)
        for number, line in enumerate(split or [[]]):
            marks = to_instants(instants[first:last]) if number == 0 else []
            yield Line(block, group, number, line, marks)


def _keys(rows: Any) -> Any:
    return rows["block"].astype(np.uint64) << np.uint64(32) | rows["group"].astype(np.uint64)


def _split(spans: list[Span], can_nest: bool = True) -> list[list[Span]]:
    found: list[list[Span]] = []
    open_ends: list[list[int]] = []  # of each line
    for span in spans:
        begin, end = span.begin_ns, span.end_ns
        for line, ends in zip(found, open_ends):
            while ends and ends[-1] <= begin:
                ends.pop()
            if not ends or (can_nest and end <= ends[-1]):
                line.append(span)
                ends.append(end)
                break
        else:
            found.append([span])
            open_ends.append([end])
    return found


def span_name(result: TraceResult, span: Span) -> str:
    return result.event_name(span.event_id) + _ENDINGS[span.ending]


def block_name(block: int, sm: Any) -> str:
    return f"block {block}" if sm is None else f"block {block} (SM {sm})"


def details(row: Any) -> dict[str, Any]:
    """What is known of a span or an instant besides its time."""
    names = ("payload", "end_payload", "token", "cycles")
    return {name: value for name in names if (value := getattr(row, name, None)) is not None}


def sms(result: TraceResult) -> dict[int, int]:
    """The SM of each block that recorded it."""
    lanes = result.lanes_array()
    known = lanes[lanes["sm"] != UNKNOWN_SM]
    return dict(zip(known["block"].tolist(), known["sm"].tolist()))
