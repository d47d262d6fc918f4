#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpufl import and gpufl sessions from outside: a torch.profiler trace and an export of Nsight Systems
become sessions that the other commands read, and wrong files give a sentence that says what to do."""

import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

GPUFL = str(pathlib.Path(os.environ["GPUFL_PROGRAMS"]) / "gpufl")
STEPS = 20


def run(*arguments, cwd=None):
    command = [GPUFL, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=cwd
    )


def torch_trace(rank):
    """Steps of two kernels each; times have digits that a double would lose."""
    events = []
    for step in range(STEPS):
        begin = 3854095878000.0 + step * 100
        events.append(span("user_annotation", f"ProfilerStep#{step}", begin, 90, 1, 11))
        for i, name in enumerate(("gemm", "relu")):
            correlation = step * 2 + i + 1
            call = span("cuda_runtime", "cudaLaunchKernel", begin + 10 * i, 2, 1, 11)
            call["args"] = {"correlation": correlation}
            kernel = span("kernel", name, begin + 20 + 10 * i, 4, 0, 7)
            kernel["args"] = {
                "device": 0, "context": 1, "stream": 7, "correlation": correlation,
                "registers per thread": 32, "shared memory": 0,
                "grid": [8, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 50,
            }  # fmt: skip
            events += [call, kernel]
    text = json.dumps(
        {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}],
            "distributedInfo": {"rank": rank, "world_size": 2},
            "baseTimeNanoseconds": 1790857026000000000,
            "traceEvents": events,
        }
    )
    return text.replace('"TS', "").replace('TS"', "")


def span(category, name, begin_us, lasted_us, pid, tid):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
            "ts": f"TS{begin_us:.0f}.123TS", "dur": f"TS{lasted_us}.001TS"}  # fmt: skip


class ImportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logs = self.folder / "logs"

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def imported(self, *files):
        ended = run("import", *files, "--output", self.logs, "--json")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout)

    def test_a_torch_trace_becomes_a_session_exact_to_the_nanosecond(self):
        packed = self.write("gpt.json.gz", gzip.compress(torch_trace(0).encode()))
        (session,) = self.imported(packed)
        self.assertEqual(session["rows"]["kernel"], 2 * STEPS)
        rows = run("cat", session["session"], "kernel").stdout.splitlines()
        kernels = [json.loads(row) for row in rows]
        self.assertEqual(len(kernels), 2 * STEPS)
        starts = sorted(kernel["start_ns"] for kernel in kernels)
        self.assertEqual(starts[0], 20000)
        self.assertEqual({kernel["duration_ns"] for kernel in kernels}, {4001})
        self.assertNotIn("queued_ns", kernels[0])
        self.assertEqual(len({kernel["scope"] for kernel in kernels}), STEPS)
        verified = run("verify", session["session"])
        self.assertEqual(verified.returncode, 1)
        self.assertIn("not proven", verified.stdout)
        report = run("report", session["session"])
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("imported from gpt.json.gz", report.stdout)

    def test_without_an_output_it_goes_where_report_looks(self):
        self.write("gpt.json", torch_trace(0))
        ended = run("import", "gpt.json", cwd=self.folder)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len(list(self.folder.glob("gpufl-logs/*/manifest.ndjson"))), 1)
        report = run("report", cwd=self.folder)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertIn("imported from gpt.json", report.stdout)

    def rows(self, session, kind, *columns):
        lines = run("cat", session, kind).stdout.splitlines()
        rows = [json.loads(line) for line in lines]
        return sorted(tuple(row.get(column) for column in columns) for row in rows)

    def test_what_is_exported_to_chrome_comes_back(self):
        document = json.loads(torch_trace(0))
        begin = 3854095878003
        for i, (category, name, arguments) in enumerate(
            (
                ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", {"bytes": 4096}),
                ("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", {}),
                ("gpu_memset", "Memset (Device)", {"bytes": 512}),
            )
        ):
            call = span("cuda_runtime", "cudaCopyOrFill", begin + 2 * i, 1, 1, 11)
            call["args"] = {"correlation": 1000 + i}
            work = span(category, name, begin + 30 + i, 2, 0, 9)
            work["args"] = {"device": 0, "context": 1, "stream": 9, "correlation": 1000 + i}
            work["args"] |= arguments
            document["traceEvents"] += [call, work]
        malloc = span("cuda_runtime", "cudaMalloc", begin + 60, 3, 1, 11)
        malloc["args"] = {"correlation": 2000}
        document["traceEvents"].append(malloc)
        wait = span("cuda_sync", "Stream Sync", begin + 70, 5, 0, 9)
        wait["args"] = {"device": 0, "context": 1, "stream": 9, "correlation": 3000}
        document["traceEvents"].append(wait)
        text = json.dumps(document).replace('"TS', "").replace('TS"', "")
        (first,) = self.imported(self.write("first.json", text))
        chrome = self.folder / "chrome.json"
        exported = run("export", first["session"], "--to", "chrome", "--output", chrome)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        (second,) = self.imported(chrome)
        self.assertEqual(second["not_imported"], {})
        for kind, count in (("kernel", 2 * STEPS), ("memcpy", 2), ("memset", 1), ("api", 1),
                            ("sync", 1), ("scope", STEPS)):  # fmt: skip
            self.assertEqual(first["rows"][kind], count, kind)
            self.assertEqual(second["rows"][kind], count, kind)
        work = ("start_ns", "duration_ns", "device", "context", "stream", "correlation",
                "api_start_ns", "api_duration_ns", "thread", "bytes")  # fmt: skip
        for kind, columns in (
            ("kernel", (*work, "name", "grid", "block", "registers", "shared_static")),
            ("memcpy", (*work, "route", "source_memory", "target_memory")),
            ("memset", (*work, "memory")),
            ("api", ("start_ns", "duration_ns", "name")),
            ("sync", ("start_ns", "duration_ns", "call")),
            ("scope", ("start_ns", "duration_ns", "name")),
        ):
            before = self.rows(first["session"], kind, *columns)
            self.assertEqual(self.rows(second["session"], kind, *columns), before, kind)

    def test_files_of_a_job_become_one_run(self):
        files = [self.write(f"rank{rank}.json", torch_trace(rank)) for rank in (0, 1)]
        sessions = self.imported(*files)
        folders = {pathlib.Path(session["session"]).parent for session in sessions}
        self.assertEqual(len(folders), 1)
        listed = json.loads(run("sessions", self.logs, "--json").stdout)
        self.assertEqual({one["session"]["rank"] for one in listed}, {0, 1})
        self.assertEqual({one["state"] for one in listed}, {"not proven"})
        self.assertEqual({one["kernels"] for one in listed}, {2 * STEPS})

    def test_an_export_of_nsight_systems_becomes_a_session(self):
        path = self.folder / "trace.sqlite"
        with sqlite3.connect(path) as export:
            export.executescript(
                """
                CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
                INSERT INTO StringIds VALUES (1, 'gemm');
                CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER,
                  deviceId INTEGER, streamId INTEGER, correlationId INTEGER, shortName INTEGER);
                INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 250, 0, 7, 1, 1);
                """
            )
        (session,) = self.imported(path)
        self.assertEqual(session["source"], "nsight_systems")
        kernel = json.loads(run("cat", session["session"], "kernel").stdout)
        self.assertEqual((kernel["start_ns"], kernel["duration_ns"]), (0, 150))

    def test_a_trace_that_is_cut_is_imported_in_part(self):
        path = self.write("cut.json", torch_trace(0)[:4000])
        ended = run("import", path, "--output", self.logs)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("imported in part", ended.stdout)
        report = run("report", self.logs).stdout
        self.assertIn("whole trace: asked for, not available", report)
        self.assertIn("incomplete:", report)
        self.assertNotIn("no loss is known", report)

    def test_the_gate_does_not_pass_what_is_cut_off(self):
        for side, end in (("base", None), ("cut", -2000)):
            for repeat in range(5):
                trace = torch_trace(0).replace('"rank": 0', f'"rank": {repeat}')
                path = self.write(f"{side}{repeat}.json", trace[:end])
                run("import", path, "--output", self.folder / side)
        gate = run("gate", self.folder / "cut", "--baseline", self.folder / "base")
        self.assertEqual(gate.returncode, 2, gate.stdout)
        self.assertIn("5 more have an incomplete trace", " ".join(gate.stdout.split()))
        self.assertIn("ends early", gate.stdout)
        self.assertIn("ends early", run("diff", self.folder / "base", self.folder / "cut").stdout)

    def test_the_same_trace_is_one_repeat_however_often_it_is_imported(self):
        for folder in ("a", "b", "c"):
            path = self.write(f"{folder}.json", torch_trace(0))
            ended = run("import", path, "--output", self.logs / folder)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        diff = run("diff", self.logs, self.logs / "a")
        self.assertIn("copies of one session", " ".join(diff.stdout.split()))
        self.assertEqual(run("import", path, "--output", self.logs / "c").returncode, 2)

    def test_wrong_files_give_a_sentence_and_leave_nothing(self):
        for name, content, says in (
            ("a.txt", "hello", "neither a trace of torch.profiler"),
            ("a.json", "hello", "not JSON"),
            ("b.json", '{"a":1}', "export_chrome_trace"),
            ("c.json", '{"traceEvents":[]}', "no kernel"),
            ("d.nsys-rep", "x", "nsys export --type sqlite"),
            ("e.json.gz", gzip.compress(torch_trace(0).encode())[:12], "cut off"),
        ):
            with self.subTest(name):
                ended = run("import", self.write(name, content), "--output", self.logs)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(says, ended.stderr)
                self.assertEqual(ended.stdout, "")
                self.assertFalse(self.logs.exists())

    def test_a_folder_that_cannot_be_made_is_named(self):
        in_the_way = self.write("file", "")
        path = self.write("a.json", torch_trace(0))
        ended = run("import", path, "--output", in_the_way)
        self.assertEqual(ended.returncode, 2)
        self.assertIn(str(in_the_way), ended.stderr)

    def test_sessions_says_that_there_are_none(self):
        ended = run("sessions", self.folder)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("there is no session in it", ended.stderr)


if __name__ == "__main__":
    unittest.main()
