# SPDX-License-Identifier: Apache-2.0
"""What the package's types and stubs tell a type checker."""

import pathlib
import re

import pytest

api = pytest.importorskip("mypy.api")

PROGRAM = pathlib.Path(__file__).with_name("typed_program.py")


def test_a_checker_finds_the_errors_and_no_others(tmp_path):
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    expected = {number for number, line in enumerate(lines, 1) if line.endswith("  # error")}
    printed, failure, _ = api.run(
        ["--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", str(PROGRAM)]
    )
    assert failure == ""
    errors = re.findall(r"^[^:]+typed_program\.py:(\d+): error: ", printed, re.MULTILINE)
    assert {int(number) for number in errors} == expected, printed
    assert len(expected) == 8
