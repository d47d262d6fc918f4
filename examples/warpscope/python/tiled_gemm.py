# SPDX-License-Identifier: Apache-2.0
"""A matrix product written with layouts, in the manner of CuTe, that records what its warps do.

    pip install ./python/warpscope
    python examples/warpscope/python/tiled_gemm.py [--output FOLDER]

The kernel is tiled_gemm.cu beside this file, compiled by NVRTC through CuPy: one warp loads, two
groups of two warps multiply. Loads are asynchronous, so their ranges overlap, and each ends in a
later step than it began.
"""

import argparse
import pathlib
import sys

from on_gpu import require

require("cupy", "warpscope")

import cupy  # noqa: E402
import numpy as np  # noqa: E402

import warpscope as ws  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GROUPS = ["upper half", "lower half", "loader"]
EVENTS = ["wait for room", "load", "wait for data", "multiply", "store"]
WAIT_FOR_ROOM, LOAD, WAIT_FOR_DATA, MULTIPLY, STORE = range(5)
TILE, DEPTH, THREADS = 64, 16, 160  # as tiled_gemm.cu has them


def compile_kernel(profiler="ws::Profiler<true>"):
    """The kernel with the profiler of that type."""
    options = ("-std=c++17", f"-I{ws.include_dir()}", f"-I{HERE}", f"-DPROFILER={profiler}")
    module = cupy.RawModule(code=(HERE / "tiled_gemm.cu").read_text(), options=options)
    return module.get_function("tiled_gemm")


def make_profiler(m, n, k):
    """Room for every record of one product."""
    return ws.Profiler(
        num_blocks=(m // TILE) * (n // TILE),
        num_groups=len(GROUPS),
        max_records_per_lane=4 * (k // DEPTH) + 3,
        library="cupy",
        payloads=True,
        kernel="tiled_gemm",
        event_names=EVENTS,
        group_names=GROUPS,
        waits=[WAIT_FOR_ROOM, WAIT_FOR_DATA],
        flows=[(LOAD, WAIT_FOR_DATA), (MULTIPLY, WAIT_FOR_ROOM)],
    )


def multiply(kernel, a, b, prof):
    """a @ b.T, to its end."""
    (m, k), n = a.shape, b.shape[0]
    c = cupy.full((m, n), cupy.nan, dtype=cupy.float32)
    arguments = (a, b, c, *map(np.int32, (m, n, k)), np.asarray(prof.capture))
    kernel((n // TILE, m // TILE), (THREADS,), arguments)
    cupy.cuda.Device().synchronize()
    return c


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    m, n, k = 256, 256, 384
    # Whole numbers: sums in float are exact, in whatever order they are made.
    random = np.random.default_rng(1)
    a, b = (cupy.asarray(random.integers(-4, 5, (x, k)), dtype=cupy.float32) for x in (m, n))
    prof = make_profiler(m, n, k)
    kernel = compile_kernel()
    multiply(kernel, a, b, prof)  # the first launch loads the code
    prof.reset()
    c = multiply(kernel, a, b, prof)
    result = prof.decode()
    result.print_durations()
    dump = prof.save(options.output / "tiled_gemm.wscap")
    trace = result.to_perfetto(options.output / "tiled_gemm.perfetto-trace")
    wrong = int((c.get() != a.get() @ b.get().T).sum())
    print(f"{len(result.spans_array())} spans in {dump} and {trace}; {wrong} wrong elements")
    wanted = prof.num_blocks * (6 * (k // DEPTH) + 2)
    is_complete = len(result.spans_array()) == wanted and not result.problems
    return 0 if is_complete and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
