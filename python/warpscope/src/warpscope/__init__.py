# SPDX-License-Identifier: Apache-2.0
"""See inside one CUDA kernel: what each group of warps did, when, and what it waited for.

The kernel includes warpscope.cuh (see include_dir()) and records into the buffer of a Profiler;
decode() turns the words of any such buffer into spans.
"""

from ._compare import Change, Cost, Diff, compare, diff
from ._decode import decode
from ._dump import load, save
from ._headers import device_header, include_dir
from ._problems import Problem, WarpscopeWarning
from ._profiler import Capture, Profiler
from ._result import TraceResult
from ._rows import Instant, Span
from ._side import Layout, Names, Window
from ._version import __version__
from ._wire import (
    DIALECTS,
    EVENT_TYPE_BEGIN,
    EVENT_TYPE_END,
    EVENT_TYPE_FINALIZE,
    EVENT_TYPE_INSTANT,
    WIRE_VERSION,
    decode_tag,
    pack_tag,
)

__all__ = [
    "DIALECTS",
    "EVENT_TYPE_BEGIN",
    "EVENT_TYPE_END",
    "EVENT_TYPE_FINALIZE",
    "EVENT_TYPE_INSTANT",
    "WIRE_VERSION",
    "Capture",
    "Change",
    "Cost",
    "Diff",
    "Instant",
    "Layout",
    "Names",
    "Problem",
    "Profiler",
    "Span",
    "TraceResult",
    "WarpscopeWarning",
    "Window",
    "__version__",
    "compare",
    "decode",
    "decode_tag",
    "device_header",
    "diff",
    "include_dir",
    "load",
    "pack_tag",
    "save",
]
