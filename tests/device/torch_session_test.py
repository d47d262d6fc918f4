# SPDX-License-Identifier: Apache-2.0
"""Sessions inside PyTorch's own process, on a real GPU: in any order with PyTorch and its profiler,
with scopes around a step, and with stacks that lead to the model's lines."""

import collections

import device_tools
from device_tools import program, rows

ORDERS = (
    "gpufl_first",
    "torch_first",
    "profiler_before",
    "profiler_after",
    "profiler_inside",
    "profiler_around",
)


class TorchSession(device_tools.TracedTest):
    @classmethod
    def commands(cls, logs):
        orders = {order: program("orders.py", logs / order, order) for order in ORDERS}
        return {**orders, "scopes": program("scopes.py", logs / "scopes")}

    def kernels(self, order):
        """What the session and PyTorch's profiler saw, the latter from the program itself."""
        seen = int(self.output(order).split()[-1])
        kernels = rows(self.session(order), "kernel")
        return len([kernel for kernel in kernels if "elementwise" in kernel["name"]]), seen

    def named_state(self, order):
        """Whether the session says, in words, what stood in the way."""
        session = self.session(order)
        lines = rows(session, "capability") + rows(session, "event")
        words = {"another_subscriber", "another_tool", "callbacks_taken_over"}
        return any(words & {line.get("reason"), line.get("name")} for line in lines)

    def test_gpufl_before_torch(self):
        ours, _ = self.kernels("gpufl_first")
        self.assertGreaterEqual(ours, 100)
        self.assert_exact(self.session("gpufl_first"))

    def test_torch_before_gpufl(self):
        ours, _ = self.kernels("torch_first")
        self.assertGreaterEqual(ours, 100)
        self.assert_exact(self.session("torch_first"))

    def test_after_pytorchs_profiler(self):
        ours, theirs = self.kernels("profiler_before")
        self.assertGreaterEqual(theirs, 50)
        self.assertTrue(ours >= 100 or self.named_state("profiler_before"), ours)

    def test_before_pytorchs_profiler(self):
        ours, theirs = self.kernels("profiler_after")
        self.assertGreaterEqual(ours, 100)
        self.assertGreaterEqual(theirs, 50)

    def test_pytorchs_profiler_begins_meanwhile(self):
        ours, theirs = self.kernels("profiler_inside")
        # PyTorch's profiler finds CUPTI's callbacks taken, says so and records no GPU work; it goes
        # on, and so do we.
        self.assertEqual(theirs, 0)
        self.assertTrue(ours >= 180 or self.named_state("profiler_inside"), ours)

    def test_a_session_begins_while_pytorchs_profiler_runs(self):
        ours, theirs = self.kernels("profiler_around")
        self.assertGreaterEqual(theirs, 50, "nothing of its own trace is torn down")
        self.assertTrue(ours >= 50 or self.named_state("profiler_around"), ours)

    def test_every_pass_holds_its_kernels_and_the_backward_pass_inherits(self):
        thread = int(self.output("scopes").split()[-1])
        session = self.session("scopes")
        launches = self.assert_exact(session)
        names = {scope["id"]: scope["name"] for scope in rows(session, "scope")}
        counts = collections.Counter()
        for kernel in rows(session, "kernel"):
            scope = names.get(kernel["scope"], "none")
            own = kernel["thread"] == thread
            self.assertEqual(kernel.get("inherited", 0), 0 if own else 1, kernel)
            counts[scope, own] += 1
        # Autograd runs the backward pass on a thread of its own; everything else on ours.
        self.assertEqual(
            {key for key in counts if key[0] != "backward"}, {("forward", True), ("update", True)}
        )
        self.assertGreater(counts["backward", False], 3 * 200, counts)
        self.assertGreater(counts["forward", True], 3 * 100, counts)
        self.assertEqual(counts["update", True], 3 * 8 * 75, counts)
        self.assertEqual(sum(counts.values()), launches)


if __name__ == "__main__":
    device_tools.main()
