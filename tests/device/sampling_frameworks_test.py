# SPDX-License-Identifier: Apache-2.0
"""PC sampling of programs in PyTorch, Triton, JAX and CuPy that know nothing of us, also beside another
profiler, on a real GPU: each runs to its end, and its ledger is exact or says why not."""

import json
import pathlib

import device_tools
from device_tools import GPUFL, PYTHON, ROOT, program, rows, run, trace

SECONDS = 5
CYCLES = 15
ABSENT = 77
PROGRAM = ROOT / "tests/device/frameworks/sampled.py"


class SampledFrameworks(device_tools.TracedTest):
    VARIABLES = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "GPUFL_PC_SAMPLING_PAUSE_MS": "190"}
    AT_ONCE = 1  # of all processes on a GPU, one can be sampled

    @classmethod
    def commands(cls, logs):
        names = ("torch", "compiled", "triton", "jax", "cupy", "torch_profiler")
        commands = {
            name: trace(logs / name, [PYTHON, PROGRAM, name, SECONDS], "--engine", "PcSampling")
            for name in names
        }
        commands["proton"] = [PYTHON, PROGRAM, "proton", SECONDS, logs / "proton"]
        return commands

    def sampled(self, which):
        """The session and its ledger, which is exact."""
        if self.ran[which].returncode == ABSENT:
            self.skipTest(self.ran[which].stderr.strip())
        self.assertIn("done", self.output(which))
        session = self.main_session(which)
        run([GPUFL, "verify", session])
        (ledger,) = rows(session, "ledger")
        self.assertEqual(ledger["launches_missing"], 0, ledger)
        self.assertEqual(ledger["vendor_dropped"], 0, ledger)
        return session, ledger

    def main_session(self, which):
        """The one with the kernels: compilers that a program starts have sessions of their own."""
        sessions = device_tools.sessions_in(self.logs / which)
        return max(sessions, key=lambda one: rows(one, "ledger")[-1]["launches_seen"])

    def assert_samples(self, which):
        session, ledger = self.sampled(which)
        self.assertGreaterEqual(ledger["sampling_windows"], 5, ledger)
        self.assertGreater(ledger["pc_samples"], 0, ledger)
        return session

    def kernel(self, session, name):
        command = [GPUFL, "report", "--kernel", name, "--source", "--format", "json", session]
        return json.loads(run(command))

    def assert_python_lines(self, document, name):
        """Most samples that lead to a line lead to one of this file."""
        lines = [line for image in document["images"] for line in image["lines"]]
        self.assertTrue(lines, document["missing"])
        hottest = max(lines, key=lambda line: line["samples"])
        self.assertTrue(pathlib.Path(hottest["file"]).name.endswith(name), hottest)
        return hottest

    def test_torch(self):
        self.assert_samples("torch")

    def test_jax(self):
        self.assert_samples("jax")

    def test_cupy(self):
        self.assert_samples("cupy")

    def test_a_triton_kernel_leads_to_python_lines(self):
        session = self.assert_samples("triton")
        hottest = self.assert_python_lines(
            self.kernel(session, "sampled_triton_kernel"), "sampled.py"
        )
        source = PROGRAM.read_text(encoding="utf-8").splitlines()
        self.assertIn("# the hot line", source[hottest["line"] - 1])

    def test_a_compiled_kernel_leads_to_python_lines(self):
        session = self.assert_samples("compiled")
        self.assert_python_lines(self.kernel(session, "triton_poi_fused"), ".py")

    def test_captures_survive_that_sampling_begins_and_ends(self):
        logs = self.logs / "captures"
        command = trace(logs, program("captures.py"), "--quiet", "--engine", "PcSampling")
        with self.running(command) as process:
            (session,) = device_tools.sessions_in(logs)
            for _ in range(CYCLES):
                run([GPUFL, "control", session, "stop"])
                run([GPUFL, "control", session, "start"])
            self.assertIsNone(process.poll())
        run([GPUFL, "verify", session])
        (ledger,) = rows(session, "ledger")
        self.assertGreater(ledger["phases"], CYCLES, ledger)
        self.assertGreater(ledger["pc_samples"], 0, ledger)

    # Whoever comes first has CUPTI. What we could not have is said.
    def assert_goes_on_beside(self, which):
        session, ledger = self.sampled(which)
        if ledger["sampling_windows"] == 0 or ledger["launches_seen"] == 0:
            states = rows(session, "capability") + rows(session, "event")
            self.assertTrue([state for state in states if state.get("reason")], states)

    def test_beside_torch_profiler(self):
        self.assert_goes_on_beside("torch_profiler")

    def test_beside_proton(self):
        self.assert_goes_on_beside("proton")


if __name__ == "__main__":
    device_tools.main()
