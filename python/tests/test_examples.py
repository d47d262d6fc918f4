# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/python, and those of the guide to PyTorch, run as they are."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
GUIDE = ROOT / "docs" / "guide" / "pytorch.md"


def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example(example, monkeypatch):
    if "import torch" in example.read_text(encoding="utf-8"):
        pytest.importorskip("torch")
    monkeypatch.setenv("GPUFL_BACKEND", "none")
    printed = run(sys.executable, str(example), "recorded")
    assert printed
    assert any(pathlib.Path("recorded").iterdir())


def test_the_guide_to_pytorch(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setenv("GPUFL_BACKEND", "none")
    programs = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) == 4
    for program in programs:
        run(sys.executable, "-c", program)
