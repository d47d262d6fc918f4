# SPDX-License-Identifier: Apache-2.0
"""Captures of warpscope become part of the session: see docs/guide/warpscope-timeline.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _core

#: Names by number, or in the order of their numbers.
Names = Mapping[int, str] | Sequence[str] | None


def _by_number(names: Names) -> dict[int, str]:
    if names is None:
        return {}
    items = names.items() if isinstance(names, Mapping) else enumerate(names)
    return {int(number): str(name) for number, name in items}


def record_warpscope(
    words: Any,
    *,
    event_names: Names = None,
    group_names: Names = None,
    kernel_name: str = "",
    device: int = -1,
) -> str:
    """Give the session what warpscope recorded of a launch that has ended.

    `words` has 64-bit integers in memory of the CPU: all of the capture, or its v1 region alone.
    Names given here win over those in the capture. "recorded", or why it was not: "no_session",
    "empty", "too_large", "full", "out_of_memory".
    """
    return _core.record_warpscope(
        words, _by_number(event_names), _by_number(group_names), kernel_name, device
    )


class WarpscopeCapture:
    """Made before a launch, and given the words after it: so the launch is known by thread and
    time, and the GPU's clock is read on either side of it."""

    def __init__(self) -> None:
        self._capture = _core.WarpscopeCapture()

    def record(
        self,
        words: Any,
        *,
        event_names: Names = None,
        group_names: Names = None,
        kernel_name: str = "",
        device: int = -1,
    ) -> str:
        """As record_warpscope()."""
        return self._capture.record(
            words, _by_number(event_names), _by_number(group_names), kernel_name, device
        )
