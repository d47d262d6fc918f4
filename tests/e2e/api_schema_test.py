#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schemathesis asks gpufl serve for everything that its OpenAPI document describes, and for what it forbids.
And of every recorded session all answers are as the document says, without a member that it does not name.

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
import urllib.parse

from import_cli_test import torch_trace
from monitor_process import GPUFL, PATIENCE_S, environment, run
from served import GPT, REPOSITORY, SESSIONS, TORCH, ServeTest

VENV_PYTHON = REPOSITORY / ".deps/venv/bin/python"
CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "unsupported_method", "allow_header_conformance")  # fmt: skip
EXAMPLES = 15  # of each operation, besides the edges of its parameters: about twenty seconds in all
ENDLESS = "/api/v1/events"
HOSTED = "/api/v1/devices/{device}/health"  # readings that a hosted server packs
RECORDED = [REPOSITORY / folder for folder in ("tests/replay/recordings", "format/golden", "examples/sessions")]
SCHEMAS = "#/components/schemas/"


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
        logged = [json.loads(line) for line in log.read_text().split("\n") if line]
        good = {(one["method"], one["path"]) for one in logged if one["status"] in (200, 202)}
        for path in set(described) - {ENDLESS, HOSTED}:
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))
            for method in described[path]:
                found = [one for one in good if one[0] == method.upper() and re.fullmatch(pattern, one[1])]
                self.assertTrue(found, f"{method} {path} was never answered with 200")

    def sessions(self):
        """Those of the examples, and a run of two ranks."""
        logs = two_ranks(self)
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


class Described:
    """The document's schemas, closed: a member that they do not name is a mistake, unless they say that there are more."""

    def __init__(self, document):
        self.schemas = document["components"]["schemas"]
        closed = {name: self.close(schema, is_part=True) for name, schema in self.schemas.items()}
        self.components = {"components": {"schemas": closed}}
        self.validators = {}

    def has_members(self, schema):
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].removeprefix(SCHEMAS)]
        return "allOf" in schema or ("properties" in schema and "additionalProperties" not in schema)

    def close(self, schema, is_part=False):
        """`is_part`: what it is part of names other members."""
        if not isinstance(schema, dict):
            return schema
        closed = dict(schema)
        for word in ("items", "additionalProperties"):
            if word in schema:
                closed[word] = self.close(schema[word])
        for word in ("anyOf", "oneOf", "allOf"):
            if word in schema:
                closed[word] = [self.close(one, word == "allOf") for one in schema[word]]
        if "properties" in schema:
            closed["properties"] = {name: self.close(one) for name, one in schema["properties"].items()}
        if not is_part and self.has_members(schema):
            closed["unevaluatedProperties"] = False
        return closed

    def mistakes(self, name, answer, member=None):
        """Of an answer, or of one member of what is called so."""
        if (name, member) not in self.validators:
            schema = {"$ref": SCHEMAS + name} if member is None else self.schemas[name]["properties"][member]
            self.validators[name, member] = jsonschema_rs.Draft202012Validator({**self.components, **self.close(schema)})
        found = self.validators[name, member].iter_errors(answer)
        return [f"{name} {member or ''} {error.instance_path}: {error.message[-300:]}" for error in found]


class Answers(ServeTest):
    def setUp(self):
        super().setUp()
        self.described = None

    def check(self, name, answer, member=None):
        self.assertEqual(answer.status, 200, answer.body[:300])
        self.assertEqual(self.described.mistakes(name, answer.json(), member)[:3], [])
        return answer.json()

    def serve(self, folder):
        served = self.start(folder)
        self.described = Described(served.api("/openapi.json").json())
        return served

    def test_recorded_sessions(self):
        for folder in RECORDED:
            served = self.serve(folder)
            for what, name in (("hosts", "HostList"), ("devices", "DeviceList"), ("runs", "RunList")):
                self.check(name, served.api(f"/{what}"))
            sessions = self.check("SessionList", served.api("/sessions?limit=500"))["sessions"]
            self.assertGreater(len(sessions), 1)
            for session in sessions:
                with self.subTest(session=session["path"]):
                    path = f"/sessions/{session['id']}"
                    self.check("SessionDetail", served.api(path))
                    self.check("RunDetail", served.api(f"/runs/{session['run']}"))
                    self.check("Notes", served.api(f"{path}/notes"))
                    if session["state"] != "unreadable":
                        self.check_analyses(served, path)
                        self.check_index(served, path)

    def check_analyses(self, served, path):
        report = self.check("Report", served.finished(f"{path}/report"))
        listed = self.check("SectionList", served.finished(f"{path}/sections"))["sections"]
        self.assertEqual({one["name"] for one in listed} | {"format", "version", "kind"}, set(report))
        for section in listed:
            answer = served.finished(f"{path}/sections/{section['name']}")
            self.check("Report", answer, section["name"])
            self.check("Section", answer)
        flame = served.finished(f"{path}/flame")
        if flame.status != 400:  # nothing was recorded that it could show
            self.check("Flame", flame)
        for kernel in report["kernels"].get("by_name", [])[:1]:
            name = kernel.get("full_name", kernel["label"]).replace("/", "?")
            code = served.finished(f"{path}/code?kernel={urllib.parse.quote(name, safe='')}")
            if code.status != 404:  # a name that is not unique, or too long for an address
                self.check("KernelCode", code)
        for group in report["kernels"].get("by_class", [])[:1]:
            label = urllib.parse.quote(group["label"])
            self.check("GroupReport", served.finished(f"{path}/group?by=class&group={label}"))

    def check_index(self, served, path):
        self.check("WindowList", served.api(f"{path}/windows"))
        for what, name in (
            ("tracks", "TrackList"), ("tiles?width=200&max_events=100", "Tile"), ("tiles?width=50&max_events=0", "Tile"),
            ("series?width=100", "SeriesTile"), ("selection", "Selection"), ("search?q=e", "SearchAnswer"),
            ("kernels", "KernelList"), ("scopes", "ScopeList"), ("waits", "WaitList"), ("copies", "CopyList"),
            ("health", "Health"), ("ledger", "LedgerAnswer"),
        ):  # fmt: skip
            self.check(name, served.finished(f"{path}/{what}"))
        for kernel in self.check("KernelList", served.finished(f"{path}/kernels?limit=1"))["by_name"]:
            name = urllib.parse.quote(kernel["label"], safe="")
            self.check("LaunchList", served.finished(f"{path}/launches?kernel={name}"))
        events = self.check("EventList", served.finished(f"{path}/events?limit=500"))["events"]
        for event in {event["track"].split(":")[0]: event for event in events}.values():
            self.check("EventDetail", served.finished(f"{path}/events/{event['event']}"))

    def test_runs_and_comparisons(self):
        served = self.serve(two_ranks(self))
        (run_of_two,) = self.check("RunList", served.api("/runs"))["runs"]
        self.check("RunReport", served.finished(f"/runs/{run_of_two['id']}/report"))
        served = self.serve(SESSIONS)
        for pair in (f"{TORCH}", f"{GPT}"):
            self.check("Diff", served.finished(f"/diff?a={TORCH}&b={pair}"))
            self.check("Gate", served.finished(f"/gate?baseline={TORCH}&candidate={pair}"))
            self.check("Gate", served.finished(f"/gate?baseline={TORCH}&candidate={pair}&kernel=*"))

    def test_a_wrong_answer_is_found(self):
        served = self.serve(SESSIONS)
        tile = served.finished(f"/sessions/{TORCH}/tiles?width=10").json()
        self.assertEqual(self.described.mistakes("Tile", tile), [])
        for member, value in (("step_ns", None), ("indexed", {"bytes": 1}), ("more", 1), ("span", [0])):
            self.assertNotEqual(self.described.mistakes("Tile", {**tile, member: value}), [], member)


def two_ranks(test):
    """A folder with a run of two ranks."""
    logs = test.folder / "logs"
    traces = [test.folder / f"rank{rank}.json" for rank in (0, 1)]
    for rank, trace in enumerate(traces):
        trace.write_text(torch_trace(rank))
    test.assertEqual(run(GPUFL, "import", *traces, "--output", logs).returncode, 0)
    return logs


if __name__ == "__main__":
    try:
        import jsonschema_rs
        import schemathesis  # noqa: F401
    except ImportError:
        if VENV_PYTHON.exists() and pathlib.Path(sys.prefix) != VENV_PYTHON.parents[1]:
            os.execv(VENV_PYTHON, [str(VENV_PYTHON), *sys.argv])
        print("skipped: schemathesis is not installed; './dev setup test' installs it")
        sys.exit(77)
    unittest.main()
