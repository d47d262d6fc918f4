#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Trace costs a small GPT in PyTorch: groups of steps in one process alternate between nothing,
bare CUPTI, Trace and Trace with stacks, native and Python. Then one longer session tells the size of
the log, and one with stacks how many launches lead back to the model's own lines. About 90 seconds.

gpt_overhead.py [--json FILE]
"""

import argparse
import contextlib
import pathlib
import shutil
import statistics
import tempfile

import gpt_rounds
import torch_session

ROUNDS = 20
WARM_STEPS = 20  # of the process
LOG_STEPS = 100


class Groups:
    """Runs groups of steps under a mode; keeps the account of every session."""

    def __init__(self, torch, training, folder):
        self.torch, self.training, self.folder = torch, training, folder
        self.inexact = []
        self.steps(WARM_STEPS)
        self.threads = gpt_rounds.OwnThreads()

    def steps(self, count):
        return gpt_rounds.step_costs(self.torch, self.training, count)

    @contextlib.contextmanager
    def mode(self, name):
        if name == "off":
            yield
        elif name == "bare":
            with torch_session.Bare():
                yield
        else:
            logs = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            with torch_session.Session(logs, stacks=name == "stacks"):
                yield
            _, error = torch_session.read_figures(logs)
            if error is not None:
                self.inexact.append(error)
            shutil.rmtree(logs)

    def costs(self, name):
        with self.mode(name):
            return gpt_rounds.group_costs(self.torch, self.training, self.threads)


def measure_ratios(groups, report):
    order = ("off", "bare", "trace", "bare", "trace", "stacks", "trace", "bare", "off")
    rounds = gpt_rounds.Rounds(order, groups.costs, ROUNDS)
    rounds.report_steps(
        report,
        ("off", 0, 8),
        ("bare CUPTI", 1, 3, 7),
        ("Trace", 2, 4, 6),
        ("Trace with stacks", 5),
    )
    report.ratio("A/A, off", rounds.ratios([8], [0]))
    report.ratio("A/A, bare CUPTI", rounds.ratios([3], [1]))
    pairs = ((2, 1), (4, 3), (6, 7))
    report.ratio("Trace / bare CUPTI", rounds.pair_ratios(*pairs), ("<=", 1.03))
    means = rounds.pair_ratios(*pairs, of=statistics.mean)
    report.ratio("Trace / bare CUPTI, means of all steps", means)
    report.ratio("Trace with stacks / Trace", rounds.ratios([5], [4, 6]), ("<=", 1.40))
    report.ratio("Trace / off", rounds.ratios([2, 4, 6], [0, 8]))
    report.ratio("bare CUPTI / off", rounds.ratios([1, 3, 7], [0, 8]))


def log_figures(groups, stacks):
    """Of a session of LOG_STEPS steps."""
    logs = pathlib.Path(tempfile.mkdtemp(dir=groups.folder))
    with torch_session.Session(logs, stacks=stacks):
        groups.steps(LOG_STEPS)
    figures, error = torch_session.read_figures(logs, gpt_rounds.MODEL_FILE)
    if error is not None:
        groups.inexact.append(error)
    if figures.kernels == 0:
        torch_session.cannot_run("no kernel was recorded")
    shutil.rmtree(logs)
    return figures


def measure_logs(groups, report):
    plain = log_figures(groups, stacks=False)
    report.note("launches_a_step", round(plain.kernels / LOG_STEPS))
    report.value("log, sealed", plain.sealed_bytes / plain.kernels, "B a kernel", ("<=", 7))
    report.value("log, raw", plain.raw_bytes / plain.kernels, "B a kernel", ("<=", 26))
    threaded = log_figures(groups, stacks=True)
    report.value("log with stacks, sealed", threaded.sealed_bytes / threaded.kernels, "B a kernel")
    # Autograd's own threads run no Python: their launches are told at the line of the thread that
    # waits for them. The backward pass can be had on the calling thread, too.
    with groups.torch.autograd.set_multithreading_enabled(False):
        alone = log_figures(groups, stacks=True)
    for name, figures in (("one thread", alone), ("autograd's threads too", threaded)):
        own = 100 * figures.at_user_line / figures.kernels
        told = own + 100 * figures.at_inherited_line / figures.kernels
        report.value(f"launches told at the model's line, {name}", told, "%", (">=", 99))
        report.value(f"of those by their own stack, {name}", own, "%")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch = torch_session.require_torch_gpu()
    import gpt_model

    report = torch_session.Report("gpt_overhead", arguments.json)
    report.note("gpu", torch.cuda.get_device_name(0))
    report.note("torch", torch.__version__)
    report.note("steps_a_group", gpt_rounds.STEPS)
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-") as folder:
        groups = Groups(torch, gpt_model.Training(), folder)
        measure_ratios(groups, report)
        measure_logs(groups, report)
        for error in groups.inexact[:3]:
            print(f"not exact: {error}", flush=True)
        report.value("sessions whose ledger is not exact", len(groups.inexact), "sessions", ("<=", 0))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
