# SPDX-License-Identifier: Apache-2.0
"""A matrix product in Triton that records how long each program loads, multiplies and stores.

    pip install ./python/warpscope
    python examples/warpscope/python/triton_matmul.py [--stages N] [--output FOLDER]

With one stage, the default here, loading and multiplying take turns: the picture shows what a
pipeline has to hide. With more stages Triton loads ahead, and "load" is what is left of waiting.
"""

import argparse
import pathlib
import sys

from on_gpu import require

require("torch", "triton", "warpscope")

import torch  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

import warpscope as ws  # noqa: E402
import warpscope.triton as wst  # noqa: E402

EVENTS = ["load", "multiply", "store"]
LOAD, MULTIPLY, STORE = (tl.constexpr(i) for i in range(len(EVENTS)))
TILE_M, TILE_N, TILE_K = 128, 128, 64


@triton.jit
def matmul(
    a,
    b,
    c,
    N,
    K,
    capture,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    lane = wst.init(capture)
    rows = tl.program_id(1) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(0) * TILE_N + tl.arange(0, TILE_N)
    steps = tl.arange(0, TILE_K)
    at_a = a + rows[:, None] * K + steps[None, :]
    at_b = b + steps[:, None] * N + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(0, K // TILE_K):
        lane = wst.start(lane, LOAD, step)
        tile_a = tl.load(at_a)
        tile_b = tl.load(at_b)
        lane = wst.end(lane, LOAD, step)
        lane = wst.start(lane, MULTIPLY, step)
        total = tl.dot(tile_a, tile_b, total)
        lane = wst.end(lane, MULTIPLY, step)
        at_a += TILE_K
        at_b += TILE_K * N
    lane = wst.start(lane, STORE)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))
    lane = wst.end(lane, STORE)
    wst.finalize(lane)


def multiply(a, b, prof=None, stages=1):
    """a @ b in half precision, recorded into `prof` where there is one."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=a.dtype)
    grid = (n // TILE_N, m // TILE_M)
    matmul[grid](
        a, b, c, n, k, wst.capture(prof), TILE_M, TILE_N, TILE_K, num_warps=8, num_stages=stages
    )
    return c


def make_profiler(m, n, k):
    """Room for every record of one product."""
    return ws.Profiler(
        num_blocks=(m // TILE_M) * (n // TILE_N),
        num_groups=1,
        max_records_per_lane=4 * (k // TILE_K) + 3,
        library="torch",
        payloads=True,
        kernel="matmul",
        event_names=EVENTS,
        group_names=["program"],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    m, n, k = 512, 512, 1024
    torch.manual_seed(1)
    a = torch.randn((m, k), device="cuda", dtype=torch.float16)
    b = torch.randn((k, n), device="cuda", dtype=torch.float16)
    prof = make_profiler(m, n, k)
    multiply(a, b, prof, options.stages)  # compiles
    prof.reset()
    c = multiply(a, b, prof, options.stages)
    torch.cuda.synchronize()
    result = prof.decode()
    result.print_durations()
    name = "triton_matmul" + (f"_{options.stages}_stages" if options.stages > 1 else "")
    dump = prof.save(options.output / f"{name}.wscap")
    trace = result.to_perfetto(options.output / f"{name}.perfetto-trace")
    expected = a.float() @ b.float()
    error = ((c.float() - expected).norm() / expected.norm()).item()
    print(f"{len(result.spans_array())} spans in {dump} and {trace}; relative error {error:.1e}")
    wanted = prof.num_blocks * (2 * (k // TILE_K) + 1)
    is_complete = len(result.spans_array()) == wanted and not result.problems
    return 0 if is_complete and error < 1e-2 else 1


if __name__ == "__main__":
    sys.exit(main())
