# SPDX-License-Identifier: Apache-2.0
"""gpufl monitor and gpufl-monitor as programs: they record, stop cleanly, and say what is wrong."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import unittest

from monitor_process import DAEMON, GPUFL, MonitorTest, get, run, wait_until


class Recording(MonitorTest):
    def test_duration_leaves_a_complete_session(self):
        ended = run(GPUFL, "monitor", "--name", "short", "--output", self.output, "--interval",
                    "20ms", "--duration", "500ms", "--backend", "synthetic")  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(ended.stdout, "", "nothing is shown where nobody looks")
        self.assertIn("stopped by the end of --duration", ended.stderr)
        self.assertIn(str(self.session()), ended.stderr)
        self.assert_verdict(0)

    def test_options_that_cannot_be_used_are_told_at_once_and_by_the_report(self):
        ended = run(DAEMON, "--output", self.output, "--duration", "50ms", "--backend", "none",
                    "--interval", "20ms", "--window-size", "100K", GPUFL_LOG_PAHT="here",
                    GPUFL_PROFILING_ENGINE="Trce", GPUFL_SYSTEM_SAMPLE_RATE_MS="fast")  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        report = run(GPUFL, "report", "--full", self.session()).stdout
        for text in ("did you mean 'Trace'? Using Monitor", "did you mean GPUFL_LOG_PATH?"):
            self.assertIn(text, ended.stderr)
            self.assertIn(text, " ".join(report.split()))
        self.assertIn("use 0 to 3600000. Using 20\n", ended.stderr)
        self.assertNotIn("log_window_mb", ended.stderr)

    def test_lines_view_prints_the_newest_values(self):
        process = self.start("--view", "lines", "--interval", "100ms", program=(GPUFL, "monitor"))
        # The first may come before there are samples.
        newest = re.compile(r"^\d\d:\d\d:\d\d  gpu0 \d+% mem .* host cpu ")
        for _ in range(3):
            wait_until(lambda: newest.match(process.stdout.readline()), "a line of values")
        self.assertEqual(self.stop(process), 0, process.lines.text())

    def test_signals_stop_it_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number.name):
                self.output = self.folder / number.name
                process = self.start("--interval", "20ms", "--prometheus", "0")
                self.wait_for_samples(self.metrics_url(process), 3)
                self.assertEqual(self.stop(process, number), 0, process.lines.text())
                self.assertTrue(process.lines.matching(f"stopped by {number.name}"))
                self.assert_verdict(0)
                self.assertIn("gpu_util_pct", {row["metric"] for row in self.rows("device_metric")})

    def test_a_session_ends_and_the_next_begins(self):
        process = self.start("--interval", "20ms", "--session-length", "1s", "--prometheus", "0")
        url = self.metrics_url(process)
        wait_until(lambda: len(process.lines.matching("recording into the next session")) >= 2, "a third session")
        self.wait_for_samples(url, 3)
        self.assertEqual(self.stop(process), 0, process.lines.text())
        sessions = sorted(p for p in self.output.iterdir() if p.is_dir())
        self.assertGreaterEqual(len(sessions), 3)
        for session in sessions:
            verified = run(GPUFL, "verify", session)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
            printed = run(GPUFL, "cat", session, "device_metric")
            self.assertIn("gpu_util_pct", printed.stdout)

    def test_kill_leaves_a_readable_session(self):
        process = self.start("--interval", "20ms")
        recorded = wait_until(lambda: self.rows("device_metric"), "rows on disk")
        self.assertEqual(self.stop(process, signal.SIGKILL), -signal.SIGKILL)
        self.assert_verdict(1)
        self.assertEqual(self.rows("device_metric")[: len(recorded)], recorded)

    def test_disk_use_stays_within_the_spool(self):
        spool = 64 * 1024
        process = self.start("--interval", "10ms", "--window", "1s", "--spool", "64K")

        def first_windows_are_gone():
            numbers = [int(p.name.split(".")[1]) for p in self.session().glob("system.*.zst")]
            return numbers and min(numbers) > 2

        wait_until(first_windows_are_gone, "the oldest windows to be deleted")
        self.assertEqual(self.stop(process), 0)
        used = sum(p.stat().st_size for p in self.session().iterdir())
        self.assertLessEqual(used, spool)
        self.assertIn("deleted to stay within limits", self.assert_verdict(1))

    def test_starting_again_makes_room(self):
        start = [DAEMON, "--output", self.output, "--duration", "50ms", "--backend", "none"]
        for _ in range(3):
            self.assertEqual(run(*start).returncode, 0)
        self.assertEqual(len(list(self.output.iterdir())), 3, "nothing is deleted unasked")
        other = run(*start, "--name", "other", "--keep-sessions", "0")
        self.assertEqual(len(list(self.output.iterdir())), 4, other.stderr)
        again = run(*start, "--keep-sessions", "0")
        self.assertIn("deleted 3 old sessions", again.stderr)
        self.assertEqual(len(list(self.output.iterdir())), 2)

    def test_making_room_deletes_nothing_else(self):
        start = [DAEMON, "--duration", "50ms", "--backend", "none", "--output"]
        elsewhere = self.folder / "elsewhere"
        self.assertEqual(run(*start, elsewhere).returncode, 0)
        (session,) = elsewhere.iterdir()
        (session / "notes.txt").write_text("mine")
        self.output.mkdir()
        (self.output / "link").symlink_to(elsewhere)
        run(*start, self.output, "--keep-sessions", "0")
        self.assertTrue((session / "manifest.ndjson").exists(), "links are not followed")
        run(*start, elsewhere, "--keep-sessions", "0")
        self.assertEqual([p.name for p in session.iterdir()], ["notes.txt"])

    def test_says_that_the_log_is_paused(self):
        process = self.start("--interval", "20ms", "--prometheus", "0", "--disk-floor", "1000T")
        url = self.metrics_url(process)
        wait_until(lambda: process.lines.matching("the log is paused (disk_floor)"), "the pause")
        wait_until(lambda: re.search(r'dropped_total{reason="disk_floor"} [1-9]', get(url)), "rows")
        self.assertIn("\ngpufl_log_paused 1\n", get(url))
        self.assertEqual(self.stop(process), 1)
        self.assertRegex(process.lines.text(), r"missed, \d[\d,]* rows dropped \(disk_floor \d+\)")

    def test_records_the_host_where_there_is_no_gpu(self):
        process = self.start("--interval", "20ms", "--prometheus", "0", backend="none")
        self.wait_for_samples(self.metrics_url(process), 3)
        text = get(self.metrics_url(process))
        self.assertIn("\ngpufl_gpus 0\n", text)
        self.assertIn("\ngpufl_host_memory_used_bytes ", text)
        self.assertEqual(self.stop(process), 0)
        self.assertTrue(process.lines.matching("the host (no GPU)"), process.lines.text())

    def test_says_why_there_is_no_gpu(self):
        if run("ldconfig", "-p").stdout.count("libnvidia-ml.so"):
            self.skipTest("this machine has a driver")
        ended = run(GPUFL, "monitor", "--output", self.output, "--duration", "100ms")
        self.assertEqual(ended.returncode, 0)
        lines = ended.stderr.splitlines()
        self.assertEqual(lines[1], "gpufl monitor: no NVIDIA driver here; recording the host only")
        self.assertTrue(lines[2].startswith("gpufl monitor: install the NVIDIA driver"), lines)

    def test_needs_no_gpu_library_to_start(self):
        for program in (GPUFL, DAEMON):
            needed = run("ldd", program).stdout
            self.assertNotRegex(needed, r"cuda|nvidia|cupti|rocm|boost")


class WrongUse(MonitorTest):
    def assert_refused(self, *arguments, says):
        for program in ([GPUFL, "monitor"], [DAEMON]):
            ended = run(*program, "--output", self.output, *arguments)
            self.assertEqual(ended.returncode, 64, ended.stderr)
            self.assertIn(says, ended.stderr)
            self.assertIn("--help", ended.stderr)
            self.assertFalse(self.output.exists())

    def test_values_that_cannot_be_meant(self):
        self.assert_refused("--interval", "0", says="'0' is out of range; write 10ms to 1h")
        self.assert_refused("--interval", "2h", says="'2h' is out of range; write 10ms to 1h")
        self.assert_refused("--interval", "often", says="'often' is not a duration")
        self.assert_refused("--duration", "-5s", says="'-5s' is not a duration")
        self.assert_refused("--spool", "12", says="'12' is not a size")
        self.assert_refused("--prometheus", "example.org:80", says="not a numeric address")
        self.assert_refused("--prometheus", ":80", says="0.0.0.0:80")
        self.assert_refused("--backend", "voodoo", says="voodoo")
        self.assert_refused("--prometheus-processes", says="--prometheus")
        self.assert_refused("--intervall", "1s", says="did you mean '--interval'?")

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            ended = run(DAEMON, "--output", self.output, "--prometheus", address)
        self.assertEqual(ended.returncode, 2)
        self.assertIn(f"cannot listen on {address}: Address already in use", ended.stderr)
        self.assertFalse(self.output.exists(), "no empty session is left behind")

    def test_output_that_cannot_be_written(self):
        file = self.folder / "file"
        file.write_text("")
        ended = run(DAEMON, "--output", file / "below", "--duration", "1s")
        self.assertEqual(ended.returncode, 2)
        self.assertIn(str(file), ended.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_output_without_permission(self):
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        ended = run(DAEMON, "--output", self.output, "--duration", "1s")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("Permission denied", ended.stderr)

    def test_screen_without_a_terminal(self):
        ended = run(GPUFL, "monitor", "--output", self.output, "--view", "screen")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("needs a terminal", ended.stderr)


class Metrics(MonitorTest):
    def test_default_address_is_loopback_only(self):
        process = self.start("--prometheus", "0")
        self.assertRegex(self.metrics_url(process), r"^http://127\.0\.0\.1:\d+/metrics$")
        self.assertFalse(process.lines.matching("warning"))

    def test_open_address_is_warned_of(self):
        process = self.start("--prometheus", "0.0.0.0:0")
        wait_until(lambda: process.lines.matching("open to the network"), "the warning")

    def test_pages(self):
        process = self.start("--prometheus", "0", "--prometheus-processes", "--interval", "20ms")
        url = self.metrics_url(process)
        base = url.removesuffix("/metrics")
        self.assertEqual(get(base + "/healthz"), "ok\n")
        self.assertIn('href="/metrics"', get(base + "/"))
        wait_until(lambda: "gpufl_gpu_utilization_ratio{" in get(url), "GPU metrics")
        wait_until(lambda: "gpufl_gpu_process_memory_bytes{" in get(url), "processes")

    def test_slow_client_does_not_hold_up_others(self):
        process = self.start("--prometheus", "0")
        url = self.metrics_url(process)
        port = int(url.split(":")[2].split("/")[0])
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
        for client in slow:
            self.addCleanup(client.close)
            client.send(b"GET /metrics HTTP/1.1\r\nX-Drip: ")
        for _ in range(10):
            self.assertIn("gpufl_build_info{", get(url))
        self.assertEqual(self.stop(process), 0, "nor the end")

    def test_oversized_header_is_refused(self):
        process = self.start("--prometheus", "0")
        port = int(self.metrics_url(process).split(":")[2].split("/")[0])
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nX: " + b"a" * 100_000)
            self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 431 "))


class Service(MonitorTest):
    """deploy/gpufl-monitor.service: its command line is understood, and so is the unit."""

    UNIT = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "gpufl-monitor.service"

    def test_its_command_line_records(self):
        found = re.search(r"^ExecStart=(.*)$", self.UNIT.read_text(), re.MULTILINE)
        _, *arguments = shlex.split(found.group(1))
        arguments[arguments.index("--output") + 1] = str(self.output)
        arguments.insert(arguments.index("--prometheus") + 1, "0")
        ended = run(DAEMON, *arguments, "--duration", "100ms")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assert_verdict(0)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_systemd_understands_it(self):
        unit = self.folder / self.UNIT.name
        unit.write_text(self.UNIT.read_text().replace("/usr/local/bin/gpufl-monitor", str(DAEMON)))
        verified = run("systemd-analyze", "verify", unit)
        self.assertEqual((verified.returncode, verified.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
