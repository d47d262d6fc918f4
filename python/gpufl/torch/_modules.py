# SPDX-License-Identifier: Apache-2.0
"""Calls of modules as ranges."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from .. import _core


class ModulePaths:
    """What modules are called: the class of the outermost one, then as attributes name them."""

    def __init__(self) -> None:
        # By id, with what tells whether it is still that module's.
        self._paths: dict[int, tuple[weakref.ref[Any], str]] = {}

    def of(self, module: Any, callers: list[str]) -> str:
        """Of one that is called by modules of these paths, outermost first."""
        entry = self._paths.get(id(module))
        if entry is not None and entry[0]() is module:
            return entry[1]
        # Not found below a root: made on the way, or held where PyTorch does not look.
        return self._learn(module, ".".join([*callers[-1:], type(module).__name__]))

    def _is_known(self, module: Any) -> bool:
        entry = self._paths.get(id(module))
        return entry is not None and entry[0]() is module

    def _learn(self, root: Any, root_path: str) -> str:
        for name, module in root.named_modules():
            if module is root or not self._is_known(module):
                path = f"{root_path}.{name}" if name else root_path
                self._paths[id(module)] = (weakref.ref(module, self._forget(id(module))), path)
        return root_path

    def _forget(self, key: int) -> Any:
        def forget(gone: Any) -> None:
            entry = self._paths.get(key)
            if entry is not None and entry[0] is gone:
                del self._paths[key]

        return forget


class ModuleRanges:
    """A range for every call of a module, from when it is made until remove().

    Modules are called through one function of their base class. Hooks, which PyTorch offers for
    this, cost several times as much at every call and more in a compiler.
    """

    def __init__(self, torch: Any) -> None:
        self._module = torch.nn.Module
        self._call = call = torch.nn.Module.__call__
        is_compiling = torch.compiler.is_compiling
        path_of = ModulePaths().of
        threads = _Threads()
        run_module = _core.torch_run_module

        def labelled_call(module: Any, *args: Any, **keywords: Any) -> Any:
            if is_compiling() or self._is_removed:
                return call(module, *args, **keywords)
            calls = threads.calls
            return run_module(call, path_of(module, calls), calls, module, *args, **keywords)

        self._is_removed = False
        self._labelled_call = self._module.__call__ = labelled_call

    def remove(self) -> None:
        self._is_removed = True
        # Unless somebody has put another function around ours since: then ours does nothing.
        if self._module.__call__ is self._labelled_call:
            self._module.__call__ = self._call


class _Threads(threading.local):
    """The paths of the modules that a thread is in, outermost first."""

    def __init__(self) -> None:
        self.calls: list[str] = []
