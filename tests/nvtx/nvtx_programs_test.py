# SPDX-License-Identifier: Apache-2.0
"""A program that was built with NVTX's headers, and has never heard of us, is run as it is and with
a library of ours injected."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs/guide/markers.md"
PROGRAM = os.environ["GPUFL_NVTX_PROGRAM"]
OBSERVER = os.environ["GPUFL_NVTX_OBSERVER"]


def run(injection, program=PROGRAM, *arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if k != "NVTX_INJECTION64_PATH"}
    if injection:
        environment["NVTX_INJECTION64_PATH"] = injection
    ran = subprocess.run(
        [program, *arguments], env=environment | variables, capture_output=True, text=True, timeout=60
    )
    return ran.returncode, ran.stdout.splitlines(), ran.stderr


def rows(folder, kind):
    """What the one session in a folder says of a kind."""
    ran = subprocess.run(
        [os.environ["GPUFL_PROGRAM"], "cat", folder, kind], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def described(markers):
    """Of each marker what the program wrote. In no order: the counter of some processors moves in steps
    of ten nanoseconds, so that two markers can end at the same time."""
    return [(row["shape"], row.get("domain", ""), row["name"]) for row in markers]


class NvtxPrograms(unittest.TestCase):
    def test_without_a_tool(self):
        code, lines, errors = run(None)
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(lines, ["levels -2 -2 -2 -2"])

    def test_every_marker_of_both_copies_of_nvtx(self):
        code, lines, errors = run(OBSERVER)
        self.assertEqual((code, errors), (0, ""))
        self.assertCountEqual(
            lines,
            [
                "levels 0 1 1 0",
                "marker shape=0 name=[begin] domain=[-] category=0 color=0 payload=none",
                "marker shape=0 name=[on a thread] domain=[shared domain] category=0 color=0"
                " payload=none",
                "marker shape=1 name=[registered in C++] domain=[shared domain] category=0 color=0"
                " payload=none",
                "marker shape=1 name=[plugin] domain=[-] category=0 color=ff0000ff payload=7e0",
                "marker shape=2 name=[registered in C] domain=[shared domain] category=5"
                " color=ff00ff00 payload=25e-2",
                "marker shape=1 name=[innér] domain=[-] category=0 color=0 payload=none",
                "marker shape=1 name=[outer] domain=[-] category=0 color=0 payload=none",
                "dropped=0 unclosed=0 unmatched=0",
            ],
        )

    def test_a_library_that_is_not_there(self):
        code, lines, _ = run("/nowhere/libgpufl_inject.so")
        self.assertEqual((code, lines), (0, ["levels -2 -2 -2 -2"]))

    @unittest.skipUnless("GPUFL_INJECT" in os.environ, "this build has no programs")
    def test_the_library_that_gpufl_trace_injects(self):
        with tempfile.TemporaryDirectory() as folder:
            code, lines, errors = run(
                os.environ["GPUFL_INJECT"], GPUFL_BACKEND="nvidia", GPUFL_LOG_PATH=folder
            )
            self.assertEqual((code, lines, errors), (0, ["levels 0 1 1 0"], ""))
            markers = rows(folder, "marker")
            (ledger,) = rows(folder, "ledger")
        self.assertCountEqual(
            described(markers),
            [
                (0, "", "begin"),
                (0, "shared domain", "on a thread"),
                (1, "shared domain", "registered in C++"),
                (1, "", "plugin"),
                (2, "shared domain", "registered in C"),
                (1, "", "innér"),
                (1, "", "outer"),
            ],
        )
        for count in ("markers_dropped", "markers_unclosed", "markers_unmatched"):
            self.assertEqual(ledger[count], 0, count)

    @unittest.skipUnless("GPUFL_PROGRAM" in os.environ, "this build has no programs")
    def test_a_program_that_records_itself(self):
        program = os.environ["GPUFL_NVTX_LINKED_PROGRAM"]
        with tempfile.TemporaryDirectory() as folder:
            code, _, errors = run(None, program, folder)
            self.assertEqual((code, errors), (0, ""))
            markers = rows(folder, "marker")
            (scope,) = rows(folder, "scope")
            (ledger,) = rows(folder, "ledger")
        self.assertCountEqual(
            described(markers),
            [
                (0, "shared domain", "on a thread"),
                (1, "shared domain", "registered in C++"),
                (1, "", "plugin"),
                (1, "", "before the plugin"),
                (0, "", "outside"),
                (1, "", "left open"),
            ],
        )
        scopes = {row["name"]: row["scope"] for row in markers}
        self.assertEqual(scopes["before the plugin"], scope["id"])
        self.assertEqual(scopes["plugin"], scope["id"])
        self.assertEqual(scopes["on a thread"], 0)
        self.assertEqual(scopes["outside"], 0)
        self.assertEqual(ledger["markers_unclosed"], 1)

    def test_the_program_of_the_guide(self):
        (source,) = re.findall(r"```c\n(.*?)```", GUIDE.read_text(), re.S)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "annotated")
            compiler = [os.environ["GPUFL_CC"], "-isystem", os.environ["GPUFL_NVTX_INCLUDE"]]
            subprocess.run(
                [*compiler, "-Wall", "-Werror", "-x", "c", "-", "-o", program, "-ldl"],
                input=source, text=True, check=True,
            )  # fmt: skip
            code, lines, errors = run(OBSERVER, program)
        self.assertEqual((code, errors), (0, ""))
        steps = [
            line
            for step in range(3)
            for line in (
                f"marker shape=1 name=[batch] domain=[loader] category=0 color=0 payload={step}e0",
                "marker shape=1 name=[step] domain=[-] category=0 color=0 payload=none",
            )
        ]
        done = "marker shape=0 name=[done] domain=[-] category=0 color=0 payload=none"
        self.assertCountEqual(lines, [*steps, done, "dropped=0 unclosed=0 unmatched=0"])


if __name__ == "__main__":
    unittest.main()
