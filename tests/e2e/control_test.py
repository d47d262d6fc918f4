# SPDX-License-Identifier: Apache-2.0
"""`gpufl control` of programs that record, and the socket behind it."""

import json
import os
import socket
import stat
import subprocess

from monitor_process import GPUFL, wait_until
from traced_program import TraceTest, events, kill, main


class Control(TraceTest):
    def test_recording_is_paused_and_resumed(self):
        first, second, last = (self.folder / name for name in ("first", "second", "last"))
        process = self.start(
            "cuda", "launch:10", "say:a", f"await:{first}", "launch:20", "say:b",
            f"await:{second}", "launch:40", "say:c", f"await:{last}",
        )  # fmt: skip
        process.stdout.readline()
        pid = str(self.wait_for_process()["pid"])
        self.wait_for_kernels(10)
        self.assertEqual(self.control(pid, "stop"), f"process {pid}: paused\n")
        self.wait_for_process("paused")
        first.touch()
        process.stdout.readline()
        self.assertEqual(self.control(pid, "start"), f"process {pid}: records\n")
        second.touch()
        process.stdout.readline()
        self.control(pid, "flush")
        self.assertEqual(self.kernels(), 50)
        self.control(pid, "mark", "epoch 2")
        last.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        self.assertEqual(self.kernels(), 50)
        self.assertEqual(events(self.session(), "mark")[0]["text"], "epoch 2")

    def test_dormant_until_told(self):
        go = self.folder / "go"
        process = self.start(
            "cuda", "maps", f"await:{go}", "launch:5", options=["--dormant"]
        )
        self.assertEqual(process.stdout.readline(), "libcupti is not mapped\n")
        pid = str(self.wait_for_process("dormant")["pid"])
        self.control(pid, "start")
        go.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        self.assertEqual(self.kernels(), 5)

    def test_a_target_may_be_named_in_every_way(self):
        go = self.folder / "go"
        process = self.start("cuda", "launch:3", f"await:{go}")
        status = self.wait_for_process()
        for target in (
            status["pid"], self.session(), self.run_folder(), status["session_id"], status["run_id"],
        ):  # fmt: skip
            told = json.loads(self.control(target, "status", "--json"))
            self.assertEqual(told["session_id"], status["session_id"], target)
        self.assertIn(str(self.session()), self.control("list"))
        go.touch()
        self.end_of(process)

    def test_what_has_not_finished_is_shown(self):
        go = self.folder / "go"
        process = self.start("cuda", "launch:3", "hang", f"await:{go}")
        pid = str(self.wait_for_process()["pid"])
        self.wait_for_kernels(3)
        # A kernel is named when it has run for a while.
        wait_until(lambda: "hanging_kernel" in self.control(pid, "status"), "the kernel's name")
        shown = self.control(pid, "status")
        self.assertRegex(shown, r"NOT FINISHED: 1\n +cudaLaunchKernel of hanging_kernel, for .*, thread \d+, device 0")
        pending = json.loads(self.control(pid, "status", "--json"))["tracer"]["pending"]
        self.assertEqual([call["thread"] for call in pending], [int(pid)])
        self.assertEqual([call["kernel"] for call in pending], ["hanging_kernel"])
        go.touch()
        self.end_of(process)

    def test_an_ended_session_is_sealed_while_the_program_runs(self):
        go = self.folder / "go"
        process = self.start("cuda", "launch:3", f"await:{go}", "launch:9")
        pid = str(self.wait_for_process()["pid"])
        self.wait_for_kernels(3)
        self.control(pid, "end")
        self.assertEqual(self.verdict(), 0)
        refused = self.gpufl("control", pid, "start")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("the session has ended", refused.stderr)
        go.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        self.assertEqual(self.kernels(), 3)

    def test_what_cannot_be_recorded_is_refused_with_the_reason(self):
        go = self.folder / "go"
        self.variables["GPUFL_BACKEND"] = "none"
        process = self.start("cuda", f"await:{go}", options=["--dormant"])
        pid = str(self.wait_for_process("dormant")["pid"])
        refused = self.gpufl("control", pid, "start")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("no_backend", refused.stderr)
        go.touch()
        self.end_of(process)

    def assert_unreachable(self, target, says):
        ended = self.gpufl("control", target, "status")
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn(says, ended.stderr)

    def test_what_is_not_there(self):
        ended = subprocess.Popen(["true"])
        ended.wait()
        self.assert_unreachable(ended.pid, says=f"there is no process {ended.pid}")
        self.assert_unreachable(os.getpid(), says="is not recording")
        self.assert_unreachable("20990101T000000Z-00", says="is not a process, session or run")
        self.assert_unreachable(self.folder, says="there is no session in it")
        self.trace("cuda", "launch:1")
        self.assert_unreachable(self.session(), says="nothing is being recorded there")

    def test_wrong_use(self):
        for arguments in (["1"], ["1", "explode"], []):
            self.assertEqual(self.gpufl("control", *arguments).returncode, 64)


class Socket(TraceTest):
    def test_only_its_user_can_open_it(self):
        go = self.folder / "go"
        process = self.start("cuda", f"await:{go}")
        pid = self.wait_for_process()["pid"]
        self.assertEqual(stat.S_IMODE(self.control_folder.stat().st_mode), 0o700)
        if os.geteuid() == 0 and self._nobody_can_run_us():
            asked = subprocess.run(
                [GPUFL, "control", str(pid), "status"], user=65534, capture_output=True, text=True
            )
            self.assertEqual(asked.returncode, 2)
            self.assertIn("belongs to another user", asked.stderr)
        go.touch()
        self.end_of(process)
        self.assertEqual(list(self.control_folder.iterdir()), [])

    def _nobody_can_run_us(self):
        try:
            return subprocess.run([GPUFL, "--version"], user=65534, capture_output=True).returncode == 0
        except PermissionError:
            return False

    def test_what_a_killed_process_left_is_removed(self):
        process = self.start("cuda", "sleep:60000")
        pid = self.wait_for_process()["pid"]
        kill(pid)
        self.end_of(process)
        left = self.control_folder / f"{pid}.sock"
        self.assertTrue(left.exists())
        self.assertEqual(self.statuses(), [])
        self.assertFalse(left.exists())

    def test_a_folder_that_others_can_enter_is_not_used(self):
        self.control_folder.mkdir()
        self.control_folder.chmod(0o755)
        ended = self.trace("cuda", "launch:2")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.kernels(), 2)
        self.assertIn("control: asked for, not available\n", ended.stderr)
        self.assertEqual(list(self.control_folder.iterdir()), [])

    def test_nonsense_does_not_disturb_it(self):
        go = self.folder / "go"
        process = self.start("cuda", "launch:3", f"await:{go}")
        pid = self.wait_for_process()["pid"]
        for text in (b"\n", b"{}\n", b"\xff\xfe\n", b'{"command":"end"', b"x" * 100_000):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(20)
                connection.connect(str(self.control_folder / f"{pid}.sock"))
                try:
                    connection.sendall(text)
                except BrokenPipeError:
                    pass
        self.wait_for_process("recording")
        go.touch()
        self.assertEqual(self.end_of(process)[0], 0)
        self.assertEqual(self.kernels(), 3)


if __name__ == "__main__":
    main()
