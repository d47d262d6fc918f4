# SPDX-License-Identifier: Apache-2.0
"""Groups of steps of the small GPT under alternating modes, and the ratios between them."""

import statistics
import time

ROUNDS = 30
STEPS = 6
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


def group_cost(torch, training):
    """Of a step in the middle of a group."""
    return statistics.median(step_costs(torch, training, WARM_STEPS + STEPS)[WARM_STEPS:])


class Rounds:
    """The cost of every mode in `order`, round after round; places are those in `order`.

    Neighbours are compared, so that the machine has little time to drift between them; every other
    round goes backwards.
    """

    def __init__(self, order, cost):
        self.rounds = []
        for number in range(ROUNDS):
            backwards = number % 2 == 1
            costs = [cost(mode) for mode in (reversed(order) if backwards else order)]
            self.rounds.append(costs[::-1] if backwards else costs)

    def means(self, places):
        return [statistics.geometric_mean(costs[place] for place in places) for costs in self.rounds]

    def ratios(self, subject, baseline):
        return [a / b for a, b in zip(self.means(subject), self.means(baseline))]

    def report_steps(self, report, *modes):
        """Of each mode its name and its places."""
        for name, *places in modes:
            report.value(f"step, {name}", statistics.median(self.means(places)), "ms")
