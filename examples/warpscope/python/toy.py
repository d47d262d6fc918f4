# SPDX-License-Identifier: Apache-2.0
"""The smallest use from Python: the kernel of ../toy.cu, compiled while the program runs.

    pip install ./python/warpscope cupy-cuda13x
    python examples/warpscope/python/toy.py [trace.json [dump]]

Prints how long the four warps waited and worked, and writes a trace for https://ui.perfetto.dev.
"""

import pathlib
import sys

from on_gpu import require

require("cupy", "warpscope")

import cupy  # noqa: E402
import numpy as np  # noqa: E402

import warpscope as ws  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "toy.cuh"
BLOCKS, GROUPS, ROUNDS = 8, 4, 6


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "trace.json"
    options = ("-std=c++17", "-I" + ws.include_dir())
    kernel = cupy.RawModule(code=SOURCE.read_text(), options=options).get_function("toy")

    prof = ws.Profiler(BLOCKS, GROUPS, max_records_per_lane=64, library="cupy")
    figures = (prof.write_stride, prof.num_groups, prof.num_blocks, prof.max_records_per_lane)
    kernel((BLOCKS,), (GROUPS * 32,), (np.uint64(prof.ptr), *map(np.uint32, figures)))
    cupy.cuda.Device().synchronize()

    result = prof.decode(["wait", "work"], [f"warp {i}" for i in range(GROUPS)])
    result.print_durations()
    result.to_perfetto(path)
    if len(sys.argv) > 2:
        prof.save(sys.argv[2])
    print(f"{len(result.spans)} spans in {path}: open it on https://ui.perfetto.dev")
    return 0 if len(result.spans) == BLOCKS * GROUPS * ROUNDS * 2 and not result.problems else 1


if __name__ == "__main__":
    sys.exit(main())
