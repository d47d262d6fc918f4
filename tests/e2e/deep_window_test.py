# SPDX-License-Identifier: Apache-2.0
"""Deep windows, however they are opened, of programs that play CUDA over the stand-in of libcupti."""

import json
import subprocess

from monitor_process import PROGRAMS, environment, wait_until
from traced_program import TraceTest, events, main, rows

LINKED = PROGRAMS / "joining_shared"
# As the log has them (format/kinds.def).
API, CONTROL, AFTER, WHEN = range(4)
SESSION, DURATION, LAUNCHES, API_CLOSED, CONTROL_CLOSED = range(5)


def windows(session):
    return rows(session, "deep_window")


def phases(session):
    return [row for row in rows(session, "coverage") if row.get("shape", 0) == 0]


def text_of(row, column):
    return row.get(column) or ""


class DeepWindows(TraceTest):
    def status(self, pid):
        return json.loads(self.control(pid, "status", "--json"))

    def wait_for_window(self, pid, is_open, attached=True):
        def found():
            window = self.status(pid)["deep_window"]
            return window["open"] == is_open and (not is_open or window["attached"] == attached)

        wait_until(found, f"a deep window that is {'open' if is_open else 'closed'}")

    def start_launching(self, *options):
        """A program that launches until `self.go` is there; its pid."""
        self.go = self.folder / "go"
        self.process = self.start("cuda", f"launch_until:{self.go}", options=options)
        pid = str(self.wait_for_process()["pid"])
        self.wait_for_kernels(20)
        return pid

    def end_program(self):
        self.go.touch()
        code, _, errors = self.end_of(self.process)
        self.assertEqual(code, 0, errors)
        self.assertEqual(self.verdict(), 0)
        return self.session()

    def assert_covered(self, session, window):
        """The window's launches are those of its phases, and its samples lie in them."""
        own = [row for row in phases(session) if row.get("why") == 5]
        begin, end = window["start_ns"], window["start_ns"] + window["duration_ns"]
        inside = [row for row in own if begin <= row["start_ns"] <= end]
        self.assertTrue(inside)
        self.assertEqual(window["launches"], sum(row["launches"] for row in inside))

    def test_after_a_while_for_a_while(self):
        self.start_launching("--deep-after", "300ms", "--deep-for", "400ms")
        wait_until(lambda: windows(self.session()), "the window's row")
        session = self.end_program()
        (window,) = windows(session)
        self.assertEqual((window["opened_by"], window["closed_by"]), (AFTER, DURATION))
        self.assertGreaterEqual(window["start_ns"], 300_000_000)
        self.assertGreaterEqual(window["duration_ns"], 400_000_000)
        self.assertGreater(window["launches"], 0)
        self.assert_covered(session, window)
        whys = [(row.get("why", 0), row.get("ending", 0)) for row in phases(session)]
        self.assertEqual(whys, [(0, 6), (5, 6), (0, 0)])
        (opened,) = events(session, "deep_window_opened")
        self.assertEqual(opened["opened_by"], "after")
        report = self.gpufl("report", "--full", session).stdout
        self.assertIn("DEEP WINDOWS: 1 (", report)
        self.assertRegex(report, r"PcSampling +after +duration")
        self.assertRegex(self.gpufl("report", session).stdout, r"deep windows +1 \(")
        told = json.loads(self.gpufl("report", "--format", "json", session).stdout)["deep_windows"]
        self.assertEqual((told["count"], told["armed"]["only"]), (1, True))
        self.assertEqual(told["list"][0]["engine"], "PcSampling")

    def test_samples_are_taken_in_windows_only(self):
        self.variables |= {"GPUFL_BACKEND": "synthetic", "GPUFL_PC_SAMPLING_PERIOD": "20"}
        self.go = self.folder / "go"
        self.process = self.start(
            "cuda", f"await:{self.go}", options=["--deep-after", "300ms", "--deep-for", "300ms"]
        )
        self.wait_for_process()
        wait_until(lambda: windows(self.session()), "the window's row")
        session = self.end_program()
        (window,) = windows(session)
        taken = [row for row in rows(session, "coverage") if row.get("shape") == 1]
        self.assertGreater(len(taken), 5)
        self.assertEqual({row["why"] for row in taken}, {5})
        begin, end = window["start_ns"], window["start_ns"] + window["duration_ns"]
        for row in taken:
            self.assertGreaterEqual(row["start_ns"] + row["duration_ns"], begin)
            self.assertLessEqual(row["start_ns"], end)
        self.assertIn("STALLS", self.gpufl("report", "--full", session).stdout)

    def test_when_a_condition_holds(self):
        go = self.folder / "go"
        self.process = self.start(
            "cuda", "launch:5", f"await:{go}",
            options=["--deep-when", "kernel_launch_rate<100 for 200ms", "--deep-for", "100ms",
                     "--deep-cooldown", "1h"],
        )  # fmt: skip
        self.go = go
        pid = str(self.wait_for_process()["pid"])
        wait_until(lambda: windows(self.session()), "the window's row")
        status = self.status(pid)["deep_window"]
        self.assertEqual((status["open"], status["opened"]), (False, 1))
        self.assertGreater(status["cooldown_ns"], 0)
        session = self.end_program()
        (window,) = windows(session)
        self.assertEqual((window["opened_by"], window["closed_by"]), (WHEN, DURATION))
        self.assertLess(window["seen"], 100)
        (opened,) = events(session, "deep_window_opened")
        self.assertEqual(opened["condition"], "kernel_launch_rate<100 for 200ms")
        self.assertIn("kernel_launch_rate<100 for 200ms", self.gpufl("report", "--full", session).stdout)

    def test_by_control(self):
        pid = self.start_launching("--deep-for", "60s")
        self.assertEqual(
            self.control(pid, "deep", "--name", "slow step"), f"process {pid}: opens a deep window\n"
        )
        self.wait_for_window(pid, True)
        self.assertRegex(self.control(pid, "status"), r"deep window +slow step, opened by control, for ")
        second = self.gpufl("control", pid, "deep")
        self.assertEqual(second.returncode, 1)
        self.assertIn("window_open: a deep window is open", second.stderr)
        self.assertEqual(
            self.control(pid, "deep", "--close"), f"process {pid}: closes the deep window\n"
        )
        self.wait_for_window(pid, False)
        self.control(pid, "deep", "--launches", "50")
        self.wait_for_window(pid, False)
        self.control(pid, "deep", "--for", "200ms")
        self.wait_for_window(pid, False)
        self.control(pid, "deep")
        self.wait_for_window(pid, True)
        session = self.end_program()
        all_windows = windows(session)
        self.assertEqual({row["opened_by"] for row in all_windows}, {CONTROL})
        self.assertEqual(
            [row.get("closed_by", 0) for row in all_windows],
            [CONTROL_CLOSED, LAUNCHES, DURATION, SESSION],
        )
        self.assertEqual(all_windows[0]["ignored"], 1)
        self.assertGreaterEqual(all_windows[1]["launches"], 50)
        for window in all_windows:
            self.assert_covered(session, window)
        named = self.gpufl("report", "--full", session).stdout
        self.assertIn("slow step", named)

    def test_two_triggers_at_once_open_one(self):
        go = self.folder / "go"
        self.process = self.start(
            "cuda", "launch:5", f"await:{go}",
            options=["--deep-after", "1500ms", "--deep-when", "kernel_launch_rate<100",
                     "--deep-for", "5s", "--deep-cooldown", "1h"],
        )  # fmt: skip
        self.go = go
        self.wait_for_process()
        wait_until(lambda: windows(self.session()), "the window's row")
        (window,) = windows(self.end_program())
        self.assertEqual(window["ignored"], 1)

    def test_a_pause_closes_it(self):
        pid = self.start_launching("--deep-for", "60s")
        self.control(pid, "deep")
        self.wait_for_window(pid, True)
        self.control(pid, "stop")
        refused = self.gpufl("control", pid, "deep")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("paused: recording is paused", refused.stderr)
        self.control(pid, "start")
        (window,) = windows(self.end_program())
        self.assertEqual(window["closed_by"], 5)

    def test_counters_are_had_once(self):
        pid = self.start_launching("--engine", "SassMetrics", "--deep-for", "300ms")
        wait_until(lambda: self.status(pid)["duration_ns"] > 1_500_000_000, "the program to get going")
        for _ in range(2):
            self.control(pid, "deep")
            self.wait_for_window(pid, False)
        session = self.end_program()
        first, second = windows(session)
        report = json.loads(self.gpufl("report", "--format", "json", session).stdout)
        told = report["deep_windows"]["list"]
        self.assertEqual([entry["engine"] for entry in told], ["SassMetrics", "Trace"])
        self.assertEqual([entry["reason"] for entry in told], [None, "counted_before"])
        self.assertGreater(first["launches"], 0)
        self.assertGreater(second["launches"], 0)

    def test_an_engine_that_cannot_be_had_has_a_name(self):
        # Made-up GPUs do not count by instruction.
        go = self.folder / "go"
        self.variables |= {"GPUFL_BACKEND": "synthetic"}
        self.go = go
        self.process = self.start(
            "cuda", f"await:{go}", options=["--engine", "SassMetrics", "--deep-for", "1s"]
        )
        pid = str(self.wait_for_process()["pid"])
        refused = self.gpufl("control", pid, "deep")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("engine_too_low: the engine Trace has nothing to attach", refused.stderr)
        session = self.end_program()
        self.assertEqual(windows(session), [])
        (told,) = events(session, "deep_window_refused")
        self.assertEqual((told["opened_by"], told["reason"]), ("control", "engine_too_low"))
        notes = [row for row in rows(session, "capability") if row["feature"] == "deep_window_only"]
        self.assertEqual([note["reason"] for note in notes], ["engine_too_low"])

    def test_within_a_budget(self):
        go = self.folder / "go"
        self.go = go
        self.process = self.start(
            "cuda", f"launch_until:{go}", options=["--budget", "5%", "--deep-for", "300ms"]
        )
        pid = str(self.wait_for_process("detached")["pid"])
        self.control(pid, "deep")
        self.wait_for_window(pid, False)
        session = self.end_program()
        (window,) = windows(session)
        self.assert_covered(session, window)
        self.assertEqual([row.get("why", 0) for row in phases(session)][:2], [1, 5])

    def test_what_cannot_be_meant_is_refused(self):
        for options, told in (
            (["--deep-when", "kernel_lanch_rate<1"], "did you mean 'kernel_launch_rate'?"),
            (["--deep-when", "kernel_launch_rate=1"], "'=' is not one of <, <=, >, >="),
            (["--deep-for", "2m"], "60s"),
            (["--deep-launches", "0"], "--deep-launches"),
            (["--engine", "Trace", "--deep-for", "1s"], "the engine Trace has nothing to attach"),
        ):
            ended = self.trace("cuda", options=options)
            self.assertEqual(ended.returncode, 64, ended.stderr)
            self.assertIn(told, ended.stderr)
        for arguments in (["1", "stop", "--for", "1s"], ["1", "deep", "--close", "--name", "x"]):
            self.assertEqual(self.gpufl("control", *arguments).returncode, 64)
        self.assertFalse(self.output.exists())


class Api(TraceTest):
    ARMED = {
        "GPUFL_PROFILING_ENGINE": "PcSampling",
        "GPUFL_OVERRIDE": "1",
        "GPUFL_DEEP_ARM": "window",
    }

    def linked(self, *steps, **variables):
        ended = subprocess.run(
            [LINKED, self.folder, *steps],
            capture_output=True,
            text=True,
            timeout=120,
            env=environment(**(self.variables | self.ARMED | variables)),
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def own_session(self):
        (found,) = (p.parent for p in self.folder.rglob("manifest.ndjson"))
        return found

    def test_a_program_opens_its_own(self):
        printed = self.linked(
            "init", "cuda", "launch:20", "deep_for:200", "deep:second", "deep_await", "launch:20",
            "deep:named", "deep_close", "deep_await", "shutdown",
        )  # fmt: skip
        self.assertEqual(printed, "init true\ndeep true\ndeep false\ndeep true\n")
        session = self.own_session()
        first, second = windows(session)
        self.assertEqual((first.get("opened_by", 0), first["closed_by"]), (API, DURATION))
        self.assertEqual((second.get("opened_by", 0), second["closed_by"]), (API, API_CLOSED))
        self.assertEqual(first["ignored"], 1)
        self.assertEqual([e.get("window") for e in events(session, "deep_window_opened")], [None, "named"])

    def test_bounds_are_variables_too(self):
        self.linked(
            "init", "cuda", "launch:20", "deep_for:60000", "deep_await", "shutdown",
            GPUFL_DEEP_WINDOW_MAX_LAUNCHES="100",
        )  # fmt: skip
        (window,) = windows(self.own_session())
        self.assertEqual(window["closed_by"], LAUNCHES)
        self.assertGreaterEqual(window["launches"], 100)

    def test_a_variable_sets_when(self):
        self.linked(
            "init", "cuda", "launch:20", f"await:{self.folder}/own", "deep_for:1", "deep_await",
            "shutdown", GPUFL_DEEP_AFTER_MS="1", GPUFL_DEEP_WINDOW_MS="150",
        )  # fmt: skip
        opened = events(self.own_session(), "deep_window_opened")
        self.assertEqual(opened[0]["max_duration_ns"] in (150_000_000, 10_000_000), True)

    def test_the_end_of_the_session_closes_it(self):
        self.linked("init", "cuda", "launch:20", "deep:last", "launch:20", "shutdown")
        (window,) = windows(self.own_session())
        self.assertEqual(window.get("closed_by", 0), SESSION)

    def test_without_a_session_nothing_happens(self):
        self.assertEqual(self.linked("deep_for:100", "deep_close", "deep_await"), "deep false\n")

    def test_an_engine_that_is_too_low_refuses(self):
        printed = self.linked(
            "init", "cuda", "launch:3", "deep_for:100", "shutdown", GPUFL_PROFILING_ENGINE="Trace"
        )
        self.assertIn("deep false", printed)
        (told,) = events(self.own_session(), "deep_window_refused")
        self.assertEqual((told["opened_by"], told["reason"]), ("api", "engine_too_low"))

    def test_the_session_is_the_launchers(self):
        ended = self.gpufl(
            "trace", "--output", self.output, "--deep-for", "100ms", "--", LINKED, self.folder,
            "cuda", "init", "launch:20", "deep:mine", "deep_for:100", "deep_close", "deep_await",
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("deep true\ndeep false\n", ended.stdout)
        (window,) = windows(self.session())
        self.assertEqual((window.get("opened_by", 0), window["closed_by"]), (API, API_CLOSED))


if __name__ == "__main__":
    main()
