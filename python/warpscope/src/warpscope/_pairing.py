# SPDX-License-Identifier: Apache-2.0
"""Which end belongs to which begin."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._records import HAS_TOKEN, stable_order

_ROUNDS = 3  # more of taking neighbours before sorting


def pair(
    lane: Any, segment: Any, event: Any, is_begin: Any, extension: Optional[Any]
) -> tuple[Any, Any]:
    """(begins, ends) of begin and end records in the order of lanes and of the program: by token
    where they have one, else by event within a segment, the newest open one first.

    A begin that its end follows at once is a pair, whatever is around it; without those,
    others are neighbours. When that finds few, sorting by what pairs makes all neighbours but
    ranges inside one of the same event. Of those, an end closes the begin of the same depth, so
    sorting by depth makes the rest neighbours, too.
    """
    key, bound = _keys(lane, segment, event, extension)
    pairs: list[tuple[Any, Any]] = []
    rest = _take_neighbours(np.arange(len(key)), key, is_begin, pairs)
    before = len(key)
    for _ in range(_ROUNDS):
        if len(rest) == 0 or len(rest) > before // 2:
            break
        before = len(rest)
        rest = _take_neighbours(rest, key[rest], is_begin[rest], pairs)
    if len(rest):
        rest = rest[stable_order(key[rest], bound)]
        rest = _take_neighbours(rest, key[rest], is_begin[rest], pairs)
    if len(rest):
        depth = _depths(is_begin[rest])
        order = np.lexsort((depth, key[rest]))
        rest, depth = rest[order], depth[order]
        # One number for both: where either changes, the next begins.
        changes = (np.diff(depth) != 0) | (np.diff(key[rest].view(np.int64)) != 0)
        both = np.concatenate([[0], np.cumsum(changes)])
        _take_neighbours(rest, both, is_begin[rest], pairs)
    begins = np.concatenate([begin for begin, _ in pairs])
    ends = np.concatenate([end for _, end in pairs])
    return begins, ends


def _keys(lane: Any, segment: Any, event: Any, extension: Optional[Any]) -> tuple[Any, int]:
    """Equal where records may pair, and what all are below."""
    if len(lane) == 0:
        return np.zeros(0, dtype=np.uint64), 1
    events = int(event.max()) + 1
    key = (lane * 2 + segment).astype(np.uint64) * np.uint64(events) + event.astype(np.uint64)
    bound = (int(lane[-1]) + 1) * 2 * events
    if extension is not None:
        has_token = extension & HAS_TOKEN != 0
        if has_token.any():
            token = extension[has_token] >> np.uint64(32) & np.uint64(0x3FFFFFFF)
            # Numbered, so that they are as short as the others.
            _, number = np.unique(lane[has_token].astype(np.uint64) << np.uint64(30) | token,
                                  return_inverse=True)  # fmt: skip
            key[has_token] = number.reshape(-1).astype(np.uint64) + np.uint64(bound)
            bound += len(number)
    return key, bound


def _take_neighbours(rest: Any, key: Any, is_begin: Any, pairs: list[tuple[Any, Any]]) -> Any:
    """Adds the pairs among neighbours of one key to `pairs`; what is left, in the same order."""
    found = is_begin[:-1] & ~is_begin[1:] & (key[:-1] == key[1:])
    pairs.append((rest[:-1][found], rest[1:][found]))
    is_left = np.ones(len(rest), dtype=bool)
    is_left[:-1][found] = False
    is_left[1:][found] = False
    return rest[is_left]


def _depths(is_begin: Any) -> Any:
    """How many ranges are open inside each, itself included. Only differences within one key
    count, so that nothing has to begin at zero."""
    depth = np.cumsum(np.where(is_begin, 1, -1))
    return np.where(is_begin, depth, depth + 1)
