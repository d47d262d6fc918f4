# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess
import sys

import gpufl
import pytest

PROGRAM = pathlib.Path(gpufl.__file__).parent / "bin" / "gpufl"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch, tmp_path):
    """No GPUFL_ variable of outside, a folder of its own, and no session that stays."""
    for name in list(os.environ):
        if name.startswith("GPUFL_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    yield
    gpufl.shutdown()
    # Of a test that disabled it.
    gpufl.init(enabled=False)


@pytest.fixture
def logs(tmp_path):
    return tmp_path / "logs"


@pytest.fixture
def recording(logs):
    """A session without a vendor, which the test ends and reads with `events`."""
    assert gpufl.init(app_name="test", log_path=logs, backend=gpufl.BackendKind.None_)
    return logs


def sessions(logs):
    return sorted(path for path in logs.glob("*") if path.is_dir())


def events(logs, kind):
    """All events of a kind of the one session in `logs`, as `gpufl cat` prints them."""
    (session,) = sessions(logs)
    cat = [PROGRAM, "cat", session, kind]
    printed = subprocess.run(cat, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in printed.splitlines()]


def run_python(code, **variables):
    """Runs `code` in a fresh interpreter; what it printed."""
    environment = {**os.environ, **variables}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
