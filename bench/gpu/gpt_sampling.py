#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What PC sampling costs a small GPT in PyTorch, and whether what it says is true:

- at its defaults against Trace: one session, which samples in turns and traces in between. What a turn
  adds to its minute is known from the steps around it. The first turn, of a minute, is stated by itself.
- within a budget of 2% against a process that nobody ever traced. A session lasts for one turn, which
  pays for all of it.
- shares of kernels as a longer session with that budget estimates them, against those of a whole trace.

Processes take turns, those of a pair on the same core; nobody is stopped in a turn. On a machine that
others use too, steps of the same process take 14 ms in one second and 23 in the next. So a pair gives
two ratios: that of all its time, and one without that noise, which the bars are for: the ratio of its
quick steps (the first quartile), times what sampling adds to few of them. The latter is known from their
neighbours in the same process: steps that a phase touches, against those around.

gpt_sampling.py [--defaults-seconds S] [--budget-pairs N] [--budget-seconds S] [--shares-seconds S]
                [--json FILE]
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
TRUTH_SECONDS = 6
TOP = 10
PHASE = 0  # the shape of a row of coverage
BEFORE, AFTER = 0.3, 0.5  # seconds that a phase may slow down as well
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
    records."""

    def __init__(self, name, environment=None):
        self.name = name
        order = {"records": environment is not None}
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


def sampled_phases(logs):
    rows = [row for row in rows_of(logs, "coverage") if row["shape"] == PHASE]
    return sorted((row for row in rows if row["engine"] == "PcSampling"), key=lambda row: row["start_ns"])


def added_by_phases(logs):
    """Seconds, of each phase with samples: by how much the steps that it touches, with some before and
    after it, take longer than those around."""
    steps = [(row["start_ns"] / 1e9, row["duration_ns"] / 1e9) for row in rows_of(logs, "scope")]
    spans = [(row["start_ns"] / 1e9, row["duration_ns"] / 1e9) for row in sampled_phases(logs)]
    spans = [(start - BEFORE, start + length + AFTER) for start, length in spans]

    def touches(step, begin, end):
        return step[0] < end and step[0] + step[1] > begin

    added = []
    for begin, end in spans:
        touched = [step[1] for step in steps if touches(step, begin, end)]
        around = [step for step in steps if touches(step, begin - AROUND, end + AROUND)]
        free = [s[1] for s in around if not any(touches(s, *span) for span in spans)]
        added.append(sum(touched) - len(touched) * statistics.median(free) if free else 0.0)
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


def own_share(rows, seconds):
    """Of the time, what phases cost by their session's own figures."""
    return sum(row["cost_ns"] for row in rows) / 1e9 / seconds


def compare_defaults(report, seconds, folder):
    logs = pathlib.Path(folder) / "defaults"
    with workers(Worker("PcSampling", SAMPLING)) as (ours,):
        ours.turn(random.choice(CORES), seconds, logs)
    turns = sampled_phases(logs)
    if len(turns) < 3:
        torch_session.cannot_run(f"{len(turns)} turns of sampling in {seconds} s")
    lengths = [turn["duration_ns"] / 1e9 for turn in turns]
    ends = [turn["start_ns"] / 1e9 + length for turn, length in zip(turns, lengths)]
    added = added_by_phases(logs)
    cycles = [end - before for before, end in zip(ends, ends[1:])]
    ratios = [1 + more / (cycle - more) for more, cycle in zip(added[1:], cycles)]
    print("seconds added by each turn:", " ".join(f"{more:.3f}" for more in added), flush=True)
    name = "PcSampling at its defaults / Trace"
    report.value(f"{name}: first turn", 1 + added[0] / (lengths[0] - added[0]), "x")
    inside = [1 + more / (length - more) for more, length in zip(added[1:], lengths[1:])]
    report.value(f"{name}: later turns, median", statistics.median(inside), "x")
    median = statistics.median(ratios)
    report.value(f"{name}, median of cycles", median, "x", ("<=", 1.02))
    report.value(f"{name}, most of a cycle", max(ratios), "x", ("<=", 1.03))
    report.value(f"{name}: cycles", len(ratios), "cycles")
    # What sampling costs by its own figures, without what tracing costs all the time.
    rows = [row for row in rows_of(logs, "coverage") if row["shape"] == PHASE]
    later = [row for row in rows if row["start_ns"] / 1e9 >= ends[0]]
    traced = [row for row in later if row["engine"] != "PcSampling"]
    tracing = own_share(traced, sum(row["duration_ns"] for row in traced) / 1e9)
    own = 1 / (1 - own_share(later, ends[-1] - ends[0]) + tracing)
    report.value("the same by its own figures", own, "x")
    report.value("its own figures are off by", abs(own - median), "x", ("<=", 0.02))
    return logs


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
            added.append((sum(added_by_phases(logs)) + outside) / taken[0].took)
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
    parser.add_argument("--defaults-seconds", type=float, default=300)
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
        if arguments.defaults_seconds:
            keep(arguments, compare_defaults(report, arguments.defaults_seconds, folder))
        if arguments.budget_pairs or arguments.shares_seconds:
            budget = arguments.budget_pairs, arguments.budget_seconds, arguments.shares_seconds
            keep(arguments, compare_budget(report, *budget, folder))
    return report.finish()


def keep(arguments, logs):
    if arguments.keep and logs.is_dir():
        shutil.copytree(logs, pathlib.Path(arguments.keep) / logs.name)


if __name__ == "__main__":
    raise SystemExit(main())
