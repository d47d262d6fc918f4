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


SPINS = 1_000  # some 12 us
QUIET = 1.12  # of the shortest time that the spins have taken on any core
MOST_TRIES = 4  # for a step


def spin():
    """Nanoseconds of work that never changes: what they are above the least, others have taken from
    the core. A virtual machine's cores are half a real one each, whose other half has other tenants."""

    def once():
        start = time.perf_counter_ns()
        for _ in range(SPINS):
            pass
        return time.perf_counter_ns() - start

    return min(once() for _ in range(4))  # the first one finds cold caches


class OwnThreads:
    """The threads that the process has now: the program's, before any recorder brings its own."""

    def __init__(self):
        self.tasks = [int(task) for task in os.listdir("/proc/self/task")]
        self.cores = sorted(os.sched_getaffinity(0))
        self.chance = random.Random(1)
        self.least_spin = min(self.spins_of_cores().values())

    def spins_of_cores(self):
        spins = {}
        for core in self.cores:
            os.sched_setaffinity(0, {core})
            spins[core] = spin()
        os.sched_setaffinity(0, self.cores)
        return spins

    @contextlib.contextmanager
    def on_one_core(self):
        """So that they are not moved about; a recorder's own threads go where they like."""
        self.move_to_quiet_core()
        try:
            yield
        finally:
            pin(self.tasks, self.cores)

    def move_to_quiet_core(self):
        spins = self.spins_of_cores()
        self.least_spin = min(self.least_spin, *spins.values())
        quiet = [core for core, took in spins.items() if self.is_quiet(took)]
        pin(self.tasks, {self.chance.choice(quiet or [min(spins, key=spins.get)])})

    def is_quiet(self, took):
        return took <= self.least_spin * QUIET


def quiet_step_costs(torch, training, threads):
    """Of STEPS steps that had a core to themselves, fewer where that does not come about. Told by
    work before and after the step that is always the same, not by what the step took: where others
    disturbed it, the threads move on to a quiet core, and go on after a step to warm up."""
    costs = []
    with threads.on_one_core():
        step_costs(torch, training, WARM_STEPS)
        was_quiet = threads.is_quiet(spin())
        for _ in range(MOST_TRIES * STEPS):
            took = step_costs(torch, training, 1)
            is_quiet = threads.is_quiet(spin())
            if was_quiet and is_quiet:
                costs += took
                if len(costs) == STEPS:
                    break
            if not is_quiet:
                threads.move_to_quiet_core()
                step_costs(torch, training, 1)
                is_quiet = threads.is_quiet(spin())
            was_quiet = is_quiet
    return costs


def group_cost(torch, training, threads):
    """Of a step of a group: the mean of all but the slowest. None: too few were left alone."""
    costs = quiet_step_costs(torch, training, threads)
    return statistics.mean(sorted(costs)[:-1]) if len(costs) == STEPS else None


class Rounds:
    """The cost of every mode in `order`, round after round; places are those in `order`.

    Neighbours are compared, so that the machine has little time to drift between them; every other
    round goes backwards. A round with a group that was not left alone is given up.
    """

    MOST_SECONDS = 150

    def __init__(self, order, cost, count):
        self.rounds = []
        self.given_up = 0
        ends = time.monotonic() + self.MOST_SECONDS
        while len(self.rounds) < count and time.monotonic() < ends:
            backwards = len(self.rounds) % 2 == 1
            costs = []
            for mode in reversed(order) if backwards else order:
                costs.append(cost(mode))
                if costs[-1] is None:
                    break
            if costs[-1] is None:
                self.given_up += 1
            else:
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
        report.note("rounds_given_up", self.given_up)
        for name, *places in modes:
            report.value(f"step, {name}", statistics.median(self.means(places)), "ms")
