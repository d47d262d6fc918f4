# SPDX-License-Identifier: Apache-2.0
"""What the Python device tests have in common: they run programs in PyTorch, traced in one way or
another, and read the log by `gpufl`, as users do. Without a GPU or PyTorch every test is skipped by
ending with 2, as `./dev gpu-test` expects."""

import concurrent.futures
import contextlib
import ctypes
import importlib.util
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


def execute(command, timeout=120, **variables):
    """The ended process; its output is text."""
    return subprocess.run(
        [str(word) for word in command],
        env=dict(os.environ, PYTHONPATH=PYTHONPATH, **variables),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def output_of(ran):
    """What a process printed that ended well, or the test fails with what it said."""
    if ran.returncode != 0:
        raise AssertionError(f"{ran.args} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def run(command, timeout=120, **variables):
    return output_of(execute(command, timeout, **variables))


def program(name, *arguments):
    return [PYTHON, PROGRAMS / name, *arguments]


def rows(session, kind, *options):
    return [json.loads(line) for line in run([GPUFL, "cat", session, kind, *options]).splitlines()]


def sessions_in(folder):
    return sorted({path.parent for path in pathlib.Path(folder).rglob("system*.log*")})


def only_session_in(folder):
    sessions = sessions_in(folder)
    if len(sessions) != 1:
        raise AssertionError(f"not one session in {folder}: {sessions}")
    return sessions[0]


def trace(logs, command, *options):
    """The command that runs `command` under `gpufl trace`."""
    return [GPUFL, "trace", "--output", logs, *options, "--", *command]


class TracedTest(unittest.TestCase):
    """Programs that leave sessions, and what is in these. PyTorch takes seconds to start: all programs
    of a class run side by side, each once, before its first test."""

    VARIABLES = {}
    AT_ONCE = None  # so many side by side; None: all

    @classmethod
    def commands(cls, logs):
        """The programs by their names; each has the folder logs / name for its sessions."""
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-device-")
        cls.addClassCleanup(folder.cleanup)
        cls.logs = pathlib.Path(folder.name)
        commands = cls.commands(cls.logs)

        def execute_one(command):
            try:
                return execute(command, timeout=240, **cls.VARIABLES)
            except subprocess.TimeoutExpired as error:
                return subprocess.CompletedProcess(error.cmd, 124, "", f"no end: {error}")

        with concurrent.futures.ThreadPoolExecutor(cls.AT_ONCE or len(commands)) as pool:
            cls.ran = dict(zip(commands, pool.map(execute_one, commands.values())))

    def output(self, name):
        return output_of(self.ran[name])

    def session(self, name):
        """The one session of a program that ended well."""
        self.output(name)
        return only_session_in(self.logs / name)

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


def require_torch_gpu():
    """Without importing PyTorch here, which takes as long as a test."""
    if importlib.util.find_spec("torch") is None:
        torch_session.cannot_run("no PyTorch here")
    count = ctypes.c_int(0)
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        torch_session.cannot_run(f"no driver here: {error}")
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or not count.value:
        torch_session.cannot_run("the driver sees no GPU here")


def main():
    require_torch_gpu()
    if not torch_session.GPUFL.is_file():
        torch_session.cannot_run(f"no {GPUFL}: './dev gpu-test --build' makes it")
    unittest.main(verbosity=2)
