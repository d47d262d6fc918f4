#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the labels of gpufl.torch cost a small GPT in PyTorch beside Trace alone: groups of steps in
one process alternate between nothing, Trace and Trace with labels. Then longer sessions tell how many
kernels have an operator and a line of the model, and what a label adds to the log. About 60 seconds.

torch_labels.py [--json FILE]
"""

import argparse
import contextlib
import pathlib
import shutil
import statistics
import sys
import tempfile

import gpt_rounds
import torch_session

sys.path.insert(0, str(torch_session.PACKAGES))

ROUNDS = 14
WARM_STEPS = 20  # of the process
LABELLED_STEPS = 60


class Groups:
    """Runs groups of steps under a mode, each in a session of its own."""

    def __init__(self, gpufl, torch, training, folder):
        self.gpufl, self.torch, self.training, self.folder = gpufl, torch, training, folder
        self.steps(WARM_STEPS)
        self.threads = gpt_rounds.OwnThreads()

    def steps(self, count):
        return gpt_rounds.step_costs(self.torch, self.training, count)

    @contextlib.contextmanager
    def session(self, labels):
        logs = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        engine = self.gpufl.ProfilingEngine.Trace
        with self.gpufl.session(app_name="gpt", log_path=logs, profiling_engine=engine) as session:
            if not session.active:
                torch_session.cannot_run("no session could be started")
            if labels and not self.gpufl.torch.attach():
                torch_session.cannot_run("this PyTorch cannot be labelled")
            try:
                yield session
            finally:
                self.gpufl.torch.detach()

    def costs(self, mode):
        if mode == "off":
            return gpt_rounds.group_costs(self.torch, self.training, self.threads)
        with self.session(mode == "labels") as session:
            costs = gpt_rounds.group_costs(self.torch, self.training, self.threads)
        shutil.rmtree(session.log_dir)
        return costs

    def recorded(self, labels):
        """A session of LABELLED_STEPS steps, and the bytes of its log."""
        from gpufl.analyzer import GpuFlightSession

        with self.session(labels) as session:
            self.steps(LABELLED_STEPS)
        size = sum(path.stat().st_size for path in session.log_dir.rglob("*") if path.is_file())
        return GpuFlightSession(session.log_dir), size


def measure_ratios(groups, report):
    order = ("off", "trace", "labels", "trace", "labels", "trace", "off")
    rounds = gpt_rounds.Rounds(order, groups.costs, ROUNDS)
    rounds.report_steps(report, ("off", 0, 6), ("Trace", 1, 3, 5), ("Trace with labels", 2, 4))
    report.ratio("A/A, Trace", rounds.ratios([3], [1]))
    pairs = ((2, 1), (4, 5))
    report.ratio("Trace with labels / Trace", rounds.pair_ratios(*pairs), ("<=", 1.10))
    means = rounds.pair_ratios(*pairs, of=statistics.mean)
    report.ratio("Trace with labels / Trace, means of all steps", means)
    report.ratio("Trace with labels / off", rounds.ratios([2, 4], [0, 6]))


def measure_labels(groups, report):
    plain, plain_bytes = groups.recorded(labels=False)
    labelled, labelled_bytes = groups.recorded(labels=True)
    kernels = labelled.kernels
    if len(kernels) == 0:
        torch_session.cannot_run("no kernel was recorded")
    has_op = kernels["op"].notna()
    has_line = kernels["line"].astype(str).str.startswith(f"{gpt_rounds.MODEL_FILE}:")
    backward = kernels["backward"].fillna(0) == 1
    report.note("kernels_a_step", round(len(kernels) / LABELLED_STEPS))
    report.note("kernels_of_the_backward_pass_a_step", round(backward.sum() / LABELLED_STEPS))
    report.value("kernels with operator and line", 100 * (has_op & has_line).mean(), "%", (">=", 99))
    report.value(
        "kernels of the backward pass with operator and line",
        100 * (has_op & has_line)[backward].mean(),
        "%",
        (">=", 99),
    )
    report.value("kernels with a module", 100 * kernels["module"].notna().mean(), "%")
    report.value("ranges a step", len(labelled.markers) / LABELLED_STEPS, "ranges")
    for name, session, size in (
        ("log", plain, plain_bytes),
        ("log with labels", labelled, labelled_bytes),
    ):
        report.value(name, size / len(session.kernels), "B a kernel")
    missing = kernels[~(has_op & has_line)].groupby(["name", "op"], observed=True, dropna=False)
    for key, count in missing.size().nlargest(5).items():
        print(f"without label: {count} x {key}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch = torch_session.require_torch_gpu()
    try:
        import gpufl
        import gpufl.torch
        import pandas  # noqa: F401
    except ImportError as error:
        torch_session.cannot_run(f"no package gpufl with pandas for this Python: {error}")
    import gpt_model

    report = torch_session.Report("torch_labels", arguments.json)
    report.note("gpu", torch.cuda.get_device_name(0))
    report.note("torch", torch.__version__)
    report.note("steps_a_group", gpt_rounds.STEPS)
    with tempfile.TemporaryDirectory(prefix="gpufl-labels-") as folder:
        groups = Groups(gpufl, torch, gpt_model.Training(), folder)
        measure_ratios(groups, report)
        measure_labels(groups, report)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
