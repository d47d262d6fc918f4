# SPDX-License-Identifier: Apache-2.0
"""The command `gpufl` that comes with the package."""

import ctypes.util
import os
import pathlib
import shutil
import subprocess
import sys

import gpufl
import pytest
from conftest import PROGRAM
from recordings import COMPLETE


def run_gpufl(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_the_command_comes_with_the_package(logs):
    gpufl.init(log_path=logs, backend=gpufl.BackendKind.None_)
    gpufl.shutdown()
    script = pathlib.Path(sys.executable).parent / "gpufl"
    for command in ([script], [sys.executable, "-m", "gpufl"]):
        done = run_gpufl(*command, "--version")
        assert (done.returncode, done.stdout) == (0, f"gpufl {gpufl.__version__}\n")
    assert run_gpufl(script, "verify", logs).returncode == 0
    assert run_gpufl(script, "no-such-command").returncode == 64


def test_the_command_injects_the_library_of_the_package():
    # Nothing here initialises CUDA: what matters is that the library is found.
    done = run_gpufl(PROGRAM, "trace", "--output", "traced", "--", "true")
    assert "libgpufl_inject" not in done.stderr


def symbolize_golden(folder, **variables):
    """What the package's program says of a session with native frames whose binaries are not here."""
    shutil.copytree(COMPLETE, folder / "session")
    command = [PROGRAM, "symbolize", folder / "session"]
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_command_opens_libdw_when_it_is_needed(tmp_path):
    if ctypes.util.find_library("dw") is None:
        pytest.skip("this machine has no libdw")
    done = symbolize_golden(tmp_path, LD_DEBUG="libs")
    assert "find library=libdw.so.1" in done.stderr
    assert "no libdw here" not in done.stderr


def test_the_command_says_what_to_do_without_libdw(tmp_path):
    (tmp_path / "libdw.so.1").write_bytes(b"")
    done = symbolize_golden(tmp_path, LD_LIBRARY_PATH=str(tmp_path))
    assert done.returncode == 1
    assert "no libdw here" in done.stderr
    assert "libdw1" in done.stderr
