# SPDX-License-Identifier: Apache-2.0
"""Calls of modules as ranges."""

from __future__ import annotations

import contextlib
from typing import Any

from .. import _core


def _paths_below(root: Any, path: str) -> list[tuple[Any, str]]:
    """A module and those inside it, as attributes name them behind its own path."""
    return [(one, f"{path}.{name}" if name else path) for name, one in root.named_modules()]


def _keep_from_compiling(torch: Any, code: Any) -> None:
    """Dynamo compiles no frame of PyTorch's own where such is called by the interpreter. Of this one
    neither: otherwise attach() would have models compiled again. Where PyTorch cannot be asked for that, it does."""
    with contextlib.suppress(AttributeError, TypeError):
        frames = torch._C._dynamo.eval_frame
        actions = frames._FrameAction
        skipped = frames._FrameExecStrategy(actions.SKIP, actions.DEFAULT)
        frames.set_code_exec_strategy(code, skipped)


class ModuleRanges:
    """A range for every call of a module, from when it is made until remove().

    Modules are called through one function of their base class. Hooks, which PyTorch offers for
    this, cost several times as much at every call and more in a compiler. It is not __call__ itself:
    PyTorch's profiler and compiler know that by its code.
    """

    def __init__(self, torch: Any) -> None:
        self._module = torch.nn.Module
        self._call = call = torch.nn.Module._call_impl
        # What is left of torch.compiler.is_compiling() is no compiler that reads this function.
        is_compiling = torch.compiler.is_dynamo_compiling
        run, self._stop = _core.torch_module_calls(call, _paths_below)

        # The module is the first of args: its forward() may have a keyword of any name.
        def labelled_call(*args: Any, **keywords: Any) -> Any:
            if is_compiling():
                return call(*args, **keywords)
            return run(args, keywords)

        _keep_from_compiling(torch, labelled_call.__code__)
        self._labelled_call = self._module._call_impl = labelled_call

    def remove(self) -> None:
        self._stop()
        # Unless somebody has put another function around ours since: then ours does nothing.
        if self._module._call_impl is self._labelled_call:
            self._module._call_impl = self._call
