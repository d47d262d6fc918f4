# SPDX-License-Identifier: Apache-2.0
"""Runs every Python snippet of docs/guide/pandas.md, in order, as one program."""

import re

import pytest
from recordings import ROOT

pytest.importorskip("pandas")
pytest.importorskip("matplotlib").use("Agg")


def test_snippets_run(tmp_path, capsys):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = (ROOT / "docs" / "guide" / "pandas.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(snippets) > 5
    names = {}
    for snippet in snippets:
        exec(compile(snippet, "pandas.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert (tmp_path / "timeline.png").stat().st_size > 1_000
    names["session"].inspect_stalls()
    (shown,) = re.findall(r"^```text\n>>> session.inspect_stalls\(\)\n(.*?)^```", page, re.M | re.S)
    assert capsys.readouterr().out.endswith(shown)
