#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A dump of warpscope from a GPU becomes a session, whose report shows the inside of its kernel."""

import gzip
import os
import pathlib
import subprocess
import tempfile
import unittest

GPUFL = str(pathlib.Path(os.environ["GPUFL_PROGRAMS"]) / "gpufl")
RECORDINGS = pathlib.Path(__file__).resolve().parents[1] / "warpscope" / "recordings"


def run(*arguments):
    ended = subprocess.run(
        [GPUFL, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


class ImportWarpscopeTest(unittest.TestCase):
    maxDiff = None

    def test_a_matrix_product_of_a_gpu_reports_as_it_should(self):
        with tempfile.TemporaryDirectory() as folder:
            dump = pathlib.Path(folder, "gemm.wscap")
            dump.write_bytes(gzip.decompress((RECORDINGS / "gemm.wscap.gz").read_bytes()))
            logs = pathlib.Path(folder, "logs")
            run("import", dump, "--output", logs)
            report = run("report", "--full", logs)
        sections = report.split("\n\n")
        inside = [section for section in sections if section.startswith("INSIDE KERNELS")]
        golden = (RECORDINGS / "gemm_report.golden").read_text()
        self.assertEqual("".join(f"{section}\n" for section in inside), golden)


if __name__ == "__main__":
    unittest.main()
