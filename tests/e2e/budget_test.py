# SPDX-License-Identifier: Apache-2.0
"""`gpufl trace --budget`: phases of programs that play CUDA, and of made-up GPUs."""

from monitor_process import wait_until
from traced_program import TraceTest, events, kill, main, rows


def phases(session):
    return [row for row in rows(session, "coverage") if row.get("shape", 0) == 0]


def ledger(session):
    (line,) = rows(session, "ledger")
    return line


class Budget(TraceTest):
    def test_phases_alternate_and_are_complete(self):
        go = self.folder / "go"
        process = self.start("cuda", f"launch_until:{go}", options=["--budget", "5%"])
        self.wait_for_process("recording")
        self.wait_for_process("detached")
        self.wait_for_process("recording")
        go.touch()
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 0, errors)
        session = self.session()
        self.assertEqual(self.verdict(), 0)
        (header,) = rows(session, "session")
        self.assertEqual(header["overhead_budget_ppm"], 50_000)
        recorded = phases(session)
        self.assertEqual(len(recorded), 2)
        self.assertEqual(ledger(session)["phases"], 2)
        self.assertEqual(ledger(session)["attached_ns"], sum(row["duration_ns"] for row in recorded))
        launches = sum(row["launches"] for row in recorded)
        self.assertEqual(launches, ledger(session)["launches_seen"])
        self.assertGreaterEqual(self.kernels(), launches)  # some are launched while it attaches
        self.assertEqual([row["why"] for row in recorded], [1, 1])
        self.assertEqual([row.get("ending", 0) for row in recorded], [1, 0])
        for row in recorded:
            self.assertGreaterEqual(row["cost_ns"], row["launches"] * 5000)
        first, second = recorded
        pause = (first["start_ns"] + first["duration_ns"], second["start_ns"] - 500_000_000)
        self.assertGreater(pause[1], pause[0])
        for kernel in rows(session, "kernel"):
            called = kernel.get("api_start_ns", 0)
            self.assertFalse(pause[0] < called < pause[1], kernel)

    def test_a_pause_by_hand_wins(self):
        go = self.folder / "go"
        process = self.start("cuda", f"launch_until:{go}", options=["--budget", "5%"])
        pid = str(self.wait_for_process("detached")["pid"])
        self.control(pid, "stop")
        self.wait_for_process("detached")  # it was so; nothing is attached from now on
        self.control(pid, "start")
        self.wait_for_process("recording")
        self.control(pid, "stop")
        self.wait_for_process("paused")
        go.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        self.assertEqual([row["why"] for row in phases(self.session())], [1, 3])
        self.assertEqual([row["ending"] for row in phases(self.session())], [1, 3])

    def test_a_phase_that_was_under_way_is_known_after_a_kill(self):
        process = self.start("cuda", "launch_until:/nowhere", options=["--budget", "5%"])
        self.wait_for_process("detached")
        status = self.wait_for_process("recording")
        resumed = wait_until(
            lambda: events(self.session(), "recording_resumed"), "the second phase in the log"
        )
        began = resumed[-1]["time_ns"]
        wait_until(
            lambda: any(row["start_ns"] > began for row in rows(self.session(), "kernel")),
            "work of the second phase in the log",
        )
        kill(status["pid"])
        process.wait()
        self.assertEqual(resumed[-1]["why"], "budget")
        (first,) = phases(self.session())
        self.assertGreater(resumed[-1]["time_ns"], first["start_ns"] + first["duration_ns"])
        self.assertIn("where it began is inferred", self.gpufl("report", "--full", self.session()).stdout)

    def test_values_that_cannot_be_meant(self):
        for value, told in (
            ("60%", "'60%' is out of range; use 0, or 0.1 to 50"),
            ("-1", "'-1' is out of range; use 0, or 0.1 to 50"),
            ("much", "'much' is not a percentage, such as 2 or 1.5%"),
        ):
            ended = self.trace("cuda", options=[f"--budget={value}"])
            self.assertEqual(ended.returncode, 64, value)
            self.assertIn(told, ended.stderr)
        self.assertFalse(self.output.exists())

    def test_a_variable_that_cannot_be_meant_is_told_in_the_log(self):
        ended = self.trace("cuda", "launch:3", GPUFL_OVERHEAD_BUDGET="0.01%")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        (warning,) = events(self.session(), "option_warning")
        self.assertIn("GPUFL_OVERHEAD_BUDGET: '0.01%' is out of range; use 0, or 0.1 to 50", warning["text"])
        self.assertEqual([row.get("why", 0) for row in phases(self.session())], [0])

    def test_samples_of_made_up_gpus(self):
        go = self.folder / "go"
        self.variables |= {"GPUFL_BACKEND": "synthetic", "GPUFL_PC_SAMPLING_PERIOD": "20"}
        process = self.start(
            "cuda", f"await:{go}", options=["--budget", "10%", "--engine", "PcSampling"]
        )
        self.wait_for_process("detached")
        go.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        session = self.session()
        self.assertEqual(self.verdict(), 0)
        windows = [row for row in rows(session, "coverage") if row.get("shape") == 1]
        self.assertGreater(len(windows), 5)
        self.assertEqual(ledger(session)["sampling_windows"], len(windows))
        taken = sum(row["samples"] for row in windows)
        self.assertEqual(ledger(session)["pc_samples"], taken)
        self.assertTrue(rows(session, "pc_sample"))
        report = self.gpufl("report", session).stdout
        self.assertRegex(report, "ledger +complete inside 1 phase, which covers")
        self.assertIn("10% asked for; cost ", report)
        self.assertIn("STALLS: ", report)
        self.assertIn("totals are those of the phases", report)


if __name__ == "__main__":
    main()
