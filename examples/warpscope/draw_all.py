# SPDX-License-Identifier: Apache-2.0
"""Draws a picture of every capture that record_all.py kept. Needs no GPU.

python examples/warpscope/draw_all.py FOLDER [--output docs/guide/warpscope]
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "warpscope" / "src"))

import warpscope as ws  # noqa: E402

# Blocks and times that show what the example is about, large enough to read.
PICTURES = {
    "toy": {"blocks": [0]},
    "pipeline": {"blocks": [0], "end_ns": 30_000},
    "softmax": {"blocks": [0], "end_ns": 20_000},
    "gemm": {"blocks": [0], "start_ns": 0, "end_ns": 22_000},
    "tiled_gemm": {"blocks": [0], "end_ns": 8_000},
    # On the same scale, one below the other.
    "triton_matmul": {"blocks": [0, 1], "start_ns": 0, "end_ns": 17_000},
    "triton_matmul_3_stages": {"blocks": [0, 1], "start_ns": 0, "end_ns": 17_000},
}
# What captures do not know: wire format v1 alone has no names, and Triton's two are one kernel.
NAMES = {
    "toy": {
        "kernel": "toy",
        "events": {0: "wait", 1: "work"},
        "groups": {i: f"warp {i}" for i in range(4)},
        "waits": [0],
    },
    "triton_matmul": {"kernel": "matmul, num_stages=1"},
    "triton_matmul_3_stages": {"kernel": "matmul, num_stages=3"},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captures", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument(
        "--output", type=pathlib.Path, default=ROOT / "docs" / "guide" / "warpscope"
    )
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    for name, part in PICTURES.items():
        try:
            result = ws.load(options.captures / f"{name}.wscap")
        except OSError as error:
            print(f"draw_all.py: {error}: record_all.py makes it, on a GPU", file=sys.stderr)
            return 2
        for member, value in NAMES.get(name, {}).items():
            setattr(result.names, member, value)
        path = result.to_svg(options.output / f"{name}.svg", **part)
        print(f"{path}: {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
