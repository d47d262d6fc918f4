# SPDX-License-Identifier: Apache-2.0
"""Calls of modules as ranges, by hooks that PyTorch runs around every call."""

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

    def of_root(self, module: Any) -> str:
        """Of one that is called outside of any other."""
        return self._known(module) or self._learn(module, type(module).__name__)

    def inside(self, module: Any, outer: str) -> str:
        """Of one that is called by the module `outer`."""
        # Not found below a root: made on the way, or held where PyTorch does not look.
        return self._known(module) or self._learn(module, f"{outer}.{type(module).__name__}")

    def _known(self, module: Any) -> str | None:
        entry = self._paths.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def _learn(self, root: Any, root_path: str) -> str:
        for name, module in root.named_modules():
            if module is root or self._known(module) is None:
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
    """A range for every call of a module, from when it is made until remove()."""

    def __init__(self, torch: Any) -> None:
        self._is_compiling = torch.compiler.is_compiling
        self._paths = ModulePaths()
        self._threads = threading.local()
        hooks = torch.nn.modules.module
        self._handles = [
            hooks.register_module_forward_pre_hook(self._begin),
            # Also where the call raised.
            hooks.register_module_forward_hook(self._end, always_call=True),
        ]

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _begin(self, module: Any, _args: Any) -> None:
        if self._is_compiling():
            return  # a compiler reads the hook; what it makes of the module calls none
        try:
            calls = self._threads.calls
        except AttributeError:
            calls = self._threads.calls = []
        if calls:
            path = self._paths.inside(module, calls[-1])
        else:
            path = self._paths.of_root(module)
        calls.append(path)
        _core.torch_push_module(path)

    def _end(self, _module: Any, _args: Any, _result: Any) -> None:
        if self._is_compiling():
            return
        calls = getattr(self._threads, "calls", None)
        if calls:  # else the call began before the hooks
            calls.pop()
            _core.torch_pop_module()
