# SPDX-License-Identifier: Apache-2.0
"""%%gpufl, in IPython's own shell."""

import re
import sys

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


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("1 / 0", ZeroDivisionError),
        ("def (", SyntaxError),
        ("%nonsense", UsageError),
        ("raise SystemExit(3)", SystemExit),
        pytest.param(
            "raise ExceptionGroup('both', [ValueError('one'), ValueError('two')])",
            Exception,
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="has no groups"),
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:To exit")
def test_a_cell_that_raises_fails_as_without_the_magic(shell, shown, capsys, line, kind):
    plain = shell.run_cell(line)
    without = capsys.readouterr()
    recorded = shell.run_cell("%%gpufl\n" + line)
    captured = capsys.readouterr()
    assert not recorded.success
    assert isinstance(recorded.error_in_exec, kind)
    assert type(recorded.error_in_exec) is type(plain.error_before_exec or plain.error_in_exec)
    assert (captured.out, captured.err) == (without.out, without.err)
    assert "GPUFlight report: cell" in shown[0].text
    assert not gpufl._core.is_recording()
    assert "showtraceback" not in vars(shell)


def test_what_comes_before_an_error_is_in_the_report(shell, shown, capsys):
    assert not shell.run_cell("%%gpufl\n" + CELL + "\n1 / 0\n").success
    assert capsys.readouterr().out.count("division by zero") == 1
    assert "cell scope" in shown[0].text


def test_other_errors_are_shown_after_one_that_is_caught(shell, shown, capsys):
    code = """
for magic in 1, 2:
    try:
        get_ipython().run_cell_magic("gpufl", "", "1 / 0")
    except ZeroDivisionError:
        pass
[][0]
"""
    assert not shell.run_cell(code).success
    assert "IndexError" in capsys.readouterr().out
    assert "showtraceback" not in vars(shell)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("--sort bogus", "invalid choice: 'bogus'"),
        ("--top -1", "--top -1: how many rows"),
        ("--top few", "invalid int value"),
        ("--name my-session", "not a valid variable name"),
        ("--output file/logs", "cannot be recorded: .*file/logs/.*: Not a directory"),
    ],
)
def test_what_is_wrong_is_said_before_the_cell_runs(shell, shown, tmp_path, line, text):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=text):
        shell.run_cell_magic("gpufl", line, "value = 1")
    assert "value" not in shell.user_ns
    assert shown == []
    assert not gpufl._core.is_recording()


def test_every_order_is_one_of_reports(shell, shown):
    from gpufl._notebook import ORDERS

    for order in ORDERS:
        shell.run_cell_magic("gpufl", f"--sort {order}", "pass")
    assert len(shown) == len(ORDERS)


def test_an_engine_that_is_none(shell, shown):
    with pytest.raises(UsageError, match="invalid choice: 'Fast' .*Monitor'?, '?Trace"):
        shell.run_cell_magic("gpufl", "--engine Fast", CELL)
    assert shown == []


def test_the_help_names_every_engine(shell):
    from gpufl._notebook import GpuflMagics

    text = GpuflMagics.gpufl.parser.format_help()
    for engine in gpufl.ProfilingEngine:
        assert engine.name in text


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
