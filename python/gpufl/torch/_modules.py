# SPDX-License-Identifier: Apache-2.0
"""Calls of modules as ranges."""

from __future__ import annotations

from typing import Any

from .. import _core


def _paths_below(root: Any, caller: str | None) -> list[tuple[Any, str]]:
    """What a module and those inside of it are called: its class, then as attributes name them.

    Where a module calls it, it was not found below that one: made on the way, or held where PyTorch
    does not look.
    """
    own = type(root).__name__
    path = own if caller is None else f"{caller}.{own}"
    inside = [(one, f"{path}.{name}") for name, one in root.named_modules() if one is not root]
    return [(root, path), *inside]


class ModuleRanges:
    """A range for every call of a module, from when it is made until remove().

    Modules are called through one function of their base class. Hooks, which PyTorch offers for
    this, cost several times as much at every call and more in a compiler.
    """

    def __init__(self, torch: Any) -> None:
        self._module = torch.nn.Module
        self._call = call = torch.nn.Module.__call__
        # What is left of torch.compiler.is_compiling() is no compiler that reads this function.
        is_compiling = torch.compiler.is_dynamo_compiling
        run, self._stop = _core.torch_module_calls(call, _paths_below)

        # The module is the first of args: its forward() may have a keyword of any name.
        def labelled_call(*args: Any, **keywords: Any) -> Any:
            if is_compiling():
                return call(*args, **keywords)
            return run(args, keywords)

        self._labelled_call = self._module.__call__ = labelled_call

    def remove(self) -> None:
        self._stop()
        # Unless somebody has put another function around ours since: then ours does nothing.
        if self._module.__call__ is self._labelled_call:
            self._module.__call__ = self._call
