# SPDX-License-Identifier: Apache-2.0
"""`gpufl serve --data` for the benchmarks beside this file."""

import http.client
import pathlib
import re
import signal
import subprocess
import time


class Server:
    """Begins anew on the same port and data after it has been ended."""

    def __init__(self, gpufl, data):
        self.gpufl, self.data = gpufl, data
        self.port = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.gpufl, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}"],
            stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)/", self.process.stdout.readline())[1])

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()

    def make_key(self, scope):
        key = subprocess.run([self.gpufl, "admin", "key", "add", scope, "--scope", scope, "--data", self.data],
                             check=True, capture_output=True, text=True).stdout.strip()  # fmt: skip
        path = "/api/v1/ingest" if scope == "ingest" else "/api/v1/sessions"
        while self.ask(self.connect(), key, "GET", path)[0] == 401:
            time.sleep(0.1)
        return key

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)

    def ask(self, connection, key, method, target, body=None):
        connection.request(method, target, body=body, headers={"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        return response.status, response.read()

    def send(self, connection, key, query, body):
        status, answer = self.ask(connection, key, "POST", f"/api/v1/events/stream?{query}", body)
        if status != 200:
            raise RuntimeError(f"{query}: {status} {answer[:300]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.end()


def memory_mb(pid, what="VmRSS"):
    """VmHWM: the most there ever was."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{what}:\s+(\d+) kB", status)[1]) / 1000


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def share_of(values, share):
    return sorted(values)[int(share * (len(values) - 1))]
