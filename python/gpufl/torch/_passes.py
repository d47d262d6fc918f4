# SPDX-License-Identifier: Apache-2.0
"""Where backward passes begin and end."""

from __future__ import annotations

import threading
from typing import Any

from .. import _core

_NAME = "_engine_run_backward"


class BackwardPasses:
    """Reports every backward pass, from when it is made until remove(), so that the engine need not
    report operators in it. A PyTorch that runs them elsewhere goes without."""

    def __init__(self, torch: Any) -> None:
        self._run = run = getattr(torch.autograd.graph, _NAME, None)
        # torch.autograd calls it by a name of its own.
        places = (torch.autograd, torch.autograd.graph)
        self._places = [place for place in places if getattr(place, _NAME, None) is run is not None]
        is_compiling = torch.compiler.is_compiling
        run_pass, active_count = _core.torch_run_pass, threading.active_count

        def labelled_run(*args: Any, **keywords: Any) -> Any:
            if is_compiling():
                return run(*args, **keywords)
            return run_pass(run, active_count() == 1, *args, **keywords)

        self._labelled_run = labelled_run
        for place in self._places:
            setattr(place, _NAME, labelled_run)

    def remove(self) -> None:
        for place in self._places:
            # Unless somebody has put another function around ours since: then ours does nothing.
            if getattr(place, _NAME) is self._labelled_run:
                setattr(place, _NAME, self._run)
