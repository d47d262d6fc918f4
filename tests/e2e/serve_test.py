#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpufl serve from outside: who may ask, every endpoint, results that are those of the commands."""

import gzip
import http.client
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import unittest
import urllib.parse

from import_cli_test import torch_trace
from monitor_process import GPUFL, PATIENCE_S, run, wait_until
from served import GPT, SESSIONS, TORCH, ServeTest, files_below


def open_where_read(pipe):
    """Nothing where nobody reads it."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


class WhoMayAsk(ServeTest):
    def test_the_token_becomes_a_cookie(self):
        served = self.start(SESSIONS)
        self.assertEqual(served.send("/api/v1/sessions", has_token=False).status, 401)
        first = served.send(f"/?token={served.token}", has_token=False)
        self.assertEqual((first.status, first.headers["location"]), (303, "./"))
        cookie = first.headers["set-cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        self.assertNotIn(served.token, cookie)
        with_cookie = {"Cookie": cookie.split(";")[0]}
        answer = served.send("/api/v1/sessions", with_cookie, has_token=False)
        self.assertEqual(answer.status, 200)
        self.assertFalse([name for name in answer.headers if name.startswith("access-control")])
        # A server on another port of this host may have set one of that name, too.
        both = {"Cookie": f"{cookie.split('=')[0]}=other; {cookie.split(';')[0]}"}
        self.assertEqual(served.send("/api/v1/sessions", both, has_token=False).status, 200)
        wrong = served.send("/?token=" + "0" * 64, has_token=False)
        self.assertEqual(wrong.status, 401)
        self.assertEqual(wrong.headers["content-type"], "application/problem+json")

    def test_hosts_and_sites_that_are_not_meant_are_refused(self):
        served = self.start(SESSIONS)
        for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", "127.0.0.1:1"):
            self.assertEqual(served.api("/sessions", headers={"Host": host}).status, 421, host)
        for host in (f"localhost:{served.port}", f"[::1]:{served.port}"):
            self.assertEqual(served.api("/sessions", headers={"Host": host}).status, 200, host)
        notes = f"/sessions/{TORCH}/notes"
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Sec-Fetch-Site": "cross-site"}):  # fmt: skip
            sent = {**headers, "Content-Type": "application/json"}
            self.assertEqual(served.api(notes, headers=sent, method="PUT", body="{}").status, 403)
        self.assertEqual(served.api(notes).json(), {"text": "", "tags": []})

    def test_health_needs_no_token_and_metrics_do(self):
        served = self.start(SESSIONS)
        self.assertEqual(served.send("/healthz", has_token=False).body, b"ok\n")
        self.assertEqual(served.send("/metrics", has_token=False).status, 401)
        metrics = served.send("/metrics").body
        self.assertIn(b"\ngpufl_server_sessions 2\n", metrics)
        self.assertIn(b"\ngpufl_server_late_handlers 0\n", metrics)
        page = served.send("/", has_token=False)
        self.assertIn("default-src 'none'", page.headers["content-security-policy"])
        self.assertIn(b"GPUFlight", page.body)

    def test_the_log_has_every_request_and_no_token(self):
        served = self.start(SESSIONS, "--log-format", "json", log=self.folder / "log")
        served.send(f"/?token={served.token}", has_token=False)
        served.api("/sessions?q=x")
        served.process.send_signal(signal.SIGTERM)
        self.assertEqual(served.process.wait(timeout=PATIENCE_S), 0)
        text = (self.folder / "log").read_text()
        self.assertNotIn(served.token, text)
        logged = [json.loads(line) for line in text.splitlines()]
        self.assertEqual([(one["path"], one["status"]) for one in logged],
                         [("/", 303), ("/api/v1/sessions", 200)])  # fmt: skip

    def test_strangers_who_trickle_lock_nobody_out(self):
        served = self.start(SESSIONS)
        host = f"Host: 127.0.0.1:{served.port}\r\n"
        body = "Content-Length: 1000000\r\n\r\n{"
        heads = (f"PUT /x HTTP/1.1\r\n{host}{body}", f"PUT /healthz HTTP/1.1\r\n{host}{body}",
                 f"GET / HTTP/1.1\r\n{host}{body}", f"GET /x HTTP/1.1\r\n{host}")  # fmt: skip
        strangers = []
        for i in range(3 * 64):
            stranger = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
            self.addCleanup(stranger.close)
            stranger.sendall(heads[i % len(heads)].encode())
            strangers.append(stranger)
            if i % 16 == 15:
                self.assertEqual(served.api("/sessions").status, 200, i)
        # Of the last ones, which had not to make room.
        for stranger in strangers[-4:-1]:
            self.assertEqual(stranger.recv(12), b"HTTP/1.1 401")
        self.assertEqual(served.send("/healthz", has_token=False).status, 200)

    def test_a_whole_address_as_the_target_is_checked_as_host_is(self):
        served = self.start(SESSIONS)
        self.assertEqual(served.send(f"http://127.0.0.1:{served.port}/api/v1/sessions").status, 200)
        refused = served.send("http://evil.example/api/v1/sessions")
        self.assertEqual((refused.status, refused.reason), (421, "Misdirected Request"))

    def test_public_urls_that_cannot_be_are_refused(self):
        for url in ("https://x:99999", "https://x/a\r\nSet-Cookie: b", "https://x/a%0d%0a", "https://x/api", "x"):
            ended = run(GPUFL, "serve", SESSIONS, "--public-url", url, "--listen", "127.0.0.1:0", "--cache", self.cache)
            self.assertEqual(ended.returncode, 64, ended.stderr)
            self.assertIn("write it as https://HOST/PATH", ended.stderr)
            self.assertNotIn("\r", ended.stderr)

    def test_only_loopback(self):
        for address in ("0.0.0.0:0", "[::]:0", "192.0.2.1:80"):
            ended = run(GPUFL, "serve", SESSIONS, "--listen", address, "--cache", self.cache)
            self.assertEqual(ended.returncode, 64, ended.stderr)
            self.assertIn("is not a loopback address", ended.stderr)
        ended = run(GPUFL, "serve", self.folder / "absent", "--cache", self.cache)
        self.assertEqual(ended.returncode, 2)
        served = self.start(SESSIONS)
        taken = run(GPUFL, "serve", SESSIONS, "--listen", served.port, "--cache", self.cache)
        self.assertEqual(taken.returncode, 2, taken.stderr)
        served.process.send_signal(signal.SIGINT)
        self.assertEqual(served.process.wait(timeout=PATIENCE_S), 0)


class Endpoints(ServeTest):
    def test_lists(self):
        served = self.start(SESSIONS)
        listed = served.api("/sessions").json()
        self.assertEqual([s["id"] for s in listed["sessions"]], [TORCH, GPT])
        self.assertIsNone(listed["next_cursor"])
        commands = {s["session"]["session_id"]: s for s in json.loads(run(GPUFL, "sessions", SESSIONS, "--json").stdout)}
        for one in listed["sessions"]:
            same = commands[one["id"]]
            for name in ("state", "kernels", "duration_ns", "bytes"):
                self.assertEqual(one[name], same[name], name)
        page = served.api("/sessions?limit=1").json()
        self.assertEqual([s["id"] for s in page["sessions"]], [TORCH])
        rest = served.api(f"/sessions?limit=1&cursor={page['next_cursor']}").json()
        self.assertEqual([s["id"] for s in rest["sessions"]], [GPT])
        self.assertIsNone(rest["next_cursor"])
        self.assertEqual(served.api("/sessions?q=TRAINING").json()["matches"], 1)
        self.assertEqual(served.api("/sessions?sort=start").json()["sessions"][0]["id"], GPT)
        for wrong in ("limit=0", "sort=color", "cursor=zz", "nothing=1", "limit=1&limit=2"):
            self.assertEqual(served.api(f"/sessions?{wrong}").status, 400, wrong)
        self.assertEqual(len(served.api("/runs").json()["runs"]), 2)
        self.assertEqual(len(served.api("/hosts").json()["hosts"]), 2)
        self.assertEqual({d["name"] for d in served.api("/devices").json()["devices"]}, {"NVIDIA H200"})
        run_of = served.api(f"/sessions/{TORCH}").json()["run"]
        self.assertEqual(served.api(f"/runs/{run_of}").json()["sessions"][0]["id"], TORCH)

    def test_an_unchanged_answer_is_not_sent_again(self):
        served = self.start(SESSIONS)
        etag = served.api("/sessions").headers["etag"]
        again = served.api("/sessions", headers={"If-None-Match": etag})
        self.assertEqual((again.status, again.body), (304, b""))
        served.finished(f"/sessions/{GPT}/sections")
        etag = served.api(f"/sessions/{GPT}/sections/kernels").headers["etag"]
        again = served.api(f"/sessions/{GPT}/sections/kernels", headers={"If-None-Match": etag})
        self.assertEqual(again.status, 304)
        packed = served.api(f"/sessions/{GPT}/sections/kernels", headers={"Accept-Encoding": "gzip"})
        self.assertEqual(packed.headers["content-encoding"], "gzip")
        json.loads(gzip.decompress(packed.body))

    def test_sections_are_those_of_the_report(self):
        served = self.start(SESSIONS)
        for session, name in ((TORCH, "h200_torch"), (GPT, "h200_gpt")):
            report = json.loads(run(GPUFL, "report", SESSIONS / name, "--format", "json").stdout)
            listed = served.finished(f"/sessions/{session}/sections").json()
            self.assertTrue(listed["is_current"])
            names = [section["name"] for section in listed["sections"]]
            self.assertEqual(names, [n for n in report if n not in ("format", "version", "kind")])
            for section in names:
                answer = served.finished(f"/sessions/{session}/sections/{section}")
                self.assertEqual(answer.json(), report[section], section)
            self.assertEqual(served.finished(f"/sessions/{session}/report").json(), report)
            self.assertEqual(served.api(f"/sessions/{session}/sections/format").status, 404)

    def test_a_part_of_a_session_is_reported_as_such(self):
        served = self.start(SESSIONS)
        lines = run(GPUFL, "cat", SESSIONS / "h200_torch", "kernel").stdout.splitlines()
        starts = sorted(json.loads(line)["start_ns"] for line in lines)
        first, last = starts[len(starts) // 4], starts[len(starts) // 2]
        part = f"?from={first}&to={last}"
        report = served.finished(f"/sessions/{TORCH}/report{part}").json()
        self.assertEqual(report["options"]["window"], {"start_ns": first, "end_ns": last})
        self.assertEqual(report["kernels"]["count"], sum(first <= start < last for start in starts))
        kernels = served.finished(f"/sessions/{TORCH}/sections/kernels{part}").json()
        self.assertEqual(kernels, report["kernels"])
        self.assertIsNone(served.finished(f"/sessions/{TORCH}/sections/options").json()["window"])
        self.assertEqual(served.api(f"/sessions/{TORCH}/report?from=5&to=5").status, 400)
        self.assertEqual(served.api(f"/sessions/{TORCH}/report?from=x").status, 400)

    def test_all_ranks_of_a_launch_are_one_run(self):
        traces = []
        for rank in (0, 1):
            traces.append(self.folder / f"rank{rank}.json")
            traces[-1].write_text(torch_trace(rank))
        logs = self.folder / "logs"
        self.assertEqual(run(GPUFL, "import", *traces, "--output", logs).returncode, 0)
        shutil.copytree(SESSIONS / "h200_gpt", logs / "h200_gpt")
        served = self.start(logs)
        runs = served.api("/runs").json()["runs"]
        (together,) = [one for one in runs if len(one["sessions"]) == 2]
        listed = served.api(f"/runs/{together['id']}").json()["sessions"]
        self.assertEqual([session["rank"] for session in listed], [0, 1])
        self.assertEqual(served.api(f"/sessions?run={together['id']}").json()["matches"], 2)
        folder = (logs / listed[0]["path"]).parent
        told = json.loads(run(GPUFL, "report", folder, "--format", "json").stdout)
        self.assertEqual(told["kind"], "run")
        self.assertEqual(served.finished(f"/runs/{together['id']}/report").json(), told)
        (alone,) = [one for one in runs if len(one["sessions"]) == 1]
        self.assertEqual(served.api(f"/runs/{alone['id']}/report").status, 404)

    def test_kernels_comparisons_and_flame_graphs(self):
        served = self.start(SESSIONS)
        told = run(GPUFL, "report", SESSIONS / "h200_torch", "--kernel", "CatArray*", "--source", "--format", "json")
        answer = served.finished(f"/sessions/{TORCH}/code?kernel=CatArray*")
        self.assertEqual(answer.json(), json.loads(told.stdout))
        for name in ("zzz", "/../zzz", "operator/<%20>"):
            none = served.finished(f"/sessions/{TORCH}/code?kernel={urllib.parse.quote(name)}").json()
            self.assertEqual((none["status"], name in none["detail"]), (404, True))
        self.assertEqual(served.finished(f"/sessions/{TORCH}/code?kernel=MulFunctor").status, 400)
        paths = [SESSIONS / "h200_gpt", SESSIONS / "h200_torch"]
        told = run(GPUFL, "diff", *paths, "--format", "json").stdout
        self.assertEqual(served.finished(f"/diff?a={GPT}&b={TORCH}").json(), json.loads(told))
        told = run(GPUFL, "gate", paths[1], "-b", paths[0], "--max-increase", "7%", "--format", "json").stdout
        gate = f"/gate?baseline={GPT}&candidate={TORCH}&max_increase=7%25"
        self.assertEqual(served.finished(gate).json(), json.loads(told))
        self.assertEqual(served.finished(f"/gate?baseline={GPT}&candidate={TORCH}&max_increase=7").status, 400)
        self.assertEqual([served.api(f"/diff?a={GPT}{b}").status for b in ("", "&b=zzz")], [400, 404])
        self.assertIn("speedscope", served.finished(f"/sessions/{TORCH}/flame").json()["$schema"])

    def test_exports_are_those_of_the_command(self):
        served = self.start(SESSIONS)
        for target in ("perfetto", "chrome", "speedscope", "pprof", "json"):
            output = self.folder / target
            told = run(GPUFL, "export", SESSIONS / "h200_torch", "--to", target, "-o", output)
            answer = served.api(f"/sessions/{TORCH}/export?format={target}")
            self.assertEqual(answer.status, 200 if told.returncode == 0 else 400, answer.body[:200])
            if told.returncode == 0:
                self.assertEqual(answer.body, output.read_bytes(), target)
                self.assertIn(TORCH, answer.headers["content-disposition"])
        run(GPUFL, "export", SESSIONS / "h200_torch", "--to", "csv", "-o", self.folder / "csv")
        answer = served.api(f"/sessions/{TORCH}/export?format=csv")
        with tarfile.open(fileobj=io.BytesIO(answer.body)) as archive:
            tables = {m.name.split("/")[1]: archive.extractfile(m).read() for m in archive.getmembers()}
        expected = {p.name: p.read_bytes() for p in (self.folder / "csv").iterdir()}
        self.assertEqual(tables, expected)
        wait_until(lambda: not list((self.cache / "exports").iterdir()), "the scratch folder to go")
        self.assertEqual(served.api(f"/sessions/{TORCH}/export?format=exe").status, 400)

    def test_an_export_of_a_session_with_a_long_name(self):
        logs = self.folder / "logs"
        recorder = subprocess.Popen(
            [GPUFL, "monitor", "--output", logs, "--interval", "10ms", "--backend", "synthetic"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        grown = wait_until(lambda: [p for p in logs.glob("*/system.log") if p.stat().st_size > 5000], "rows")
        recorder.kill()
        recorder.wait()
        # As a log says it that somebody else wrote.
        folder = grown[0].parent
        name = "x" * 5000 + '"\r\n'
        for file in folder.glob("*.*"):
            file.write_text(file.read_text().replace(folder.name, json.dumps(name)[1:-1]))
        served = self.start(logs)
        (session,) = served.api("/sessions").json()["sessions"]
        path = "/sessions/" + urllib.parse.quote(session["id"], safe="")
        for target, ending in (("csv", r"\.csv\.tar"), ("json", r"\.json")):
            answer = served.api(f"{path}/export?format={target}")
            self.assertEqual(answer.status, 200, answer.body[:300])
            self.assertRegex(answer.headers["content-disposition"], rf'^attachment; filename="x[\w-]{{1,60}}{ending}"$')
        with tarfile.open(fileobj=io.BytesIO(served.api(f"{path}/export?format=csv").body)) as archive:
            self.assertTrue(archive.getnames())
            for file in archive.getnames():
                self.assertRegex(file, r"^x{20,60}-csv/\w+\.csv$")

    def test_windows_are_the_files(self):
        served = self.start(SESSIONS)
        windows = served.api(f"/sessions/{TORCH}/windows").json()["windows"]
        self.assertEqual({w["state"] for w in windows}, {"sealed"})
        for window in windows:
            answer = served.api(f"/sessions/{TORCH}/windows/{window['name']}")
            whole = (SESSIONS / "h200_torch" / window["name"]).read_bytes()
            self.assertEqual(answer.body, whole)
            self.assertEqual(answer.headers["accept-ranges"], "bytes")
            self.parts_are_of(served, f"/sessions/{TORCH}/windows/{window['name']}", whole, answer.headers["etag"])
        for wrong in ("manifest.ndjson", "device.9.log.zst", "..", "%2e%2e%2fx", "device.1.log.zst%00"):
            self.assertIn(served.api(f"/sessions/{TORCH}/windows/{wrong}").status, (400, 404), wrong)

    def parts_are_of(self, served, path, whole, etag):
        size = len(whole)
        for asked, expected in (("0-9", whole[:10]), (f"{size - 5}-", whole[-5:]), ("-7", whole[-7:]),
                                (f"1-{size + 9}", whole[1:])):  # fmt: skip
            part = served.api(path, headers={"Range": f"bytes={asked}", "Accept-Encoding": "gzip"})
            self.assertEqual((part.status, part.body), (206, expected), asked)
            first = whole.find(expected)
            self.assertEqual(part.headers["content-range"], f"bytes {first}-{first + len(expected) - 1}/{size}")
            self.assertEqual(part.headers["etag"], etag)
            self.assertNotIn("content-encoding", part.headers)
        beyond = served.api(path, headers={"Range": f"bytes={size}-"})
        self.assertEqual((beyond.status, beyond.headers["content-range"]), (416, f"bytes */{size}"))
        self.assertEqual(beyond.headers["content-type"], "application/problem+json")
        for headers, status in (({"If-Range": etag}, 206), ({"If-Range": '"other"'}, 200),
                                ({"If-None-Match": etag}, 304)):  # fmt: skip
            answer = served.api(path, headers={"Range": "bytes=0-0", **headers})
            self.assertEqual(answer.status, status, headers)
        self.assertEqual(served.api(path, headers={"Range": "bytes=0-1,4-5"}).body, whole)

    def test_notes_stay_in_the_cache(self):
        served = self.start(SESSIONS)
        path = f"/sessions/{GPT}/notes"
        json_type = {"Content-Type": "application/json"}
        notes = {"text": "slow since Monday, \u00fc", "tags": ["baseline", "h200"]}
        put = served.api(path, headers=json_type, method="PUT", body=json.dumps(notes))
        self.assertEqual((put.status, put.json()), (200, notes))
        self.assertEqual(served.api(f"/sessions/{GPT}").json()["tags"], notes["tags"])
        stale = {**json_type, "If-Match": '"0"'}
        self.assertEqual(served.api(path, headers=stale, method="PUT", body="{}").status, 412)
        for wrong in ("[]", "{", '{"x":1}', '{"tags":[1]}', '{"tags":[""]}', '{"text":1}',
                      json.dumps({"text": "x" * 70_000}), json.dumps({"tags": ["t"] * 33})):  # fmt: skip
            answer = served.api(path, headers=json_type, method="PUT", body=wrong)
            self.assertEqual(answer.status, 400, wrong[:40])
        self.assertEqual(served.api(path, method="PUT", body="{}").status, 415)
        self.assertEqual(served.api(path).json(), notes)

    def test_openapi_describes_what_is_served(self):
        served = self.start(SESSIONS)
        document = served.api("/openapi.json").json()
        self.assertEqual(document["openapi"], "3.1.0")
        self.assertIn("/api/v1/sessions/{session}/sections/{section}", document["paths"])
        for path, item in document["paths"].items():
            for method, operation in item.items():
                # Another method, or a parameter that is not there, is refused.
                target = path.replace("{session}", TORCH).replace("{", "").replace("}", "")
                self.assertEqual(served.send(f"{target}?no_such=1", method=method.upper()).status, 400, path)
                self.assertTrue(operation["summary"])
            self.assertEqual(served.send(target, method="DELETE").status, 405, path)

    def test_hostile_ids_are_not_found(self):
        served = self.start(SESSIONS)
        for hostile in ("..", "../..", "%2e%2e", "%2e%2e%2f%2e%2e%2fetc", "%00", "a%00b", "h200_gpt",
                        "x" * 5000, "%ff%fe", "%0d%0aX:1", "{session}", "*", "<script>"):  # fmt: skip
            for below in ("", "/sections", "/windows", "/notes", "/export", "/windows/x"):
                target = f"/api/v1/sessions/{hostile}{below}"
                if not hostile.isascii() or "<" in hostile:
                    target = urllib.parse.quote(target)
                answer = served.send(target)
                self.assertIn(answer.status, (400, 404), target[:80])
                self.assertEqual(answer.headers["content-type"], "application/problem+json")
        self.assertEqual(served.send("/healthz").status, 200)


class Robustness(ServeTest):
    def test_nothing_is_written_beside_the_sessions(self):
        logs = self.folder / "logs"
        shutil.copytree(SESSIONS, logs)
        before = files_below(logs)
        served = self.start(logs)
        for session in (TORCH, GPT):
            served.finished(f"/sessions/{session}/sections")
            served.finished(f"/sessions/{session}/flame")
            served.finished(f"/sessions/{session}/code?kernel=a")
            served.api(f"/sessions/{session}/export?format=csv")
        self.assertEqual(files_below(logs), before)
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)

    def test_after_a_kill_results_are_found_again(self):
        first = self.start(SESSIONS)
        first.finished(f"/sessions/{TORCH}/sections")
        kept = first.api(f"/sessions/{TORCH}/sections/ledger").body
        first.process.kill()
        first.process.wait()
        second = self.start(SESSIONS)
        answer = second.api(f"/sessions/{TORCH}/sections/ledger")
        self.assertEqual((answer.status, answer.body), (200, kept))
        self.assertIn(b"\ngpufl_server_analyses_started_total 0\n", second.send("/metrics").body)
        self.assertNotEqual(first.token, second.token)
        # Damaged, it is made again.
        (result,) = (self.cache / "results").iterdir()
        result.write_bytes(result.read_bytes()[:300])
        self.assertEqual(second.finished(f"/sessions/{TORCH}/sections/ledger").body, kept)

    def test_a_handler_that_does_not_end_does_not_keep_it_from_stopping(self):
        logs = self.folder / "logs"
        shutil.copytree(SESSIONS, logs)
        served = self.start(logs)
        events = f"/sessions/{TORCH}/events"
        served.finished(f"{events}?limit=1")
        # Whoever opens one waits for a writer, and then for what it writes, which is nothing.
        pipes = sorted(logs.glob("h200_torch/*.zst"))
        for pipe in pipes:
            pipe.unlink()
            os.mkfifo(pipe)
        client = socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S)
        self.addCleanup(client.close)
        head = f"Host: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n\r\n"
        client.sendall(f"GET /api/v1{events} HTTP/1.1\r\n{head}".encode())
        writers = []
        wait_until(lambda: writers.extend(filter(None, map(open_where_read, pipes))) or writers, "the handler to read")
        self.addCleanup(os.close, writers[0])
        served.process.send_signal(signal.SIGTERM)
        self.assertEqual(served.process.wait(timeout=PATIENCE_S), 0)
        self.assertIn("stopped, but 1 request is still at work", (self.folder / "stderr").read_text())

    def test_what_is_too_large_says_so(self):
        served = self.start(SESSIONS, "--analysis-memory", "16M")
        answer = served.finished(f"/sessions/{TORCH}/sections")
        if answer.status == 200:
            self.skipTest("this build does not limit its children's memory")
        self.assertEqual(answer.status, 507, answer.body)
        self.assertIn("--analysis-memory allows; start the server with more than 16.00 MiB", answer.json()["detail"])
        self.assertEqual(served.api(f"/sessions/{TORCH}/export").status, 507)
        self.assertEqual(served.api("/sessions").status, 200)

    def test_sessions_come_and_go_while_it_runs(self):
        logs = self.folder / "logs"
        logs.mkdir()
        served = self.start(logs)
        self.assertEqual(served.api("/sessions").json()["sessions"], [])
        events = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
        self.addCleanup(events.close)
        events.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {served.token}"})
        stream = events.getresponse()
        self.assertEqual(stream.getheader("Content-Type"), "text/event-stream")
        self.assertEqual(self.next_event(stream)[0], "hello")
        shutil.copytree(SESSIONS / "h200_gpt", logs / "h200_gpt")
        self.assertEqual(self.next_session_event(stream, "appeared"), GPT)
        served.finished(f"/sessions/{GPT}/sections")
        shutil.rmtree(logs / "h200_gpt")
        self.assertEqual(self.next_session_event(stream, "removed"), GPT)
        self.assertEqual(served.api(f"/sessions/{GPT}/sections").status, 404)

    def test_a_session_in_the_place_of_another_has_its_own_name(self):
        logs = self.folder / "logs"
        shutil.copytree(SESSIONS / "h200_gpt", logs / "latest")
        served = self.start(logs)
        self.assertEqual(served.api(f"/sessions/{GPT}").status, 200)
        shutil.copytree(SESSIONS / "h200_torch", self.folder / "next")
        shutil.rmtree(logs / "latest")
        (self.folder / "next").rename(logs / "latest")
        wait_until(lambda: served.api(f"/sessions/{TORCH}").status == 200, "the other session")
        self.assertEqual(served.api(f"/sessions/{GPT}").status, 404)

    def next_event(self, stream):
        name = data = None
        while True:
            line = stream.readline().decode().rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            if line.startswith("data: "):
                data = json.loads(line[6:])
            if line == "" and name:
                return name, data

    def next_session_event(self, stream, change):
        while True:
            name, data = self.next_event(stream)
            if name == "session" and data["change"] == change:
                return data["id"]

    def test_a_live_session_grows(self):
        logs = self.folder / "logs"
        recorder = subprocess.Popen(
            [GPUFL, "monitor", "--output", logs, "--interval", "10ms", "--backend", "synthetic"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        while not logs.exists():
            self.assertIsNone(recorder.poll())
        served = self.start(logs)
        live = []
        while not live:
            live = served.api("/sessions?state=live").json()["sessions"]
        path = f"/sessions/{live[0]['id']}"
        first = served.finished(f"{path}/sections").json()
        # Analysed again, without being asked to, once there is a quarter more.
        while True:
            now = served.api(f"{path}/sections").json()
            if now["analyzed_log_bytes"] > first["analyzed_log_bytes"]:
                break
        self.assertGreaterEqual(now["analyzed_log_bytes"], first["analyzed_log_bytes"] // 4 * 5)
        raw = served.api(f"{path}/windows/system.log")
        self.assertEqual(raw.headers["content-type"], "application/x-ndjson")
        part = served.api(f"{path}/windows/system.log", headers={"Range": f"bytes=2-{len(raw.body) - 1}", "Accept-Encoding": "gzip"})
        self.assertEqual((part.status, part.body), (206, raw.body[2:]))
        self.assertNotIn("content-encoding", part.headers)
        recorder.send_signal(signal.SIGTERM)
        recorder.wait(timeout=PATIENCE_S)
        while served.api(path).json()["state"] == "live":
            pass
        report = served.finished(f"{path}/report")
        self.assertEqual(report.headers["gpufl-current"], "true")
        (session,) = [p for p in logs.iterdir() if p.is_dir()]
        told = json.loads(run(GPUFL, "report", session, "--format", "json").stdout)
        self.assertEqual(report.json(), told)


if __name__ == "__main__":
    unittest.main()
