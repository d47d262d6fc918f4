#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What Trace costs a small GPT in PyTorch: processes take turns (gpt_turns.py) with
nothing, bare CUPTI, Trace, and Trace with stacks, native and Python. Then one longer session tells the
size of the log, and one with stacks how many launches lead back to the model's own lines.

gpt_overhead.py [--sets N] [--seconds S] [--json FILE]
"""

import argparse
import pathlib
import shutil
import tempfile

import gpt_turns
import torch_session

WARM_STEPS = 20  # of the longer sessions' process
LOG_STEPS = 100


def bare(folder):
    return torch_session.Bare()


MODES = [
    gpt_turns.Mode("off"),
    gpt_turns.Mode("bare CUPTI", during=bare),
    gpt_turns.Mode("bare CUPTI again", during=bare),
    gpt_turns.Mode("Trace", during=gpt_turns.traced),
    gpt_turns.Mode("Trace with stacks", during=lambda folder: gpt_turns.traced(folder, stacks=True)),
]


def measure_ratios(sets, report):
    sets.report_steps(report)
    both = ("bare CUPTI", "bare CUPTI again")
    report.ratio("A/A, bare CUPTI", sets.ratios(both[1], both[0]))
    report.ratio("Trace / bare CUPTI", sets.ratios("Trace", *both), ("<=", 1.03))
    report.ratio("A/A, bare CUPTI, means of all turns", sets.mean_ratios(both[1], both[0]))
    report.ratio("Trace / bare CUPTI, means of all turns", sets.mean_ratios("Trace", *both))
    report.ratio(
        "Trace with stacks / Trace", sets.ratios("Trace with stacks", "Trace"), ("<=", 1.40)
    )
    report.ratio("Trace / off", sets.ratios("Trace", "off"))
    report.ratio("bare CUPTI / off", sets.ratios("bare CUPTI", "off"))


class LongSessions:
    """Sessions of LOG_STEPS steps each, in this process."""

    def __init__(self, torch, training, folder):
        self.torch, self.training, self.folder = torch, training, folder
        self.inexact = []
        gpt_turns.run_steps(torch, training, WARM_STEPS)

    def figures(self, stacks):
        logs = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        with torch_session.Session(logs, stacks=stacks):
            gpt_turns.run_steps(self.torch, self.training, LOG_STEPS)
        figures, error = torch_session.read_figures(logs, gpt_turns.MODEL_FILE)
        if error is not None:
            self.inexact.append(error)
        if figures.kernels == 0:
            torch_session.cannot_run("no kernel was recorded")
        shutil.rmtree(logs)
        return figures


def measure_logs(sessions, report):
    plain = sessions.figures(stacks=False)
    report.note("launches_a_step", round(plain.kernels / LOG_STEPS))
    report.value("log, sealed", plain.sealed_bytes / plain.kernels, "B a kernel", ("<=", 7))
    report.value("log, raw", plain.raw_bytes / plain.kernels, "B a kernel", ("<=", 26))
    threaded = sessions.figures(stacks=True)
    report.value("log with stacks, sealed", threaded.sealed_bytes / threaded.kernels, "B a kernel")
    # Autograd's own threads run no Python: their launches are told at the line of the thread that
    # waits for them. The backward pass can be had on the calling thread, too.
    with sessions.torch.autograd.set_multithreading_enabled(False):
        alone = sessions.figures(stacks=True)
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
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=150, help="of all sets, with their starts")
    arguments = parser.parse_args()
    torch = gpt_turns.prepare_forks()
    report = torch_session.Report("gpt_overhead", arguments.json)
    report.note("torch", torch.__version__)
    sets = gpt_turns.Sets(MODES, arguments.sets, arguments.seconds)
    measure_ratios(sets, report)

    import gpt_model

    report.note("gpu", torch.cuda.get_device_name(0))
    with tempfile.TemporaryDirectory(prefix="gpufl-gpt-") as folder:
        sessions = LongSessions(torch, gpt_model.Training(), folder)
        measure_logs(sessions, report)
    for error in sessions.inexact:
        print(f"not exact: {error}", flush=True)
    inexact = len(sessions.inexact) + sets.failed
    report.value("sessions whose ledger is not exact", inexact, "sessions", ("<=", 0))
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
