# SPDX-License-Identifier: Apache-2.0
"""Hugging Face: `Trainer(..., callbacks=[gpufl.transformers.GpuflCallback(first=10, last=20)])`.

Importing needs no transformers; making a callback does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._training import TrainingSteps, missing
from .torch._steps import StepPlan

if TYPE_CHECKING:
    from transformers import TrainerCallback as _Callback
else:
    try:
        from transformers import TrainerCallback as _Callback
    except ImportError:
        _Callback = None

__all__ = ["GpuflCallback"]


class GpuflCallback(_Callback or object):
    """Records the optimizer steps `first` to `last` of a Trainer, counted from 0.

    Each is a scope `step` with a scope `optimizer` inside; kernels have labels of PyTorch unless
    `labels` is False. `options` are those of gpufl.init(), for the session that is made where none
    runs.
    """

    def __init__(
        self, first: int = 0, last: int | None = None, *, labels: bool = True, **options: Any
    ) -> None:
        if _Callback is None:
            raise missing("transformers", "transformers")
        super().__init__()
        self._plan = StepPlan.of(first, last, options)
        self._labels = labels
        self._steps: TrainingSteps | None = None

    def on_train_begin(self, *_: Any, **__: Any) -> None:
        self._close()  # of a training that raised
        self._steps = TrainingSteps(self._plan, self._labels)

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        if self._steps is not None:
            self._steps.begin()

    def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
        if self._steps is not None:
            self._steps.begin_part("optimizer")

    def on_optimizer_step(self, *_: Any, **__: Any) -> None:
        if self._steps is not None:
            self._steps.end_part()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        if self._steps is not None:
            self._steps.end()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self._close()

    def _close(self) -> None:
        steps, self._steps = self._steps, None
        if steps is not None:
            steps.close()
