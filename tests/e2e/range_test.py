# SPDX-License-Identifier: Apache-2.0
"""Hardware counters by scope of programs that play CUDA over the stand-in of libcupti."""

from monitor_process import PROGRAMS, wait_until
from traced_program import TraceTest, events, main, rows

METRICS = "smsp__inst_executed.sum,lts__t_sector_hit_rate.pct"


class Ranges(TraceTest):
    def ranged(self, program, metrics=METRICS):
        """The session of a program that runs a benchmark until its turn of counters is over."""
        done = self.folder / "done"
        self.variables = {**self.variables, "GPUFL_RANGE_METRICS": metrics}
        process = self.start_gpufl(
            *("trace", "--output", self.output, "--engine", "RangeProfiler", "--"),
            *(PROGRAMS / program, self.folder, "cuda", "init", f"bench:{done}", "shutdown"),
        )
        wait_until(
            lambda: any(rows(one, "coverage") for one in self.begun_sessions()), "the turn's end"
        )
        done.touch()
        code, out, errors = self.end_of(process)
        self.assertEqual(code, 0, errors)
        asked, ran = out.split("bench ")[1].split()[:2]
        self.assertEqual(asked, ran, "no body runs more often than it was to")
        return self.session()

    def test_iterations_of_a_benchmark_are_passes_whichever_copy_has_the_session(self):
        for program in ("joining_shared", "joining_static"):
            with self.subTest(program):
                self.output = self.folder / program
                (self.folder / "done").unlink(missing_ok=True)
                session = self.ranged(program)
                found = {row["metric"]: row for row in rows(session, "range_metric")}
                counts = found["smsp__inst_executed.sum"]
                self.assertEqual(counts["value"] * 10 ** counts.get("exponent", 0), 16)
                self.assertEqual(found["lts__t_sector_hit_rate.pct"]["pass"], 1)
                self.assertEqual({row["range"] for row in found.values()}, {"gemm"})
                (ledger,) = rows(session, "ledger")
                self.assertEqual(ledger["ranges"], 3)
                self.assertGreater(ledger["launches_counted"], 0)
                self.assertEqual(ledger["launches_missing"], 0)
                self.assertEqual(self.verdict(session), 0)
                engines = [row["engine"] for row in rows(session, "coverage")]
                self.assertEqual(engines, ["RangeProfiler", "Trace"])

    def test_without_any_of_the_metrics_records_follow_at_once(self):
        session = self.ranged("joining_shared", "nonsense.sum")
        notes = [row for row in rows(session, "capability") if row["got"] == "Trace"]
        self.assertEqual([note["reason"] for note in notes], ["unknown_metrics"])
        self.assertEqual(len(events(session, "counting_ended")), 1)
        self.assertEqual(rows(session, "range_metric"), [])
        self.assertEqual(self.verdict(session), 0)


if __name__ == "__main__":
    main()
