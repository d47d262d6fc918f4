#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures that grow window by window, over HTTP: of every recorded and golden session they are those of its report."""

import collections
import json
import unittest
import urllib.parse

from monitor_process import GPUFL, run
from served import REPOSITORY, SESSIONS, TORCH, ServeTest

FOLDERS = (REPOSITORY / "tests" / "replay" / "recordings", REPOSITORY / "format" / "golden")


class Figures(ServeTest):
    def setUp(self):
        super().setUp()
        self.maxDiff = 2000

    def check(self, folder):
        served = self.start(folder)
        sessions = served.api("/sessions?limit=500").json()["sessions"]
        self.assertGreater(len(sessions), 4)
        for session in sessions:
            with self.subTest(session=session["path"]):
                path = folder / session["path"]
                report = run(GPUFL, "report", path, "--format", "json")
                if session["state"] == "unreadable":
                    self.assertNotEqual(report.returncode, 0)
                    continue
                self.assertEqual(report.returncode, 0, report.stderr)
                self.compare(served, session["id"], json.loads(report.stdout))
                self.compare_scopes(served, session["id"], path)

    def compare(self, served, session, report):
        def ask(what):
            answer = served.finished(f"/sessions/{session}/{what}")
            self.assertEqual(answer.status, 200, answer.body[:300])
            return answer.json()

        self.compare_work(ask, report)
        ledger = ask("ledger")
        self.assertEqual(ledger["capabilities"], report["capabilities"])
        for member in ("verdict", "meaning", "rows_read", "numbers"):
            self.assertEqual(ledger["ledger"][member], report["ledger"][member], member)
        self.assertEqual(ledger["session"], report["session"])
        health = ask("health")
        self.assertEqual(health["events"], report["events"])
        self.assertEqual(health["devices"], report["devices"])
        metrics = {(m["device"], m["metric"], m["index"]): m for m in health["metrics"] if m["kind"] != "counter"}
        self.assertEqual(len(metrics), len(report["metrics"]))
        for expected in report["metrics"]:
            metric = metrics[expected["device"], expected["metric"], expected["index"]]
            for member in ("count", "min", "max"):
                self.assertEqual(metric["values"][member], expected["values"][member], expected["metric"])
            self.assertAlmostEqual(metric["values"]["mean"], expected["values"]["mean"])
            self.assertEqual(metric["last"], expected["last"])

    def compare_work(self, ask, report):
        kernels = ask("kernels?limit=10000")
        known = "by_name" in report["kernels"]
        self.assertEqual(
            {k["full_name"]: k["duration_ns"] for k in kernels["by_name"]},
            {k.get("full_name", k["label"]): k["duration_ns"] for k in report["kernels"]["by_name"]} if known else {},
        )
        self.assertEqual(
            {k["full_name"]: k["label"] for k in kernels["by_name"]},
            {k.get("full_name", k["label"]): k["label"] for k in report["kernels"]["by_name"]} if known else {},
        )
        if "by_call" in report["waits"]:
            self.assertEqual(
                {w["call"]: w["blocked_ns"] for w in ask("waits")["by_call"]},
                {w["call"]: w["blocked_ns"] for w in report["waits"]["by_call"]},
            )
        copies = ask("copies")
        if "all" in report["transfers"]["copies"]:
            self.compare_transfers(copies["copies"]["all"], report["transfers"]["copies"]["all"])
            expected = {one["label"]: one for one in report["transfers"]["copies"]["by_direction"]}
            self.assertEqual(len(copies["copies"]["by_direction"]), len(expected))
            for one in copies["copies"]["by_direction"]:
                self.compare_transfers(one, expected[one["label"]])
        if "duration_ns" in report["transfers"]["fills"]:
            self.compare_transfers(copies["fills"], report["transfers"]["fills"])

    def compare_scopes(self, served, session, path):
        totals = collections.Counter()
        for line in run(GPUFL, "cat", path, "scope").stdout.splitlines():
            row = json.loads(line)
            totals[row["name"], "count"] += 1
            totals[row["name"], "total"] += row["duration_ns"]
        shown = served.finished(f"/sessions/{session}/scopes?limit=10000").json()
        for scope in shown["by_name"]:
            for member in ("count", "total"):
                self.assertEqual(scope["duration_ns"][member], totals.pop((scope["label"], member)), scope["label"])
        self.assertEqual(sum(totals.values()), 0)
        if shown["span"] is not None:
            self.assertTrue(all(scope["start_ns"] <= shown["span"][1] for scope in shown["open"]))

    def compare_transfers(self, one, expected):
        self.assertEqual(one["duration_ns"], expected["duration_ns"])
        if expected["bytes"] is None:
            self.assertIsNone(one["bytes"])
            return
        for member in ("count", "total"):
            self.assertEqual(one["bytes"][member], expected["bytes"][member])
        self.assertEqual(one["bytes_per_second"], expected["bytes_per_second"])

    def test_kernels_of_a_group_add_up_to_it(self):
        served = self.start(SESSIONS)
        kernels = served.finished(f"/sessions/{TORCH}/sections/kernels").json()
        for by in ("op", "module", "class", "stream"):
            for group in kernels[f"by_{by}"][:3]:
                name = urllib.parse.quote(group.get("full_name", group["label"]))
                inside = served.finished(f"/sessions/{TORCH}/group?by={by}&group={name}").json()
                self.assertEqual(inside["total_ns"], group["duration_ns"]["total"], name)
                launches = [one["duration_ns"]["count"] for one in inside["by_name"]]
                self.assertEqual((sum(launches), inside["more"]["groups"]), (group["duration_ns"]["count"], 0))
                self.assertAlmostEqual(sum(one["share"] for one in inside["by_name"]), 1)
        wrong = {"by=op&group=zzz": 404, "by=line&group=zzz": 404, "by=zzz&group=a": 400, "group=a": 400}
        for query, status in wrong.items():
            self.assertEqual(served.finished(f"/sessions/{TORCH}/group?{query}").status, status, query)

    def test_recordings(self):
        self.check(FOLDERS[0])

    def test_golden_logs(self):
        self.check(FOLDERS[1])


if __name__ == "__main__":
    unittest.main()
