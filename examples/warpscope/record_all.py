# SPDX-License-Identifier: Apache-2.0
"""Runs every example on small problems and keeps what each recorded, for pictures that
draw_all.py makes of it where there is no GPU.

    python examples/warpscope/record_all.py FOLDER [--programs build/portable/bin]

Ends with 1 where an example fails or its capture is larger than 200 KB, with 2 where one cannot
run.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MAX_BYTES = 200_000
CANNOT_RUN = 2
TIMEOUT_S = 120


def commands(programs, output):
    """By the name of the capture that each writes."""
    python = HERE / "python"
    return {
        "toy": [programs / "warpscope_toy", output / "toy.json", output / "toy.wscap"],
        "toy_python": [
            sys.executable, python / "toy.py", output / "toy_python.json", output / "toy_python.wscap",
        ],
        "softmax": [
            programs / "warpscope_softmax", "--rows", 256, "--blocks", 8, "--output", output,
        ],
        "gemm": [
            programs / "warpscope_gemm_example", "--size", 1024, "--blocks", 8, "--output", output,
        ],
        "pipeline": [sys.executable, python / "pipeline.py", "--blocks", 8, "--output", output],
        "tiled_gemm": [sys.executable, python / "tiled_gemm.py", "--output", output],
        "triton_matmul": [sys.executable, python / "triton_matmul.py", "--output", output],
        "triton_matmul_3_stages": [
            sys.executable, python / "triton_matmul.py", "--stages", 3, "--output", output,
        ],
    }  # fmt: skip


def record(command, output):
    """The exit code of one example; what it prints stays in front of it."""
    paths = [str(ROOT / "python" / "warpscope" / "src"), os.environ.get("PYTHONPATH", "")]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, paths)))
    # On disk CuPy would keep kernels of other versions of the header.
    environment["CUPY_CACHE_IN_MEMORY"] = "1"
    return subprocess.run(
        [str(word) for word in command], env=environment, cwd=output, timeout=TIMEOUT_S
    ).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument(
        "--programs", type=pathlib.Path, default=ROOT / "build" / "portable" / "bin"
    )
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    output = options.output.resolve()
    worst = 0
    for name, command in commands(options.programs.resolve(), output).items():
        print(f"== {name}", flush=True)
        begin = time.monotonic()
        try:
            code = record(command, output)
        except (OSError, subprocess.TimeoutExpired) as error:
            print(error, file=sys.stderr)
            code = CANNOT_RUN
        capture = output / f"{name}.wscap"
        size = capture.stat().st_size if capture.is_file() else 0
        print(f"-- {name}: exit {code}, {size} bytes, {time.monotonic() - begin:.1f} s", flush=True)
        if code == 0 and not 0 < size <= MAX_BYTES:
            code = 1
        worst = max(worst, min(code, CANNOT_RUN) if code >= 0 else 1)
    return worst


if __name__ == "__main__":
    sys.exit(main())
