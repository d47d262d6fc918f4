#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PC sampling costs a small GPT in PyTorch, and whether what it says is true:

- at its defaults against Trace, with a second process of Trace beside them: what chance does. A session
  lasts through all turns of its process.
- within a budget of 2% against a process that nobody ever traced. A session lasts for one turn, which
  pays for all of it.
- shares of kernels as a longer session with that budget estimates them, against those of a whole trace.

Processes take turns, those of a pair on the same core; nobody is stopped in a turn. A pair of turns gives
one ratio, of the mean steps.

gpt_sampling.py [--pairs N] [--seconds S] [--budget-pairs N] [--budget-seconds S]
                [--shares-seconds S] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch_session

WARM_STEPS = 40
SETTLE_SECONDS = 2  # the first window of a session takes longer to open, once
TRUTH_SECONDS = 6
TOP = 10
TRACE = {"GPUFL_PROFILING_ENGINE": "Trace"}
SAMPLING = {"GPUFL_PROFILING_ENGINE": "PcSampling"}
CORES = sorted(os.sched_getaffinity(0))
BUDGET = {**SAMPLING, "GPUFL_OVERHEAD_BUDGET": "2%"}


class Worker:
    """A process that runs steps for as long as it is told. `environment`: of its sessions; none: nobody
    records. `logs`: of a session that lasts as long as the process."""

    def __init__(self, name, environment=None, logs=None):
        self.name, self.logs = name, logs
        order = {"records": environment is not None, "logs": logs and str(logs)}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {}), "GPUFL_OVERRIDE": "1"},
        )

    def expect(self, word):
        line = self.process.stdout.readline()
        if not line.startswith(word):
            torch_session.cannot_run(f"the process '{self.name}' said {line!r}")
        return json.loads(line[len(word) :].strip() or "null")

    def turn(self, core, seconds, logs=None):
        """(seconds of all steps, steps)"""
        order = {"core": core, "seconds": seconds, "logs": logs and str(logs)}
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return self.expect("turn")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def workers(*all_of_them):
    try:
        for worker in all_of_them:
            worker.expect("ready")
        yield all_of_them
        for worker in all_of_them:
            worker.end()
    finally:
        for worker in all_of_them:
            worker.process.kill()


def work(order):
    import gpt_model
    import gpt_turns
    import torch

    with torch.device("cuda"):
        training = gpt_model.Training()
    scope = torch_session.Scope("step") if order["records"] else contextlib.nullcontext()

    def steps_for(seconds):
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            with scope:
                training.step()
                torch.cuda.synchronize()
            steps += 1
        return time.perf_counter() - began, steps

    def session(logs):
        return torch_session.Session(logs) if logs else contextlib.nullcontext()

    for _ in range(WARM_STEPS):
        training.step()
    torch.cuda.synchronize()
    own_tasks = {int(task) for task in os.listdir("/proc/self/task")}
    with session(order["logs"]):
        if order["logs"]:
            steps_for(SETTLE_SECONDS)
        print("ready", flush=True)
        for line in sys.stdin:
            turn = json.loads(line)
            began = time.perf_counter()
            with session(turn["logs"]):
                # After the recorder has begun its threads, which would stay on that core as well.
                gpt_turns.pin(own_tasks, {turn["core"]})
                _, steps = steps_for(turn["seconds"])
            gpt_turns.pin(own_tasks, CORES)
            took = time.perf_counter() - began
            print("turn", json.dumps([took, steps]), flush=True)


def report_of(logs):
    command = [str(torch_session.GPUFL), "report", "--format", "json", str(logs)]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode != 0:
        torch_session.cannot_run(f"{command}: {ended.stderr}")
    return json.loads(ended.stdout)


def own_figure(document, seconds):
    """How many times as long the program took, by what its session says that it cost. `seconds`: in
    which the program did something."""
    cost = sum(engine["cost_ns"] or 0 for engine in document["coverage"]["engines"])
    return seconds * 1e9 / (seconds * 1e9 - cost)


def compare_defaults(report, pairs, seconds, folder):
    names = ("PcSampling", "Trace", "Trace again")
    environments = (SAMPLING, TRACE, TRACE)
    logs = [pathlib.Path(folder) / name.replace(" ", "_") for name in names]
    ratios, again, busy = [], [], [float(SETTLE_SECONDS)] * len(names)
    with workers(*map(Worker, names, environments, logs)) as all_of_them:
        for pair in range(pairs):
            core = random.choice(CORES)
            step_ms = [0.0] * len(names)
            for at in range(pair, pair + len(names)):
                at %= len(names)
                took, steps = all_of_them[at].turn(core, seconds)
                busy[at] += took
                step_ms[at] = took * 1e3 / steps
            ratios.append(step_ms[0] / step_ms[1])
            again.append(step_ms[2] / step_ms[1])
            print(" ".join(f"{name} {ms:.3f} ms" for name, ms in zip(names, step_ms)), flush=True)
    report.ratio("PcSampling at its defaults / Trace", ratios, ("<=", 1.03))
    report.ratio("Trace again / Trace", again)
    median = statistics.median(ratios)
    report.value("PcSampling at its defaults / Trace, median", median, "x", ("<=", 1.02))
    figures = [own_figure(report_of(one), took) for one, took in zip(logs, busy)]
    own = figures[0] / figures[1]
    report.value("the same by its own figures", own, "x")
    report.value("its own figures are off by", abs(own - median), "x", ("<=", 0.02))
    return logs[0]


def compare_budget(report, pairs, seconds, shares_seconds, folder):
    ratios, figures = [], []
    with workers(Worker("PcSampling, budget 2%", BUDGET), Worker("never traced")) as (ours, bare):
        for pair in range(pairs):
            logs = tempfile.mkdtemp(dir=folder)
            core = random.choice(CORES)
            turns = [lambda: ours.turn(core, seconds, logs), lambda: bare.turn(core, seconds)]
            took = [None, None]
            for at in (0, 1) if pair % 2 == 0 else (1, 0):
                took[at] = turns[at]()
            mine, others = (seconds * 1e3 / steps for seconds, steps in took)
            ratios.append(mine / others)
            figures.append(own_figure(report_of(logs), took[0][0]))
            print(f"{mine:.3f} / {others:.3f} ms = {ratios[-1]:.4f}, own {figures[-1]:.4f}", flush=True)
        if ratios:
            report.ratio("PcSampling with a 2% budget / never traced", ratios, ("<=", 1.03))
            median = statistics.median(ratios)
            report.value("PcSampling with a 2% budget, median", median, "x", ("<=", 1.02))
            report.value("its own figure, median", statistics.median(figures), "x")
        logs = pathlib.Path(folder) / "shares"
        if shares_seconds:
            ours.turn(random.choice(CORES), shares_seconds, logs)
    if shares_seconds:
        compare_shares(report, logs, pathlib.Path(folder) / "truth")
    return logs


def compare_shares(report, logs, truth_logs):
    with workers(Worker("Trace", TRACE)) as (worker,):
        worker.turn(random.choice(CORES), TRUTH_SECONDS, truth_logs)

    def by_name(logs):
        return report_of(logs)["kernels"]["by_name"]

    def full_name(kernel):
        return kernel.get("full_name", kernel["label"])

    estimates = {full_name(kernel): kernel.get("estimate") for kernel in by_name(logs)}
    inside = 0
    for kernel in by_name(truth_logs)[:TOP]:
        estimate = estimates.get(full_name(kernel))
        share = estimate and estimate["share"]
        holds = bool(share) and share["low"] <= kernel["share"] <= share["high"]
        inside += holds
        print(f"{100 * kernel['share']:.2f}% {kernel['label'][:60]}: {share} {holds}", flush=True)
    report.value("of the ten largest shares inside their error bars", inside, "kernels", (">=", 9))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--budget-pairs", type=int, default=8)
    parser.add_argument("--budget-seconds", type=float, default=30)
    parser.add_argument("--shares-seconds", type=float, default=120)
    parser.add_argument("--keep", help="a folder for the sessions")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.worker:
        return work(json.loads(arguments.worker))
    torch = torch_session.require_torch_gpu()
    report = torch_session.Report("gpt_sampling", arguments.json)
    report.note("torch", torch.__version__)
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-") as folder:
        if arguments.pairs:
            keep(arguments, compare_defaults(report, arguments.pairs, arguments.seconds, folder))
        if arguments.budget_pairs or arguments.shares_seconds:
            budget = arguments.budget_pairs, arguments.budget_seconds, arguments.shares_seconds
            keep(arguments, compare_budget(report, *budget, folder))
    return report.finish()


def keep(arguments, logs):
    if arguments.keep and logs.is_dir():
        shutil.copytree(logs, pathlib.Path(arguments.keep) / logs.name)


if __name__ == "__main__":
    raise SystemExit(main())
