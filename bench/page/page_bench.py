# SPDX-License-Identifier: Apache-2.0
"""How long the HTML report of a million kernels takes to draw itself in Chromium, from its loading to
its last picture.

page_bench.py GPUFL KERNEL_SESSION [--json FILE]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "bench/python"), str(ROOT / "tests/browser")]
from bench_figures import Figures, write_result  # noqa: E402
from chromium import CHROMIUM, opened, ready_ms  # noqa: E402

KERNELS = 1_000_000
ROUNDS = 11
MAX_READY_MS = 2000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gpufl")
    parser.add_argument("kernel_session")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if CHROMIUM is None:
        print("skipped: no Chromium; './dev setup browser' installs it")
        return 0
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = folder / "report.html"
        subprocess.run([arguments.kernel_session, folder / "logs", str(KERNELS)], check=True)
        report = [arguments.gpufl, "report", "--format", "html", "--output", page, folder / "logs"]
        subprocess.run(report, check=True, capture_output=True)
        opened(page, folder)  # the browser's own first start
        times = [ready_ms(opened(page, folder)[0]) for _ in range(ROUNDS)]
        figures.add(f"page of {KERNELS} kernels drawn", times, "ms", at_most=MAX_READY_MS)
    return write_result("page_bench", figures, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
