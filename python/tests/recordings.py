# SPDX-License-Identifier: Apache-2.0
"""Sessions of the repository that tests read, and the command whose word they take."""

import pathlib
import subprocess

from conftest import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
GPT = ROOT / "examples" / "sessions" / "h200_gpt"
TORCH = ROOT / "examples" / "sessions" / "h200_torch"
CALLS_UNSEEN = ROOT / "tests" / "replay" / "recordings" / "h200_calls_unseen"
MONITOR = ROOT / "tests" / "replay" / "recordings" / "h200_monitor"
GOLDEN = ROOT / "format" / "golden"
COMPLETE = GOLDEN / "complete"  # has rows of every kind


def gpufl(*arguments):
    done = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True)
    return done.stdout
