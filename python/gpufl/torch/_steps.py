# SPDX-License-Identifier: Apache-2.0
"""Some steps of a training loop, recorded for themselves."""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from .. import _core
from .._capture import Asked, asked, pause, resume, shutdown, start, warn, why_not_started
from .._core import ProfilingEngine, Scope

T = TypeVar("T")
S = TypeVar("S", bound="PlannedSteps")


def wait_for_gpu() -> None:
    """So that a recording has all of its steps' work, and none of the others'."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


@dataclasses.dataclass(frozen=True)
class StepPlan:
    """Which steps to record, and how: checked before a training begins, which may be long."""

    first: int
    last: int | None
    session: Asked

    @classmethod
    def of(cls, first: int, last: int | None, options: dict[str, Any]) -> StepPlan:
        try:
            first = operator.index(first)
            last = None if last is None else operator.index(last)
        except TypeError:
            raise TypeError(f"first and last must be whole numbers, not {first!r} to {last!r}") from None
        if first < 0 or (last is not None and last < first):
            raise ValueError(f"there are no steps from {first} to {last}")
        return cls(first, last, asked({"profiling_engine": ProfilingEngine.Trace, **options}))


class PlannedSteps:
    """Steps, as a plan says."""

    def __init__(self, plan: StepPlan) -> None:
        self._plan = plan
        self._scope = Scope("step")
        self._next = 0
        self._is_recording = False
        self._is_in_step = False
        self._owns_session = not _core.is_recording()
        self._can_pause = not self._owns_session and plan.first > 0 and self._try_pause()

    @property
    def is_recording(self) -> bool:
        """Whether this step, or the one that comes next, is recorded."""
        return self._is_recording

    def begin(self) -> None:
        """A step begins."""
        if self._next == self._plan.first:
            self._start()
        if self._is_recording:
            self._scope.__enter__()
            self._is_in_step = True

    def end(self) -> None:
        """It ends."""
        self._leave_step()
        if self._is_recording and self._next == self._plan.last:
            self._stop()
        self._next += 1

    def close(self) -> None:
        """The loop is over, whether all of its steps came or not."""
        self._leave_step()
        if self._is_recording:
            self._stop()

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _start(self) -> None:
        wait_for_gpu()
        self._is_recording = True
        if self._owns_session:
            # One that has begun since is its owner's to end.
            self._owns_session = not _core.is_recording()
            self._is_recording = start(self._plan.session)
            reason = None if self._is_recording else why_not_started()
            if reason is not None:
                warn(f"the steps are not recorded: {reason}")
        elif self._can_pause:
            try:
                resume()
            except RuntimeError as error:
                warn(f"the steps are not recorded: {error}")

    def _stop(self) -> None:
        wait_for_gpu()
        self._is_recording = False
        if self._owns_session:
            shutdown()
        else:
            self._try_pause()

    @staticmethod
    def _try_pause() -> bool:
        try:
            pause()
        except RuntimeError:
            return False  # a launcher's session, which has all steps: scopes tell them apart
        return True

    def _leave_step(self) -> None:
        if self._is_in_step:
            self._is_in_step = False
            self._scope.__exit__(None, None, None)


class Steps(PlannedSteps):
    """Records the steps `first` to `last` of a loop, counted from 0; without `last`, to its end.

    begin() and end() are called around every step; the recorded ones are in a scope `step`. Where a
    session runs, the GPU is recorded in these steps alone. Otherwise they are a separate
    session, which `options` configure as gpufl.init() takes them (Trace, unless they name an engine).
    Where that cannot start, a RuntimeWarning says why, and the loop continues.
    """

    def __init__(self, first: int = 0, last: int | None = None, **options: Any) -> None:
        super().__init__(StepPlan.of(first, last, options))


def steps(
    batches: Iterable[T], first: int = 0, last: int | None = None, **options: Any
) -> Iterator[T]:
    """The batches, with the steps `first` to `last` recorded: `for batch in steps(loader, 10, 20)`.

    The body of the loop is the scope `step`, and waiting for the next batch the scope `load`. The
    rest is as with Steps.
    """
    return _recorded(batches, StepPlan.of(first, last, options))


def _recorded(batches: Iterable[T], plan: StepPlan) -> Iterator[T]:
    load = Scope("load")
    end = object()
    with PlannedSteps(plan) as recorded:
        source = iter(batches)
        while True:
            if recorded.is_recording:
                with load:
                    batch = next(source, end)
            else:
                batch = next(source, end)
            if batch is end:
                return
            recorded.begin()
            yield batch  # type: ignore[misc]
            recorded.end()
