#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpufl serve --data on a disk that loses what was not synced, and one that fails: what was acknowledged is there.

GPUFL_POWER_ROUNDS sets how often the power is lost, GPUFL_POWER_SEED the moments."""

import errno
import hashlib
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import unittest

from hosted import HostedTest
from monitor_process import GPUFL, PATIENCE_S, run, wait_until
from served import SESSIONS

SHIM = os.environ["GPUFL_POWER_SHIM"]
ROUNDS = int(os.environ.get("GPUFL_POWER_ROUNDS", "8"))
SEED = int(os.environ.get("GPUFL_POWER_SEED", "21"))
SENDERS = 3
JOURNAL_BYTES = 64 << 20  # beyond it, the server begins another
LONG_TEXT = 12 << 20
HEADER = json.loads((SESSIONS / "h200_torch" / "manifest.ndjson").read_text().splitlines()[0])
PASSWORD = "correct horse battery"


def session_id(number):
    return f"20261115T034512Z-{number:016x}"


def text_of(session, number, lines, more=""):
    header = dict(HEADER, session_id=session, channel="system", window=number)
    events = [{"type": "event", "time": i, "name": f"{session} {number}{more}"} for i in range(lines)]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [header, *events])


class Disk:
    """What tests/power/power_loss.cpp notes of a folder."""

    def __init__(self, data, notes):
        self.data = data
        self.notes = notes
        notes.mkdir()

    def environment(self, fault=""):
        return {"LD_PRELOAD": SHIM, "GPUFL_DISK_OF": str(self.data), "GPUFL_DISK": str(self.notes),
                "GPUFL_DISK_FAULT": fault}  # fmt: skip

    def mend(self):
        (self.notes / "mended").touch()

    def lose_power(self, moments):
        """Puts what the disk has in the place of the folder. Of the rest, `moments` says what had been written."""
        folders = {self.data.stat().st_ino: self.data}
        files = {}
        for path in self.data.rglob("*"):
            (folders if path.is_dir() else files)[path.stat().st_ino] = path
        target = self.data.with_name("rebuilt")
        self._build_folder(self.data.stat().st_ino, target, folders, files, moments)
        shutil.rmtree(self.data)
        target.rename(self.data)
        shutil.rmtree(self.notes)
        self.notes.mkdir()

    def _listing(self, inode, folders, moments):
        note = self.notes / f"folder-{inode}"
        if inode in folders and moments.random() < 0.25:
            return [(path.stat().st_ino, path.is_dir(), path.name) for path in folders[inode].iterdir()]
        if not note.exists():
            return []
        lines = (line.split(" ", 2) for line in note.read_text().splitlines())
        return [(int(number), kind == "folder", name) for number, kind, name in lines]

    def _build_folder(self, inode, target, folders, files, moments):
        target.mkdir(mode=0o700)
        for number, is_folder, name in self._listing(inode, folders, moments):
            if is_folder:
                self._build_folder(number, target / name, folders, files, moments)
            elif not name.endswith("-shm"):  # only ever in memory
                note = self.notes / f"file-{number}"
                has_written = number in files and moments.random() < 0.25
                source = files[number] if has_written else note
                (target / name).write_bytes(source.read_bytes() if source.exists() else b"")


class Sender:
    """Sends the windows of a session in order: lines, the file that grows, then the window or the end of its text."""

    def __init__(self, number):
        self.session = session_id(number)
        self.steps = 0  # acknowledged

    def piece(self, step):
        window, part = step // 4 + 1, step % 4
        text = text_of(self.session, window, 12)
        place = f"channel=system&number={window}"
        if part < 2:
            lines = text.splitlines(keepends=True)
            half = "".join(lines[:6])
            return (f"kind=live&{place}&offset=0", half) if part == 0 else (
                f"kind=live&{place}&offset={len(half)}", "".join(lines[6:]))  # fmt: skip
        if part == 2:
            return f"kind=manifest&version={window}", text_of(self.session, 1, window)
        if window % 3 == 0:
            digest = hashlib.sha256(text.encode()).hexdigest()
            return f"kind=live&{place}&offset={len(text)}&final=1&sha256={digest}", ""
        return f"kind=window&{place}", text

    def send(self, server, headers):
        query, body = self.piece(self.steps)
        status, answer = server.ask(
            "POST", f"/api/v1/events/stream?session={self.session}&{query}", headers, body)  # fmt: skip
        if status == 200:
            self.steps += 1
        return status, answer

    def check(self, test, folder):
        """Every file that was acknowledged, byte for byte."""
        for window in range(1, self.steps // 4 + 1):
            name = f"system.{window}.log" + ("" if window % 3 == 0 else ".zst")
            test.assertEqual((folder / name).read_text(), text_of(self.session, window, 12), f"{folder} {name}")
        window, part = self.steps // 4 + 1, self.steps % 4
        if part > 0:
            text = text_of(self.session, window, 12)
            least = text if part > 1 else "".join(text.splitlines(keepends=True)[:6])
            found = [folder / f"system.{window}.log{end}" for end in ("", ".zst")]
            kept = next(path for path in found if path.exists()).read_text()
            test.assertTrue(text.startswith(kept) and kept.startswith(least), f"{folder} window {window}")
        manifest = (self.steps + 1) // 4
        if manifest > 0:
            kept = (folder / "manifest.ndjson").read_text()
            versions = [text_of(self.session, 1, version) for version in (manifest, manifest + 1)]
            test.assertIn(kept, versions, f"{folder}: manifest {manifest}")


class PowerLossTest(HostedTest):
    def setUp(self):
        super().setUp()
        self.disk = Disk(self.data, self.folder / "disk")

    def start(self, fault=""):
        super().start(**self.disk.environment(fault))
        return self.server

    def admin_says(self, *arguments, typed=""):
        return super().admin_says(*arguments, typed=typed, **self.disk.environment())

    def log_in(self, server):
        self.admin("user", "add", "admin", "--role", "admin")
        self.admin("password", "admin", typed=PASSWORD + "\n")
        body = json.dumps({"user": "admin", "password": PASSWORD})
        asked = {"Content-Type": "application/json", "Origin": server.address.rstrip("/")}
        wait_until(lambda: server.ask("POST", "/api/v1/login", asked, body)[0] == 200, "the login")
        cookie = server.exchange("POST", "/api/v1/login", asked, body)[2]["Set-Cookie"].split(";")[0]
        return {"Cookie": cookie, "Origin": server.address.rstrip("/")}

    def folder_of(self, number):
        return self.data / "workspaces" / "1" / "sessions" / str(number)

    def check(self, senders):
        found = run(GPUFL, "store", "check", "--data", self.data)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        by_session = {}
        for folder in (self.data / "workspaces" / "1" / "sessions").iterdir():
            for file in folder.glob("system.*"):
                by_session[json.loads(file.read_text().splitlines()[0])["session_id"]] = folder
        for sender in senders:
            if sender.steps > 0:
                sender.check(self, by_session[sender.session])

    def test_what_was_acknowledged_outlives_every_loss_of_power(self):
        moments = random.Random(SEED)
        senders = [Sender(number) for number in range(SENDERS)]
        server = self.start()
        headers = self.make_key()
        for losses in range(ROUNDS):
            left = threading.Semaphore(0)

            def send_until_it_dies(sender, server=server, left=left):
                try:
                    while True:
                        status, answer = sender.send(server, headers)
                        if status != 200:
                            unexpected.append((status, answer))
                            break
                        left.release()
                except (OSError, http.client.HTTPException):
                    pass
                for _ in range(100):
                    left.release()

            unexpected = []
            threads = [threading.Thread(target=send_until_it_dies, args=(sender,)) for sender in senders]
            for thread in threads:
                thread.start()
            for _ in range(moments.randrange(1, 40)):
                self.assertTrue(left.acquire(timeout=PATIENCE_S))
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            self.assertEqual(unexpected, [])
            self.disk.lose_power(moments)
            server = self.start()
            # Lines that only the journal had are in their files by now.
            self.assertEqual(server.ask("GET", "/api/v1/ingest", headers)[0], 200, f"loss {losses}: the key is gone")
            self.check(senders)
        self.assertGreater(sum(sender.steps for sender in senders), 4 * ROUNDS)

    def test_lines_outlive_a_loss_of_power_while_their_journal_gives_way(self):
        moments = random.Random(SEED)
        server = self.start()
        headers = self.make_key()
        for round_ in range(2):
            texts = {session_id(100 * (round_ + 1) + number): None for number in range(JOURNAL_BYTES // LONG_TEXT + 1)}
            for session in texts:
                texts[session] = text_of(session, 1, LONG_TEXT // 1000, "x" * 1000)
                packed = subprocess.run(["zstd", "-qc"], input=texts[session].encode(), capture_output=True, check=True)
                status, answer = server.ask(
                    "POST", f"/api/v1/events/stream?session={session}&kind=live&channel=system&number=1&offset=0",
                    {**headers, "Content-Encoding": "zstd"}, packed.stdout)  # fmt: skip
                self.assertEqual(status, 200, answer)
            # The files of the first journal are synced one after the other, and lines come meanwhile.
            sender = Sender(round_)
            for _ in range(moments.randrange(4)):
                self.assertEqual(sender.send(server, headers)[0], 200)
            server.end(signal.SIGKILL)
            self.disk.lose_power(moments)
            server = self.start()
            self.assertEqual(server.ask("GET", "/api/v1/ingest", headers)[0], 200)
            self.check([sender])
            found = [path.read_text() for path in self.data.glob("workspaces/1/sessions/*/system.1.log")]
            for session, text in texts.items():
                self.assertIn(text, found, session)

    def test_lines_whose_sync_failed_are_written_again(self):
        server = self.start(f"fsync 1 {errno.EIO} /system.")
        headers = self.make_key()
        person = self.log_in(server)
        sender = Sender(1)
        for _ in range(2):
            self.assertEqual(sender.send(server, headers)[0], 200)
        # Deleting it syncs its lines, and is refused where that fails. The system forgets what it could not write.
        target = f"/w/default/api/v1/received/{sender.session}"
        self.assertEqual(server.ask("DELETE", target, person)[0], 503)
        server.end(signal.SIGTERM)
        self.disk.lose_power(random.Random(1))
        server = self.start()
        self.check([sender])

    def test_a_session_that_is_deleted_keeps_its_lines(self):
        server = self.start()
        headers = self.make_key()
        person = self.log_in(server)
        sender = Sender(1)
        for _ in range(2):
            self.assertEqual(sender.send(server, headers)[0], 200)
        target = f"/w/default/api/v1/received/{sender.session}"
        self.assertEqual(server.ask("DELETE", target, person)[0], 204)
        server.end(signal.SIGTERM)
        moments = random.Random(1)
        moments.random = lambda: 1.0  # nothing but what was synced
        self.disk.lose_power(moments)
        server = self.start()
        self.assertEqual(server.ask("POST", target + "/restore", self.log_in(server))[0], 204)
        self.check([sender])

    def test_after_a_sync_of_a_folder_failed_nothing_is_acknowledged(self):
        server = self.start()
        headers = self.make_key()
        server.end(signal.SIGTERM)
        server = self.start(f"fsync 1 {errno.EIO} /sessions")
        senders = [Sender(number) for number in range(2)]
        for _ in range(4):
            for sender in senders:
                self.assertEqual(sender.send(server, headers)[0], 503)
        server.end(signal.SIGKILL)
        self.disk.lose_power(random.Random(2))
        server = self.start()
        for sender in senders:
            for _ in range(8):
                self.assertEqual(sender.send(server, headers)[0], 200)
        self.check(senders)

    def test_every_call_that_fails_costs_an_answer_and_no_data(self):
        server = self.start()
        headers = self.make_key()
        server.end(signal.SIGTERM)
        sender = Sender(1)
        moments = random.Random(SEED)
        for code in (errno.EIO, errno.ENOSPC):
            for call in ("write", "fsync"):
                part = moments.choice(["journal/", "catalogue.db", "incoming/"])
                fault = f"{call} {moments.randrange(1, 30)} {code} /{part}"
                try:
                    server = self.start(fault)
                except AssertionError as refused:  # it says so, and does not start
                    self.assertRegex(str(refused), "gpufl serve: ")
                    continue
                for _ in range(40):
                    status, answer = sender.send(server, headers)
                    self.assertIn(status, (200, 503, 507), f"{fault}: {answer}")
                server.end(signal.SIGKILL)
                self.disk.lose_power(moments)
                server = self.start()
                self.check([sender])
                server.end(signal.SIGTERM)

    def test_a_full_disk_is_no_reason_not_to_start(self):
        server = self.start()
        headers = self.make_key()
        sender = Sender(1)
        self.assertEqual(sender.send(server, headers)[0], 200)
        server.end(signal.SIGKILL)
        server = self.start(f"open 1+ {errno.ENOSPC} /journal/")
        self.assertEqual(server.ask("GET", f"/api/v1/ingest/sessions/{sender.session}", headers)[0], 200)
        self.assertEqual(sender.send(server, headers)[0], 507)
        self.disk.mend()
        wait_until(lambda: sender.send(server, headers)[0] == 200, "room for lines")
        self.check([sender])


if __name__ == "__main__":
    unittest.main()
