# SPDX-License-Identifier: Apache-2.0
"""Runs `gpufl` on a pseudo terminal, for the tests beside this file."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from monitor_process import GPUFL, PATIENCE_S, environment


class Screen:
    """`gpufl` with these arguments, in the foreground of a terminal of its own."""

    def __init__(self, test, *arguments, rows=40, columns=100, **variables):
        self.master, slave = pty.openpty()
        test.addCleanup(os.close, self.master)
        self.slave = slave
        test.addCleanup(os.close, slave)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(slave)
        self.output = b""
        self.pid = os.fork()
        if self.pid == 0:
            self._log_in()
            os.execve(GPUFL, [str(a) for a in (GPUFL, *arguments)],
                      environment(**{"TERM": "xterm-256color"} | variables))  # fmt: skip
        self.code = None
        test.addCleanup(self._end)

    def _log_in(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(self.slave, number)

    def _end(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def resize(self, rows, columns):
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, size)

    def read_until(self, pattern):
        """What came since the last call, up to and with the first match of `pattern`."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.output, re.DOTALL)):
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"{pattern} did not come; instead: {self.output!r}")
            self.output += os.read(self.master, 65536)
        seen, self.output = self.output[: found.end()], self.output[found.end() :]
        return seen

    def rest(self):
        """What came since the last read_until(), when nothing more will."""
        while select.select([self.master], [], [], 0)[0]:
            self.output += os.read(self.master, 65536)
        return self.output

    def type(self, keys):
        os.write(self.master, keys)

    def wait(self):
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code
