# SPDX-License-Identifier: Apache-2.0
"""warpscope's examples on a real GPU: each is run once, as a program, and its capture looked into.
Those in C++ need the carried build. Captures stay in the folder WARPSCOPE_CAPTURES, where it is set."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "warpscope"
sys.path.insert(0, str(ROOT / "python" / "warpscope" / "src"))
sys.path.insert(0, str(EXAMPLES))
PROGRAMS = pathlib.Path(os.environ.get("PORTABLE_BUILD", ROOT / "build" / "portable")) / "bin"
TICK_NS = 32


def cannot_run(why):
    print(f"warpscope_examples_test.py: {why}", file=sys.stderr)
    sys.exit(2)


try:
    import cupy  # noqa: F401
    import numpy as np
    import record_all
    import torch
    import triton  # noqa: F401

    import warpscope as ws
except ImportError as error:
    cannot_run(str(error))


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        kept = os.environ.get("WARPSCOPE_CAPTURES")
        if not kept:
            folder = tempfile.TemporaryDirectory(prefix="warpscope-")
            cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(kept or folder.name)
        command = [sys.executable, str(EXAMPLES / "record_all.py"), str(cls.folder)]
        ran = subprocess.run(
            [*command, "--programs", str(PROGRAMS)], capture_output=True, text=True
        )
        cls.printed = ran.stdout + ran.stderr
        cls.exit_code = ran.returncode
        print(cls.printed, flush=True)

    def load(self, name, **names):
        path = self.folder / f"{name}.wscap"
        self.assertTrue(path.is_file(), self.printed)
        result = ws.load(path, **names)
        self.assertEqual(result.problems, [], self.printed)
        return result

    def median_ns(self, result, group, event):
        return result.summary()[group, event]["median_ns"]

    def test_each_finds_its_own_result_right(self):
        self.assertEqual(self.exit_code, 0, self.printed)
        for name in record_all.commands(PROGRAMS, self.folder):
            self.assertIn(f"-- {name}: exit 0,", self.printed)

    def test_the_toys_work_as_long_as_they_say(self):
        for name in ("toy", "toy_python"):
            result = self.load(name, event_names=["wait", "work"])
            for warp in range(4):
                took = self.median_ns(result, f"group_{warp}", "work")
                self.assertGreaterEqual(took, 1000 * (warp + 1) - 2 * TICK_NS, name)
                self.assertLess(took, 1000 * (warp + 1) + 2000, name)

    def test_loads_of_the_tiled_product_overlap(self):
        spans = self.load("tiled_gemm").spans_array()
        loads = spans[(spans["event_id"] == 1) & (spans["block"] == 0)]
        ends = loads["begin_ns"] + loads["dur_ns"]
        self.assertEqual(len(set(loads["token"].tolist())), len(loads))
        self.assertGreater(np.count_nonzero(ends[:-1] > loads["begin_ns"][1:]), len(loads) // 2)

    def test_a_wait_of_the_tiled_product_ends_after_its_load(self):
        spans = self.load("tiled_gemm").spans_array()
        for block in range(16):
            own = spans[spans["block"] == block]
            loads = own[own["event_id"] == 1]
            loaded = loads["begin_ns"] + loads["dur_ns"]
            for group in (0, 1):
                waits = own[(own["event_id"] == 2) & (own["group"] == group)]
                self.assertEqual(waits["payload"].tolist(), loads["payload"].tolist())
                went_on = waits["begin_ns"] + waits["dur_ns"]
                self.assertTrue((went_on + 2 * TICK_NS >= loaded).all(), (loaded, went_on))

    def test_programs_of_triton_are_all_there(self):
        for name in ("triton_matmul", "triton_matmul_3_stages"):
            result = self.load(name)
            lanes = result.lanes_array()
            self.assertTrue(lanes["finalised"].all() and (lanes["offered"] == 66).all())
            self.assertTrue(
                (lanes["sm"] < torch.cuda.get_device_properties(0).multi_processor_count).all()
            )
            multiplied = result.spans_array()
            multiplied = multiplied[(multiplied["event_id"] == 1) & (multiplied["block"] == 3)]
            self.assertEqual(multiplied["payload"].tolist(), list(range(16)))

    # In the steady state the data is there: a program that loads ahead waits less.
    def test_stages_of_triton_shorten_the_wait_for_loads(self):
        one, three = self.load("triton_matmul"), self.load("triton_matmul_3_stages")
        self.assertLess(
            self.median_ns(three, "program", "load"), self.median_ns(one, "program", "load")
        )


def main():
    if not torch.cuda.is_available():
        cannot_run("no GPU is seen here")
    unittest.main(verbosity=2)


if __name__ == "__main__":
    main()
