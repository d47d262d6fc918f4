#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What GPUFlight costs a small GPT in PyTorch while it records nothing: injected but dormant, and
traced and stopped, beside processes that never met it (gpt_turns.py).

gpt_idle.py [--sets N] [--seconds S] [--json FILE]
"""

import argparse
import contextlib
import pathlib
import tempfile

import gpt_turns
import torch_session


@contextlib.contextmanager
def injected(folder, is_injected):
    found = torch_session.INJECTION.name in pathlib.Path("/proc/self/maps").read_text()
    if found != is_injected:
        torch_session.cannot_run("a process is not what it should be")
    yield


def modes(folder):
    def plain(folder):
        return injected(folder, False)

    dormant = {
        # As `gpufl trace` has them.
        "CUDA_INJECTION64_PATH": str(torch_session.INJECTION),
        "NVTX_INJECTION64_PATH": str(torch_session.INJECTION),
        "GPUFL_LOG_PATH": folder,
        "GPUFL_PROFILING_ENGINE": "Trace",
        "GPUFL_DORMANT": "1",
    }
    return [
        gpt_turns.Mode("plain", during=plain),
        gpt_turns.Mode("again", during=plain),
        gpt_turns.Mode("stopped", before=gpt_turns.traced, during=plain),
        gpt_turns.Mode("dormant", dormant, during=lambda folder: injected(folder, True)),
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=165, help="of all sets, with their starts")
    arguments = parser.parse_args()
    torch = gpt_turns.prepare_forks()
    if not torch_session.INJECTION.is_file():
        torch_session.cannot_run(f"no {torch_session.INJECTION}: './dev gpu-test --build' makes it")

    report = torch_session.Report("gpt_idle", arguments.json)
    report.note("torch", torch.__version__)
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-idle-") as folder:
        sets = gpt_turns.Sets(modes(folder), arguments.sets, arguments.seconds)
    sets.report_steps(report)
    report.ratio("A/A, processes", sets.ratios("again", "plain"))
    dormant = sets.ratios("dormant", "plain", "again")
    report.ratio("injected and dormant / not injected", dormant, ("<=", 1.01))
    stopped = sets.ratios("stopped", "plain", "again")
    report.ratio("traced and stopped / never traced", stopped, ("<=", 1.02))
    report.value("processes that did not end well", sets.failed, "processes", ("<=", 0))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
