# SPDX-License-Identifier: Apache-2.0
"""Who launched a kernel, told as ranges: PyTorch's own callbacks tell of operators, in C++, and
a function around every call of a module of those. Next to nothing is told while no session records."""

from __future__ import annotations

import os
import warnings
from typing import Any

from .. import _core, _upload
from ._modules import ModuleRanges

_NVTX = "NVTX_INJECTION64_PATH"


class _Labels:
    """What attach() has to undo."""

    def __init__(self, torch: Any) -> None:
        self._modules = ModuleRanges(torch)
        self._replays = _GraphReplays(torch)
        _core.torch_attach()

    def remove(self) -> None:
        _core.torch_detach()
        self._replays.remove()
        self._modules.remove()


class _GraphReplays:
    """Kernels of a CUDA graph are launched by its replay, of which no operator tells."""

    def __init__(self, torch: Any) -> None:
        self._graph = torch.cuda.CUDAGraph
        self._own = self._graph.__dict__.get("replay")
        replay = self._graph.replay

        def labelled_replay(graph: Any) -> None:
            _core.torch_push_section("CUDAGraph.replay")
            try:
                replay(graph)
            finally:
                _core.torch_pop_section()

        self._graph.replay = labelled_replay

    def remove(self) -> None:
        if self._own is None:
            del self._graph.replay
        else:
            self._graph.replay = self._own


_labels: _Labels | None = None


def attach() -> bool:
    """Label what PyTorch launches, on all threads, in this session and later ones.

    True when that is so now, also where it was before. False when gpufl is disabled, and, with a
    RuntimeWarning that says why, where this PyTorch cannot be labelled.
    """
    global _labels
    if _labels is not None:
        return True
    if not _upload.in_force().enabled:
        return False
    try:
        import torch
    except ImportError as error:
        raise ImportError("gpufl.torch needs PyTorch: pip install torch") from error
    problem = _problem(torch)
    if problem:
        warnings.warn(f"kernels have no labels of PyTorch: {problem}", RuntimeWarning, stacklevel=2)
        return False
    _labels = _Labels(torch)
    return True


def detach() -> None:
    """Undo attach(). Nothing where nothing is attached."""
    global _labels
    if _labels is not None:
        _labels.remove()
        _labels = None


def is_attached() -> bool:
    """Whether attach() is in force."""
    return _labels is not None


def _problem(torch: Any) -> str:
    if not hasattr(_core, "torch_attach"):
        return "this build of gpufl has no NVTX"
    # Every copy of NVTX looks for its tool once, at its first call: which may come before init().
    os.environ.setdefault(_NVTX, os.path.realpath(_core.__file__))

    def run_operators() -> None:
        with torch.inference_mode(False), torch.enable_grad():
            value = torch.zeros(1, device="cpu", requires_grad=True)
            for _ in range(16):
                value = torch.neg(value)

    return _core.torch_prepare(run_operators)
