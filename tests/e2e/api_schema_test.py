#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schemathesis asks gpufl serve for everything that its OpenAPI document describes, and for what it forbids.

Starts again in the project's own environment, which has the wheels of tools/requirements/api.txt, where
schemathesis is missing; ends with code 77, a visible skip, where that has none either.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import unittest

from import_cli_test import torch_trace
from monitor_process import GPUFL, PATIENCE_S, environment, run
from served import GPT, REPOSITORY, SESSIONS, TORCH, ServeTest

VENV_PYTHON = REPOSITORY / ".deps/venv/bin/python"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "unsupported_method", "allow_header_conformance")  # fmt: skip
EXAMPLES = 15  # of each operation, besides the edges of its parameters: about twenty seconds in all
ENDLESS = "/api/v1/events"


class OpenApi(ServeTest):
    def test_every_answer_is_as_described(self):
        log = self.folder / "log"
        served = self.start(self.sessions(), "--log-format", "json", log=log)
        for session in (TORCH, GPT):
            served.finished(f"/sessions/{session}/sections")
            served.finished(f"/sessions/{session}/tracks")
        described = served.api("/openapi.json").json()["paths"]
        self.run_schemathesis(served, self.known(served))
        served.process.send_signal(signal.SIGTERM)
        self.assertEqual(served.process.wait(timeout=PATIENCE_S), 0)
        # Descriptions of good answers were met by good answers.
        logged = [json.loads(line) for line in log.read_text().splitlines()]
        good = {(one["method"], one["path"]) for one in logged if one["status"] in (200, 202)}
        for path in set(described) - {ENDLESS}:
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
            for method in described[path]:
                found = [one for one in good if one[0] == method.upper() and re.fullmatch(pattern, one[1])]
                self.assertTrue(found, f"{method} {path} was never answered with 200")

    def sessions(self):
        """Those of the examples, and a run of two ranks."""
        logs = self.folder / "logs"
        traces = [self.folder / f"rank{rank}.json" for rank in (0, 1)]
        for rank, trace in enumerate(traces):
            trace.write_text(torch_trace(rank))
        self.assertEqual(run(GPUFL, "import", *traces, "--output", logs).returncode, 0)
        for name in ("h200_gpt", "h200_torch"):
            shutil.copytree(SESSIONS / name, logs / name)
        return logs

    def known(self, served):
        """Names of parameters, and values that find something."""
        sessions = [TORCH, GPT]
        windows = served.api(f"/sessions/{TORCH}/windows").json()["windows"]
        tracks = served.api(f"/sessions/{TORCH}/tracks").json()["tracks"]
        events = served.api(f"/sessions/{TORCH}/events?limit=10").json()["events"]
        runs = sorted(served.api("/runs").json()["runs"], key=lambda run: -len(run["sessions"]))
        return {
            **{name: sessions for name in ("session", "a", "b", "baseline", "candidate")},
            "run": [run["id"] for run in runs],
            "window": [window["name"] for window in windows],
            "section": ["kernels", "memory", "devices"],
            "kernel": ["CatArray*"],
            "event": [event["event"] for event in events],
            "tracks": [track["id"] for track in tracks],
        }

    def run_schemathesis(self, served, known):
        base = f"http://127.0.0.1:{served.port}"
        command = [
            sys.executable, "-m", "schemathesis.cli", "run", f"{base}/api/v1/openapi.json",
            "--header", f"Authorization: Bearer {served.token}",
            "--phases", "examples,coverage,fuzzing", "--checks", ",".join(CHECKS),
            "--max-examples", str(EXAMPLES), "--generation-deterministic",
            "--exclude-path", ENDLESS,
            "--max-failures", "20", "--request-timeout", "30", "--warnings", "off", "--no-color",
        ]  # fmt: skip
        here = pathlib.Path(__file__).parent
        ended = subprocess.run(
            command,
            env=environment(GPUFL_KNOWN=json.dumps(known), SCHEMATHESIS_HOOKS="api_schema_hooks", PYTHONPATH=str(here)),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        print(ended.stdout.replace(served.token, "TOKEN"))
        self.assertEqual(ended.returncode, 0, "see above")


if __name__ == "__main__":
    try:
        import schemathesis  # noqa: F401
    except ImportError:
        if VENV_PYTHON.exists() and pathlib.Path(sys.prefix) != VENV_PYTHON.parents[1]:
            os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.argv])
        print("skipped: schemathesis is not installed; './dev setup test' installs it")
        sys.exit(77)
    unittest.main()
