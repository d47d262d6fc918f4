# SPDX-License-Identifier: Apache-2.0
"""Sending logs to a server, after the session: nothing here runs while the program works."""

from __future__ import annotations

import os
import warnings

from . import _core
from ._core import UploadResult

_in_force: _core.InitOptions | None = None


def remember(options: _core.InitOptions) -> None:
    """Of the last init(), which later calls go by."""
    global _in_force
    _in_force = options


def in_force() -> _core.InitOptions:
    """The options of the last init(), or what one without arguments would have."""
    return _in_force if _in_force is not None else _core.options_in_force(_core.InitOptions(), {})


def has_server() -> bool:
    return bool(in_force().backend_url)


def upload_logs(
    log_path: str | os.PathLike[str] | None = None,
    backend_url: str | None = None,
    api_key: str | None = None,
    api_path: str | None = None,
    *,
    total_timeout_ms: int | None = None,
    connect_timeout_ms: int | None = None,
    read_timeout_ms: int | None = None,
    max_retries: int | None = None,
    retry_delay_ms: int | None = None,
    cursor_filename: str | None = None,
    session_id_filter: str | None = None,
    all_sessions: bool | None = None,
    force: bool | None = None,
    report_progress: bool | None = None,
    progress_log_interval_ms: int | None = None,
    progress_log_interval_bytes: int | None = None,
) -> UploadResult:
    """Send what is on disk to a server, with the program `gpufl` that comes with the package.

    log_path: a log folder, of which the newest session is sent, or a session's own; unless it is
        given, the last session of this process.
    backend_url, api_key, api_path: as in init() unless they are given, else as `gpufl login` has kept
        them.
    The others are fields of UploadOptions in C++.

    Never raises: where it did not work, `success` is False and `warnings` say why. When gpufl is
    disabled: a success of 0 events, without any network.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    try:
        options = _core.UploadOptions()
        for name, value in given.items():
            setattr(options, name, os.fspath(value) if name == "log_path" else value)
    except Exception as error:
        if not in_force().enabled:
            return _core.upload_logs(_core.UploadOptions())
        failed = UploadResult()
        failed.warnings = [f"{name} cannot be {type(value).__name__}: {error}"]
        return failed
    return _core.upload_logs(options)


def try_upload(log_path: str | os.PathLike[str] | None = None) -> None:
    """upload_logs() where the program has done its work: what goes wrong is a warning."""
    result = upload_logs(log_path)
    if not result.success:
        text = "; ".join(result.warnings) or "not everything could be sent"
        warnings.warn(
            f"gpufl has not uploaded the session, which is on disk: {text}",
            RuntimeWarning,
            stacklevel=3,
        )
