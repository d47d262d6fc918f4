# SPDX-License-Identifier: Apache-2.0
"""Adds what a part of `./dev soak` came to, and the machine it ran on, to the summary of its run.

soak_summary.py FILE NAME=VALUE ...
"""

import json
import os
import pathlib
import platform
import sys


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main(path, *words):
    file = pathlib.Path(path)
    parts = json.loads(file.read_text()) if file.exists() else []
    part = dict(word.split("=", 1) for word in words)
    part["seconds"] = int(part["seconds"])
    part["machine"] = {
        "host": platform.node(),
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
    }
    file.write_text(json.dumps([*parts, part], indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
