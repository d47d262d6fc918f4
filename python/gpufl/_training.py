# SPDX-License-Identifier: Apache-2.0
"""What callbacks of training frameworks share."""

from __future__ import annotations

from . import torch as gpufl_torch
from ._core import Scope
from .torch._steps import PlannedSteps, StepPlan


class TrainingSteps:
    """Steps, with labels while they are recorded and one named part of a step at a time."""

    def __init__(self, plan: StepPlan, labels: bool) -> None:
        self._labels = labels
        self._steps = PlannedSteps(plan)
        self._part: Scope | None = None
        self._attached = False

    def begin(self) -> None:
        self.end_part()
        self._steps.begin()
        if self._labels and self._steps.is_recording and not gpufl_torch.is_attached():
            self._attached = gpufl_torch.attach()

    def end(self) -> None:
        self.end_part()
        self._steps.end()
        if not self._steps.is_recording:
            self._remove_labels()

    def close(self) -> None:
        self.end_part()
        self._steps.close()
        self._remove_labels()

    def begin_part(self, name: str) -> None:
        self.end_part()
        if self._steps.is_recording:
            self._part = Scope(name)
            self._part.__enter__()

    def end_part(self) -> None:
        part, self._part = self._part, None
        if part is not None:
            part.__exit__(None, None, None)

    def _remove_labels(self) -> None:
        # Who attached them before keeps them.
        if self._attached:
            gpufl_torch.detach()
            self._attached = False


def missing(package: str, install: str) -> ImportError:
    return ImportError(f"this callback needs {package}: pip install {install}")
