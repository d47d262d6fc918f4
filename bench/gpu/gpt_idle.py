#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What GPUFlight costs a small GPT in PyTorch while it records nothing: injected but dormant, and
traced and stopped, beside processes that never met it. A process cannot be switched between these,
so sets of four warm processes take turns step by step, on one core at a time: what else the machine
does there, it does to all four. A set says one ratio of each: the middle one of its turns, against
either of the two that never met GPUFlight.

gpt_idle.py [--sets N] [--seconds S] [--json FILE]
"""

import argparse
import contextlib
import gc
import math
import multiprocessing
import os
import pathlib
import random
import statistics
import tempfile
import time

import gpt_rounds
import torch_session

WARM_STEPS = 5
TRACED_STEPS = 10
WARM_TURNS = 2  # of a set, not counted
MIN_TURNS = 16  # in a set, however long it took to start
MODES = ("plain", "again", "stopped", "dormant")
PLAIN = (0, 1)
QUANTILES = (0, 10, 25, 50, 75, 90, 100)


def work(mode, folder, connection):
    """One process of a set: answers a core with the milliseconds of a step on it."""
    if mode == "dormant":
        # Before the first call of CUDA, which reads it.
        os.environ["CUDA_INJECTION64_PATH"] = str(torch_session.INJECTION)
        os.environ["GPUFL_LOG_PATH"] = folder
        os.environ["GPUFL_PROFILING_ENGINE"] = "Trace"
        os.environ["GPUFL_DORMANT"] = "1"
    import gpt_model
    import torch

    with torch.device("cuda"):  # which is quicker at random numbers
        training = gpt_model.Training()
    gpt_rounds.step_costs(torch, training, WARM_STEPS)
    traced = torch_session.Session(tempfile.mkdtemp(dir=folder))
    with traced if mode == "stopped" else contextlib.nullcontext():
        gpt_rounds.step_costs(torch, training, TRACED_STEPS)
    # Python's collections would fall into the steps of some and not of others.
    gc.collect()
    gc.disable()
    is_injected = torch_session.INJECTION.name in pathlib.Path("/proc/self/maps").read_text()
    connection.send("ready" if is_injected == (mode == "dormant") else "is not what it should be")
    while (core := connection.recv()) is not None:
        gpt_rounds.pin(map(int, os.listdir("/proc/self/task")), {core})
        connection.send(gpt_rounds.step_costs(torch, training, 1)[0])


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

    def step(self, core):
        self.connection.send(core)
        return self.answer()


@contextlib.contextmanager
def started_set(folder):
    """Four processes that are warm, one of each mode."""
    workers = [Worker(mode, folder) for mode in MODES]
    for mode, worker in zip(MODES, workers):
        answer = worker.answer()
        if answer != "ready":
            torch_session.cannot_run(f"the process '{mode}' {answer}")
    yield workers
    for worker in workers:
        worker.connection.send(None)
    for worker in workers:
        worker.process.join()


def take_turns(workers, cores, chance, until):
    """Of every turn the milliseconds of a step, by mode. The order is left to chance: who comes first
    to a core finds it cold, and the middle of turns in a few fixed orders favours some modes."""
    turns = []
    while len(turns) < WARM_TURNS + MIN_TURNS or time.monotonic() < until:
        core = chance.choice(cores)
        costs = [0.0] * len(workers)
        for at in chance.sample(range(len(workers)), len(workers)):
            costs[at] = workers[at].step(core)
        turns.append(costs)
    return turns[WARM_TURNS:]


def middle_ratio(turns, subject, *baselines):
    """Noise comes on top of a step, so the middle is taken beside each baseline for itself: beside
    the mean of two, which noise hits twice as often, a subject would look too good."""
    middles = [statistics.median(math.log(t[subject] / t[one]) for t in turns) for one in baselines]
    return math.exp(statistics.fmean(middles))


def quantiles(costs):
    ordered = sorted(costs)
    return " ".join(f"{ordered[round((len(ordered) - 1) * q / 100)]:.3f}" for q in QUANTILES)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=165, help="of all sets, with their starts")
    arguments = parser.parse_args()
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # asks without touching CUDA
    torch = torch_session.require_torch_gpu()
    if not torch_session.INJECTION.is_file():
        torch_session.cannot_run(f"no {torch_session.INJECTION}: './dev gpu-test --build' makes it")

    # Imports what optimizers need, which takes longer than anything else that a process starts with.
    torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])

    report = torch_session.Report("gpt_idle", arguments.json)
    report.note("torch", torch.__version__)
    report.note("quantiles of a process's steps, ms", QUANTILES)
    cores, chance = sorted(os.sched_getaffinity(0)), random.Random(0)
    begin = time.monotonic()
    again, stopped, dormant = [], [], []
    ending_s = 0.0  # of the set before
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-idle-") as folder:
        for number in range(1, arguments.sets + 1):
            start = time.monotonic()
            with started_set(folder) as workers:
                ready = time.monotonic()
                until = begin + arguments.seconds * number / arguments.sets - ending_s
                turns = take_turns(workers, cores, chance, until)
                measured = time.monotonic()
            ending_s = time.monotonic() - measured
            again.append(middle_ratio(turns, 1, 0))
            stopped.append(middle_ratio(turns, 2, *PLAIN))
            dormant.append(middle_ratio(turns, 3, *PLAIN))
            print(
                f"set {number} of {arguments.sets}: again {again[-1]:.4f} stopped {stopped[-1]:.4f}"
                f" dormant {dormant[-1]:.4f} of {len(turns)} turns; {ready - start:.1f} s to start,"
                f" {measured - ready:.1f} s of turns, {ending_s:.1f} s to end",
                flush=True,
            )
            for mode, costs in zip(MODES, zip(*turns)):
                report.note(f"set {number} {mode}", quantiles(costs))
                print(f"  {mode:<8} {quantiles(costs)} ms", flush=True)
    report.ratio("A/A, processes", again)
    report.ratio("injected and dormant / not injected", dormant, ("<=", 1.01))
    report.ratio("traced and stopped / never traced", stopped, ("<=", 1.02))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
