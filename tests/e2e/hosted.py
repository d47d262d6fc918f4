# SPDX-License-Identifier: Apache-2.0
"""Starts `gpufl serve --data` for the tests beside this file, and ends it whatever happens."""

import http.client
import pathlib
import signal
import subprocess
import tempfile
import unittest

from monitor_process import GPUFL, PATIENCE_S, environment, wait_until


class Hosted:
    """A running server. `before` runs the program: its words come first."""

    def __init__(self, data, port=0, before=(), **variables):
        self.data = pathlib.Path(data)
        with open(self.log, "ab") as log:
            told = log.tell()
            self.process = subprocess.Popen(
                [*map(str, before), GPUFL, "serve", "--data", data, "--listen", f"127.0.0.1:{port}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
                env=environment(**variables))  # fmt: skip
        self.address = self.process.stdout.readline().removeprefix("GPUFlight on ").strip()
        if not self.address:
            self.process.communicate(timeout=PATIENCE_S)
            raise AssertionError(self.log.read_bytes()[told:].decode())
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    @property
    def log(self):
        return self.data.with_name("server.log")

    def exchange(self, method, target, headers=(), body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, target, body=body, headers=dict(headers))
            response = connection.getresponse()
            return response.status, response.read(), dict(response.getheaders())
        finally:
            connection.close()

    def ask(self, method, target, headers=(), body=None):
        return self.exchange(method, target, headers, body)[:2]

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE_S)


class HostedTest(unittest.TestCase):
    """`data` is the server's folder, `server` the latest that was started."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl_hosting_", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"
        self.server = None

    def start(self, **options):
        server = Hosted(self.data, **options)
        self.addCleanup(lambda: server.process.poll() is None and server.end(signal.SIGKILL))
        self.server = server

    def admin_says(self, *arguments, typed="", **variables):
        return subprocess.run([GPUFL, "admin", *map(str, arguments), "--data", str(self.data)], input=typed,
                              capture_output=True, text=True, timeout=PATIENCE_S, env=environment(**variables))  # fmt: skip

    def admin(self, *arguments, typed=""):
        ended = self.admin_says(*arguments, typed=typed)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def make_key(self, *options):
        """Headers that show it, once the server knows it."""
        key = self.admin("key", "add", "test", *options).strip()
        self.assertRegex(key, r"^gpfl_[0-9a-f]{56}$")
        headers = {"Authorization": f"Bearer {key}"}
        wait_until(lambda: self.server.ask("GET", "/api/v1/ingest", headers)[0] == 200, "the key")
        return headers
