#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A link to one session, from outside: what its guests are answered, over every route, and when it ends."""

import gzip
import http.client
import json
import re
import shutil
import time
import unittest
import urllib.parse

from hosted import HostedTest
from monitor_process import GPUFL, PATIENCE_S, run, wait_until
from served import REPOSITORY

RECORDINGS = REPOSITORY / "tests" / "replay" / "recordings"
SHOWN = RECORDINGS / "h200_gpt_step"  # with the text of its source lines
OTHER = RECORDINGS / "h200_sync_in_loop"
PASSWORD = "a long enough password"
ENDS_WITHIN_S = 5
GZIP = b"\x1f\x8b"
MOST_OF_A_KIND = 4  # kernels, groups and events that are asked for one by one


def id_of(session):
    return re.search(r'"session_id":"([^"]+)"', (session / "manifest.ndjson").read_text())[1]


def source_lines(session):
    """Those that are long enough to be nothing else."""
    lines = set()
    for line in (session / "symbols.ndjson").read_text().splitlines():
        entry = json.loads(line)
        if entry["type"] == "source":
            lines |= {text.strip() for text in entry["lines"]}
    return sorted(line for line in lines if len(line) >= 20)


class Guest:
    """Whoever came by a link, with what their browser keeps of it."""

    def __init__(self, server, link):
        self.server = server
        token = link.split("#shared=")[1]
        status, answer, headers = server.exchange(
            "POST", "/api/v1/shared", {"Content-Type": "application/json"}, json.dumps({"token": token}))  # fmt: skip
        self.status = status
        if status != 200:
            return
        self.folder = json.loads(answer)["page"].split("#")[0]
        self.headers = {"Cookie": headers["Set-Cookie"].split(";")[0]}

    def ask(self, path, method="GET"):
        """Of an analysis or an index, what it answers once it is ready."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            status, body = self.server.ask(method, "/" + self.folder + path.lstrip("/"), self.headers)
            if status != 202 or time.monotonic() > deadline:
                return status, body.decode(errors="replace")
            time.sleep(0.05)


class SharedSessionTest(HostedTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.keys = self.make_key()
        self.shown, self.other = id_of(SHOWN), id_of(OTHER)
        for session in (SHOWN, OTHER):
            self.send(session)
        self.admin("user", "add", "ada", "--role", "admin")
        self.admin("password", "ada", typed=PASSWORD + "\n")
        self.log_in("ada")

    def send(self, session):
        for path in sorted(session.glob("*.*")):
            name = path.name.split(".")
            query = {"manifest": "kind=manifest&version=1", "symbols": "kind=symbols&version=1"}.get(
                name[0], f"kind=window&channel={name[0]}&number={name[1]}")  # fmt: skip
            target = f"/api/v1/events/stream?session={id_of(session)}&{query}"
            status, answer = self.server.ask("POST", target, self.keys, path.read_bytes())
            self.assertEqual(status, 200, answer)

    def log_in(self, name):
        body = json.dumps({"user": name, "password": PASSWORD})
        answers = []

        def is_in():
            answers.append(self.server.exchange("POST", "/api/v1/login", {"Content-Type": "application/json"}, body))
            return answers[-1][0] == 200

        wait_until(is_in, "the login")
        self.headers = {"Cookie": answers[-1][2]["Set-Cookie"].split(";")[0], "Content-Type": "application/json",
                        "Origin": self.server.address.rstrip("/")}  # fmt: skip
        wait_until(lambda: self.api("GET", f"/sessions/{self.shown}")[0] == 200, "the session")

    def api(self, method, path, body=None):
        body = None if body is None else json.dumps(body)
        status, answer = self.server.ask(method, f"/w/default/api/v1{path}", self.headers, body)
        return status, json.loads(answer) if answer else None

    def make_link(self, **options):
        status, made = self.api("POST", "/shares", {"session": self.shown, **options})
        self.assertEqual(status, 201, made)
        return made

    def finished(self, path):
        answers = []

        def is_ready():
            answers.append(self.api("GET", path))
            return answers[-1][0] != 202

        wait_until(is_ready, path)
        return answers[-1][1]

    def paths(self, session):
        """Every route there is, with all that a page would ask of this session."""
        of = f"/api/v1/sessions/{session}"
        _, document = self.api("GET", "/openapi.json")
        found = []
        for path, item in document["paths"].items():
            if "get" in item and path != "/api/v1/events":
                found.append(re.sub(r"\{\w+\}", "1", path.replace("{session}", session)))
        sections = [one["name"] for one in self.finished(f"/sessions/{session}/sections")["sections"]]
        found += [f"{of}/sections/{name}" for name in sections]
        kernels = self.finished(f"/sessions/{session}/kernels")["by_name"]
        for kernel in [one["full_name"] for one in kernels[:MOST_OF_A_KIND]]:
            found.append(f"{of}/code?kernel={urllib.parse.quote(kernel, safe='')}")
            found.append(f"{of}/launches?kernel={urllib.parse.quote(kernel, safe='')}")
        report = self.finished(f"/sessions/{session}/sections/kernels")
        for by, groups in report.items():
            if by.startswith("by_") and isinstance(groups, list):
                for group in [one["label"] for one in groups[:MOST_OF_A_KIND] if "label" in one]:
                    found.append(f"{of}/group?by={by}&group={urllib.parse.quote(group, safe='')}")
        events = self.finished(f"/sessions/{session}/events?limit=50")["events"]
        found += [f"{of}/events/{urllib.parse.quote(one['event'], safe='')}" for one in events if one['event']]
        found += [f"{of}/search?q=python", f"{of}/export?format=json", f"{of}/export?format=perfetto", f"{of}/notes",
                  f"{of}/report?from=0", "/metrics", "/healthz", "/",
                  f"/api/v1/diff?a={session}&b={session}"]  # fmt: skip
        return list(dict.fromkeys(found))

    def test_no_answer_has_what_the_link_is_without(self):
        self.api("PUT", "/sharing", {"is_on": True})
        _, detail = self.api("GET", f"/sessions/{self.shown}")
        header = detail["header"]
        lines = source_lines(SHOWN)
        self.assertGreater(len(lines), 10)
        start = [header["command"], "one_step.py /", "/work/main", header["boot_id"], header["os"], str(self.data)]
        other = [self.other, "sync_in_loop", *source_lines(OTHER)]
        plain = Guest(self.server, self.make_link()["link"])
        source = Guest(self.server, self.make_link(source=True)["link"])
        command = Guest(self.server, self.make_link(command=True)["link"])
        seen = {"source": "", "command": ""}
        answered = 0
        for path in self.paths(self.shown):
            for name, guest, hidden in (("plain", plain, start + lines), ("source", source, start),
                                        ("command", command, lines)):  # fmt: skip
                status, text = guest.ask(path)
                answered += status == 200
                plainly = text.replace("\\/", "/")
                for secret in hidden + other:
                    at = plainly.find(json.dumps(secret)[1:-1])
                    self.assertEqual(at, -1, f"{secret} in {name} {path}: {plainly[max(at - 200, 0):at + 200]}")
                if name in seen:
                    seen[name] += plainly
        self.assertGreater(answered, 150)
        # What was withheld is there for those whose link has it.
        self.assertTrue(any(json.dumps(line)[1:-1] in seen["source"] for line in lines))
        self.assertIn(header["command"], seen["command"])
        for path in self.paths(self.other):
            if self.other in path:
                status, text = plain.ask(path)
                self.assertIn(status, (403, 404), path)
                for secret in other[1:]:
                    self.assertNotIn(json.dumps(secret)[1:-1], text, path)

    def test_no_answer_says_where_the_server_keeps_sessions(self):
        self.no_answer_has_a_place_of_the_server()

    def test_nor_where_it_cannot_keep_indexes(self):
        indexes = self.data / "cache" / "index"
        self.server.end()
        shutil.rmtree(indexes)
        indexes.write_text("no folder")
        self.start()
        self.log_in("ada")
        self.no_answer_has_a_place_of_the_server()
        said = self.finished(f"/sessions/{self.shown}/tracks")["problems"]
        self.assertIn("cannot be kept: Not a directory", str(said))
        self.api("PUT", "/sharing", {"is_on": True})
        status, text = Guest(self.server, self.make_link()["link"]).ask(f"/api/v1/sessions/{self.shown}/tracks")
        self.assertEqual((status, json.loads(text)["problems"]), (200, said))

    def no_answer_has_a_place_of_the_server(self):
        kept = next(one for one in (self.data / "workspaces/1/sessions").iterdir()
                    if self.other in (one / "manifest.ndjson").read_text())  # fmt: skip
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_S)
        self.addCleanup(connection.close)
        connection.request("GET", "/w/default/api/v1/events", headers=self.headers)
        stream = connection.getresponse()
        # What is wrong with a session names its files.
        for window in kept.glob("*.log.zst"):
            window.write_bytes(window.read_bytes()[:-9])
        (kept / "scope.7.log").write_text("{}\n")
        wait_until(lambda: self.api("GET", f"/sessions/{self.other}")[1]["state"] == "damaged", "the damage")
        paths = self.paths(self.shown)
        of = f"/api/v1/sessions/{self.shown}"
        paths += [f"{of}/export?format={name}" for name in ("chrome", "speedscope", "pprof", "csv")]
        answered = 0
        for path in dict.fromkeys(paths + [path.replace(self.shown, self.other) for path in paths]):
            status, answer = self.whole_answer(path)
            if answer.startswith(GZIP):
                answer = gzip.decompress(answer)
            answered += status == 200
            at = answer.find(str(self.data).encode())
            self.assertEqual(at, -1, f"{path}: {answer[max(at - 200, 0):at + 200]}")
        self.assertGreater(answered, 150)
        self.assertEqual(self.finished(f"/sessions/{self.shown}/sections/session")["log"], "")
        told = b""
        while b'"analysis"' not in told and b"event: analysis" not in told:
            told += stream.readline()
        self.assertIn(self.other.encode(), told)
        self.assertNotIn(str(self.data).encode(), told)

    def whole_answer(self, path):
        answers = []

        def is_ready():
            answers.append(self.server.ask("GET", f"/w/default{path}", self.headers))
            return answers[-1][0] != 202

        wait_until(is_ready, path)
        return answers[-1]

    def test_files_are_whole_where_they_are_in_the_link(self):
        self.api("PUT", "/sharing", {"is_on": True})
        guest = Guest(self.server, self.make_link(source=True, command=True, files=True)["link"])
        of = f"api/v1/sessions/{self.shown}"
        status, text = guest.ask(f"{of}/windows")
        self.assertEqual(status, 200, text)
        for window in json.loads(text)["windows"]:
            target = f"/{guest.folder}{of}/windows/{window['name']}"
            self.assertEqual(self.server.ask("GET", target, guest.headers)[1], (SHOWN / window["name"]).read_bytes())
        self.assertEqual(guest.ask(f"{of}/export?format=json")[0], 200)
        self.assertEqual(guest.ask(f"api/v1/sessions/{self.other}/windows")[0], 404)

    def test_guests_are_cut_off_within_five_seconds(self):
        self.api("PUT", "/sharing", {"is_on": True})
        made = self.make_link()
        guest = Guest(self.server, made["link"])
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE_S)
        self.addCleanup(connection.close)
        connection.request("GET", f"/{guest.folder}api/v1/events", headers=guest.headers)
        stream = connection.getresponse()
        self.assertEqual(stream.status, 200)
        self.assertIn(b"hello", stream.readline())
        self.admin("share", "revoke", made["id"])  # another program
        revoked = time.monotonic()
        while stream.readline():
            pass
        self.assertLess(time.monotonic() - revoked, ENDS_WITHIN_S)
        self.assertEqual(guest.ask("api/v1/sessions")[0], 401)
        self.assertEqual(Guest(self.server, made["link"]).status, 401)

    def test_an_admin_turns_links_on_and_off_from_outside(self):
        self.assertEqual(self.admin("workspace", "sharing"), "sessions cannot be shared by links\n")
        self.assertEqual(self.api("POST", "/shares", {"session": self.shown})[0], 409)
        self.assertEqual(self.admin("workspace", "sharing", "on"), "members can share sessions by links\n")
        wait_until(lambda: self.api("GET", "/sharing")[1]["is_on"], "the change")
        made = self.make_link(hours=1)
        listed = self.admin("share", "list")
        self.assertIn(f"{made['id']} {self.shown}, by ada, expires ", listed)
        self.assertNotIn(made["link"].split("=")[1], listed)
        guest = Guest(self.server, made["link"])
        self.assertEqual(self.admin_says("share", "revoke", "0123456789abcdef").returncode, 2)
        self.admin("workspace", "sharing", "off")
        wait_until(lambda: guest.ask("api/v1/sessions")[0] == 401, "the end of the link")
        self.assertIn(", ended\n", self.admin("share", "list"))
        audit = self.admin("audit")
        for entry in ("share links turned on", "share link made", "share link used", "share links turned off"):
            self.assertIn(entry, audit)
        self.assertEqual(self.admin_says("workspace", "sharing", "maybe").returncode, 64)

    def test_a_store_with_links_is_checked_and_copied(self):
        self.api("PUT", "/sharing", {"is_on": True})
        made = self.make_link()
        self.assertEqual(run(GPUFL, "store", "check", "--data", self.data).returncode, 0)
        backup = self.data.with_name("backup")
        self.assertEqual(run(GPUFL, "store", "backup", backup, "--data", self.data).returncode, 0)
        self.server.end()
        self.start()
        self.assertEqual(Guest(self.server, made["link"]).status, 200, "a link outlives the server that made it")
        self.server.end()
        self.data = self.data.with_name("restored")
        self.assertEqual(run(GPUFL, "store", "restore", backup, "--data", self.data).returncode, 0)
        self.start()
        self.assertEqual(Guest(self.server, made["link"]).status, 401, "it may have been ended since")
        self.assertIn("members can share", self.admin("workspace", "sharing"))


if __name__ == "__main__":
    unittest.main()
