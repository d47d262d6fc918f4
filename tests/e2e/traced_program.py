# SPDX-License-Identifier: Apache-2.0
"""Runs programs that play CUDA (tests/e2e/trace) under `gpufl trace`, for the tests beside this file."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from monitor_process import GPUFL, PATIENCE_S, PROGRAMS, environment, run, wait_until

PROGRAM = PROGRAMS / "cuda_program"
LIBRARY = PROGRAMS.parent / "lib" / "libgpufl_inject.so"
STANDINS = {
    "GPUFL_CUPTI_LIBRARY": str(PROGRAMS.parent / "standin" / "cupti" / "libcupti.so"),
    "GPUFL_NVML_LIBRARY": str(PROGRAMS.parent / "standin" / "nvml" / "libnvidia-ml.so.1"),
}

IS_ADDRESS_SANITIZED = b"__asan_init" in LIBRARY.read_bytes()
# The library then needs a program that was built the same way.
IS_SANITIZED = IS_ADDRESS_SANITIZED or b"__tsan_init" in LIBRARY.read_bytes()
# One of the threads that a child does not have may hold a lock of the sanitizer's allocator.
skip_forks_if_sanitized = unittest.skipIf(
    IS_ADDRESS_SANITIZED, "the address sanitizer's allocator cannot be forked"
)


def rows(session, kind):
    printed = run(GPUFL, "cat", session, kind)
    assert printed.returncode == 0, printed.stderr
    return [json.loads(line) for line in printed.stdout.splitlines()]


def events(session, name):
    return [event for event in rows(session, "event") if event["name"] == name]


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-trace-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "logs"
        runtime = self.folder / "runtime"
        runtime.mkdir(mode=0o700)
        self.variables = STANDINS | {"XDG_RUNTIME_DIR": str(runtime)}
        self.control_folder = runtime / "gpufl"

    def gpufl(self, *arguments, **variables):
        return run(GPUFL, *arguments, **(self.variables | variables))

    def trace(self, *steps, options=(), **variables):
        return self.gpufl(
            "trace", "--output", self.output, *options, "--", PROGRAM, *steps, **variables
        )

    def start(self, *steps, options=()):
        return self.start_gpufl(
            "trace", "--output", self.output, *options, "--", PROGRAM, *steps
        )

    def start_gpufl(self, *arguments):
        """The launcher, running; it and what it runs are gone when the test ends."""
        process = subprocess.Popen(
            [GPUFL, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(**self.variables),
        )

        def end():
            process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()

        self.addCleanup(end)
        return process

    def end_of(self, process):
        """(exit code, stdout, stderr)"""
        out, errors = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, errors

    def run_folder(self):
        found = list(self.output.iterdir())
        self.assertEqual(len(found), 1, found)
        return found[0]

    def sessions(self):
        return sorted(p for p in self.run_folder().iterdir())

    def begun_sessions(self):
        """Those that have a log by now, of a program that still runs."""
        return [one for one in self.output.glob("*/*") if (one / "device.log").exists()]

    def session(self):
        found = self.sessions()
        self.assertEqual(len(found), 1, found)
        return found[0]

    def kernels(self, session=None):
        return len(rows(session or self.session(), "kernel"))

    def verdict(self, session=None):
        return run(GPUFL, "verify", session or self.session()).returncode

    def statuses(self):
        listed = self.gpufl("control", "list", "--json")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        return json.loads(listed.stdout)

    def wait_for_process(self, state="recording"):
        """The status of the one process that records."""

        def found():
            there = [s for s in self.statuses() if s["state"] == state]
            return there[0] if there else None

        return wait_until(found, f"a process that is {state}")

    def wait_for_kernels(self, count):
        def enough():
            counts = [s.get("tracer", {}).get("kernels", 0) for s in self.statuses()]
            return sum(counts) >= count

        wait_until(enough, f"{count} kernels")

    def control(self, *arguments):
        ended = self.gpufl("control", *arguments)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = pathlib.Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def kill(pid, number=signal.SIGKILL):
    os.kill(pid, number)


def main():
    if not PROGRAM.exists():
        print("no stand-ins: this build has no NVIDIA backend")
        sys.exit(77)
    unittest.main()
