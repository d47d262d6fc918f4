#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the labels of gpufl.torch cost a small GPT in PyTorch beside Trace alone: processes take turns
(gpt_turns.py) with nothing, Trace, and Trace with labels. Then longer sessions tell how
many kernels have an operator and a line of the model, and what a label adds to the log.

torch_labels.py [--sets N] [--seconds S] [--json FILE]
"""

import argparse
import contextlib
import pathlib
import sys
import tempfile

import gpt_turns
import torch_session

sys.path.insert(0, str(torch_session.PACKAGES))

WARM_STEPS = 20  # of the longer sessions' process
LABELLED_STEPS = 60


@contextlib.contextmanager
def session(folder, labels=False):
    import gpufl
    import gpufl.torch

    logs = pathlib.Path(tempfile.mkdtemp(dir=folder))
    engine = gpufl.ProfilingEngine.Trace
    with gpufl.session(app_name="gpt", log_path=logs, profiling_engine=engine) as started:
        if not started.active:
            torch_session.cannot_run("no session could be started")
        if labels and not gpufl.torch.attach():
            torch_session.cannot_run("this PyTorch cannot be labelled")
        try:
            yield started
        finally:
            gpufl.torch.detach()


MODES = [
    gpt_turns.Mode("off"),
    gpt_turns.Mode("Trace", during=session),
    gpt_turns.Mode("Trace again", during=session),
    gpt_turns.Mode("Trace with labels", during=lambda folder: session(folder, labels=True)),
]


def measure_ratios(sets, report):
    sets.report_steps(report)
    both = ("Trace", "Trace again")
    report.ratio("A/A, Trace", sets.ratios(both[1], both[0]))
    labels = "Trace with labels"
    report.ratio("Trace with labels / Trace", sets.ratios(labels, *both), ("<=", 1.10))
    report.ratio("A/A, Trace, means of all turns", sets.mean_ratios(both[1], both[0]))
    report.ratio("Trace with labels / Trace, means of all turns", sets.mean_ratios(labels, *both))
    report.ratio("Trace with labels / off", sets.ratios(labels, "off"))


class LongSessions:
    """Sessions of LABELLED_STEPS steps each, in this process."""

    def __init__(self, torch, training, folder):
        self.torch, self.training, self.folder = torch, training, folder
        gpt_turns.run_steps(torch, training, WARM_STEPS)

    def recorded(self, labels):
        """A session, and the bytes of its log."""
        from gpufl.analyzer import GpuFlightSession

        with session(self.folder, labels) as started:
            gpt_turns.run_steps(self.torch, self.training, LABELLED_STEPS)
        size = sum(path.stat().st_size for path in started.log_dir.rglob("*") if path.is_file())
        return GpuFlightSession(started.log_dir), size


def measure_labels(sessions, report):
    plain, plain_bytes = sessions.recorded(labels=False)
    labelled, labelled_bytes = sessions.recorded(labels=True)
    kernels = labelled.kernels
    if len(kernels) == 0:
        torch_session.cannot_run("no kernel was recorded")
    has_op = kernels["op"].notna()
    has_line = kernels["line"].astype(str).str.startswith(f"{gpt_turns.MODEL_FILE}:")
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
    for name, recorded, size in (
        ("log", plain, plain_bytes),
        ("log with labels", labelled, labelled_bytes),
    ):
        report.value(name, size / len(recorded.kernels), "B a kernel")
    missing = kernels[~(has_op & has_line)].groupby(["name", "op"], observed=True, dropna=False)
    for key, count in missing.size().nlargest(5).items():
        print(f"without label: {count} x {key}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120, help="of all sets, with their starts")
    arguments = parser.parse_args()
    torch = gpt_turns.prepare_forks()
    try:
        import gpufl.torch  # noqa: F401
        import pandas  # noqa: F401
    except ImportError as error:
        torch_session.cannot_run(f"no package gpufl with pandas for this Python: {error}")
    report = torch_session.Report("torch_labels", arguments.json)
    report.note("torch", torch.__version__)
    sets = gpt_turns.Sets(MODES, arguments.sets, arguments.seconds)
    measure_ratios(sets, report)
    report.value("processes that did not end well", sets.failed, "processes", ("<=", 0))

    import gpt_model

    report.note("gpu", torch.cuda.get_device_name(0))
    with tempfile.TemporaryDirectory(prefix="gpufl-labels-") as folder:
        measure_labels(LongSessions(torch, gpt_model.Training(), folder), report)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
