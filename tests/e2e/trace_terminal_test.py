# SPDX-License-Identifier: Apache-2.0
"""`gpufl trace` on a (pseudo) terminal: progress, Ctrl-C, Ctrl-Z, and programs that read from it."""

import os
import pathlib
import signal

from monitor_process import GPUFL, run, wait_until
from pseudo_terminal import Screen
from traced_program import PROGRAM, TraceTest, is_alive, main

SCROLL_ABOVE, SCROLL_ALL = rb"\x1b\[1;39r", rb"\x1b\[r"


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class Terminal(TraceTest):
    def screen(self, *command, options=()):
        arguments = ("trace", "--output", self.output, *options, "--", *command)
        return Screen(self, *arguments, **self.variables)

    def test_progress_stands_below_what_the_program_prints(self):
        go = self.folder / "go"
        screen = self.screen(PROGRAM, "cuda", "launch:25", "say:printed", f"await:{go}")
        screen.read_until(rb"printed\r\n")
        screen.read_until(SCROLL_ABOVE)
        screen.read_until(rb"\x1b\[40;1H[^\r\n]*gpufl: [^\r\n]* 1 process, 25 kernels")
        go.touch()
        screen.read_until(SCROLL_ALL)
        screen.read_until(rb"kernels +25 .*ledger +complete")
        self.assertEqual(screen.wait(), 0)

    def test_progress_without_gpu_work_counts_no_kernels(self):
        go = self.folder / "go"
        command = (PROGRAM, "cuda", "launch:25", f"await:{go}")
        screen = self.screen(*command, options=("--engine", "Monitor"))
        screen.read_until(rb"gpufl: [^\r\n]* 1 process, no GPU work recorded")
        go.touch()
        self.assertEqual(screen.wait(), 0)

    def test_ctrl_c_comes_once_and_after_the_flush(self):
        go = self.folder / "go"
        screen = self.screen(PROGRAM, "catch:2", "cuda", "launch:30", "say:ready", f"await:{go}")
        screen.read_until(rb"ready")
        self.wait_for_kernels(30)
        screen.type(b"\x03")
        screen.read_until(rb"caught 02\r\n")
        go.touch()
        rest = screen.read_until(rb"ledger +complete")
        self.assertNotIn(b"caught", rest)
        self.assertEqual(screen.wait(), 0)
        self.assertEqual(self.kernels(), 30)

    def test_ctrl_c_that_ends_the_program_finds_its_session_sealed(self):
        screen = self.screen(PROGRAM, "cuda", "launch:30", "say:ready", "sleep:60000")
        screen.read_until(rb"ready")
        self.wait_for_kernels(30)
        screen.type(b"\x03")
        screen.read_until(rb"ledger +complete")
        self.assertEqual(screen.wait(), 128 + signal.SIGINT)
        self.assertEqual(self.kernels(), 30)

    def test_a_program_that_reads_gets_the_terminal(self):
        screen = self.screen("cat")
        screen.type(b"hello\n")
        screen.read_until(rb"hello\r\n.*hello\r\n")
        screen.type(b"again\n")
        screen.read_until(rb"again\r\n.*again\r\n")
        screen.type(b"\x04")
        screen.read_until(rb"nothing was recorded")
        self.assertEqual(screen.wait(), 0)

    def test_ctrl_z_stops_both_and_a_continued_job_goes_on(self):
        go = self.folder / "go"
        screen = self.screen(PROGRAM, "cuda", "launch:5", "say:ready", f"await:{go}", "launch:7")
        screen.read_until(rb"ready")
        pid = self.wait_for_process()["pid"]
        screen.type(b"\x1a")
        _, status = os.waitpid(screen.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        wait_until(lambda: state(pid) == "T", "the program's stop")
        os.kill(screen.pid, signal.SIGCONT)
        wait_until(lambda: state(pid) != "T", "the program to go on")
        go.touch()
        screen.read_until(rb"kernels +12 ")
        self.assertEqual(screen.wait(), 0)

    def test_no_progress_where_nobody_looks(self):
        screen = self.screen(PROGRAM, "cuda", "sleep:1500", options=["--quiet"])
        self.assertEqual(screen.wait(), 0)
        self.assertEqual(screen.rest(), b"")
        ended = run(GPUFL, "trace", "-o", self.output, "--", PROGRAM, "sleep:1500", **self.variables)
        self.assertNotIn("\x1b", ended.stderr)

    def test_a_terminal_that_goes_takes_the_program_along(self):
        screen = self.screen(PROGRAM, "cuda", "launch:5", "say:ready", "sleep:60000")
        screen.read_until(rb"ready")
        self.wait_for_kernels(5)
        pid = self.wait_for_process()["pid"]
        os.kill(screen.pid, signal.SIGHUP)
        self.assertEqual(screen.wait(), 128 + signal.SIGHUP)
        self.assertFalse(is_alive(pid))
        self.assertEqual(self.verdict(), 0)


if __name__ == "__main__":
    main()
