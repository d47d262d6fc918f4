# SPDX-License-Identifier: Apache-2.0
"""Sending logs to a server, after the session: nothing here runs while the program works."""

from __future__ import annotations

import dataclasses
import os
import warnings

from . import _core


@dataclasses.dataclass(frozen=True)
class UploadResult:
    """What upload_logs() did."""

    success: bool
    events_uploaded: int


class UploadError(RuntimeError):
    """The logs could not be uploaded. They are still on disk."""


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
) -> UploadResult:
    """Send the logs to the server; what is not passed is as in init().

    When gpufl is disabled: a success of 0 events, without any network. This version has no server to
    send to, so it raises UploadError otherwise.
    """
    if not in_force().enabled:
        return UploadResult(success=True, events_uploaded=0)
    raise UploadError(
        "this version of gpufl cannot upload: there is no server for its logs yet; "
        "they are on disk, for `gpufl report` and gpufl.analyzer"
    )


def try_upload() -> None:
    """upload_logs() where the program has done its work, and may not fail for this any more."""
    try:
        upload_logs()
    except UploadError as error:
        warnings.warn(str(error), RuntimeWarning, stacklevel=3)
