# SPDX-License-Identifier: Apache-2.0
"""`gpufl trace --passes` over programs that play CUDA: one run, one report, and where passes differ."""

import json
import shlex
import signal

from monitor_process import GPUFL, run, wait_until
from traced_program import PROGRAM, TraceTest, main, rows

COMBO = "GPUFL_ENGINE_COMBO"


class PassesTest(TraceTest):
    def passes(self, engines, script, **variables):
        """Runs a script in which $P is the program and $GPUFL_PASS the number of the pass."""
        return self.gpufl(
            "trace", "--output", self.output, "--passes", engines, "--", *self.shell(script), **variables
        )

    def shell(self, script):
        return ["sh", "-c", f"P={shlex.quote(str(PROGRAM))}; {script}"]

    def by_pass(self):
        """Each session's header, by its pass; no pass has two."""
        headers = [(path, rows(path, "session")[0]) for path in self.sessions()]
        return {header["pass"]: (path, header) for path, header in headers}

    def report(self, *options):
        told = run(GPUFL, "report", "--format", "json", *options, self.run_folder())
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout)

    def text(self, *options):
        told = run(GPUFL, "report", *options, self.run_folder())
        self.assertEqual(told.returncode, 0, told.stderr)
        return told.stdout


class Merged(PassesTest):
    def test_times_stalls_and_counts_come_from_three_passes(self):
        go = self.folder / "go"
        go.with_suffix(".1").touch()
        command = self.shell(f'exec "$P" cuda code launch:20 say:ready contexts_until:{go}.$GPUFL_PASS')
        engines = "Trace,PcSampling,SassMetrics"
        process = self.start_gpufl(
            "trace", "--output", self.output, "--passes", engines, "--", *command
        )

        def has(number, kind, enough):
            there = self.by_pass().get(number) if self.output.exists() else None
            return there is not None and enough(rows(there[0], kind))

        wait_until(lambda: has(2, "pc_sample", len), "samples")
        go.with_suffix(".2").touch()

        def is_counted(coverage):
            return [row["engine"] for row in coverage] == ["Trace", "SassMetrics"]

        wait_until(lambda: has(3, "coverage", is_counted), "counts")
        go.with_suffix(".3").touch()
        code, out, errors = self.end_of(process)
        self.assertEqual((code, out), (0, "ready\n" * 3), errors)
        for number, engine in enumerate(engines.split(","), 1):
            self.assertIn(f"gpufl trace: pass {number} of 3, {engine}\n", errors)
            header = self.by_pass()[number][1]
            self.assertEqual((header["engine"], header["passes"]), (engine, engines.split(",")))
        self.assertEqual(len({header["run_id"] for _, header in self.by_pass().values()}), 1)

        told = self.report()
        self.assertEqual(told["kind"], "session")
        passes = told["passes"]
        self.assertEqual((passes["times"], passes["stalls"], passes["counts"]), (1, 2, 3))
        self.assertEqual(told["session"]["engine"], "Trace")
        (kernel,) = told["kernels"]["by_name"]
        self.assertEqual((kernel["label"], kernel["duration_ns"]["count"]), ("program_kernel", 20))
        (sampled,) = told["stalls"]["kernels"]
        self.assertEqual(sampled["label"], "program_kernel")
        # The second pass launched until it was sampled.
        (mismatch,) = passes["mismatches"]["launches"]
        self.assertEqual(mismatch["launches"][0], 20)
        self.assertGreater(mismatch["launches"][1], 20)
        of_kernel = self.report("--kernel", "program_kernel")
        self.assertEqual(of_kernel["launches"], 20)
        self.assertGreater(of_kernel["samples"], 0)
        self.assertGreater(of_kernel["counts"]["warps"], 0)
        self.assertIn(
            "times of pass 1, Trace; stalls of pass 2, PcSampling; counts of pass 3,",
            self.text("--kernel", "program_kernel"),
        )
        page = run(GPUFL, "report", "--format", "html", self.run_folder())
        self.assertTrue(">Mismatches between passes" in page.stdout, page.stderr)
        text = self.text("--full")
        self.assertRegex(text, r"(?m)^ +1 +Trace +times ")
        self.assertRegex(text, r"(?m)^ +2 +PcSampling +stalls ")
        self.assertRegex(text, r"(?m)^ +3 +SassMetrics +counts ")
        self.assertRegex(text, r"not all compared: pass 3, SassMetrics: [0-9,]+ launch")
        short = self.text()
        self.assertRegex(short, r"(?m)^PASSES$")
        self.assertIn(f"gpufl report --full {self.run_folder()}\n", short)
        # One that is named itself is that pass alone.
        alone = run(GPUFL, "report", "--full", self.by_pass()[2][0]).stdout
        self.assertRegex(alone, r"pass +2 of 3, asked for PcSampling")
        self.assertNotIn("MISMATCHES", alone)

    def test_a_kernel_of_one_pass_only_is_listed(self):
        ended = self.passes(
            "Trace,Monitor,PcSampling",
            'if [ $GPUFL_PASS = 3 ]; then exec "$P" cuda launch:5 kernel:other_kernel; fi; '
            'exec "$P" cuda launch:5',
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        passes = self.report()["passes"]
        self.assertEqual(
            [(one["kernel"], one["launches"]) for one in passes["mismatches"]["launches"]],
            [("other_kernel", [0, None, 1])],
        )
        self.assertEqual(passes["mismatches"]["order"], [])
        text = self.text("--full")
        self.assertIn("MISMATCHES BETWEEN PASSES: 1 kernel by launches\n", text)
        self.assertRegex(text, r"(?m)^ +other_kernel +0 +\? +1$")

    def test_an_engine_that_this_version_lacks_is_named(self):
        ended = self.passes("trace+rangeprofilerkernelreplay", 'exec "$P" cuda launch:5')
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("--passes RangeProfilerKernelReplay: this version does not have", ended.stderr)
        passes = self.report()["passes"]
        self.assertEqual(passes["times"], 1)
        self.assertEqual([(one["asked"], one["got"]) for one in passes["list"]],
                         [("Trace", "Trace"), ("RangeProfilerKernelReplay", "Trace")])  # fmt: skip
        self.assertEqual(passes["stalls"]["unknown"], "no pass was to record stalls")
        text = self.text("--full")
        self.assertRegex(text, r"(?m)^ +2 +RangeProfilerKernelReplay, ran as Trace +nothing ")
        self.assertIn("MISMATCHES BETWEEN PASSES: none\n", text)

    def test_every_process_is_merged_with_itself(self):
        ended = self.passes("Trace,PcSampling", 'exec "$P" children:2 cuda launch:5')
        self.assertEqual(ended.returncode, 0, ended.stderr)
        told = self.report()
        self.assertEqual((told["kind"], [rank["rank"] for rank in told["ranks"]]), ("run", [0, 1]))
        for rank in told["ranks"]:
            self.assertEqual([one["got"] for one in rank["passes"]["list"]], ["Trace", "PcSampling"])
            self.assertEqual(rank["passes"]["mismatches"]["launches"], [])
        self.assertRegex(self.text("--full"), r"(?m)^ +1 +Trace +times +2 +10 ")


class Commands(PassesTest):
    def test_passes_are_no_repeats_and_one_run(self):
        self.assertEqual(self.passes("Trace,PcSampling", 'exec "$P" cuda launch:5').returncode, 0)
        folder = self.run_folder()
        diff = json.loads(run(GPUFL, "diff", "--format", "json", folder, folder).stdout)
        self.assertEqual((diff["a"]["repeats"], diff["b"]["repeats"]), (1, 1))
        self.assertIn("2 passes: pass 1, Trace, is compared", json.dumps(diff["warnings"]))
        self.assertEqual(run(GPUFL, "verify", folder).returncode, 0)
        listed = run(GPUFL, "sessions", folder).stdout
        self.assertRegex(listed, r" PcSampling 2/2 +")
        self.assertRegex(listed, r" Trace 1/2 +")
        exported = run(GPUFL, "export", "--to", "json", "-o", "-", folder)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        # A run counts as one.
        run(GPUFL, "clean", "--yes", "--keep", "1", self.output)
        self.assertEqual(len(self.sessions()), 2)

    def test_the_variable_is_the_default(self):
        script = 'exec "$P" cuda launch:1'
        ended = self.gpufl(
            "trace", "-o", self.output, "--", *self.shell(script), **{COMBO: "Trace+PcSampling"}
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(sorted(self.by_pass()), [1, 2])
        self.assertNotIn(COMBO, ended.stderr)

    def test_an_engine_that_was_given_takes_precedence(self):
        ended = self.trace("cuda", "launch:1", options=["--engine", "Trace"], **{COMBO: "Trace,Deep"})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn("pass", rows(self.session(), "session")[0])

    def test_what_is_wrong_is_said(self):
        for options, code, words in (
            (["--passes", "Trace,PcSampler"], 64, "did you mean 'PcSampling'?"),
            (["--passes", "Trace,trace"], 64, "'Trace' is named twice"),
            (["--passes", "Trace", "--engine", "Trace"], 64, "--engine excludes --passes"),
        ):
            with self.subTest(options=options):
                ended = self.trace("say:started", options=options)
                self.assertEqual((ended.returncode, ended.stdout), (code, ""))
                self.assertIn(words, ended.stderr)
        ended = self.trace("say:started", **{COMBO: "Trace,Tracee"})
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("GPUFL_ENGINE_COMBO: 'Tracee' is not one of", ended.stderr)
        self.assertFalse(self.output.exists())


class Ends(PassesTest):
    def test_the_first_failure_is_the_exit_code(self):
        ended = self.passes(
            "Trace,PcSampling,Monitor", 'exec "$P" cuda launch:1 exit:$((($GPUFL_PASS - 1) * 3))'
        )
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertIn("pass 2 of 3, PcSampling: the program's exit code is 3\n", ended.stderr)
        self.assertEqual(sorted(self.by_pass()), [1, 2, 3])

    def test_a_pass_without_cuda_has_a_session_that_says_so(self):
        ended = self.passes(
            "Trace,PcSampling", 'if [ $GPUFL_PASS = 2 ]; then exit 0; fi; exec "$P" cuda launch:4'
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("nothing was recorded", ended.stderr)
        self.assertEqual(sorted(self.by_pass()), [1, 2])
        passes = self.report()["passes"]
        self.assertEqual((passes["times"], passes["list"][1]["kernels"]), (1, None))

    def test_a_program_that_does_not_exist_is_not_tried_again(self):
        ended = self.gpufl("trace", "-o", self.output, "--passes", "Trace,Monitor", "--", "/no/such")
        self.assertEqual(ended.returncode, 127)
        self.assertEqual(ended.stderr.count("/no/such"), 1, ended.stderr)
        self.assertEqual(list(self.output.iterdir()), [])

    def test_no_pass_begins_after_an_interrupt(self):
        process = self.start_gpufl(
            "trace", "-o", self.output, "--passes", "Trace,PcSampling", "--",
            PROGRAM, "cuda", "launch:5", "say:ready", f"await:{self.folder / 'never'}",
        )  # fmt: skip
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        code, out, errors = self.end_of(process)
        self.assertEqual((code, out), (128 + signal.SIGINT, ""), errors)
        self.assertIn("stopped: 1 of 2 passes did not run\n", errors)
        self.assertEqual(sorted(self.by_pass()), [1])
        text = self.text("--full")
        self.assertRegex(text, r"(?m)^ +2 +PcSampling, has no session +nothing")
        self.assertIn("pass 2, PcSampling: the process has no session", text)


if __name__ == "__main__":
    main()
