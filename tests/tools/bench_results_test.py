# SPDX-License-Identifier: Apache-2.0
"""tools/bench_results.py: what is kept is what the page shows, and an old page is noticed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TOOL = REPOSITORY / "tools" / "bench_results.py"

RESULT = {
    "benchmark": "scope_bench",
    "run": {"cpu": "Some CPU", "cores": 2, "unix_time_s": 0},
    "figures": [
        {"figure": "pair", "ratio": 1.5, "low": 1.4, "high": 1.61, "pairs": 20, "at_most": 2, "within": True},
        {"figure": "more", "value": 0.5, "unit": "us", "low": 0.25, "high": 0.75, "pairs": 30},
        {"figure": "size", "value": 24500.0, "unit": "B", "at_most": 24000, "within": False},
    ],
}


class BenchResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs" / "reference").mkdir(parents=True)
        self.measured = self.root / "measured"
        self.measured.mkdir()

    def run_tool(self, *arguments, root=None):
        command = [sys.executable, TOOL, "--root", root or self.root, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def keep(self):
        (self.measured / "scope_bench.json").write_text(json.dumps(RESULT))
        kept = self.run_tool("keep", self.measured, "--machine", "box", "--commit", "abc")
        self.assertEqual(kept.returncode, 0, kept.stderr)

    def test_page_shows_what_was_kept(self):
        self.keep()
        self.assertEqual(self.run_tool("page").returncode, 0)
        page = (self.root / "docs" / "reference" / "performance.md").read_text()
        self.assertIn("## box", page)
        self.assertIn("1970-01-01; commit abc; cpu Some CPU; cores 2.", page)
        self.assertIn("| pair | 1.500 | 1.400 to 1.610, 20 pairs | at most 2 |", page)
        self.assertIn("| more | 0.5 us | 0.25 to 0.75, 30 pairs |  |", page)
        self.assertIn("| size | 24,500 B |  | at most 24,000 (missed) |", page)
        self.assertEqual(self.run_tool("page", "--check").returncode, 0)

    def test_check_notices_an_old_page(self):
        self.keep()
        missing = self.run_tool("page", "--check")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("does not show bench/results", missing.stderr)

    def test_keep_refuses_an_empty_folder(self):
        refused = self.run_tool("keep", self.measured, "--machine", "box", "--commit", "abc")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("run ./dev bench first", refused.stderr)

    def test_the_repository_s_page_is_current(self):
        current = self.run_tool("page", "--check", root=REPOSITORY)
        self.assertEqual(current.returncode, 0, current.stderr)

    def test_the_page_begins_with_ten_figures(self):
        page = (REPOSITORY / "docs" / "reference" / "performance.md").read_text()
        rows = [line for line in page.split("## ")[0].splitlines() if line.startswith("| ")]
        self.assertEqual(len(rows), 1 + 10)

    def test_a_headline_that_nobody_measured_is_an_error(self):
        (self.measured / "gpt_overhead.json").write_text(json.dumps(RESULT))
        self.run_tool("keep", self.measured, "--machine", "nvidia-h200", "--commit", "abc")
        page = self.run_tool("page")
        self.assertEqual(page.returncode, 1)
        self.assertIn("has no 'Trace / off'", page.stderr)


if __name__ == "__main__":
    unittest.main()
