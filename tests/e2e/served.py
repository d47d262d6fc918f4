# SPDX-License-Identifier: Apache-2.0
"""Starts `gpufl serve` and `gpufl open` for the tests beside this file, and ends them whatever happens."""

import http.client
import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from monitor_process import GPUFL, PATIENCE_S, environment

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SESSIONS = REPOSITORY / "examples" / "sessions"
TORCH = "20261115T224904.846623Z-c3bd847cafc2abbd"
GPT = "20261115T025201.878899Z-5534e996bde20d62"


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.reason = response.reason
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = body

    def json(self):
        return json.loads(self.body)


class Served:
    """A running server, as its printed address reaches it."""

    def __init__(self, process, address):
        self.process = process
        self.address = address
        self.url = urllib.parse.urlsplit(address)
        self.port = self.url.port
        self.token = urllib.parse.parse_qs(self.url.query)["token"][0]

    def send(self, target, headers=(), method="GET", body=None, has_token=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        sent = dict(headers)
        if has_token:
            sent["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request(method, target, body=body, headers=sent)
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def api(self, path, **options):
        return self.send("/api/v1" + path, **options)

    def finished(self, path):
        """What an analysis or an index answers once it is ready."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_ready(answer := self.api(path)):
            assert time.monotonic() < deadline, f"{path} is not ready"
            time.sleep(0.05)
        return answer


def is_ready(answer):
    if answer.status == 202:
        assert answer.headers["retry-after"], answer.headers
        assert answer.json()["state"] in ("queued", "running", "indexing"), answer.body
        return False
    if answer.status != 200 or not answer.headers.get("content-type", "").startswith("application/json"):
        return True
    document = answer.json()
    return not isinstance(document, dict) or document.get("is_complete", True)


class ServeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-serve-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.cache = self.folder / "cache"

    def start(self, *arguments, verb="serve", log=None, **variables):
        """Returns once it has printed its address."""
        extra = ["--listen", "127.0.0.1:0"] if verb == "serve" else []
        stderr = open(log or self.folder / "stderr", "wb")
        process = subprocess.Popen(
            [str(GPUFL), verb, *map(str, arguments), *extra, "--cache", str(self.cache)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment(**variables),
        )
        stderr.close()

        def end():
            process.kill()
            process.wait()
            process.stdout.close()

        self.addCleanup(end)
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        self.assertTrue(found, f"{line!r} {(log or self.folder / 'stderr').read_bytes()}")
        return Served(process, found.group())


def files_below(folder):
    """What is there, and when it was last changed."""
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }
