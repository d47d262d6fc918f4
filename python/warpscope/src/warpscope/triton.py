# SPDX-License-Identifier: Apache-2.0
"""Marks in Triton kernels. Triton takes no CUDA header, so they are inline PTX that writes the same
records as warpscope.cuh:

    import warpscope.triton as wst

    @triton.jit
    def kernel(..., capture):
        lane = wst.init(capture)
        lane = wst.start(lane, LOAD)
        ...
        lane = wst.end(lane, LOAD)
        wst.finalize(lane)

    kernel[grid](..., wst.capture(prof))   # None instead: a kernel without marks

Nothing in Triton can be changed in place, so each mark returns the lane for the next one. A program
is a block and, unless its warps have different roles, one group; its thread 0 stamps the timer.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import triton
import triton.language as tl

from ._profiler import Profiler
from ._side import HEADER_WORDS, LANE_WORDS, POLICIES

_WORD_BYTES = tl.constexpr(8)
_SIDE_HEADER_BYTES = tl.constexpr(8 * HEADER_WORDS)
_SIDE_LANE_BYTES = tl.constexpr(8 * LANE_WORDS)
_MAX_LANES = tl.constexpr(1 << 20)
_BEGIN = tl.constexpr(0)
_END = tl.constexpr(1)
_INSTANT = tl.constexpr(2)
_FINALIZE = tl.constexpr(3)

# As in the header every thread passes a fence, so that what it did before has been done, and the
# leader alone stores. Each text takes the count of records and returns the next one, which keeps
# marks in order.
_INIT_PTX = tl.constexpr("""{
.reg .pred is_leader, has_side;
.reg .u32 thread, sm, warp;
.reg .u64 timer, cycles;
mov.u32 thread, %tid.x;
setp.eq.u32 is_leader, thread, $7;
@is_leader st.global.v2.u32 [$2], {$3, $4};
setp.ne.and.u64 has_side, $5, 0, is_leader;
@has_side st.global.u32 [$5+20], 0;
mov.u64 timer, %globaltimer;
mov.u64 cycles, %clock64;
mov.u32 sm, %smid;
mov.u32 warp, %warpid;
shl.b32 warp, warp, 16;
or.b32 sm, sm, warp;
@has_side st.global.u64 [$6], timer;
@has_side st.global.u64 [$6+8], cycles;
@has_side st.global.v2.u32 [$6+48], {sm, 0x10000};
mov.u32 $0, $1;
}""")
_MARK_PTX = tl.constexpr("""{
.reg .pred is_kept;
.reg .u32 thread, time;
membar.cta;
mov.u32 time, %globaltimer_lo;
mov.u32 thread, %tid.x;
setp.eq.u32 is_kept, thread, $5;
setp.lt.and.u32 is_kept, $1, $4, is_kept;
@is_kept st.global.v2.u32 [$2], {$3, time};
add.u32 $0, $1, 1;
}""")
_MARK_WITH_PAYLOAD_PTX = tl.constexpr("""{
.reg .pred is_kept;
.reg .u32 thread, time;
.reg .u64 extension;
membar.cta;
mov.u32 time, %globaltimer_lo;
mov.u32 thread, %tid.x;
setp.eq.u32 is_kept, thread, $5;
setp.lt.and.u32 is_kept, $1, $4, is_kept;
@is_kept st.global.v2.u32 [$2], {$3, time};
setp.ne.and.u64 is_kept, $6, 0, is_kept;
add.u64 extension, $2, $6;
@is_kept st.global.v2.u32 [extension], {$7, 0x80000000};
add.u32 $0, $1, 1;
}""")
_FINALIZE_PTX = tl.constexpr("""{
.reg .pred is_leader, has_side;
.reg .u32 thread, sm, warp, kept, dropped, time;
.reg .u64 timer, cycles;
membar.cta;
mov.u64 timer, %globaltimer;
mov.u64 cycles, %clock64;
mov.u32 thread, %tid.x;
setp.eq.u32 is_leader, thread, $5;
cvt.u32.u64 time, timer;
@is_leader st.global.v2.u32 [$2], {$3, time};
setp.ne.and.u64 has_side, $6, 0, is_leader;
mov.u32 sm, %smid;
mov.u32 warp, %warpid;
shl.b32 warp, warp, 16;
or.b32 sm, sm, warp;
min.u32 kept, $1, $4;
sub.u32 dropped, $1, kept;
@has_side st.global.u64 [$6+16], timer;
@has_side st.global.u64 [$6+24], cycles;
@has_side st.global.v2.u32 [$6+32], {$1, 0};
@has_side st.global.v2.u32 [$6+40], {dropped, 0};
@has_side st.global.v2.u32 [$6+48], {sm, 0x30000};
mov.u32 $0, $1;
}""")


class Capture(NamedTuple):
    """A Profiler's buffer as an argument of a Triton kernel."""

    words: int  # addresses; 0: there is none
    side: int
    extensions: int
    num_blocks: int
    num_groups: int
    max_records: int
    first: int  # word of lane 0's first record
    pitch: int  # words from one lane to the next
    step: int  # words from one record of a lane to the next
    first_block: int
    end_block: int
    every_block: int


class Lane(NamedTuple):
    """What the marks of a kernel hand on; only the count changes."""

    records: Any  # address of the first
    step: Any  # bytes from one to the next
    extension: Any  # bytes from a record to its extension word; 0: there is none
    side: Any  # address of the lane's entry; 0: there is none
    tag: Any
    room: Any
    leader: Any  # of the threads; -1: this lane is not captured
    count: Any


def capture(prof: Optional[Profiler]) -> Optional[Capture]:
    """The argument for a kernel that records into `prof`; None for one that shall have no marks.
    Of a Profiler's options the policies "last" and "both" and the window of tiles are not known to
    these marks."""
    if prof is None:
        return None
    given = prof.capture
    if POLICIES[given.policy] != "first":
        raise ValueError(f"policy {POLICIES[given.policy]!r}: marks in Triton know only 'first'")
    if given.first_tile or given.end_tile or given.every_tile > 1:
        raise ValueError("a window of tiles: marks in Triton have none")
    in_lanes = given.placement != 0
    return Capture(
        given.words,
        given.side,
        given.extensions,
        given.num_blocks,
        given.num_groups,
        given.max_records,
        first=2 if in_lanes else 1,
        pitch=given.max_records if in_lanes else 1,
        step=1 if in_lanes else given.write_stride,
        first_block=given.first_block,
        end_block=min(given.end_block or given.num_blocks, given.num_blocks),
        every_block=max(given.every_block, 1),
    )


@triton.jit
def init(capture, group=0, leader=0):  # type: ignore[no-untyped-def]
    """Begins the lane of this program and group, whose thread `leader` stamps."""
    if capture is None:
        return ()
    else:
        plane = tl.program_id(1) + tl.num_programs(1) * tl.program_id(2)
        block = tl.program_id(0) + tl.num_programs(0) * plane
        index = block * capture.num_groups + group
        is_captured = (block >= capture.first_block) & (block < capture.end_block)
        is_captured &= (block - capture.first_block) % capture.every_block == 0
        is_captured &= (group < capture.num_groups) & (index < _MAX_LANES)
        wide = index.to(tl.int64)
        words = tl.cast(capture.words, tl.int64)
        records = words + (capture.first + wide * capture.pitch) * _WORD_BYTES
        side = tl.cast(capture.side, tl.int64)
        entry = tl.where(side != 0, side + _SIDE_HEADER_BYTES + wide * _SIDE_LANE_BYTES, side)
        extensions = tl.cast(capture.extensions, tl.int64)
        thread = tl.where(is_captured, leader, -1)
        count = tl.inline_asm_elementwise(
            _INIT_PTX,
            "=r,r,l,r,r,l,l,r,~{memory}",
            [0, words, capture.num_blocks, capture.num_groups, side, entry, thread],
            dtype=tl.int32,
            is_pure=False,
            pack=1,
        )
        return Lane(
            records,
            tl.cast(capture.step, tl.int64) * _WORD_BYTES,
            tl.where(extensions != 0, extensions - words, extensions),
            entry,
            index << 12,
            tl.cast(capture.max_records, tl.int32) - 1,
            thread,
            count,
        )


@triton.jit
def _mark(lane, event, kind, payload):  # type: ignore[no-untyped-def]
    if len(lane) == 0:
        return lane
    else:
        at = lane.records + lane.count.to(tl.int64) * lane.step
        tag = lane.tag | (event & 1023) << 2 | kind
        if payload is None:
            count = tl.inline_asm_elementwise(
                _MARK_PTX,
                "=r,r,l,r,r,r,~{memory}",
                [lane.count, at, tag, lane.room, lane.leader],
                dtype=tl.int32,
                is_pure=False,
                pack=1,
            )
        else:
            count = tl.inline_asm_elementwise(
                _MARK_WITH_PAYLOAD_PTX,
                "=r,r,l,r,r,r,l,r,~{memory}",
                [lane.count, at, tag, lane.room, lane.leader, lane.extension, payload],
                dtype=tl.int32,
                is_pure=False,
                pack=1,
            )
        return Lane(
            lane.records,
            lane.step,
            lane.extension,
            lane.side,
            lane.tag,
            lane.room,
            lane.leader,
            count,
        )


@triton.jit
def start(lane, event, payload=None):  # type: ignore[no-untyped-def]
    """Begins `event`, 0 to 1023. A payload of 32 bits needs a Profiler with payloads=True."""
    return _mark(lane, event, _BEGIN, payload)


@triton.jit
def end(lane, event, payload=None):  # type: ignore[no-untyped-def]
    """Ends the newest `event` that has begun."""
    return _mark(lane, event, _END, payload)


@triton.jit
def inst(lane, event, payload=None):  # type: ignore[no-untyped-def]
    """Marks a moment."""
    return _mark(lane, event, _INSTANT, payload)


@triton.jit
def finalize(lane):  # type: ignore[no-untyped-def]
    """Ends the lane. Nothing may be marked after it."""
    if len(lane) > 0:
        kept = tl.minimum(lane.count, lane.room)
        tl.inline_asm_elementwise(
            _FINALIZE_PTX,
            "=r,r,l,r,r,r,l,~{memory}",
            [
                lane.count,
                lane.records + kept.to(tl.int64) * lane.step,
                lane.tag | _FINALIZE,
                lane.room,
                lane.leader,
                lane.side,
            ],
            dtype=tl.int32,
            is_pure=False,
            pack=1,
        )
