# SPDX-License-Identifier: Apache-2.0
"""warpscope.Profiler inside a live session on a real GPU: what its kernels recorded is joined to
them, and lies inside of them within the error that the log states, at most a microsecond."""

import importlib.util
import json
import sys

import device_tools
from device_tools import program, rows

sys.path.insert(0, str(device_tools.torch_session.PACKAGES))

MAX_ERROR_NS = 1_000
KERNELS = {"torch": "pipeline", "cupy": "pipeline", "v1": "v1"}


class WarpscopeTimeline(device_tools.TracedTest):
    @classmethod
    def commands(cls, logs):
        return {"timeline": program("warpscope_timeline.py", logs / "timeline")}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.figures = []

    @classmethod
    def tearDownClass(cls):
        print("\n".join(cls.figures))

    def check(self, how):
        from gpufl.analyzer import GpuFlightSession

        ranges = json.loads(self.output("timeline").splitlines()[-1])[how]
        folder = device_tools.only_session_in(self.logs / "timeline" / how)
        self.assert_exact(folder)
        lines = rows(folder, "warp_launch")
        told = "\n".join(map(json.dumps, lines))
        session = GpuFlightSession(folder)
        spans, kernels = session.warp_spans, session.kernels
        own = kernels[kernels["name"].astype(str).str.contains(KERNELS[how])]
        self.assertEqual(len(own), len(ranges), kernels["name"].value_counts())
        self.assertEqual(len(lines), len(ranges), told)

        # Each capture has a kernel of its own, in order, and every one of its ranges.
        by_start = own.sort_values("start_ns")
        joined = [line.get("correlation") for line in lines]
        self.assertEqual(joined, by_start["correlation"].tolist(), told)
        found = spans[spans["ending"] == "range"].groupby("launch").size()
        self.assertEqual(found.sort_index().tolist(), ranges, told)
        self.assertEqual(
            set(spans["group_name"].astype(str)), {"producer", "consumer"}, spans.head(10)
        )
        self.assertEqual([line["problems"] for line in lines if line.get("problems")], [])

        self.assertTrue(spans["error_ns"].notna().all(), told)
        self.assertLessEqual(spans["error_ns"].max(), MAX_ERROR_NS, told)
        kernel = own.set_index("correlation").loc[spans["correlation"]]
        begin = kernel["start_ns"].to_numpy()
        end = begin + kernel["duration_ns"].to_numpy()
        start_ns = spans["start_ns"].to_numpy()
        early = begin - start_ns
        late = start_ns + spans["duration_ns"].to_numpy() - end
        spans = spans.assign(early_ns=early, late_ns=late)
        outside = spans[spans[["early_ns", "late_ns"]].max(axis=1) > spans["error_ns"]]
        shown = ["launch", "start_ns", "duration_ns", "block", "event", "early_ns", "late_ns"]
        self.figures.append(
            f"{how}: {len(spans)} spans of {len(lines)} launches; stated error at most "
            f"{spans['error_ns'].max()} ns, furthest outside of a kernel "
            f"{max(early.max(), late.max())} ns"
        )
        self.assertEqual(
            len(outside), 0, f"{outside[[*shown, 'error_ns']].head(20).to_string()}\n{told}"
        )

    def test_a_buffer_of_torch(self):
        self.check("torch")

    def test_a_buffer_of_cupy(self):
        self.check("cupy")

    def test_a_kernel_of_old(self):
        self.check("v1")


if __name__ == "__main__":
    if importlib.util.find_spec("cupy") is None:
        device_tools.torch_session.cannot_run("no CuPy here")
    device_tools.require_package()
    device_tools.main()
