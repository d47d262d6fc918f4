# SPDX-License-Identifier: Apache-2.0
"""The buffer that a kernel records into."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Iterable
from typing import Any, Optional

import numpy as np

from ._decode import decode, warn_of_losses
from ._dump import Path, save
from ._memory import TorchMemory, allocate
from ._result import TraceResult
from ._session import SessionLink
from ._side import (
    CLOCKS,
    HEADER_WORDS,
    LANE_INITIALISED,
    LANE_WORDS,
    MAX_EVENT_COST_PS,
    PLACEMENTS,
    POLICIES,
    Layout,
    Names,
    NamesById,
    Window,
    event_id,
    flow,
    make_side_block,
    names_by_id,
)
from ._wire import MAX_LANES


_MAX_WORDS = 1 << 37  # a tebibyte


def _check_launch_id(launch_id: int) -> None:
    if not isinstance(launch_id, (int, np.integer)):
        raise TypeError(f"launch_id {launch_id!r} is not an integer")
    if not 0 <= launch_id < 1 << 64:
        raise ValueError(f"launch_id {launch_id} is not from 0 to {(1 << 64) - 1}")


class Capture(ctypes.Structure):
    """ws::Capture of warpscope.cuh: all that a kernel has to know, as one argument by value. CuPy
    takes it as numpy.asarray(capture), the driver API by its address, others as bytes(capture)."""

    _fields_ = (
        [(name, ctypes.c_uint64) for name in ("words", "side", "extensions")]
        + [
            (name, ctypes.c_uint32)
            for name in (
                "num_blocks", "num_groups", "write_stride", "max_records", "placement", "policy",
                "first_block", "end_block", "every_block", "first_tile", "end_tile", "every_tile",
            )
        ]
        + [("reserved", ctypes.c_uint32 * 2)]
    )  # fmt: skip


class Profiler:
    """Memory for one capture at a time: a v1 region and, behind it, a side block in which the
    kernel says what it did, and on demand extension words.

    A kernel gets either `ptr` and the figures that wire format v1 needs (`write_stride`,
    `num_groups`, `num_blocks`, `max_records_per_lane`), or all of it as `capture`; only the latter
    uses what lies behind the v1 region.
    """

    def __init__(
        self,
        num_blocks: int,
        num_groups: int,
        max_records_per_lane: int = 64,
        device: Any = "cuda",
        *,
        library: Optional[str] = None,
        side: bool = True,
        write_stride: Optional[int] = None,
        placement: str = "strided",
        clock: str = "globaltimer",
        policy: str = "first",
        payloads: bool = False,
        blocks: Optional[range] = None,
        tiles: Optional[range] = None,
        launch_id: int = 0,
        event_cost_ns: float = 0,
        kernel: str = "",
        event_names: Optional[NamesById] = None,
        group_names: Optional[NamesById] = None,
        waits: Iterable[int] = (),
        flows: Iterable[tuple[int, int]] = (),
    ) -> None:
        """`library` is "torch" or "cupy" where both are installed. The rest is for kernels that
        take `capture`: where records lie (`placement` "strided" or "lanes"), what they count
        (`clock` "globaltimer" or "cycles"), which of too many are kept (`policy` "first", "last" or
        "both"), room for `payloads` and tokens, the `blocks` and `tiles` to record as ranges, and
        what the side block says of the launch, so that nothing has to be repeated when decoding:
        also what an event costs, where that was measured.
        """
        for name, value in (
            ("num_blocks", num_blocks),
            ("num_groups", num_groups),
            ("max_records_per_lane", max_records_per_lane),
        ):
            if not 1 <= value < 1 << 32:
                raise ValueError(f"{name} is {value}, not from 1 to {(1 << 32) - 1}")
        for name, word, known in (
            ("placement", placement, PLACEMENTS),
            ("clock", clock, CLOCKS),
            ("policy", policy, POLICIES),
        ):
            if word not in known:
                raise ValueError(f"{name} {word!r} is not one of {', '.join(known)}")
        lanes = num_blocks * num_groups
        if lanes > MAX_LANES:
            raise ValueError(f"{lanes} lanes are more than the {MAX_LANES} that a tag can distinguish")
        stride = lanes if write_stride is None else write_stride
        if stride >= 1 << 32:
            raise ValueError(f"write_stride {stride} is more than {(1 << 32) - 1}")
        if stride < lanes:
            raise ValueError(f"write_stride {stride} has no slot for each of {lanes} lanes")
        if placement == "lanes" and max_records_per_lane % 2:
            raise ValueError("placement lanes needs an even max_records_per_lane")
        if payloads and not side:
            raise ValueError("payloads come after the side block: they need side=True")
        if not 0 <= event_cost_ns * 1000 <= MAX_EVENT_COST_PS:
            raise ValueError(
                f"event_cost_ns {event_cost_ns} is not from 0 to {MAX_EVENT_COST_PS // 1000}"
            )
        _check_launch_id(launch_id)
        if not isinstance(kernel, str):
            raise TypeError(f"kernel {kernel!r} is not a str: it is the kernel's name")
        if stride * max_records_per_lane > _MAX_WORDS:
            raise ValueError(
                f"{stride} lanes of {max_records_per_lane} records are more than a terabyte: lower "
                "max_records_per_lane, or record fewer blocks"
            )
        self.num_blocks = num_blocks
        self.num_groups = num_groups
        self.max_records_per_lane = max_records_per_lane
        self.write_stride = stride
        self.names = Names(
            kernel,
            names_by_id(event_names),
            names_by_id(group_names),
            [event_id("waits", event) for event in waits],
            [flow(entry) for entry in flows],
        )
        self._layout = Layout(
            num_blocks,
            num_groups,
            max_records_per_lane,
            stride,
            placement,
            clock,
            policy,
            payloads,
            launch_id,
            Window.of(blocks),
            Window.of(tiles),
            round(event_cost_ns * 1e3),
        )
        self.num_slots = self._layout.num_slots
        self._side = make_side_block(self._layout, self.names) if side else None
        self.side_words = len(self._side) if self._side is not None else 0
        size = self.num_slots * (2 if payloads else 1) + self.side_words
        self._memory = allocate(size, device, library)
        self._session = SessionLink()
        self._write_side()

    @property
    def ptr(self) -> int:
        """The address of the v1 region."""
        return self._memory.ptr

    @property
    def side_ptr(self) -> int:
        """The address of the side block; 0 without one."""
        return self.ptr + 8 * self.num_slots if self._side is not None else 0

    @property
    def capture(self) -> Capture:
        """The argument of a kernel that takes ws::Capture."""
        layout = self._layout
        blocks, tiles = layout.blocks, layout.tiles
        extensions = self.side_ptr + 8 * self.side_words if layout.extension else 0
        return Capture(
            self.ptr, self.side_ptr, extensions,
            layout.num_blocks, layout.num_groups, layout.write_stride, layout.max_records,
            PLACEMENTS.index(layout.placement), POLICIES.index(layout.policy),
            blocks.first, blocks.end, blocks.every, tiles.first, tiles.end, tiles.every,
        )  # fmt: skip

    @property
    def launch_id(self) -> int:
        return self._layout.launch_id

    @property
    def tensor(self) -> Any:
        """The v1 region as a PyTorch tensor of int64, a view; None without PyTorch."""
        if isinstance(self._memory, TorchMemory):
            return self._memory.words[: self.num_slots]
        return None

    @property
    def array(self) -> Any:
        """The v1 region as a numpy or CuPy array of uint64, a view; None with PyTorch."""
        if isinstance(self._memory, TorchMemory):
            return None
        return self._memory.words[: self.num_slots]

    def reset(self, launch_id: Optional[int] = None) -> None:
        """Empties the buffer for the next launch."""
        if launch_id is not None and self._side is not None:
            _check_launch_id(launch_id)
            self._layout = dataclasses.replace(self._layout, launch_id=launch_id)
            self._side = make_side_block(self._layout, self.names)
        self._memory.clear()
        self._write_side()

    def _write_side(self) -> None:
        if self._side is not None:
            self._memory.write(self.num_slots, self._side)
        self._session.open()

    def words(self) -> Any:
        """A copy of the whole capture, side block and extension words included."""
        return self._memory.read()

    def numpy(self) -> Any:
        """A copy of the v1 region alone: what every reader of wire format v1 understands."""
        return self.words()[: self.num_slots]

    def decode(
        self,
        event_names: Optional[NamesById] = None,
        group_names: Optional[NamesById] = None,
    ) -> TraceResult:
        """Decodes what the kernel has recorded; it must have ended. Names win over those that the
        Profiler was made with. Where the program has a session of gpufl, the capture becomes part
        of it."""
        words = self.words()
        events, groups = names_by_id(event_names), names_by_id(group_names)
        if self._side is not None and self._used_side_block(words):
            self._session.give(words, events, groups, "")
            result = decode(words, events, groups, warn=False)
        else:
            # A kernel that knows the v1 region alone: its header, where it wrote one, tells the
            # shape, and placement, policy and windows are not its own.
            region = words[: self.num_slots]
            if region[0] == 0 and region.any():
                region[0] = self.num_groups << 32 | self.num_blocks
            events = {**self.names.events, **events}
            groups = {**self.names.groups, **groups}
            self._session.give(region, events, groups, self.names.kernel)
            result = decode(
                region,
                events,
                groups,
                max_records=self.max_records_per_lane,
                side=False,
                warn=False,
            )
        warn_of_losses(result, stacklevel=3)
        return result

    def _used_side_block(self, words: Any) -> bool:
        lanes = words[self.num_slots + HEADER_WORDS :][: LANE_WORDS * self._layout.lanes]
        return bool((lanes[6::LANE_WORDS] & np.uint64(LANE_INITIALISED)).any())

    def save(self, path: Path) -> Path:
        """Writes a dump for `warpscope decode`, load() and the C++ reader. Returns the path."""
        return save(self.words(), path)
