# SPDX-License-Identifier: Apache-2.0
"""%%gpufl, in IPython's own shell."""

import re

import gpufl
import pytest
from recordings import ROOT

pytest.importorskip("IPython")
from IPython.core.error import UsageError  # noqa: E402


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUFL_BACKEND", "none")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    # A history would be a database and a thread that writes it, which only the shell's exit closes.
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.run_line_magic("load_ext", "gpufl")
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def shown(monkeypatch):
    """What cells display."""
    reports = []
    monkeypatch.setattr("gpufl._notebook.display", reports.append)
    return reports


CELL = """
import gpufl
with gpufl.Scope("cell scope"):
    value = 42
"""


def test_a_cell_has_its_report(shell, shown):
    shell.run_cell_magic("gpufl", "", CELL)
    (report,) = shown
    assert shell.user_ns["value"] == 42
    assert "cell scope" in report.text
    assert repr(report) == report.text
    page = report._repr_html_()
    assert page.startswith("<iframe srcdoc=")
    assert "&lt;!DOCTYPE html&gt;" in page or "&lt;!doctype html&gt;" in page
    assert not gpufl._core.is_recording()


def test_text_alone(shell, shown):
    shell.run_cell_magic("gpufl", "--text --top 3", CELL)
    assert shown[0]._repr_html_() is None
    assert "cell scope" in shown[0].text


def test_the_session_can_be_kept(shell, shown, tmp_path):
    shell.run_cell_magic("gpufl", "--output kept --name recorded", CELL)
    recorded = shell.user_ns["recorded"]
    assert list(recorded.scope_events["name"]) == ["cell scope"]
    assert recorded.path.is_dir()
    assert recorded.path.parent == tmp_path / "kept"


def test_what_a_cell_raises_is_shown_with_the_report(shell, shown, capsys):
    shell.run_cell_magic("gpufl", "", CELL + "\n1 / 0\n")
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert "cell scope" in shown[0].text
    assert not gpufl._core.is_recording()


def test_an_engine_that_is_none(shell, shown):
    with pytest.raises(UsageError, match="no engine 'Fast', but Monitor, Trace"):
        shell.run_cell_magic("gpufl", "--engine Fast", CELL)
    assert shown == []


def test_not_inside_of_a_session(shell, shown, recording):
    with pytest.raises(UsageError, match="gpufl.shutdown"):
        shell.run_cell_magic("gpufl", "", CELL)
    assert gpufl._core.is_recording()


def test_disabled_the_cell_runs(shell, shown, monkeypatch):
    monkeypatch.setenv("GPUFL_DISABLED", "1")
    shell.run_cell_magic("gpufl", "", "value = 7")
    assert shell.user_ns["value"] == 7
    assert shown == []


PAGE = (ROOT / "docs" / "guide" / "notebooks.md").read_text(encoding="utf-8")


class Tensor:
    def sum(self):
        return self

    def backward(self):
        pass


def test_the_guide(shell, shown):
    pytest.importorskip("pandas")
    shell.user_ns.update(model=lambda batch: Tensor(), batch=1, train_one_epoch=lambda: None)
    blocks = re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE)
    assert len(blocks) == 3
    for block in blocks:
        shell.run_cell(re.sub(r"^    ", "", block, flags=re.MULTILINE)).raise_error()
    assert len(shown) == 2
    assert shown[1].page is None
    (expression,) = re.findall(r"`(session\.kernels.*?)`", PAGE)
    assert len(shell.ev(expression)) == 0  # without a GPU


def test_the_guide_has_every_option():
    from gpufl._notebook import GpuflMagics

    parser = GpuflMagics.gpufl.parser
    options = {name for action in parser._actions for name in action.option_strings}
    documented = re.findall(r"^\| `(--[a-z-]+)", PAGE, re.MULTILINE)
    assert set(documented) == {name for name in options if name.startswith("--")} - {"--help"}
