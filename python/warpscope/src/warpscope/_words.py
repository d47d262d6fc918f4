# SPDX-License-Identifier: Apache-2.0
"""From whatever holds the words of a capture to its three parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional

import numpy as np

from ._problems import Problems
from ._side import MAGIC, MAX_EVENT_COST_PS, BadSideBlock, SideBlock, parse_side_block

_WORD = np.dtype("<u8")


def to_words(buffer: Any) -> tuple[Any, int]:
    """The 64-bit words of an array, tensor, sequence of integers or bytes, and how many bytes at
    the end make no word. TypeError when it holds none of that."""
    if isinstance(buffer, (bytes, bytearray, memoryview)):
        raw = np.frombuffer(buffer, dtype=np.uint8)
    elif isinstance(buffer, np.ndarray):
        raw = buffer
    elif hasattr(buffer, "detach"):  # torch
        raw = np.asarray(buffer.detach().cpu().numpy())
    elif hasattr(buffer, "get") and hasattr(buffer, "dtype"):  # CuPy
        raw = np.asarray(buffer.get())
    elif hasattr(buffer, "__array__"):
        raw = np.asarray(buffer)
    else:
        mask = (1 << 64) - 1
        raw = np.fromiter((int(word) & mask for word in buffer), dtype=np.uint64)
    if raw.size == 0:
        return np.zeros(0, dtype=_WORD), 0
    if raw.dtype.kind not in "iu" or raw.dtype.itemsize not in (1, 8):
        raise TypeError(f"a capture is 64-bit integers or bytes, not {raw.dtype}")
    if raw.dtype.itemsize == 8 and not raw.dtype.isnative:
        raw = raw.astype(raw.dtype.newbyteorder("="))
    flat = np.ascontiguousarray(raw).reshape(-1)
    if raw.dtype.itemsize == 8:
        return flat.view(np.uint64), 0
    left_over = flat.size % 8
    # A copy where the bytes do not lie as words have to.
    return np.frombuffer(flat[: flat.size - left_over].tobytes(), dtype=_WORD), left_over


@dataclass
class Parts:
    region: Any
    side: Optional[SideBlock] = None
    extension: Optional[Any] = None  # one word for each of the region


def split(words: Any, problems: Problems) -> Parts:
    """The parts of a whole capture, as it was copied from the GPU or read from a dump."""
    body, at = _find_side_block(words, problems)
    if at is None:
        return Parts(body)
    side = _read_side_block(body[at:], problems)
    if side is None:
        return Parts(body[:at])
    return _with_extension(body[:at], side, body[at + side.side_words :], problems)


def join(region: Any, side: Any, extension: Optional[Any], problems: Problems) -> Parts:
    """The parts of a capture that were given one by one."""
    block = _read_side_block(side, problems)
    if block is None:
        return Parts(region)
    problems.add("wrong_size", abs(len(region) - block.num_slots))
    region = region[: block.num_slots]
    if extension is None:
        return Parts(region, block)
    return _with_extension(region, block, extension, problems)


def _read_side_block(words: Any, problems: Problems) -> Optional[SideBlock]:
    try:
        side = parse_side_block(words)
    except BadSideBlock:
        problems.add("bad_side_block")
        return None
    if side.names is None:
        problems.add("bad_names")
    if side.layout.event_cost_ps > MAX_EVENT_COST_PS:
        side.layout = replace(side.layout, event_cost_ps=0)
        problems.add("impossible_time")
    return side


def _with_extension(region: Any, side: SideBlock, behind: Any, problems: Problems) -> Parts:
    """`behind` is what follows the side block."""
    wanted = len(region) if side.layout.extension else 0
    problems.add("wrong_size", abs(len(behind) - wanted))
    if not wanted:
        return Parts(region, side)
    missing = np.zeros(max(0, wanted - len(behind)), dtype=np.uint64)
    return Parts(region, side, np.concatenate([behind[:wanted], missing]))


def _find_side_block(words: Any, problems: Problems) -> tuple[Any, Optional[int]]:
    """The words without the ending of a dump, and where the side block begins. A record never looks
    like the magic word: its finalize would carry an event."""
    has_ending = len(words) >= 2 and int(words[-1]) == MAGIC
    body = words[:-2] if has_ending else words
    found = [int(at) for at in np.flatnonzero(body == np.uint64(MAGIC)) if at > 0]
    for at in found:
        if at + 5 >= len(body) or int(body[at + 5]) == at:
            return body, at
    if has_ending:
        problems.add("bad_side_block")
    return body, None
