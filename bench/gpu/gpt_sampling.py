#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PC sampling costs a small GPT in PyTorch, and whether what it says is true:

- at its defaults against Trace, with a second process of Trace beside them: what chance does. A session
  lasts through all turns of its process.
- within a budget of 2% against a process that nobody ever traced. A session lasts for one turn, which
  pays for all of it.
- shares of kernels as a longer session with that budget estimates them, against those of a whole trace.

Processes take turns, those of a pair on the same core; nobody is stopped in a turn. On a machine that
others use too, steps of the same process take 14 ms in one second and 23 in the next. So a pair gives
two ratios: that of all its time, and one without that noise, which the bars are for: the ratio of its
quick steps (the first quartile), times what sampling adds to few of them. The latter is known from their
neighbours in the same process: steps that a window or a phase touches, against those around.

gpt_sampling.py [--pairs N] [--seconds S] [--budget-pairs N] [--budget-seconds S]
                [--shares-seconds S] [--json FILE]
"""

import argparse
import contextlib
import dataclasses
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
PHASE, WINDOW = 0, 1  # shapes of rows of coverage
AROUND = 3  # seconds: neighbours of a step
TRACE = {"GPUFL_PROFILING_ENGINE": "Trace"}
SAMPLING = {"GPUFL_PROFILING_ENGINE": "PcSampling"}
CORES = sorted(os.sched_getaffinity(0))
BUDGET = {**SAMPLING, "GPUFL_OVERHEAD_BUDGET": "2%"}


@dataclasses.dataclass
class Turn:
    """Seconds: of all of it, with its session's begin and end, and of each step."""

    took: float
    steps: list

    def step(self):
        return self.took / len(self.steps)

    def quick_step(self):
        return sorted(self.steps)[len(self.steps) // 4]


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
        order = {"core": core, "seconds": seconds, "logs": logs and str(logs)}
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return Turn(*self.expect("turn"))

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
        steps, end = [], time.perf_counter() + seconds
        while (began := time.perf_counter()) < end:
            with scope:
                training.step()
                torch.cuda.synchronize()
            steps.append(time.perf_counter() - began)
        return steps

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
                steps = steps_for(turn["seconds"])
            took = time.perf_counter() - began
            gpt_turns.pin(own_tasks, CORES)
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


def rows_of(logs, kind):
    """Of the one session there."""
    session = next(path for path in pathlib.Path(logs).iterdir() if path.is_dir())
    return torch_session.rows_of(session, kind)


def added_seconds(logs, shape, before, after):
    """By how much steps that the session's windows or phases touch, with so many seconds before and
    after them, take longer than those around. Without the first window, which has to be waited for."""
    steps = [(row["start_ns"] / 1e9, row["duration_ns"] / 1e9) for row in rows_of(logs, "scope")]
    rows = [row for row in rows_of(logs, "coverage") if row["shape"] == shape]
    spans = sorted((row["start_ns"] / 1e9, row["duration_ns"] / 1e9) for row in rows)
    spans = [(start - before, start + length + after) for start, length in spans]
    if shape == WINDOW:
        spans = spans[1:]

    def touches(step, begin, end):
        return step[0] < end and step[0] + step[1] > begin

    added = 0.0
    for begin, end in spans:
        touched = [step[1] for step in steps if touches(step, begin, end)]
        around = [step for step in steps if touches(step, begin - AROUND, end + AROUND)]
        free = [s[1] for s in around if not any(touches(s, *span) for span in spans)]
        if free:
            added += sum(touched) - len(touched) * statistics.median(free)
    return added


def report_ratios(report, name, ratios, quick, added):
    """The two ratios of all pairs; `added`: to each pair, as a part of its time."""
    report.ratio(f"{name}, all of its time", ratios)
    totals = [ratio * (1 + more) for ratio, more in zip(quick, added)]
    report.value(f"{name}: quick steps, median", statistics.median(quick), "x")
    report.value(f"{name}: added to few, median", statistics.median(added), "of the time")
    report.ratio(name, totals, ("<=", 1.03))
    median = statistics.median(totals)
    report.value(f"{name}, median", median, "x", ("<=", 1.02))
    return median


def compare_defaults(report, pairs, seconds, folder):
    names = ("PcSampling", "Trace", "Trace again")
    environments = (SAMPLING, TRACE, TRACE)
    logs = [pathlib.Path(folder) / name.replace(" ", "_") for name in names]
    turns = []
    with workers(*map(Worker, names, environments, logs)) as all_of_them:
        for pair in range(pairs):
            core = random.choice(CORES)
            taken = {}
            for at in range(pair, pair + len(names)):
                taken[at % len(names)] = all_of_them[at % len(names)].turn(core, seconds)
            turns.append([taken[at] for at in range(len(names))])
            print(" ".join(f"{turn.step() * 1e3:.2f}" for turn in turns[-1]), flush=True)
    busy = [SETTLE_SECONDS + sum(turn.took for turn in of_one) for of_one in zip(*turns)]
    added = added_seconds(logs[0], WINDOW, 0.001, 0.005) / busy[0]
    median = report_ratios(
        report,
        "PcSampling at its defaults / Trace",
        [one.step() / other.step() for one, other, _ in turns],
        [one.quick_step() / other.quick_step() for one, other, _ in turns],
        [added] * len(turns),
    )
    again = [again.quick_step() / one.quick_step() for _, one, again in turns]
    report.ratio("Trace again / Trace, quick steps", again)
    figures = [own_figure(report_of(one), took) for one, took in zip(logs, busy)]
    own = figures[0] / figures[1]
    report.value("the same by its own figures", own, "x")
    report.value("its own figures are off by", abs(own - median), "x", ("<=", 0.02))
    return logs[0]


def compare_budget(report, pairs, seconds, shares_seconds, folder):
    turns, added, figures = [], [], []
    with workers(Worker("PcSampling, budget 2%", BUDGET), Worker("never traced")) as (ours, bare):
        for pair in range(pairs):
            logs = tempfile.mkdtemp(dir=folder)
            core = random.choice(CORES)
            takes = [lambda: ours.turn(core, seconds, logs), lambda: bare.turn(core, seconds)]
            taken = [None, None]
            for at in (0, 1) if pair % 2 == 0 else (1, 0):
                taken[at] = takes[at]()
            turns.append(taken)
            outside = taken[0].took - sum(taken[0].steps)  # the session's begin and end
            added.append((added_seconds(logs, PHASE, 0.3, 0.5) + outside) / taken[0].took)
            figures.append(own_figure(report_of(logs), taken[0].took))
            steps = " / ".join(f"{turn.step() * 1e3:.2f}" for turn in taken)
            print(f"{steps} ms, added {added[-1]:.4f}, own {figures[-1]:.4f}", flush=True)
        if turns:
            report_ratios(
                report,
                "PcSampling with a 2% budget / never traced",
                [one.step() / other.step() for one, other in turns],
                [one.quick_step() / other.quick_step() for one, other in turns],
                added,
            )
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
