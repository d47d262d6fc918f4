# SPDX-License-Identifier: Apache-2.0
"""Words become a trace. Whatever the words are, the result holds what they say, and its problems what
they leave open."""

from __future__ import annotations

import warnings
from typing import Any, Optional, Union

import numpy as np

from ._lanes import Lanes, Times
from ._pairing import pair
from ._problems import Problems, WarpscopeWarning
from ._records import HAS_PAYLOAD as WORD_HAS_PAYLOAD
from ._records import HAS_TOKEN as WORD_HAS_TOKEN
from ._records import Records, find_stride, record_event, record_type
from ._result import TraceResult
from ._rows import (
    HAS_CYCLES,
    HAS_END_PAYLOAD,
    HAS_PAYLOAD,
    HAS_TOKEN,
    INSTANT_DTYPE,
    LANE_DTYPE,
    SPAN_DTYPE,
)
from ._side import Names, NamesById, SideBlock, names_by_id
from ._wire import DIALECTS, EVENT_TYPE_BEGIN, EVENT_TYPE_INSTANT, MAX_EVENTS, MAX_LANES, Dialect
from ._words import Parts, join, split, to_words


def decode(
    buffer: Any,
    event_names: Optional[NamesById] = None,
    group_names: Optional[NamesById] = None,
    *,
    dialect: str = "v1",
    num_blocks: int = 0,
    num_groups: int = 0,
    max_records: int = 0,
    side: Union[Any, bool, None] = None,
    extension: Optional[Any] = None,
    warn: bool = True,
) -> TraceResult:
    """Decodes the words of a capture: a numpy, torch or CuPy array of 64-bit integers, bytes, or
    a sequence of integers.

    Names, by id or in a list, win over those of the capture. A side block behind the v1 region is
    found; `side` gives one that lies elsewhere (then `extension` gives the extension words), and
    False says that there is none. `num_blocks` and `num_groups` win over what the capture says;
    `max_records` is the cap that the kernel was given. `dialect` names a relative of the format
    (see warpscope.DIALECTS).

    Never raises for what the words are: `problems` of the result says what is wrong with them.
    When something is lost there is one warning, a WarpscopeWarning, unless `warn` is False.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect {dialect!r} is not one of {', '.join(DIALECTS)}")
    for name, value in (
        ("num_blocks", num_blocks),
        ("num_groups", num_groups),
        ("max_records", max_records),
    ):
        if not 0 <= value < 1 << 32:
            raise ValueError(f"{name} {value} is not 0, as the capture says, or up to {(1 << 32) - 1}")
    problems = Problems()
    words, odd_bytes = to_words(buffer)
    problems.add("wrong_size", 1 if odd_bytes else 0)
    if dialect != "v1" or side is False:
        parts = Parts(words)
    elif side is None:
        parts = split(words, problems)
    else:
        behind = None if extension is None else to_words(extension)[0]
        parts = join(words, to_words(side)[0], behind, problems)
    decoder = _Decoder(parts, DIALECTS[dialect], problems)
    result = decoder.decode(event_names, group_names, num_blocks, num_groups, max_records)
    if warn:
        warn_of_losses(result, stacklevel=3)
    return result


def warn_of_losses(result: TraceResult, stacklevel: int) -> None:
    losses = [problem.text for problem in result.problems if problem.is_loss]
    if losses:
        warnings.warn("; ".join(losses), WarpscopeWarning, stacklevel=stacklevel)


class _Decoder:
    def __init__(self, parts: Parts, dialect: Dialect, problems: Problems) -> None:
        self._region = parts.region
        self._side: Optional[SideBlock] = parts.side
        self._extension = parts.extension
        self._dialect = dialect
        self._problems = problems

    def decode(
        self,
        event_names: Optional[NamesById],
        group_names: Optional[NamesById],
        num_blocks: int,
        num_groups: int,
        max_records: int,
    ) -> TraceResult:
        problems, side = self._problems, self._side
        if len(self._region) == 0:
            problems.add("wrong_size")
        layout = side.layout if side is not None else None
        names = side.names if side is not None and side.names is not None else Names()
        names.events.update(names_by_id(event_names))
        names.groups.update(names_by_id(group_names))

        records = Records(self._region, self._extension, self._dialect, problems)
        stride, rows = find_stride(records, layout, problems)
        record_lanes = records.sort(rows)
        blocks, groups = self._shape(record_lanes, num_blocks, num_groups)
        lanes = Lanes(records, record_lanes, side)
        slots, found = records.slots, lanes.count
        last_slot = np.zeros(len(lanes), dtype=np.int64)
        last_slot[found > 0] = slots[(lanes.start + found - 1)[found > 0]]
        records.slots = None
        lanes.cut(records, problems)
        lanes.order_rings(records)
        self._find_open(lanes)
        is_next_used = self._is_used(slots, last_slot + (stride or blocks * groups))
        self._find_full(lanes, found, is_next_used, max_records)
        times = Times(lanes, records, problems)
        spans, unmatched, instants = self._rows(records, lanes, times, groups, names)
        return TraceResult(
            blocks,
            groups,
            spans,
            instants,
            unmatched=unmatched,
            lanes=self._lane_rows(lanes, times, groups),
            problems=problems.as_list(),
            names=names,
            layout=layout,
            origin_ns=times.origin_ns if times.is_anchored.any() else None,
        )

    def _shape(self, record_lanes: Any, num_blocks: int, num_groups: int) -> tuple[int, int]:
        header = int(self._region[0]) if len(self._region) else 0
        blocks, groups = header & 0xFFFFFFFF, header >> 32
        if self._side is not None:
            stated = self._side.layout.num_blocks, self._side.layout.num_groups
            if header != 0 and (blocks, groups) != stated:
                self._problems.add("bad_header")
            blocks, groups = stated
        elif not 0 < blocks * groups <= MAX_LANES:
            if len(self._region):
                self._problems.add("missing_header" if header == 0 else "bad_header")
            blocks = groups = 0
        blocks, groups = num_blocks or blocks, num_groups or groups
        lanes = int(record_lanes[-1]) + 1 if len(record_lanes) else 0
        if groups == 0:
            groups = max(1, -(-lanes // blocks)) if blocks else 1
        needed = -(-lanes // groups)
        if blocks == 0:
            blocks = needed
        outside = len(record_lanes) - int(np.searchsorted(record_lanes, blocks * groups))
        if outside:
            self._problems.add("lane_outside_shape", outside, record_lanes[-outside])
        return max(blocks, needed), groups

    def _find_open(self, lanes: Lanes) -> None:
        """Lanes without an end, what lanes say that they dropped, and what cannot be true."""
        is_open = ~lanes.is_finalised
        if is_open.any() and self._dialect.has_finalize:
            self._problems.add("not_finalised", is_open.sum(), lanes.lane[is_open].min())
        is_dropping = lanes.side.dropped != 0
        if is_dropping.any():
            dropped = sum(lanes.side.dropped[is_dropping].tolist())
            self._problems.add("dropped", dropped, lanes.lane[is_dropping].min())
        is_impossible = lanes.side.is_impossible
        if is_impossible.any():
            first = lanes.lane[is_impossible].min()
            self._problems.add("impossible_time", is_impossible.sum(), first)

    def _is_used(self, slots: Any, wanted: Any) -> Any:
        """Whether these slots have records, or are outside the region."""
        is_used = np.zeros(len(self._region) + 1, dtype=bool)
        is_used[slots] = is_used[-1] = True
        return is_used[np.minimum(wanted, len(self._region))]

    def _find_full(self, lanes: Lanes, found: Any, is_next_used: Any, max_records: int) -> None:
        """Lanes that have no room left, so that they may have lost records that were not counted."""
        used: Any = lanes.count + lanes.has_finalize
        if self._side is not None:
            is_full = used >= self._side.layout.max_records - ~lanes.has_finalize
        else:
            is_full = is_next_used & (used == found)  # else something older lies in the next slot
        if max_records:
            is_full |= used >= max_records
        is_full &= (found > 0) & ~lanes.side.is_finalised
        if is_full.any():
            self._problems.add("possibly_lost", is_full.sum(), lanes.lane[is_full].min())

    def _rows(
        self, records: Records, lanes: Lanes, times: Times, groups: int, names: Names
    ) -> tuple[Any, Any, Any]:
        event, kind = record_event(records.words), record_type(records.words)
        if names.events:
            is_named = np.zeros(MAX_EVENTS, dtype=bool)
            is_named[[key for key in names.events if 0 <= key < MAX_EVENTS]] = True
            is_unknown = ~is_named[event]
            if is_unknown.any():
                first = lanes.lane[times.record_lane[is_unknown]].min()
                self._problems.add("unknown_event", is_unknown.sum(), first)
        columns = _Columns(records, lanes, times, groups, event)
        instants = columns.instants(np.flatnonzero(kind == EVENT_TYPE_INSTANT))

        ranged = np.flatnonzero(kind < EVENT_TYPE_INSTANT)
        is_begin = kind[ranged] == EVENT_TYPE_BEGIN
        lane = times.record_lane[ranged]
        segment: Any = 0
        if (lanes.gap > 0).any():
            # Behind a gap an end may belong to a begin that was overwritten: only tokens pair.
            gap = lanes.gap[lane]
            segment = ((gap > 0) & (ranged - lanes.start[lane] >= gap)).astype(np.int64)
        extension = None if records.extension is None else records.extension[ranged]
        begins, ends = pair(lane, segment, event[ranged], is_begin, extension)
        end_of = np.full(len(records), -1, dtype=np.int64)
        end_of[ranged[begins]] = ranged[ends]
        begun = np.flatnonzero(end_of >= 0)
        spans = columns.spans(begun, end_of[begun])
        is_single = np.ones(len(ranged), dtype=bool)
        is_single[begins] = is_single[ends] = False
        unmatched = self._unmatched(columns, ranged[is_single], is_begin[is_single])
        return spans, unmatched, instants

    def _unmatched(self, columns: _Columns, single: Any, is_begin: Any) -> Any:
        """Lane by lane, the ends without a begin first."""
        rows = columns.unmatched(single, is_begin)
        lane = columns.lane_of(single)
        for kind, found in (("unmatched_begin", is_begin), ("unmatched_end", ~is_begin)):
            if found.any():
                self._problems.add(kind, found.sum(), lane[found].min())
        return rows[np.lexsort((is_begin, lane))]

    def _lane_rows(self, lanes: Lanes, times: Times, groups: int) -> Any:
        rows = np.zeros(len(lanes), dtype=LANE_DTYPE)
        rows["block"], rows["group"] = np.divmod(lanes.lane, groups)
        rows["sm"], rows["warp"] = lanes.sm, lanes.side.warp
        rows["cluster_rank"] = lanes.side.cluster_rank
        rows["initialised"], rows["finalised"] = lanes.side.is_initialised, lanes.is_finalised
        rows["records"] = lanes.count
        rows["offered"] = np.where(lanes.side.is_finalised, lanes.side.offered, lanes.count)
        rows["dropped"] = lanes.side.dropped
        rows["first_ns"], rows["last_ns"] = times.first_ns, times.last_ns
        rows["cycles_per_ns"] = times.cycles_per_ns
        return rows


class _Columns:
    """Fills the rows of the result from records by their index."""

    def __init__(
        self, records: Records, lanes: Lanes, times: Times, groups: int, event: Any
    ) -> None:
        self._extension = records.extension
        self._lanes, self._times, self._event = lanes, times, event
        block, group = np.divmod(lanes.lane, groups)
        self._block, self._group = block.astype(np.uint32), group.astype(np.uint32)
        self._counts_cycles = lanes.layout is not None and lanes.layout.clock == "cycles"

    def lane_of(self, index: Any) -> Any:
        return self._lanes.lane[self._times.record_lane[index]]

    def instants(self, index: Any) -> Any:
        rows = np.zeros(len(index), dtype=INSTANT_DTYPE)
        self._fill(rows, index)
        rows["ts_ns"] = self._times.ns[index]
        self._extend(rows, index, "payload", HAS_PAYLOAD)
        return rows

    def spans(self, begin: Any, end: Any) -> Any:
        rows = np.zeros(len(begin), dtype=SPAN_DTYPE)
        # Piece by piece, so that a piece stays in the cache while its columns are written.
        for at in range(0, len(rows), 1 << 14):
            piece = slice(at, at + (1 << 14))
            self._fill_spans(rows[piece], begin[piece], end[piece])
        return rows

    def _fill_spans(self, rows: Any, begin: Any, end: Any) -> None:
        self._fill(rows, begin)
        rows["begin_ns"] = self._times.ns[begin]
        rows["dur_ns"] = self._times.ns[end] - rows["begin_ns"]
        if self._counts_cycles:
            rows["cycles"] = self._times.clock[end] - self._times.clock[begin]
            rows["flags"] |= HAS_CYCLES
        self._extend(rows, begin, "payload", HAS_PAYLOAD)
        self._extend(rows, end, "end_payload", HAS_END_PAYLOAD)

    def unmatched(self, index: Any, is_begin: Any) -> Any:
        rows = np.zeros(len(index), dtype=SPAN_DTYPE)
        self._fill(rows, index)
        lane = self._times.record_lane[index]
        own = self._times.ns[index]
        rows["begin_ns"] = np.where(is_begin, own, self._times.first_ns[lane])
        rows["dur_ns"] = np.where(is_begin, self._times.last_ns[lane], own) - rows["begin_ns"]
        rows["ending"] = np.where(is_begin, 1, 2)
        for chosen, column, flag in (
            (is_begin, "payload", HAS_PAYLOAD),
            (~is_begin, "end_payload", HAS_END_PAYLOAD),
        ):
            part = rows[chosen]
            self._extend(part, index[chosen], column, flag)
            rows[chosen] = part
        return rows

    def _fill(self, rows: Any, index: Any) -> None:
        lane = self._times.record_lane[index]
        rows["block"], rows["group"] = self._block[lane], self._group[lane]
        rows["event_id"] = self._event[index]
        rows["sm"] = self._lanes.sm[lane]

    def _extend(self, rows: Any, index: Any, column: str, flag: int) -> None:
        if self._extension is None:
            return
        words = self._extension[index]
        has_payload = words & WORD_HAS_PAYLOAD != 0
        rows[column] = np.where(has_payload, words.astype(np.uint32), 0)
        rows["flags"] |= np.where(has_payload, flag, 0).astype(np.uint8)
        if column == "end_payload" and (rows["ending"] == 0).all():
            return  # the begin's token is the span's
        has_token = words & WORD_HAS_TOKEN != 0
        token = (words >> np.uint64(32)).astype(np.uint32) & np.uint32(0x3FFFFFFF)
        rows["token"] = np.where(has_token, token, 0)
        rows["flags"] |= np.where(has_token, HAS_TOKEN, 0).astype(np.uint8)
