# SPDX-License-Identifier: Apache-2.0
"""The records of a v1 region, sorted by lane, each lane in the order of the program."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._problems import Problems
from ._side import Layout
from ._wire import EVENT_TYPE_FINALIZE, MAX_LANES, Dialect

LOW = np.uint64(0xFFFFFFFF)
HAS_TOKEN = np.uint64(1 << 62)
HAS_PAYLOAD = np.uint64(1 << 63)


def stable_order(keys: Any, bound: int) -> Any:
    """What sorts whole numbers below `bound`, equal ones staying as they are: numpy sorts 16 bits
    by their digits, several times faster than it compares."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    shift = 16
    while (bound - 1) >> shift:
        digits = (keys >> keys.dtype.type(shift)).astype(np.uint16)[order]
        order = order[np.argsort(digits, kind="stable")]
        shift += 16
    return order


def record_lane(words: Any) -> Any:
    return words.astype(np.uint32) >> np.uint32(12)


def record_event(words: Any) -> Any:
    return (words >> np.uint64(2)).astype(np.uint16) & np.uint16(0x3FF)


def record_type(words: Any) -> Any:
    return words.astype(np.uint8) & np.uint8(3)


def record_clock(words: Any) -> Any:
    return (words >> np.uint64(32)).astype(np.uint32)


class Records:
    """The words of all records in the order of slots, as wire format v1 has them, and after sort()
    lane by lane."""

    def __init__(
        self, region: Any, extension: Optional[Any], dialect: Dialect, problems: Problems
    ) -> None:
        # Let go by those who need them no more.
        self.slots: Any = np.flatnonzero(region[1:]) + 1
        self.words = region[self.slots]
        self.extension = None if extension is None else extension[self.slots]
        self.sm_of_lane: dict[int, int] = {}  # where records tell their SM
        if dialect.name != "v1":
            self._convert(dialect, int(region[0]) if len(region) else 0, problems)

    def __len__(self) -> int:
        return len(self.words)

    def take(self, index: Any) -> None:
        """Keeps these, in this order."""
        self.words = self.words[index]
        if self.slots is not None:
            self.slots = self.slots[index]
        if self.extension is not None:
            self.extension = self.extension[index]

    def sort(self, rows: Optional[Any]) -> Any:
        """Sorts by lane; the lanes of all records. `rows` are the numbers of slots in their lanes,
        where each lane has its own."""
        lane = record_lane(self.words)
        if len(lane) == 0 or not (lane[1:] < lane[:-1]).any():
            return lane
        order = _order_by_rows(lane, rows) if rows is not None else None
        if order is None:
            order = stable_order(lane, int(lane.max()) + 1)
        self.take(order)
        return lane[order]

    def _convert(self, dialect: Dialect, header: int, problems: Problems) -> None:
        tag = self.words.astype(np.uint32)
        event = _field(tag, dialect.event)
        if dialect.lane is not None:
            lane = _field(tag, dialect.lane)
        else:
            lane = self._lane_by_slot(_field(tag, dialect.block), header, problems)
        if dialect.sm is not None:
            self.sm_of_lane = dict(zip(lane.tolist(), _field(tag, dialect.sm).tolist()))
        if dialect.number is not None:
            number = _field(tag, dialect.number).astype(np.uint64)
            token = event.astype(np.uint64) << np.uint64(dialect.number.bits) | number
            self.extension = HAS_PAYLOAD | HAS_TOKEN | token << np.uint64(32) | number
        kind = tag & np.uint32(3)
        as_v1 = lane << np.uint32(12) | event << np.uint32(2) | kind
        self.words = (self.words & ~LOW) | as_v1.astype(np.uint64)
        if not dialect.has_finalize:
            is_known = kind != EVENT_TYPE_FINALIZE
            if not is_known.all():
                problems.add("unknown_type", np.sum(~is_known), lane[~is_known].min())
            # A word that has become 0 is the record that v1 takes for none.
            self.take(is_known & (self.words != 0))

    def _lane_by_slot(self, block: Any, header: int, problems: Problems) -> Any:
        """The lanes of records that have their block only: these kernels put lanes one beside the
        other, so that the slot shows the group."""
        groups = header >> 32
        lanes = (header & 0xFFFFFFFF) * groups
        if groups <= 1 or not 0 < lanes <= MAX_LANES:
            return block
        lane = ((self.slots - 1) % lanes).astype(np.uint32)
        is_own = lane // np.uint32(groups) == block
        first = np.minimum(block.astype(np.int64) * groups, MAX_LANES - 1).astype(np.uint32)
        if not is_own.all():
            problems.add("group_unknown", np.sum(~is_own), first[~is_own].min())
        return np.where(is_own, lane, first)


def _field(tag: Any, field: Any) -> Any:
    return tag >> np.uint32(field.shift) & np.uint32(field.mask)


def _order_by_rows(lane: Any, rows: Any) -> Optional[Any]:
    """What sorts by lane when no lane has an empty slot between its records, without comparing
    anything: a record's place is that of its lane's first and as many further as its row."""
    count = np.bincount(lane)
    order = np.zeros(len(lane), dtype=np.int64)
    last = np.zeros(len(count), dtype=np.int64)
    last[lane] = rows + 1  # rows ascend, so that the last one stays
    if (last != count).any():
        return None
    first = np.cumsum(count) - count
    order[first[lane] + rows] = np.arange(len(lane))
    return order


def find_stride(
    records: Records, layout: Optional[Layout], problems: Problems
) -> tuple[int, Optional[Any]]:
    """How far apart a lane's records lie, as the layout says or the first record's lane shows (0:
    unknown), and for sort() the number of each slot in its lane. Counts records in slots of another
    lane. Needs the order of slots."""
    if len(records) == 0:
        return 0, None
    lane = record_lane(records.words)
    rows = None
    if layout is not None and layout.placement == "lanes":
        if layout.max_records == 1:  # whose slots these are cannot be seen
            return 1, None
        # Slot 1 is nobody's.
        stride, owner = 1, (records.slots - 2) // layout.max_records
        owner = np.where(records.slots < 2, lane, owner)
    else:
        stride = layout.write_stride if layout is not None else _shown_stride(lane, records.slots)
        if stride <= 1:
            return stride, None
        # Division by a constant is vectorised, its remainder is not.
        at = records.slots - 1
        rows = at // stride
        owner = at - rows * stride
    is_aliased = owner != lane
    if is_aliased.any():
        problems.add("aliased_lanes", np.sum(is_aliased), lane[is_aliased].min())
        return stride, None
    return stride, rows


def _shown_stride(lane: Any, slots: Any) -> int:
    same = np.flatnonzero(lane[1:] == lane[0])
    return int(slots[same[0] + 1] - slots[0]) if len(same) else 0
