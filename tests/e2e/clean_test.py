# SPDX-License-Identifier: Apache-2.0
"""`gpufl clean`: it asks first, on a terminal, and deletes nothing where it cannot."""

import pathlib
import tempfile
import unittest

from monitor_process import DAEMON, GPUFL, run
from pseudo_terminal import Screen


class Clean(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-clean-")
        self.addCleanup(folder.cleanup)
        self.logs = pathlib.Path(folder.name)

    def record(self, count=1):
        for _ in range(count):
            run(DAEMON, "--output", self.logs, "--duration", "10ms", "--backend", "none")

    def sessions(self):
        return sorted(path for path in self.logs.iterdir() if path.is_dir())

    def clean(self, *options):
        return run(GPUFL, "clean", *options, self.logs)

    def test_without_a_terminal_it_deletes_nothing(self):
        self.record()
        ended = self.clean()
        self.assertEqual(ended.returncode, 64, ended.stdout)
        self.assertIn("would delete ", ended.stdout)
        self.assertIn("add --yes", ended.stderr)
        self.assertEqual(len(self.sessions()), 1)
        self.assertEqual(self.clean("--yes").returncode, 0)
        self.assertEqual(self.sessions(), [])

    def test_it_does_what_the_answer_says(self):
        self.record()
        for answer, code, left in ((b"\n", 1, 1), (b"n\n", 1, 1), (b"y\n", 0, 0)):
            screen = Screen(self, "clean", self.logs)
            screen.read_until(rb"would delete .*Delete 1 session, .*\[y/N\] ")
            screen.type(answer)
            self.assertEqual(screen.wait(), code, answer)
            self.assertEqual(len(self.sessions()), left, answer)

    def test_a_session_can_be_given_itself(self):
        self.record(2)
        first, second = self.sessions()
        ended = run(GPUFL, "clean", "--yes", first)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(self.sessions(), [second])

    def test_a_dry_run_does_not_ask(self):
        self.record()
        self.assertEqual(self.clean("--dry-run").returncode, 0)
        self.assertEqual(len(self.sessions()), 1)

    def test_the_newest_and_the_young_can_be_kept(self):
        self.record(3)
        before = self.sessions()
        self.assertIn("nothing to delete", self.clean("--older-than", "1h").stdout)
        self.assertEqual(self.clean("--yes", "--keep", "2").returncode, 0)
        self.assertEqual(self.sessions(), before[1:])
        self.assertEqual(self.clean("--yes", "--older-than", "0s").returncode, 0)
        self.assertEqual(self.sessions(), [])

    def test_a_foreign_file_keeps_only_itself(self):
        self.record()
        (self.logs / "device.log").write_text("mine")
        (self.sessions()[0] / "notes.txt").write_text("mine")
        ended = self.clean("--yes")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("deleted, except for other files in it", ended.stdout)
        left = {path.name for path in self.logs.rglob("*") if path.is_file()}
        self.assertEqual(left, {"device.log", "notes.txt"})


if __name__ == "__main__":
    unittest.main()
