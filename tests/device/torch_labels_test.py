# SPDX-License-Identifier: Apache-2.0
"""gpufl.torch on a real GPU: kernels have the operator, module and line behind them, the backward
pass those of its forward pass."""

import sys

import device_tools
from device_tools import program

sys.path.insert(0, str(device_tools.torch_session.PACKAGES))


HOWS = ("eager", "profiler", "compiled", "graph", "threads", "loader")


class TorchLabels(device_tools.TracedTest):
    @classmethod
    def commands(cls, logs):
        return {how: program("labels.py", logs / how, how) for how in HOWS}

    def kernels(self, how):
        """Those of a program, of which nothing was lost."""
        from gpufl.analyzer import GpuFlightSession

        self.assert_exact(self.session(how))
        kernels = GpuFlightSession(self.session(how)).kernels
        self.assertGreater(len(kernels), 0)
        # Scopes are paths: "step > forward".
        innermost = {
            column: kernels[column].astype(object).str.split(" > ").str[-1]
            for column in ("scope", "forward_scope")
        }
        return kernels.assign(**innermost)

    def share(self, kernels, condition, least):
        unmet = kernels[~condition]
        self.assertGreaterEqual(
            condition.mean(), least, unmet[["name", "op", "module", "line", "backward"]].head(10)
        )

    def assert_labelled(self, kernels, least=0.99):
        """With an operator and the line of the program that called it: the model's, but for what
        labels.py itself calls, the optimizer and the beginning of the backward pass."""
        file = kernels["line"].astype(str).str.split(":").str[0]
        own = (kernels["scope"] == "update") | (kernels["op"] == "aten::ones_like")
        expected = (file == "labels.py").where(own, file == "gpt_model.py")
        self.share(kernels, kernels["op"].notna() & expected, least)

    def assert_steps(self, kernels):
        """Every pass of the small GPT is labelled as what it is."""
        self.assertGreater(len(kernels), 5 * 900)
        self.assert_labelled(kernels)
        forward = kernels[kernels["scope"] == "forward"]
        self.share(forward, forward["backward"] == 0, 0.99)
        # Everything but the loss is in the model.
        self.share(forward, forward["module"].astype(str).str.startswith("SmallGpt"), 0.9)
        backward = kernels[kernels["scope"] == "backward"]
        self.assertGreater(len(backward), 5 * 200)
        self.share(backward, backward["backward"] == 1, 0.99)
        self.share(backward, backward["forward_scope"] == "forward", 0.99)
        self.share(backward, backward["module"].astype(str).str.startswith("SmallGpt"), 0.9)
        update = kernels[kernels["scope"] == "update"]
        self.assertEqual(len(update), 5 * 8 * 75)
        self.share(update, update["backward"] == 0, 0.99)
        self.share(update, update["module"].isna(), 1)

    def test_eager(self):
        self.assert_steps(self.kernels("eager"))

    def test_a_layer_has_its_own_line_in_both_passes(self):
        kernels = self.kernels("eager")
        norm = kernels[kernels["name"].str.contains("layer_norm", case=False)]
        modules = set(norm["module"].dropna())
        self.assertIn("SmallGpt.blocks.3.attention_norm", modules, modules)
        for name, passes in norm.groupby("module", observed=True)["backward"]:
            self.assertEqual(set(passes), {0, 1}, name)
        source = device_tools.ROOT / "bench" / "gpu" / "gpt_model.py"
        lines = source.read_text().splitlines()
        for found in set(norm["line"].dropna()):
            file, number = found.split()[0].split(":")
            self.assertEqual(file, source.name, found)
            self.assertRegex(lines[int(number) - 1], "_norm", found)

    def test_pytorchs_own_profiler_sees_what_it_sees_without_us(self):
        self.assert_steps(self.kernels("profiler"))

    def test_compiled(self):
        kernels = self.kernels("compiled")
        # Lines are those of the program, never of what the compiler wrote.
        self.assert_labelled(kernels)
        update = kernels["scope"] == "update"
        compiled = kernels[~update]
        self.share(compiled, compiled["module"].notna(), 0.9)
        self.share(compiled, compiled["op"].notna(), 0.9)
        backward = compiled[compiled["scope"] == "backward"]
        self.share(backward, backward["backward"] == 1, 0.97)

    def test_a_graph_has_the_line_of_its_replay(self):
        kernels = self.kernels("graph")
        self.share(kernels, kernels["op"] == "CUDAGraph.replay", 0.99)
        self.share(kernels, kernels["line"].astype(str).str.startswith("labels.py:"), 0.99)

    def test_threads_do_not_mix(self):
        kernels = self.kernels("threads")
        forward = kernels[(kernels["backward"] == 0) & (kernels["scope"] == "forward")]
        self.assertEqual(forward["thread"].nunique(), 2)
        self.assert_labelled(forward)
        self.share(kernels, kernels["op"].notna(), 0.99)
        # Numbers of nodes are those of a thread: both have made one of each.
        backward = kernels[kernels["backward"] == 1]
        self.assertGreater(len(backward), 2 * 5 * 200)
        self.share(backward, backward["forward_op"].notna(), 0.99)

    def test_with_workers_that_load_batches(self):
        kernels = self.kernels("loader")
        self.assert_steps(kernels[kernels["scope"].notna()])


if __name__ == "__main__":
    device_tools.require_package()
    device_tools.main()
