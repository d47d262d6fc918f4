#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server for others comes back from while agents go on: disks that fail or fill, old backups, clocks that
jump, retention, readers that do not read, stores of other versions. The rows that it has then are those of the logs.

Runs itself again where it may mount a small disk; GPUFL_POWER_SHIM and GPUFL_CLOCK_SHIM are libraries of tests/power."""

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

from fleet import Comparison, Fleet
from hosted import HostedTest
from monitor_process import GPUFL, PATIENCE_S, run, wait_until
from served import GPT, SESSIONS

DISK_SHIM = os.environ.get("GPUFL_POWER_SHIM")
CLOCK_SHIM = os.environ.get("GPUFL_CLOCK_SHIM")
MOUNTS = "GPUFL_TEST_MOUNTS"
FIRST_STORE = pathlib.Path(__file__).with_name("first_store.sql")
IS_SANITIZED = b"__asan_init" in GPUFL.read_bytes()
SEED = 21
DAY_S = 86_400


class RecoveryTest(HostedTest):
    def setUp(self):
        super().setUp()
        self.start()
        self.port = self.server.port
        self.key = self.make_key()
        self.fleet = Fleet(self.folder, self.key["Authorization"].removeprefix("Bearer "), self.port)
        self.addCleanup(self.fleet.close)

    def start_again(self, **options):
        self.start(port=self.port, **options)

    def send_window(self):
        """Of the first of those that add_recorded() adds."""
        window = (SESSIONS / "h200_gpt" / "system.1.log.zst").read_bytes()
        target = f"/api/v1/events/stream?session={GPT}&kind=window&channel=system&number=1"
        return self.server.ask("POST", target, self.key, window)

    def add_recorded(self):
        while self.fleet.recorded:
            self.fleet.add_recorded()

    def sealed_windows(self):
        return len(list(self.data.glob("workspaces/1/sessions/*/*.zst")))

    def wait_for_windows(self, more):
        wanted = self.sealed_windows() + more
        wait_until(lambda: self.sealed_windows() >= wanted, f"{more} more windows")

    def wait_for_trouble(self, text):
        """Until an agent has said so; `text` is a regular expression."""
        log = self.folder / "fleet.log"
        try:
            wait_until(lambda: re.search(text, log.read_text()), text)
        except AssertionError as late:
            raise AssertionError(log.read_text()[-2000:]) from late

    def check_all(self):
        drained = self.fleet.end()
        self.assertEqual(drained.returncode, 0, drained.stderr)
        Comparison(self.fleet.sessions(), self.data).check(self)
        self.check_store()

    def check_store(self):
        checked = run(GPUFL, "store", "check", "--data", self.data)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    @unittest.skipUnless(DISK_SHIM, "the library that lets calls fail cannot be preloaded here")
    def test_a_disk_that_fails_for_a_while_costs_time_only(self):
        self.fleet.start_agent()
        self.fleet.start_monitor()
        moments = random.Random(SEED)
        notes = self.folder / "disk"
        for call, code, part in (
            ("write", errno.EIO, "/journal/"), ("fsync", errno.EIO, "/incoming/"), ("fsync", errno.EIO, "/sessions"),
            ("write", errno.ENOSPC, "/catalogue.db"), ("open", errno.ENOSPC, "/incoming/"),
        ):  # fmt: skip
            with self.subTest(call=call, part=part):
                self.server.end()
                shutil.rmtree(notes, ignore_errors=True)
                notes.mkdir()
                number = moments.randrange(1, 4) if part != "/catalogue.db" else moments.randrange(60, 90)
                # One that does not wait as long as the last server has asked for.
                self.fleet.kill_agent()
                self.fleet.start_agent()
                self.start_again(LD_PRELOAD=DISK_SHIM, GPUFL_DISK_OF=str(self.data), GPUFL_DISK=str(notes),
                                 GPUFL_DISK_FAULT=f"{call} {number}+ {code} {part}")  # fmt: skip
                wait_until((notes / "failed").exists, f"{call} of {part} to fail")
                time.sleep(0.5)
                (notes / "mended").touch()
        self.server.end()
        self.start_again()
        self.check_all()

    @unittest.skipUnless(os.environ.get(MOUNTS), "no disk can be mounted here")
    def test_a_small_disk_that_fills(self):
        self.server.end()
        kept = self.data.rename(self.folder / "before")
        self.data.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m,mode=700", "tmpfs", self.data], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.data], check=True)
        shutil.copytree(kept, self.data, dirs_exist_ok=True)
        self.start_again()
        self.fleet.start_agent()
        self.fleet.start_monitor()
        self.wait_for_windows(1)
        others = self.data / "what-others-have-written"
        with open(others, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        wait_until(lambda: self.send_window()[0] == 507, "a full disk")
        self.assertEqual(self.server.ask("GET", "/api/v1/ingest", self.key)[0], 200)
        self.wait_for_trouble("disk is full|No space left")
        self.server.end(signal.SIGKILL)
        self.start_again()
        self.assertEqual(self.server.ask("GET", "/api/v1/ingest", self.key)[0], 200)
        self.assertEqual(self.send_window()[0], 507)
        others.unlink()
        wait_until(lambda: self.send_window()[0] == 200, "room")
        self.add_recorded()
        self.check_all()

    def test_a_server_that_is_restored_from_an_old_backup(self):
        self.fleet.start_agent()
        self.fleet.start_monitor()
        self.wait_for_windows(1)
        backup = self.folder / "backup"
        self.assertEqual(run(GPUFL, "store", "backup", backup, "--data", self.data).returncode, 0)
        # One that is over, and of which nothing more comes: only the agent knows that it was there.
        self.fleet.add_recorded()
        (ended,) = (path for path in self.fleet.logs.iterdir() if path.name.startswith("h200"))
        names = {path.name for path in ended.glob("*.zst")}

        def is_there():
            found = self.data.glob("workspaces/1/sessions/*/device.1.log.zst")
            return any({path.name for path in one.parent.iterdir()} >= names for one in found)

        wait_until(is_there, "the recorded session")
        self.server.end(signal.SIGKILL)
        self.wait_for_trouble("cannot connect")
        self.data.rename(self.folder / "broken")
        restored = run(GPUFL, "store", "restore", backup, "--data", self.data)
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertFalse(is_there())
        self.start_again()
        wait_until(is_there, "the recorded session once more, by the agent that has sent it")
        self.check_all()

    @unittest.skipUnless(CLOCK_SHIM, "the library that moves the clock cannot be preloaded here")
    def test_clocks_that_jump(self):
        file = self.folder / "step"
        file.write_bytes(struct.pack("=q", 0))
        moved = {"LD_PRELOAD": CLOCK_SHIM, "GPUFL_CLOCK_STEP": str(file)}

        def step(seconds):
            with open(file, "r+b") as mapped:
                mapped.write(struct.pack("=q", seconds))

        short_lived = self.make_key("--days", "1")
        self.server.end()
        self.start_again(**moved)
        self.fleet.start_agent(**moved)
        self.fleet.start_monitor(**moved)
        for seconds, expected in ((-3600, 200), (2 * DAY_S, 401), (-400 * DAY_S, 200), (40, 200)):
            with self.subTest(seconds=seconds):
                step(seconds)
                self.assertEqual(self.server.ask("GET", "/api/v1/ingest", short_lived)[0], expected)
                self.wait_for_windows(1)
        self.server.end(signal.SIGKILL)
        step(-7200)
        self.start_again(**moved)
        self.wait_for_windows(1)
        self.check_all()

    def test_retention_takes_whole_sessions_while_others_come(self):
        self.admin("workspace", "retention", "--size", "40K", "--deleted-days", "0")
        self.fleet.start_agent()
        for _ in range(2):
            self.fleet.start_monitor("--session-length", "3s")

        def purged():
            with contextlib.closing(sqlite3.connect(self.data / "catalogue.db", timeout=60)) as catalogue:
                return {name for (name,) in catalogue.execute("SELECT name FROM sessions WHERE is_purged = 1")}

        def purged_when_old():
            # What has come within the last hour stays.
            with contextlib.closing(sqlite3.connect(self.data / "catalogue.db", timeout=60)) as catalogue, catalogue:
                hour_ms = 3_600_000
                catalogue.execute(
                    "UPDATE sessions SET changed_ms = changed_ms - ? WHERE changed_ms > ?",
                    (2 * hour_ms, time.time() * 1000 - hour_ms),
                )
            return purged()

        # Nor does what had lines within the last minute, unless the last of them was the end.
        wait_until(purged_when_old, "retention", 2 * PATIENCE_S)
        drained = self.fleet.end()
        self.assertEqual(drained.returncode, 0, drained.stderr)
        self.server.end()
        gone = purged()
        logs = self.fleet.sessions()
        self.assertLess(len(gone), len(logs))
        Comparison({name: folder for name, folder in logs.items() if name not in gone}, self.data).check(self)
        self.check_store()

    def test_readers_that_do_not_read_hold_up_nobody(self):
        reader = self.make_key("--scope", "read")["Authorization"]
        request = (f"GET /w/default/api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                   f"Authorization: {reader}\r\n\r\n").encode()  # fmt: skip
        self.add_recorded()
        self.fleet.start_agent()
        self.fleet.start_monitor()
        with contextlib.ExitStack() as open_until_the_end:
            for _ in range(40):
                one = open_until_the_end.enter_context(socket.socket())
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                one.connect(("127.0.0.1", self.port))
                one.sendall(request * 100)  # more than fits between us
            for _ in range(3):
                self.wait_for_windows(1)
                self.assertEqual(self.send_window()[0], 200)
            status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
            resident = int(re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE).group(1))
            if not IS_SANITIZED:
                self.assertLess(resident, 200_000, "KiB")
        self.check_all()

    def test_a_store_of_the_first_version_is_brought_up_to_date(self):
        """As gpufl of 2026-11-16 left it, with a session and a key."""
        self.server.end()
        shutil.rmtree(self.data)
        kept = self.data / "workspaces" / "1" / "sessions" / "1"
        shutil.copytree(SESSIONS / "h200_gpt", kept)
        self.data.chmod(0o700)
        with contextlib.closing(sqlite3.connect(self.data / "catalogue.db")) as catalogue:
            catalogue.executescript(FIRST_STORE.read_text())
            rows = [("device", kept / "device.1.log.zst"), ("system", kept / "system.1.log.zst")]
            for channel, path in rows:
                catalogue.execute("INSERT INTO windows VALUES (1, ?, 1, 0, ?, ?)", (channel, *hash_and_size(path)))
            catalogue.execute("INSERT INTO files VALUES (1, 'manifest', 1, ?, ?)", hash_and_size(kept / "manifest.ndjson"))
            key = self.key["Authorization"].removeprefix("Bearer ")
            catalogue.execute("UPDATE keys SET hash = ?", (hashlib.sha256(key.encode()).hexdigest(),))
            catalogue.commit()
        refused = self.admin_says("key", "list")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("an older gpufl has written this store; start this version's server", refused.stderr)
        self.start_again()
        self.assertEqual(json.loads(self.send_window()[1])["state"], "known")
        self.add_recorded()
        self.fleet.start_agent()
        self.fleet.start_monitor()
        self.wait_for_windows(1)
        self.check_all()

    def test_a_store_of_a_later_version_is_left_alone(self):
        self.server.end()
        with contextlib.closing(sqlite3.connect(self.data / "catalogue.db")) as catalogue:
            catalogue.execute("UPDATE schema_version SET version = version + 1 WHERE part = 'catalogue'")
            catalogue.commit()
        before = (self.data / "catalogue.db").read_bytes()
        for command in (("serve", "--listen", "127.0.0.1:0"), ("store", "check"), ("admin", "key", "list")):
            with self.subTest(command=command):
                ended = run(GPUFL, *command, "--data", self.data)
                self.assertEqual(ended.returncode, 2)
                self.assertIn("a newer gpufl has written this store; use that version, or a backup", ended.stderr)
        self.assertEqual((self.data / "catalogue.db").read_bytes(), before)


def hash_and_size(path):
    return hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size


def mount_where_it_is_allowed():
    """In a namespace of our own, so that nothing stays mounted."""
    enter = ["unshare", "--user", "--map-root-user", "--mount"]
    with contextlib.suppress(OSError):
        tried = subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
        if tried.returncode == 0:
            os.execvpe(enter[0], [*enter, sys.executable, *sys.argv], {**os.environ, MOUNTS: "1"})


if __name__ == "__main__":
    if MOUNTS not in os.environ:
        mount_where_it_is_allowed()
    unittest.main()
