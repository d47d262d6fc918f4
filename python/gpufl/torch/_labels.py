# SPDX-License-Identifier: Apache-2.0
"""Who launched a kernel, recorded as ranges: PyTorch's own callbacks report operators, in C++, and a
function around every call of a module reports modules. While no session records, almost nothing runs."""

from __future__ import annotations

import os
import re
import threading
import warnings
from typing import Any

from .. import _core, _upload
from ._modules import ModuleRanges
from ._passes import BackwardPasses

_NVTX = "NVTX_INJECTION64_PATH"
_ANY_VERSION = "GPUFL_TORCH_ANY_VERSION"

# Names of functions do not tell that the struct which one of them takes has changed, and a callback
# of the wrong shape ends the process: only versions whose struct is known, which is what
# docs/design/torch-labels.md says of them.
_OLDEST = (2, 4)
_NEWEST = (2, 15)


class _Labels:
    """What attach() has to undo."""

    def __init__(self, torch: Any) -> None:
        self._modules = ModuleRanges(torch)
        self._replays = _GraphReplays(torch)
        self._passes = BackwardPasses(torch)
        _core.torch_attach()

    def remove(self) -> None:
        _core.torch_detach()
        self._passes.remove()
        self._replays.remove()
        self._modules.remove()


class _GraphReplays:
    """Kernels of a CUDA graph are launched by its replay, which no operator reports."""

    def __init__(self, torch: Any) -> None:
        self._graph = torch.cuda.CUDAGraph
        self._own = self._graph.__dict__.get("replay")
        replay = self._graph.replay

        def labelled_replay(graph: Any) -> None:
            if self._is_removed:
                replay(graph)
                return
            _core.torch_run_section(replay, "CUDAGraph.replay", graph)

        self._is_removed = False
        self._labelled_replay = self._graph.replay = labelled_replay

    def remove(self) -> None:
        self._is_removed = True
        if self._graph.replay is not self._labelled_replay:
            return  # somebody has put another function around ours since: then ours does nothing
        if self._own is None:
            del self._graph.replay
        else:
            self._graph.replay = self._own


_labels: _Labels | None = None
_changing = threading.Lock()  # PyTorch lets other threads run while attach() prepares


def attach() -> bool:
    """Label what PyTorch launches, on all threads, in this session and later ones.

    True when that is so now, also where it was before. False when gpufl is disabled, and, with a
    RuntimeWarning that says why, where this PyTorch cannot be labelled.
    """
    global _labels
    with _changing:
        if _labels is not None:
            return True
        if not _upload.in_force().enabled:
            return False
        try:
            import torch
        except ImportError as error:
            raise ImportError("gpufl.torch needs PyTorch: pip install torch") from error
        problem = _prepare(torch)
        if not problem:
            _labels = _Labels(torch)
            return True
    warnings.warn(f"kernels have no PyTorch labels: {problem}", RuntimeWarning, stacklevel=2)
    return False


def detach() -> None:
    """Undo attach(). Nothing where nothing is attached."""
    global _labels
    with _changing:
        if _labels is not None:
            _labels.remove()
            _labels = None


def is_attached() -> bool:
    """Whether attach() is in force."""
    return _labels is not None


def _prepare(torch: Any) -> str:
    """Learns what labelling this PyTorch takes. Empty, or why it cannot be labelled."""
    if not hasattr(_core, "torch_attach"):
        return "this build of gpufl has no NVTX"
    if not _is_known(torch.__version__) and os.environ.get(_ANY_VERSION) != "1":
        return (
            f"its version {torch.__version__} is not one of {_text(_OLDEST)} to {_text(_NEWEST)}, "
            f"which are known to work; {_ANY_VERSION}=1 tries it, and may crash"
        )
    # Every copy of NVTX looks for its tool once, at its first call: which may come before init().
    os.environ.setdefault(_NVTX, os.path.realpath(_core.__file__))

    def run_operators() -> None:
        with torch.inference_mode(False), torch.enable_grad():
            value = torch.zeros(1, device="cpu", requires_grad=True)
            for _ in range(16):
                value = torch.neg(value)

    return _core.torch_prepare(run_operators)


def _is_known(version: str) -> bool:
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and _OLDEST <= (int(numbers[1]), int(numbers[2])) <= _NEWEST


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
