# SPDX-License-Identifier: Apache-2.0
"""Whether launches of a recorded training step are told at lines of the program: those of autograd's
own threads, which run no Python, at the line that waits for them.

usage: launch_lines_test.py GPUFL RECORDINGS MODEL
MODEL: bench/gpu/gpt_model.py, which RECORDINGS/h200_gpt_step is a step of.
"""

import json
import pathlib
import subprocess
import sys

INHERITED = " (by another thread)"


def main():
    gpufl, recordings, model = sys.argv[1:]
    session = pathlib.Path(recordings) / "h200_gpt_step"
    printed = subprocess.run(
        [gpufl, "report", session, "--format", "json", "--top", "1000"],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    kernels = json.loads(printed)["kernels"]
    source = pathlib.Path(model).read_text(encoding="utf-8").splitlines()
    told, inherited = 0, {}
    for group in kernels["by_line"]:
        place, _, line = group["full_name"].rpartition(":")
        if pathlib.Path(place).name != pathlib.Path(model).name:
            continue
        told += group["duration_ns"]["count"]
        if group["label"].endswith(INHERITED):
            text = source[int(line) - 1].strip()
            inherited[text] = inherited.get(text, 0) + group["duration_ns"]["count"]
    print(f"{told} of {kernels['count']} launches at lines of the model, by other threads: {inherited}")
    return 0 if told >= 0.99 * kernels["count"] and list(inherited) == ["loss.backward()"] else 1


if __name__ == "__main__":
    sys.exit(main())
