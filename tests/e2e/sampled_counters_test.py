# SPDX-License-Identifier: Apache-2.0
"""Hardware counters over time of programs that play CUDA over the stand-in of libcupti."""

import json

from monitor_process import GPUFL, PROGRAMS, run, wait_until
from traced_program import TraceTest, events, main, rows

METRIC = "smsp__inst_executed.sum"  # 8 of each kernel, 1.8 times as many beside its record


def value_of(row):
    return row["value"] * 10 ** row.get("exponent", 0)


class PmSampling(TraceTest):
    def sampled(self, until, metrics=METRIC, **variables):
        """The session of a program that launches until what is asked of its counters holds."""
        go = self.folder / "go"
        self.variables = {**self.variables, "GPUFL_PM_SAMPLING_METRICS": metrics, **variables}
        process = self.start(
            "cuda", "counters", f"launch_until:{go}", options=["--engine", "PmSampling"]
        )
        wait_until(lambda: any(map(until, self.begun_sessions())), "the counters")
        go.touch()
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 0, errors)
        self.assertNotIn("falls back", errors)
        return self.session()

    def test_counters_are_tracks_beside_kernels_in_every_program_that_is_run(self):
        session = self.sampled(lambda one: any(map(value_of, rows(one, "pm_sample"))))
        samples = rows(session, "pm_sample")
        self.assertEqual({row["metric"] for row in samples}, {METRIC})
        self.assertTrue(all(abs(row["duration_ns"] - 100_000) < 5_000 for row in samples))
        self.assertGreater(self.kernels(), 0)
        self.assertLessEqual(sum(map(value_of, samples)), self.kernels() * 8 * 1.8 + 0.1)
        (ledger,) = rows(session, "ledger")
        self.assertEqual(ledger["pm_samples"], len(samples))
        self.assertEqual(ledger["launches_missing"], 0)
        self.assertEqual(self.verdict(session), 0)
        engines = [row["engine"] for row in rows(session, "coverage")]
        self.assertIn(engines, ([], ["PmSampling"]))
        report = run(GPUFL, "report", "--full", session).stdout
        self.assertIn("HARDWARE COUNTERS OVER TIME", report)
        self.assertRegex(report, r"engine +PmSampling,")
        trace = self.folder / "trace.json"
        ended = self.gpufl("export", session, "--to", "chrome", "--output", trace)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        drawn = [one for one in json.loads(trace.read_text())["traceEvents"] if one["ph"] == "C"]
        self.assertTrue(any(METRIC in one["name"] for one in drawn))

    def test_a_set_of_several_passes_is_refused_with_what_fits(self):
        session = self.sampled(
            lambda one: events(one, "counting_ended"), f"{METRIC},lts__t_sector_hit_rate.pct"
        )
        (note,) = [row for row in rows(session, "capability") if row["asked"] == "PmSampling"
                   and row["got"] != "PmSampling"]  # fmt: skip
        self.assertEqual((note["got"], note["reason"]), ("Trace", "several_passes"))
        self.assertIn(f"into one fit {METRIC}", note["detail"])
        self.assertEqual(rows(session, "pm_sample"), [])
        self.assertGreater(self.kernels(), 0)
        self.assertEqual(self.verdict(session), 0)
        report = " ".join(run(GPUFL, "report", session).stdout.split())
        self.assertIn(f"a sample is one: into one fit {METRIC}", report)

    def test_of_a_program_with_scopes_only_what_lies_in_them(self):
        done = self.folder / "done"
        self.variables = {
            **self.variables,
            "GPUFL_PM_SAMPLING_METRICS": METRIC,
            "GPUFL_PM_SAMPLING_SCOPE_ONLY": "1",
        }
        process = self.start_gpufl(
            *("trace", "--output", self.output, "--engine", "PmSampling", "--"),
            *(PROGRAMS / "joining_shared", self.folder, "cuda", "init", f"bench:{done}", "shutdown"),
        )
        wait_until(
            lambda: any(rows(one, "pm_sample") for one in self.begun_sessions()), "a sample"
        )
        done.touch()
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 0, errors)
        session = self.session()
        scopes = [(row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in rows(session, "scope")]
        for row in rows(session, "pm_sample"):
            begin, end = row["start_ns"], row["start_ns"] + row["duration_ns"]
            self.assertTrue(any(begin < to and end > since for since, to in scopes), row)
        self.assertEqual(self.verdict(session), 0)


if __name__ == "__main__":
    main()
