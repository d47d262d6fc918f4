#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline over HTTP: tracks, tiles, events, sums and search, compared with the log itself."""

import json
import shutil
import subprocess
import unittest
import urllib.parse

from monitor_process import GPUFL, PATIENCE_S, run, wait_until
from served import REPOSITORY, SESSIONS, TORCH, ServeTest, files_below

RECORDINGS = REPOSITORY / "tests" / "replay" / "recordings"
SYNC_IN_LOOP = "20261115T162757.172502Z-b7723bac18688975"


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

    def test_a_launch_of_a_graph_has_what_its_nodes_did(self):
        served = self.start(RECORDINGS)
        sessions = served.api("/sessions?limit=500").json()["sessions"]
        session = next(one["id"] for one in sessions if one["path"] == "h200_graphs")
        lines = run(GPUFL, "cat", RECORDINGS / "h200_graphs", "graph").stdout.splitlines()
        for graph in (json.loads(lines[0]), json.loads(lines[-1])):
            begin = graph["start_ns"]
            listed = served.finished(f"/sessions/{session}/events?from={begin}&to={begin + 1}").json()["events"]
            (event,) = [one for one in listed if one["track"].startswith("graphs:") and one["start_ns"] == begin]
            work = served.finished(f"/sessions/{session}/events/{event['event']}").json()["around"]["work"]
            expected = [
                json.loads(line)["start_ns"]
                for kind in ("kernel", "memcpy", "memset")
                for line in run(GPUFL, "cat", RECORDINGS / "h200_graphs", kind).stdout.splitlines()
                if json.loads(line)["correlation"] == graph["correlation"]
            ]
            self.assertEqual([one["start_ns"] for one in work], sorted(expected))
            self.assertGreater(len(work), 20)

    def test_threads_have_the_names_that_the_program_gave(self):
        folder = self.folder / "named" / "crashed"
        shutil.copytree(REPOSITORY / "format" / "golden" / "crashed", folder)
        lines = [{"thread": 2, "text": "former"}, {"thread": 2, "text": "data <loader>"}]
        with open(folder / "scope.log", "a", encoding="utf-8") as log:
            for line in lines:
                event = {"type": "event", "time": 0, "name": "thread_name"} | line
                log.write(json.dumps(event, separators=(",", ":")) + "\n")
        served = self.start(folder.parent)
        session = served.api("/sessions").json()["sessions"][0]["id"]
        tracks = served.finished(f"/sessions/{session}/tracks").json()["tracks"]
        names = {track["thread"]: track.get("thread_name") for track in tracks if "thread" in track}
        self.assertEqual((names[2], names[3]), ("data <loader>", None))

    def test_hardware_counters_over_time_are_series(self):
        golden = REPOSITORY / "format" / "golden"
        served = self.start(golden)
        sessions = served.api("/sessions").json()["sessions"]
        path = f"/sessions/{next(one['id'] for one in sessions if one['path'] == 'complete')}"
        tracks = served.finished(f"{path}/tracks").json()
        first, last = tracks["span"]
        found = {}
        for one in tracks["series"]:
            if one["kind"] != "pm_sample":
                continue
            view = f"from={first}&to={last + 1}&width=16000&series={one['id']}"
            (picture,) = served.finished(f"{path}/series?{view}").json()["series"]
            steps = dict(zip(running_sum(picture["step"]), picture["last"]))
            found[one["device"], one["metric"]] = (picture["step_ns"], steps)
        expected = {}
        for line in run(GPUFL, "cat", golden / "complete", "pm_sample").stdout.splitlines():
            row = json.loads(line)
            readings = expected.setdefault((row["device"], row["metric"]), {})
            readings[row["start_ns"]] = row["value"] * 10 ** row.get("exponent", 0)
        self.assertGreater(len(expected), 0)
        self.assertEqual(found.keys(), expected.keys())
        for key, readings in expected.items():
            step_ns, steps = found[key]
            self.assertEqual(steps.keys(), {time // step_ns for time in readings})
            for time, value in readings.items():
                self.assertAlmostEqual(steps[time // step_ns], value, delta=abs(value) * 1e-9)
        health = served.finished(f"{path}/health").json()["metrics"]
        self.assertNotIn("pm_sample", [one["kind"] for one in health])

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
            start = None if page["next_from"] is None else f"&starts_from={page['next_from']}"
        self.assertEqual(len(listed), len(self.kernels))
        self.assertEqual(sorted(e["start_ns"] for e in listed), sorted(k["start_ns"] for k in self.kernels))
        one = listed[77]
        row = self.ask(f"/events/{one['event']}")
        self.assertEqual((row["start_ns"], row["duration_ns"]), (one["start_ns"], one["duration_ns"]))
        self.check_around(one, row)
        selection = self.ask(f"/selection?tracks={track}&names=3")["tracks"][0]
        self.assertEqual((selection["count"], selection["reaching"]), (len(self.kernels), 0))
        report = json.loads(run(GPUFL, "report", SESSIONS / "h200_torch", "--format", "json").stdout)
        top = self.ask("/kernels?limit=1000")
        stats = {k["full_name"]: k["duration_ns"] for k in top["by_name"]}
        for group in report["kernels"]["by_name"]:
            self.assertEqual(stats[group.get("full_name", group["label"])], group["duration_ns"])

    def test_launches_of_a_kernel_come_in_pages(self):
        (kernel,) = self.ask("/kernels?limit=1")["by_name"]
        name = urllib.parse.quote(kernel["full_name"], safe="")
        tracks = ",".join(t["id"] for t in self.ask("/tracks")["tracks"] if t["kind"] == "kernels")
        events = self.ask(f"/events?limit=10000&tracks={tracks}")["events"]
        expected = {
            e["event"]: (e["start_ns"], e["duration_ns"], e["track"])
            for e in events
            if e.get("name", e["label"]) == kernel["full_name"]
        }
        listed, start = {}, ""
        while start is not None:
            page = self.ask(f"/launches?kernel={name}&limit=100{start}")
            self.assertEqual(page["count"], kernel["duration_ns"]["count"])
            begins = running_sum(page["start_ns"])
            self.assertEqual(begins, sorted(begins))
            for i, event in enumerate(page["event"]):
                listed[event] = (begins[i], page["duration_ns"][i], page["tracks"][page["track"][i]])
            start = None if page["next_from"] is None else f"&starts_from={page['next_from']}"
        self.assertEqual(listed, expected)
        self.assertEqual(len(listed), kernel["duration_ns"]["count"])
        middle = sorted(begin for begin, _, _ in expected.values())[len(expected) // 2]
        (one,) = self.ask(f"/launches?kernel={name}&from={middle}&to={middle + 1}")["event"]
        self.assertEqual(expected[one][0], middle)
        self.assertEqual(self.served.finished(f"/sessions/{TORCH}/launches?kernel=zzz").status, 404)

    def test_operators_and_modules_have_tracks_of_their_own(self):
        markers = [t for t in self.ask("/tracks")["tracks"] if t["kind"] == "markers"]
        self.assertEqual({t["domain"] for t in markers}, {"torch.op", "torch.module"})
        rows = run(GPUFL, "cat", SESSIONS / "h200_torch", "marker").stdout.splitlines()
        domains = [json.loads(row)["domain"] for row in rows]
        for domain in ("torch.op", "torch.module"):
            counted = sum(t["events"] for t in markers if t["domain"] == domain)
            self.assertEqual(counted, domains.count(domain), domain)

    def test_what_began_before_a_range_and_reaches_into_it_belongs_to_it(self):
        track = self.kernel_track()["id"]
        one = self.kernels[len(self.kernels) // 2]
        start = one["start_ns"] + one["duration_ns"] // 2
        for end in (start + 1, start + 300_000):
            expected = sorted(
                k["start_ns"]
                for k in self.kernels
                if k["start_ns"] < end and k["start_ns"] + k["duration_ns"] > start
            )
            self.assertIn(one["start_ns"], expected)
            listed, cursor = [], ""
            while cursor is not None:
                page = self.ask(f"/events?limit=2&tracks={track}&from={start}&to={end}{cursor}")
                listed += [e["start_ns"] for e in page["events"]]
                cursor = None if page["next_from"] is None else f"&starts_from={page['next_from']}"
            self.assertEqual(listed, expected)
            sums = self.ask(f"/selection?tracks={track}&from={start}&to={end}")["tracks"][0]
            self.assertEqual(sums["count"], sum(begin >= start for begin in expected))
            self.assertEqual(sums["reaching"], sum(begin < start for begin in expected))
            self.assertEqual(sum(name["reaching"] for name in sums["names"]), sums["reaching"])
        twice = self.ask(f"/selection?tracks={track},{track}")["tracks"]
        self.assertEqual(twice, self.ask(f"/selection?tracks={track}")["tracks"])

    def check_around(self, listed, row):
        """What was open when the kernel was launched, by a walk through the rows of the log."""
        around = row["around"]
        self.assertEqual((around["event"]["event"], around["event"]["track"]), (listed["event"], listed["track"]))
        self.assertEqual(around["call"]["start_ns"], row["api_start_ns"])
        self.assertEqual(around["call"]["track"], f"kernel_calls:{row['thread']}")
        for kind, found in ("scope", around["scopes"]), ("marker", around["markers"]):
            rows = map(json.loads, run(GPUFL, "cat", SESSIONS / "h200_torch", kind).stdout.splitlines())
            open_then = [
                r
                for r in rows
                if r["thread"] == row["thread"]
                and r["start_ns"] <= row["api_start_ns"] < r["start_ns"] + r["duration_ns"]
            ]
            names = [r["name"] for r in sorted(open_then, key=lambda r: r["start_ns"])]
            self.assertGreater(len(names), 1)
            self.assertEqual([f["label"] for f in found], names)
        self.assertEqual(around["markers"][-1]["domain"], "torch.op")

    def test_an_event_has_the_line_of_its_stack(self):
        self.served = self.start(RECORDINGS)
        track = next(t["id"] for t in self.ask("/tracks", SYNC_IN_LOOP)["tracks"] if t["kind"] == "waits")
        event = self.ask(f"/events?limit=1&tracks={track}", SYNC_IN_LOOP)["events"][0]["event"]
        around = self.ask(f"/events/{event}", SYNC_IN_LOOP)["around"]
        self.assertTrue(around["site"]["file"].endswith(".cu"), around["site"])
        self.assertIn(around["site"]["line"], [f["line"] for f in around["frames"] if f["origin"] == "user"])

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
                     "/tiles?width=99999999999999999999", "/selection?tracks=,,", "/events?from=9&to=3",
                     "/selection?from=5&to=5", "/events?from=5&to=5"):  # fmt: skip
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

    def index_files(self):
        return [self.cache / "index" / path for path in files_below(self.cache / "index") if str(path).endswith(".idx")]

    def steps(self, served=None):
        """Of all tracks, from buckets; asked until it is there, and it never fails."""
        path = f"/sessions/{TORCH}/tiles?width=20&max_events=0"
        found = []

        def is_there():
            answer = (served or self.served).api(path)
            self.assertIn(answer.status, (200, 202), answer.body[:300])
            found.append(answer)
            return answer.status == 200 and answer.json()["is_complete"]

        wait_until(is_there, "a tile")
        return found[-1].json()["tracks"]

    def test_an_index_may_be_deleted_or_damaged_while_it_is_in_use(self):
        self.ask("/tracks")
        before = self.steps()
        shutil.rmtree(self.cache / "index")
        self.assertEqual(self.steps(), before)
        # A server beside it makes them again, and replaces those of the first.
        beside = self.start(SESSIONS)
        self.assertEqual(self.steps(beside), before)
        for path in self.index_files():
            (self.folder / "copy").write_bytes(path.read_bytes())
            (self.folder / "copy").rename(path)
        self.assertEqual(self.steps(beside), before)
        for path in self.index_files():
            path.unlink()
        third = self.start(SESSIONS)
        self.assertEqual(self.steps(third), before)
        for path in self.index_files():
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size // 2)
        self.assertEqual(self.steps(third), before)
        self.assertEqual(self.steps(beside), before)

    def test_a_byte_that_is_found_damaged_at_the_start_does_not_stay(self):
        before = self.steps()
        self.served.process.kill()
        self.served.process.wait(timeout=PATIENCE_S)
        for path in self.index_files():
            data = bytearray(path.read_bytes())
            data[-3] ^= 0x10
            path.write_bytes(data)
        self.served = self.start(SESSIONS)
        self.assertEqual(self.steps(), before)
        self.assertEqual(self.steps(), before)


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
