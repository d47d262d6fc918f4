#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpufl serve --data and gpufl admin from outside: a server that is killed while it is sent to."""

import hashlib
import http.client
import json
import random
import re
import shutil
import signal
import subprocess
import threading
import unittest

from hosted import HostedTest
from monitor_process import GPUFL, PATIENCE_S, environment, run, wait_until
from served import REPOSITORY, SESSIONS, TORCH

SESSION = SESSIONS / "h200_torch"
RECORDINGS = REPOSITORY / "tests" / "replay" / "recordings"
WITH_EVERY_FILE = ("h200_in_loop_sync", "h200_stalls")
GUIDE = REPOSITORY / "docs" / "guide" / "host-a-server.md"


class HostingTest(HostedTest):
    def store(self, *arguments):
        return run(GPUFL, "store", *arguments, "--data", self.data)

    def test_nothing_of_it_is_for_other_users_of_the_machine(self):
        self.start()
        self.make_key()
        self.assertEqual(self.data.stat().st_mode & 0o077, 0)
        for path in self.data.rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        self.assertIn("#invitation=", (self.data / "first-login").read_text())
        second = run(GPUFL, "serve", "--data", self.data, "--listen", "127.0.0.1:0")
        self.assertEqual(second.returncode, 2)
        self.assertIn("another server uses", second.stderr)
        open_to_all = run(GPUFL, "serve", "--data", self.data, "--listen", "0.0.0.0:0")
        self.assertEqual(open_to_all.returncode, 64)
        self.assertIn("--allow-plain-http", open_to_all.stderr)

    def test_a_low_limit_of_open_files_is_said(self):
        self.start()
        self.server.end()
        self.assertNotIn("open files", self.server.log.read_text())
        self.start(before=("sh", "-c", 'ulimit -n 600; exec "$@"', "sh"))
        headers = self.make_key()
        self.assertEqual(self.server.ask("GET", "/api/v1/ingest", headers)[0], 200)
        self.server.end()
        said = self.server.log.read_text()
        self.assertRegex(said, r"600 open files is enough for 50 connections.*where 1200.*raise it to 5200")

    def test_a_password_comes_from_the_input_and_logs_in(self):
        self.start()
        said = self.admin_says("password", "admin", typed="a long enough password\n")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn("gpufl admin user add admin --role ROLE --workspace NAME", said.stderr)
        body = json.dumps({"user": "admin", "password": "a long enough password"})
        headers = {"Content-Type": "application/json"}
        wait_until(lambda: self.server.ask("POST", "/api/v1/login", headers, body)[0] == 200, "the login")
        self.assertIn("password set", self.admin("audit"))
        self.assertEqual(self.admin_says("password", "nobody", typed="x\n").returncode, 2)
        self.admin("user", "add", "admin", "--role", "admin")
        said = self.admin_says("password", "admin", typed="a long enough password\n")
        self.assertNotIn("has no role", said.stderr)
        self.assertTrue((self.data / "first-login").exists())
        self.server.end()
        self.start()
        self.assertFalse((self.data / "first-login").exists(), "there is a login")

    def test_all_files_of_a_session_are_taken(self):
        self.start()
        key = self.make_key()["Authorization"].removeprefix("Bearer ")
        for name in WITH_EVERY_FILE:
            shutil.copytree(RECORDINGS / name, self.folder / "logs" / name)
        sent = run(GPUFL, "upload", "--all", self.folder / "logs", HOME=str(self.folder),
                   GPUFL_BACKEND_URL=f"http://127.0.0.1:{self.server.port}", GPUFL_API_KEY=key)  # fmt: skip
        self.assertEqual(sent.returncode, 0, sent.stdout + sent.stderr)
        kept = {one.read_bytes() for one in self.data.glob("workspaces/1/sessions/*/*") if one.is_file()}
        files = [one for one in (self.folder / "logs").glob("*/*") if one.is_file()]
        self.assertIn("symbols.ndjson", {one.name for one in files})
        for file in files:
            self.assertIn(file.read_bytes(), kept, file)

    def test_retention_is_said_and_shown(self):
        self.start()
        said = self.admin("workspace", "retention")
        self.assertEqual(said, "sessions stay until somebody deletes them, as much as fits; "
                               "deleted ones can come back for 30 days; readings of GPUs stay "
                               "7, 30, 90, 365, 1825 days (of 1 s, 10 s, 1 min, 10 min, 1 h)\n")  # fmt: skip
        said = self.admin("workspace", "retention", "--days", "90", "--size", "1G", "--deleted-days", "7")
        self.assertIn("sessions stay 90 days, ", said)
        self.assertEqual(self.admin("workspace", "retention"), said)
        self.assertIn("until somebody deletes them", self.admin("workspace", "retention", "--days", "0"))
        self.assertIn("retention set", self.admin("audit"))
        self.assertEqual(self.admin_says("workspace", "retention", "--days", "-1").returncode, 64)
        said = self.admin("workspace", "retention", "--health-days", "1,2,3,4,0")
        self.assertIn("stay 1, 2, 3, 4, 0 days", said)
        for wrong in ("1,2,3,4", "1,2,3,4,5,6", "a,2,3,4,5", "1,2,3,4,-5", "1 2 3 4 5"):
            with self.subTest(wrong):
                self.assertEqual(self.admin_says("workspace", "retention", "--health-days", wrong).returncode, 64)
        self.assertEqual(self.admin_says("workspace", "retention", "--workspace", "none").returncode, 2)

    def test_a_backup_is_checked_when_it_is_restored(self):
        self.start()
        headers = self.make_key()
        manifest = (SESSION / "manifest.ndjson").read_bytes()
        target = f"/api/v1/events/stream?session={TORCH}&kind=manifest&version=1"
        self.assertEqual(self.server.ask("POST", target, headers, manifest)[0], 200)
        backup, restored = self.data.parent / "backup", self.data.parent / "restored"
        self.assertEqual(self.store("backup", backup).returncode, 0)
        first = json.loads(self.server.ask("GET", "/api/v1/ingest", headers)[1])["generation"]
        self.server.end()
        self.data = restored
        done = self.store("restore", backup)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.start()
        self.assertNotEqual(json.loads(self.server.ask("GET", "/api/v1/ingest", headers)[1])["generation"], first)
        answer = self.server.ask("POST", target, headers, manifest)
        self.assertEqual(json.loads(answer[1])["state"], "known")
        self.assertEqual(self.store("restore", backup).returncode, 2)
        kept = next(backup.rglob("manifest.ndjson"))
        kept.write_bytes(manifest[:-1])
        self.data = self.data.parent / "third"
        refused = self.store("restore", backup)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the backup is damaged", refused.stderr)
        self.assertFalse(self.data.exists())
        self.assertEqual(run(GPUFL, "store", "restore", self.data, "--data", self.data).returncode, 2)

    def test_a_server_that_is_killed_keeps_what_it_acknowledged(self):
        self.start()
        headers = self.make_key()
        window = (SESSION / "system.1.log.zst").read_bytes()
        queries = [(f"kind=window&channel={path.name.split('.')[0]}&number=1", path.read_bytes())
                   for path in sorted(SESSION.glob("*.log.zst"))]  # fmt: skip
        queries.append(("kind=manifest&version=1", (SESSION / "manifest.ndjson").read_bytes()))
        acknowledged = set()
        moments = random.Random(21)
        for _ in range(12):
            server = self.server
            enough = threading.Event()
            wanted = moments.randrange(1, 30)

            def send_until_it_dies():
                count = 0
                try:
                    while True:
                        query, body = moments.choice(queries)
                        status, _ = server.ask(
                            "POST", f"/api/v1/events/stream?session={TORCH}&{query}", headers, body)  # fmt: skip
                        if status == 200:
                            acknowledged.add(query)
                        count += 1
                        if count >= wanted:
                            enough.set()
                except (OSError, http.client.HTTPException):
                    enough.set()

            senders = [threading.Thread(target=send_until_it_dies) for _ in range(3)]
            for sender in senders:
                sender.start()
            self.assertTrue(enough.wait(PATIENCE_S))
            server.end(signal.SIGKILL)
            for sender in senders:
                sender.join()
            self.start()
            status, answer = self.server.ask("GET", f"/api/v1/ingest/sessions/{TORCH}", headers)
            self.assertEqual(status, 200)
            there = json.loads(answer)
            known = {(one["channel"], one["sha256"]) for one in there["windows"]}
            for query, body in queries:
                if query not in acknowledged:
                    continue
                if "manifest" in query:
                    self.assertIn("manifest", there)
                else:
                    channel = re.search(r"channel=(\w+)", query)[1]
                    self.assertIn((channel, hashlib.sha256(body).hexdigest()), known)
        self.assertEqual(len(acknowledged), len(queries))
        self.assertEqual(self.store("check").returncode, 0)
        copy = self.data.with_name("copy")
        self.assertEqual(self.store("backup", copy).returncode, 0)
        self.server.end()
        self.data = copy
        self.start()
        self.assertEqual(self.server.ask("GET", f"/api/v1/ingest/sessions/{TORCH}", headers), (status, answer))
        kept = next(self.data.glob("workspaces/*/sessions/*/manifest.ndjson")).parent
        self.assertEqual((kept / "system.1.log.zst").read_bytes(), window)
        self.assertEqual(run(GPUFL, "verify", kept).stdout.splitlines()[1:],
                         run(GPUFL, "verify", SESSION).stdout.splitlines()[1:])  # fmt: skip

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_the_guide_sends_a_session(self):
        self.start()
        key = self.make_key()["Authorization"].removeprefix("Bearer ")
        script = next(block for block in re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.S) if "curl" in block)
        script = script.replace("SERVER=http://127.0.0.1:9486", f"SERVER={self.server.address.rstrip('/')}")
        ended = subprocess.run(["bash", "-e", "-c", script], cwd=REPOSITORY, env={**environment(), "KEY": key},
                               capture_output=True, text=True, timeout=PATIENCE_S)  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout.count('"stored"'), 4, ended.stdout)
        self.assertIn(f'"page":"w/default/#/s/{TORCH}"', ended.stdout)


if __name__ == "__main__":
    unittest.main()
