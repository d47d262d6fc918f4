# SPDX-License-Identifier: Apache-2.0
"""Starts the monitor programs for the tests beside this file, and ends them whatever happens."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

PROGRAMS = pathlib.Path(os.environ["GPUFL_PROGRAMS"])
GPUFL = PROGRAMS / "gpufl"
DAEMON = PROGRAMS / "gpufl-monitor"
AGENT = PROGRAMS / "gpufl-agent"
PATIENCE_S = 60


def environment(**changes):
    """The test's own, without what would change a program's behaviour."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GPUFL_") and k != "NO_COLOR"}
    return kept | changes


def run(*arguments, **variables):
    return subprocess.run(
        [str(a) for a in arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
        env=environment(**variables),
    )


def get(url):
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:
        return response.read().decode()


def wait_until(condition, what, patience_s=PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {patience_s} s in vain for {what}")


class MonitorTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-monitor-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.output = self.folder / "logs"

    def start(self, *arguments, program=(DAEMON,), backend="synthetic", **variables):
        """Returns when it records; `.lines` are those of its stderr so far."""
        process = subprocess.Popen(
            [*map(str, (*program, *arguments)), "--output", str(self.output)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(GPUFL_BACKEND=backend, **variables),
        )
        process.lines = _Lines()
        reader = threading.Thread(target=process.lines.fill, args=(process.stderr,))
        reader.start()

        def end():
            process.kill()
            process.wait()
            reader.join()
            process.stdout.close()
            process.stderr.close()

        self.addCleanup(end)
        process.reader = reader
        wait_until(
            lambda: process.lines.matching("recording ") or process.poll() is not None,
            "the monitor's first line",
        )
        self.assertIsNone(process.poll(), process.lines.text())
        return process

    def metrics_url(self, process):
        line = process.lines.matching("metrics on ")[0]
        return re.search(r"http://\S+", line).group()

    def stop(self, process, number=signal.SIGTERM):
        process.send_signal(number)
        code = process.wait(timeout=PATIENCE_S)
        process.reader.join()
        return code

    def wait_for_samples(self, url, count):
        def taken():
            found = re.search(r"^gpufl_samples_total (\d+)$", get(url), re.MULTILINE)
            return found and int(found.group(1)) >= count

        wait_until(taken, f"{count} samples")

    def rows(self, kind):
        """Those that are on disk by now."""
        printed = run(GPUFL, "cat", self.session(), kind)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        return [json.loads(line) for line in printed.stdout.splitlines()]

    def session(self):
        found = [p for p in self.output.iterdir() if p.is_dir()]
        self.assertEqual(len(found), 1, found)
        return found[0]

    def assert_verdict(self, code):
        verified = run(GPUFL, "verify", self.session())
        self.assertEqual(verified.returncode, code, verified.stdout + verified.stderr)
        return verified.stdout


class _Lines:
    """Lines that one thread reads and others look at."""

    def __init__(self):
        self._lock = threading.Lock()
        self._lines = []

    def fill(self, stream):
        for line in stream:
            with self._lock:
                self._lines.append(line.rstrip("\n"))

    def matching(self, part):
        with self._lock:
            return [line for line in self._lines if part in line]

    def text(self):
        with self._lock:
            return "\n".join(self._lines)
