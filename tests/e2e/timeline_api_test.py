#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline over HTTP: tracks, tiles, events, sums and search, compared with the log itself."""

import json
import shutil
import subprocess
import unittest

from monitor_process import GPUFL, PATIENCE_S, run, wait_until
from served import SESSIONS, TORCH, ServeTest, files_below


def running_sum(deltas):
    total, values = 0, []
    for delta in deltas:
        total += delta
        values.append(total)
    return values


class Timeline(ServeTest):
    def setUp(self):
        super().setUp()
        self.served = self.start(SESSIONS)
        lines = run(GPUFL, "cat", SESSIONS / "h200_torch", "kernel").stdout.splitlines()
        self.kernels = [json.loads(line) for line in lines]

    def ask(self, path, session=TORCH):
        answer = self.served.finished(f"/sessions/{session}{path}")
        self.assertEqual(answer.status, 200, answer.body[:300])
        return answer.json()

    def kernel_track(self):
        return next(t for t in self.ask("/tracks")["tracks"] if t["kind"] == "kernels")

    def test_tracks_count_what_the_log_has(self):
        tracks = self.ask("/tracks")
        self.assertTrue(tracks["is_complete"])
        self.assertEqual(tracks["problems"], [])
        of_kernels = [t for t in tracks["tracks"] if t["kind"] == "kernels"]
        self.assertEqual(sum(t["events"] for t in of_kernels), len(self.kernels))
        self.assertEqual(sum(t["busy_ns"] for t in of_kernels), sum(k["duration_ns"] for k in self.kernels))
        self.assertEqual(tracks["series"], [])  # nobody sampled it

    def test_tiles_add_up_to_the_log(self):
        track = self.kernel_track()["id"]
        first, last = self.ask("/tracks")["span"]
        for width in (1, 37, 400):
            tile = self.ask(f"/tiles?width={width}&max_events=0&tracks={track}&from={first}&to={last + 1}")
            rows = tile["tracks"][0]["rows"]
            self.assertFalse(any(row["is_exact"] for row in rows))
            self.assertEqual(sum(sum(row["count"]) for row in rows), len(self.kernels))
            self.assertEqual(sum(sum(row["busy_ns"]) for row in rows), sum(k["duration_ns"] for k in self.kernels))
        middle = self.kernels[len(self.kernels) // 2]["start_ns"]
        tile = self.ask(f"/tiles?width=1600&tracks={track}&from={middle}&to={middle + 1_000_000}")
        shown = []
        for row in tile["tracks"][0]["rows"]:
            self.assertTrue(row["is_exact"])
            shown += zip(running_sum(row["start_ns"]), row["duration_ns"])
        expected = [
            (k["start_ns"], k["duration_ns"])
            for k in self.kernels
            if k["start_ns"] < middle + 1_000_000 and k["start_ns"] + k["duration_ns"] > middle
        ]
        self.assertEqual(sorted(shown), sorted(expected))

    def test_events_selection_and_kernels(self):
        track = self.kernel_track()["id"]
        listed, start = [], ""
        while start is not None:
            page = self.ask(f"/events?limit=1500&tracks={track}{start}")
            listed += page["events"]
            start = None if page["next_from"] is None else f"&from={page['next_from']}"
        self.assertEqual(len(listed), len(self.kernels))
        self.assertEqual(sorted(e["start_ns"] for e in listed), sorted(k["start_ns"] for k in self.kernels))
        one = listed[77]
        row = self.ask(f"/events/{one['event']}")
        self.assertEqual((row["start_ns"], row["duration_ns"]), (one["start_ns"], one["duration_ns"]))
        selection = self.ask(f"/selection?tracks={track}&names=3")["tracks"][0]
        self.assertEqual(selection["count"], len(self.kernels))
        report = json.loads(run(GPUFL, "report", SESSIONS / "h200_torch", "--format", "json").stdout)
        top = self.ask("/kernels?limit=1000")
        stats = {k["full_name"]: k["duration_ns"] for k in top["by_name"]}
        for group in report["kernels"]["by_name"]:
            self.assertEqual(stats[group.get("full_name", group["label"])], group["duration_ns"])

    def test_search_counts_and_steps(self):
        name = self.ask("/kernels?limit=1")["by_name"][0]
        part = name["full_name"][5:30]
        outcome = self.served.api(f"/sessions/{TORCH}/search?q={part.replace(' ', '%20').replace('<', '%3C')}").json()
        self.assertGreaterEqual(outcome["matches"], name["duration_ns"]["count"])
        after = outcome["found"]["start_ns"] + 1
        second = self.served.api(f"/sessions/{TORCH}/search?q=kernel&after={after}").json()
        self.assertGreaterEqual(second["found"]["start_ns"], after)
        self.assertEqual(self.ask("/search?q=zzzz")["matches"], 0)

    def test_senseless_requests_are_refused(self):
        for path in ("/tiles?width=0", "/tiles?from=9&to=3", "/tiles?tracks=foo", "/tiles?tracks=kernels:1",
                     "/tiles?tracks=kernels:0:1:7:9", "/series?series=x", "/search", "/events?limit=0",
                     "/tiles?width=99999999999999999999", "/selection?tracks=,,"):  # fmt: skip
            answer = self.served.api(f"/sessions/{TORCH}{path}")
            self.assertEqual(answer.status, 400, path)
            self.assertEqual(answer.headers["content-type"], "application/problem+json")
        for event in ("x", "device.1.2", "device.1.99999999.0", "device.1.-1.0", "nothing.1.1.1", "device.77.4.0"):
            self.assertEqual(self.served.api(f"/sessions/{TORCH}/events/{event}").status, 404, event)

    def test_an_index_that_is_gone_or_damaged_is_made_again(self):
        before = self.ask("/tracks")["tracks"]
        files = [path for path in files_below(self.cache / "index") if str(path).endswith(".idx")]
        self.assertTrue(files)
        self.served.process.kill()
        self.served.process.wait(timeout=PATIENCE_S)
        for number, path in enumerate(files):
            data = (self.cache / "index" / path).read_bytes()
            (self.cache / "index" / path).write_bytes(data[: len(data) // 2] if number % 2 else b"gpuflidx" + data[8:][::-1])
        self.served = self.start(SESSIONS)
        self.assertEqual(self.ask("/tracks")["tracks"], before)


class Growing(ServeTest):
    def test_a_session_that_grows_and_goes(self):
        logs = self.folder / "logs"
        recorder = subprocess.Popen(
            [GPUFL, "monitor", "--output", logs, "--interval", "10ms", "--backend", "synthetic"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        wait_until(logs.exists, "the recorder to begin")
        served = self.start(logs)
        wait_until(lambda: served.api("/sessions?state=live").json()["sessions"], "a live session")
        path = f"/sessions/{served.api('/sessions').json()['sessions'][0]['id']}"

        def readings():
            series = served.finished(f"{path}/series?width=1").json().get("series", [])
            return sum(sum(one["count"]) for one in series)

        wait_until(lambda: readings() > 0, "the first readings")
        seen = readings()
        wait_until(lambda: readings() > seen, "more readings")
        series = served.api(f"{path}/tracks").json()["series"]
        picture = served.api(f"{path}/series?width=50&series={series[0]['id']}").json()["series"][0]
        self.assertEqual(picture["metric"], series[0]["metric"])
        for least, mean, most in zip(picture["min"], picture["mean"], picture["max"]):
            self.assertTrue(least <= mean <= most)
        recorder.kill()
        recorder.wait(timeout=PATIENCE_S)
        wait_until(lambda: not served.api(f"{path}/tracks").json()["is_live"], "the session to have ended")
        self.assertGreaterEqual(readings(), seen)
        shutil.rmtree(logs)
        wait_until(lambda: served.api(f"{path}/tracks").status == 404, "the session to be gone")


if __name__ == "__main__":
    unittest.main()
