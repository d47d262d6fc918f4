# SPDX-License-Identifier: Apache-2.0
"""Triton, JAX, CuPy and Numba on a real GPU: kernels, scopes and stacks come out right, without a
module of their own."""

import os
import subprocess
import sys

import device_tools
from device_tools import PYTHON, PYTHONPATH, ROOT

sys.path.insert(0, str(device_tools.torch_session.PACKAGES))
LAUNCHES = 10
ABSENT = 77


class PythonFrameworks(device_tools.TracedTest):
    def record(self, which):
        """The kernels of a program, and the line that launches."""
        from gpufl.analyzer import GpuFlightSession

        command = [PYTHON, str(ROOT / "tests/device/frameworks/programs.py"), str(self.logs), which]
        ran = subprocess.run(
            command,
            env=dict(os.environ, PYTHONPATH=PYTHONPATH, XLA_PYTHON_CLIENT_PREALLOCATE="false"),
            capture_output=True,
            text=True,
            timeout=300,
        )
        if ran.returncode == ABSENT:
            self.skipTest(ran.stderr.strip())
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assert_exact(self.only_session())
        return GpuFlightSession(self.only_session()).kernels, int(ran.stdout.split()[-1])

    def assert_launches(self, kernels, line):
        self.assertEqual(set(kernels["scope"]), {"work"}, kernels[["name", "scope"]])
        expected = f"programs.py:{line} in launch"
        for text in kernels["launched_at"].astype(str):
            self.assertTrue(text.startswith(expected), f"{text!r} is not {expected!r}")
        self.assertTrue((kernels["duration_ns"] > 0).all())

    def assert_own_kernel(self, which):
        kernels, line = self.record(which)
        own = kernels[kernels["name"].str.contains(f"gpufl_{which}_kernel")]
        self.assertEqual(len(own), LAUNCHES, set(kernels["name"]))
        self.assert_launches(own, line)

    def test_triton(self):
        self.assert_own_kernel("triton")

    def test_cupy(self):
        self.assert_own_kernel("cupy")

    def test_numba(self):
        self.assert_own_kernel("numba")

    def test_jax(self):
        kernels, line = self.record("jax")
        inside = kernels[kernels["scope"] == "work"]
        # XLA decides how many kernels a computation is; each round has as many.
        self.assertGreaterEqual(len(inside), LAUNCHES, set(kernels["name"]))
        self.assertEqual(len(inside) % LAUNCHES, 0, kernels[["name", "scope"]])
        # XLA may launch from threads of its own, which inherit the scope; their lines are not theirs.
        own = inside[inside["thread"] == inside["thread"].mode()[0]]
        with_line = own["launched_at"].astype(str).str.startswith(f"programs.py:{line} in launch")
        self.assertTrue(with_line.all() or own["launched_at"].isna().all(), own["launched_at"])


if __name__ == "__main__":
    device_tools.require_package()
    device_tools.main()
