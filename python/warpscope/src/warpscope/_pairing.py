# SPDX-License-Identifier: Apache-2.0
"""Which end belongs to which begin."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._records import HAS_TOKEN, stable_order


def pair(
    lane: Any, segment: Any, event: Any, is_begin: Any, extension: Optional[Any]
) -> tuple[Any, Any]:
    """(begins, ends) of begin and end records in the order of lanes and of the program: by token
    where they have one, else by event within a segment, the newest open one first.

    Sorted by what pairs, a begin that an end follows at once is a pair, whatever nests around it.
    That finds all but ranges inside of one of the same event. Of the rest, an end closes the begin
    of its own depth, so sorting by depth makes those neighbours, too.
    """
    key, bound = _keys(lane, segment, event, extension)
    order = stable_order(key, bound)
    found = _neighbours(key[order], None, is_begin[order])
    begins, ends = order[:-1][found], order[1:][found]
    is_left = np.ones(len(order), dtype=bool)
    is_left[:-1][found] = False
    is_left[1:][found] = False
    rest = order[is_left]
    if len(rest):
        depth = _depths(is_begin[rest])
        rest_key = key[rest]
        by_depth = np.lexsort((depth, rest_key))
        rest, depth = rest[by_depth], depth[by_depth]
        found = _neighbours(key[rest], depth, is_begin[rest])
        begins = np.concatenate([begins, rest[:-1][found]])
        ends = np.concatenate([ends, rest[1:][found]])
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


def _neighbours(key: Any, depth: Optional[Any], is_begin: Any) -> Any:
    found = is_begin[:-1] & ~is_begin[1:] & (key[:-1] == key[1:])
    return found if depth is None else found & (depth[:-1] == depth[1:])


def _depths(is_begin: Any) -> Any:
    """How many ranges are open inside of each, itself included. Only differences within one key
    count, so that nothing has to begin at zero."""
    depth = np.cumsum(np.where(is_begin, 1, -1))
    return np.where(is_begin, depth, depth + 1)
