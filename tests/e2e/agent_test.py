# SPDX-License-Identifier: Apache-2.0
"""`gpufl-agent`: what a monitor records arrives, whoever is killed meanwhile."""

import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import unittest

from ingest_server import KEY, IngestServer
from monitor_process import (
    AGENT, DAEMON, GPUFL, MonitorTest, environment, get, run, wait_until,
)  # fmt: skip


DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


class AgentTest(MonitorTest):
    def setUp(self):
        super().setUp()
        self.server = IngestServer()
        self.addCleanup(self.server.close)
        self.key = self.folder / "key"
        self.key.write_text(KEY + "\n")
        self.arguments = ["--server", self.server.url, "--key-file", self.key]

    def agent(self, *options, program=()):
        process = subprocess.Popen(
            [*program, str(AGENT), *map(str, (*self.arguments, *options, self.output))],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment(HOME=str(self.folder), XDG_CONFIG_HOME=""),
        )  # fmt: skip

        def end():
            process.kill()
            process.wait()
            process.stderr.close()

        self.addCleanup(end)
        return process

    def drain(self, *options):
        return run(AGENT, *self.arguments, "--drain", *options, self.output, HOME=str(self.folder))

    def record(self, *options):
        ended = run(DAEMON, "--output", self.output, "--duration", "50ms", "--backend", "synthetic",
                    "--interval", "10ms", *options)  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def is_there(self, session):
        sealed = {p.name: p.read_bytes() for p in session.glob("*.log.zst")}
        with self.server.lock:
            kept = self.server.sessions.get(session.name)
            if kept is None or "manifest" not in kept["whole"]:
                return False
            there = {f"{c}.{n}.log.zst": w["sealed"] for (c, n), w in kept["windows"].items()}
            return there == sealed and len(sealed) > 0

    def test_drains_a_folder_and_exits(self):
        for _ in range(3):
            self.record()
        ended = self.drain()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("drained: sent ", ended.stderr)
        self.assertIn("3 sessions, 3 of them complete", ended.stderr)
        for session in self.output.iterdir():
            self.assertTrue(self.is_there(session), session)
        self.server.mischief = lambda query: 500
        self.assertEqual(self.drain().returncode, 0, "there is nothing left to send")

    def test_sends_a_monitors_lines_while_it_runs(self):
        agent = self.agent("--prometheus", "127.0.0.1:0")
        metrics = re.search(r"http://\S+", agent.stderr.readline()).group()
        monitor = self.start("--interval", "20ms")

        def live():
            with self.server.lock:
                windows = [w for s in self.server.sessions.values() for w in s["windows"].values()]
            return any(w["live"].count(b'"type":"host_metric"') >= 3 for w in windows)

        wait_until(live, "live lines")
        wait_until(lambda: "gpufl_agent_live_sessions 1\n" in get(metrics), "its count")
        self.assertEqual(get(metrics.replace("/metrics", "/healthz")), "ok\n")
        self.assertEqual(self.stop(monitor), 0)
        wait_until(lambda: "gpufl_agent_complete_sessions 1\n" in get(metrics), "the end")
        self.assertTrue(self.is_there(self.session()))
        agent.send_signal(signal.SIGTERM)
        self.assertEqual(agent.wait(timeout=60), 0)
        self.assert_verdict(0)

    @staticmethod
    def is_watching(pid):
        for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                if os.readlink(descriptor) == "anon_inode:inotify":
                    return True
            except FileNotFoundError:  # closed meanwhile
                continue
        return False

    def test_looks_by_itself_where_nothing_can_be_watched(self):
        # As on a machine where others have used up what inotify has.
        unwatched = ("unshare", "--user", "--map-root-user", "sh", "-c",
                     'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', "sh")  # fmt: skip
        if subprocess.run([*unwatched, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("this machine has no user namespaces")
        self.output.mkdir()
        agent = self.agent(program=unwatched)
        self.assertIn("following", agent.stderr.readline())
        self.record()
        (session,) = self.output.iterdir()
        wait_until(lambda: self.is_there(session), "a session that nothing reports")
        self.assertFalse(self.is_watching(agent.pid))

    def test_takes_the_descriptors_that_it_may_have(self):
        agent = self.agent(program=("sh", "-c", 'ulimit -Sn 200 && exec "$@"', "sh"))
        self.assertIn("following", agent.stderr.readline())
        soft, hard = resource.prlimit(agent.pid, resource.RLIMIT_NOFILE)
        self.assertEqual(soft, hard)

    def test_a_killed_agent_loses_and_doubles_nothing(self):
        seeded = random.Random(21)
        monitor = self.start("--interval", "10ms", "--window-size", "64K")
        for _ in range(6):
            agent = self.agent()
            posts = len(self.server.requests)
            wanted = seeded.randrange(1, 6)
            wait_until(lambda: len(self.server.requests) >= posts + wanted, "requests")
            agent.kill()
            agent.wait()
        self.assertEqual(self.stop(monitor), 0)
        self.assertEqual(self.drain().returncode, 0)
        self.assertTrue(self.is_there(self.session()))

    def test_a_killed_monitors_tail_arrives(self):
        monitor = self.start("--interval", "20ms")
        wait_until(lambda: list(self.output.glob("*/system.log")), "a live file")
        monitor.kill()
        monitor.wait()
        session = self.session()
        self.assertEqual(run(GPUFL, "upload", *self.arguments[:2], "--key-stdin", session,
                             HOME=str(self.folder)).returncode, 2, "without a key")  # fmt: skip
        ended = run(GPUFL, "upload", *self.arguments[:2], session, GPUFL_API_KEY=KEY)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        (kept,) = self.server.sessions.values()
        window = kept["windows"][("system", "1")]
        self.assertEqual((window["live"], window["final"]), ((session / "system.log").read_bytes(), True))

    def test_a_drain_after_a_killed_program_sends_its_end(self):
        monitor = self.start("--interval", "20ms")
        wait_until(lambda: list(self.output.glob("*/system.log")), "a live file")
        monitor.kill()
        monitor.wait()
        (self.output / "dead").mkdir()
        (self.output / "dead" / "system.log").touch()
        ended = self.drain()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("1 of them complete", ended.stderr)
        (kept,) = self.server.sessions.values()
        window = kept["windows"][("system", "1")]
        session = next(p for p in self.output.iterdir() if p.name != "dead")
        self.assertEqual((window["live"], window["final"]), ((session / "system.log").read_bytes(), True))

    def test_a_drain_has_a_time(self):
        self.record()
        self.server.mischief = lambda query: 503
        ended = self.drain("--drain-for", "1s")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertIn("the time to drain is over; what is left stays here", ended.stderr)
        self.assertIn("gpufl-agent: not everything could be sent: ", ended.stderr)
        self.server.mischief = None
        self.assertEqual(self.drain("--drain-for", "1m").returncode, 0)

    def test_is_a_verb_and_takes_several_folders(self):
        self.record()
        other = self.folder / "other"
        self.output.rename(other)
        self.record()
        ended = run(GPUFL, "agent", *self.arguments, "--drain", self.output, other, HOME=str(self.folder))
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("gpufl agent: drained: sent ", ended.stderr)
        self.assertIn("2 sessions, 2 of them complete", ended.stderr)

    def test_leaves_out_command_lines_of_what_is_being_written(self):
        agent = self.agent("--no-command")
        monitor = self.start("--interval", "20ms")

        def live():
            with self.server.lock:
                windows = [w for s in self.server.sessions.values() for w in s["windows"].values()]
            return [w["live"] for w in windows if w["live"].count(b"\n") > 5]

        texts = wait_until(live, "live lines")
        self.assertNotIn(b"--interval", b"".join(texts))
        self.assertEqual(self.stop(monitor), 0)
        wait_until(lambda: "manifest" in next(iter(self.server.sessions.values()))["whole"], "the end")
        agent.send_signal(signal.SIGTERM)
        self.assertEqual(agent.wait(timeout=60), 0)
        ended = self.drain("--no-command")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.drain().returncode, 1, "the server has copies, with other bytes")

    def test_a_monitor_uploads_what_it_records(self):
        monitor = self.start(
            "--interval", "20ms", "--upload", "--session-length", "1s", program=(GPUFL, "monitor"),
            GPUFL_BACKEND_URL=self.server.url, GPUFL_API_KEY=KEY, HOME=str(self.folder),
        )  # fmt: skip
        wait_until(lambda: len(self.server.sessions) >= 2, "live lines of two sessions")
        self.assertEqual(self.stop(monitor), 0, monitor.lines.text())
        for session in self.output.iterdir():
            self.assertTrue(self.is_there(session), monitor.lines.text())

    def test_a_monitor_without_its_server_records_all_the_same(self):
        ended = run(DAEMON, "--output", self.output, "--duration", "50ms", "--backend", "synthetic",
                    "--interval", "10ms", "--upload", HOME=str(self.folder))  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("no server is named: run 'gpufl login URL'", ended.stderr)
        self.assertIn("Later: gpufl upload --all ", ended.stderr)
        self.assert_verdict(0)

    def test_deletes_by_policy_only_what_has_arrived(self):
        self.record()
        self.server.mischief = lambda query: 422 if query["kind"] == "window" else None
        self.assertEqual(self.drain("--delete-after", "0s").returncode, 1)
        self.assertEqual(len(list(self.output.iterdir())), 1)
        self.server.mischief = None
        self.assertEqual(self.drain().returncode, 0)
        self.assertEqual(len(list(self.output.iterdir())), 1, "by default everything is kept")
        self.assertEqual(self.drain("--delete-after", "0s").returncode, 0)
        self.assertEqual(list(self.output.iterdir()), [])

    def test_deletes_nothing_where_something_is_left_out(self):
        self.record()
        for option, variables in (("--no-source", {}), ("--no-command", {}),
                                  ("--drain", {"GPUFL_UPLOAD_NO_SOURCE": "1"})):  # fmt: skip
            ended = run(AGENT, *self.arguments, "--delete-after", "0s", option, self.output,
                        HOME=str(self.folder), **variables)  # fmt: skip
            self.assertEqual(ended.returncode, 64, ended.stderr)
            self.assertIn("byte for byte", ended.stderr)
        self.assertEqual(len(list(self.output.iterdir())), 1)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_the_units_are_units(self):
        for name, program in (("gpufl-agent", AGENT), ("gpufl-server", GPUFL)):
            with self.subTest(name):
                text = (DEPLOY / f"{name}.service").read_text(encoding="utf-8")
                command = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE).group(1).split()
                self.assertEqual(run(program, *command[1:], "--help").returncode, 0)
                unit = self.folder / f"{name}.service"
                unit.write_text(text.replace(command[0], str(program)))
                verified = run("systemd-analyze", "verify", unit)
                self.assertEqual((verified.returncode, verified.stderr), (0, ""))

    def test_the_examples_tell_the_server_who_asks(self):
        self.assertIn("\n    proxy_set_header X-Forwarded-For $remote_addr;\n",
                      (DEPLOY / "nginx.conf").read_text(encoding="utf-8"))  # fmt: skip
        self.assertIn(" --trusted-proxy 127.0.0.1\n",
                      (DEPLOY / "gpufl-server.service").read_text(encoding="utf-8"))  # fmt: skip

    def job(self, *words):
        path = f"{GPUFL.parent}:{os.environ['PATH']}"
        return run(DEPLOY / "slurm-job.sh", *words, PATH=path, HOME=str(self.folder),
                   KEY_FILE=str(self.key), TMPDIR=str(self.folder), SLURM_JOB_ID="7",
                   GPUFL_BACKEND_URL=self.server.url)  # fmt: skip

    def test_a_job_sends_what_it_has_recorded(self):
        record = (DAEMON, "--output", self.folder / "gpufl-7", "--duration", "50ms", "--backend", "synthetic",
                  "--interval", "10ms")  # fmt: skip
        ended = self.job(*record)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("gpufl agent: drained: ", ended.stderr)
        monitored = [p for p in (self.folder / "gpufl-7").glob("*/manifest.ndjson")]
        self.assertTrue(any(self.is_there(p.parent) for p in monitored), monitored)
        self.assertEqual(self.job("sh", "-c", "exit 3").returncode, 3, "the program's own")

    def test_says_what_is_wrong(self):
        self.assertEqual(self.drain().returncode, 2, "there is no folder")
        self.record()
        self.key.write_text("gpfl_typo\n")
        ended = self.drain()
        self.assertEqual(ended.returncode, 1)
        self.assertIn("was all of it copied?", ended.stderr)
        self.assertNotIn("gpfl_typo", ended.stderr)
        self.assertNotIn("drained", ended.stderr)


if __name__ == "__main__":
    unittest.main()
