# SPDX-License-Identifier: Apache-2.0
"""The `gpufl` command: becomes the program that comes with the package."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    program = pathlib.Path(__file__).parent / "bin" / "gpufl"
    os.execv(program, ["gpufl", *sys.argv[1:]])
