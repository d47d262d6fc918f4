# SPDX-License-Identifier: Apache-2.0
"""Reports of recorded sessions: the same texts and pages as `gpufl report` writes."""

from __future__ import annotations

import html
import os
from pathlib import Path

from gpufl.analyzer import GpuFlightSession

__all__ = ["HtmlReport", "TextReport", "generate_report"]

_FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".json": "json"}


def generate_report(
    log_dir: str | os.PathLike[str],
    log_prefix: str | None = None,
    top_n: int = 10,
    output_path: str | os.PathLike[str] | None = None,
    *,
    session_id: str | None = None,
    format: str | None = None,
    full: bool = False,
) -> str:
    """The report of a session, which is found as GpuFlightSession finds it.

    `format` is "text", "md", "json" or "html"; without it what the ending of `output_path` says,
    else text. With `output_path` it is written there as well. Text and Markdown fit on a screen
    unless `full` is set.
    """
    session = GpuFlightSession(log_dir, log_prefix, session_id)
    if format is None:
        format = _FORMATS.get(Path(output_path).suffix, "text") if output_path else "text"
    text = session.report(format, top_n, full=full)
    if output_path is not None:
        Path(output_path).write_text(text, encoding="utf-8")
    return text


class _Report:
    _format: str

    def __init__(self, session: GpuFlightSession, top_n: int = 10, full: bool = False) -> None:
        self._session = session
        self._top_n = top_n
        self._full = full

    def generate(self) -> str:
        return self._session.report(self._format, self._top_n, full=self._full)

    def save(self, path: str | os.PathLike[str]) -> None:
        Path(path).write_text(self.generate(), encoding="utf-8")


class TextReport(_Report):
    """A session's report as text that fits on a screen.

    With `full` it is everything, with `top_n` rows of each list, 0: all.
    """

    _format = "text"

    def print(self) -> None:
        print(self.generate(), end="")


class HtmlReport(_Report):
    """A session's report as one page that needs no network; in a notebook it shows itself."""

    _format = "html"

    def _repr_html_(self) -> str:
        return page_frame(self.generate())


def page_frame(page: str) -> str:
    """For notebooks: a separate document, so that its styles and scripts stay apart from theirs."""
    source = html.escape(page, quote=True)
    return f'<iframe srcdoc="{source}" style="width: 100%; height: 45em; border: 0"></iframe>'
