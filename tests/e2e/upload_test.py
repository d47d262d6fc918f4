# SPDX-License-Identifier: Apache-2.0
"""`gpufl login`, `gpufl upload` and `gpufl trace --upload`: what reaches a server, and what a caller sees."""

import json
import pathlib
import stat
import subprocess
import tempfile
import unittest

from ingest_server import KEY, IngestServer, make_key
from monitor_process import DAEMON, GPUFL, PROGRAMS, environment, run
from pseudo_terminal import Screen
from traced_program import LIBRARY, TraceTest, main


class UploadTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gpufl-upload-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logs = self.folder / "logs"
        self.server = IngestServer()
        self.addCleanup(self.server.close)
        self.variables = {"HOME": str(self.folder), "XDG_CONFIG_HOME": ""}

    def record(self, count=1):
        for _ in range(count):
            ended = run(DAEMON, "--output", self.logs, "--duration", "10ms", "--backend", "none")
            self.assertEqual(ended.returncode, 0, ended.stderr)

    def gpufl(self, *arguments, key=None, **variables):
        return subprocess.run(
            [str(GPUFL), *map(str, arguments)], capture_output=True, text=True, timeout=60,
            input="" if key is None else key + "\n", env=environment(**self.variables, **variables),
        )  # fmt: skip

    def upload(self, *arguments, key=KEY, **variables):
        return self.gpufl("upload", "--server", self.server.url, "--key-stdin", *arguments, self.logs,
                          key=key, **variables)  # fmt: skip

    def session(self):
        (found,) = [p for p in self.logs.iterdir() if p.is_dir()]
        return found

    def assert_is_there(self, session):
        sealed = {p.name: p.read_bytes() for p in session.glob("*.log.zst")}
        there = {f"{c}.{n}.log.zst": data for (c, n), data in self.server.windows().items()}
        self.assertEqual(there, sealed)
        (kept,) = self.server.sessions.values()
        self.assertEqual(kept["whole"]["manifest"][1], (session / "manifest.ndjson").read_bytes())


class Login(UploadTest):
    @property
    def file(self):
        return self.folder / ".config" / "gpufl" / "credentials.json"

    def test_a_key_is_checked_and_kept_for_its_user_alone(self):
        ended = self.gpufl("login", self.server.url, "--key-stdin", key=KEY)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(
            ended.stdout, f"logged in to {self.server.url}, workspace team; the key is in {self.file}\n"
        )
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertNotIn(KEY, ended.stdout + ended.stderr)

    def test_a_login_is_all_that_an_upload_needs(self):
        self.record()
        self.gpufl("login", self.server.url, "--key-stdin", key=KEY)
        ended = self.gpufl("upload", self.logs)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assert_is_there(self.session())

    def test_the_key_is_typed_unseen(self):
        screen = Screen(self, "login", self.server.url, HOME=str(self.folder), XDG_CONFIG_HOME="")
        screen.read_until(rb"Key for http://127.0.0.1:\d+: ")
        screen.type(KEY.encode() + b"\n")
        shown = screen.read_until(rb"logged in to ")
        self.assertNotIn(KEY.encode(), shown or b"")
        self.assertEqual(screen.wait(), 0)
        self.assertIn(KEY, self.file.read_text())

    def test_a_wrong_key_is_not_kept(self):
        for key, code, says in (
            (make_key("2"), 1, "does not know the key"),
            ("gpfl_typo", 1, "was all of it copied?"),
            ("", 64, "there is no key"),
        ):
            ended = self.gpufl("login", self.server.url, "--key-stdin", key=key)
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.assertIn(says, ended.stderr)
            self.assertFalse(self.file.exists())
            self.assertTrue(not key or key not in ended.stderr)

    def test_a_server_that_cannot_be_asked_is_no_answer(self):
        self.assertEqual(self.gpufl("login", key=KEY).returncode, 64)
        self.assertEqual(self.gpufl("login", "example.com", key=KEY).returncode, 64)
        ended = self.gpufl("login", "http://127.0.0.1:1", GPUFL_API_KEY=KEY)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("nothing was kept", ended.stderr)


class Upload(UploadTest):
    def test_sends_the_newest_session_and_says_where_it_is(self):
        self.record()
        ended = self.upload()
        self.assertEqual(ended.returncode, 0, ended.stderr)
        told, page = ended.stdout.splitlines()
        self.assertRegex(told, r"^sent [23] files \(.*, \d+ rows\) in ")
        self.assertEqual(page, f"{self.server.url}/w/team/#/s/{self.session().name}")
        self.assert_is_there(self.session())
        (sender,) = self.server.senders
        self.assertTrue(sender)

        posts = len([r for r in self.server.requests if r[0] == "POST"])
        again = self.upload()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertRegex(again.stdout, r"^sent 0 files .* were on the server before\n")
        self.assertEqual(len([r for r in self.server.requests if r[0] == "POST"]), posts)

    def test_no_key_on_standard_input_is_no_other_key(self):
        self.record()
        ended = self.upload(key="", GPUFL_API_KEY=KEY)
        self.assertEqual((ended.returncode, ended.stdout), (2, ""))
        self.assertIn("there is no key on standard input", ended.stderr)
        self.assertEqual(self.server.requests, [])

    def test_the_environment_suffices(self):
        self.record()
        self.server.api_path = "/gpufl/api/v1"
        ended = self.gpufl("upload", self.logs, GPUFL_BACKEND_URL=self.server.url, GPUFL_API_KEY=KEY,
                           GPUFL_API_PATH="/gpufl/api/v1")  # fmt: skip
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn(f"{self.server.url}/gpufl/w/team/#/s/", ended.stdout)
        self.assertEqual({p for _, p in self.server.requests if not p.startswith("/gpufl/")}, set())

    def test_the_newest_one_or_all(self):
        self.record(3)
        names = sorted(p.name for p in self.logs.iterdir())
        self.assertEqual(self.upload().returncode, 0)
        self.assertEqual(list(self.server.sessions), [names[2]])
        self.assertEqual(self.upload("--session", names[0]).returncode, 0)
        self.assertEqual(sorted(self.server.sessions), [names[0], names[2]])
        self.assertEqual(self.upload("--session", "absent").returncode, 2)
        ended = self.upload("--all")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(sorted(self.server.sessions), names)
        self.assertEqual(len(ended.stdout.splitlines()), 4)

    def test_a_part_is_1_and_nothing_is_2(self):
        self.record()
        self.server.mischief = lambda query: 503
        self.assertEqual(self.upload("--retry-for", "0s").returncode, 2)
        self.assertIn(": mischief; it is tried again\n", self.upload("--retries", "1").stderr)
        self.assertEqual(self.upload(key=make_key("2")).returncode, 2)
        self.server.mischief = lambda query: 422 if query["kind"] == "window" else None
        ended = self.upload()
        self.assertEqual(ended.returncode, 1, ended.stdout)
        self.assertIn("system.1.log.zst: not taken: ", ended.stderr)
        ended = self.gpufl("upload", self.logs)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("run 'gpufl login URL', or set GPUFL_BACKEND_URL", ended.stderr)

    def test_says_what_it_did_as_json(self):
        self.record()
        self.server.mischief = lambda query: 503
        ended = self.upload("--json", "--retry-for", "0s")
        done = json.loads(ended.stdout)
        self.assertEqual((ended.returncode, done["success"], done["files_processed"]), (2, False, 0))
        self.assertIn("mischief", done["warnings"][0])
        self.server.mischief = None
        ended = self.upload("--json")
        done = json.loads(ended.stdout)
        self.assertEqual((ended.returncode, done["success"], done["warnings"]), (0, True, []))
        self.assertGreater(done["files_processed"], 1)
        self.assertGreater(done["bytes_uploaded"], 100)
        self.assertEqual(done["spool_ids"], [self.session().name])

    def test_no_command_and_no_source_leave_this_machine(self):
        self.record()
        self.assertEqual(self.upload("--no-command", "--no-source").returncode, 0)
        for data in self.server.windows().values():
            text = subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
            first = json.loads(text.splitlines()[0])
            self.assertEqual((first["command"], first["source_text"]), ("", False))
            self.assertNotIn(str(self.logs).encode(), text)

    def test_tells_how_far_it_is(self):
        self.record()
        (self.session() / "symbols.ndjson").write_text("x" * 5000)
        ended = self.upload("--progress-bytes", "1K", "--bandwidth", "64K")
        self.assertRegex(ended.stderr, r"^gpufl upload: sent .* of .*\n")


class Trace(TraceTest):
    def test_uploads_at_the_end_and_keeps_the_programs_code(self):
        server = IngestServer()
        self.addCleanup(server.close)
        variables = {"GPUFL_BACKEND_URL": server.url, "GPUFL_API_KEY": KEY}
        ended = self.trace("cuda", "launch:5", "exit:3", options=["--upload"], **variables)
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertEqual(list(server.sessions), [self.session().name])
        self.assertIn(f"{server.url}/w/team/#/s/{self.session().name}\n", ended.stderr)

    def test_a_server_that_is_not_there_changes_nothing(self):
        variables = {"GPUFL_BACKEND_URL": "http://127.0.0.1:1", "HOME": str(self.folder)}
        ended = self.trace("cuda", "launch:5", options=["--upload"], **variables)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertIn("there is no key for http://127.0.0.1:1", ended.stderr)
        self.assertIn("Later: gpufl upload --all ", ended.stderr)
        self.assertEqual(self.kernels(), 5)


class Library(UploadTest):
    def run_program(self, address, **variables):
        return run(PROGRAMS / "uploading_program", self.logs, address, "THE_KEY",
                   **self.variables, **variables)  # fmt: skip

    def test_uploads_after_shutdown(self):
        ended = self.run_program(self.server.url, THE_KEY=KEY)
        self.assertEqual((ended.returncode, ended.stderr), (7, ""))
        self.assertRegex(ended.stdout, r"^1 [2-9] [1-9]\d*\n$")
        self.assert_is_there(self.session())

    def test_a_failure_is_a_warning_and_changes_no_exit_code(self):
        ended = self.run_program("http://127.0.0.1:1", THE_KEY=KEY)
        self.assertEqual((ended.returncode, ended.stderr), (7, ""))
        self.assertRegex(ended.stdout, r"^0 0 0\n.*cannot connect to 127.0.0.1, port 1: ")
        ended = self.run_program(self.server.url, THE_KEY=make_key("2"))
        self.assertEqual((ended.returncode, ended.stderr), (7, ""))
        self.assertIn("does not know the key", ended.stdout)

    def test_disabled_it_asks_nobody(self):
        ended = self.run_program(self.server.url, THE_KEY=KEY, GPUFL_DISABLED="1")
        self.assertEqual((ended.returncode, ended.stdout), (7, "1 0 0\n"))
        self.assertEqual(self.server.requests, [])

    def test_what_is_injected_into_the_program_is_not_into_the_upload(self):
        ended = self.run_program(self.server.url, THE_KEY=KEY, CUDA_INJECTION64_PATH=str(LIBRARY))
        self.assertEqual(ended.returncode, 7, ended.stderr)
        self.assertEqual(len(self.server.sessions), 1)


if __name__ == "__main__":
    main()
