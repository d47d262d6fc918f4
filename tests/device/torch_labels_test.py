# SPDX-License-Identifier: Apache-2.0
"""gpufl.torch on a real GPU: kernels have the operator, module and line behind them, the backward
pass those of its forward pass."""

import sys

import device_tools
from device_tools import program, run

sys.path.insert(0, str(device_tools.torch_session.PACKAGES))


class TorchLabels(device_tools.TracedTest):
    def kernels(self, how):
        from gpufl.analyzer import GpuFlightSession

        run(program("labels.py", self.logs, how), timeout=300)
        kernels = GpuFlightSession(self.only_session()).kernels
        self.assertGreater(len(kernels), 0)
        return kernels

    def share(self, kernels, condition, least):
        unmet = kernels[~condition]
        self.assertGreaterEqual(
            condition.mean(), least, unmet[["name", "op", "module", "line", "backward"]].head(10)
        )

    def assert_labelled(self, kernels, least=0.99):
        model_line = kernels["line"].astype(str).str.startswith("gpt_model.py:")
        self.share(kernels, kernels["op"].notna() & model_line, least)

    def test_eager(self):
        kernels = self.kernels("eager")
        self.assertGreater(len(kernels), 5 * 900)
        self.assert_exact(self.only_session())
        self.assert_labelled(kernels)
        forward = kernels[kernels["scope"] == "forward"]
        self.share(forward, forward["backward"] == 0, 1)
        # Everything but the loss is in the model.
        self.share(forward, forward["module"].astype(str).str.startswith("SmallGpt"), 0.9)
        backward = kernels[kernels["scope"] == "backward"]
        self.assertGreater(len(backward), 5 * 200)
        self.share(backward, backward["backward"] == 1, 0.99)
        self.share(backward, backward["forward_scope"] == "forward", 0.99)
        self.share(backward, backward["module"].astype(str).str.startswith("SmallGpt"), 0.9)
        update = kernels[kernels["scope"] == "update"]
        self.share(update, update["backward"] == 0, 1)
        self.share(update, update["module"].isna(), 1)

    def test_a_layer_has_its_own_line_in_both_passes(self):
        kernels = self.kernels("eager")
        norm = kernels[kernels["name"].str.contains("layer_norm", case=False)]
        modules = set(norm["module"].dropna())
        self.assertIn("SmallGpt.blocks.3.attention_norm", modules, modules)
        for name, passes in norm.groupby("module", observed=True)["backward"]:
            self.assertEqual(set(passes), {0, 1}, name)
        source = device_tools.ROOT / "bench" / "gpu" / "gpt_model.py"
        lines = source.read_text().splitlines()
        found = {int(text.split(":")[1].split()[0]) for text in norm["line"].dropna()}
        for line in found:
            self.assertRegex(lines[line - 1], "_norm")

    def test_pytorchs_own_profiler_sees_what_it_sees_without_us(self):
        self.assert_labelled(self.kernels("profiler"))

    def test_compiled(self):
        kernels = self.kernels("compiled")
        update = kernels["scope"] == "update"
        self.assert_labelled(kernels[update])
        compiled = kernels[~update]
        self.share(compiled, compiled["module"].notna() | compiled["op"].notna(), 0.9)
        self.share(compiled, compiled["line"].notna(), 0.9)

    def test_a_graph_has_the_line_of_its_replay(self):
        kernels = self.kernels("graph")
        self.share(kernels, kernels["op"] == "CUDAGraph.replay", 0.99)
        self.share(kernels, kernels["line"].astype(str).str.startswith("labels.py:"), 0.99)

    def test_threads_do_not_mix(self):
        kernels = self.kernels("threads")
        forward = kernels[(kernels["backward"] == 0) & (kernels["scope"] == "forward")]
        self.assertEqual(forward["thread"].nunique(), 2)
        self.assert_labelled(forward)
        # Numbers of nodes are those of a thread: where both have made one, nobody is named.
        self.share(kernels, kernels["op"].notna(), 0.99)

    def test_with_workers_that_load_batches(self):
        kernels = self.kernels("loader")
        training = kernels[kernels["scope"].notna()]
        self.assert_labelled(training)


if __name__ == "__main__":
    device_tools.require_package()
    device_tools.main()
