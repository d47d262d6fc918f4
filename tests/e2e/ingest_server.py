# SPDX-License-Identifier: Apache-2.0
"""A server that takes sessions as docs/design/hosting.md says, in memory, for tests of what sends them."""

import hashlib
import http.server
import json
import subprocess
import threading
import urllib.parse


def make_key(digit="1"):
    key = "gpfl_" + digit * 48
    return key + hashlib.sha256(key.encode()).hexdigest()[:8]


KEY = make_key()


class IngestServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api_path="/api/v1"):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api_path = api_path
        self.lock = threading.Lock()
        self.sessions = {}
        self.mischief = None  # given the query of a POST; a status, or None
        self.requests = []  # method and path
        self.senders = set()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def close(self):
        self.shutdown()
        self._thread.join()
        self.server_close()

    def windows(self):
        """Of the only session: names and sealed bytes; text of those that have no seal."""
        with self.lock:
            (session,) = self.sessions.values()
            return {name: w["sealed"] or w["live"] for name, w in session["windows"].items()}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def reply(self, status, **fields):
        body = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        try:
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:  # whoever asked was killed
            self.close_connection = True

    def is_known(self):
        with self.server.lock:
            self.server.requests.append((self.command, urllib.parse.urlsplit(self.path).path))
        if self.headers.get("Authorization") == f"Bearer {KEY}":
            return True
        self.reply(401, title="Unauthorized")
        return False

    def do_GET(self):
        if not self.is_known():
            return
        api, path = self.server.api_path, urllib.parse.unquote(self.path)
        if path == f"{api}/ingest":
            return self.reply(200, workspace="team", page="w/team/")
        name = path.removeprefix(f"{api}/ingest/sessions/")
        with self.server.lock:
            session = self.server.sessions.get(name)
            if session is None:
                return self.reply(404, title="Not Found")
            windows = [
                {
                    "channel": channel, "number": number, "end": str(len(w["live"])),
                    "state": "sealed" if w["sealed"] else "final" if w["final"] else "live",
                    "sha256": hashlib.sha256(w["sealed"] or w["live"]).hexdigest(),
                }
                for (channel, number), w in session["windows"].items()
            ]  # fmt: skip
            versions = {
                kind: {"version": str(version), "sha256": hashlib.sha256(data).hexdigest()}
                for kind, (version, data) in session["whole"].items()
            }
            self.reply(200, state="open", page=f"w/team/#/s/{name}", windows=windows,
                       modules=list(session["modules"]), **versions)  # fmt: skip

    def do_POST(self):
        if self.headers.get("Expect"):
            self.send_response_only(100)
            self.end_headers()
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_known():
            return
        url = urllib.parse.urlsplit(self.path)
        if url.path != f"{self.server.api_path}/events/stream":
            return self.reply(404, title="Not Found")
        query = dict(urllib.parse.parse_qsl(url.query))
        if self.headers.get("Content-Encoding") == "zstd":
            body = subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=True).stdout
        with self.server.lock:
            self.server.senders.add(query.get("host"))
            status = self.server.mischief and self.server.mischief(query)
            if status:
                return self.reply(status, title="mischief")
            session = self.server.sessions.setdefault(
                query["session"], {"windows": {}, "whole": {}, "modules": {}}
            )
            self.take(session, query, body)

    def take(self, session, query, body):
        kind = query["kind"]
        if kind == "module":
            session["modules"][query["hash"]] = body
        elif kind not in ("window", "live"):
            if int(query["version"]) > 2**53:
                return self.reply(400, title="Wrong parameter")
            if int(query["version"]) < session["whole"].get(kind, (0, b""))[0]:
                return self.reply(200, state="superseded")
            session["whole"][kind] = (int(query["version"]), body)
        else:
            window = session["windows"].setdefault(
                (query["channel"], query["number"]), {"sealed": b"", "live": b"", "final": False}
            )
            if kind == "window":
                assert hashlib.sha256(body).hexdigest() == query["sha256"]
                if window["sealed"] not in (b"", body):
                    return self.reply(409, title="conflict", state="conflict")
                window["sealed"] = body
            elif window["sealed"]:
                return self.reply(200, state="superseded")
            elif int(query["offset"]) != len(window["live"]):
                return self.reply(409, title="elsewhere", expected=str(len(window["live"])))
            else:
                window["live"] += body
                window["final"] = query.get("final") == "1"
                return self.reply(200, state="stored", end=str(len(window["live"])))
        self.reply(200, state="stored")
