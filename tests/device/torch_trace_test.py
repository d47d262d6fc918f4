# SPDX-License-Identifier: Apache-2.0
"""`gpufl trace` and `gpufl control` on programs in PyTorch that know nothing of us, on a real GPU."""

import json
import pathlib
import time

import device_tools
from device_tools import (
    GPUFL,
    PROGRAMS,
    PYTHON,
    only_session_in,
    program,
    rows,
    run,
    sessions_in,
    trace,
)


class TorchTrace(device_tools.TracedTest):
    @classmethod
    def commands(cls, logs):
        ranks = [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
        return {
            "training": trace(logs / "training", program("training.py", 5)),
            "ranks": trace(logs / "ranks", [*ranks, PROGRAMS / "ranks.py"]),
            "nvtx": trace(logs / "nvtx", program("training.py", 3, "nvtx")),
            "range": trace(
                logs / "range", program("training.py", 3, "nvtx"), "--capture-range", "nvtx:step 1"
            ),
            "waits": trace(logs / "waits", program("sync_in_loop.py"), "--stacks"),
        }

    def test_a_training_is_traced_as_it_is(self):
        self.assertIn("5\n", self.output("training"))
        session = self.session("training")
        self.assertGreater(self.assert_exact(session), 5 * 900)
        (line,) = rows(session, "session")
        self.assertEqual(line["engine"].lower(), "trace")
        self.assertGreater(len(rows(session, "memcpy")), 0)

    def test_every_rank_of_torchrun_has_a_session(self):
        output = self.output("ranks")
        by_rank = {}
        runs = set()
        for session in sessions_in(self.logs / "ranks"):
            (line,) = rows(session, "session")
            runs.add(line["run_id"])
            if "rank" in line:
                by_rank[line["rank"]] = session
        self.assertEqual(sorted(by_rank), [0, 1], output)
        self.assertEqual(len(runs), 1, "one run for all of a launch")
        launches = [self.assert_exact(by_rank[rank]) for rank in (0, 1)]
        self.assertGreater(launches[1], launches[0] * 1.2)

    def test_ranges_of_nvtx_become_markers(self):
        markers = rows(self.session("nvtx"), "marker")
        names = [marker["name"] for marker in markers]
        for step in range(3):
            self.assertEqual(names.count(f"step {step}"), 1, names)
        self.assertEqual(names.count("forward"), 3, names)
        self.assertEqual(names.count("done"), 3, names)
        by_name = {marker["name"]: marker for marker in markers}
        step, forward = by_name["step 2"], by_name["forward"]
        self.assertLessEqual(step["start_ns"], forward["start_ns"])
        self.assertLessEqual(
            forward["start_ns"] + forward["duration_ns"], step["start_ns"] + step["duration_ns"]
        )

    def test_only_the_range_that_is_named(self):
        session = self.session("range")
        (marker,) = [m for m in rows(session, "marker") if m["name"] == "step 1"]
        end = marker["start_ns"] + marker["duration_ns"]
        kernels = rows(session, "kernel")
        self.assertGreater(len(kernels), 300)
        for kernel in kernels:
            self.assertTrue(marker["start_ns"] <= kernel["api_start_ns"] <= end, kernel)

    def test_the_line_that_waits_in_a_loop(self):
        output = self.output("waits")
        line = next(int(text) for text in output.splitlines() if text.isdigit())
        session = self.session("waits")
        expected = f"sync_in_loop.py:{line} in train_step"
        waits = [row for row in rows(session, "sync") if expected in row.get("at", "")]
        self.assertGreaterEqual(len(waits), 20, rows(session, "sync")[:3])
        self.assertIn(f"sync_in_loop.py:{line}", run([GPUFL, "report", session]))

    def test_dormant_until_told_and_off_again(self):
        logs = self.logs / "dormant"
        variables = {
            "CUDA_INJECTION64_PATH": str(device_tools.torch_session.INJECTION),
            "GPUFL_LOG_PATH": str(logs),
            "GPUFL_PROFILING_ENGINE": "Trace",
            "GPUFL_DORMANT": "1",
        }
        with self.running(program("waiting.py"), **variables) as process:

            def control(verb):
                return json.loads(run([GPUFL, "control", process.pid, verb, "--json"]))

            maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
            self.assertIn("libgpufl_inject", maps)
            self.assertEqual(control("status")["rows"].get("kernel", 0), 0)
            control("start")
            deadline = time.monotonic() + 30
            while (started := control("status"))["tracer"]["kernels"] <= 10:
                self.assertLess(time.monotonic(), deadline, started)
                time.sleep(0.05)
            self.assertEqual(started["tracer"]["state"], "recording", started)
            control("stop")
            control("flush")
            stopped = control("status")["rows"]["kernel"]
            time.sleep(0.3)
            self.assertEqual(control("status")["rows"]["kernel"], stopped)
        self.assertGreaterEqual(len(rows(only_session_in(logs), "kernel")), stopped)


if __name__ == "__main__":
    device_tools.main()
