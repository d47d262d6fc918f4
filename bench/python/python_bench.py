#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs: a scope beside an empty context manager written in Python, with a
session and without, and the import beside numpy's. Run it with an interpreter that has gpufl and
numpy; `./dev python-test --bench` does. About 20 seconds.

python_bench.py [--json FILE]
"""

import argparse
import subprocess
import sys
import tempfile
import timeit

import gpufl
from bench_figures import Figures, write_result

PAIRS = 40
LOOPS = 50_000
IMPORTS = 21


class Empty:
    """What a user would write who wants a `with` that does nothing."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return None


def cost_ns(statement):
    timer = timeit.Timer(statement, globals={"gpufl": gpufl, "Empty": Empty})
    return timer.timeit(LOOPS) / LOOPS * 1e9


def more_than_empty(statement):
    """How much more `statement` costs than the empty context manager, in turns."""
    more = []
    for pair in range(PAIRS):
        both = ['with Empty("x"): pass', statement]
        costs = {text: cost_ns(text) for text in (both if pair % 2 else reversed(both))}
        more.append(costs[statement] - costs[both[0]])
    return more


def import_ms(modules):
    code = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout) * 1e3


def measure(figures):
    figures.add("empty context manager", [cost_ns('with Empty("x"): pass') for _ in range(PAIRS)], "ns")
    scope = 'with gpufl.Scope("x"): pass'
    figures.add("disabled scope over an empty context manager", more_than_empty(scope), "ns", 60)
    with tempfile.TemporaryDirectory(prefix="gpufl-bench-") as folder:
        if not gpufl.init(log_path=folder, backend=gpufl.BackendKind.None_):
            sys.exit("python_bench: no session could be started")
        figures.add("scope over an empty context manager", more_than_empty(scope), "ns", 250)
        gpufl.shutdown()
    import_ms("numpy, gpufl")  # into the page cache
    beyond = [import_ms("numpy, gpufl") - import_ms("numpy") for _ in range(IMPORTS)]
    figures.add("import of gpufl beyond numpy's", beyond, "ms", 60)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    figures = Figures()
    measure(figures)
    return write_result("python_bench", figures, arguments.json)


if __name__ == "__main__":
    raise SystemExit(main())
