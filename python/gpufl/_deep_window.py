# SPDX-License-Identifier: Apache-2.0
"""Deep windows: short stretches in which an engine above Trace is attached."""

from __future__ import annotations

import types

from . import _core


class DeepWindow:
    """What deep_window() returns: true if the call opened a window. As a context manager it closes
    the window that it opened when its block ends, unless a bound has closed it before."""

    def __init__(self, is_opened: bool) -> None:
        #: Whether the call opened it.
        self.opened: bool = is_opened

    def __bool__(self) -> bool:
        return self.opened

    def __enter__(self) -> DeepWindow:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        if self.opened:
            deep_window_close()


def deep_window(
    max_duration_ms: int = 0,
    max_launches: int = 0,
    *,
    cooldown_ms: int = 0,
    name: str = "",
) -> DeepWindow:
    """Open a deep window: attach the session's engine above Trace for a short while.

    It closes after max_duration_ms (10 to 60,000; 0: the option deep_window_ms), or soon after
    max_launches launches (0: deep_window_max_launches). For cooldown_ms after it, this function
    opens no other. The result is false, and the log says why, if no window opens: one is open
    already, recording is paused, or the session has no engine above Trace. Never raises for that.

    Attaching takes some tens of milliseconds, while the program continues.
    """
    return DeepWindow(_core.open_deep_window(max_duration_ms, max_launches, cooldown_ms, name))


def deep_window_close() -> None:
    """Close the deep window that is open, whoever opened it."""
    _core.close_deep_window()
