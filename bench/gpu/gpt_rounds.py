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
SPINS = 1_000  # some 12 us
QUIET = 1.12  # of the shortest time that the spins have taken on any core


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


def group_costs(torch, training, threads):
    """Of the steps of a group, which begins on a core that is quiet."""
    with threads.on_one_core():
        return step_costs(torch, training, WARM_STEPS + STEPS)[WARM_STEPS:]


def undisturbed(costs):
    """Of a step that others did not disturb, which on a shared machine half of them do."""
    return statistics.quantiles(costs, n=4)[0]


class Rounds:
    """The costs of the steps of every mode in `order`, round after round; places are those in `order`.

    Neighbours are compared, so that the machine has little time to drift between them; every other
    round goes backwards.
    """

    def __init__(self, order, costs, count):
        self.rounds = []
        for number in range(count):
            backwards = number % 2 == 1
            groups = [costs(mode) for mode in (reversed(order) if backwards else order)]
            self.rounds.append(groups[::-1] if backwards else groups)

    def means(self, places, of=undisturbed):
        return [statistics.geometric_mean(of(groups[i]) for i in places) for groups in self.rounds]

    def ratios(self, subject, baseline):
        return [a / b for a, b in zip(self.means(subject), self.means(baseline))]

    def pair_ratios(self, *pairs, of=undisturbed):
        """Of each round one ratio for each pair of places, (subject, baseline)."""
        return [of(groups[a]) / of(groups[b]) for groups in self.rounds for a, b in pairs]

    def report_steps(self, report, *modes):
        """Of each mode its name and its places."""
        for name, *places in modes:
            report.value(f"step, {name}", statistics.median(self.means(places)), "ms")
