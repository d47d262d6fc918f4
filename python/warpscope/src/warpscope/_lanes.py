# SPDX-License-Identifier: Apache-2.0
"""Lanes made ready for pairing: what is left over from an earlier launch cut off, rings put into
the order of time, and clocks in 64 bits. Every column has one entry for each lane."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._problems import Problems
from ._records import Records, record_clock, record_type
from ._rows import UNKNOWN_SM
from ._side import LANE_FINALISED, LANE_INITIALISED, SideBlock
from ._wire import EVENT_TYPE_FINALIZE

NO_GAP = -1
_UNLIMITED = np.iinfo(np.int64).max
_TURN = 1 << 32  # of a 32-bit clock
# No clock and no count of a lane reaches this; sums of those below stay within 63 bits.
_LANE_LIMIT = np.uint64(1 << 62)
# How far before its anchor a lane's first record may be stamped: both are read close to each other,
# and the timer of some GPUs advances by about a thousand at once.
_EARLY_LIMIT = 4096


class SideLanes:
    """What the side block has for these lanes; zeros where the kernel wrote nothing."""

    def __init__(self, side: Optional[SideBlock], lanes: Any) -> None:
        entries = np.zeros((len(lanes), 8), dtype=np.uint64)
        if side is not None:
            is_there = lanes < len(side.lanes)
            entries[is_there] = side.lanes[lanes[is_there]]
        state = entries[:, 6]
        self.is_initialised = (state & np.uint64(LANE_INITIALISED)) != 0
        has_end = self.is_initialised & ((state & np.uint64(LANE_FINALISED)) != 0)
        self.has_anchor = self.is_initialised & (entries[:, :2] < _LANE_LIMIT).all(axis=1)
        self.is_finalised = (
            has_end
            & (entries[:, 2:6] < _LANE_LIMIT).all(axis=1)
            & (entries[:, 5] <= entries[:, 4])  # no more dropped than offered
        )
        # Words that cannot be true count as not written.
        self.is_impossible = (self.is_initialised & ~self.has_anchor) | (
            has_end & ~self.is_finalised
        )
        entries[~self.has_anchor, :2] = 0
        entries[~self.is_finalised, 2:6] = 0
        entries[~self.is_initialised] = 0
        (self.start_ns, self.start_cycles, self.end_ns, self.end_cycles, self.offered,
         self.dropped) = np.ascontiguousarray(entries[:, :6].T).view(np.int64)  # fmt: skip
        # Of those offered, what got a slot, its own or one that is used again.
        lost = np.minimum(entries[:, 7], entries[:, 4]).view(np.int64)
        self.placed = self.offered - lost
        self.sm = state.astype(np.uint16)
        self.sm[~self.is_initialised] = UNKNOWN_SM
        self.warp = (state >> np.uint64(16)).astype(np.uint16)
        self.cluster_rank = (state >> np.uint64(32)).astype(np.uint16)
        self.has_frequency = (
            self.has_anchor
            & self.is_finalised
            & (self.end_ns > self.start_ns)
            & (self.end_cycles > self.start_cycles)
        )


class Lanes:
    def __init__(self, records: Records, record_lanes: Any, side: Optional[SideBlock]) -> None:
        """`records` are sorted by lane; cut() and order_rings() change them."""
        found = np.concatenate([record_lanes[:1], record_lanes[1:][np.diff(record_lanes) != 0]])
        if side is not None:
            state = side.lanes[:, 6]
            initialised = np.flatnonzero((state & np.uint64(LANE_INITIALISED)) != 0)
            found = np.union1d(found, initialised)
        self.lane = found.astype(np.int64)
        self.side = SideLanes(side, self.lane)
        self.layout = side.layout if side is not None else None
        self.start = np.searchsorted(record_lanes, self.lane)
        self.count = np.searchsorted(record_lanes, self.lane, side="right") - self.start
        self.has_finalize = np.zeros(len(self.lane), dtype=bool)
        self.finalize_clock = np.zeros(len(self.lane), dtype=np.uint32)
        self.gap = np.full(len(self.lane), NO_GAP, dtype=np.int64)  # first behind overwritten ones
        self.sm = self.side.sm.copy()
        if records.sm_of_lane:
            self.sm[:] = [records.sm_of_lane.get(lane, UNKNOWN_SM) for lane in self.lane.tolist()]

    def __len__(self) -> int:
        return len(self.lane)

    @property
    def is_finalised(self) -> Any:
        return self.has_finalize | self.side.is_finalised

    @property
    def has_time(self) -> Any:
        return self.has_finalize | (self.count > 0)

    def of_records(self) -> Any:
        """The index of each record's lane."""
        return np.repeat(np.arange(len(self)), self.count)

    def cut(self, records: Records, problems: Problems) -> None:
        """Splits off the finalize, and what it or the kernel's own count shows to be of an earlier
        launch."""
        finals = np.flatnonzero(record_type(records.words) == EVENT_TYPE_FINALIZE)
        final_lane = np.searchsorted(self.start + self.count, finals, side="right")
        expected = np.full(len(self), _UNLIMITED)
        if self.layout is not None:
            limit = np.minimum(self.side.placed, self.layout.max_records - 1)
            expected[self.side.is_finalised] = limit[self.side.is_finalised]
        is_last = finals == (self.start + self.count)[final_lane] - 1
        num_finals = np.bincount(final_lane, minlength=len(self))
        if is_last.all() and (self.count - num_finals <= expected).all():
            chosen, chosen_lane = finals, final_lane
            keep = np.ones(len(records), dtype=bool)
        else:
            keep, chosen, chosen_lane = self._choose(len(records), finals, final_lane, expected)
        self.has_finalize[chosen_lane] = True
        self.finalize_clock[chosen_lane] = record_clock(records.words[chosen])
        keep[finals] = False
        kept = np.cumsum(keep)
        stale = len(records) - len(chosen) - (int(kept[-1]) if len(kept) else 0)
        if stale:
            is_stale = ~keep
            is_stale[chosen] = False
            problems.add("stale_tail", stale, self.lane[self.of_records()[is_stale]].min())
        if not keep.all():
            self.count = np.bincount(self.of_records()[keep], minlength=len(self))
            self.start = np.cumsum(self.count) - self.count
            records.take(keep)

    def _choose(self, size: int, finals: Any, final_lane: Any, expected: Any) -> Any:
        """Which records may stay, and which of several finalize records is each lane's own."""
        is_record = np.ones(size, dtype=np.int64)
        is_record[finals] = 0
        before = np.cumsum(is_record) - is_record
        lane = self.of_records()
        rank = before - before[np.minimum(self.start, max(size - 1, 0))][lane]
        # The first behind all records that were counted, or without a count the first at all; else
        # the last.
        is_counted = self.side.is_finalised
        fits = ~is_counted[final_lane] | (rank[finals] >= expected[final_lane])
        choice = np.full(len(self), -1, dtype=np.int64)
        choice[final_lane] = np.arange(len(finals))
        backwards = np.flatnonzero(fits)[::-1]
        choice[final_lane[backwards]] = backwards
        has_final = choice >= 0
        chosen = finals[choice[has_final]]
        end = np.full(len(self), size, dtype=np.int64)
        end[has_final] = chosen
        end[is_counted] = size
        keep = (rank < expected[lane]) & (np.arange(size) < end[lane])
        return keep, chosen, np.flatnonzero(has_final)

    def order_rings(self, records: Records) -> None:
        """Policies last and both: puts the ring behind the first `head` records into the order of
        time."""
        if self.layout is None or self.layout.policy == "first" or self.layout.max_records < 2:
            return
        room = self.layout.max_records - 1
        head = room // 2 if self.layout.policy == "both" else 0
        is_counted = self.side.is_finalised
        may_turn = ~(is_counted & (self.side.placed <= room)) & (self.count > head)
        lane = self.of_records()
        at = np.arange(len(records)) - self.start[lane]
        clock = record_clock(records.words)
        goes_back = np.zeros(len(records), dtype=bool)
        goes_back[1:] = (clock[1:] - clock[:-1]) >> np.uint32(31) != 0
        breaks = np.flatnonzero(goes_back & (at > head))[::-1]
        oldest = self.count.copy()
        oldest[lane[breaks]] = at[breaks]
        by_count = is_counted & (self.count == room)
        turned = head + (self.side.placed - head) % (room - head)
        oldest = np.where(by_count, turned, oldest)
        # Without a break a ring that nobody counted and that has room was never full.
        may_turn &= ~((oldest == self.count) & ~is_counted & (self.count < room))
        self.gap[may_turn] = head
        oldest = np.where(may_turn & (oldest < self.count), oldest, head)
        if (oldest == head).all():
            return
        size = np.maximum(self.count - head, 1)[lane]
        to = np.where(at < head, at, head + (at - oldest[lane]) % size)
        order = np.empty(len(records), dtype=np.int64)
        order[self.start[lane] + to] = np.arange(len(records))
        records.take(order)


class Times:
    """The clock of every record, unwrapped and in nanoseconds since the earliest one."""

    def __init__(self, lanes: Lanes, records: Records, problems: Problems) -> None:
        self._lanes = lanes
        self._side = lanes.side
        self._counts_cycles = lanes.layout is not None and lanes.layout.clock == "cycles"
        self.record_lane = lanes.of_records()
        clock = record_clock(records.words)
        elapsed, impossible = self._elapsed(clock)

        first = lanes.finalize_clock.copy()
        has_records = lanes.count > 0
        first[has_records] = clock[lanes.start[has_records]]
        last = (lanes.start + lanes.count - 1)[has_records]
        advance = np.zeros(len(lanes), dtype=np.int64)
        advance[has_records] = elapsed[last]
        closing = np.zeros(len(lanes), dtype=np.uint32)
        closing[has_records] = lanes.finalize_clock[has_records] - clock[last]
        closing[~lanes.has_finalize] = 0
        impossible += closing >> np.uint32(31)
        advance += closing.astype(np.int64)

        self.is_anchored = self._side.has_anchor & lanes.has_time
        start, skip = self._anchor(first, advance)
        anchor = self._side.start_cycles if self._counts_cycles else self._side.start_ns
        late = start - anchor >= 1 << 31
        impossible += self.is_anchored & (lanes.gap == NO_GAP) & late
        if impossible.any():
            problems.add("impossible_time", impossible.sum(), lanes.lane[impossible > 0].min())
        self._place(start, first, problems)

        self.clock = start[self.record_lane] + elapsed
        if skip.any():
            at = np.arange(len(records)) - lanes.start[self.record_lane]
            gap = np.where(lanes.gap == NO_GAP, _UNLIMITED, lanes.gap)
            is_behind = at >= gap[self.record_lane]
            self.clock += np.where(is_behind, skip[self.record_lane], 0)
        self.ns = self._to_ns(self.clock, self.record_lane)
        every = np.arange(len(lanes))
        self.first_ns = self._to_ns(start, every)
        self.last_ns = self._to_ns(start + advance + skip, every)
        self.first_ns[~lanes.has_time] = self.last_ns[~lanes.has_time] = 0

    def _elapsed(self, clock: Any) -> tuple[Any, Any]:
        """Since the lane's first record; and how many steps of each lane are impossible."""
        if len(clock) == 0:
            return np.zeros(0, dtype=np.int64), np.zeros(len(self._lanes), dtype=np.int64)
        steps = np.zeros(len(clock), dtype=np.uint32)
        steps[1:] = clock[1:] - clock[:-1]
        starts = self._lanes.start[self._lanes.count > 0]
        steps[starts] = 0
        elapsed = np.cumsum(steps, dtype=np.int64)
        base = np.zeros(len(self._lanes), dtype=np.int64)
        base[self._lanes.count > 0] = elapsed[starts]
        elapsed -= base[self.record_lane]
        # However long a gap is, it is not a clock that went back.
        steps[(self._lanes.start + self._lanes.gap)[self._lanes.gap > 0]] = 0
        back = np.flatnonzero(steps >> np.uint32(31))
        return elapsed, np.bincount(self.record_lane[back], minlength=len(self._lanes))

    def _anchor(self, first: Any, advance: Any) -> tuple[Any, Any]:
        """Continues the anchors of init to the first records. Where records were overwritten, the
        anchor of finalize shows how often the clock turned over meanwhile."""
        side, lanes = self._side, self._lanes
        begin, end = side.start_ns, side.end_ns
        if self._counts_cycles:
            begin, end = side.start_cycles, side.end_cycles
        since = (first - begin.astype(np.uint32)).astype(np.int64)
        before = -since % _TURN
        is_early = (lanes.gap != 0) & (before <= np.minimum(_EARLY_LIMIT, begin))
        start = begin + np.where(is_early, -before, since)
        left = end - (start + advance)
        has_gap = self.is_anchored & side.is_finalised & (lanes.gap != NO_GAP) & (left > 0)
        skip = np.where(has_gap, (left + _TURN // 2) // _TURN * _TURN, 0)
        start += np.where(lanes.gap == 0, skip, 0)
        return start, np.where(lanes.gap == 0, 0, skip)

    def _place(self, start: Any, first: Any, problems: Problems) -> None:
        """Puts lanes without an anchor to the others, and finds time zero."""
        lanes = self._lanes
        is_loose = ~self.is_anchored & lanes.has_time
        self.anchor_clock = self._side.start_cycles.copy()
        self.anchor_ns = self._side.start_ns.copy()
        self.cycles_per_ns = np.zeros(len(lanes))
        placed = self.is_anchored
        if self._counts_cycles:
            self._fit_frequencies(problems)
            if is_loose.any():
                problems.add("unplaced_lane", is_loose.sum(), lanes.lane[is_loose].min())
            start[is_loose] = self.anchor_clock[is_loose] = first[is_loose]
        elif is_loose.any():
            at = np.flatnonzero(placed if placed.any() else lanes.has_time)[0]
            reference = int(start[at]) if placed.any() else int(first[at])
            offset = (first - np.uint32(reference & 0xFFFFFFFF)).view(np.int32).astype(np.int64)
            start[is_loose] = reference + offset[is_loose]
            placed = lanes.has_time
        self.origin_ns = 0
        times = self._to_ns(start, np.arange(len(lanes)))[placed]
        if len(times):
            self.origin_ns = int(times.min())
        if self._counts_cycles:
            self.anchor_ns[is_loose] = self.origin_ns

    def _fit_frequencies(self, problems: Problems) -> None:
        """Cycles of a nanosecond for each lane: its own, else its SM's, else that of all lanes."""
        side = self._side
        own = side.has_frequency
        cycles = np.where(own, side.end_cycles - side.start_cycles, 0).astype(np.float64)
        ns = np.where(own, side.end_ns - side.start_ns, 0).astype(np.float64)
        if not own.any():
            problems.add("unknown_frequency")
        sm = side.sm.astype(np.int64)
        sm_cycles, sm_ns = np.bincount(sm, cycles, 1 << 16), np.bincount(sm, ns, 1 << 16)
        by_sm = side.is_initialised & (sm_ns[sm] > 0)
        top = np.where(own, cycles, np.where(by_sm, sm_cycles[sm], cycles.sum()))
        bottom = np.where(own, ns, np.where(by_sm, sm_ns[sm], ns.sum()))
        self.cycles_per_ns = np.where(bottom > 0, top / np.maximum(bottom, 1e-300), 1.0)

    def _to_ns(self, clock: Any, lane: Any) -> Any:
        """Since time zero."""
        if not self._counts_cycles:
            return clock - self.origin_ns
        since = (clock - self.anchor_clock[lane]) / self.cycles_per_ns[lane] + 0.5
        whole = np.floor(np.clip(since, -4e18, 4e18)).astype(np.int64)
        return np.maximum(self.anchor_ns[lane] + whole, 0) - self.origin_ns
