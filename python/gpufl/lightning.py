# SPDX-License-Identifier: Apache-2.0
"""Lightning: `Trainer(callbacks=[gpufl.lightning.GpuflCallback(first=10, last=20)])`.

Importing needs no Lightning; making a callback does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._training import TrainingSteps, missing
from .torch._steps import StepPlan

if TYPE_CHECKING:
    from lightning.pytorch import Callback as _Callback
else:
    try:
        from lightning.pytorch import Callback as _Callback
    except ImportError:
        try:
            from pytorch_lightning import Callback as _Callback
        except ImportError:
            _Callback = None

__all__ = ["GpuflCallback"]


class GpuflCallback(_Callback or object):
    """Records the training batches `first` to `last`, counted from 0 over all epochs.

    Each is a scope `step` with scopes `backward` and `optimizer` inside; kernels have labels of
    PyTorch unless `labels` is False. `options` are those of gpufl.init(), for the session that is
    made where none runs.
    """

    def __init__(
        self, first: int = 0, last: int | None = None, *, labels: bool = True, **options: Any
    ) -> None:
        if _Callback is None:
            raise missing("Lightning", "lightning")
        super().__init__()
        self._plan = StepPlan.of(first, last, options)
        self._labels = labels
        self._steps: TrainingSteps | None = None

    def on_train_start(self, *_: Any) -> None:
        self._steps = TrainingSteps(self._plan, self._labels)

    def on_train_batch_start(self, *_: Any) -> None:
        if self._steps is not None:
            self._steps.begin()

    def on_before_backward(self, *_: Any) -> None:
        if self._steps is not None:
            self._steps.begin_part("backward")

    def on_after_backward(self, *_: Any) -> None:
        if self._steps is not None:
            self._steps.end_part()

    def on_before_optimizer_step(self, *_: Any) -> None:
        if self._steps is not None:
            self._steps.begin_part("optimizer")

    def on_train_batch_end(self, *_: Any) -> None:
        if self._steps is not None:
            self._steps.end()

    def on_train_end(self, *_: Any) -> None:
        self._close()

    def on_exception(self, *_: Any) -> None:
        self._close()

    def _close(self) -> None:
        steps, self._steps = self._steps, None
        if steps is not None:
            steps.close()
