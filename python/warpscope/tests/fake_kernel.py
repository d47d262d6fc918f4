# SPDX-License-Identifier: Apache-2.0
"""What warpscope.cuh does on a GPU, done slowly on the host: a kernel writes records into memory by
the pointers it is given, one lane after the other."""

import ctypes
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

BEGIN, END, INSTANT, FINALIZE = range(4)
UNCAPPED = 0xFFFFFFFF


def memory_at(address, count):
    return np.ctypeslib.as_array((ctypes.c_uint64 * count).from_address(address))


@dataclass
class Clocks:
    """The GPU's clocks: nanoseconds, and cycles at a fixed rate."""

    ns: int = 1_000_000_000_000
    cycles_per_ns: int = 2
    counts_cycles: bool = False

    @property
    def cycles(self):
        return (self.ns - 1_000) * self.cycles_per_ns

    @property
    def now(self):
        return self.cycles if self.counts_cycles else self.ns


@dataclass
class Record:
    """What was offered to a lane."""

    type: int
    event: int
    ns: int
    payload: Optional[int] = None
    token: Optional[int] = None


@dataclass
class Lane:
    """ws::Profiler of one leader."""

    capture: object
    clocks: Clocks
    block: int
    group: int
    sm: int = 3
    offered: list = field(default_factory=list)

    def __post_init__(self):
        self.number = self.block * self.capture.num_groups + self.group
        capture = self.capture
        self.words = memory_at(capture.words, 1)
        self.words[0] = capture.num_groups << 32 | capture.num_blocks
        self.is_captured = holds(
            self.block, capture.first_block, capture.end_block, capture.every_block
        )
        self.is_recording = self.is_captured
        if capture.side:
            side = memory_at(capture.side, 16)
            side[2] = int(side[2]) & 0xFFFFFFFF | int(self.clocks.counts_cycles) << 32
        if capture.side and self.is_captured:
            self.entry = memory_at(capture.side + 8 * (16 + 8 * self.number), 8)
            self.entry[0], self.entry[1] = self.clocks.ns, self.clocks.cycles
            self.entry[6] = self.sm | 5 << 16 | 1 << 48

    def tile(self, number):
        capture = self.capture
        self.is_recording = self.is_captured and holds(
            number, capture.first_tile, capture.end_tile, capture.every_tile
        )

    def slot(self, index):
        if self.capture.placement == 1:
            return 2 + self.number * self.capture.max_records + index
        return 1 + self.number + index * self.capture.write_stride

    @property
    def room(self):
        return self.capture.max_records - 1

    def index_of(self, number):
        """The index in the lane of record `number`; None: it is dropped."""
        if number < self.room:
            return number
        if self.capture.policy == 0 or self.room == 0:
            return None
        kept = self.room // 2 if self.capture.policy == 2 else 0
        return kept + (number - kept) % (self.room - kept)

    def put(self, type, event, payload=None, token=None, always=False):
        if not (self.is_captured if always else self.is_recording):
            return
        index = self.index_of(len(self.offered))
        self.offered.append(Record(type, event, self.clocks.ns, payload, token))
        if index is None:
            return
        self.store(index, self.number << 12 | event << 2 | type)
        if self.capture.extensions:
            word = 0 if payload is None else payload | 1 << 63
            word |= 0 if token is None else token << 32 | 1 << 62
            memory_at(self.capture.extensions + 8 * self.slot(index), 1)[0] = word

    def store(self, index, tag):
        now = self.clocks.now & 0xFFFFFFFF
        memory_at(self.capture.words + 8 * self.slot(index), 1)[0] = now << 32 | tag

    def start(self, event, payload=None):
        self.put(BEGIN, event, payload)

    def end(self, event, payload=None):
        self.put(END, event, payload)

    def inst(self, event, payload=None):
        self.put(INSTANT, event, payload)

    def open(self, event, payload=None):
        token = len(self.offered)
        self.put(BEGIN, event, payload, token)
        return event, token

    def close(self, token, payload=None):
        self.put(END, token[0], payload, token[1], always=True)

    def finalize(self):
        if not self.is_captured:
            return
        kept = min(len(self.offered), self.room)
        self.store(kept, self.number << 12 | FINALIZE)
        if self.capture.side:
            self.entry[2], self.entry[3] = self.clocks.ns, self.clocks.cycles
            self.entry[4], self.entry[5] = len(self.offered), len(self.offered) - kept
            self.entry[6] = int(self.entry[6]) | 1 << 49


def holds(index, first, end, every):
    if index < first or (end and index >= end):
        return False
    return every <= 1 or (index - first) % every == 0


@dataclass
class V1Capture:
    """What the old init() is given instead of a capture."""

    words: int
    write_stride: int
    num_groups: int
    num_blocks: int
    max_records: int
    side: int = 0
    extensions: int = 0
    placement: int = 0
    policy: int = 0
    first_block: int = 0
    end_block: int = 0
    every_block: int = 0
    first_tile: int = 0
    end_tile: int = 0
    every_tile: int = 0


def toy(capture, num_blocks, clocks=None):
    """The toy of the guide: a producer (group 0) and a consumer (group 1) take turns."""
    clocks = clocks or Clocks()
    for block in range(num_blocks):
        began = clocks.ns
        for group in range(2):
            clocks.ns = began + 32 * group
            lane = Lane(capture, clocks, block, group, sm=block % 4)
            for _ in range(4):
                for event, duration in ((0, 96 + 32 * group), (1, 320)):
                    lane.start(event)
                    clocks.ns += duration
                    lane.end(event)
            lane.finalize()
