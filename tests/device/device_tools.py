# SPDX-License-Identifier: Apache-2.0
"""What the Python device tests have in common: they run programs in PyTorch, traced in one way or
another, and read the log by `gpufl`, as users do. Without a GPU or PyTorch every test is skipped by
ending with 2, as `./dev gpu-test` expects."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "gpu"))

import torch_session  # noqa: E402

GPUFL = str(torch_session.GPUFL)
PROGRAMS = ROOT / "tests" / "device" / "pytorch"
PYTHON = sys.executable
PYTHONPATH = os.pathsep.join([str(ROOT / "bench" / "gpu"), str(torch_session.PACKAGES)])


def run(command, timeout=120, **variables):
    """Ends well, or the test fails with what it said."""
    environment = dict(os.environ, PYTHONPATH=PYTHONPATH, **variables)
    ran = subprocess.run(
        [str(word) for word in command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if ran.returncode != 0:
        raise AssertionError(f"{command} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def program(name, *arguments):
    return [PYTHON, PROGRAMS / name, *arguments]


def rows(session, kind, *options):
    return [json.loads(line) for line in run([GPUFL, "cat", session, kind, *options]).splitlines()]


def sessions_in(folder):
    return sorted({path.parent for path in pathlib.Path(folder).rglob("system*.log*")})


class TracedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-device-")
        self.addCleanup(folder.cleanup)
        self.logs = pathlib.Path(folder.name)

    def only_session(self):
        sessions = sessions_in(self.logs)
        self.assertEqual(len(sessions), 1, sessions)
        return sessions[0]

    def trace(self, command, *options, **variables):
        """`gpufl trace` of a command; what it printed."""
        return run([GPUFL, "trace", "--output", self.logs, *options, "--", *command], **variables)

    def assert_exact(self, session):
        """Every launch has its record; how many there were."""
        run([GPUFL, "verify", session])
        (ledger,) = rows(session, "ledger")
        records = ledger["kernel_records"] - ledger.get("graph_kernel_records", 0)
        self.assertEqual(ledger["launches_seen"], records, ledger)
        self.assertEqual(ledger["vendor_dropped"], 0, ledger)
        self.assertEqual(ledger["impossible_times"], 0, ledger)
        return records

    @contextlib.contextmanager
    def running(self, command, **variables):
        """A program that says "ready" and goes on until its stdin is closed."""
        environment = dict(os.environ, PYTHONPATH=PYTHONPATH, **variables)
        process = subprocess.Popen(
            [str(word) for word in command],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            yield process
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def require_package():
    """The Python package is there for this Python, with what its DataFrames need."""
    code = "import gpufl.torch, pandas"
    try:
        run([PYTHON, "-c", code])
    except AssertionError as error:
        torch_session.cannot_run(f"no package gpufl with pandas for this Python: {error}")


def main():
    torch_session.require_torch_gpu()
    if not torch_session.GPUFL.is_file():
        torch_session.cannot_run(f"no {GPUFL}: './dev gpu-test --build' makes it")
    unittest.main(verbosity=2)
