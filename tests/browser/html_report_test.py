# SPDX-License-Identifier: Apache-2.0
"""The HTML report in Chromium: of a million kernels at most 5 MB and drawn within two seconds, of the
recorded session and of an empty one without an error.

html_report_test.py GPUFL KERNEL_SESSION
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MAX_BYTES = 5_000_000
MAX_READY_MS = 2000


class HtmlReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page_of(self, session):
        page = self.folder / "report.html"
        subprocess.run(
            [GPUFL, "report", "--format", "html", "--output", page, session],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
        return page

    def opened(self, page, *more):
        """The page as it is after its scripts ran; it must have had nothing to complain about."""
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--enable-logging=stderr"]
        command += [f"--user-data-dir={self.folder / 'browser'}", "--window-size=1440,1000", *more]
        ended = subprocess.run(
            [*command, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=60,
            check=True,
        )  # fmt: skip
        said = [line for line in ended.stderr.splitlines() if "CONSOLE" in line]
        self.assertEqual(said, [])
        return ended.stdout

    def ready_ms(self, dom):
        ready = re.search(r'<html[^>]* data-ready="(\d+)"', dom)
        self.assertIsNotNone(ready, dom[:400])
        return int(ready.group(1))

    def test_a_million_kernels(self):
        logs = self.folder / "logs"
        subprocess.run([KERNEL_SESSION, logs, "1000000"], check=True, timeout=60)
        page = self.page_of(logs)
        self.assertLessEqual(page.stat().st_size, MAX_BYTES)
        self.assertIn("1,000,000", page.read_text())
        # The best of three: other programs share the machine.
        self.assertLessEqual(min(self.ready_ms(self.opened(page)) for _ in range(3)), MAX_READY_MS)

    def test_a_recorded_session_in_both_colours(self):
        page = self.page_of(ROOT / "examples/sessions/h200_gpt")
        for more in ([], ["--blink-settings=preferredColorScheme=0"]):
            dom = self.opened(page, *more)
            self.ready_ms(dom)
            self.assertIn("NVIDIA H200", dom)

    def test_a_session_without_gpu_work(self):
        page = self.page_of(ROOT / "tests/replay/recordings/h200_monitor")
        self.assertIn("holds no kernels", self.opened(page))

    def test_a_mistake_in_the_script_is_noticed(self):
        page = self.folder / "broken.html"
        page.write_text("<!doctype html><script>nothing.here()</script>")
        with self.assertRaises(AssertionError):
            self.opened(page)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: no Chromium; './dev setup browser' installs it")
        sys.exit(77)
    GPUFL, KERNEL_SESSION = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
