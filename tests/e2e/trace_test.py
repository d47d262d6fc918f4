# SPDX-License-Identifier: Apache-2.0
"""`gpufl trace` over programs that play CUDA: what is recorded, and what the program's caller sees."""

import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time

from monitor_process import GPUFL, PROGRAMS, environment, run, wait_until
from traced_program import (
    IS_SANITIZED, LIBRARY, PROGRAM, TraceTest, events, is_alive, kill, main, rows,
    skip_forks_if_sanitized,
)  # fmt: skip


class Recorded(TraceTest):
    def test_kernels_copies_and_waits_of_a_program_that_knows_nothing(self):
        ended = self.trace("say:working", "cuda", "launch:100", "copy:3", "wait")
        self.assertEqual((ended.returncode, ended.stdout), (0, "working\n"), ended.stderr)
        session = self.session()
        self.assertEqual(self.verdict(), 0)
        self.assertEqual(len(rows(session, "kernel")), 100)
        self.assertEqual(len(rows(session, "memcpy")), 3)
        self.assertEqual(len(rows(session, "sync")), 1)
        self.assertRegex(ended.stderr, r"kernels +100 \(")
        self.assertRegex(ended.stderr, r"ledger +complete\n")
        self.assertIn(f"Next: gpufl report {self.run_folder()}\n", ended.stderr)

    def test_options_behind_the_program_are_its_own(self):
        script = 'for word; do echo "$word"; done'
        words = ["-x", "--output", "there", "--engine=none", "--", "-h"]
        for dashes in ([], ["--"]):
            for options in (["-q", "-o", self.output], [f"-qo{self.output}"], [f"--output={self.output}"]):
                with self.subTest(options=options, dashes=dashes):
                    ended = self.gpufl("trace", *options, *dashes, "sh", "-c", script, "sh", *words)
                    self.assertEqual(ended.returncode, 0, ended.stderr)
                    self.assertEqual(ended.stdout.split(), words)
                    self.assertTrue(self.output.exists())

    def test_quiet_is_silent(self):
        ended = self.trace("cuda", "launch:1", options=["--quiet"])
        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "", ""))
        self.assertEqual(self.kernels(), 1)

    def test_options_reach_the_session(self):
        go = self.folder / "go"
        options = ["--name", "my run", "--engine", "monitor", "--interval", "20ms"]
        process = self.start("cuda", f"await:{go}", options=options)
        self.wait_for_process("monitoring")
        wait_until(lambda: rows(self.session(), "device_metric"), "samples")
        go.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        header = run(GPUFL, "report", self.session()).stdout
        self.assertIn("GPUFlight report: my run", header)
        self.assertIn("engine Monitor", header)

    def test_the_variable_names_the_engine_where_no_option_does(self):
        for options, kernels in (([], 0), (["--engine", "Trace"], 5)):
            self.output = self.folder / f"logs-{kernels}"
            self.trace("cuda", "launch:5", options=options, GPUFL_PROFILING_ENGINE="monitor")
            self.assertEqual(len(rows(self.session(), "kernel")), kernels)

    def test_an_engine_that_this_version_has_not_falls_and_is_told(self):
        engine = "RangeProfilerKernelReplay"
        ended = self.trace("cuda", "launch:5", options=["--engine", engine])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        told = f"--engine {engine}: this version does not have that engine; it falls back to Trace"
        self.assertIn(told, ended.stderr)
        self.assertEqual(self.kernels(), 5)
        (note,) = [row for row in rows(self.session(), "capability") if row["asked"] == engine]
        self.assertEqual((note["got"], note["reason"]), ("Trace", "not_in_this_version"))

    def test_options_that_cannot_be_used_are_told_at_once_and_by_the_report(self):
        config = self.folder / "broken.json"
        config.write_text('{"log_window_mb": ,}')
        wrong = {
            "GPUFL_PROFILING_ENGINE": "Trce",  # which --engine replaces
            "GPUFL_SYSTEM_SAMPLE_RATE_MS": "fast",
            "GPUFL_CONFIG_FILE": str(config),
        }
        said = ["'Trce' is not one of Monitor, Trace,", "'fast' is not a whole number", "broken_json"]
        for steps in (["cuda", "launch:1"], []):
            self.output = self.folder / f"logs-{len(steps)}"
            ended = self.trace(*steps, **wrong)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            start = ended.stderr.split("RUN:")[0]
            full = self.gpufl("report", "--full", self.session()).stdout.split("SESSION")[0]
            for text in said:
                self.assertIn(text, start)
                self.assertIn(text, " ".join(full.split()))
            first = self.gpufl("report", self.session()).stdout.splitlines()[:10]
            self.assertIn("! option not used as given: ", "\n".join(first))
            self.assertEqual(len(events(self.session(), "option_warning")), len(said))
        self.assertEqual(self.trace("cuda", options=["-q"], **wrong).stderr, "")

    def test_every_process_has_a_session_of_one_run(self):
        ended = self.trace("children:3", "cuda", "launch:20")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(len(self.sessions()), 3)
        for session in self.sessions():
            self.assertEqual(self.kernels(session), 20)
            self.assertEqual(self.verdict(session), 0)
        self.assertRegex(ended.stderr, r"processes +3\n +kernels +60 ")
        told = run(GPUFL, "report", self.run_folder())
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn(f"RUN: {self.run_folder().name}", told.stdout)
        for rank in range(3):
            self.assertRegex(told.stdout, rf"cuda_program +\d+ +{rank} .* 20 .* complete")

    def test_a_program_that_uses_the_library_has_one_session_in_the_run(self):
        for program in ("joining_shared", "joining_static"):
            for steps in (
                ("init", "work:own", "cuda", "launch:10", "work:own", "shutdown"),
                ("cuda", "init", "launch:10", "work:own", "work:own", "shutdown", "launch:5"),
            ):
                with self.subTest(program, steps=steps):
                    ended = self.gpufl(
                        "trace", "-o", self.output, "--", PROGRAMS / program, self.folder, *steps
                    )
                    self.assertEqual((ended.returncode, ended.stdout), (0, "init true\n"))
                    session = self.session()
                    self.assertEqual(self.kernels(), 10 if steps[0] == "init" else 15)
                    self.assertEqual([row["name"] for row in rows(session, "scope")], ["own"] * 4)
                    self.assertEqual(self.verdict(), 0)
                    shutil.rmtree(self.output)

    def test_a_program_ends_with_its_last_thread(self):
        if IS_SANITIZED:
            self.skipTest("the sanitizer has a thread of its own")
        for program in ("joining_shared", "joining_static"):
            with self.subTest(program):
                folder = self.folder / program
                ended = run(PROGRAMS / program, folder, "init", "work:own", "leave_main")
                self.assertEqual((ended.returncode, ended.stdout), (0, "init true\n"))
                (session,) = folder.glob("own/*/")
                self.assertEqual(self.verdict(session), 0)

    def absence(self):
        """What the only session of the run, which the launcher wrote, says of it."""
        (event,) = events(self.session(), "no_session_left")
        self.assertIn("gpufl doctor", event["hint"])
        return event

    def test_a_program_without_cuda_leaves_no_session(self):
        ended = self.trace("say:hello", "exit:5")
        self.assertEqual((ended.returncode, ended.stdout), (5, "hello\n"))
        self.assertRegex(ended.stderr, "^gpufl trace: nothing was recorded: the program did not use CUDA")
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertEqual(self.absence()["exit_code"], 5)
        self.assertIn("no process of this run left", run(GPUFL, "report", self.session()).stdout)
        self.assertIn("verdict     not proven", run(GPUFL, "verify", self.session()).stdout)

    def test_a_run_that_recorded_nothing_does_not_hide_the_one_before(self):
        run(PROGRAMS / "joining_shared", self.output, "init", "work:own")
        (before,) = self.output.glob("own/*/")
        self.trace("say:hello")
        (nothing,) = (s for s in self.output.glob("2*/*/") if events(s, "no_session_left"))
        reported = run(GPUFL, "report", self.output)
        self.assertEqual(reported.returncode, 0)
        self.assertIn("all the rest              gpufl report --full " + str(before), reported.stdout)
        self.assertIn("Of 2 sessions, this is the newest one that recorded something.", reported.stdout)
        self.assertIn(f"nothing was recorded in the newest session; the reason: gpufl report {nothing}", reported.stderr)

    def test_a_machine_without_a_driver_is_named(self):
        none = "/no/such/libnvidia-ml.so.1"
        ended = self.trace("say:hello", "exit:5", GPUFL_NVML_LIBRARY=none)
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertIn("nothing was recorded: this machine has no NVIDIA driver", ended.stderr)
        self.assertEqual(ended.stderr.count("\n"), 1, ended.stderr)
        self.assertIn("has no NVIDIA driver", self.absence()["text"])

    def test_a_program_that_could_not_record_is_not_said_to_have_used_no_cuda(self):
        command = ["env", "GPUFL_DISABLED=1", PROGRAM, "cuda", "launch:5"]
        self.assertEqual(self.gpufl("trace", "-o", self.output, "--", *command).returncode, 0)
        text = self.absence()["text"]
        self.assertIn("or none could record", text)
        self.assertEqual(self.verdict(), 1)

    def test_a_folder_that_was_removed_is_told(self):
        go = self.folder / "go"
        process = self.start("cuda", "launch:5", f"await:{go}")
        self.wait_for_kernels(5)
        self.run_folder().rename(self.folder / "elsewhere")
        go.touch()
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 0, errors)
        self.assertIn("its folder was removed while it ran", self.absence()["text"])

    def test_a_gpu_that_could_not_be_traced_is_no_idle_one(self):
        ended = self.trace("cuda", "launch:3", GPUFL_CUPTI_LIBRARY="/no/such/libcupti.so")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stderr, r"not traced +1: ")
        self.assertRegex(ended.stderr, r"GPU work not recorded +\S")
        self.assertNotRegex(ended.stderr, r"kernels +0 ")
        self.assertRegex(ended.stderr, r"ledger +incomplete\n")
        self.assertIn("library_not_found", ended.stderr)
        told = run(GPUFL, "verify", self.session())
        self.assertEqual(told.returncode, 1)
        self.assertIn("tracings_refused 1", told.stdout)

    def test_a_program_that_drops_its_environment_cannot_be_seen(self):
        self.assertEqual(self.trace("bare", "cuda", "launch:5").returncode, 0)
        self.assertIn("clears its environment", self.absence()["hint"])

    @skip_forks_if_sanitized
    def test_the_child_of_a_fork_has_no_session(self):
        ended = self.trace("cuda", "launch:10", "fork", "exit:4")
        self.assertEqual(ended.returncode, 4, ended.stderr)
        self.assertEqual(self.kernels(), 10)
        self.assertEqual(self.verdict(), 0)
        self.assertEqual(list(self.control_folder.iterdir()), [])

    def test_a_daemon_records_on(self):
        go = self.folder / "go"
        ended = self.trace("daemon", "cuda", "launch:10", f"await:{go}", "launch:5")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.wait_for_kernels(10)
        pid = self.wait_for_process()["pid"]
        go.touch()
        wait_until(lambda: not is_alive(pid), "the daemon's end")
        recorded = [s for s in self.sessions() if not events(s, "no_session_left")]
        self.assertEqual([self.kernels(s) for s in recorded], [15])

    def test_only_the_range_that_was_asked_for(self):
        options = ["--capture-range", "scope:never opened"]
        self.assertEqual(self.trace("cuda", "launch:50", options=options).returncode, 0)
        self.assertEqual(self.kernels(), 0)
        self.assertEqual(len(events(self.session(), "capture_range_never_opened")), 1)

    def test_stacks_lead_to_the_program(self):
        if IS_SANITIZED:
            self.skipTest("sanitizers stand between")
        self.assertEqual(self.trace("cuda", "launch:3", options=["--stacks"]).returncode, 0)
        printed = run(GPUFL, "cat", self.session(), "kernel", "--stacks").stdout
        self.assertIn("cuda_program", printed)
        self.assertTrue((self.session() / "symbols.ndjson").exists())


class Times(TraceTest):
    """Times that are counted from the launch: on a busy machine the program may begin too late for
    the first, and then has more of it."""

    SECONDS = (1, 4, 16)

    def test_after_its_duration_the_program_goes_on(self):
        for seconds in self.SECONDS:
            go = self.folder / f"go{seconds}"
            self.output = self.folder / f"logs{seconds}"
            process = self.start(
                "cuda", "launch:1", "say:launched", f"launch_until:{go}", "say:done",
                options=["-d", f"{seconds}s"],
            )  # fmt: skip
            self.assertEqual(process.stdout.readline(), "launched\n")
            recorded = 0
            if self.statuses():
                self.wait_for_process("ended")
                recorded = self.kernels()
            if recorded > 0:
                break
            go.touch()
            self.end_of(process)
        self.assertGreater(recorded, 0)
        self.assertIsNone(process.poll())
        self.assertEqual(self.verdict(), 0)
        go.touch()
        code, out, errors = self.end_of(process)
        self.assertEqual((code, out), (0, "done\n"), errors)
        self.assertEqual(self.kernels(), recorded)

    def test_counters_stand_between_records_for_a_turn(self):
        go = self.folder / "go"
        process = self.start(
            "cuda", "launch:1", "say:launched", f"launch_until:{go}",
            options=["--engine", "SassMetrics"],
        )  # fmt: skip
        self.assertEqual(process.stdout.readline(), "launched\n")
        wait_until(
            lambda: [row["engine"] for row in rows(self.session(), "coverage")]
            == ["Trace", "SassMetrics"],
            "the turn of counters to be over",
        )
        go.touch()
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 0, errors)
        (ledger,) = rows(self.session(), "ledger")
        self.assertGreater(ledger["launches_counted"], 0)
        self.assertEqual(ledger["launches_missing"], 0)
        # Records begin a little before launches are counted.
        recorded = ledger["kernel_records"] - ledger["kernels_unclaimed"]
        self.assertEqual(ledger["launches_seen"], recorded + ledger["launches_counted"])
        self.assertEqual(self.verdict(), 0)

    def test_a_delay_begins_dormant(self):
        for seconds in self.SECONDS:
            go = self.folder / f"go{seconds}"
            self.output = self.folder / f"logs{seconds}"
            begin_ns = time.monotonic_ns()
            process = self.start(
                "cuda", "maps", "launch:10", f"launch_until:{go}", options=["--delay", f"{seconds}s"]
            )
            self.wait_for_process("recording")
            self.wait_for_kernels(1)
            go.touch()
            code, out, errors = self.end_of(process)
            self.assertEqual(code, 0, errors)
            if out == "libcupti is not mapped\n":
                break
        self.assertEqual(out, "libcupti is not mapped\n")
        # The first records may come of calls that were under way, which nobody saw begin.
        kernels = rows(self.session(), "kernel")
        first_ns = min(row["api_start_ns"] for row in kernels if "api_start_ns" in row)
        first_ns += int(rows(self.session(), "session")[0]["start_monotonic_ns"])
        self.assertGreaterEqual(first_ns, begin_ns + seconds * 1_000_000_000)

    def test_what_was_never_turned_on_has_no_count(self):
        for option in (["--dormant"], ["--delay", "1h"]):
            ended = self.trace("cuda", "launch:9", options=option)
            self.assertEqual(ended.returncode, 0)
            self.assertRegex(ended.stderr, "GPU work not recorded +.*never turned on")
            self.assertNotRegex(ended.stderr, "kernels +0")
            report = run(GPUFL, "report", self.session()).stdout
            self.assertIn("never turned on", report)
            self.assertNotIn("No GPU did any work", report)
            shutil.rmtree(self.output)

    def test_who_comes_after_the_duration_records_nothing(self):
        ended = self.trace("sleep:300", "cuda", "launch:9", options=["-d", "100ms"])
        self.assertEqual(ended.returncode, 0)
        (event,) = events(self.session(), "no_session_left")
        self.assertIn("ended before the program did", event["text"])


class Ends(TraceTest):
    def test_codes_are_the_programs_own(self):
        self.assertEqual(self.trace("cuda", "exit:42").returncode, 42)
        self.assertEqual(self.trace("cuda", "kill:9").returncode, 137)
        self.assertEqual(self.trace("cuda", "kill:15").returncode, 143)
        self.assertEqual(self.trace("children:2", "cuda", "exit:3").returncode, 3)

    def test_who_stops_reading_does_not_decide(self):
        command = f"{GPUFL} trace -o {self.output} -- {PROGRAM} cuda exit:7 2>&1 | true; "
        ended = subprocess.run(
            ["bash", "-c", command + "exit ${PIPESTATUS[0]}"], env=environment(**self.variables)
        )
        self.assertEqual(ended.returncode, 7)

    def test_what_cannot_be_started_leaves_nothing(self):
        for command, code in (("no_such_program", 127), (self.folder, 126)):
            ended = self.gpufl("trace", "--output", self.output, "--", command)
            self.assertEqual(ended.returncode, code)
            self.assertIn(f"gpufl trace: {command}: ", ended.stderr)
            self.assertEqual(list(self.output.iterdir()), [])

    def test_a_signal_that_ends_the_program_finds_its_session_sealed(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start("cuda", "launch:30", "sleep:60000")
                self.wait_for_kernels(30)
                process.send_signal(number)
                code, _, errors = self.end_of(process)
                self.assertEqual(code, 128 + number, errors)
                newest = max(self.output.iterdir())
                (session,) = newest.iterdir()
                self.assertEqual(self.kernels(session), 30)
                self.assertEqual(self.verdict(session), 0)

    def test_a_signal_that_the_program_catches_comes_once(self):
        go = self.folder / "go"
        process = self.start("catch:15", "cuda", "launch:30", f"await:{go}", "launch:7")
        self.wait_for_kernels(30)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.stdout.readline(), "caught 15\n")
        go.touch()
        code, out, errors = self.end_of(process)
        self.assertEqual((code, out), (0, ""), errors)
        self.assertEqual(self.kernels(), 37)
        self.assertEqual(self.verdict(), 0)

    def silent_strangers(self, count):
        """Processes of nobody's run that listen, and never answer: as if they were stopped."""
        self.control_folder.mkdir(mode=0o700, exist_ok=True)
        for _ in range(count):
            stranger = subprocess.Popen(
                ["sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self.addCleanup(stranger.wait)
            self.addCleanup(stranger.kill)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.addCleanup(listener.close)
            listener.bind(str(self.control_folder / f"{stranger.pid}.sock"))
            listener.listen(4)

    def test_silent_processes_of_others_do_not_hold_up_a_signal(self):
        process = self.start("cuda", "launch:30", "sleep:60000")
        self.wait_for_kernels(30)
        self.silent_strangers(60)
        process.send_signal(signal.SIGTERM)
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 128 + signal.SIGTERM, errors)
        self.assertEqual((self.kernels(), self.verdict()), (30, 0))

    def test_a_list_names_who_does_not_answer(self):
        self.start("cuda", "launch:1", "sleep:60000")
        self.wait_for_process()
        self.silent_strangers(1)
        listed = self.gpufl("control", "list")
        self.assertRegex(listed.stderr, r"process \d+ did not answer")
        self.assertEqual(len(listed.stdout.splitlines()), 1, listed.stdout)

    def test_what_an_exit_without_an_end_has_left_is_no_zero(self):
        for step, code in (("leave:3", 3), ("kill:6", 134)):
            with self.subTest(step):
                ended = self.trace("cuda", "launch:10", step)
                self.assertEqual(ended.returncode, code, ended.stderr)
                self.assertNotRegex(ended.stderr, r"(kernels|copies|waits) +0 ")
                self.assertIn("crashed, or left by _exit)", " ".join(ended.stderr.split()))

    def test_rows_that_found_no_room_are_no_zero(self):
        limit = (4096, 4096)
        ended = subprocess.run(
            [GPUFL, "trace", "-o", self.output, "--", PROGRAM, "cuda", "launch:2000"],
            env=environment(**self.variables),
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(" ".join(ended.stderr.split()), r"records were lost: io_error \d")
        self.assertNotRegex(ended.stderr, r"(kernels|copies|waits) +0 ")

    def test_a_killed_program_has_recorded_what_it_did(self):
        process = self.start("cuda", "launch:40", "sleep:60000")
        pid = self.wait_for_process()["pid"]
        wait_until(lambda: self.kernels() == 40, "the kernels on disk")
        kill(pid)
        code, _, errors = self.end_of(process)
        self.assertEqual(code, 137)
        self.assertRegex(errors, r"ledger +cut off")
        self.assertEqual(self.kernels(), 40)
        self.assertEqual(self.verdict(), 1)

    def test_a_kernel_that_still_runs_is_named(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(number.name):
                self.output = self.folder / number.name
                process = self.start("cuda", "launch:3", "hang", "launch:2", "sleep:60000")
                pid = self.wait_for_process()["pid"]
                told = lambda: [row["kernel"] for row in rows(self.session(), "pending")]
                wait_until(told, "a row of what hangs")
                self.assertEqual(told()[0], "hanging_kernel")
                # SIGTERM ends the session first, whose ledger counts what still runs.
                os.kill(pid if number == signal.SIGKILL else process.pid, number)
                code, _, errors = self.end_of(process)
                self.assertEqual(code, 128 + number)
                self.assertRegex(
                    errors, rf"still running +kernel hanging_kernel on GPU 0 of cuda_program \(pid {pid}\)"
                )
                report = self.gpufl("report", self.session()).stdout
                self.assertIn("STILL RUNNING WHEN THE LOG ENDS", report)
                self.assertIn("hanging_kernel", report)

    def test_who_kills_the_launcher_kills_the_program(self):
        process = self.start("cuda", "launch:40", "sleep:60000")
        pid = self.wait_for_process()["pid"]
        wait_until(lambda: self.kernels() == 40, "the kernels on disk")
        process.kill()
        wait_until(lambda: not is_alive(pid), "the program's end")
        self.assertEqual(self.kernels(), 40)


class TurnedOff(TraceTest):
    def test_the_program_runs_unrecorded_with_its_own_code(self):
        for variable in ({"GPUFL_DISABLED": "1"}, {"GPUFL_ENABLED": "0"}):
            ended = self.trace("say:hello", "cuda", "launch:3", "exit:7", **variable)
            self.assertEqual((ended.returncode, ended.stdout), (7, "hello\n"), ended.stderr)
            self.assertIn("the program runs unrecorded\n", ended.stderr)
            self.assertFalse(self.output.exists())
        ended = self.trace("exit:7", options=["--quiet"], GPUFL_DISABLED="1")
        self.assertEqual((ended.returncode, ended.stderr), (7, ""))

    def test_a_program_that_is_not_there_is_127(self):
        ended = self.gpufl("trace", "no_such_program", GPUFL_DISABLED="1")
        self.assertEqual(ended.returncode, 127, ended.stderr)


class Refused(TraceTest):
    def assert_refused(self, *arguments, says, code=2, **variables):
        ended = self.gpufl("trace", "--output", self.output, *arguments, "--", "true", **variables)
        self.assertEqual((ended.returncode, ended.stdout), (code, ""), ended.stderr)
        self.assertIn(says, ended.stderr)
        self.assertFalse(self.output.exists())

    def test_another_tools_injection(self):
        for variable in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
            self.assert_refused(says=f"{variable} names /other.so", **{variable: "/other.so"})
        ended = self.trace("cuda", "launch:2", options=["--replace"], CUDA_INJECTION64_PATH="/o.so")
        self.assertEqual(ended.returncode, 0)
        self.assertEqual(self.kernels(), 2)

    def test_what_would_record_nothing(self):
        self.assert_refused(says="which does not exist", GPUFL_INJECT_LIBRARY="/no/such/library.so")

    def test_a_folder_that_cannot_be_made(self):
        ended = self.gpufl("trace", "--output", "/proc/gpufl", "--", "true")
        self.assertEqual(ended.returncode, 2, ended.stderr)

    def test_wrong_use(self):
        for arguments, says in (
            (["--delay", "soon"], "'soon' is not a duration"),
            (["--keep-last", "0"], "--keep-last"),
            (["--capture-range", "kernel:x"], "is not cudaProfilerApi, nvtx:NAME or scope:NAME"),
            (["--engine", "Warp"], "--engine"),
            (["--dormant", "--delay", "1s"], "--dormant"),
            (["--no-such-option"], "--no-such-option"),
        ):
            self.assert_refused(*arguments, says=says, code=64)
        self.assertEqual(self.gpufl("trace").returncode, 64)

    def test_the_library_is_found_where_it_is_said_to_be(self):
        copy = self.folder / "libgpufl_inject.so"
        copy.write_bytes(LIBRARY.read_bytes())
        ended = self.trace("cuda", "launch:2", GPUFL_INJECT_LIBRARY=os.path.relpath(copy))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.kernels(), 2)

    def test_a_program_by_name_is_searched_for(self):
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        ended = self.gpufl(
            "trace", "-o", self.output, "--", pathlib.Path(PROGRAM.name), "cuda", "launch:1",
            PATH=path,
        )  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.kernels(), 1)


if __name__ == "__main__":
    main()
