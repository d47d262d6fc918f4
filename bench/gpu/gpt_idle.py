#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What GPUFlight costs a small GPT in PyTorch while it records nothing: injected but dormant, and
traced and stopped, beside processes that never met it. A process cannot be switched between these,
so sets of four warm processes measure in turns, and there are twenty sets. About 200 seconds.

gpt_idle.py [--json FILE]
"""

import argparse
import math
import multiprocessing
import os
import pathlib
import statistics
import tempfile

import gpt_rounds
import torch_session

SETS = 20
TURNS = 3
STEPS = 4
WARM_STEPS = 8
TRACED_STEPS = 10
MODES = ("plain", "again", "stopped", "dormant")


def group(training, torch, steps):
    """Milliseconds of the middle step."""
    return statistics.median(gpt_rounds.step_costs(torch, training, steps))


def work(mode, folder, connection):
    """One process of a set: answers every question with what a step costs it."""
    if mode == "dormant":
        # Before the first call of CUDA, which reads it.
        os.environ["CUDA_INJECTION64_PATH"] = str(torch_session.INJECTION)
        os.environ["GPUFL_LOG_PATH"] = folder
        os.environ["GPUFL_PROFILING_ENGINE"] = "Trace"
        os.environ["GPUFL_DORMANT"] = "1"
    import gpt_model
    import torch

    training = gpt_model.Training()
    group(training, torch, WARM_STEPS)
    if mode == "stopped":
        with torch_session.Session(tempfile.mkdtemp(dir=folder)):
            group(training, torch, TRACED_STEPS)
    is_injected = torch_session.INJECTION.name in pathlib.Path("/proc/self/maps").read_text()
    connection.send("ready" if is_injected == (mode == "dormant") else "is not what it should be")
    while connection.recv():
        connection.send(group(training, torch, STEPS))


class Worker:
    def __init__(self, mode, folder):
        # A fork of a process that has torch in memory, and has not touched CUDA: quick to start,
        # and all of a set lie at the same addresses.
        context = multiprocessing.get_context("fork")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(mode, folder, other))
        self.process.start()
        other.close()

    def answer(self):
        try:
            return self.connection.recv()
        except EOFError:
            torch_session.cannot_run("a process that measures is gone")

    def ask(self):
        self.connection.send(True)
        return self.answer()

    def end(self):
        self.connection.send(False)
        self.process.join()


def measure_set(number, folder):
    """By mode, what a step costs beside a step of the first."""
    workers = [Worker(mode, folder) for mode in MODES]
    for mode, worker in zip(MODES, workers):
        answer = worker.answer()
        if answer != "ready":
            torch_session.cannot_run(f"the process '{mode}' {answer}")
    logarithms = [0.0] * len(MODES)
    for turn in range(TURNS):
        order = list(range(len(MODES)))
        for at in order if (number + turn) % 2 == 0 else reversed(order):
            logarithms[at] += math.log(workers[at].ask())
    for worker in workers:
        worker.end()
    return [math.exp((value - logarithms[0]) / TURNS) for value in logarithms]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # asks without touching CUDA
    torch = torch_session.require_torch_gpu()
    if not torch_session.INJECTION.is_file():
        torch_session.cannot_run(f"no {torch_session.INJECTION}: './dev gpu-test --build' makes it")

    report = torch_session.Report("gpt_idle", arguments.json)
    report.note("torch", torch.__version__)
    report.note("steps_a_turn", STEPS)
    report.note("turns", TURNS)
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-idle-") as folder:
        sets = []
        for number in range(SETS):
            sets.append(measure_set(number, folder))
            _, *ratios = sets[-1]
            print(f"set {number + 1} of {SETS}:", *(f"{ratio:.4f}" for ratio in ratios), flush=True)
    _, again, stopped, dormant = zip(*sets)
    report.ratio("A/A, processes", again)
    report.ratio("injected and dormant / not injected", dormant, ("<=", 1.01))
    report.ratio("traced and stopped / never traced", stopped, ("<=", 1.02))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
