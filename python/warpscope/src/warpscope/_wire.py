# SPDX-License-Identifier: Apache-2.0
"""The words of wire format v1 and of its relatives: docs/reference/warpscope-format.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional

WIRE_VERSION = 1

EVENT_TYPE_BEGIN = 0
EVENT_TYPE_END = 1
EVENT_TYPE_INSTANT = 2
EVENT_TYPE_FINALIZE = 3

MAX_EVENTS = 1 << 10
MAX_LANES = 1 << 20


@dataclass(frozen=True)
class Field:
    """Some bits of a tag."""

    shift: int
    bits: int

    @property
    def mask(self) -> int:
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Dialect:
    """Where a relative of v1 keeps what in a tag's 32 bits; the type is always in bits 1..0."""

    name: str
    event: Field
    lane: Optional[Field]
    block: Optional[Field] = None  # instead of a lane
    sm: Optional[Field] = None
    number: Optional[Field] = None  # counts the events of a lane, so that begin and end share one
    has_finalize: bool = False


DIALECTS = {
    dialect.name: dialect
    for dialect in (
        Dialect("v1", Field(2, 10), Field(12, 20), has_finalize=True),
        Dialect("flashinfer-2025-03", Field(2, 10), Field(12, 20)),
        Dialect("flashinfer-2025-07", Field(2, 10), None, block=Field(12, 12), sm=Field(24, 8)),
        Dialect("mirage-transpiler", Field(2, 10), Field(12, 12), number=Field(24, 8)),
        Dialect("mirage-persistent", Field(2, 9), Field(11, 8), number=Field(19, 13)),
    )
}


def pack_tag(block: int, group: int, num_groups: int, event_id: int, event_type: int) -> int:
    """The 32-bit tag of a record. ValueError when a part of it has no room."""
    if not 0 <= event_type <= EVENT_TYPE_FINALIZE:
        raise ValueError(f"event_type {event_type} is not 0 (begin) to 3 (finalize)")
    if not 0 <= event_id < MAX_EVENTS:
        raise ValueError(f"event_id {event_id} is not 0 to {MAX_EVENTS - 1}")
    if num_groups < 1:
        raise ValueError(f"num_groups {num_groups} is not at least 1")
    if not 0 <= group < num_groups:
        raise ValueError(f"group {group} is not 0 to {num_groups - 1}")
    lane = block * num_groups + group
    if not 0 <= lane < MAX_LANES:
        raise ValueError(f"block {block} of {num_groups} groups has no lane below {MAX_LANES}")
    return lane << 12 | event_id << 2 | event_type


class Tag(NamedTuple):
    block: int
    group: int
    event_id: int
    event_type: int


def decode_tag(tag: int, num_groups: int) -> Tag:
    """What a record's 32-bit tag says."""
    if num_groups < 1:
        raise ValueError(f"num_groups {num_groups} is not at least 1")
    block, group = divmod(tag >> 12 & MAX_LANES - 1, num_groups)
    return Tag(block, group, tag >> 2 & MAX_EVENTS - 1, tag & 3)
