# SPDX-License-Identifier: Apache-2.0
"""warpscope_timeline.py FOLDER: sessions with launches that warpscope.Profiler profiles, one after the
other in folders of their names: with a buffer of PyTorch (torch) or CuPy (cupy), and of a kernel of
old that knows wire format v1 alone (v1). Prints as JSON how many ranges the decoder saw of each
launch."""

import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
for folder in ("python/warpscope/src", "examples/warpscope/python", "tests/device"):
    sys.path.insert(0, str(ROOT / folder))
# On disk CuPy would keep kernels of other versions of the header.
os.environ["CUPY_CACHE_IN_MEMORY"] = "1"

import cupy  # noqa: E402
import gpufl  # noqa: E402
import numpy as np  # noqa: E402
import pipeline  # noqa: E402

import warpscope as ws  # noqa: E402

logs = pathlib.Path(sys.argv[1])
LAUNCHES = 30
BLOCKS = 8
V1_SOURCE = """
#include <warpscope.cuh>
extern "C" __global__ void v1(uint64_t* words, uint32_t stride, uint32_t num_groups,
                              uint32_t num_blocks, uint32_t max_records, uint32_t tiles) {
  ws::Profiler<true> profiler;
  profiler.init(words, stride, threadIdx.x / 32, num_groups, num_blocks, threadIdx.x % 32 == 0,
                max_records);
  for (uint32_t i = 0; i < tiles; ++i) {
    WS_REGION(profiler, 1);
    const uint32_t begin = ws::globaltimer_lo();
    while (ws::globaltimer_lo() - begin < 1000) {}
  }
  profiler.finalize();
}
"""


def launch_v1(kernel, prof, tiles):
    figures = (prof.write_stride, prof.num_groups, prof.num_blocks, prof.max_records_per_lane, tiles)
    arguments = (np.uint64(prof.ptr), *map(np.uint32, figures))
    kernel((BLOCKS,), (pipeline.THREADS,), arguments)
    cupy.cuda.Device().synchronize()


def record(how):
    """How many ranges each launch has."""
    if how == "v1":
        options = ("-std=c++17", "-I" + ws.include_dir())
        kernel = cupy.RawModule(code=V1_SOURCE, options=options).get_function("v1")
        launch, library, name = launch_v1, "cupy", "v1"
    else:
        kernel, launch, library, name = pipeline.compile_kernel(), pipeline.launch, how, "pipeline"
    engine = gpufl.ProfilingEngine.Trace
    assert gpufl.init("warpscope_timeline", log_path=logs / how, profiling_engine=engine)
    prof = ws.Profiler(
        BLOCKS,
        2,
        max_records_per_lane=132,
        library=library,
        payloads=how != "v1",
        kernel=name,
        event_names=pipeline.EVENTS,
        group_names=pipeline.GROUPS,
    )
    ranges = []
    for i in range(LAUNCHES):
        prof.reset()
        launch(kernel, prof, 1 + i)
        result = prof.decode()
        assert not result.problems, (how, i, result.problems)
        ranges.append(len(result.spans_array()))
        prof.decode()  # the same capture once more is not another launch
    gpufl.shutdown()
    return ranges


# Not side by side: launches of other processes would take turns with these.
print(json.dumps({how: record(how) for how in ("torch", "cupy", "v1")}))
