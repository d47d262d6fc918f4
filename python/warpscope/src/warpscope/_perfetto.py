# SPDX-License-Identifier: Apache-2.0
"""Perfetto's own trace format, as much of its protobuf as spans, instants and their names need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

from ._drawing import block_name, details, lines, sms, span_name

if TYPE_CHECKING:
    from ._drawing import Line
    from ._result import TraceResult

# Numbers of protobuf fields. Trace:
_PACKET = 1
# TracePacket:
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _INTERNED_DATA = 8, 10, 11, 12
_SEQUENCE_FLAGS, _TRACK_DESCRIPTOR = 13, 60
# TrackDescriptor and ProcessDescriptor:
_UUID, _TRACK_NAME, _PROCESS, _PARENT_UUID, _CHILD_ORDERING, _SIBLING_RANK = 1, 2, 3, 5, 11, 12
_PID, _PROCESS_NAME = 1, 6
_EXPLICIT = 3  # order of children
# TrackEvent, DebugAnnotation, InternedData and EventName:
_ANNOTATION, _TYPE, _NAME_IID, _EVENT_TRACK = 4, 9, 10, 11
_ANNOTATION_UINT, _ANNOTATION_NAME = 3, 10
_EVENT_NAMES, _IID, _INTERNED_NAME = 2, 1, 2
_SLICE_BEGIN, _SLICE_END, _INSTANT = 1, 2, 3

_SEQUENCE = 1
_STATE_CLEARED, _NEEDS_STATE = 1, 2


def write(result: TraceResult, path: Union[str, os.PathLike[str]]) -> None:
    with open(path, "wb") as file:
        file.writelines(_Writer(result).packets())


_SHORT = [bytes([value]) for value in range(0x80)]


def _varint(value: int) -> bytes:
    if 0 <= value < 0x80:
        return _SHORT[value]
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode("utf-8", "replace"))


def _annotations(found: dict[str, int]) -> bytes:
    return b"".join(
        _bytes(_ANNOTATION, _text(_ANNOTATION_NAME, key) + _number(_ANNOTATION_UINT, value))
        for key, value in found.items()
    )


_EVENT_TAIL = _number(_SEQUENCE_ID, _SEQUENCE) + _number(_SEQUENCE_FLAGS, _NEEDS_STATE)


class _Writer:
    def __init__(self, result: TraceResult) -> None:
        self._result = result
        self._iids: dict[str, int] = {}
        self._uuid = 0
        self._new_names = b""
        self._wrapped: dict[tuple[int, int, str], bytes] = {}

    def packets(self) -> Iterator[bytes]:
        first = _number(_SEQUENCE_FLAGS, _STATE_CLEARED) + _number(_SEQUENCE_ID, _SEQUENCE)
        yield _bytes(_PACKET, first)
        blocks: dict[int, int] = {}
        sm_of_block = sms(self._result)
        for line in lines(self._result):
            if line.block not in blocks:
                blocks[line.block] = self._next_uuid()
                name = block_name(line.block, sm_of_block.get(line.block))
                yield self._block(blocks[line.block], line.block, name)
            track = self._next_uuid()
            self._wrapped.clear()
            yield self._track(track, blocks[line.block], line)
            yield from self._events(track, line)

    def _next_uuid(self) -> int:
        self._uuid += 1
        return self._uuid

    def _block(self, uuid: int, block: int, name: str) -> bytes:
        # Process 0 is the operating system's idle one.
        process = _number(_PID, block + 1) + _text(_PROCESS_NAME, name)
        return self._descriptor(
            _number(_UUID, uuid) + _bytes(_PROCESS, process) + _number(_CHILD_ORDERING, _EXPLICIT)
        )

    def _track(self, uuid: int, parent: int, line: Line) -> bytes:
        # Tracks of one name under one parent are drawn as one, whose slices may overlap.
        return self._descriptor(
            _number(_UUID, uuid)
            + _number(_PARENT_UUID, parent)
            + _text(_TRACK_NAME, self._result.group_name(line.group))
            + _number(_SIBLING_RANK, line.group)
        )

    def _descriptor(self, content: bytes) -> bytes:
        packet = _bytes(_TRACK_DESCRIPTOR, content) + _number(_SEQUENCE_ID, _SEQUENCE)
        return _bytes(_PACKET, packet)

    def _events(self, track: int, line: Line) -> Iterator[bytes]:
        """In the order of time; of what happens at once, ends of inner slices come first."""
        result = self._result
        ends: list[int] = []
        for span in line.spans:
            while ends and ends[-1] <= span.begin_ns:
                yield self._event(track, ends.pop(), _SLICE_END)
            name = span_name(result, span)
            yield self._event(track, span.begin_ns, _SLICE_BEGIN, name, details(span))
            ends.append(span.end_ns)
        while ends:
            yield self._event(track, ends.pop(), _SLICE_END)
        for instant in line.instants:
            name = result.event_name(instant.event_id)
            yield self._event(track, instant.ts_ns, _INSTANT, name, details(instant))

    def _event(
        self, track: int, time_ns: int, kind: int, name: str = "", found: Any = None
    ) -> bytes:
        packet = _number(_TIMESTAMP, max(0, time_ns))
        if found:
            packet += _bytes(
                _TRACK_EVENT, self._plain_event(track, kind, name) + _annotations(found)
            )
        else:
            packet += self._wrapped_event(track, kind, name)
        if self._new_names:
            packet += _bytes(_INTERNED_DATA, self._new_names)
            self._new_names = b""
        return _bytes(_PACKET, packet + _EVENT_TAIL)

    def _wrapped_event(self, track: int, kind: int, name: str) -> bytes:
        # Most differ in their time only.
        key = track, kind, name
        if key not in self._wrapped:
            self._wrapped[key] = _bytes(_TRACK_EVENT, self._plain_event(track, kind, name))
        return self._wrapped[key]

    def _plain_event(self, track: int, kind: int, name: str) -> bytes:
        event = _number(_TYPE, kind) + _number(_EVENT_TRACK, track)
        return event + _number(_NAME_IID, self._iid(name)) if name else event

    def _iid(self, name: str) -> int:
        iid = self._iids.get(name)
        if iid is None:
            iid = self._iids[name] = len(self._iids) + 1
            entry = _number(_IID, iid) + _text(_INTERNED_NAME, name)
            self._new_names += _bytes(_EVENT_NAMES, entry)
        return iid
