# SPDX-License-Identifier: Apache-2.0
"""Triton, JAX, CuPy and Numba on a real GPU: kernels, scopes and stacks come out right, without a
module of their own."""

import sys

import device_tools
from device_tools import PYTHON, ROOT

sys.path.insert(0, str(device_tools.torch_session.PACKAGES))
LAUNCHES = 10
ABSENT = 77
FRAMEWORKS = ("triton", "jax", "cupy", "numba")


class PythonFrameworks(device_tools.TracedTest):
    VARIABLES = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}

    @classmethod
    def commands(cls, logs):
        programs = ROOT / "tests/device/frameworks/programs.py"
        return {which: [PYTHON, programs, logs / which, which] for which in FRAMEWORKS}

    def record(self, which):
        """The kernels of a program, and the place that launches."""
        from gpufl.analyzer import GpuFlightSession

        if self.ran[which].returncode == ABSENT:
            self.skipTest(self.ran[which].stderr.strip())
        self.assert_exact(self.session(which))
        line = self.output(which).split()[-1]
        place = f"programs.py:{line} in make_{which}.<locals>.launch()"
        return GpuFlightSession(self.session(which)).kernels, place

    def assert_launches(self, kernels, place):
        self.assertEqual(set(kernels["scope"]), {"work"}, kernels[["name", "scope"]])
        self.assertEqual(set(kernels["launched_at"].astype(str)), {place})
        self.assertTrue((kernels["duration_ns"] > 0).all())

    def assert_own_kernel(self, which):
        kernels, place = self.record(which)
        own = kernels[kernels["name"].str.contains(f"gpufl_{which}_kernel")]
        self.assertEqual(len(own), LAUNCHES, set(kernels["name"]))
        self.assert_launches(own, place)

    def test_triton(self):
        self.assert_own_kernel("triton")

    def test_cupy(self):
        self.assert_own_kernel("cupy")

    def test_numba(self):
        self.assert_own_kernel("numba")

    def test_jax(self):
        kernels, place = self.record("jax")
        inside = kernels[kernels["scope"] == "work"]
        # XLA decides how many kernels a computation is; each round has as many.
        self.assertGreaterEqual(len(inside), LAUNCHES, set(kernels["name"]))
        self.assertEqual(len(inside) % LAUNCHES, 0, kernels[["name", "scope"]])
        # XLA may launch from threads of its own, which inherit the scope and run no Python.
        lines = set(inside["launched_at"].dropna())
        self.assertEqual({line for line in lines if ".py:" in line}, {place}, lines)


if __name__ == "__main__":
    device_tools.require_package()
    device_tools.main()
