# SPDX-License-Identifier: Apache-2.0
"""A proxy between agents and a server that does to requests and answers what networks, other proxies and
broken senders do. What happens to which request is drawn from a seed.

It also holds the server to its word: whatever else arrives, what it has acknowledged stays what it was."""

import collections
import hashlib
import http.client
import random
import socket
import socketserver
import subprocess
import threading
import time
import urllib.parse

PATIENCE_S = 60
REMEMBERED = 100  # requests, for being sent again much later
REFUSALS = ((429, "0"), (429, "1"), (500, None), (502, None), (503, "0"), (503, None), (504, None), (408, None))


class Request:
    def __init__(self, method, target, headers, body):
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query))

    def is_window(self):
        return self.method == "POST" and self.query.get("kind") == "window"

    def with_body(self, body, **query):
        path = self.target.split("?")[0]
        headers = {**self.headers, "content-length": str(len(body))}
        return Request(self.method, path + "?" + urllib.parse.urlencode({**self.query, **query}), headers, body)


class Cut(Exception):
    """The connection to the client ends here."""


class FaultyProxy(socketserver.ThreadingTCPServer):
    """`port` is where agents connect, `server` the port of the server, which may change."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, seed, faults=0.4, silence_s=3.0):
        super().__init__(("127.0.0.1", 0), _Connection)
        self.port = self.server_address[1]
        self.server = None
        self.faults = faults  # how many of all requests meet one; 0: none
        self.silence_s = silence_s  # the longest without a byte
        self.seeded = random.Random(seed)
        self.lock = threading.Lock()
        self.seen = collections.Counter()  # what was done how often
        self.violations = []
        self.old = collections.deque(maxlen=REMEMBERED)
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()

    def close(self):
        self.shutdown()
        self.server_close()
        self.thread.join()

    def handle_error(self, request, client_address):
        pass  # connections end at any moment here

    def draw(self):
        """A fault, a number that it may use, and an older request."""
        with self.lock:
            fault = None
            if self.seeded.random() < self.faults:
                fault = self.seeded.choice(sorted(FAULTS))
            self.seen[fault or "none"] += 1
            older = self.seeded.choice(self.old) if self.old else None
            return FAULTS.get(fault), self.seeded.random(), older

    def forward(self, request, pace_s=0.0):
        """(status, headers, body) of the server, which may not be there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server, timeout=PATIENCE_S)
        try:
            connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                if name not in ("expect", "connection"):
                    connection.putheader(name, value)
            connection.endheaders()
            step = len(request.body) if pace_s == 0 else len(request.body) // 8 + 1
            for at in range(0, len(request.body), max(step, 1)):
                connection.send(request.body[at : at + step])
                time.sleep(pace_s)
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()
        except (OSError, http.client.HTTPException):
            raise Cut from None
        finally:
            connection.close()

    def try_to_forward(self, request):
        try:
            return self.forward(request)
        except Cut:
            return None

    def remember(self, request):
        if request.method == "POST":
            with self.lock:
                self.old.append(request)

    def expect_refused(self, what, answer):
        """None and 5xx: it was not there, or could not look."""
        if answer is not None and 200 <= answer[0] < 300:
            with self.lock:
                self.violations.append(f"{what}: {answer[0]} {answer[2][:200]!r}")


class _Connection(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.settimeout(PATIENCE_S)
        self.left = b""
        try:
            while (request := self.read_request()) is not None:
                fault, number, older = self.server.draw()
                answer = fault(self, request, number, older) if fault else self.server.forward(request)
                self.server.remember(request)
                self.reply(answer)
        except (Cut, OSError):
            pass

    def read_request(self):
        while b"\r\n\r\n" not in self.left:
            part = self.request.recv(65536)
            if not part:
                return None
            self.left += part
        head, _, body = self.left.partition(b"\r\n\r\n")
        first, *fields = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, value in (field.split(":", 1) for field in fields)}
        size = int(headers.get("content-length", "0"))
        if "expect" in headers:
            self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < size:
            part = self.request.recv(1 << 20)
            if not part:
                return None
            body += part
        self.left = body[size:]
        return Request(method, target, headers, body[:size])

    def reply(self, answer):
        self.request.sendall(bytes_of(answer))

    # What can happen. `number` is drawn from [0, 1).

    def refused_unsent(self, request, number, older):
        status, wait = REFUSALS[int(number * len(REFUSALS))]
        headers = [("Retry-After", wait)] if wait else []
        return status, headers, b"busy"

    def cut_before(self, request, number, older):
        raise Cut

    def cut_in_body(self, request, number, older):
        with socket.create_connection(("127.0.0.1", self.server.server), timeout=PATIENCE_S) as server:
            lines = [f"{request.method} {request.target} HTTP/1.1", *map(": ".join, request.headers.items())]
            whole = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + request.body
            server.sendall(whole[: int(number * len(whole))])
        raise Cut

    def cut_after(self, request, number, older):
        self.server.forward(request)
        raise Cut

    def cut_in_answer(self, request, number, older):
        whole = bytes_of(self.server.forward(request))
        self.request.sendall(whole[: int(number * len(whole))])
        raise Cut

    def lost_answer(self, request, number, older):
        self.server.forward(request)
        return 504, [], b"the server has not answered"

    def half_open(self, request, number, older):
        if number < 0.5:
            self.server.forward(request)
        time.sleep(number * self.server.silence_s)
        raise Cut

    def other_page(self, request, number, older):
        return 200, [("Content-Type", "text/html")], b"<html>please log in to the wireless network</html>"

    def slow(self, request, number, older):
        whole = bytes_of(self.server.forward(request, pace_s=0.02))
        for at in range(0, len(whole), 64):
            self.request.sendall(whole[at : at + 64])
            time.sleep(0.002)
        raise Cut

    def closed_when_idle(self, request, number, older):
        self.reply(self.server.forward(request))
        raise Cut

    def sent_twice(self, request, number, older):
        self.server.forward(request)
        return self.server.forward(request)

    def twice_at_once(self, request, number, older):
        other = threading.Thread(target=self.server.try_to_forward, args=(request,))
        other.start()
        answer = self.server.try_to_forward(request)
        other.join()
        if answer is None:
            raise Cut
        return answer

    def late(self, request, number, older):
        """It arrives after what is sent next."""

        def send_it():
            time.sleep(number * 2)
            self.server.try_to_forward(request)

        threading.Thread(target=send_it, daemon=True).start()
        return 504, [("Retry-After", "0")], b""

    def old_one_again(self, request, number, older):
        if older is not None:
            self.server.try_to_forward(older)
        return self.server.forward(request)

    def damaged_copy(self, request, number, older):
        """Beside the true one, and before it."""
        if request.is_window():
            damaged = bytearray(request.body)
            damaged[int(number * len(damaged))] ^= 1 << int(number * 1000) % 8
            self.server.expect_refused("a damaged window", self.server.try_to_forward(request.with_body(bytes(damaged))))
        return self.server.forward(request)

    def other_rows(self, request, number, older):
        """In a window that was acknowledged."""
        answer = self.server.forward(request)
        if request.is_window() and answer[0] == 200:
            other = with_a_line_less(request.body)
            if other is not None:
                digest = hashlib.sha256(other).hexdigest()
                told = self.server.try_to_forward(request.with_body(other, sha256=digest))
                self.server.expect_refused("another window of that number", told)
        return answer


FAULTS = {
    name: function for name, function in vars(_Connection).items()
    if callable(function) and name not in ("handle", "read_request", "reply")
}  # fmt: skip


def bytes_of(answer):
    status, headers, body = answer
    kept = [(name, value) for name, value in headers if name.lower() not in ("content-length", "connection")]
    lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, '')}", *map(": ".join, kept)]
    lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def with_a_line_less(window):
    """A window that is whole, but is another one; None: there is nothing to leave out."""
    lines = zstd("-dc", window).splitlines(keepends=True)
    return zstd("-c", b"".join(lines[:-1])) if len(lines) > 2 else None


def zstd(option, data):
    return subprocess.run(["zstd", "-q", option], input=data, capture_output=True, check=True).stdout
