# SPDX-License-Identifier: Apache-2.0
"""The programs of the guide, with a launch that is played on the host; the reference against the
package."""

import gzip
import pathlib
import re
import subprocess
import sys
import types

import fake_kernel
import pytest

import warpscope as ws
from warpscope._command import main
from warpscope._problems import Problems

DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="not in the repository")


def page(name):
    path = DOCS / name
    return path.read_text() if path.is_file() else ""


GUIDE = page("guide/warpscope.md")
REFERENCE = page("reference/warpscope-python.md")


def blocks(language):
    return re.findall(rf"```{re.escape(language)}\n(.*?)```", GUIDE, re.DOTALL)


class RawModule:
    """Of CuPy: compiles nothing, and plays the toy."""

    def __init__(self, code, options):
        assert "WS_REGION" in code and f"-I{ws.include_dir()}" in options

    def get_function(self, name):
        assert name == "turns"
        return self.launch

    @staticmethod
    def launch(grid, threads, arguments):
        (capture,) = arguments
        assert capture.nbytes == 80 and capture.size == 1 and threads == (64,)
        fake_kernel.toy(ws.Capture.from_buffer_copy(capture.tobytes()), grid[0])


def test_the_guide(tmp_path, monkeypatch, capsys):
    device = types.SimpleNamespace(synchronize=lambda: None)
    cuda = types.SimpleNamespace(Device=lambda: device)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(RawModule=RawModule, cuda=cuda))
    monkeypatch.setattr(ws, "Profiler", lambda **options: on_host(options))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "turns.cu").write_text(blocks("cuda")[0])
    programs = blocks("python")
    assert len(programs) == 4
    for program in programs:
        exec(compile(program, "guide", "exec"), {})
    printed = capsys.readouterr().out
    assert "consumer" in printed and "x1.02" in printed
    assert (tmp_path / "turns.perfetto-trace").stat().st_size > 1000


PROFILER = ws.Profiler


def on_host(options):
    return PROFILER(**{**options, "device": "cpu"})


def test_the_command_as_the_guide_has_it():
    """Every option of every line exists."""
    used = set(re.findall(r"(--[a-z-]+)", "\n".join(re.findall(r"^    warpscope .*", GUIDE, re.M))))
    helped = subprocess.run([sys.executable, "-m", "warpscope", "decode", "--help"], check=True,
                            env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True,
                            text=True).stdout  # fmt: skip
    assert len(used) >= 4 and all(option in helped for option in used)
    options = set(re.findall(r"(--[a-z-]+)", helped)) - {"--help"}
    assert all(f"`{option}" in REFERENCE for option in options)


def test_the_recording_of_the_guide_can_be_decoded(tmp_path, monkeypatch, capsys):
    (source,) = re.findall(r"^    gunzip -c (\S+) > pipeline.bin$", GUIDE, re.M)
    monkeypatch.chdir(tmp_path)
    recording = gzip.decompress((DOCS.parent / source).read_bytes())
    pathlib.Path("pipeline.bin").write_bytes(recording)
    lines = re.findall(r"^    warpscope (decode pipeline.bin.*?)(?:  .*)?$", GUIDE, re.M)
    assert len(lines) == 4
    for line in lines:
        assert main(line.split()) == 0, line
    assert "consumer" in capsys.readouterr().out
    assert pathlib.Path("it.svg").is_file() and pathlib.Path("pipeline.pftrace").is_file()


def quoted():
    return " ".join(re.findall(r"`([^`]*)`", REFERENCE))


def test_every_name_is_in_the_reference():
    known = quoted()
    for name in ws.__all__:
        assert name in ("__version__", "Layout", "Names", "Window") or name in known, name
    for owner in (ws.Profiler(1, 1, device="cpu"), ws.TraceResult(1, 1)):
        for name in dir(owner):
            assert name.startswith("_") or re.search(rf"\b{name}\b", known), name
    for name in (*ws.Span.__dataclass_fields__, *ws.Instant.__dataclass_fields__):
        assert re.search(rf"\b{name}\b", known), name


def test_every_problem_is_in_the_reference():
    from warpscope._problems import _KINDS

    rows = re.findall(r"^\| (\*{0,2}`.*?`\*{0,2}) \|", REFERENCE.split("## Problems")[1], re.M)
    found = {name: cell.startswith("**") for cell in rows for name in re.findall(r"`(\w+)`", cell)}
    found = {name: is_loss for name, is_loss in found.items() if name in _KINDS}
    assert found == {kind: is_loss for kind, (_, is_loss) in _KINDS.items()}
    problems = Problems()
    for kind in found:
        problems.add(kind)
    assert [problem.kind for problem in problems.as_list()] == list(_KINDS)
