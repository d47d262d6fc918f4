# SPDX-License-Identifier: Apache-2.0
"""A session's life. What is not said here is said by the C++ core, which does the work."""

from __future__ import annotations

import atexit
import dataclasses
import os
import pathlib
import sys
import types
import warnings
from typing import Any, Final

from . import _core, _upload
from ._core import BackendKind, Cleanup, InitOptions, ProfilingEngine


class _Unset:
    """The default of keywords for which every value means something."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final[Any] = _Unset()

# Keywords that are no more, and what to write instead.
_DROPPED = {
    "enable_profiling": "profiling_engine=gpufl.ProfilingEngine.PcSampling (or Monitor for False)",
    "enable_perf_scope": "profiling_engine=gpufl.ProfilingEngine.RangeProfiler",
    "remote_config": "backend_url",
}


def init(
    app_name: str = UNSET,
    log_path: str | os.PathLike[str] = UNSET,
    continuous_system_sampling: bool = UNSET,
    *,
    options: InitOptions | None = None,
    enabled: bool = UNSET,
    profiling_engine: ProfilingEngine = UNSET,
    overhead_budget: float = UNSET,
    pc_sampling_period: int = UNSET,
    pc_sampling_window_ms: int = UNSET,
    pc_sampling_pause_ms: int = UNSET,
    sass_metrics: str = UNSET,
    range_metrics: str = UNSET,
    pm_sampling_interval_us: int = UNSET,
    pm_sampling_max_samples: int = UNSET,
    pm_sampling_preset: str = UNSET,
    pm_sampling_metrics: str = UNSET,
    pm_sampling_scope_only: bool = UNSET,
    deep_window_only: bool = UNSET,
    deep_after_ms: int = UNSET,
    deep_when: str = UNSET,
    deep_window_ms: int = UNSET,
    deep_window_max_launches: int = UNSET,
    deep_window_cooldown_ms: int = UNSET,
    backend: BackendKind = UNSET,
    system_sample_rate_ms: int = UNSET,
    kernel_sample_rate_ms: int = UNSET,
    enable_stack_trace: bool = UNSET,
    enable_source_collection: bool = UNSET,
    enable_external_correlation: bool = UNSET,
    enable_synchronization: bool = UNSET,
    enable_memory_tracking: bool = UNSET,
    enable_cuda_graphs_tracking: bool = UNSET,
    enable_queue_times: bool = UNSET,
    backend_url: str = UNSET,
    api_key: str = UNSET,
    api_path: str = UNSET,
    remote_upload: bool = UNSET,
    config_file: str | os.PathLike[str] = UNSET,
    flush_logs_always: bool = UNSET,
    enable_debug_output: bool = UNSET,
    enable_control: bool = UNSET,
    log_window_mb: int = UNSET,
    log_window_s: int = UNSET,
    log_spool_mb: int = UNSET,
    log_disk_floor_mb: int = UNSET,
    log_keep_last_s: int = UNSET,
    **others: Any,
) -> bool:
    """Start recording. True when a session runs now; a second call joins the first one's session.
    False when none does: status() has the reason.

    Each keyword is a field of InitOptions, also an environment variable and a key of the config
    file. One that is passed wins over both, even with the value that is its default; fields of
    `options` do when they differ from their default. GPUFL_DISABLED=1 wins over everything.
    """
    keywords = dict(locals())
    others = keywords.pop("others")
    return start(asked({**keywords, **others}))


@dataclasses.dataclass(frozen=True)
class Asked:
    """What a session is asked for: keywords of init() that hold what they should.

    Where it can be, it is plain data: trainers copy and pickle their callbacks.
    """

    options: InitOptions | None
    given: dict[str, Any]


def asked(keywords: dict[str, Any]) -> Asked:
    """The keywords of an init(), now or later: TypeError for an unknown one, or a wrong type."""
    given = {name: value for name, value in keywords.items() if value is not UNSET}
    options = given.pop("options", None)
    if not isinstance(options, InitOptions | None):
        raise TypeError("options must be gpufl.InitOptions")
    _take_legacy(given)
    InitOptions(**given)
    if "kernel_sample_rate_ms" in given:
        _deprecated("kernel_sample_rate_ms has no effect: every kernel is recorded")
    return Asked(options, given)


def start(asked: Asked) -> bool:
    """Start recording as asked for, or join the session that runs. True when one runs now."""
    options = InitOptions() if asked.options is None else asked.options
    if not _core.is_recording():
        in_force = _core.options_in_force(options, asked.given)
        _upload.remember(in_force)
        if in_force.enabled and in_force.remote_upload:
            _upload_at_exit()
    is_recording = _core.init(options, asked.given)
    if is_recording:
        _shut_down_with_worker()
    return is_recording


_worker_pid: int | None = None


def _shut_down_with_worker() -> None:
    """A worker of multiprocessing leaves by os._exit(), which runs nothing that is registered with
    atexit; multiprocessing's own finalizers do run before that."""
    global _worker_pid
    process = sys.modules.get("multiprocessing.process")
    if process is None or process.parent_process() is None or _worker_pid == os.getpid():
        return
    from multiprocessing import util

    _worker_pid = os.getpid()
    util.Finalize(None, shutdown, exitpriority=0)


def why_not_started() -> str | None:
    """Why the last start() gave no session; None: gpufl is disabled."""
    return _core.status().reason if _upload.in_force().enabled else None


def warn(text: str) -> None:
    """A RuntimeWarning at the line of the program that called this package."""
    warnings.warn(text, RuntimeWarning, stacklevel=_levels_to_caller())


def _take_legacy(given: dict[str, Any]) -> None:
    """Refuses keywords that do not name a field, but takes the old name of one."""
    for name in [name for name in given if name not in InitOptions.__match_args__]:
        if name in _DROPPED:
            raise TypeError(
                f"init() got an unexpected keyword argument '{name}': "
                f"it was dropped in v1.0; use {_DROPPED[name]}"
            )
        if name != "sampling_auto_start":
            raise TypeError(f"init() got an unexpected keyword argument '{name}'")
        if "continuous_system_sampling" in given:
            raise TypeError("sampling_auto_start is the old name of continuous_system_sampling")
        _deprecated("sampling_auto_start is called continuous_system_sampling now")
        given["continuous_system_sampling"] = given.pop(name)


def _deprecated(text: str) -> None:
    # At the line that calls init().
    warnings.warn(text, DeprecationWarning, stacklevel=_levels_to_caller())


def _levels_to_caller() -> int:
    """The stacklevel for warnings.warn, in the function that called this, of the first frame
    outside of this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    return level


def _is_ours(frame: types.FrameType) -> bool:
    package = frame.f_globals.get("__package__") or ""
    return package.partition(".")[0] == __package__


_uploading_pid: int | None = None


def _upload_at_exit() -> None:
    global _uploading_pid
    _deprecated(
        "remote_upload is deprecated: call gpufl.upload_logs() after gpufl.shutdown(), or use "
        "`with gpufl.session(backend_url=...)`"
    )
    if _uploading_pid != os.getpid():
        _uploading_pid = os.getpid()
        atexit.register(_shut_down_and_upload, _uploading_pid)


def _shut_down_and_upload(pid: int) -> None:
    # A forked child that ends as a program does has its parent's functions, but no session.
    if pid == os.getpid():
        shutdown()
        _upload.try_upload()


def shutdown() -> None:
    """End the session: everything recorded so far is on disk when this returns.

    Does nothing without a session; also run when the program ends.
    """
    _core.shutdown()


def pause() -> None:
    """Stop recording the GPU until resume(), at no cost meanwhile. Scopes and metrics continue.

    Does nothing if it is paused already, or disabled. RuntimeError if this process did not start
    the session itself: under `gpufl trace` the session is the launcher's.
    """
    if _upload.in_force().enabled:
        _core.pause()


def resume() -> None:
    """Record the GPU again, after pause(). RuntimeError where that cannot be."""
    if _upload.in_force().enabled:
        _core.resume()


def generate_report(output_path: str | os.PathLike[str] = "") -> None:
    """Print the report of this process's session, or of its last one, or write it to a file."""
    if not _upload.in_force().enabled:
        return
    text = _core.report()
    if output_path:
        pathlib.Path(output_path).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def clean_logs(log_path: str | os.PathLike[str], dry_run: bool = False) -> Cleanup:
    """Delete the sessions below a folder: none that is being written, and no other file.

    With dry_run, only say what would be deleted. Without a session there, nothing happens.
    """
    return _core.clean_logs(pathlib.Path(log_path), dry_run)


class session:
    """`with gpufl.session(app_name="training"):` records what runs inside.

    It takes the arguments of init(), which it calls, and calls shutdown() at the end:

    app_name: the program's name in logs and reports, "gpufl" unless it is given.
    log_path: the folder of the logs. Unless it is given, one named after app_name in the working
        directory: `gpufl report training` reads what the line above wrote.
    profiling_engine: how much to record. ProfilingEngine.Monitor, the default, records no GPU work;
        ProfilingEngine.Trace records every kernel and copy.
    help(gpufl.init) lists the others.

    `log_dir` is the session's own folder. Inside of another session it records into that one, and
    does not end it. With a backend_url it is uploaded at the end; the logs stay on the local disk, and
    an upload that fails is a RuntimeWarning.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self._args = args
        self._keywords = keywords
        self._is_owner = False
        #: Whether anything is recorded.
        self.active: bool = False
        #: The session's folder; None when nothing is recorded.
        self.log_dir: pathlib.Path | None = None

    def __enter__(self) -> session:
        self._is_owner = not _core.is_recording()
        self.active = init(*self._args, **self._keywords)
        self.log_dir = _core.session_folder() if self.active else None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        if not (self._is_owner and self.active):
            return
        self.active = False
        shutdown()
        if _upload.has_server():
            _upload.try_upload(self.log_dir)
