# SPDX-License-Identifier: Apache-2.0
"""The HTML report in Chromium: of a million kernels at most 5 MB, of the recorded session and of an
empty one; drawn, and without an error; what links, buttons and headings do. How fast is judged by
bench/page.

html_report_test.py GPUFL KERNEL_SESSION
"""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from chromium import CHROMIUM, PATIENCE_S, opened, ready_ms

ROOT = Path(__file__).resolve().parents[2]
MAX_BYTES = 5_000_000


class HtmlReport(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page_of(self, session):
        page = self.folder / "report.html"
        subprocess.run(
            [GPUFL, "report", "--format", "html", "--output", page, session],
            check=True, capture_output=True, timeout=PATIENCE_S,
        )  # fmt: skip
        return page

    def opened(self, page, *more):
        """The page as it is after its scripts ran; it must have had nothing to complain about."""
        html, said = opened(page, self.folder, *more)
        self.assertEqual(said, [])
        return html

    def drawn(self, page, *more):
        html = self.opened(page, *more)
        self.assertIsNotNone(ready_ms(html), html[:400])
        return html

    def after(self, page, script):
        """What `script` answers after the page drew itself, and after what it did has been done."""
        html = page.read_text()
        asked = (
            "<script>{ const part = (id) => document.getElementById(id);"
            f"const answer = (() => {{ {script} }})();"
            "addEventListener('load', () => (document.documentElement.dataset.answer = answer())); }</script>"
        )
        page.write_text(html.replace("</body>", asked + "</body>"))
        return re.search(r'<html[^>]* data-answer="([^"]*)"', self.drawn(page)).group(1)

    def test_a_million_kernels(self):
        logs = self.folder / "logs"
        subprocess.run([KERNEL_SESSION, logs, "1000000"], check=True, timeout=PATIENCE_S)
        page = self.page_of(logs)
        self.assertLessEqual(page.stat().st_size, MAX_BYTES)
        self.assertIn("1,000,000", page.read_text())
        self.drawn(page)

    def test_a_recorded_session_in_both_colours(self):
        page = self.page_of(ROOT / "examples/sessions/h200_gpt")
        for more in ([], ["--blink-settings=preferredColorScheme=0"]):
            self.assertIn("NVIDIA H200", self.drawn(page, *more))

    def test_tracks_are_named(self):
        html = self.drawn(self.page_of(ROOT / "examples/sessions/h200_gpt"))
        names = re.findall(r'<button[^>]* class="tl-toggle"[^>]* aria-label="([^"]*)"', html)
        self.assertTrue(any(name.startswith("Close GPU 0: NVIDIA H200") for name in names), names)
        self.assertTrue(any(re.search(r"stream \d+ kernels$", name) for name in names), names)

    def test_evidence_leads_to_its_time(self):
        page = self.page_of(ROOT / "examples/sessions/h200_torch")
        told = self.after(
            page,
            "document.querySelector('a.moment').click(); return () => part('chosen').textContent;",
        )
        self.assertRegex(told, r"^13\.85 ms selected")

    def test_names_are_searched(self):
        page = self.page_of(ROOT / "examples/sessions/h200_torch")
        told = self.after(
            page,
            "part('find').value = 'softmax'; part('find').dispatchEvent(new Event('input'));"
            "part('find').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));"
            "return () => part('matches').textContent + ': ' + part('chosen').textContent;",
        )
        self.assertRegex(told, r"^[1-9]\d* matches: .*softmax")

    def test_the_inside_of_kernels_is_opened_and_closed(self):
        page = self.page_of(ROOT / "tests/replay/recordings/h200_warp_bubbles")
        told = self.after(
            page,
            "const before = part('inside').ariaPressed; part('inside').click();"
            "return () => `${part('inside').hidden} ${before} ${part('inside').ariaPressed}`;",
        )
        self.assertEqual(told, "false true false")

    def test_tables_are_sorted(self):
        page = self.page_of(ROOT / "examples/sessions/h200_torch")
        told = self.after(
            page,
            "const table = document.querySelector('table.sortable');"
            "const last = table.tHead.rows[0].cells[table.tHead.rows[0].cells.length - 1];"
            "last.click(); last.click(); return () => last.ariaSort;",
        )
        self.assertEqual(told, "ascending")

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
