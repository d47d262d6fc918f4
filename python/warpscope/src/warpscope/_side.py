# SPDX-License-Identifier: Apache-2.0
"""The side block: what a capture says about itself, beside its v1 region."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, TypeVar, Union

import numpy as np

from ._wire import MAX_EVENTS, MAX_LANES

MAGIC = 0x3250435350524157  # "WARPSCP2"
VERSION = 1
HEADER_WORDS = 16
LANE_WORDS = 8
PLACEMENTS = ("strided", "lanes")
CLOCKS = ("globaltimer", "cycles")
POLICIES = ("first", "last", "both")
FLAG_EXTENSION = 1
MAX_EVENT_COST_PS = 1_000_000_000
LANE_INITIALISED = 1 << 48
LANE_FINALISED = 1 << 49

_MAX_INDEX = (1 << 32) - 1  # of blocks and tiles
_MAX_NESTING = 32  # of objects and arrays in the names
_ID = re.compile(r"0|[1-9][0-9]{0,6}")  # seven digits are more than any has
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')

NamesById = Union[Mapping[int, str], Sequence[str]]
Words = Any  # numpy array of uint64
_Type = TypeVar("_Type")


@dataclass
class Names:
    """What a capture calls things. `waits` are events that wait and do not work; a flow (p, c) says
    that the end of event p, in one group, is what event c, in another, waits for."""

    kernel: str = ""
    events: dict[int, str] = field(default_factory=dict)
    groups: dict[int, str] = field(default_factory=dict)
    waits: list[int] = field(default_factory=list)
    flows: list[tuple[int, int]] = field(default_factory=list)

    def to_json(self) -> str:
        """As the side block holds them, without ids that no record can have."""
        content: dict[str, Any] = {}
        if self.kernel:
            content["kernel"] = self.kernel
        for member, names, end in (
            ("events", self.events, MAX_EVENTS),
            ("groups", self.groups, MAX_LANES),
        ):
            if names:
                content[member] = {str(key): names[key] for key in names if 0 <= key < end}
        if self.waits:
            content["waits"] = [event for event in self.waits if 0 <= event < MAX_EVENTS]
        if self.flows:
            content["flows"] = [
                list(flow) for flow in self.flows if all(0 <= event < MAX_EVENTS for event in flow)
            ]
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")) if content else ""

    @staticmethod
    def from_json(text: str) -> Names:
        """ValueError when the text does not say names."""
        names = Names()
        for member, value in _of_type(_Members, _parse_strictly(text)):
            if member == "kernel":
                names.kernel = _of_type(str, value)
            elif member == "events":
                names.events = _texts(value, MAX_EVENTS)
            elif member == "groups":
                names.groups = _texts(value, MAX_LANES)
            elif member == "waits":
                names.waits = [event_id(member, entry) for entry in _integers(value)]
            elif member == "flows":
                names.flows = [flow(_integers(entry)) for entry in _of_type(list, value)]
        return names


def event_id(what: str, value: Any) -> int:
    """An id that records can have; TypeError or ValueError otherwise."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise TypeError(f"{what} has {value!r}: ids of events are whole numbers, 0 to {MAX_EVENTS - 1}")
    if not 0 <= value < MAX_EVENTS:
        raise ValueError(f"{what} has {value}: ids of events are 0 to {MAX_EVENTS - 1}")
    return int(value)


def flow(value: Any) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"flows has {value!r}: each is two ids of events, from which to which")
    return event_id("flows", value[0]), event_id("flows", value[1])


class _Members(list[Any]):
    """A JSON object as pairs, so that each of several members of one name is looked at."""


def _parse_strictly(text: str) -> Any:
    """Numbers that cannot be ids are -1 or of another type than int."""
    try:
        content = json.loads(
            text, object_pairs_hook=_Members, parse_int=_to_id, parse_constant=_refuse
        )
    except RecursionError as error:
        raise ValueError("it nests too deeply") from error
    depth = 0
    for bracket in re.findall(r"[\[{\]}]", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        if depth > _MAX_NESTING:
            raise ValueError("it nests too deeply")
    json.dumps(content, ensure_ascii=False).encode()  # half a surrogate pair is no text
    return content


def _to_id(text: str) -> int:
    return int(text) if _ID.fullmatch(text) else -1


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _of_type(kind: type[_Type], value: Any) -> _Type:
    if type(value) is not kind:
        raise ValueError(f"{value!r} is out of place")
    return value


def _below(end: int, number: int) -> int:
    if not 0 <= number < end:
        raise ValueError(f"{number} is not an id")
    return number


def _integers(value: Any) -> list[int]:
    return [_of_type(int, entry) for entry in _of_type(list, value)]


def _texts(value: Any, end: int) -> dict[int, str]:
    members = _of_type(_Members, value)
    return {_below(end, _to_id(key)): _of_type(str, name) for key, name in members}


def names_by_id(names: Optional[NamesById]) -> dict[int, str]:
    """Names as people pass them, a mapping or a sequence, by id."""
    if names is None:
        return {}
    pairs: Iterable[tuple[int, str]]
    pairs = names.items() if isinstance(names, Mapping) else enumerate(names)
    return {int(key): str(name) for key, name in pairs}


@dataclass(frozen=True)
class Window:
    """Which indices are captured: from `first`, to before `end` (0: all), every Nth."""

    first: int = 0
    end: int = 0
    every: int = 0

    @staticmethod
    def of(indices: Optional[range]) -> Window:
        if indices is None:
            return Window()
        if not isinstance(indices, range):
            raise TypeError("a window is a range(), such as range(0, 64, 8)")
        if indices.step < 1 or indices.start < 0 or indices.stop <= indices.start:
            raise ValueError(
                f"a window counts upwards from 0 or more and is not empty: {indices}"
            )
        if indices.stop > _MAX_INDEX or indices.step > _MAX_INDEX:
            raise ValueError(f"a window ends at {_MAX_INDEX} at most: {indices}")
        return Window(indices.start, indices.stop, indices.step)


@dataclass(frozen=True)
class Layout:
    """How a capture is laid out: what the header of its side block states."""

    num_blocks: int
    num_groups: int
    max_records: int
    write_stride: int = 0  # strided
    placement: str = "strided"
    clock: str = "globaltimer"
    policy: str = "first"
    extension: bool = False
    launch_id: int = 0
    blocks: Window = Window()
    tiles: Window = Window()
    event_cost_ps: int = 0  # what recording one event takes; 0: not measured

    @property
    def lanes(self) -> int:
        return self.num_blocks * self.num_groups

    @property
    def num_slots(self) -> int:
        if self.placement == "strided":
            return 1 + self.write_stride * self.max_records
        return 2 + self.lanes * self.max_records

    def first_slots(self, lanes: Any) -> Any:
        return 1 + lanes if self.placement == "strided" else 2 + lanes * self.max_records

    @property
    def slot_step(self) -> int:
        return self.write_stride if self.placement == "strided" else 1


def _pair(low: int, high: int) -> int:
    return low | high << 32


def make_side_block(layout: Layout, names: Names) -> Words:
    """The side block as it has to lie behind the v1 region before the launch."""
    text = names.to_json().encode()
    names_at = HEADER_WORDS + LANE_WORDS * layout.lanes
    side_words = names_at + (len(text) + 7) // 8
    # Extension words, which follow, are copied in pairs.
    side_words += (layout.num_slots + side_words) % 2
    words = np.zeros(side_words, dtype=np.uint64)
    header = [
        MAGIC,
        _pair(VERSION, HEADER_WORDS),
        _pair(PLACEMENTS.index(layout.placement), CLOCKS.index(layout.clock)),
        _pair(layout.num_blocks, layout.num_groups),
        _pair(layout.write_stride if layout.placement == "strided" else 0, layout.max_records),
        layout.num_slots,
        layout.launch_id,
        _pair(POLICIES.index(layout.policy), FLAG_EXTENSION if layout.extension else 0),
        _pair(layout.blocks.first, layout.blocks.end),
        _pair(layout.blocks.every, layout.tiles.every),
        _pair(layout.tiles.first, layout.tiles.end),
        _pair(HEADER_WORDS, LANE_WORDS),
        _pair(names_at if text else 0, len(text)),
        _pair(len(words), 0),
        _pair(layout.event_cost_ps, 0),
    ]
    words[: len(header)] = header
    words[names_at:].view(np.uint8)[: len(text)] = np.frombuffer(text, dtype=np.uint8)
    return words


@dataclass
class SideBlock:
    layout: Layout
    names: Optional[Names]  # None: they cannot be read
    num_slots: int  # as stated: the layout's own, or more
    side_words: int
    lanes: Words  # one row of 8 words for each lane


class BadSideBlock(ValueError):
    """It contradicts itself or what is there."""


def parse_side_block(words: Words) -> SideBlock:
    """The side block that begins at words[0]; more words may follow it."""
    if len(words) < HEADER_WORDS:
        raise BadSideBlock("its header is cut short")
    header = [int(word) for word in words[:HEADER_WORDS]]
    low = [word & 0xFFFFFFFF for word in header]
    high = [word >> 32 for word in header]
    if header[0] != MAGIC:
        raise BadSideBlock("it does not begin with its magic word")
    if low[1] != VERSION or high[1] < HEADER_WORDS:
        raise BadSideBlock(f"version {low[1]} with a header of {high[1]} words is not known")
    if low[2] >= len(PLACEMENTS) or high[2] >= len(CLOCKS) or low[7] >= len(POLICIES):
        raise BadSideBlock("placement, clock or policy are not known")
    layout = Layout(
        num_blocks=low[3],
        num_groups=high[3],
        max_records=high[4],
        write_stride=low[4] or low[3] * high[3],
        placement=PLACEMENTS[low[2]],
        clock=CLOCKS[high[2]],
        policy=POLICIES[low[7]],
        extension=bool(high[7] & FLAG_EXTENSION),
        launch_id=header[6],
        blocks=Window(low[8], high[8], low[9]),
        tiles=Window(low[10], high[10], high[9]),
        event_cost_ps=low[14],
    )
    if not 0 < layout.lanes <= MAX_LANES or layout.max_records == 0:
        raise BadSideBlock(
            f"{low[3]} blocks of {high[3]} groups with {high[4]} records are impossible"
        )
    if header[5] < layout.num_slots:
        raise BadSideBlock(f"it states {header[5]} slots, its layout has {layout.num_slots}")
    side_words, lanes_at, lane_words = low[13], low[11], high[11]
    lanes_end = lanes_at + layout.lanes * lane_words
    if lanes_at < HEADER_WORDS or lane_words < LANE_WORDS or lanes_end > side_words:
        raise BadSideBlock("its lanes are outside it")
    if side_words > len(words):
        raise BadSideBlock(f"it states {side_words} words, {len(words)} are there")
    lanes = words[lanes_at:lanes_end].reshape(layout.lanes, lane_words)[:, :LANE_WORDS]
    names = _read_names(words[:side_words], low[12], high[12])
    return SideBlock(layout, names, header[5], side_words, lanes)


def _read_names(side: Words, at: int, size: int) -> Optional[Names]:
    if at == 0 or size == 0:
        return Names()
    if at + (size + 7) // 8 > len(side):
        return None
    text = side[at:].tobytes()[:size].split(b"\0", 1)[0]
    try:
        return Names.from_json(text.decode())
    except ValueError:
        return None
