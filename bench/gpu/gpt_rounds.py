# SPDX-License-Identifier: Apache-2.0
"""Groups of steps of the small GPT under alternating modes, and the ratios between them."""

import contextlib
import os
import random
import statistics
import time

STEPS = 8
WARM_STEPS = 2  # of a group; CUPTI and the collector begin in them
MODEL_FILE = "gpt_model.py"


def step_costs(torch, training, count):
    """Milliseconds of each step, which is waited for."""
    costs = []
    for _ in range(count):
        start = time.perf_counter()
        training.step()
        torch.cuda.synchronize()
        costs.append((time.perf_counter() - start) * 1e3)
    return costs


def pin(tasks, cores):
    for task in tasks:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(task, cores)


class OwnThreads:
    """The threads that the process has now: the program's, before any recorder brings its own."""

    def __init__(self):
        self.tasks = [int(task) for task in os.listdir("/proc/self/task")]
        self.cores = sorted(os.sched_getaffinity(0))
        self.chance = random.Random(1)
        self.change_core()

    def change_core(self):
        """For the next groups. Those that are compared run on the same one: what else the machine
        does there, it does to all of them."""
        self.core = self.chance.choice(self.cores)

    @contextlib.contextmanager
    def on_one_core(self):
        """So that they are not moved about; a recorder's own threads go where they like."""
        pin(self.tasks, {self.core})
        try:
            yield
        finally:
            pin(self.tasks, self.cores)


def group_cost(torch, training, threads):
    """Of a step in the middle of a group."""
    with threads.on_one_core():
        costs = step_costs(torch, training, WARM_STEPS + STEPS)[WARM_STEPS:]
    return statistics.median(costs)


class Rounds:
    """The cost of every mode in `order`, round after round; places are those in `order`.

    Neighbours are compared, so that the machine has little time to drift between them; every other
    round goes backwards.
    """

    def __init__(self, order, cost, count, threads):
        self.rounds = []
        for number in range(count):
            threads.change_core()
            backwards = number % 2 == 1
            costs = [cost(mode) for mode in (reversed(order) if backwards else order)]
            self.rounds.append(costs[::-1] if backwards else costs)

    def means(self, places):
        return [statistics.geometric_mean(costs[place] for place in places) for costs in self.rounds]

    def ratios(self, subject, baseline):
        return [a / b for a, b in zip(self.means(subject), self.means(baseline))]

    def pair_ratios(self, *pairs):
        """Of each round one ratio for each pair of places, (subject, baseline)."""
        return [costs[a] / costs[b] for costs in self.rounds for a, b in pairs]

    def report_steps(self, report, *modes):
        """Of each mode its name and its places."""
        for name, *places in modes:
            report.value(f"step, {name}", statistics.median(self.means(places)), "ms")
