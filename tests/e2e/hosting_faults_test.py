#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server, agents and monitors that are killed at random moments, behind a proxy that cuts, delays, doubles,
reorders and damages what they send, while strangers ask for everything: nothing is lost, doubled or told to them.

GPUFL_FAULTS_SECONDS sets for how long, GPUFL_FAULTS_SEED what happens; GPUFL_FAULTS_JSON names a file for the
figures. `./dev soak faults` sets all three."""

import collections
import json
import os
import random
import signal
import sqlite3
import threading
import time
import unittest

from faulty_proxy import FAULTS, FaultyProxy
from fleet import Comparison, Fleet
from hosted import HostedTest
from monitor_process import GPUFL, run, wait_until

SECONDS = float(os.environ.get("GPUFL_FAULTS_SECONDS", "15"))
SEED = int(os.environ.get("GPUFL_FAULTS_SEED", "21"))
REPORT = os.environ.get("GPUFL_FAULTS_JSON")
AGENTS = 2
MONITORS = 3
SECRET = "name-that-only-the-lab-knows"


class Strangers:
    """Ask for everything that there is, with keys of others, keys that count no more, and none."""

    def __init__(self, test, seed):
        self.test = test
        self.seeded = random.Random(seed)
        self.asked = collections.Counter()
        self.leaks = []
        self.is_over = threading.Event()
        self.headers = self.make_keys()
        described = json.loads(test.server.ask("GET", "/w/default/api/v1/openapi.json", test.reader)[1])
        self.paths = sorted(described["paths"])
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def make_keys(self):
        test = self.test
        test.admin("workspace", "add", "other")
        found = {
            "none": {},
            "of another, read": test.make_key("--workspace", "other", "--scope", "read"),
            "of another, ingest": test.make_key("--workspace", "other"),
            "ingest only": test.make_key(),
            "revoked": test.make_key("--scope", "read"),
            "expired": test.make_key("--scope", "read", "--days", "1"),
        }
        number = test.admin("key", "list").splitlines()[-2].split()[0]
        test.admin("key", "revoke", number)
        with sqlite3.connect(test.data / "catalogue.db", timeout=60) as catalogue:
            ended = catalogue.execute("UPDATE keys SET expires_ms = 1 WHERE expires_ms > 0").rowcount
        test.assertEqual(ended, 1)
        for name in ("revoked", "expired"):
            wait_until(lambda: test.server.ask("GET", "/api/v1/ingest", found[name])[0] == 401, f"the end of the {name}")
        return found

    def run(self):
        while not self.is_over.wait(0.02):
            name, headers = self.seeded.choice(sorted(self.headers.items()))
            session = self.seeded.choice(self.test.known_sessions() or ["none"])
            path = self.seeded.choice(self.paths).replace("{session}", session).replace("{run}", session)
            prefix = self.seeded.choice(["/w/default", "/w/default", ""])
            window = f"/api/v1/sessions/{session}/windows/system.1.log.zst"
            method = self.seeded.choice(["GET", "GET", "GET", "PUT", "DELETE", "POST"])
            target = prefix + self.seeded.choice([path, path, path, window, f"/api/v1/ingest/sessions/{session}",
                                                  f"/api/v1/received/{session}"])  # fmt: skip
            if path.endswith("/api/v1/events"):
                continue  # to whom may read, it never ends
            try:
                status, body, answered = self.test.server.exchange(method, target, headers)
            except OSError:
                continue
            except Exception as cut:  # noqa: BLE001
                if type(cut).__module__ == "http.client":
                    continue
                raise
            self.asked[status] += 1
            self.look(f"{name}: {method} {target}: {status}", name, prefix, session, status, body, answered)

    def look(self, what, name, prefix, session, status, body, answered):
        is_own = name == "ingest only" and prefix == "" and "/ingest" in what
        if is_own:
            return
        told = body + repr(answered).encode()
        others = [one for one in self.test.known_sessions() if one != session]
        if SECRET.encode() in told or any(one.encode() in told for one in others):
            self.leaks.append(f"{what} {body[:200]!r}")
        if prefix and status < 400:
            self.leaks.append(what)

    def end(self):
        self.is_over.set()
        self.thread.join()


class HostingFaultsTest(HostedTest):
    def setUp(self):
        super().setUp()
        self.start()
        key = self.make_key()
        self.reader = self.make_key("--scope", "read")
        self.proxy = FaultyProxy(SEED, silence_s=min(3 + SECONDS / 60, 35))
        self.addCleanup(self.proxy.close)
        self.proxy.server = self.server.port
        self.fleet = Fleet(self.folder, key["Authorization"].removeprefix("Bearer "), self.proxy.port)
        self.addCleanup(self.fleet.close)
        self.known = []

    def known_sessions(self):
        if self.fleet.logs.exists():
            self.known = [path.name for path in self.fleet.logs.iterdir() if path.name[0] == "2"]
        return self.known

    def restart_server(self, how, pause_s):
        self.server.end(how)
        time.sleep(pause_s)
        self.start()
        self.proxy.server = self.server.port

    def stop_server_for(self, pause_s):
        """It has connections, and answers nothing."""
        self.server.process.send_signal(signal.SIGSTOP)
        time.sleep(pause_s)
        self.server.process.send_signal(signal.SIGCONT)

    def test_nothing_is_lost_doubled_or_leaked(self):
        print(f"seed {SEED}, {SECONDS:.0f} s", flush=True)
        seeded = random.Random(SEED)
        fleet = self.fleet
        for _ in range(AGENTS):
            fleet.start_agent()
        for _ in range(MONITORS):
            fleet.start_monitor("--name", SECRET)
        strangers = Strangers(self, SEED)
        self.addCleanup(strangers.end)

        def end_a_monitor(how):
            fleet.end_monitor(how, seeded.randrange(len(fleet.monitors)))
            fleet.start_monitor("--name", SECRET)

        def kill_an_agent():
            fleet.kill_agent(seeded.randrange(len(fleet.agents)))
            time.sleep(seeded.random())
            fleet.start_agent()

        events = [
            lambda: self.restart_server(signal.SIGKILL, seeded.random()),
            lambda: self.restart_server(signal.SIGKILL, 0),
            lambda: self.restart_server(signal.SIGTERM, 0),
            lambda: self.stop_server_for(2 * seeded.random()),
            kill_an_agent,
            kill_an_agent,
            lambda: end_a_monitor(signal.SIGKILL),
            lambda: end_a_monitor(signal.SIGTERM),
            fleet.add_recorded,
            fleet.upload,
        ]
        happened = 0
        deadline = time.monotonic() + SECONDS
        # Each of them once, whatever the machine is busy with; then by chance.
        first = random.Random(SEED).sample(events, len(events))
        while time.monotonic() < deadline or happened < len(first):
            time.sleep(2 * seeded.random())
            (first[happened] if happened < len(first) else seeded.choice(events))()
            happened += 1
            self.assertEqual([agent.poll() for agent in fleet.agents], [None] * AGENTS, self.fleet_says())
        strangers.end()
        self.proxy.faults = 0
        drained = fleet.end()
        self.assertEqual(drained.returncode, 0, drained.stderr)
        compared = Comparison(fleet.sessions(), self.data)
        self.report(happened, compared, strangers)
        self.assertEqual(strangers.leaks[:5], [])
        self.assertGreater(sum(strangers.asked.values()), 10)
        self.assertEqual(self.proxy.violations[:5], [])
        compared.check(self)
        checked = run(GPUFL, "store", "check", "--data", self.data)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def fleet_says(self):
        return (self.folder / "fleet.log").read_text()[-2000:]

    def report(self, happened, compared, strangers):
        figures = {
            "lost": compared.lost,
            "duplicated": compared.duplicated,
            "leaked": len(strangers.leaks),
            "broken promises": len(self.proxy.violations),
            "rows": compared.rows,
            "sessions": compared.sessions,
            "kills and restarts": happened,
            "requests with a fault": sum(count for name, count in self.proxy.seen.items() if name != "none"),
            "requests without": self.proxy.seen["none"],
            "questions of strangers": sum(strangers.asked.values()),
        }
        print(json.dumps({"seed": SEED, "seconds": SECONDS, **figures, "faults": dict(sorted(self.proxy.seen.items()))}))
        self.assertLessEqual(set(self.proxy.seen), {*FAULTS, "none"})
        if REPORT:
            with open(REPORT, "a", encoding="utf-8") as file:
                file.write(json.dumps({"seed": SEED, "seconds": SECONDS, **figures}) + "\n")


if __name__ == "__main__":
    unittest.main()
