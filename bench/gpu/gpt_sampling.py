#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PC sampling costs a small GPT in PyTorch: at its defaults against Trace, and within a budget of
2% against a process that nobody ever traced. Two processes take turns; nobody is stopped in a turn, and
a turn of a recorded process is a session of its own. A pair of turns says one ratio, of the mean steps.

gpt_sampling.py [--pairs N] [--seconds S] [--budget-pairs N] [--budget-seconds S] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch_session

WARM_STEPS = 40
SETTLE_SECONDS = 1.5
# The environment of a mode's sessions; none: nobody records.
MODES = {
    "never traced": None,
    "Trace": {"GPUFL_PROFILING_ENGINE": "Trace"},
    "PcSampling": {"GPUFL_PROFILING_ENGINE": "PcSampling"},
    "PcSampling, budget 2%": {
        "GPUFL_PROFILING_ENGINE": "PcSampling",
        "GPUFL_OVERHEAD_BUDGET": "2%",
    },
}


class Worker:
    """A process that runs steps when it is told for how long."""

    def __init__(self, mode):
        self.mode = mode
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(MODES[mode] or {}), "GPUFL_OVERRIDE": "1"},
        )

    def expect(self, word):
        line = self.process.stdout.readline()
        if not line.startswith(word):
            torch_session.cannot_run(f"the process '{self.mode}' said {line!r}")
        return json.loads(line[len(word) :].strip() or "null")

    def turn(self, seconds, settle, logs):
        """(milliseconds of a step, on average; steps)"""
        order = {"seconds": seconds, "settle": settle, "logs": str(logs)}
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return self.expect("turn")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def work(mode):
    import gpt_model
    import torch

    with torch.device("cuda"):
        training = gpt_model.Training()

    def step():
        training.step()
        torch.cuda.synchronize()

    for _ in range(WARM_STEPS):
        step()
    print("ready", flush=True)
    is_recorded = MODES[mode] is not None
    for line in sys.stdin:
        order = json.loads(line)
        session = torch_session.Session(order["logs"]) if is_recorded else contextlib.nullcontext()
        with session:
            settle(step, order["settle"])
            steps, began = 0, time.perf_counter()
            while time.perf_counter() - began < order["seconds"]:
                with torch_session.Scope("step") if is_recorded else contextlib.nullcontext():
                    step()
                steps += 1
            took = time.perf_counter() - began
        for _ in range(5):
            step()
        print("turn", json.dumps([took * 1e3 / steps, steps]), flush=True)


def settle(step, seconds):
    """Steps that do not count: the first window of a session takes longer to open, once."""
    began = time.perf_counter()
    while time.perf_counter() - began < seconds:
        step()


def compare(mode, against, pairs, seconds, settle_seconds, folder):
    """Ratios of pairs, and the folders of the sessions of `mode`."""
    workers = [Worker(mode), Worker(against)]
    for worker in workers:
        worker.expect("ready")
    ratios, sessions = [], []
    for pair in range(pairs):
        order = [0, 1] if pair % 2 == 0 else [1, 0]
        took = {}
        for which in order:
            logs = pathlib.Path(tempfile.mkdtemp(dir=folder))
            took[which] = workers[which].turn(seconds, settle_seconds, logs)[0]
            if which == 0:
                sessions.append(logs)
            else:
                shutil.rmtree(logs)
        ratios.append(took[0] / took[1])
        print(f"{mode} / {against}: {took[0]:.3f} / {took[1]:.3f} ms = {ratios[-1]:.4f}", flush=True)
    for worker in workers:
        worker.end()
    return ratios, sessions


def report_of(logs):
    command = [str(torch_session.GPUFL), "report", "--format", "json", str(logs)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        torch_session.cannot_run(f"{command}: {ended.stderr}")
    return json.loads(ended.stdout)


def own_figure(document):
    """How many times as long the program took, by what the session says that it cost."""
    coverage = document["coverage"]
    cost = sum(engine["cost_ns"] or 0 for engine in coverage["engines"])
    return coverage["whole_ns"] / (coverage["whole_ns"] - cost)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--budget-pairs", type=int, default=8)
    parser.add_argument("--budget-seconds", type=float, default=30)
    parser.add_argument("--keep", help="a folder for the sessions")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker)
    torch = torch_session.require_torch_gpu()
    report = torch_session.Report("gpt_sampling", arguments.json)
    report.note("torch", torch.__version__)
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-") as folder:
        if arguments.pairs:
            ratios, sessions = compare(
                "PcSampling", "Trace", arguments.pairs, arguments.seconds, SETTLE_SECONDS, folder
            )
            report.ratio("PcSampling at its defaults / Trace", ratios, ("<=", 1.02))
            keep(arguments.keep, "defaults", sessions)
        if arguments.budget_pairs:
            ratios, sessions = compare(
                "PcSampling, budget 2%",
                "never traced",
                arguments.budget_pairs,
                arguments.budget_seconds,
                0,  # a budget has to pay for everything
                folder,
            )
            report.ratio("PcSampling with a 2% budget / never traced", ratios, ("<=", 1.02))
            keep(arguments.keep, "budget", sessions)
            figures = [own_figure(report_of(logs)) for logs in sessions]
            report.value("its own figure, median of sessions", statistics.median(figures), "x")
    return report.finish()


def keep(where, name, sessions):
    if where and sessions:
        shutil.copytree(sessions[-1], pathlib.Path(where) / name)


if __name__ == "__main__":
    raise SystemExit(main())
