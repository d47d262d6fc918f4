#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpufl open from outside: what it imports, what it opens, what it prints over SSH."""

import gzip
import signal
import unittest

from import_cli_test import torch_trace
from monitor_process import GPUFL, PATIENCE_S, run
from served import SESSIONS, TORCH, ServeTest


class Open(ServeTest):
    def lines(self, served):
        served.process.send_signal(signal.SIGTERM)
        self.assertEqual(served.process.wait(timeout=PATIENCE_S), 0)
        return served.process.stdout.read()

    def test_a_session_and_nothing_else(self):
        served = self.start(SESSIONS / "h200_torch", verb="open", SSH_CONNECTION="", DISPLAY="")
        listed = served.api("/sessions").json()["sessions"]
        self.assertEqual([session["id"] for session in listed], [TORCH])
        self.assertEqual(served.url.fragment, f"/s/{TORCH}")
        self.assertIn("There is no browser to open here", self.lines(served))

    def test_a_trace_is_imported_into_the_cache_once(self):
        trace = self.folder / "gpt.json.gz"
        trace.write_bytes(gzip.compress(torch_trace(0).encode()))
        for _ in range(2):
            served = self.start(trace, "--no-browser", verb="open", SSH_CONNECTION="")
            (session,) = served.api("/sessions").json()["sessions"]
            self.assertEqual(session["kernels"], 40)
            self.assertEqual(self.lines(served), "")
        self.assertEqual(len(list((self.cache / "imports").iterdir())), 1)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["cache", "gpt.json.gz", "stderr"])  # fmt: skip

    def test_over_ssh_it_prints_how_to_reach_it(self):
        served = self.start(SESSIONS, verb="open", SSH_CONNECTION="192.0.2.1 5 192.0.2.2 22")
        self.assertEqual(served.url.fragment, "/sessions")
        self.assertIn(f"ssh -L {served.port}:127.0.0.1:{served.port} ", self.lines(served))

    def test_the_browser_gets_a_file_and_no_argument_has_the_token(self):
        programs = self.folder / "bin"
        programs.mkdir()
        opened = self.folder / "opened"
        fake = programs / "xdg-open"
        fake.write_text(f'#!/bin/sh\n{{ echo "$1"; cat "$1"; }} > {opened}.new; mv {opened}.new {opened}\n')
        fake.chmod(0o755)
        served = self.start(SESSIONS, verb="open", SSH_CONNECTION="", SSH_TTY="", DISPLAY=":0",
                            PATH=f"{programs}:/usr/bin:/bin")  # fmt: skip
        while not opened.exists():
            pass
        argument, page = opened.read_text().split("\n", 1)
        self.assertNotIn(served.token, argument)
        self.assertIn(served.address, page)
        self.assertEqual((self.cache / "open.html").stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.lines(served), "")

    def test_what_cannot_be_opened_says_why(self):
        (self.folder / "notes.txt").write_text("nothing")
        for what, says in (("absent", "no such file"), ("notes.txt", "notes.txt"), (".", "no session")):
            ended = run(GPUFL, "open", self.folder / what, "--cache", self.cache)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertIn(says, ended.stderr)
        self.assertFalse([p for p in (self.cache / "imports").iterdir()])


if __name__ == "__main__":
    unittest.main()
