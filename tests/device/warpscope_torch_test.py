# SPDX-License-Identifier: Apache-2.0
"""warpscope's Python package on a real GPU: buffers of PyTorch and CuPy, kernels compiled by NVRTC,
spans of known length. Needs neither an installation nor the carried build."""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "warpscope" / "src"
for folder in (PACKAGE, ROOT / "examples" / "warpscope" / "python"):
    sys.path.insert(0, str(folder))
# On disk CuPy would keep kernels of other versions of the header.
os.environ["CUPY_CACHE_IN_MEMORY"] = "1"


def cannot_run(why):
    print(f"warpscope_torch_test.py: {why}", file=sys.stderr)
    sys.exit(2)


try:
    import cupy
    import numpy as np
    import pipeline
    import torch

    import warpscope as ws
except ImportError as error:
    cannot_run(str(error))

TILES = 12
BLOCKS = 8
SLACK_NS = 2_000  # a warp may be held up; it is never let out early
# A program of old: the pointer, and the figures that wire format v1 needs.
V1_SOURCE = """
#include <warpscope.cuh>
enum : uint32_t { EvWait = 0, EvWork = 1 };
extern "C" __global__ void k(uint64_t* prof, uint32_t stride, uint32_t num_groups,
                             uint32_t num_blocks, uint32_t max_rec) {
  ws::Profiler<true> p;
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  p.init(prof, stride, /*group=*/warp, num_groups, num_blocks, /*leader=*/lane == 0, max_rec);
  for (int i = 0; i < 3; ++i) {
    { WS_REGION(p, EvWait); __syncwarp(); }
    { WS_REGION(p, EvWork); const uint32_t begin = ws::globaltimer_lo();
      while (ws::globaltimer_lo() - begin < 1000) {} }
  }
  p.inst({7});
  p.finalize();
}
"""


class Recorded(unittest.TestCase):
    def record(self, kernel=None, num_tiles=TILES, max_records=4 * TILES + 2, **options):
        """A result of the pipeline and its profiler, which has the options."""
        options = {"library": "torch", "payloads": True, **options}
        prof = ws.Profiler(
            BLOCKS,
            2,
            max_records,
            event_names=pipeline.EVENTS,
            group_names=pipeline.GROUPS,
            **options,
        )
        pipeline.launch(kernel or pipeline.compile_kernel(), prof, num_tiles)
        return prof.decode(), prof

    def check_durations(self, result, early_ns=64):
        """Loading and computing take as long as they were told to."""
        wanted = {
            ("producer", "load"): pipeline.LOAD_NS,
            ("consumer", "compute"): pipeline.COMPUTE_NS,
        }
        for key, duration_ns in wanted.items():
            figures = result.summary()[key]
            self.assertGreaterEqual(figures["min_ns"], duration_ns - early_ns, figures)
            self.assertLess(figures["median_ns"], duration_ns + SLACK_NS, figures)

    def check_complete(self, result, tiles=TILES):
        self.assertEqual(result.problems, [])
        self.assertEqual(len(result.spans_array()), BLOCKS * 2 * 2 * tiles)
        self.assertEqual(len(result.unmatched_array()), 0)


class V1Kernels(unittest.TestCase):
    def run_on(self, library):
        prof = ws.Profiler(num_blocks=BLOCKS, num_groups=4, library=library)
        options = ("-std=c++17", "-I" + ws.include_dir())
        kernel = cupy.RawModule(code=V1_SOURCE, options=options).get_function("k")
        figures = (prof.write_stride, prof.num_groups, prof.num_blocks, prof.max_records_per_lane)
        kernel((BLOCKS,), (128,), (np.uint64(prof.ptr), *map(np.uint32, figures)))
        cupy.cuda.Device().synchronize()
        result = prof.decode(event_names={0: "wait", 1: "work", 7: "mark"})
        self.assertEqual(result.problems, [])
        self.assertEqual((result.num_blocks, result.num_groups), (BLOCKS, 4))
        self.assertEqual(len(result.spans), BLOCKS * 4 * 6)
        self.assertEqual(len(result.instants), BLOCKS * 4)
        work = [span.dur_ns for span in result.spans if span.event_id == 1]
        self.assertGreaterEqual(min(work), 1000 - 64)
        self.assertLess(statistics.median(work), 1000 + SLACK_NS)
        return prof

    def test_a_buffer_of_torch(self):
        prof = self.run_on("torch")
        self.assertEqual(prof.tensor.dtype, torch.int64)
        self.assertEqual(prof.tensor.data_ptr(), prof.ptr)
        self.assertEqual(len(ws.decode(prof.tensor).spans), BLOCKS * 4 * 6)

    def test_a_buffer_of_cupy(self):
        prof = self.run_on("cupy")
        self.assertEqual(len(ws.decode(prof.array).spans), BLOCKS * 4 * 6)

    def test_the_default_is_torch(self):
        self.assertIsNotNone(ws.Profiler(1, 1).tensor)


class Captures(Recorded):
    def test_everything_comes_back(self):
        result, _ = self.record(launch_id=77)
        self.check_complete(result)
        self.check_durations(result)
        self.assertEqual(result.layout.launch_id, 77)
        self.assertIsNotNone(result.origin_ns)
        lanes = result.lanes_array()
        self.assertTrue(lanes["finalised"].all() and (lanes["offered"] == 4 * TILES).all())
        sm_count = cupy.cuda.Device().attributes["MultiProcessorCount"]
        self.assertTrue((lanes["sm"] < sm_count).all(), lanes["sm"])
        stages = {span.payload & 0xFFFF for span in result.spans}
        phases = {span.payload >> 16 for span in result.spans}
        self.assertEqual((stages, phases), ({0, 1}, {0, 1}))

    def test_a_consumer_waits_for_its_producer(self):
        result, _ = self.record()
        spans = result.spans_array()
        for block in range(BLOCKS):
            own = spans[spans["block"] == block]
            loaded = own[own["event_id"] == pipeline.LOAD]
            waited = own[own["event_id"] == pipeline.WAIT_FOR_DATA]
            released = loaded["begin_ns"] + loaded["dur_ns"]
            went_on = waited["begin_ns"] + waited["dur_ns"]
            # Each is stamped by a timer that ticks every 32 ns.
            self.assertTrue((went_on + 64 >= released).all(), (released, went_on))

    def test_a_wait_for_room_carries_what_it_waits_for(self):
        result, _ = self.record()
        spans = result.spans_array()
        stages = 2
        for block in range(BLOCKS):
            own = spans[spans["block"] == block]
            computed = own[own["event_id"] == pipeline.COMPUTE][:-stages]
            waited = own[own["event_id"] == pipeline.WAIT_FOR_ROOM][stages:]
            self.assertEqual(waited["payload"].tolist(), computed["payload"].tolist())
            released = computed["begin_ns"] + computed["dur_ns"]
            went_on = waited["begin_ns"] + waited["dur_ns"]
            self.assertTrue((went_on + 64 >= released).all(), (released, went_on))

    def test_lanes_one_after_the_other(self):
        result, _ = self.record(placement="lanes")
        self.check_complete(result)
        self.check_durations(result)

    def test_a_second_launch(self):
        _, prof = self.record()
        prof.reset(launch_id=2)
        pipeline.launch(pipeline.compile_kernel(), prof, 3)
        result = prof.decode()
        self.check_complete(result, tiles=3)
        self.assertEqual(result.layout.launch_id, 2)

    def test_cycles(self):
        kernel = pipeline.compile_kernel("ws::Profiler<true,ws::Clock::Cycles>")
        result, _ = self.record(kernel)
        self.check_complete(result)
        self.assertEqual(result.layout.clock, "cycles")
        self.check_durations(result, early_ns=200)
        frequency = result.lanes_array()["cycles_per_ns"]
        self.assertTrue(((frequency > 0.2) & (frequency < 4)).all(), frequency)

    def test_the_fast_path(self):
        kernel = pipeline.compile_kernel(
            "ws::FastProfiler<true,ws::Clock::Globaltimer,true>", fast=True
        )
        for tiles in (TILES, 100):  # within the ring, and several times around it
            result, _ = self.record(kernel, tiles, max_records=4 * tiles + 2, placement="lanes")
            self.check_complete(result, tiles)
            self.check_durations(result)

    def test_a_disabled_profiler_writes_nothing(self):
        prof = ws.Profiler(BLOCKS, 2)
        before = prof.words()
        pipeline.launch(pipeline.compile_kernel("ws::Profiler<false>"), prof, TILES)
        np.testing.assert_array_equal(prof.words(), before)


class Limits(Recorded):
    def check_policy(self, policy, expected):
        with self.assertWarns(ws.WarpscopeWarning):
            result, _ = self.record(max_records=18, policy=policy)
        problems = {problem.kind: problem.count for problem in result.problems}
        self.assertEqual(problems.pop("dropped"), (4 * TILES - 17) * BLOCKS * 2)
        self.assertLessEqual(set(problems), {"unmatched_begin", "unmatched_end"})
        self.assertTrue((result.lanes_array()["records"] == 17).all())
        own = result.spans_array()
        own = own[(own["block"] == 0) & (own["event_id"] == pipeline.LOAD)]
        payloads = [tile % 2 | tile // 2 % 2 << 16 for tile in expected]
        self.assertEqual(own["payload"].tolist(), payloads)

    def test_the_first_records(self):
        self.check_policy("first", range(4))

    def test_the_last_records(self):
        self.check_policy("last", range(TILES - 4, TILES))

    def test_the_first_and_the_last_records(self):
        self.check_policy("both", [0, 1, TILES - 2, TILES - 1])

    def test_windows(self):
        result, _ = self.record(blocks=range(1, BLOCKS, 3), tiles=range(2, 8, 2))
        self.assertEqual(result.problems, [])
        spans = result.spans_array()
        self.assertEqual(set(spans["block"].tolist()), {1, 4, 7})
        self.assertEqual(len(spans), 3 * 2 * 2 * 3)

    def test_nothing_is_written_behind_a_full_buffer(self):
        prof = ws.Profiler(BLOCKS, 2, 6, side=False)
        guarded = torch.zeros(prof.num_slots + 4096, dtype=torch.int64, device="cuda")
        capture = prof.capture
        capture.words = guarded.data_ptr()
        kernel = pipeline.compile_kernel()
        arguments = (np.asarray(capture), *map(np.uint32, (TILES, 100, 100)))
        kernel((BLOCKS,), (pipeline.THREADS,), arguments)
        cupy.cuda.Device().synchronize()
        self.assertEqual(int(torch.count_nonzero(guarded[prof.num_slots :])), 0)
        self.assertEqual(int(torch.count_nonzero(guarded[: prof.num_slots])), prof.num_slots)


class Outputs(Recorded):
    def test_dump_command_and_traces(self):
        result, prof = self.record()
        with tempfile.TemporaryDirectory(prefix="warpscope-") as folder:
            dump = prof.save(pathlib.Path(folder) / "dump.bin")
            command = [sys.executable, "-m", "warpscope", "decode", str(dump), "--summary"]
            command += ["--chrome", f"{folder}/a.json", "--perfetto", f"{folder}/a.pftrace"]
            environment = dict(os.environ, PYTHONPATH=str(PACKAGE))
            ran = subprocess.run(command, env=environment, capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
            self.assertIn("wait for room", ran.stdout)
            self.assertEqual(ws.load(dump).spans, result.spans)
            self.assertGreater(pathlib.Path(folder, "a.pftrace").stat().st_size, 1000)

    # Not a figure to hold: only that both builds run and compare.
    def test_the_cost_is_told(self):
        kernels = pipeline.compile_kernel("ws::Profiler<false>"), pipeline.compile_kernel()
        prof = ws.Profiler(BLOCKS, 2, 4 * TILES + 2)
        times = ([], [])
        for _ in range(12):
            for kernel, found in zip(kernels, times):
                begin, end = cupy.cuda.Event(), cupy.cuda.Event()
                begin.record()
                pipeline.launch(kernel, prof, TILES)
                end.record()
                end.synchronize()
                found.append(cupy.cuda.get_elapsed_time(begin, end))
        cost = ws.compare(*times)
        self.assertGreater(cost.slowdown, 0.5, cost)
        self.assertLess(cost.low, cost.high, cost)


def main():
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        cannot_run(str(error))
    if count == 0 or not torch.cuda.is_available():
        cannot_run("no GPU is seen here")
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
