# SPDX-License-Identifier: Apache-2.0
"""The live view on a real (pseudo) terminal: it shows, follows the size, and puts all back."""

import os
import re
import signal
import termios
import unittest

from monitor_process import MonitorTest
from pseudo_terminal import Screen

ENTER, LEAVE = b"\x1b[?1049h\x1b[?25l", b"\x1b[?25h\x1b[?1049l"
FRAMES = 100  # ten seconds of them


class Terminal(MonitorTest):
    def start_screen(self, *arguments, **options):
        options.setdefault("GPUFL_BACKEND", "synthetic")
        return Screen(self, "monitor", "--interval", "100ms", "--output", self.output, *arguments, **options)

    def assert_put_back(self, screen):
        tail = screen.read_until(re.escape(LEAVE) + rb".*session [^\r\n]+\r\n")
        self.assertIn(b"gpufl monitor: stopped by", tail)
        self.assertEqual(screen.wait(), 0)
        self.assertEqual(termios.tcgetattr(screen.slave), screen.before)
        self.assert_verdict(0)

    def test_q_stops_and_all_is_put_back(self):
        screen = self.start_screen()
        shown = screen.read_until(rb"GPU 0.*q or Ctrl-C stops")
        self.assertIn(ENTER, shown)
        screen.read_until(rb"gpu \[\x1b\[32m\|+\x1b\[0m")  # a bar, in colour
        self.assertFalse(termios.tcgetattr(screen.slave)[3] & termios.ECHO)
        screen.type(b"x")
        screen.type(b"q")
        self.assert_put_back(screen)

    def test_ctrl_c_stops(self):
        screen = self.start_screen()
        screen.read_until(rb"q or Ctrl-C stops")
        screen.type(b"\x03")
        self.assert_put_back(screen)

    def test_sigterm_stops(self):
        screen = self.start_screen()
        screen.read_until(rb"q or Ctrl-C stops")
        os.kill(screen.pid, signal.SIGTERM)
        self.assert_put_back(screen)

    def test_follows_the_size(self):
        screen = self.start_screen(rows=40, columns=100)
        screen.read_until(rb"GPU 0.*q or Ctrl-C stops")
        screen.resize(10, 30)
        os.kill(screen.pid, signal.SIGWINCH)
        # Frames of the old size may still be on their way, and until the first sample less is shown.
        for _ in range(FRAMES):
            frame = screen.read_until(rb"\x1b\[H.*?\x1b\[J")
            rows = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", frame).replace(b"\r", b"").split(b"\n")
            if len(rows) == 10 and max(map(len, rows)) <= 30:
                break
        else:
            self.fail(f"no frame of 10 rows and 30 columns came; the last: {frame!r}")
        screen.type(b"q")
        self.assert_put_back(screen)

    def test_no_color(self):
        screen = self.start_screen(NO_COLOR="1")
        shown = screen.read_until(rb"GPU 0.*q or Ctrl-C stops") + screen.read_until(rb"gpu \[\|+")
        screen.type(b"q")
        shown += screen.read_until(re.escape(LEAVE))
        self.assertNotRegex(shown, rb"\x1b\[[0-9;]*m")

    def test_dumb_terminal_gets_no_screen(self):
        screen = self.start_screen("--duration", "300ms", TERM="dumb")
        shown = screen.read_until(rb"stopped by")
        self.assertNotIn(b"\x1b", shown)
        self.assertEqual(screen.wait(), 0)


if __name__ == "__main__":
    unittest.main()
