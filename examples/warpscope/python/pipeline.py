# SPDX-License-Identifier: Apache-2.0
"""A producer and a consumer warp that pass tiles through two stages of shared memory, profiled.

The kernel is compiled while the program runs, by NVRTC through CuPy: warpscope.cuh needs its folder
as an include path and nothing else. Run it on a machine with a GPU:

    pip install ./python/warpscope
    python examples/warpscope/python/pipeline.py [--blocks N] [--output FOLDER]

It prints how long loading, computing and waiting took, and writes pipeline.perfetto-trace for
https://ui.perfetto.dev and the capture itself. The producer is faster than the consumer, so it is
the one that waits.
"""

import argparse
import pathlib
import sys

from on_gpu import require

require("cupy", "warpscope")

import cupy  # noqa: E402
import numpy as np  # noqa: E402

import warpscope as ws  # noqa: E402

GROUPS = ["producer", "consumer"]
EVENTS = ["wait for room", "load", "wait for data", "compute"]
WAIT_FOR_ROOM, LOAD, WAIT_FOR_DATA, COMPUTE = range(4)
LOAD_NS, COMPUTE_NS = 2_000, 4_000
THREADS = 64  # one warp for each group

SOURCE = """
#include <warpscope.cuh>

#ifndef PROFILER
#define PROFILER ws::Profiler<true>
#endif

constexpr uint32_t kStages = 2;
enum : uint32_t { kWaitForRoom, kLoad, kWaitForData, kCompute };

// Stands for work of a known length.
__device__ void spend(uint32_t ns) {
  const uint32_t begin = ws::globaltimer_lo();
  while (ws::globaltimer_lo() - begin < ns) {}
}

extern "C" __global__ void pipeline(ws::Capture capture, uint32_t tiles, uint32_t load_ns,
                                    uint32_t compute_ns) {
  __shared__ volatile uint32_t filled[kStages], emptied[kStages];  // tiles so far
  const uint32_t group = threadIdx.x / 32;
  const bool is_leader = threadIdx.x % 32 == 0;
  if (threadIdx.x < kStages) filled[threadIdx.x] = emptied[threadIdx.x] = 0;
  __syncthreads();

  PROFILER profiler;
#ifdef FAST
  __shared__ PROFILER::Ring rings[2];
  profiler.init(capture, rings[group], group, is_leader);
#else
  profiler.init(capture, group, is_leader);
#endif
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    profiler.tile(tile);
    const uint32_t stage = tile % kStages;
    const uint32_t stage_and_phase = stage | (tile / kStages % 2) << 16;
    volatile uint32_t& mine = group == 0 ? filled[stage] : emptied[stage];
    volatile uint32_t& theirs = group == 0 ? emptied[stage] : filled[stage];
    const uint32_t needed = tile / kStages + group;

    // Room is made by what computed the round before, whose phase was the other one.
    const uint32_t awaited = stage_and_phase ^ (group == 0 ? 1u << 16 : 0u);
    profiler.start({group == 0 ? kWaitForRoom : kWaitForData}, awaited);
    while (theirs < needed) {}
    __syncwarp();
    profiler.end({group == 0 ? kWaitForRoom : kWaitForData}, awaited);

    profiler.start({group == 0 ? kLoad : kCompute}, stage_and_phase);
    spend(group == 0 ? load_ns : compute_ns);
    __syncwarp();
    // Before it is told: a wait must not end earlier than what it waited for.
    profiler.end({group == 0 ? kLoad : kCompute}, stage_and_phase);
    if (is_leader) mine = tile / kStages + 1;
  }
  profiler.finalize();
}
"""


def compile_kernel(profiler="ws::Profiler<true>", fast=False):
    """The kernel with the profiler of that type."""
    options = ("-std=c++17", "-I" + ws.include_dir(), "-DPROFILER=" + profiler)
    module = cupy.RawModule(code=SOURCE, options=options + (("-DFAST",) if fast else ()))
    return module.get_function("pipeline")


def launch(kernel, prof, tiles, load_ns=LOAD_NS, compute_ns=COMPUTE_NS):
    """Runs it once, to its end."""
    # CuPy passes a numpy array of one element by value: that is how a struct gets into a kernel.
    arguments = (np.asarray(prof.capture), *map(np.uint32, (tiles, load_ns, compute_ns)))
    kernel((prof.num_blocks,), (THREADS,), arguments)
    cupy.cuda.Device().synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, help="default: one for each multiprocessor")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    tiles = 16
    blocks = options.blocks or cupy.cuda.Device().attributes["MultiProcessorCount"]
    prof = ws.Profiler(
        blocks,
        len(GROUPS),
        max_records_per_lane=4 * tiles + 2,
        library="cupy",
        payloads=True,
        kernel="pipeline",
        event_names=EVENTS,
        group_names=GROUPS,
        waits=[WAIT_FOR_ROOM, WAIT_FOR_DATA],
        flows=[(LOAD, WAIT_FOR_DATA), (COMPUTE, WAIT_FOR_ROOM)],
    )
    launch(compile_kernel(), prof, tiles)
    result = prof.decode()
    result.print_durations()
    dump = prof.save(options.output / "pipeline.wscap")
    trace = result.to_perfetto(options.output / "pipeline.perfetto-trace")
    print(f"{len(result.spans_array())} spans in {dump} and {trace}")
    is_complete = len(result.spans_array()) == blocks * 4 * tiles and not result.problems
    return 0 if is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
