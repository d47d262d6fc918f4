# SPDX-License-Identifier: Apache-2.0
"""GPUFlight: record what a program does on the GPU, and find what makes it slow.

    import gpufl

    gpufl.init(app_name="my_training", profiling_engine=gpufl.ProfilingEngine.Trace)
    with gpufl.Scope("forward"):
        ...
    gpufl.shutdown()
    gpufl.generate_report()

Importing needs no GPU and opens nothing. Analysis is in gpufl.analyzer, gpufl.report and gpufl.viz,
which bring numpy, pandas and matplotlib when they are used.
"""

from ._capture import UNSET, clean_logs, generate_report, init, pause, resume, session, shutdown
from ._core import (
    BackendKind,
    Cleanup,
    Counter,
    InitOptions,
    ProfilingEngine,
    Scope,
    SessionStatus,
    __version__,
    counter,
    deep_window_active,
    status,
    system_start,
    system_stop,
    tick,
)
from ._deep_window import DeepWindow, deep_window, deep_window_close
from ._upload import UploadResult, upload_logs
from ._warpscope import WarpscopeCapture, record_warpscope

scope = Scope


def load_ipython_extension(shell: object) -> None:
    """What `%load_ext gpufl` calls: %%gpufl shows the report of a cell."""
    from . import _notebook

    _notebook.load(shell)


__all__ = [
    "UNSET",
    "BackendKind",
    "Cleanup",
    "Counter",
    "DeepWindow",
    "InitOptions",
    "ProfilingEngine",
    "Scope",
    "SessionStatus",
    "UploadResult",
    "WarpscopeCapture",
    "__version__",
    "clean_logs",
    "counter",
    "deep_window",
    "deep_window_active",
    "deep_window_close",
    "generate_report",
    "init",
    "pause",
    "record_warpscope",
    "resume",
    "scope",
    "session",
    "shutdown",
    "status",
    "system_start",
    "system_stop",
    "tick",
    "upload_logs",
]
