# SPDX-License-Identifier: Apache-2.0
"""Steps of the small GPT under several modes, one against the other on a machine that others use too.

A set is one warm process of each mode; its processes take turns, step by step, on one core at a time:
what else the machine does there, it does to all of them. A set says one ratio of two modes, the middle
one of its turns. In one process modes could change only with a session, ten steps or more apart, and
on a shared machine a core is not the same for so long.

Between its turns a process is stopped with all its threads. So what a collector puts off falls into
turns of its own, and its rounds, which are due every 50 ms, are due whenever a turn begins. A turn's
time is from then until its step is done, so all of a round that the step could feel is in it.
"""

import contextlib
import dataclasses
import gc
import math
import multiprocessing
import os
import random
import signal
import statistics
import tempfile
import time
import typing

import torch_session

WARM_STEPS = 15  # of a process
WARM_TURNS = 2  # of a set, not counted
MIN_TURNS = 12  # in a set, however long it took to start
MODEL_FILE = "gpt_model.py"
QUANTILES = (0, 10, 25, 50, 75, 90, 100)


def run_steps(torch, training, count):
    """Each of them is waited for."""
    for _ in range(count):
        training.step()
        torch.cuda.synchronize()


def nothing(folder):
    return contextlib.nullcontext()


@dataclasses.dataclass(frozen=True)
class Mode:
    """What a process does beside its steps. It gives up by ending with 2 (cannot_run)."""

    name: str
    environment: dict[str, str] = dataclasses.field(default_factory=dict)  # before CUDA is touched
    # Contexts, given a folder: around steps before its turns, and around the turns.
    before: typing.Callable = nothing
    during: typing.Callable = nothing


@contextlib.contextmanager
def traced(folder, stacks=False):
    """A session of Trace, whose ledger must be exact."""
    logs = tempfile.mkdtemp(dir=folder)
    with torch_session.Session(logs, stacks):
        yield
    _, error = torch_session.read_figures(logs)
    if error is not None:
        torch_session.cannot_run(f"the ledger is not exact: {error}")


def prepare_forks():
    """torch, in a process that does not touch CUDA: its forks may."""
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    torch = torch_session.require_torch_gpu()
    # Imports what optimizers need, which takes longer than anything else that a process starts with.
    torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])
    return torch


def work(mode, folder, connection):
    """One process of a set: answers a core with the milliseconds of a turn on it, and stops."""
    os.environ.update(mode.environment)
    import gpt_model
    import torch

    with torch.device("cuda"):  # which is quicker at random numbers
        training = gpt_model.Training()
    with mode.before(folder):
        run_steps(torch, training, WARM_STEPS)
    # Python's collections would fall into the steps of some and not of others.
    gc.collect()
    gc.disable()
    own_tasks = {int(task) for task in os.listdir("/proc/self/task")}
    with mode.during(folder):
        run_steps(torch, training, 1)
        connection.send("ready")
        while True:
            os.kill(os.getpid(), signal.SIGSTOP)
            start = time.perf_counter()
            core = connection.recv()
            if core is None:
                break
            pin(own_tasks, {core})
            run_steps(torch, training, 1)
            connection.send((time.perf_counter() - start) * 1e3)


def pin(tasks, cores):
    """The program's threads; a recorder's own, which come later, go where they like."""
    for task in tasks:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(task, cores)


class Worker:
    def __init__(self, mode, folder, stack):
        # A fork of a process that has torch in memory: quick to start, and all of a set lie at the
        # same addresses.
        context = multiprocessing.get_context("fork")
        self.mode = mode
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(mode, folder, other))
        self.process.start()
        stack.callback(self.process.kill)  # one that is stopped would stay for ever
        other.close()

    def answer(self):
        """When it has stopped."""
        try:
            answer = self.connection.recv()
            _, state = os.waitpid(self.process.pid, os.WUNTRACED)
        except EOFError:
            state = 0
        if not os.WIFSTOPPED(state):
            torch_session.cannot_run(f"the process '{self.mode.name}' is gone")
        return answer

    def go_on(self, core):
        self.connection.send(core)
        os.kill(self.process.pid, signal.SIGCONT)

    def take_turn(self, core):
        self.go_on(core)
        return self.answer()

    def end(self):
        """Whether it ended well."""
        self.go_on(None)
        self.process.join()
        return self.process.exitcode == 0


class Sets:
    """Runs `count` sets of processes, one of each mode, in about so many seconds, or longer if they
    must."""

    def __init__(self, modes, count, seconds):
        self.names = [mode.name for mode in modes]
        self.failed = 0  # processes that did not end well
        self.turns = []  # by set; of every turn the milliseconds of a step, by mode
        self.cores = sorted(os.sched_getaffinity(0))
        self.chance = random.Random(0)
        begin = time.monotonic()
        ending_s = 0.0  # of the set before
        print(f"quantiles of a process's steps: {QUANTILES} %", flush=True)
        with tempfile.TemporaryDirectory(prefix="gpufl-gpt-") as folder:
            for number in range(1, count + 1):
                start = time.monotonic()
                with contextlib.ExitStack() as stack:
                    workers = [Worker(mode, folder, stack) for mode in modes]
                    for worker in workers:
                        worker.answer()
                    ready = time.monotonic()
                    turns = self.take_turns(workers, begin + seconds * number / count - ending_s)
                    measured = time.monotonic()
                    self.failed += sum(not worker.end() for worker in workers)
                ending_s = time.monotonic() - measured
                self.turns.append(turns)
                print(
                    f"set {number} of {count}: {len(turns)} turns; {ready - start:.1f} s to start,"
                    f" {measured - ready:.1f} s of turns, {ending_s:.1f} s to end",
                    flush=True,
                )
                for name, costs in zip(self.names, zip(*turns)):
                    print(f"  {name:<12} {quantiles(costs)} ms", flush=True)

    def take_turns(self, workers, until):
        """The order is left to chance: who comes first to a core finds it cold, and the middle of
        turns in a few fixed orders favours some modes."""
        turns = []
        while len(turns) < WARM_TURNS + MIN_TURNS or time.monotonic() < until:
            core = self.chance.choice(self.cores)
            costs = [0.0] * len(workers)
            for at in self.chance.sample(range(len(workers)), len(workers)):
                costs[at] = workers[at].take_turn(core)
            turns.append(costs)
        return turns[WARM_TURNS:]

    def ratios(self, subject, *baselines, middle=statistics.median):
        """Of each set one. Noise comes on top of a step, so the middle is taken beside each baseline
        for itself: beside the mean of two, which noise hits twice as often, a subject would look
        too good."""

        def ratio(turns):
            at, others = self.names.index(subject), map(self.names.index, baselines)
            middles = [middle([math.log(t[at] / t[one]) for t in turns]) for one in others]
            return math.exp(statistics.fmean(middles))

        return [ratio(turns) for turns in self.turns]

    def mean_ratios(self, subject, *baselines):
        """The same of the means of all turns, which noise reaches."""
        return self.ratios(subject, *baselines, middle=statistics.fmean)

    def report_steps(self, report):
        report.note("turns", sum(len(turns) for turns in self.turns))
        for at, name in enumerate(self.names):
            middles = [statistics.median(t[at] for t in turns) for turns in self.turns]
            report.value(f"step, {name}", statistics.median(middles), "ms")


def quantiles(costs):
    ordered = sorted(costs)
    return " ".join(f"{ordered[round((len(ordered) - 1) * q / 100)]:.3f}" for q in QUANTILES)
